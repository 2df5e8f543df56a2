// Small charts that redraw many times a second: a graph of values over a game, stacked shares over
// time, points of one number against another. Pure SVG; knows numbers and colours only.
import { fill, h, s } from "../dom.js";

const W = 600;

/**
 * Values of a game for the first player, -1 to 1, with marks; a click or a key jumps.
 * @typedef {{value: number | null, mark?: string, label: string}} Point
 */
export class ValueGraph {
  /** @param {(ply: number) => void} jump */
  constructor(jump) {
    this.jump = jump;
    this.svg = s("svg", { class: "graph value-graph", viewBox: `0 0 ${W} 140`, preserveAspectRatio: "none", role: "img" });
    this.element = h("div", { class: "graph-frame" }, this.svg);
    /** @type {Point[]} */
    this.points = [];
    this.svg.addEventListener("click", (event) => {
      const box = this.svg.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      this.jump(Math.round(share * Math.max(1, this.points.length - 1)));
    });
  }

  /** @param {Point[]} points by ply @param {number} at */
  show(points, at) {
    this.points = points;
    const last = Math.max(1, points.length - 1);
    const x = (/** @type {number} */ ply) => (W * ply) / last;
    const y = (/** @type {number} */ value) => 70 - 64 * value;
    const known = points.map((point, ply) => ({ ...point, ply })).filter((point) => point.value !== null);
    const line = known.map((point, i) => `${i ? "L" : "M"}${x(point.ply).toFixed(1)} ${y(point.value ?? 0).toFixed(1)}`).join("");
    const first = known[0];
    const end = known.at(-1);
    const area = first && end ? `${line}L${x(end.ply)} 70L${x(first.ply)} 70Z` : "";
    fill(this.svg,
      s("rect", { class: "graph-first", x: 0, y: 0, width: W, height: 70 }),
      s("path", { class: "graph-area", d: area }),
      s("line", { class: "graph-zero", x1: 0, x2: W, y1: 70, y2: 70 }),
      s("path", { class: "graph-line", d: line }),
      s("line", { class: "graph-at", x1: x(at), x2: x(at), y1: 0, y2: 140 }),
      known.filter((point) => point.mark).map((point) => s("ellipse", { class: `graph-mark ${point.mark}`, cx: x(point.ply), cy: y(point.value ?? 0), rx: 5, ry: 5, "data-ply": point.ply }, s("title", null, point.label))));
    this.svg.setAttribute("aria-label", `Value over the game: ${known.length} of ${points.length} positions judged`);
  }
}

/** Shares of several things over time, stacked. */
export class StackedShares {
  constructor() {
    this.svg = s("svg", { class: "graph", viewBox: `0 0 ${W} 150`, preserveAspectRatio: "none", role: "img", "aria-label": "Share of visits by move, over the number of simulations" });
    this.legend = h("div", { class: "legend" });
    this.element = h("div", { class: "graph-frame" }, this.svg, this.legend);
    /** @type {{visits: number, shares: Map<string, number>}[]} */
    this.samples = [];
  }

  clear() {
    this.samples = [];
    fill(this.svg);
    fill(this.legend);
  }

  /** @param {number} visits @param {Map<string, number>} shares */
  add(visits, shares) {
    const last = this.samples.at(-1);
    if (last && visits <= last.visits) this.samples.pop();
    this.samples.push({ visits, shares });
    if (this.samples.length > 240) this.samples = this.samples.filter((_, i) => i % 2 === 0 || i === this.samples.length - 1);
    this.draw();
  }

  draw() {
    const samples = this.samples;
    const end = samples.at(-1);
    if (!end || samples.length < 2) return;
    const start = /** @type {{visits: number}} */ (samples[0]).visits;
    const names = [...end.shares].sort((a, b) => b[1] - a[1]).slice(0, 7).map(([name]) => name);
    const x = (/** @type {number} */ visits) => (W * Math.log(Math.max(1, visits / Math.max(1, start)))) / Math.log(Math.max(1.0001, end.visits / Math.max(1, start)));
    /** @type {number[]} */
    let base = samples.map(() => 0);
    const areas = [...names, null].map((name, index) => {
      const top = samples.map((sample, i) => (name === null ? 1 : (base[i] ?? 0) + (sample.shares.get(name) ?? 0)));
      const up = samples.map((sample, i) => `${i ? "L" : "M"}${x(sample.visits).toFixed(1)} ${(150 - 150 * (top[i] ?? 0)).toFixed(1)}`).join("");
      const down = samples.map((sample, i) => `L${x(sample.visits).toFixed(1)} ${(150 - 150 * (base[i] ?? 0)).toFixed(1)}`).reverse().join("");
      base = top;
      return s("path", { class: `share-${name === null ? "rest" : index + 1}`, d: `${up}${down}Z` });
    });
    fill(this.svg, areas);
    fill(this.legend, names.map((name, index) => h("span", null, h("i", { class: `swatch share-${index + 1}` }), name)), h("span", { class: "faint" }, `${compact(start)} to ${compact(end.visits)} visits, logarithmic`));
  }
}

/** Prior against visits: where the search disagrees with the network's first sight. */
export class PriorAgainstVisits {
  constructor() {
    this.svg = s("svg", { class: "graph scatter", viewBox: "0 0 300 200", role: "img", "aria-label": "Prior against share of visits, by move" });
    this.element = h("div", { class: "graph-frame" }, this.svg);
  }

  /** @param {{name: string, prior: number, share: number, best: boolean}[]} rows */
  show(rows) {
    const most = Math.max(0.05, ...rows.flatMap((row) => [row.prior, row.share]));
    const x = (/** @type {number} */ value) => 34 + 256 * Math.sqrt(value / most);
    const y = (/** @type {number} */ value) => 172 - 160 * Math.sqrt(value / most);
    fill(this.svg,
      s("line", { class: "graph-diagonal", x1: x(0), y1: y(0), x2: x(most), y2: y(most) }),
      s("path", { class: "graph-axes", d: "M34 8V172H292" }),
      s("text", { x: 163, y: 193, "text-anchor": "middle" }, "prior: first sight"),
      s("text", { x: 0, y: 0, transform: "translate(12 90) rotate(-90)", "text-anchor": "middle" }, "share of visits"),
      rows.map((row, index) => s("g", null,
        s("circle", { class: row.best ? "best" : "", cx: x(row.prior), cy: y(row.share), r: row.best ? 6 : 4 }),
        index < 6 ? s("text", { class: "point", x: Math.min(270, x(row.prior) + 8), y: y(row.share) + 4 }, row.name) : null)));
  }
}

/** A large number in few letters. @param {number} value */
export function compact(value) {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value >= 1e7 ? 0 : 1)}M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(value >= 1e5 ? 0 : 1)}k`;
  return String(Math.round(value));
}
