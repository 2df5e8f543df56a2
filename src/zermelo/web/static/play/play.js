// The view Play: a game against an opponent or another person. The page owns the game's moves, so
// that a restarted server can go on with it; the server owns whose turn it is and what is legal.
import { Board } from "../board/board.js";
import { announce, fill, h, toast } from "../dom.js";
import { EvaluationBar, provenText } from "../parts/evaluation.js";
import * as icons from "../parts/icons.js";
import { showMoves, tool } from "../parts/moves.js";
import { shareDialog } from "../parts/share.js";
import { Refused } from "../socket.js";
import { Clock, clockText } from "./clock.js";
import { fitting, lastChoice, PERSON, seatsOf, setupForm } from "./setup.js";

/**
 * @typedef {import("../router.js").Context} Context
 * @typedef {import("../protocol").PlayBoard} PlayBoard
 * @typedef {import("../protocol").Line} Line
 * @typedef {import("../protocol").Seat} Seat
 * @typedef {import("./setup.js").Choice} Choice
 */

export const title = "Play";
const KEY = "zermelo-game"; // of the session's storage: the game under way
const BAR_SIMULATIONS = 120;
const HINT_SIMULATIONS = 600;

/** @type {import("../router.js").View["show"]} */
export function show(container, context, path) {
  const view = new PlayView(container, context);
  void view.begin(path[0] ?? "");
  return () => view.close();
}

class PlayView {
  /** @type {PlayBoard | null} */
  game = null;
  /** @type {Board | null} */
  board = null;
  ply = 0;
  flipped = false;
  bar = new EvaluationBar();
  clock = new Clock(0, () => {});
  /** @type {number | null} */
  flag = null; // the side that lost on time
  judging = 0;
  starting = false;

  /** @param {HTMLElement} container @param {Context} context */
  constructor(container, context) {
    this.context = context;
    this.choice = fitting(lastChoice(), context);
    this.boardPlace = h("div", { class: "board-frame" });
    this.players = [0, 1].map((side) => h("div", { class: "player", "data-side": side }));
    this.status = h("p", { class: "status", role: "status" });
    this.moves = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
    this.extra = h("div", { class: "row extra" });
    this.typed = h("input", { type: "text", id: "typed-move", placeholder: "Type a move", autocomplete: "off", "aria-label": "Type a move" });
    this.evaluate = h("input", { type: "checkbox", id: "evaluate", onchange: () => this.judge() });
    this.undoButton = tool("Take back", icons.undo(), () => void this.undo(), "U");
    this.hintButton = tool("Hint", icons.hint(), () => void this.hint(), "H");
    this.flipButton = tool("Turn the board", icons.flip(), () => this.flip(), "F");
    this.setup = h("div", { class: "sheet" });
    const typing = h("form", { class: "row typing", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const text = this.typed.value.trim();
      this.typed.value = "";
      if (text) void this.move(text);
    } }, this.typed, h("button", { type: "submit", class: "button" }, "Play"));
    fill(container, h("h1", { class: "unseen" }, "Play"), h("div", { class: "play" },
      h("section", { class: "table", "aria-label": "Board" },
        this.players[1], h("div", { class: "board-row" }, this.bar.element, this.boardPlace), this.players[0],
        this.status),
      h("aside", { class: "stack side" },
        h("section", { class: "sheet stack tight", "aria-label": "Game" },
          h("div", { class: "row tools" }, this.undoButton, this.hintButton, this.flipButton,
            tool("Share or load", icons.share(), () => this.share()),
            tool("Analyse this game", icons.search(), () => this.analyse(), "A"),
            h("span", { class: "grow" }),
            tool("First position", icons.first(), () => this.jump(0)), tool("Back", icons.back(), () => this.jump(this.ply - 1), "←"),
            tool("Forward", icons.next(), () => this.jump(this.ply + 1), "→"), tool("Last position", icons.last(), () => this.jump(Infinity))),
          this.moves, this.extra, typing,
          h("label", { class: "check" }, this.evaluate, "Show the evaluation")),
        this.setup)));
    this.ends = [
      context.socket.on("play.board", (message) => {
        if (message.session === this.game?.session) this.take(message);
      }),
    ];
    const again = () => void this.resume();
    context.socket.addEventListener("open", again);
    const keys = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", keys);
    this.ends.push(() => context.socket.removeEventListener("open", again), () => document.removeEventListener("keydown", keys));
    this.drawSetup();
  }

  drawSetup() {
    fill(this.setup, h("h2", null, "New game"), setupForm(this.context, this.choice, (choice) => {
      this.choice = choice;
      this.flipped = false;
      void this.start({ game: choice.game, start: null, moves: [] }, seatsOf(choice));
    }));
  }

  /** The game that the address names, or the one under way, or a new one. @param {string} wanted */
  async begin(wanted) {
    const kept = stored();
    const known = this.context.welcome.games.some((each) => each.id === wanted);
    if (kept && (!known || kept.line.game === wanted)) {
      this.flipped = kept.flipped;
      if (await this.start(kept.line, kept.seats, kept.clock)) return;
    }
    if (known) this.choice = fitting({ ...this.choice, game: wanted }, this.context);
    this.drawSetup();
    await this.start({ game: this.choice.game, start: null, moves: [] }, seatsOf(this.choice));
  }

  close() {
    for (const end of this.ends) end();
    this.clock.close();
  }

  /** @param {Line} line @param {Seat[]} seats @param {number[]} [left] on the clocks */
  async start(line, seats, left) {
    this.starting = true; // a network may have to be loaded; the old board takes no more moves
    this.status.textContent = "Setting up …";
    if (this.board?.position) this.board.show(this.board.position);
    const answer = await this.ask({ type: "play.new", line, seats });
    this.starting = false;
    if (!answer) {
      this.draw();
      return false;
    }
    this.clock.close();
    this.flag = null;
    this.clock = new Clock(left?.length || this.choice.clock ? (this.choice.clock || 1) : 0, (now, flag) => this.ticked(now, flag));
    if (left?.length) this.clock.left = left;
    const person = seats.findIndex((seat) => seat.opponent === null);
    if (!stored() && person === 1) this.flipped = true;
    this.board = null;
    this.take(answer);
    return true;
  }

  /** After the connection came back: the same game, or the same moves at a new table. */
  async resume() {
    if (!this.game) return this.begin("");
    try {
      this.take(await this.context.socket.ask({ type: "play.open", session: this.game.session }));
    } catch {
      await this.start(this.game.line, this.game.seats, this.clock.on ? this.clock.left : undefined);
    }
  }

  /** A board from the server. @param {PlayBoard} game */
  take(game) {
    const offer = this.offer(game.line.game);
    if (!offer) return;
    const before = this.game;
    const steps = before && before.session === game.session ? game.boards.length - before.boards.length : 0;
    this.game = game;
    if (!this.board || this.board.options.title !== offer.title) {
      const person = game.seats.findIndex((seat) => seat.opponent === null);
      if (!before && person === 1) this.flipped = true;
      this.board = new Board({ shape: offer.shape, title: offer.title, sides: offer.players, onmove: (text) => void this.move(text) });
      this.board.flip(this.flipped);
      fill(this.boardPlace, this.board.element);
      this.flipButton.hidden = !this.board.geometry.turnable;
      document.title = `${offer.title} · Zermelo`;
    }
    this.ply = game.boards.length - 1;
    this.boardPlace.dataset.session = game.session;
    this.draw(steps > 0);
    if (steps > 0) {
      const last = game.boards.at(-1);
      const mover = game.boards.at(-2)?.turn ?? 0;
      announce(`${offer.players[mover]} plays ${last?.label}. ${this.status.textContent}`);
    }
    const going = game.position.outcome === null && this.flag === null;
    this.clock.turn(going && game.boards.length > 1 ? game.position.board.turn : null);
    this.keep();
    this.judge();
  }

  draw(animate = false) {
    const game = this.game;
    const offer = game && this.offer(game.line.game);
    if (!game || !offer || !this.board) return;
    const now = this.ply === game.boards.length - 1;
    const shown = now ? game.position.board : game.boards[this.ply];
    if (!shown) return;
    const mine = this.mine();
    this.board.show(shown, { legal: now && mine ? game.position.legal : [], check: now ? game.position.check : [], animate });
    this.board.mark([]);
    this.bar.flip(this.board.geometry.flipped);
    this.bar.element.hidden = !this.evaluate.checked;
    this.boardPlace.classList.toggle("past", !now);
    const flippedSeats = this.flipped && this.board.geometry.turnable;
    this.players.forEach((place, index) => this.drawPlayer(place, flippedSeats ? 1 - index : index));
    fill(this.extra, now && mine ? game.position.legal.filter((each) => !each.cells.length).map((each) =>
      h("button", { type: "button", class: "button main", "data-action": each.text, onclick: () => void this.move(each.text) }, named(each.text))) : []);
    this.status.textContent = this.sentence();
    this.status.classList.toggle("over", game.position.outcome !== null || this.flag !== null);
    showMoves(this.moves, game.boards, this.ply, (ply) => this.jump(ply));
    this.undoButton.disabled = game.boards.length < 2;
    this.hintButton.disabled = !mine || !now;
  }

  /** @param {HTMLElement} place @param {number} side */
  drawPlayer(place, side) {
    const game = this.game;
    const offer = game && this.offer(game.line.game);
    if (!game || !offer) return;
    const seat = game.seats[side];
    const opponent = this.context.welcome.opponents.find((each) => each.id === seat?.opponent);
    const level = this.context.welcome.levels.find((each) => each.number === seat?.level);
    const strength = level ? `level ${level.number}, ${level.title}` : seat?.simulations ? `${seat.simulations} simulations` : seat?.seconds ? `${seat.seconds} s a move` : "";
    const both = game.seats.every((each) => each.opponent === null);
    const name = opponent ? opponent.title : both ? "Person" : "You";
    const turn = game.position.outcome === null && this.flag === null && game.position.board.turn === side;
    place.dataset.kind = offer.kind || "own";
    place.classList.toggle("turn", turn);
    fill(place, h("span", { class: `chip chip-${offer.kind || "own"} chip-${side}` }),
      h("strong", null, name), h("span", { class: "soft" }, [offer.players[side], strength].filter(Boolean).join(" · ")),
      game.thinking && turn ? h("span", { class: "thinking", "aria-label": "thinking" }, h("i"), h("i"), h("i")) : null,
      h("span", { class: "grow" }),
      this.clock.on ? h("span", { class: "clock number", "data-clock": side }, clockText(this.clock.left[side] ?? 0)) : null);
  }

  sentence() {
    const game = this.game;
    const offer = game && this.offer(game.line.game);
    if (!game || !offer) return "";
    if (game.failure) return game.failure;
    const names = offer.players;
    const people = game.seats.map((seat) => seat.opponent === null);
    const won = (/** @type {number} */ side) => people[0] !== people[1] ? (people[side] ? `You win as ${names[side]}.` : `${names[side]} wins. Another game?`) : `${names[side]} wins.`;
    if (this.flag !== null) return `${won(1 - this.flag)} ${names[this.flag]} is out of time.`;
    if (game.position.outcome === "draw") return "A draw.";
    if (game.position.outcome) return won(game.position.outcome === "first" ? 0 : 1);
    const turn = game.position.board.turn;
    const check = game.position.check.length ? "Check. " : "";
    if (game.thinking) return `${check}${names[turn]} is thinking …`;
    return people[0] && people[1] ? `${check}${names[turn]} to move.` : `${check}Your move.`;
  }

  /** Whether a person may move now. */
  mine() {
    const game = this.game;
    return Boolean(game && !this.starting && !game.thinking && game.position.outcome === null && this.flag === null && game.seats[game.position.board.turn]?.opponent === null);
  }

  /** @param {string} text */
  async move(text) {
    const game = this.game;
    if (!game || !this.mine()) return;
    if (this.ply !== game.boards.length - 1) this.jump(Infinity);
    const answer = await this.ask({ type: "play.move", session: game.session, number: game.number, move: text });
    if (answer) this.take(answer);
    else this.draw();
  }

  async undo() {
    if (!this.game) return;
    this.flag = null;
    const answer = await this.ask({ type: "play.undo", session: this.game.session });
    if (answer) this.take(answer);
  }

  async hint() {
    const game = this.game;
    const offer = game && this.offer(game.line.game);
    if (!game || !offer || !this.mine()) return;
    this.hintButton.disabled = true;
    const answer = await this.ask({ type: "judge", line: game.line, network: offer.networks[0], simulations: HINT_SIMULATIONS });
    this.hintButton.disabled = false;
    if (!answer || this.game !== game) return;
    const best = answer.rows[0];
    const legal = game.position.legal.find((each) => each.text === best?.move);
    if (!best || !legal) return;
    this.board?.mark([{ cells: legal.cells, share: 0.8, tone: "hint" }]);
    const sure = provenText(best.proven, best.distance);
    toast(`Hint: ${named(best.move)}${sure ? `, a ${sure}` : ""}`);
  }

  /** Asks for the bar's value. */
  async judge() {
    const game = this.game;
    const offer = game && this.offer(game.line.game);
    this.bar.element.hidden = !this.evaluate.checked;
    if (!game || !offer || !this.evaluate.checked) return;
    const turn = ++this.judging;
    try {
      const answer = await this.context.socket.ask({ type: "judge", line: game.line, network: offer.networks[0], simulations: BAR_SIMULATIONS });
      if (turn !== this.judging) return;
      const sign = answer.turn === 0 ? 1 : -1;
      this.bar.show(sign * answer.value, answer.proven ? provenText(sign * answer.proven, answer.distance) : undefined);
    } catch {
      if (turn === this.judging) this.bar.show(null);
    }
  }

  /** @param {number[]} left @param {number | null} flag */
  ticked(left, flag) {
    left.forEach((seconds, side) => {
      const place = document.querySelector(`[data-clock="${side}"]`);
      if (place) place.textContent = clockText(seconds);
    });
    if (flag !== null && this.flag === null) {
      this.flag = flag;
      this.draw();
    }
  }

  /** @param {number} ply */
  jump(ply) {
    if (!this.game) return;
    const before = this.ply;
    this.ply = Math.min(Math.max(0, ply), this.game.boards.length - 1);
    if (before !== this.ply) this.draw(this.ply === before + 1);
  }

  flip() {
    this.flipped = !this.flipped;
    this.board?.flip(this.flipped);
    this.keep();
    this.draw();
  }

  share() {
    const game = this.game;
    const offer = game && this.offer(game.line.game);
    if (!game || !offer) return;
    void shareDialog(this.context, offer, game.line, (line) => void this.start(line, game.seats));
  }

  analyse() {
    if (!this.game) return;
    const { game, start, moves } = this.game.line;
    const query = new URLSearchParams({ game, moves: moves.join(" ") });
    if (start) query.set("start", start);
    this.context.go(`#/analyse?${query}`);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement || event.target instanceof HTMLTextAreaElement) return;
    const onBoard = event.target === this.board?.element;
    if (event.key === "ArrowLeft" && !onBoard) this.jump(this.ply - 1);
    else if (event.key === "ArrowRight" && !onBoard) this.jump(this.ply + 1);
    else if (event.key === "u") void this.undo();
    else if (event.key === "h") void this.hint();
    else if (event.key === "f") this.flip();
    else if (event.key === "a") this.analyse();
    else return;
    event.preventDefault();
  }

  keep() {
    if (!this.game) return;
    const clock = this.clock.on ? this.clock.left : [];
    sessionStorage.setItem(KEY, JSON.stringify({ line: this.game.line, seats: this.game.seats, flipped: this.flipped, clock }));
  }

  /** @param {string} id */
  offer(id) {
    return this.context.welcome.games.find((each) => each.id === id);
  }

  /** A request; what is refused is shown. @param {Record<string, any>} request */
  async ask(request) {
    try {
      return await this.context.socket.ask(request);
    } catch (error) {
      if (error instanceof Refused && error.code !== 0) toast(error.message);
      return null;
    }
  }
}

/** @returns {{line: Line, seats: Seat[], flipped: boolean, clock: number[]} | null} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} text */
function named(text) {
  return text === "pass" ? "Pass" : text === "swap" ? "Swap sides" : text;
}

export { PERSON };
