// How pieces look, for every game: one visual language. A piece is a <g> around its own origin.
import { s } from "../dom.js";

/** @typedef {import("../protocol").Shape} Shape */

const NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };

/**
 * A piece centred on (0, 0).
 * @param {string} kind @param {string} letter @param {string} owner "0", "1" or "."
 * @returns {SVGGElement}
 */
export function piece(kind, letter, owner) {
  const group = s("g", { class: `piece owner-${owner === "." ? "none" : owner}` });
  if (kind === "chess") {
    const colour = letter === letter.toUpperCase() ? "w" : "b";
    const href = `/assets/pieces/${colour}${letter.toLowerCase()}.svg`;
    group.append(s("image", { href, x: -46, y: -46, width: 92, height: 92 }));
  } else if (kind === "tictactoe") {
    group.append(
      owner === "0"
        ? s("path", { class: "cross", d: "M-26 -26L26 26M26 -26L-26 26" })
        : s("circle", { class: "ring", r: 28 }),
    );
  } else if (kind === "hex") {
    group.append(s("circle", { class: "stone", r: 41 }));
  } else {
    group.append(s("circle", { class: "shade", r: 41, cy: 3 }), s("circle", { class: "stone", r: 41 }), s("circle", { class: "inner", r: 29 }));
    if (kind === "checkers" && letter === letter.toUpperCase()) {
      group.append(s("path", { class: "crown", d: "M-22 15L-26 -13L-11 0L0 -20L11 0L26 -13L22 15Z" }));
    } else if (!kind && !"XO".includes(letter)) {
      group.append(s("text", { class: "letter", "text-anchor": "middle", dy: "0.35em" }, letter));
    }
  }
  return group;
}

/** A piece in words. @param {string} kind @param {string} letter @param {string} owner @param {string[]} sides */
export function pieceName(kind, letter, owner, sides) {
  if (letter === ".") return "empty";
  const side = owner === "." ? "" : (sides[Number(owner)] ?? "");
  if (kind === "chess") return `${side} ${NAMES[/** @type {keyof typeof NAMES} */ (letter.toLowerCase())]}`;
  if (kind === "checkers") return `${side} ${letter === letter.toUpperCase() ? "king" : "man"}`;
  if (kind === "tictactoe") return side;
  return kind || "XO".includes(letter) ? `${side} stone` : `${side} ${letter}`;
}
