// The view Analyse: a game with a position under the magnifier. Owns the game's moves and which ply
// is shown; the server searches and streams.
import { Board } from "../board/board.js";
import { announce, fill, h, toast } from "../dom.js";
import { ValueGraph } from "../parts/chart.js";
import { EvaluationBar, provenText } from "../parts/evaluation.js";
import * as icons from "../parts/icons.js";
import { showMoves, tool } from "../parts/moves.js";
import { shareDialog } from "../parts/share.js";
import { choices, select } from "../play/setup.js";
import { Refused } from "../socket.js";
import { Candidates } from "./candidates.js";
import { forFirst, marksOf, review } from "./review.js";
import { Thinking } from "./thinking.js";
import { TreeExplorer } from "./tree.js";

/**
 * @typedef {import("../router.js").Context} Context
 * @typedef {import("../protocol").Frame} Frame
 * @typedef {import("../protocol").Judged} Judged
 * @typedef {import("../protocol").Line} Line
 * @typedef {import("../protocol").LineShown} LineShown
 * @typedef {"a" | "b"} Slot
 */

export const title = "Analyse";

/** @type {import("../router.js").View["show"]} */
export function show(container, context, path, query) {
  const view = new AnalyseView(container, context);
  if (path[0] === "watch" && path[1]) void view.watch(path[1]);
  else {
    const game = query.get("game") ?? "connect4";
    void view.load({ game, start: query.get("start"), moves: (query.get("moves") ?? "").split(" ").filter(Boolean) }, Number(query.get("ply") ?? Infinity));
  }
  return () => view.close();
}

class AnalyseView {
  /** @type {LineShown | null} */
  shown = null; // the whole game
  /** @type {LineShown | null} */
  here = null; // up to the ply that is shown
  /** @type {Board | null} */
  board = null;
  ply = 0;
  flipped = false;
  overlay = "visits";
  running = false;
  /** @type {Record<Slot, {network: string, search: string, run: number, frame: Frame | null}>} */
  slots = { a: { network: "", search: "", run: 0, frame: null }, b: { network: "", search: "", run: 0, frame: null } };
  /** @type {Map<string, Frame>} */
  early = new Map(); // the newest by search, of runs that no answer has named yet
  /** @type {Set<string>} */
  allowed = new Set();
  /** @type {Map<number, Judged>} */
  judged = new Map();
  /** @type {Map<number, number>} */
  values = new Map(); // for the first player, by ply
  /** @type {Record<string, [number, number | null]> | null} */
  exact = null;
  simulations = 400;
  turn = 0; // another one after every start, so that late answers are known
  previewing = 0;
  /** @type {AbortController | null} */
  reviewing = null;
  bar = new EvaluationBar();

  /** @param {HTMLElement} container @param {Context} context */
  constructor(container, context) {
    this.context = context;
    this.boardPlace = h("div", { class: "board-frame" });
    this.controls = h("div", { class: "stack tight" });
    this.notice = h("p", { class: "notice warn", hidden: true, role: "status" });
    this.moves = h("ol", { class: "moves", tabindex: 0, "aria-label": "Moves" });
    this.graph = new ValueGraph((ply) => void this.jump(ply));
    this.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Analysis of the game" });
    this.reviewButton = h("button", { type: "button", class: "button", id: "review", onclick: () => void this.review() }, "Analyse the game");
    this.position = h("code", { class: "position-text" });
    this.extra = h("div", { class: "row extra" });
    const preview = (/** @type {string[] | null} */ moves) => void this.preview(moves);
    const actions = { play: (/** @type {string} */ move) => void this.play(move), preview, restrict: (/** @type {string} */ move) => this.restrict(move) };
    this.tables = { a: new Candidates(actions), b: new Candidates(actions) };
    this.second = h("div", { class: "stack tight second", hidden: true }, h("h3", { id: "second-title" }), this.tables.b.element);
    this.thinking = new Thinking(preview);
    this.tree = new TreeExplorer(context, preview);
    this.go = h("button", { type: "button", class: "button main", id: "search", onclick: () => void (this.running ? this.stop() : this.start()) });
    fill(container, h("h1", { class: "unseen" }, "Analyse"), h("div", { class: "analyse" },
      h("section", { class: "table", "aria-label": "Board" },
        h("div", { class: "board-row" }, this.bar.element, this.boardPlace),
        h("div", { class: "row tools" },
          tool("First position", icons.first(), () => void this.jump(0), "Home"), tool("Back", icons.back(), () => void this.jump(this.ply - 1), "←"),
          tool("Forward", icons.next(), () => void this.jump(this.ply + 1), "→"), tool("Last position", icons.last(), () => void this.jump(Infinity), "End"),
          h("span", { class: "grow" }), tool("Turn the board", icons.flip(), () => this.flip(), "F"), tool("Share or load", icons.share(), () => this.share())),
        this.extra, this.position),
      h("div", { class: "stack middle" },
        h("section", { class: "sheet stack tight", "aria-label": "Search" }, this.controls, this.notice, this.tables.a.element, this.second),
        h("section", { class: "sheet stack tight" }, h("div", { class: "row spread" }, h("h2", null, "The game"), h("div", { class: "row" },
          select("review-simulations", "400", [["100", "100 simulations"], ["400", "400 simulations"], ["1600", "1,600 simulations"]], (value) => {
            this.simulations = Number(value);
          }), this.reviewButton)),
          this.progress, this.graph.element, this.moves)),
      h("div", { class: "stack deep" }, this.thinking.element, this.tree.element)));
    const select_ = container.querySelector("#review-simulations");
    select_?.setAttribute("aria-label", "Simulations per position");
    const again = () => void this.resume();
    const keys = (/** @type {KeyboardEvent} */ event) => this.key(event);
    context.socket.addEventListener("open", again);
    document.addEventListener("keydown", keys);
    this.ends = [
      context.socket.on("analyse.frame", (frame) => this.takeFrame(frame)),
      context.socket.on("analyse.started", (started) => void this.follow(started)),
      context.socket.on("refused", (refused) => toast(refused.reason)),
      () => context.socket.removeEventListener("open", again),
      () => document.removeEventListener("keydown", keys),
    ];
  }

  close() {
    this.reviewing?.abort();
    for (const slot of Object.values(this.slots)) {
      if (slot.search) void this.context.socket.ask({ type: "analyse.stop", search: slot.search }).catch(() => {});
    }
    for (const end of this.ends) end();
  }

  offer() {
    return this.context.welcome.games.find((each) => each.id === this.shown?.line.game);
  }

  /** A game from its line. @param {Line} line @param {number} [ply] @returns {Promise<void>} */
  async load(line, ply = Infinity) {
    const answer = await this.ask({ type: "line", line });
    if (!answer) {
      if (!this.shown && line.moves.length) return this.load({ ...line, start: null, moves: [] });
      return;
    }
    const other = answer.line.game !== this.shown?.line.game;
    const same = !other && answer.line.moves.slice(0, this.ply).join() === this.shown?.line.moves.slice(0, this.ply).join() && answer.line.start === this.shown?.line.start;
    if (!same) {
      this.judged.clear();
      this.values.clear();
    }
    this.shown = answer;
    const offer = this.offer();
    if (!offer) return;
    if (other) {
      this.slots.a.network = offer.networks[0] ?? "";
      this.slots.b.network = "";
      this.board = new Board({ shape: offer.shape, title: offer.title, sides: offer.players, onmove: (text) => void this.play(text) });
      fill(this.boardPlace, this.board.element);
    }
    this.drawControls();
    await this.jump(ply, true);
  }

  drawControls() {
    const offer = this.offer();
    if (!offer) return;
    const names = offer.networks.map((id) => this.context.welcome.opponents.find((each) => each.id === id)).filter((each) => each !== undefined)
      .map((each) => /** @type {[string, string]} */ ([each.id, `${each.title} · ${each.detail}`]));
    fill(this.controls,
      h("div", { class: "row controls" },
        h("label", { class: "field grow" }, h("span", null, "Game"), select("analyse-game", offer.id, this.context.welcome.games.map((each) => [each.id, each.title]), (game) => void this.load({ game, start: null, moves: [] }))),
        h("label", { class: "field grow" }, h("span", null, "Network"), select("network-a", this.slots.a.network, names, (network) => {
          this.slots.a.network = network;
          this.restart();
        })),
        h("label", { class: "field grow" }, h("span", null, "Beside it"), select("network-b", this.slots.b.network, [["", "Nothing"], ...names], (network) => {
          this.slots.b.network = network;
          this.restart();
        }))),
      h("div", { class: "row controls" }, this.go,
        choices("overlay", this.overlay, [["visits", "Visits"], ["policy", "Policy"], ["none", "Clear"]], (value) => {
          this.overlay = value;
          this.drawOverlay();
        }),
        offer.exact ? h("button", { type: "button", class: "button", id: "exact", "aria-pressed": String(this.exact !== null), onclick: () => void this.askExact() }, "Perfect answer") : null),
      h("div", { class: "row chips", hidden: !this.allowed.size }, h("span", { class: "label" }, "Only"), [...this.allowed].map((move) =>
        h("button", { type: "button", class: "button small", onclick: () => this.restrict(move) }, `${move} ×`))));
    fill(this.go, this.running ? icons.stop() : icons.play(), this.running ? "Stop" : "Search");
    this.second.hidden = !this.slots.b.network;
    const second = names.find(([id]) => id === this.slots.b.network);
    fill(/** @type {Element} */ (this.second.firstElementChild), second?.[1] ?? "");
  }

  /** Shows another ply. @param {number} ply @param {boolean} [always] */
  async jump(ply, always = false) {
    const shown = this.shown;
    if (!shown) return;
    const wanted = Math.min(Math.max(0, ply), shown.boards.length - 1);
    if (wanted === this.ply && !always) return;
    const forward = wanted === this.ply + 1;
    this.ply = wanted;
    this.previewing++;
    const line = { ...shown.line, moves: shown.line.moves.slice(0, wanted) };
    this.allowed.clear();
    this.exact = null;
    const last = wanted === shown.boards.length - 1;
    if (last) this.here = shown;
    else {
      this.board?.show(/** @type {import("../protocol").Board} */ (shown.boards[wanted]), { animate: forward });
      this.drawGame();
      const answer = await this.ask({ type: "line", line });
      if (!answer || this.ply !== wanted) return;
      this.here = answer;
    }
    this.draw(forward);
    this.remember();
    if (this.running) void this.start();
    else this.clearSearch("Press Search, or the space bar.");
  }

  draw(animate = false) {
    const here = this.here;
    if (!here || !this.board) return;
    this.board.show(here.position.board, { legal: here.position.legal, check: here.position.check, animate });
    this.bar.flip(this.board.geometry.flipped);
    const value = this.values.get(this.ply);
    this.bar.show(value ?? null);
    fill(this.extra, here.position.legal.filter((each) => !each.cells.length).map((each) => h("button", { type: "button", class: "button", onclick: () => void this.play(each.text) }, each.text)));
    this.position.textContent = here.position.board.text;
    this.drawControls();
    this.drawGame();
  }

  drawGame() {
    const shown = this.shown;
    if (!shown) return;
    const marks = marksOf(shown.boards, this.judged, this.context.welcome.limits);
    showMoves(this.moves, shown.boards, this.ply, (ply) => void this.jump(ply), marks);
    this.graph.show(shown.boards.map((board, ply) => ({ value: this.values.get(ply) ?? null, mark: marks.get(ply)?.tone, label: `${board.label ?? "start"} ${marks.get(ply)?.title ?? ""}` })), this.ply);
    this.reviewButton.disabled = shown.boards.length < 2 && !this.reviewing;
  }

  /** A move on the board, which may leave the game's line. @param {string} move */
  async play(move) {
    const here = this.here;
    if (!here || here.position.outcome) return;
    if (this.shown?.line.moves[this.ply] === move) return this.jump(this.ply + 1);
    await this.load({ ...here.line, moves: [...here.line.moves, move] });
    announce(`${move}`);
  }

  /** Others watch a search that has moved on. @param {import("../protocol").SearchStarted} started */
  async follow(started) {
    const key = /** @type {Slot} */ (started.slot);
    if (this.slots[key].search !== started.search) return;
    await this.load(started.line);
    this.adopt(key, started);
  }

  /** From now on this search's frames are shown. @param {Slot} key @param {import("../protocol").SearchStarted} started */
  adopt(key, started) {
    Object.assign(this.slots[key], { search: started.search, run: started.run });
    if (key === "a") this.tree.show(started.search);
    const early = this.early.get(started.search);
    this.early.delete(started.search);
    if (early) this.takeFrame(early);
  }

  /** @param {string} search */
  async watch(search) {
    const started = await this.ask({ type: "analyse.watch", search });
    if (!started) return this.load({ game: "connect4", start: null, moves: [] });
    await this.load(started.line);
    this.slots.a.network = started.network;
    this.adopt("a", started);
  }

  async start() {
    const here = this.here;
    if (!here) return;
    if (here.position.outcome) {
      this.clearSearch("The game is over: there is nothing to search.");
      return;
    }
    this.running = true;
    this.clearSearch("Searching …");
    this.drawControls();
    const turn = ++this.turn;
    for (const key of /** @type {Slot[]} */ (["a", "b"])) {
      const slot = this.slots[key];
      if (slot.network) await this.startSlot(key, here.line, turn);
    }
  }

  /** @param {Slot} key @param {Line} line @param {number} turn */
  async startSlot(key, line, turn) {
    const slot = this.slots[key];
    try {
      const started = await this.context.socket.ask({ type: "analyse.start", slot: key, line, network: slot.network, allowed: key === "a" ? [...this.allowed] : [] });
      if (turn !== this.turn) return;
      this.notice.hidden = true;
      this.adopt(key, started);
    } catch (error) {
      if (turn !== this.turn || !(error instanceof Refused)) return;
      if (error.code === 503) {
        this.notice.hidden = false;
        this.notice.textContent = `${error.message}. You are number ${error.place} in the queue; this page asks again.`;
        setTimeout(() => {
          if (turn === this.turn && this.running) void this.startSlot(key, line, turn);
        }, 1000 * (error.retryAfter ?? 3));
        return;
      }
      this.running = false;
      this.clearSearch(error.message);
      this.drawControls();
    }
  }

  async stop() {
    this.running = false;
    this.turn++;
    this.notice.hidden = true;
    this.drawControls();
    for (const slot of Object.values(this.slots)) {
      if (slot.search) await this.ask({ type: "analyse.stop", search: slot.search });
    }
  }

  restart() {
    this.drawControls();
    if (this.running) void this.start();
  }

  /** @param {string} text */
  clearSearch(text) {
    for (const key of /** @type {Slot[]} */ (["a", "b"])) {
      this.slots[key].frame = null;
      this.slots[key].run = -1;
      this.tables[key].clear(text);
    }
    this.thinking.clear();
    this.drawOverlay();
  }

  /** @param {Frame} frame */
  takeFrame(frame) {
    const key = /** @type {Slot[]} */ (["a", "b"]).find((each) => this.slots[each].search === frame.search && this.slots[each].run === frame.run);
    if (!key) {
      this.early.set(frame.search, frame);
      return;
    }
    const slot = this.slots[key];
    slot.frame = frame;
    this.tables[key].show(frame, this.allowed, this.exact);
    if (key === "b") return;
    this.values.set(this.ply, forFirst(frame));
    const sign = frame.turn === 0 ? 1 : -1;
    this.bar.show(sign * frame.value, frame.proven ? provenText(sign * frame.proven, frame.distance) : undefined);
    this.thinking.show(frame);
    this.drawOverlay();
    if (frame.final) {
      this.drawGame();
      if (frame.stop !== "stopped") {
        this.running = false;
        this.drawControls();
      }
    }
  }

  drawOverlay() {
    const frame = this.slots.a.frame;
    if (!this.board || this.boardPlace.classList.contains("preview")) return;
    const cells = new Map(this.here?.position.legal.map((each) => [each.text, each.cells]));
    const total = Math.max(1, frame?.rows.reduce((sum, row) => sum + row.visits, 0) ?? 1);
    const marks = frame && this.overlay === "visits" ? frame.rows.slice(0, 12).map((row, index) => ({
      cells: cells.get(row.move) ?? [], share: row.visits / total, best: index === 0, label: `${Math.round((100 * row.visits) / total)}`,
      tone: row.proven === 1 ? "won" : row.proven === -1 ? "lost" : "",
    })).filter((mark) => mark.share > 0.01 || mark.best) : [];
    this.board.mark(marks);
    /** @type {Map<number, number>} */
    const heat = new Map();
    if (frame && this.overlay === "policy") {
      for (const row of frame.rows) {
        const cell = cells.get(row.move)?.at(-1);
        if (cell !== undefined) heat.set(cell, (heat.get(cell) ?? 0) + row.prior);
      }
    }
    this.board.heat(heat);
  }

  /** A variation on the board, without changing the position. @param {string[] | null} moves */
  async preview(moves) {
    const turn = ++this.previewing;
    const here = this.here;
    if (!here || !this.board) return;
    if (!moves) {
      if (!this.boardPlace.classList.contains("preview")) return;
      this.boardPlace.classList.remove("preview");
      this.board.show(here.position.board, { legal: here.position.legal, check: here.position.check });
      this.drawOverlay();
      return;
    }
    const line = { ...here.line, moves: [...here.line.moves, ...moves] };
    const answer = await this.context.socket.ask({ type: "line", line }).catch(() => null);
    if (turn !== this.previewing || !answer || here !== this.here) return;
    this.board.mark([]);
    this.board.heat(new Map());
    this.boardPlace.classList.add("preview");
    this.board.show(answer.position.board);
  }

  /** @param {string} move */
  restrict(move) {
    if (!this.allowed.delete(move)) this.allowed.add(move);
    this.drawControls();
    void this.start();
  }

  async askExact() {
    const here = this.here;
    if (!here) return;
    const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("exact"));
    if (this.exact) {
      this.exact = null;
    } else {
      if (button) button.textContent = "Solving …";
      const answer = await this.ask({ type: "exact", line: here.line });
      if (here !== this.here) return;
      this.exact = answer?.moves ?? null;
      const best = Object.entries(this.exact ?? {}).sort((a, b) => b[1][0] - a[1][0])[0];
      if (best && !this.slots.a.frame) toast(`Perfect play: ${best[0]}, ${provenText(...best[1])}`);
    }
    this.drawControls();
    if (this.slots.a.frame) this.tables.a.show(this.slots.a.frame, this.allowed, this.exact);
  }

  async review() {
    const shown = this.shown;
    if (!shown) return;
    if (this.reviewing) {
      this.reviewing.abort();
      return;
    }
    if (this.running) await this.stop();
    const abort = (this.reviewing = new AbortController());
    this.reviewButton.textContent = "Cancel";
    this.progress.hidden = false;
    this.progress.max = shown.boards.length;
    this.progress.value = 0;
    try {
      await review(this.context.socket, shown.line, this.slots.a.network, this.simulations, (ply, judged) => {
        if (this.shown !== shown) return abort.abort();
        this.judged.set(ply, judged);
        this.values.set(ply, forFirst(judged));
        this.progress.value += 1;
        this.drawGame();
      }, abort.signal);
      if (!abort.signal.aborted) announce("The game is analysed.");
    } catch (error) {
      if (error instanceof Refused) toast(error.message);
    }
    this.reviewing = null;
    this.reviewButton.textContent = "Analyse the game";
    this.progress.hidden = true;
  }

  async resume() {
    const shown = this.shown;
    if (!shown) return;
    const running = this.running;
    this.slots.a.search = this.slots.b.search = "";
    await this.load(shown.line, this.ply);
    if (running) void this.start();
  }

  flip() {
    this.flipped = !this.flipped;
    this.board?.flip(this.flipped);
    this.draw();
    this.drawOverlay();
  }

  share() {
    const offer = this.offer();
    if (!offer || !this.here) return;
    void shareDialog(this.context, offer, this.here.line, (line, name) => {
      void this.load(line, 0);
      if (name) toast(name);
    });
  }

  remember() {
    const shown = this.shown;
    if (!shown) return;
    const query = new URLSearchParams({ game: shown.line.game, moves: shown.line.moves.join(" "), ply: String(this.ply) });
    if (shown.line.start) query.set("start", shown.line.start);
    history.replaceState(null, "", `#/analyse?${query}`);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement || event.target instanceof HTMLTextAreaElement) return;
    const onBoard = event.target === this.board?.element;
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.key === "ArrowLeft" && !onBoard) void this.jump(this.ply - 1);
    else if (event.key === "ArrowRight" && !onBoard) void this.jump(this.ply + 1);
    else if (event.key === "Home") void this.jump(0);
    else if (event.key === "End") void this.jump(Infinity);
    else if (event.key === " " && !onButton && !onBoard) void (this.running ? this.stop() : this.start());
    else if (event.key === "f") this.flip();
    else return;
    event.preventDefault();
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
