// The list of moves of a game, with marks; a click jumps.
import { fill, h } from "../dom.js";

/** @typedef {import("../protocol").Board} Position */

/**
 * @param {HTMLElement} container an <ol>
 * @param {Position[]} boards from the first position on
 * @param {number} at the ply that is shown
 * @param {(ply: number) => void} jump
 * @param {Map<number, {sign: string, tone: string, title: string}>} [marks] by ply
 */
export function showMoves(container, boards, at, jump, marks) {
  const rows = [];
  for (let ply = 1; ply < boards.length; ply++) {
    const board = /** @type {Position} */ (boards[ply]);
    const before = /** @type {Position} */ (boards[ply - 1]);
    if (ply === 1 || before.turn === 0) {
      const opens = before.turn === 0 || ply === 1;
      if (opens) rows.push(h("li", { class: "move-row" }, h("span", { class: "move-number" }, `${rows.length + 1}.`), before.turn === 1 ? h("span", { class: "faint" }, "…") : null));
    }
    const mark = marks?.get(ply);
    rows.at(-1)?.append(h("button", {
      type: "button", class: `move ${mark?.tone ?? ""}`, "aria-current": ply === at ? "step" : null, title: mark?.title,
      onclick: () => jump(ply),
    }, board.label ?? board.move ?? "", mark ? h("span", { class: "sign" }, mark.sign) : null));
  }
  if (!rows.length) rows.push(h("li", { class: "faint" }, "No moves yet"));
  fill(container, rows);
  const current = container.querySelector("[aria-current]");
  if (current instanceof HTMLElement) container.scrollTop = current.offsetTop - container.clientHeight / 2;
}

/** A button with a picture and a name. @param {string} name @param {SVGElement} picture @param {() => void} press @param {string} [key] */
export function tool(name, picture, press, key) {
  return h("button", { type: "button", class: "icon-button", "aria-label": name, title: key ? `${name} (${key})` : name, onclick: press }, picture);
}
