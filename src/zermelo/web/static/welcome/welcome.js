// The first screen: what this is, and a game one click away.
import { Board } from "../board/board.js";
import { fill, h } from "../dom.js";

/** @typedef {import("../protocol").GameOffer} GameOffer */

export const title = "";
// Positions for the pictures: moves from the beginning. A board with nothing on it says little.
const PICTURES = /** @type {Record<string, string>} */ ({
  connect4: "4 4 3 5 5 4 3 3 4 6 2 3",
  tictactoe: "b2 a1 c1 a3 a2",
  "othello?size=6": "", othello: "",
  "hex?size=5": "", "hex?size=7&swap=on": "", "hex?swap=on": "",
  chess: "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
});
const HERO = "4 4 4 3 5 3 3 5 2 6 5 2";

/** @type {import("../router.js").View["show"]} */
export function show(container, context) {
  const games = context.welcome.games;
  const hero = games.find((game) => game.id === "connect4") ?? games[0];
  if (!hero) return;
  const heroPlace = h("a", { class: "hero-board", href: `#/play/${encodeURIComponent(hero.id)}`, "aria-label": `Play ${hero.title}` });
  const cards = h("div", { class: "games" });
  const runs = context.welcome.runs;
  fill(container, h("div", { class: "welcome" },
    h("section", { class: "hero" },
      h("div", { class: "stack hero-words" },
        h("h1", null, "It learns a game from nothing but its rules."),
        h("p", { class: "lead" }, "Zermelo plays against itself, trains a network on those games, and searches with it, as AlphaZero did. Play against it, look over its shoulder while it thinks, or watch a run learn."),
        h("div", { class: "row" },
          h("a", { class: "button main large", href: `#/play/${encodeURIComponent(hero.id)}` }, `Play ${hero.title}`),
          h("a", { class: "button large", href: "#/analyse?game=connect4&moves=4+4+4+3" }, "See it think"),
          h("a", { class: "button large", href: "#/training" }, runs ? `Watch it learn (${runs} ${runs === 1 ? "run" : "runs"})` : "Watch it learn"))),
      heroPlace),
    h("h2", { class: "section-title" }, "Choose a game"),
    cards));
  void draw(context, hero, HERO.split(" "), heroPlace, true);
  fill(cards, games.map((game) => {
    const picture = h("div", { class: "game-picture" });
    void draw(context, game, (PICTURES[game.id] ?? "").split(" ").filter(Boolean), picture, false);
    const networks = game.networks.filter((id) => id !== "rollout").length;
    return h("a", { class: "game-card", href: `#/play/${encodeURIComponent(game.id)}` }, picture,
      h("strong", null, game.title), h("span", { class: "faint" }, game.summary),
      networks ? h("span", { class: "tag good" }, "trained network") : null);
  }));
}

/**
 * A board as a picture: nobody can move on it.
 * @param {import("../router.js").Context} context @param {GameOffer} game @param {string[]} moves @param {HTMLElement} place @param {boolean} alive
 */
async function draw(context, game, moves, place, alive) {
  const board = new Board({ shape: game.shape, title: game.title, sides: game.players });
  for (const name of ["tabindex", "role", "aria-roledescription", "aria-label"]) board.element.removeAttribute(name);
  board.element.setAttribute("aria-hidden", "true");
  board.show(game.board);
  fill(place, board.element);
  if (!moves.length) return;
  const answer = await context.socket.ask({ type: "line", line: { game: game.id, start: null, moves } }).catch(() => null);
  if (!answer) return;
  if (!alive) {
    board.show({ ...answer.position.board, last: [] });
    return;
  }
  for (const position of answer.boards) {
    if (!place.isConnected) return;
    board.show(position, { animate: true });
    await new Promise((resolve) => setTimeout(resolve, 620));
  }
}
