// Watch it learn: one position as the checkpoints of a run judge it, first to last, with a slider.
import { announce, fill, h, icon } from "../dom.js";
import { read } from "./api.js";
import { SharesBoard, sidesOf } from "./boards.js";
import { Chart } from "./chart.js";
import { written } from "./numbers.js";
import { failed, waiting } from "./parts.js";
import { shareBars, standing, strongest } from "./shares.js";

const BEAT = 700; // milliseconds for a checkpoint while it plays
const PLAY = "M7 5l12 7-12 7z";
const PAUSE = "M8 5v14M16 5v14";

/**
 * @param {HTMLElement} body @param {import("../router.js").Context} context @param {string} id
 */
export function showLearning(body, context, id) {
  fill(body, waiting("Looking for positions that it learned to see …"));
  /** @type {Learning | null} */
  let shown = null;
  const load = async () => {
    try {
      const found = await read(`/${id}/checkpoints`);
      if (!found.checkpoints.length) {
        fill(body, h("div", { class: "empty sheet" }, h("h2", null, "No checkpoint yet"), h("p", null, "The first one is written when the run begins.")));
        return;
      }
      shown = new Learning(body, context, id, found);
    } catch (error) {
      failed(body, error, () => void load());
    }
  };
  void load();
  return () => shown?.leave();
}

class Learning {
  /** @type {string[]} */
  moves = [];
  /** @type {string | null} */
  best = null;
  /** @type {Map<number, any>} */
  judged = new Map();
  /** @type {any} */
  position = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  timer;
  turn = 0;

  /** @param {HTMLElement} body @param {import("../router.js").Context} context @param {string} id @param {any} found */
  constructor(body, context, id, found) {
    this.id = id;
    this.checkpoints = found.checkpoints;
    this.sides = sidesOf(found.shape, context);
    this.board = new SharesBoard(found.shape, this.sides);
    this.board.onmove = (move) => void this.go([...this.moves, move], null);
    this.at = this.checkpoints.length - 1;
    this.slider = h("input", { type: "range", min: 0, max: this.checkpoints.length - 1, value: this.at, "aria-label": "Checkpoint", oninput: () => { this.pause(); this.show(Number(this.slider.value)); } });
    this.number = h("strong", { class: "number" });
    this.playing = h("button", { class: "icon-button", type: "button", "aria-label": "Play through the checkpoints", onclick: () => (this.timer ? this.pause() : this.play()) }, icon(PLAY));
    this.words = h("div", { class: "sheet stack tight" });
    this.line = h("p", { class: "mono faint" });
    this.chart = new Chart({ title: "How it learned", note: "by checkpoint", form: "share", zero: true, curves: [], range: [0, 1], unit: "checkpoint", onpick: (checkpoint) => { this.pause(); this.show(this.checkpoints.indexOf(checkpoint)); } });
    this.search = h("select", { "aria-label": "How it is judged", onchange: () => void this.go(this.moves, this.best) }, [[0, "the network alone"], [50, "with 50 simulations"], [400, "with 400 simulations"]].map(([value, words]) => h("option", { value }, words)));
    const back = h("button", { class: "button", type: "button", onclick: () => void this.go(this.moves.slice(0, -1), null) }, "Take back");
    const empty = h("button", { class: "button", type: "button", onclick: () => void this.go([], null) }, "From the start");
    this.tactics = h("div", { class: "tactics" });
    fill(
      body,
      h(
        "div",
        { class: "viewer" },
        h("div", { class: "stack tight" }, this.board.element, h("div", { class: "slider-row" }, this.playing, this.slider, this.number), h("div", { class: "row" }, back, empty), this.line),
        h(
          "div",
          { class: "stack" },
          this.words,
          this.chart.element,
          h("label", { class: "field" }, h("span", null, "Judged by"), this.search),
          found.tactics.length > 0 && h("section", { class: "stack tight" }, h("h2", null, "Positions it learned to see"), h("p", { class: "faint" }, "From its own games: the search is sure of one move, and the first checkpoint was not. Or play any moves on the board."), this.tactics),
        ),
      ),
    );
    fill(
      this.tactics,
      found.tactics.map((/** @type {any} */ tactic) => {
        const small = new SharesBoard(found.shape, this.sides, true);
        small.show(tactic.board, [], {}, null);
        return h("button", { class: "tactic", type: "button", "aria-pressed": "false", dataset: { moves: tactic.moves.join(",") }, onclick: () => { this.pause(); void this.go(tactic.moves, tactic.best, true); } }, small.element, h("span", null, `${tactic.best}: ${written(tactic.first, "share")} → ${written(tactic.last, "share")}`));
      }),
    );
    const [first] = found.tactics;
    void this.go(first ? first.moves : [], first ? first.best : null);
  }

  leave() {
    this.turn += 1;
    this.pause();
    this.chart.leave();
  }

  /** To a position; every checkpoint judges it. @param {string[]} moves @param {string | null} best @param {boolean} [play] */
  async go(moves, best, play = false) {
    const turn = ++this.turn;
    try {
      const position = await read(`/${this.id}/position`, { moves: moves.join(",") });
      if (turn !== this.turn) return;
      [this.moves, this.best, this.position] = [position.moves, best, position];
      this.judged = new Map();
      this.line.textContent = this.moves.length ? this.moves.join(" ") : "The beginning of the game";
      for (const button of this.tactics.querySelectorAll(".tactic")) {
        button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.moves === this.moves.join(",")));
      }
      this.show(this.at);
      if (position.outcome !== null) return;
      const order = [this.checkpoints[this.at], ...this.checkpoints.filter((/** @type {number} */ each) => each !== this.checkpoints[this.at])];
      for (const checkpoint of order) {
        const found = await read(`/${this.id}/judge`, { checkpoint, moves: this.moves.join(","), simulations: this.search.value }).catch((error) => ({ refused: error.message }));
        if (turn !== this.turn) return;
        this.judged.set(checkpoint, found);
        if (this.judged.size < 3 || this.judged.size % 5 === 0 || this.judged.size === order.length) this.draw();
        if (checkpoint === this.checkpoints[this.at]) this.show(this.at);
      }
      if (play) this.play();
    } catch (error) {
      if (turn === this.turn) failed(this.words, error);
    }
  }

  /** The curves so far. */
  draw() {
    const known = this.checkpoints.filter((/** @type {number} */ each) => this.judged.get(each)?.shares);
    const newest = this.judged.get(known[known.length - 1]);
    const best = this.best ?? strongest(newest?.shares ?? {})[0]?.[0];
    if (best === undefined) return;
    const value = (/** @type {number} */ each) => (1 + this.judged.get(each).value) / 2;
    this.chart.set([
      { name: `share of ${best}`, x: known, mean: known.map((/** @type {number} */ each) => this.judged.get(each).shares[best] ?? 0) },
      { name: `expected score of ${this.sides.players[0]}`, x: known, mean: known.map(value) },
    ]);
    this.chart.point(this.checkpoints[this.at]);
  }

  /** @param {number} at place among the checkpoints */
  show(at) {
    this.at = Math.max(0, Math.min(this.checkpoints.length - 1, at));
    const checkpoint = this.checkpoints[this.at];
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", `checkpoint ${checkpoint}`);
    this.number.textContent = `checkpoint ${checkpoint}`;
    this.chart.point(checkpoint);
    if (!this.position) return;
    const found = this.judged.get(checkpoint);
    this.board.show(this.position.board, this.position.legal, found?.shares ?? {}, this.best);
    if (this.position.outcome !== null) {
      fill(this.words, h("h2", null, "The game is over here"), h("p", { class: "soft" }, "Take a move back to see what the checkpoints think."));
      return;
    }
    if (!found) {
      fill(this.words, h("h2", null, `Checkpoint ${checkpoint}`), h("p", { class: "faint" }, "is thinking …"));
      return;
    }
    if (found.refused) {
      failed(this.words, found.refused);
      return;
    }
    const top = strongest(found.shares)[0][0];
    fill(this.words, h("div", { class: "row spread" }, h("h2", null, `Checkpoint ${checkpoint} plays ${top}`), this.best && h("span", { class: top === this.best ? "tag good" : "tag warn" }, top === this.best ? "sees it" : `misses ${this.best}`)), standing(found.wdl, this.sides), shareBars(found.shares, this.best));
    announce(`Checkpoint ${checkpoint}: ${top} ${written(found.shares[top], "share")}`);
  }

  play() {
    this.pause();
    this.show(0);
    this.timer = setInterval(() => {
      if (this.at >= this.checkpoints.length - 1) this.pause();
      else this.show(this.at + 1);
    }, BEAT);
    fill(this.playing, icon(PAUSE));
    this.playing.setAttribute("aria-label", "Pause");
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    fill(this.playing, icon(PLAY));
    this.playing.setAttribute("aria-label", "Play through the checkpoints");
  }
}
