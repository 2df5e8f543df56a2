// Several runs side by side: the same curves on one chart, and the settings in which they differ.
import { fill, h } from "../dom.js";
import { read } from "./api.js";
import { lasting, written } from "./numbers.js";
import { Charts, failed, state, waiting } from "./parts.js";
import { valueText } from "./settings.js";

const EVERY = 5000; // milliseconds between looks while one of them is under way

/** @param {HTMLElement} page @param {string[]} ids */
export function showComparison(page, ids) {
  const charts = new Charts();
  const head = h("div", null, waiting("Reading the runs …"));
  fill(page, h("header", { class: "run-head" }, h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/training" }, "Training"), h("span", { "aria-hidden": "true" }, "›"), h("span", null, "Comparison")), h("h1", null, "Comparison")), h("div", { class: "stack" }, head, charts.element));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function look() {
    try {
      const found = await read("/compare", { run: ids });
      fill(head, h("div", { class: "compare-head" }, table(found.runs), differences(found)));
      const colours = new Map(found.runs.map((/** @type {any} */ run, /** @type {number} */ i) => [run.id, i]));
      charts.set(found.panels.map((/** @type {any} */ panel) => ({ ...panel, curves: panel.curves.map((/** @type {any} */ curve) => ({ ...curve, colour: colours.get(curve.run) })) })));
      if (found.runs.some((/** @type {any} */ run) => run.alive)) timer = setTimeout(() => void look(), EVERY);
    } catch (error) {
      failed(head, error, () => void look());
    }
  }

  void look();
  return () => {
    clearTimeout(timer);
    charts.leave();
  };
}

/** @param {any[]} runs */
function table(runs) {
  return h(
    "section",
    { class: "sheet" },
    h("h2", null, "Runs"),
    h("div", { class: "scroll" }, h(
      "table",
      { class: "figures" },
      h("thead", null, h("tr", null, ["run", "state", "iteration", "loss", "Elo", "time"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, runs.map((run, i) => h("tr", null, h("td", null, h("span", { class: `swatch series-${i + 1}` }), h("a", { href: `#/training/${run.id}` }, run.name)), h("td", null, state(run)), h("td", null, run.iteration), h("td", null, written(run.loss, "plain")), h("td", null, run.elo === null ? "–" : `${written(run.elo, "elo")} ± ${written(run.elo_margin, "count")}`), h("td", null, lasting(run.seconds))))),
    )),
  );
}

/** @param {any} found */
function differences({ runs, settings }) {
  return h(
    "section",
    { class: "sheet" },
    h("h2", null, "Settings that differ"),
    settings.length
      ? h("div", { class: "scroll" }, h(
          "table",
          { class: "figures" },
          h("thead", null, h("tr", null, h("th", { scope: "col" }, "option"), runs.map((/** @type {any} */ run) => h("th", { scope: "col" }, run.name)))),
          h("tbody", null, settings.map((/** @type {any} */ row) => h("tr", null, h("td", null, h("code", null, row.name)), row.values.map((/** @type {unknown} */ value) => h("td", null, valueText(value)))))),
        ))
      : h("p", { class: "soft" }, "None: they were made with the same settings."),
  );
}
