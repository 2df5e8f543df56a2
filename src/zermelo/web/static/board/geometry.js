// Where things lie on a board: cells and their centres, in units of which a cell has 100. Knows
// squares, columns and hexagons; nothing of colours or of what stands where.

/** @typedef {import("../protocol").Shape} Shape */

export const CELL = 100;
const ROW_OF_HEXAGONS = (CELL * Math.sqrt(3)) / 2;

export class Geometry {
  /** @param {Shape} shape @param {boolean} flipped seen from the other side */
  constructor(shape, flipped) {
    this.shape = shape;
    this.hexagons = shape.kind === "hex";
    this.turnable = !this.hexagons && !shape.drops;
    this.flipped = flipped && this.turnable;
    const labelled = shape.names.length > 0 || shape.left.some(Boolean);
    this.margin = this.hexagons ? 96 : shape.drops ? 22 : labelled ? 46 : 12;
    const slant = this.hexagons ? (shape.rows - 1) / 2 : 0;
    this.rowHeight = this.hexagons ? ROW_OF_HEXAGONS : CELL;
    this.top = shape.drops ? 18 : this.margin;
    this.bottom = shape.drops ? 62 : this.margin;
    if (!shape.drops && !this.hexagons) this.top = 8;
    const edge = Math.min(46, 16 + 5 * shape.columns); // room for labels; small boards need less
    if (!shape.drops && !this.hexagons) this.bottom = labelled ? edge : 8;
    this.left = !shape.drops && !this.hexagons && labelled ? edge : this.margin;
    this.right = !shape.drops && !this.hexagons ? (shape.right.some(Boolean) ? edge : 8) : this.margin;
    this.width = this.left + this.right + CELL * (shape.columns + slant);
    this.height = this.top + this.bottom + this.rowHeight * shape.rows;
  }

  /** @param {number} cell @returns {[number, number]} */
  centre(cell) {
    const seen = this.flipped ? this.shape.rows * this.shape.columns - 1 - cell : cell;
    const row = Math.floor(seen / this.shape.columns);
    const column = seen % this.shape.columns;
    const slant = this.hexagons ? row / 2 : 0;
    return [this.left + CELL * (column + slant + 0.5), this.top + this.rowHeight * (row + 0.5)];
  }

  /** The cell at a point; null off the board. @param {number} x @param {number} y */
  cellAt(x, y) {
    const { rows, columns } = this.shape;
    let row = Math.floor((y - this.top) / this.rowHeight);
    if (this.shape.drops) row = Math.min(Math.max(row, 0), rows - 1);
    const slant = this.hexagons ? row / 2 : 0;
    const column = Math.floor((x - this.left) / CELL - slant);
    if (row < 0 || row >= rows || column < 0 || column >= columns) return null;
    const seen = row * columns + column;
    return this.flipped ? rows * columns - 1 - seen : seen;
  }

  /** The cell one step from another one; the same at the edge. @param {number} cell @param {string} key */
  neighbour(cell, key) {
    const { rows, columns } = this.shape;
    const turn = this.flipped ? -1 : 1;
    let row = Math.floor(cell / columns);
    let column = cell % columns;
    if (key === "ArrowUp") row -= turn;
    if (key === "ArrowDown") row += turn;
    if (key === "ArrowLeft") column -= turn;
    if (key === "ArrowRight") column += turn;
    row = Math.min(Math.max(row, 0), rows - 1);
    column = Math.min(Math.max(column, 0), columns - 1);
    return row * columns + column;
  }

  /** A cell as people call it. @param {number} cell */
  nameOf(cell) {
    const { columns, names, left, drops, kind } = this.shape;
    const row = Math.floor(cell / columns);
    if (drops) return `column ${names[cell % columns]}`;
    if (kind === "checkers") {
      const dark = (row + (cell % columns)) % 2 === 1;
      return dark ? `square ${row * 4 + Math.floor((cell % columns) / 2) + 1}` : "light square";
    }
    return `${names[cell % columns] ?? ""}${left[row] ?? ""}`;
  }

  /** The corners of a hexagon. @param {number} cell @param {number} reach @returns {string} */
  hexagon(cell, reach) {
    const [x, y] = this.centre(cell);
    return [0, 1, 2, 3, 4, 5]
      .map((k) => `${(x + reach * Math.sin((k * Math.PI) / 3)).toFixed(1)},${(y + reach * Math.cos((k * Math.PI) / 3)).toFixed(1)}`)
      .join(" ");
  }
}
