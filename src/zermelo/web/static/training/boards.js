// Boards of the training views: a position with what a search or a network would play on it.
// The board itself is that of every view; here its marks are made from shares of actions.
import { h } from "../dom.js";
import { Board } from "../board/board.js";
import { strongest } from "./shares.js";

const MARKS = 6; // actions that are marked

/**
 * @typedef {import("../protocol").Shape} Shape
 * @typedef {import("../protocol").Board} Position
 * @typedef {import("../protocol").Legal} Legal
 * @typedef {{kind: string, title: string, players: string[]}} Sides  how people call the game and its two sides
 */

/** The two sides of a game. @param {Shape} shape @param {import("../router.js").Context} context @returns {Sides} */
export function sidesOf(shape, context) {
  const same = context.welcome.games.find((offer) => JSON.stringify(offer.shape) === JSON.stringify(shape));
  return { kind: shape.kind, title: same?.title ?? "The", players: same?.players ?? ["First", "Second"] };
}

export class SharesBoard {
  /** @type {((move: string) => void) | null} */
  onmove = null;
  #before = "";

  /** @param {Shape} shape @param {Sides} sides @param {boolean} [small] a picture alone */
  constructor(shape, sides, small = false) {
    this.small = small;
    this.board = new Board({ shape, title: sides.title, sides: sides.players, onmove: (text) => this.onmove?.(text) });
    if (small) {
      for (const name of ["tabindex", "role", "aria-roledescription", "aria-label"]) this.board.element.removeAttribute(name);
      this.board.element.setAttribute("aria-hidden", "true");
    }
    this.element = h("div", { class: small ? "shares-board small" : "shares-board board-frame" }, this.board.element);
  }

  /**
   * @param {Position} position @param {Legal[]} legal @param {Record<string, number>} shares by action
   * @param {string | null} best that stands out
   */
  show(position, legal, shares, best) {
    if (position.text !== this.#before) {
      this.board.show(position, { legal: this.onmove ? legal : [], animate: !this.small && this.#before !== "" });
      this.#before = position.text;
    }
    const cells = new Map(legal.map((one) => [one.text, one.cells]));
    const marks = strongest(shares).slice(0, MARKS).filter(([, share]) => share >= 0.005);
    this.board.mark(marks.map(([text, share]) => ({ cells: cells.get(text) ?? [], share, label: String(Math.round(100 * share)), best: text === best })));
  }
}
