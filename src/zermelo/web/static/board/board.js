// The board of every game: draws positions, animates what changed, and turns clicks, drags and keys
// into legal actions. Knows shapes and texts of the protocol; nothing of who plays or searches.
import { announce, fill, s } from "../dom.js";
import { animateChange } from "./animate.js";
import { Geometry } from "./geometry.js";
import { frame, ground, labels } from "./ground.js";
import { Hand } from "./hand.js";
import { heatOf, marksOf } from "./marks.js";
import { piece, pieceName } from "./pieces.js";

/**
 * @typedef {import("../protocol").Shape} Shape
 * @typedef {import("../protocol").Board} Position
 * @typedef {import("../protocol").Legal} Legal
 * @typedef {import("./marks.js").Mark} Mark
 * @typedef {{shape: Shape, title: string, sides: string[], onmove?: (text: string) => void}} BoardOptions
 */

let serial = 0;

export class Board {
  /** @param {BoardOptions} options */
  constructor(options) {
    this.options = options;
    this.flipped = false;
    /** @type {Position | null} */
    this.position = null;
    /** @type {Legal[]} */
    this.legal = [];
    /** @type {number[]} */
    this.check = [];
    this.id = `board-${++serial}`;
    this.element = s("svg", {
      class: `board board-${options.shape.kind || "own"}`, tabindex: 0, role: "application",
      "aria-roledescription": "board", "aria-label": `${options.title} board. Arrow keys move, Enter chooses.`,
    });
    this.layers = {
      ground: s("g"), last: s("g", { class: "last" }), heat: s("g"), below: s("g", { class: "hints" }),
      pieces: s("g", { class: "pieces" }), front: s("g"), marks: s("g", { class: "marks" }),
      above: s("g", { class: "hints" }), labels: s("g"),
    };
    this.element.append(...Object.values(this.layers));
    this.geometry = new Geometry(options.shape, false);
    this.#lay();
    this.hand = new Hand(this);
  }

  /** Turned round, if this board can be. @param {boolean} flipped */
  flip(flipped) {
    this.flipped = flipped;
    this.geometry = new Geometry(this.options.shape, flipped);
    this.#lay();
    if (this.position) this.show(this.position, { legal: this.legal, check: this.check });
  }

  #lay() {
    const { geometry } = this;
    this.element.setAttribute("viewBox", `0 0 ${geometry.width} ${geometry.height}`);
    fill(this.layers.ground, ground(geometry));
    fill(this.layers.front, geometry.shape.drops ? frame(geometry, `${this.id}-holes`) : null);
    fill(this.layers.labels, labels(geometry));
  }

  /**
   * Shows a position; what can be played there is `legal`.
   * @param {Position} position
   * @param {{legal?: Legal[], check?: number[], animate?: boolean}} [how]
   */
  show(position, how = {}) {
    const before = this.position;
    this.position = position;
    this.legal = how.legal ?? [];
    this.check = how.check ?? [];
    fill(this.layers.last,
      position.last.map((cell) => this.#tint(cell, "tint")),
      this.check.map((cell) => this.#tint(cell, "tint check")));
    const { kind } = this.options.shape;
    /** @type {Map<number, SVGGElement>} */
    const pieces = new Map();
    [...position.cells].forEach((letter, cell) => {
      if (letter === ".") return;
      const made = piece(kind, letter, position.owners[cell] ?? ".");
      const [x, y] = this.geometry.centre(cell);
      const placed = s("g", { transform: `translate(${x} ${y})`, "data-cell": cell }, made);
      pieces.set(cell, made);
      this.layers.pieces.append(placed);
    });
    const placed = [...pieces.values()].map((made) => /** @type {Element} */ (made.parentElement));
    this.layers.pieces.replaceChildren(...placed);
    if (how.animate && before) animateChange(this, before, position, pieces);
    this.hand?.reset();
  }

  /** Candidates on the board. @param {Mark[]} marks */
  mark(marks) {
    this.layers.marks.replaceChildren(...marksOf(this.geometry, marks));
  }

  /** A tint for some cells, by share. @param {Map<number, number>} shares */
  heat(shares) {
    this.layers.heat.replaceChildren(...heatOf(this.geometry, shares));
  }

  /** @param {number} cell @param {string} name */
  #tint(cell, name) {
    const [x, y] = this.geometry.centre(cell);
    if (this.geometry.hexagons) return s("polygon", { class: name, points: this.geometry.hexagon(cell, 57) });
    return s("rect", { class: name, x: x - 50, y: y - 50, width: 100, height: 100 });
  }

  /** Says what stands on a cell. @param {number} cell */
  say(cell) {
    const { shape, sides } = this.options;
    const letter = this.position?.cells[cell] ?? ".";
    const owner = this.position?.owners[cell] ?? ".";
    announce(`${this.geometry.nameOf(cell)}, ${pieceName(shape.kind, letter, owner, sides)}`);
  }
}
