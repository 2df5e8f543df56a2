// What is drawn over the pieces: candidates as discs or arrows with numbers, heat, the way of a
// simulation. Knows cells, nothing of searches.
import { s } from "../dom.js";
import { CELL } from "./geometry.js";

/**
 * @typedef {import("./geometry.js").Geometry} Geometry
 * @typedef {{cells: number[], share: number, label?: string, best?: boolean, tone?: string}} Mark
 *   `share` from 0 to 1
 */

/** @param {Geometry} geometry @param {Mark[]} marks weakest first @returns {SVGElement[]} */
export function marksOf(geometry, marks) {
  const drawn = marks.filter((mark) => mark.cells.length);
  return [...drawn].sort((a, b) => Number(a.best ?? false) - Number(b.best ?? false) || a.share - b.share)
    .map((mark) => (mark.cells.length === 1 ? disc(geometry, mark) : arrow(geometry, mark)));
}

/** @param {Geometry} geometry @param {Mark} mark */
function disc(geometry, mark) {
  const [x, y] = geometry.centre(/** @type {number} */ (mark.cells[0]));
  const opacity = 0.3 + 0.65 * mark.share;
  return s("g", { class: `mark ${mark.tone ?? ""} ${mark.best ? "best" : ""}` },
    s("circle", { cx: x, cy: y, r: 35, "fill-opacity": opacity }),
    mark.label ? s("text", { x, y, dy: "0.35em", "text-anchor": "middle" }, mark.label) : null);
}

/** @param {Geometry} geometry @param {Mark} mark */
function arrow(geometry, mark) {
  const [x1, y1] = geometry.centre(/** @type {number} */ (mark.cells[0]));
  const [x2, y2] = geometry.centre(/** @type {number} */ (mark.cells.at(-1)));
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const width = 7 + 15 * mark.share;
  const head = 22 + width;
  const [bx, by] = [x2 - head * ux, y2 - head * uy];
  const points = [[x2, y2], [bx - 0.55 * head * uy, by + 0.55 * head * ux], [bx + 0.55 * head * uy, by - 0.55 * head * ux]];
  return s("g", { class: `mark ${mark.tone ?? ""} ${mark.best ? "best" : ""}`, opacity: 0.35 + 0.6 * mark.share },
    s("line", { x1: x1 + 18 * ux, y1: y1 + 18 * uy, x2: bx + ux, y2: by + uy, "stroke-width": width }),
    s("polygon", { points: points.map((p) => p.join(",")).join(" ") }),
    mark.label && mark.share > 0.12 ? s("text", { x: bx, y: by, dy: "0.35em", "text-anchor": "middle", class: "on-arrow" }, mark.label) : null);
}

/** Cells tinted by shares. @param {Geometry} geometry @param {Map<number, number>} shares */
export function heatOf(geometry, shares) {
  const most = Math.max(...shares.values(), 1e-9);
  return [...shares].map(([cell, share]) => {
    const [x, y] = geometry.centre(cell);
    const opacity = 0.08 + 0.72 * Math.sqrt(share / most);
    if (geometry.hexagons) return s("polygon", { class: "heat", points: geometry.hexagon(cell, 55), "fill-opacity": opacity });
    return s("rect", { class: "heat", x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL, "fill-opacity": opacity });
  });
}
