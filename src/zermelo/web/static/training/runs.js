// The list of runs: how far each is, and which to compare. Renews itself.
import { fill, h, toast } from "../dom.js";
import { read, tell } from "./api.js";
import { sketch } from "./chart.js";
import { ago, lasting, written } from "./numbers.js";
import { failed, state, waiting } from "./parts.js";

const EVERY = 3000; // milliseconds between looks
const AT_ONCE = 60; // rows shown before somebody asks for more
const MOST_COMPARED = 6;

/** @param {HTMLElement} page @param {import("../router.js").Context} context */
export function showList(page, context) {
  const chosen = new Set();
  let shown = AT_ONCE;
  let wanted = "";
  /** @type {any} */
  let found = null;
  let before = "";
  const list = h("div", { class: "run-list" }, waiting("Looking for runs …"));
  const compare = h("button", { class: "button", type: "button", disabled: true, onclick: () => context.go(`#/training/compare?${[...chosen].map((id) => `run=${id}`).join("&")}`) }, "Compare");
  const search = h("input", { type: "search", class: "search", placeholder: "Find a run", "aria-label": "Find a run", oninput: () => { wanted = search.value.toLowerCase(); draw(); } });
  const begin = h("div", null);
  fill(
    page,
    h("header", { class: "page-head" }, h("div", null, h("h1", null, "Training"), h("p", { class: "soft" }, "Runs that learn now, and those that have learned.")), h("div", { class: "row" }, search, compare)),
    begin,
    list,
  );

  function draw() {
    compare.disabled = chosen.size < 2 || chosen.size > MOST_COMPARED;
    compare.textContent = chosen.size > 1 ? `Compare ${chosen.size}` : "Compare";
    if (!found.runs.length) {
      fill(list, h("div", { class: "empty sheet" }, h("h2", null, "No run yet"), h("p", null, "Begin one in a terminal; it shows up here by itself."), h("p", null, h("code", null, "zermelo train connect4"))));
      return;
    }
    const rows = found.runs.filter((/** @type {any} */ run) => `${run.name} ${run.game}`.toLowerCase().includes(wanted));
    fill(
      list,
      rows.slice(0, shown).map(card),
      rows.length > shown && h("button", { class: "button", type: "button", onclick: () => { shown += 10 * AT_ONCE; draw(); } }, `Show ${rows.length - shown} more`),
      !rows.length && h("p", { class: "notice" }, "No run is called that."),
    );
  }

  /** @param {any} run */
  function card(run) {
    const done = run.iterations ? Math.min(1, run.iteration / run.iterations) : 0;
    const check = h("input", { type: "checkbox", "aria-label": `Compare ${run.name}`, checked: chosen.has(run.id), onchange: () => { if (!chosen.delete(run.id)) chosen.add(run.id); draw(); } });
    check.checked = chosen.has(run.id);
    return h(
      "article",
      { class: "run-card sheet" },
      h("label", { class: "check run-check" }, check),
      h(
        "a",
        { class: "run-link", href: `#/training/${run.id}` },
        h("span", { class: "run-name" }, h("strong", null, run.name), state(run), h("span", { class: "faint" }, run.game ?? "")),
        h("span", { class: "run-doing soft" }, run.error ?? run.doing ?? run.health ?? ""),
        h("progress", { value: done, max: 1, "aria-label": "iterations done" }),
      ),
      h("div", { class: "run-sketch", title: "loss" }, sketch(run.sketch ?? [])),
      h(
        "dl",
        { class: "run-figures number" },
        figure("iteration", run.iterations ? `${run.iteration} of ${run.iterations}` : String(run.iteration)),
        figure("loss", written(run.loss, "plain")),
        figure("Elo", run.elo === null ? "–" : `${written(run.elo, "elo")} ± ${written(run.elo_margin, "count")}`),
        figure("time", lasting(run.seconds)),
        figure("changed", ago(run.changed)),
      ),
    );
  }

  async function look() {
    try {
      const next = await read("");
      const text = JSON.stringify(next);
      if (text === before) return;
      const first = found === null;
      before = text;
      found = next;
      if (first && found.may_train) fill(begin, starting(found.games));
      if (!list.contains(document.activeElement) || first) draw();
    } catch (error) {
      if (found === null) failed(list, error, () => void look());
    }
  }

  void look();
  const timer = setInterval(() => { if (!document.hidden) void look(); }, EVERY);
  return () => clearInterval(timer);
}

/** @param {string} name @param {string} value */
function figure(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}

/** A form that begins a run; there only with --allow-train. @param {string[]} games */
function starting(games) {
  const game = h("select", { "aria-label": "What to learn" }, games.map((name) => h("option", { value: name }, name)));
  game.value = games.includes("connect4-quick") ? "connect4-quick" : games[0];
  const time = h("select", { "aria-label": "For how long" }, [["1m", "1 minute"], ["10m", "10 minutes"], ["1h", "1 hour"], ["8h", "8 hours"]].map(([value, words]) => h("option", { value }, words)));
  const button = h("button", { class: "button main", type: "submit" }, "Start training");
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    try {
      const { started } = await tell("", { game: game.value, duration: time.value });
      toast(`${started} has begun.`);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
    button.disabled = false;
  }
  return h("form", { class: "sheet row begin", onsubmit: submit }, h("label", { class: "field" }, h("span", null, "Learn"), game), h("label", { class: "field" }, h("span", null, "for"), time), button);
}
