// The table of candidates of one search: figures, expected lines, restriction to chosen moves.
import { fill, h } from "../dom.js";
import { compact } from "../parts/chart.js";
import { provenText } from "../parts/evaluation.js";

/**
 * @typedef {import("../protocol").Frame} Frame
 * @typedef {import("../protocol").Row} Row
 * @typedef {{play: (move: string) => void, preview: (line: string[] | null) => void,
 *   restrict: (move: string) => void}} Actions
 */

const USUAL_ROWS = 8;

export class Candidates {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    this.most = USUAL_ROWS;
    this.body = h("tbody");
    this.head = h("p", { class: "search-head number" });
    this.more = h("button", { type: "button", class: "button plain small", onclick: () => {
      this.most = this.most === USUAL_ROWS ? 80 : USUAL_ROWS;
      if (this.last) this.show(...this.last);
    } });
    const columns = ["Move", "Visits", "Q", "Prior", "W/D/L", "Line"];
    this.exactHead = h("th", { scope: "col", hidden: true }, "Perfect");
    this.table = h("table", { class: "figures candidates" },
      h("caption", { class: "unseen" }, "Candidate moves"),
      h("thead", null, h("tr", null, columns.slice(0, 5).map((name) => h("th", { scope: "col", title: EXPLAINED[name] }, name)), this.exactHead, h("th", { scope: "col", class: "line-cell" }, "Line"))), this.body);
    this.element = h("div", { class: "stack tight candidates-frame" }, this.head, h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Candidates" }, this.table), this.more);
    /** @type {[Frame, Set<string>, Record<string, [number, number | null]> | null] | null} */
    this.last = null;
    /** @type {string | null} */
    this.hovered = null;
    this.body.addEventListener("pointerleave", () => this.actions.preview(null));
  }

  /** @param {string} text */
  clear(text) {
    this.last = null;
    this.head.textContent = "";
    this.more.hidden = true;
    fill(this.body, h("tr", null, h("td", { colspan: 7, class: "faint" }, text)));
  }

  /** @param {Frame} frame @param {Set<string>} allowed @param {Record<string, [number, number | null]> | null} exact */
  show(frame, allowed, exact) {
    this.last = [frame, allowed, exact];
    const sure = provenText(frame.proven, frame.distance);
    this.head.textContent = [
      `${signed(frame.value)}${sure ? ` (${sure})` : ""}`, `${compact(frame.visits)} visits`, `${compact(frame.per_second)}/s`,
      `${frame.seconds.toFixed(1)} s`, `${compact(frame.nodes)} nodes`, frame.depth ? `depth ${frame.depth.toFixed(1)}` : "",
      frame.watchers > 1 ? `${frame.watchers} watching` : "",
    ].filter(Boolean).join("  ·  ");
    this.exactHead.hidden = !exact;
    const total = Math.max(1, frame.rows.reduce((sum, row) => sum + row.visits, 0));
    const focused = document.activeElement?.getAttribute("data-key");
    fill(this.body, frame.rows.slice(0, this.most).map((row, index) => this.#row(row, index, total, allowed, exact)));
    if (focused) /** @type {HTMLElement | null} */ (this.body.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    this.more.hidden = frame.rows.length <= USUAL_ROWS;
    this.more.textContent = this.most === USUAL_ROWS ? `All ${frame.rows.length} moves` : "Fewer";
  }

  /** @param {Row} row @param {number} index @param {number} total @param {Set<string>} allowed @param {Record<string, [number, number | null]> | null} exact */
  #row(row, index, total, allowed, exact) {
    const share = row.visits / total;
    const sure = provenText(row.proven, row.distance);
    const known = exact?.[row.move];
    const tone = row.proven === 1 ? "good" : row.proven === -1 ? "bad" : "";
    return h("tr", { class: index === 0 ? "best" : "" },
      h("td", null,
        h("button", { type: "button", class: "move-choice", "data-key": `play ${row.move}`, title: "Play this move", onclick: () => this.actions.play(row.move) }, row.move),
        h("button", { type: "button", class: "only", "data-key": `only ${row.move}`, "aria-pressed": String(allowed.has(row.move)), title: "Search chosen moves only", "aria-label": `Search ${row.move} only`, onclick: () => this.actions.restrict(row.move) }, "◎")),
      h("td", { class: "visits", style: { "--share": `${(100 * share).toFixed(1)}%` } }, h("span", null, compact(row.visits)), " ", h("small", null, `${(100 * share).toFixed(0)}%`)),
      h("td", null, sure ? h("span", { class: `tag ${tone}` }, sure) : row.visits ? signed(row.q) : "–"),
      h("td", null, `${(100 * row.prior).toFixed(1)}%`),
      h("td", null, row.visits ? wdlBar(row.wdl) : "–"),
      exact ? h("td", null, known ? h("span", { class: `tag ${known[0] > 0 ? "good" : known[0] < 0 ? "bad" : ""}` }, provenText(known[0], known[1])) : "") : null,
      h("td", { class: "line-cell" }, row.line.length ? this.#line(row) : ""));
  }

  /** @param {Row} row */
  #line(row) {
    return h("span", {
      class: "line", tabindex: 0, "data-key": `line ${row.move}`,
      onfocus: () => this.actions.preview(row.line), onblur: () => this.actions.preview(null),
      onpointerleave: () => this.actions.preview(null),
    }, row.line.map((text, index) => h("span", { class: "line-move", onpointerenter: () => this.actions.preview(row.line.slice(0, index + 1)) }, text, " ")));
  }
}

const EXPLAINED = /** @type {Record<string, string>} */ ({
  Visits: "How many simulations went this way",
  Q: "Mean value for the player to move, from -1 to 1",
  Prior: "What the network thought of the move at first sight",
  "W/D/L": "Expected wins, draws and losses",
});

/** @param {[number, number, number]} wdl */
function wdlBar(wdl) {
  const text = wdl.map((part) => Math.round(100 * part)).join(" / ");
  return h("span", { class: "odds", role: "img", "aria-label": `win, draw, loss ${text}`, title: text },
    wdl.map((part, index) => h("i", { class: ["won", "drawn", "lost"][index], style: { width: `${(100 * part).toFixed(1)}%` } })));
}

/** @param {number} value */
export function signed(value) {
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
}
