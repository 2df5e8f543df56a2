// Parts of several training pages: how a run is, empty and error states, charts by section.
import { fill, h } from "../dom.js";
import { Chart } from "./chart.js";

/** How a run is, in one word. @param {any} run */
export function state(run) {
  if (run.error) return h("span", { class: "tag bad" }, "cannot be read");
  if (run.alive) return h("span", { class: "tag good live" }, "learning");
  if (run.iterations !== null && run.iteration >= run.iterations) return h("span", { class: "tag" }, "finished");
  return h("span", { class: "tag warn" }, run.iteration ? "stopped" : "not begun");
}

/** @param {Element} place @param {unknown} error @param {(() => void) | null} [again] */
export function failed(place, error, again = null) {
  fill(
    place,
    h(
      "div",
      { class: "notice bad", role: "alert" },
      error instanceof Error ? error.message : String(error),
      again && h("button", { class: "button plain", type: "button", onclick: again }, "Try again"),
    ),
  );
}

/** Something on its way. @param {string} words */
export function waiting(words) {
  return h("div", { class: "empty waiting", role: "status" }, h("p", null, words));
}

/** Charts by section, kept and renewed. */
export class Charts {
  /** @type {Map<string, Chart>} */
  #charts = new Map();
  #order = "";

  constructor() {
    this.element = h("div", { class: "stack charts" });
  }

  /** @param {any[]} panels */
  set(panels) {
    const order = panels.map((panel) => panel.id).join(" ");
    if (order !== this.#order) {
      this.leave();
      this.#order = order;
      const sections = [...new Set(panels.map((panel) => panel.section))];
      fill(
        this.element,
        sections.map((section) =>
          h(
            "section",
            { class: "chart-section" },
            h("h2", null, section),
            h("div", { class: "chart-grid-of" }, panels.filter((panel) => panel.section === section).map((panel) => this.#make(panel).element)),
          ),
        ),
      );
      return;
    }
    for (const panel of panels) this.#charts.get(panel.id)?.set(panel.curves);
  }

  /** @param {any} panel */
  #make(panel) {
    const chart = new Chart(panel);
    this.#charts.set(panel.id, chart);
    return chart;
  }

  leave() {
    for (const chart of this.#charts.values()) chart.leave();
    this.#charts.clear();
  }
}
