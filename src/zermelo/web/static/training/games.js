// Self-play games of a run: a list, and a game to click through with the search's numbers.
import { announce, fill, h, icon } from "../dom.js";
import { read } from "./api.js";
import { SharesBoard, sidesOf } from "./boards.js";
import { Chart } from "./chart.js";
import { written } from "./numbers.js";
import { failed, waiting } from "./parts.js";
import { shareBars, standing, wdlOf } from "./shares.js";

/**
 * @param {HTMLElement} body @param {import("../router.js").Context} context @param {string} id
 * @param {string[]} path @param {URLSearchParams} query
 */
export function showGames(body, context, id, path, query) {
  const list = h("section", { class: "sheet stack tight" }, waiting("Looking for games …"));
  const view = h("div", { class: "stack" });
  fill(body, h("div", { class: "games-page" }, list, view));
  /** @type {GameView | null} */
  let shown = null;

  /** @param {string} shard @param {string | number} number */
  const open = async (shard, number) => {
    for (const row of list.querySelectorAll(".game-row")) {
      const current = /** @type {HTMLElement} */ (row).dataset.game === `${shard}/${number}`;
      if (current) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    try {
      const game = await read(`/${id}/games/${encodeURIComponent(shard)}/${number}`);
      shown?.leave();
      shown = new GameView(view, game, context);
    } catch (error) {
      failed(view, error);
    }
  };

  const load = async () => {
    try {
      const before = query.get("before");
      const found = await read(`/${id}/games`, { before });
      if (!found.games.length) {
        fill(list, h("div", { class: "empty" }, h("h2", null, "No games to show"), h("p", null, "Whole games are kept by runs of this version, from the first shard on.")));
        return;
      }
      const sides = sidesOf(found.shape, context);
      const newest = found.iterations[found.iterations.length - 1];
      const choose = h("select", { "aria-label": "Games of iteration", onchange: () => context.go(`#/training/${id}/games?before=${choose.value}`) }, [...found.iterations].reverse().map((/** @type {number} */ i) => h("option", { value: i }, i === newest ? `iteration ${i}, the newest` : `iteration ${i}`)));
      choose.value = String(before ?? newest);
      fill(
        list,
        h("label", { class: "field" }, h("span", null, "Games played by the network of"), choose),
        h("div", { class: "game-list" }, found.games.map((/** @type {any} */ game) =>
          h(
            "a",
            { class: "game-row", dataset: { game: `${game.shard}/${game.number}` }, href: `#/training/${id}/games/${game.shard}/${game.number}${before ? `?before=${before}` : ""}`, onclick: (/** @type {Event} */ event) => { event.preventDefault(); void open(game.shard, game.number); } },
            h("span", null, result(game, sides)),
            h("span", { class: "faint number" }, `${game.plies} plies`),
            h("span", { class: "mono faint" }, game.opening.join(" ")),
            h("span", { class: "faint number" }, `it. ${game.iteration}`),
          ),
        )),
      );
      const [shard, number] = path.length === 2 ? path : [found.games[0].shard, found.games[0].number];
      await open(shard, number);
    } catch (error) {
      failed(list, error, () => void load());
    }
  };
  void load();
  return () => shown?.leave();
}

/** @param {any} game @param {import("./boards.js").Sides} sides */
function result(game, { players }) {
  return { 1: `${players[0]} wins`, 2: "Draw", 3: `${players[1]} wins` }[/** @type {1 | 2 | 3} */ (game.outcome)];
}

class GameView {
  /** @param {HTMLElement} place @param {any} game @param {import("../router.js").Context} context */
  constructor(place, game, context) {
    this.game = game;
    this.ply = 0;
    this.sides = sidesOf(game.shape, context);
    this.board = new SharesBoard(game.shape, this.sides);
    const last = game.plies.length - 1;
    this.numbers = h("div", { class: "sheet stack tight" });
    this.moves = h("ol", { class: "move-list" });
    /** @type {[number, number][]} */
    const values = game.plies.flatMap((/** @type {any} */ ply, /** @type {number} */ i) => (ply.search ? [[i, ply.search.value]] : []));
    this.chart = new Chart({ title: "Value during the game", note: `of the search, for ${this.sides.players[0]}`, form: "plain", curves: [{ name: "value", x: values.map(([i]) => i), mean: values.map(([, value]) => value) }], range: [-1, 1], span: [0, last], unit: "ply", onpick: (ply) => this.show(ply) });
    const button = (/** @type {string} */ lines, /** @type {string} */ label, /** @type {() => void} */ act) => h("button", { class: "icon-button", type: "button", "aria-label": label, onclick: act }, icon(lines));
    this.where = h("span", { class: "faint number" });
    fill(
      place,
      h(
        "div",
        { class: "viewer" },
        h("div", { class: "stack tight" }, this.board.element, h("div", { class: "row", role: "group", "aria-label": "Moves" }, button("M18 6l-8 6 8 6M6 6v12", "First position", () => this.show(0)), button("M15 6l-7 6 7 6", "One move back", () => this.show(this.ply - 1)), button("M9 6l7 6-7 6", "One move on", () => this.show(this.ply + 1)), button("M6 6l8 6-8 6M18 6v12", "Last position", () => this.show(last)), this.where)),
        h("div", { class: "stack" }, this.numbers, h("div", { class: "sheet stack tight" }, h("div", { class: "row" }, h("h2", null, result(game, this.sides)), game.why.map((/** @type {string} */ words) => h("span", { class: "tag" }, words))), this.moves), this.chart.element),
      ),
    );
    fill(this.moves, game.plies.slice(0, -1).map((/** @type {any} */ ply, /** @type {number} */ i) => h("li", null, h("button", { type: "button", onclick: () => this.show(i + 1) }, ply.played))));
    /** @param {KeyboardEvent} event */
    this.key = (event) => {
      if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement || /** @type {Element} */ (event.target)?.closest?.(".chart")) return;
      const to = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.show(to);
    };
    document.addEventListener("keydown", this.key);
    this.show(Math.max(0, game.plies.findIndex((/** @type {any} */ ply) => ply.search)));
  }

  leave() {
    document.removeEventListener("keydown", this.key);
    this.chart.leave();
  }

  /** @param {number} ply */
  show(ply) {
    this.ply = Math.max(0, Math.min(this.game.plies.length - 1, ply));
    const now = this.game.plies[this.ply];
    const shares = now.search?.shares ?? {};
    this.board.show(now.board, now.legal, shares, now.played);
    this.where.textContent = `${this.ply} of ${this.game.plies.length - 1}`;
    this.moves.querySelectorAll("button").forEach((button, i) => {
      if (i === this.ply - 1) {
        button.setAttribute("aria-current", "true");
        const place = button.offsetTop - this.moves.offsetTop;
        if (place < this.moves.scrollTop || place > this.moves.scrollTop + this.moves.clientHeight - 30) this.moves.scrollTop = place - 40;
      } else button.removeAttribute("aria-current");
    });
    this.chart.point(this.ply);
    const { search, played } = now;
    fill(
      this.numbers,
      h("div", { class: "row spread" }, h("h2", null, played ? `To play: ${played}` : "The end"), search && h("span", { class: "number" }, `value ${written(search.value, "plain")}`)),
      search && standing(wdlOf(search.value, search.draw), this.sides),
      search?.proven && h("p", { class: "notice good" }, "The search has proven the result."),
      search && Object.keys(shares).length > 0 && [h("span", { class: "label" }, "What the search would play"), shareBars(shares, played)],
      !search && played && h("p", { class: "faint" }, "This position is no sample: a quick search, or a move of the opening."),
    );
    announce(played ? `Move ${this.ply + 1}: ${played}` : "The end of the game");
  }
}
