// A line chart in SVG, drawn by us: a few kilobytes instead of the megabytes of a chart library, in
// the page's own colours and type (docs/decisions/0012). Knows points and how numbers are written,
// nothing of runs. The report inlines this file, so it imports only ../dom.js and ./numbers.js.
import { fill, h, s } from "../dom.js";
import { ticks, written } from "./numbers.js";

/**
 * @typedef {{name: string, x: number[], mean: number[], low?: number[], high?: number[],
 *   interval?: boolean, colour?: number}} Curve  an interval has whiskers from low to high
 * @typedef {{title: string, note: string, form: string, zero?: boolean, curves: Curve[],
 *   range?: [number, number], span?: [number, number], unit?: string, onpick?: (x: number) => void}} Panel  `range` of the
 *   heights and `span` of x if they are known beforehand; `unit` of x, an iteration if nothing is said
 */

const HEIGHT = 190;
const LEFT = 50;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 24;
const SERIES = 8; // colours that there are

/** Charts over iterations tell each other where the pointer is. */
const shared = new EventTarget();

export class Chart {
  /** @type {Curve[]} */
  #curves = [];
  /** @type {Set<string>} */
  #hidden = new Set();
  #width = 0;
  /** @type {number | null} */
  #at = null;
  /** @type {number | null} */
  #picked = null;
  /** @type {{x: (value: number) => number, y: (value: number) => number, back: (pixel: number) => number} | null} */
  #scale = null;

  /** @param {Panel} panel */
  constructor(panel) {
    this.panel = panel;
    this.unit = panel.unit ?? "iteration";
    this.pointer = panel.unit ? new EventTarget() : shared;
    this.legend = h("div", { class: "chart-legend" });
    this.svg = s("svg", { class: "chart-plot", role: "img", height: HEIGHT });
    this.marks = s("g", { class: "chart-marks", "aria-hidden": "true" });
    this.element = h(
      "figure",
      { class: "chart sheet", tabindex: "0" },
      h("figcaption", null, h("div", null, h("h3", null, panel.title), h("p", { class: "faint" }, panel.note)), this.legend),
      this.svg,
    );
    this.svg.addEventListener("pointermove", (event) => this.#follow(event));
    this.svg.addEventListener("pointerdown", (event) => {
      this.#follow(event);
      if (this.#at !== null) panel.onpick?.(this.#at);
    });
    this.svg.addEventListener("pointerleave", () => this.#move(this.#picked));
    this.element.addEventListener("keydown", (event) => this.#step(event));
    this.element.addEventListener("blur", () => this.#move(this.#picked));
    /** @param {Event} event */
    const moved = (event) => this.#mark(/** @type {CustomEvent} */ (event).detail);
    this.pointer.addEventListener("move", moved);
    const sized = new ResizeObserver(() => this.draw());
    sized.observe(this.element);
    this.leave = () => {
      this.pointer.removeEventListener("move", moved);
      sized.disconnect();
    };
    this.set(panel.curves);
  }

  /** New points. @param {Curve[]} curves */
  set(curves) {
    this.#curves = curves.map((curve, index) => ({ colour: index % SERIES, ...curve }));
    this.draw(true);
  }

  /** Marks a place that stays. @param {number | null} x */
  point(x) {
    this.#picked = x;
    this.#mark(x);
  }

  /** @param {number | null} at */
  #move(at) {
    this.pointer.dispatchEvent(new CustomEvent("move", { detail: at }));
  }

  get #shown() {
    return this.#curves.filter((curve) => !this.#hidden.has(curve.name) && curve.x.length);
  }

  /** Draws it if its size or its points changed. */
  draw(anew = false) {
    const width = Math.floor(this.svg.getBoundingClientRect().width || this.element.clientWidth - 34);
    if (width <= 0 || (!anew && width === this.#width)) return;
    this.#width = width;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.#read(null);
    const shown = this.#shown;
    if (!shown.length) {
      fill(this.svg, s("text", { x: width / 2, y: HEIGHT / 2, class: "chart-empty" }, "nothing yet"));
      this.#scale = null;
      return;
    }
    const [x0, x1] = this.panel.span ?? extent(shown.flatMap((curve) => [curve.x[0], curve.x[curve.x.length - 1]]));
    const [low, high] = this.#heights(shown);
    const inner = width - LEFT - RIGHT;
    const tall = HEIGHT - TOP - BOTTOM;
    const wide = x1 - x0 || 1;
    const scale = {
      /** @param {number} value */
      x: (value) => LEFT + (x1 === x0 ? inner / 2 : ((value - x0) / wide) * inner),
      /** @param {number} value */
      y: (value) => TOP + tall - ((value - low) / (high - low)) * tall,
      /** @param {number} pixel */
      back: (pixel) => x0 + ((pixel - LEFT) / inner) * wide,
    };
    this.#scale = scale;
    const rows = ticks(low, high, 4, this.panel.form === "bytes" ? 1024 : 10);
    const columns = ticks(x0, x1, Math.max(3, Math.min(8, inner / 60))).filter(Number.isInteger);
    fill(
      this.svg,
      rows.map((value) => s("line", { class: "chart-grid", x1: LEFT, x2: width - RIGHT, y1: scale.y(value), y2: scale.y(value) })),
      rows.map((value) => s("text", { class: "chart-tick", x: LEFT - 8, y: scale.y(value) + 4, "text-anchor": "end" }, written(value, this.panel.form).replace("/s", ""))),
      columns.map((value) => s("text", { class: "chart-tick", x: scale.x(value), y: HEIGHT - 6, "text-anchor": "middle" }, String(value))),
      shown.map((curve) => this.#curve(curve, scale)),
      this.marks,
    );
    this.svg.setAttribute("aria-label", this.#words(shown));
    this.#mark(this.#at);
  }

  /** @param {Curve[]} shown @returns {[number, number]} */
  #heights(shown) {
    if (this.panel.range) return this.panel.range;
    let [low, high] = extent(shown.flatMap((curve) => [...(curve.low ?? curve.mean), ...(curve.high ?? curve.mean)]));
    if (this.panel.zero) low = Math.min(0, low);
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    if (!(this.panel.zero && low === 0)) low -= room;
    high += room;
    if (this.panel.form === "share" && high > 1 && high < 1.1) high = 1.02;
    return [low, high];
  }

  /** @param {Curve} curve @param {{x: (v: number) => number, y: (v: number) => number}} scale */
  #curve(curve, scale) {
    const { x, mean } = curve;
    const low = curve.low ?? mean;
    const high = curve.high ?? mean;
    const line = x.map((value, i) => `${i ? "L" : "M"}${scale.x(value).toFixed(1)} ${scale.y(mean[i]).toFixed(1)}`).join("");
    const parts = [];
    if (curve.interval) {
      parts.push(s("path", { class: "chart-whisker", d: x.map((value, i) => `M${scale.x(value).toFixed(1)} ${scale.y(low[i]).toFixed(1)}V${scale.y(high[i]).toFixed(1)}`).join("") }));
    } else if (low.some((value, i) => value !== high[i])) {
      const up = x.map((value, i) => `${i ? "L" : "M"}${scale.x(value).toFixed(1)} ${scale.y(high[i]).toFixed(1)}`).join("");
      const down = x.map((_, i) => x.length - 1 - i).map((i) => `L${scale.x(x[i]).toFixed(1)} ${scale.y(low[i]).toFixed(1)}`).join("");
      parts.push(s("path", { class: "chart-band", d: `${up}${down}Z` }));
    }
    parts.push(s("path", { class: "chart-line", d: line }));
    if (curve.interval || x.length <= 2) {
      parts.push(...x.map((value, i) => s("circle", { class: "chart-dot", cx: scale.x(value).toFixed(1), cy: scale.y(mean[i]).toFixed(1), r: 3 })));
    } else {
      const end = x.length - 1;
      parts.push(s("circle", { class: "chart-dot", cx: scale.x(x[end]).toFixed(1), cy: scale.y(mean[end]).toFixed(1), r: 3 }));
    }
    return s("g", { class: `chart-series series-${(curve.colour ?? 0) + 1}` }, parts);
  }

  /** The figures at an iteration, or the last ones. @param {number | null} at */
  #read(at) {
    const many = this.#curves.length > 1;
    fill(
      this.legend,
      this.#curves.map((curve) => {
        const i = at === null ? curve.x.length - 1 : nearest(curve.x, at);
        const value = curve.mean[i];
        const half = curve.interval && curve.high && value !== undefined ? ` ± ${written(curve.high[i] - value, "count")}` : "";
        const off = this.#hidden.has(curve.name);
        const content = [
          many && s("svg", { class: `chart-key series-${(curve.colour ?? 0) + 1}`, viewBox: "0 0 12 8", width: 12, height: 8, "aria-hidden": "true" }, s("path", { class: "chart-line", d: "M1 4H11" })),
          many && h("span", { class: "chart-name" }, curve.name),
          h("span", { class: "chart-value number" }, off ? "" : written(value, this.panel.form) + half),
        ];
        return many
          ? h("button", { class: "chart-item", type: "button", "aria-pressed": String(!off), onclick: () => this.#toggle(curve.name) }, content)
          : h("span", { class: "chart-item" }, content);
      }),
      h("span", { class: "chart-at faint number" }, at === null ? "" : `${this.unit} ${at}`),
    );
  }

  /** @param {string} name */
  #toggle(name) {
    if (!this.#hidden.delete(name)) this.#hidden.add(name);
    this.draw(true);
  }

  /** @param {PointerEvent} event */
  #follow(event) {
    if (!this.#scale) return;
    const box = this.svg.getBoundingClientRect();
    const value = this.#scale.back(((event.clientX - box.left) / box.width) * this.#width);
    const all = this.#shown.flatMap((curve) => curve.x);
    this.#move(all.reduce((best, x) => (Math.abs(x - value) < Math.abs(best - value) ? x : best), all[0]));
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by || event.target !== this.element || !this.#shown.length) return;
    event.preventDefault();
    const { x } = this.#shown[0];
    const now = this.#at === null ? x.length - 1 : nearest(x, this.#at) + by;
    const next = x[Math.max(0, Math.min(x.length - 1, now))];
    this.#move(next);
    this.panel.onpick?.(next);
  }

  /** @param {number | null} at */
  #mark(at) {
    const before = this.#at;
    this.#at = at;
    const scale = this.#scale;
    if (at === null || !scale || !this.#shown.length) {
      if (before !== null) this.#read(null);
      this.marks.replaceChildren();
      return;
    }
    this.#read(at);
    const place = Math.max(LEFT, Math.min(this.#width - RIGHT, scale.x(at)));
    this.marks.replaceChildren(
      s("line", { class: "chart-hair", x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM }),
      ...this.#shown.map((curve) => {
        const i = nearest(curve.x, at);
        return s("circle", { class: `chart-spot series-${(curve.colour ?? 0) + 1}`, cx: scale.x(curve.x[i]), cy: scale.y(curve.mean[i]), r: 4 });
      }),
    );
  }

  /** @param {Curve[]} shown */
  #words(shown) {
    const each = shown.map((curve) => {
      const [first, last] = [curve.mean[0], curve.mean[curve.mean.length - 1]];
      return `${curve.name} from ${written(first, this.panel.form)} to ${written(last, this.panel.form)}`;
    });
    return `${this.panel.title}: ${each.join("; ")}`;
  }
}

/** @param {number[]} values @returns {[number, number]} */
function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** The place of the nearest of ascending values. @param {number[]} values @param {number} wanted */
function nearest(values, wanted) {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 && wanted - values[low - 1] < values[low] - wanted ? low - 1 : low;
}

/** A small line without axes. @param {number[]} values */
export function sketch(values) {
  const [width, height] = [96, 28];
  if (values.length < 2) return s("svg", { class: "sketch", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  const [low, high] = extent(values);
  const d = values
    .map((value, i) => `${i ? "L" : "M"}${(2 + (i / (values.length - 1)) * (width - 4)).toFixed(1)} ${(3 + (1 - (value - low) / (high - low || 1)) * (height - 6)).toFixed(1)}`)
    .join("");
  return s("svg", { class: "sketch series-1", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" }, s("path", { class: "chart-line", d }));
}
