// What happened between two positions, as movement: falls, jumps, flips, captures. Purely for the
// eye: the board already shows the new position.
import { piece } from "./pieces.js";
import { s } from "../dom.js";

/**
 * @typedef {import("./board.js").Board} Board
 * @typedef {import("../protocol").Board} Position
 */

const MOVE = 220; // milliseconds
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {Board} board @param {Position} before @param {Position} after @param {Map<number, SVGGElement>} pieces */
export function animateChange(board, before, after, pieces) {
  if (still.matches || before.cells.length !== after.cells.length) return;
  const { geometry } = board;
  const { shape } = board.options;
  /** @type {{emptied: number[], filled: number[], turned: number[]}} */
  const { emptied, filled, turned } = { emptied: [], filled: [], turned: [] };
  for (let cell = 0; cell < after.cells.length; cell++) {
    if (before.cells[cell] === after.cells[cell]) continue;
    if (after.cells[cell] === ".") emptied.push(cell);
    else if (before.cells[cell] === "." || after.last.includes(cell)) filled.push(cell);
    else turned.push(cell);
  }
  /** @type {Set<number>} */
  const moved = new Set();
  for (const cell of filled) {
    const made = pieces.get(cell);
    if (!made) continue;
    const [x, y] = geometry.centre(cell);
    const from = source(board, before, after, cell, emptied, moved);
    if (shape.drops && before.cells[cell] === "." && after.last.includes(cell)) {
      const height = y - geometry.top + 60;
      made.animate(fall(height), { duration: 160 + 18 * Math.sqrt(height) * 1.4, easing: "linear" });
    } else if (from !== null) {
      moved.add(from);
      const [x0, y0] = geometry.centre(from);
      made.parentElement?.parentElement?.append(/** @type {Node} */ (made.parentElement)); // on top
      made.animate([{ transform: `translate(${x0 - x}px, ${y0 - y}px)` }, { transform: "none" }], { duration: MOVE, easing: "cubic-bezier(0.3, 0, 0.2, 1)" });
    } else {
      made.animate([{ transform: "scale(0.4)", opacity: 0 }, { transform: "scale(1.06)", opacity: 1, offset: 0.7 }, { transform: "none" }], { duration: MOVE });
    }
  }
  for (const cell of turned) {
    pieces.get(cell)?.animate([{ transform: "scaleX(1)" }, { transform: "scaleX(0.05)", offset: 0.5 }, { transform: "scaleX(1)" }], { duration: 320, delay: 60 });
  }
  for (const cell of [...emptied.filter((each) => !moved.has(each)), ...filled.filter((each) => before.cells[each] !== ".")]) {
    fade(board, before, cell);
  }
}

/** Where the piece on `cell` came from; null if it is new. @param {Board} board @param {Position} before @param {Position} after @param {number} cell @param {number[]} emptied @param {Set<number>} moved */
function source(board, before, after, cell, emptied, moved) {
  const [first, last] = [after.last[0], after.last.at(-1)];
  if (cell === last && first !== last && first !== undefined && emptied.includes(first)) return first;
  const same = emptied.find((from) => !moved.has(from) && from !== first && before.cells[from] === after.cells[cell]);
  return same ?? null;
}

/** A fall with a small bounce. @param {number} height @returns {Keyframe[]} */
function fall(height) {
  return [
    { transform: `translateY(${-height}px)`, easing: "cubic-bezier(0.55, 0, 0.9, 0.5)" },
    { transform: "none", offset: 0.72, easing: "ease-out" },
    { transform: `translateY(${-Math.min(16, height * 0.05)}px)`, offset: 0.86, easing: "ease-in" },
    { transform: "none" },
  ];
}

/** A piece that is gone. @param {Board} board @param {Position} before @param {number} cell */
function fade(board, before, cell) {
  const letter = before.cells[cell] ?? ".";
  if (letter === ".") return;
  const [x, y] = board.geometry.centre(cell);
  const made = piece(board.options.shape.kind, letter, before.owners[cell] ?? ".");
  const ghost = s("g", { transform: `translate(${x} ${y})`, "aria-hidden": "true" }, made);
  board.layers.pieces.prepend(ghost);
  made.animate([{ opacity: 1 }, { opacity: 0, transform: "scale(0.7)" }], { duration: MOVE }).onfinish = () => ghost.remove();
}
