// A person's hand at a board: clicks, drags, keys, and what they mean. Hints of what is legal are
// drawn here. The board tells what is legal; the hand calls `onmove` with an action's text.
import { announce, h, s } from "../dom.js";
import { CELL } from "./geometry.js";
import { piece } from "./pieces.js";

/**
 * @typedef {import("./board.js").Board} Board
 * @typedef {import("../protocol").Legal} Legal
 */

const PROMOTIONS = { q: "Queen", r: "Rook", b: "Bishop", n: "Knight" };
const DRAG = 6; // pixels

export class Hand {
  /** @type {number | null} */
  #chosen = null;
  /** @type {number | null} */
  #cursor = null;
  /** @type {number | null} */
  #hover = null;
  /** @type {{cell: number, x: number, y: number, moving: boolean, chosen: boolean, group: SVGGElement | null} | null} */
  #drag = null;
  /** @type {HTMLElement | null} */
  #asking = null;

  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    const element = board.element;
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#up(event));
    element.addEventListener("pointercancel", () => this.#drop());
    element.addEventListener("pointerleave", () => this.#setHover(null));
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("focus", () => this.#draw());
    element.addEventListener("blur", () => this.#draw());
  }

  /** After another position is shown. */
  reset() {
    this.#chosen = null;
    this.#drop();
    this.#asking?.remove();
    this.#asking = null;
    this.#draw();
  }

  /** Actions that begin at a cell. @param {number} cell */
  #from(cell) {
    return this.board.legal.filter((each) => each.cells.length > 1 && each.cells[0] === cell);
  }

  /** The action that fills a cell. @param {number} cell */
  #filling(cell) {
    const { drops, columns } = this.board.options.shape;
    return this.board.legal.find((each) => each.cells.length === 1 && (each.cells[0] === cell || (drops && /** @type {number} */ (each.cells[0]) % columns === cell % columns)));
  }

  /** @param {PointerEvent} event @returns {number | null} */
  #cellAt(event) {
    const matrix = this.board.element.getScreenCTM();
    if (!matrix) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return this.board.geometry.cellAt(point.x, point.y);
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0 || this.#asking) return;
    const cell = this.#cellAt(event);
    this.#cursor = null;
    if (cell === null) return;
    if (this.#chosen !== null && this.#chosen !== cell && this.#go(this.#chosen, cell)) return;
    if (this.#from(cell).length) {
      const group = /** @type {SVGGElement | null} */ (this.board.layers.pieces.querySelector(`[data-cell="${cell}"]`));
      this.#drag = { cell, x: event.clientX, y: event.clientY, moving: false, chosen: this.#chosen === cell, group };
      this.#chosen = cell;
      this.board.element.setPointerCapture(event.pointerId);
      event.preventDefault();
      this.board.element.focus({ preventScroll: true });
    } else {
      this.#chosen = null;
      const filling = this.#filling(cell);
      if (filling) this.#play(filling.text);
    }
    this.#draw();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const drag = this.#drag;
    if (!drag) {
      this.#setHover(event.pointerType === "mouse" ? this.#cellAt(event) : null);
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moving && Math.hypot(dx, dy) < DRAG) return;
    drag.moving = true;
    const scale = this.board.element.getScreenCTM()?.a || 1;
    const [x, y] = this.board.geometry.centre(drag.cell);
    drag.group?.setAttribute("transform", `translate(${x + dx / scale} ${y + dy / scale})`);
    drag.group?.classList.add("held");
    if (drag.group) drag.group.parentElement?.append(drag.group);
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const drag = this.#drag;
    if (!drag) return;
    const target = this.#cellAt(event);
    const { moving, cell, chosen } = drag;
    this.#drop();
    if (moving && target !== null && target !== cell && this.#go(cell, target)) return;
    if (!moving && chosen) this.#chosen = null; // a second click lets go
    this.#draw();
  }

  /** A piece goes back to its place. */
  #drop() {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag?.group) return;
    const [x, y] = this.board.geometry.centre(drag.cell);
    drag.group.classList.remove("held");
    drag.group.setAttribute("transform", `translate(${x} ${y})`);
  }

  /** Plays from cell to cell, if that is legal. @param {number} from @param {number} to */
  #go(from, to) {
    const found = this.#from(from).filter((each) => each.cells.at(-1) === to);
    if (!found.length) return false;
    this.#chosen = null;
    if (found.length === 1) this.#play(/** @type {Legal} */ (found[0]).text);
    else this.#ask(found, to);
    this.#draw();
    return true;
  }

  /** @param {string} text */
  #play(text) {
    this.#setHover(null);
    this.board.options.onmove?.(text);
  }

  /** Which piece a pawn becomes. @param {Legal[]} choices @param {number} cell */
  #ask(choices, cell) {
    const white = this.board.position?.turn === 0;
    const close = () => {
      this.#asking?.remove();
      this.#asking = null;
      this.board.element.focus({ preventScroll: true });
    };
    const order = "qrbn";
    const sorted = [...choices].sort((a, b) => order.indexOf(a.text.slice(-1)) - order.indexOf(b.text.slice(-1)));
    const buttons = sorted.map((choice) => {
      const letter = /** @type {keyof typeof PROMOTIONS} */ (choice.text.slice(-1));
      return h("button", {
        type: "button", class: "button promotion", "aria-label": PROMOTIONS[letter] ?? choice.text, "data-piece": letter,
        onclick: () => {
          close();
          this.#play(choice.text);
        },
      }, PROMOTIONS[letter] ? h("img", { src: `/assets/pieces/${white ? "w" : "b"}${letter}.svg`, alt: "", width: 52, height: 52 }) : choice.text);
    });
    const [x] = this.board.geometry.centre(cell);
    this.#asking = h("div", {
      class: "promotions", role: "dialog", "aria-label": "Promote to",
      style: { left: `${(100 * x) / this.board.geometry.width}%` },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape") close();
      },
    }, buttons);
    this.board.element.parentElement?.append(this.#asking);
    buttons[0]?.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key.startsWith("Arrow")) {
      const { rows, columns } = this.board.options.shape;
      const middle = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
      this.#cursor = this.#cursor === null ? (this.#chosen ?? middle) : this.board.geometry.neighbour(this.#cursor, event.key);
      this.board.say(this.#cursor);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.#cursor === null) return;
      this.#press(this.#cursor);
    } else if (event.key === "Escape") {
      this.#chosen = null;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.#draw();
  }

  /** @param {number} cell */
  #press(cell) {
    if (this.#chosen !== null && this.#chosen !== cell && this.#go(this.#chosen, cell)) return;
    if (this.#from(cell).length) {
      this.#chosen = this.#chosen === cell ? null : cell;
      const to = this.#from(cell).map((each) => this.board.geometry.nameOf(/** @type {number} */ (each.cells.at(-1))));
      if (this.#chosen !== null) announce(`chosen, can go to ${to.join(", ")}`);
      return;
    }
    const filling = this.#filling(cell);
    if (filling) this.#play(filling.text);
    else announce("not legal");
  }

  /** @param {number | null} cell */
  #setHover(cell) {
    if (cell === this.#hover) return;
    this.#hover = cell;
    this.#draw();
  }

  #draw() {
    const { geometry, layers, legal, position } = this.board;
    const below = [];
    const above = [];
    if (this.#chosen !== null) {
      const [x, y] = geometry.centre(this.#chosen);
      below.push(s("rect", { class: "chosen", x: x - 50, y: y - 50, width: CELL, height: CELL }));
      for (const each of this.#from(this.#chosen)) {
        const target = /** @type {number} */ (each.cells.at(-1));
        const [tx, ty] = geometry.centre(target);
        const taken = position?.cells[target] !== ".";
        above.push(taken ? s("circle", { class: "dot taken", cx: tx, cy: ty, r: 43 }) : s("circle", { class: "dot", cx: tx, cy: ty, r: 15 }));
      }
    } else if (this.board.options.onmove) {
      const movers = new Set(legal.filter((each) => each.cells.length > 1).map((each) => each.cells[0]));
      if (this.board.options.shape.kind === "checkers") {
        for (const cell of movers) {
          const [x, y] = geometry.centre(/** @type {number} */ (cell));
          below.push(s("circle", { class: "mover", cx: x, cy: y, r: 46 }));
        }
      }
      const { kind } = this.board.options.shape;
      if (kind === "othello" || !kind) {
        for (const each of legal) {
          if (each.cells.length !== 1) continue;
          const [x, y] = geometry.centre(/** @type {number} */ (each.cells[0]));
          below.push(s("circle", { class: "dot", cx: x, cy: y, r: 11 }));
        }
      }
    }
    const over = this.#hover === null || !this.board.options.onmove ? undefined : this.#filling(this.#hover);
    if (over && position) {
      const target = /** @type {number} */ (over.cells[0]);
      const [x, y] = geometry.centre(target);
      const letter = position.turn === 0 ? "X" : "O";
      const ghost = piece(this.board.options.shape.kind, letter, String(position.turn));
      below.push(s("g", { class: "ghost", transform: `translate(${x} ${y})` }, ghost));
    }
    const point = this.#hover !== null && (over || this.#from(this.#hover).length > 0);
    this.board.element.classList.toggle("pointing", Boolean(point));
    if (this.#cursor !== null && document.activeElement === this.board.element) {
      const [x, y] = geometry.centre(this.#cursor);
      above.push(s("rect", { class: "cursor", x: x - 46, y: y - 46, width: 92, height: 92, rx: 10 }));
    }
    layers.below.replaceChildren(...below);
    layers.above.replaceChildren(...above);
  }
}
