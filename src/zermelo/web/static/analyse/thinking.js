// How the search thinks: how its choice changed, first sight against visits, where it looks next.
import { fill, h } from "../dom.js";
import { PriorAgainstVisits, StackedShares } from "../parts/chart.js";

/** @typedef {import("../protocol").Frame} Frame */

export class Thinking {
  /** @param {(path: string[] | null) => void} preview */
  constructor(preview) {
    this.preview = preview;
    this.stacked = new StackedShares();
    this.scatter = new PriorAgainstVisits();
    this.path = h("p", { class: "path" });
    this.path.addEventListener("pointerleave", () => preview(null));
    this.element = h("section", { class: "sheet stack" }, h("h2", null, "How the search thinks"),
      h("div", { class: "stack tight" }, h("h3", null, "Where the next simulation goes"), this.path),
      h("div", { class: "stack tight" }, h("h3", null, "How the choice changed"), this.stacked.element),
      h("div", { class: "stack tight" }, h("h3", null, "First sight against visits"), h("p", { class: "faint" }, "Above the line the search likes a move better than the network did."), this.scatter.element));
  }

  clear() {
    this.stacked.clear();
    fill(this.path, h("span", { class: "faint" }, "Nothing is searched yet."));
    this.scatter.show([]);
  }

  /** @param {Frame} frame */
  show(frame) {
    const total = Math.max(1, frame.rows.reduce((sum, row) => sum + row.visits, 0));
    this.stacked.add(total, new Map(frame.rows.map((row) => [row.move, row.visits / total])));
    this.scatter.show(frame.rows.map((row, index) => ({ name: row.move, prior: row.prior, share: row.visits / total, best: index === 0 })));
    fill(this.path, frame.path.length
      ? frame.path.map((move, index) => h("span", { class: "step", onpointerenter: () => this.preview(frame.path.slice(0, index + 1)) }, move))
      : h("span", { class: "faint" }, "Everything is proven: no simulation is needed."));
  }
}
