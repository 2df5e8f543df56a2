// The board without pieces: squares, felt, a frame with holes, hexagons; labels around it.
import { s } from "../dom.js";
import { CELL } from "./geometry.js";

/** @typedef {import("./geometry.js").Geometry} Geometry */

/** What lies under the pieces. @param {Geometry} geometry @returns {SVGGElement} */
export function ground(geometry) {
  const { kind, rows, columns, drops } = geometry.shape;
  const group = s("g", { class: `ground ground-${kind || "own"}` });
  const [x, y] = [geometry.left, geometry.top];
  if (geometry.hexagons) {
    group.append(...edges(geometry));
    for (let cell = 0; cell < rows * columns; cell++) {
      group.append(s("polygon", { class: "cell", points: geometry.hexagon(cell, CELL / Math.sqrt(3)) }));
    }
    return group;
  }
  const whole = { x, y, width: columns * CELL, height: rows * CELL };
  if (drops) {
    group.append(s("rect", { class: "hole", ...whole }));
    return group;
  }
  group.append(s("rect", { class: "whole", ...whole, rx: 4 }));
  const checked = kind === "chess" || kind === "checkers";
  for (let cell = 0; cell < rows * columns; cell++) {
    const row = Math.floor(cell / columns);
    const dark = (row + (cell % columns)) % 2 === 1;
    const [cx, cy] = geometry.centre(cell);
    const square = { x: cx - CELL / 2, y: cy - CELL / 2, width: CELL, height: CELL };
    if (checked) group.append(s("rect", { class: dark ? "dark" : "light", ...square }));
  }
  if (!checked) group.append(...grid(geometry, kind === "tictactoe"));
  return group;
}

/** Connect Four's frame, in front of the stones, with a hole for each. @param {Geometry} geometry @param {string} id */
export function frame(geometry, id) {
  const { rows, columns } = geometry.shape;
  const [x, y] = [geometry.left - 14, geometry.top - 10];
  const size = { x, y, width: columns * CELL + 28, height: rows * CELL + 24, rx: 22 };
  const holes = [];
  for (let cell = 0; cell < rows * columns; cell++) {
    const [cx, cy] = geometry.centre(cell);
    holes.push(s("circle", { cx, cy, r: 40, fill: "black" }));
  }
  const rims = holes.map((hole) => s("circle", { class: "rim", cx: hole.getAttribute("cx"), cy: hole.getAttribute("cy"), r: 40 }));
  return s("g", { class: "frame" },
    s("mask", { id }, s("rect", { ...size, fill: "white" }), holes),
    s("rect", { class: "front", ...size, mask: `url(#${id})` }),
    rims,
  );
}

/** @param {Geometry} geometry @returns {SVGGElement} */
export function labels(geometry) {
  const { rows, columns, names, left, right, drops, kind } = geometry.shape;
  const size = Math.min(26, Math.max(13, geometry.width * 0.031)); // alike on small and large boards
  const group = s("g", { class: "labels", "aria-hidden": "true", "font-size": size.toFixed(1) });
  /** @param {string} text @param {number} x @param {number} y */
  const label = (text, x, y) => {
    if (text) group.append(s("text", { x, y, "text-anchor": "middle", dy: "0.35em" }, text));
  };
  for (let row = 0; row < rows; row++) {
    const [x0, y] = geometry.centre(row * columns);
    const [x1] = geometry.centre(row * columns + columns - 1);
    const out = kind === "hex" ? 108 : 50 + size + 6;
    label(left[row] ?? "", (geometry.flipped ? x1 : x0) - out, y);
    label(right[row] ?? "", (geometry.flipped ? x0 : x1) + out, y);
  }
  names.forEach((name, column) => {
    const [x] = geometry.centre(geometry.hexagons ? column : (rows - 1) * columns + column);
    const y = geometry.hexagons ? geometry.margin - 46 : drops ? geometry.height - 24 : geometry.height - geometry.bottom + size;
    label(name, geometry.hexagons ? x - 14 : x, y);
  });
  return group;
}

/** @param {Geometry} geometry @param {boolean} open without a border */
function grid(geometry, open) {
  const { rows, columns } = geometry.shape;
  const [x0, y0] = [geometry.left, geometry.top];
  const [x1, y1] = [x0 + columns * CELL, y0 + rows * CELL];
  const lines = [];
  for (let i = open ? 1 : 0; i <= columns - (open ? 1 : 0); i++) lines.push(s("path", { class: "line", d: `M${x0 + i * CELL} ${y0}V${y1}` }));
  for (let i = open ? 1 : 0; i <= rows - (open ? 1 : 0); i++) lines.push(s("path", { class: "line", d: `M${x0} ${y0 + i * CELL}H${x1}` }));
  return lines;
}

/** Hex: top and bottom belong to the first player, left and right to the second. @param {Geometry} geometry */
function edges(geometry) {
  const { rows, columns } = geometry.shape;
  const last = rows * columns - 1;
  const [right, bottom] = [columns - 1, last - columns + 1];
  const reach = 66;
  const side = [(reach * Math.sqrt(3)) / 2, reach / 2];
  /** @type {[number, number, number, number, number][]} */
  const all = [[0, 0, right, 0, -reach], [0, bottom, last, 0, reach], [1, 0, bottom, -side[0], side[1]], [1, right, last, side[0], -side[1]]];
  return all.map(([player, from, to, dx, dy]) => {
    const [x1, y1] = geometry.centre(from);
    const [x2, y2] = geometry.centre(to);
    return s("line", { class: `edge edge-${player}`, x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy });
  });
}
