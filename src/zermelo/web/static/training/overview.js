// The overview of a run: what matters in figures, the doctor's words, charts, ladder, workers, log.
import { fill, h } from "../dom.js";
import { read } from "./api.js";
import { bytes, lasting, written } from "./numbers.js";
import { Charts, failed } from "./parts.js";

const POINTS = 300;
const STARVING = 0.05; // share of its time that a node may wait for work before the page says so

export class Overview {
  #lines = -1;
  #deep = false;

  /** @param {HTMLElement} body @param {string} id */
  constructor(body, id) {
    this.id = id;
    this.tiles = h("div", { class: "tiles" });
    this.doctor = h("section", { class: "sheet doctor" }, h("h2", null, "Doctor"), h("p", { class: "faint" }, "is looking …"));
    this.ladder = h("div", null);
    this.workers = h("div", null);
    this.log = h("div", null);
    this.reading = h("div", null);
    this.charts = new Charts();
    fill(body, h("div", { class: "stack" }, this.tiles, this.reading, h("div", { class: "overview" }, h("div", { class: "stack" }, this.charts.element), h("aside", { class: "stack" }, this.doctor, this.workers, this.ladder, this.log))));
  }

  leave() {
    this.charts.leave();
  }

  /** @param {any} found the run as the server sees it now */
  set(found) {
    const { last, status, run, reading } = found;
    const rates = run.alive && status ? status.rates : null;
    fill(
      this.tiles,
      tile("Elo", run.elo === null ? "–" : written(run.elo, "elo"), run.elo === null ? "no ladder yet" : `± ${written(run.elo_margin, "count")}, above the first checkpoint`),
      tile("Loss", written(last.train?.training?.loss, "plain"), `held out ${written(last.train?.held_out?.loss, "plain")}`),
      tile("Games", written(rates?.games ?? last.selfplay?.games_per_second, "rate"), `${written(last.selfplay?.games, "count")} in the last iteration`),
      tile("Evaluations", written(rates?.evaluations ?? last.selfplay?.evaluations_per_second, "rate"), `${written(last.selfplay?.cache_hit_share, "share")} more from the cache`),
      tile("Window", written(last.window?.samples, "count"), `${written(last.window?.duplicates, "share")} duplicates`),
      tile("Time", lasting(last.seconds ?? run.seconds), status?.memory ? `${bytes(status.memory)} of memory` : ""),
    );
    fill(this.reading, reading.unread > 0 && h("p", { class: "notice", role: "status" }, `${bytes(reading.unread)} of metrics are still being read.`));
    this.#work(found);
    this.#climb(found.ladder);
    this.#said(found);
    if (reading.lines !== this.#lines || reading.unread > 0) {
      this.#lines = reading.lines;
      void this.#draw();
    }
  }

  async #draw() {
    try {
      const { panels, reading } = await read(`/${this.id}/panels`, { points: POINTS });
      this.charts.set(panels);
      if (!panels.length) fill(this.charts.element, h("div", { class: "empty sheet" }, h("h2", null, "No iteration is finished yet"), h("p", null, "Curves appear after the first one.")));
      if (!this.#deep && reading.unread === 0) void this.#look();
      if (reading.unread > 0) setTimeout(() => void this.#draw(), 200);
    } catch (error) {
      failed(this.charts.element, error);
    }
  }

  async #look() {
    try {
      this.#examined((await read(`/${this.id}/findings`)).doctor);
    } catch (error) {
      failed(this.doctor, error);
    }
  }

  /** @param {any[]} findings */
  #examined(findings) {
    const ill = findings.filter((finding) => finding.verdict === "ill");
    const healthy = findings.filter((finding) => finding.verdict === "healthy");
    const unknown = findings.filter((finding) => finding.verdict === "unknown");
    const verdict = ill.length ? h("span", { class: "tag bad" }, `${ill.length} to mend`) : healthy.length ? h("span", { class: "tag good" }, "healthy") : h("span", { class: "tag" }, "not known yet");
    const deep = h("button", { class: "button plain small", type: "button", onclick: () => void this.#examine(deep) }, "Examine thoroughly");
    fill(
      this.doctor,
      h("div", { class: "row spread" }, h("h2", null, "Doctor"), verdict),
      ill.map((finding) => h("div", { class: "finding ill" }, h("strong", null, finding.check), h("p", null, `${finding.sentence}.`), finding.advice && h("p", { class: "soft" }, finding.advice))),
      healthy.length > 0 && h("details", null, h("summary", null, `${healthy.length} checks are healthy`), h("ul", { class: "findings" }, healthy.map((finding) => h("li", null, h("strong", null, finding.check), " ", finding.sentence)))),
      unknown.length > 0 && h("details", null, h("summary", null, `${unknown.length} cannot be judged`), h("ul", { class: "findings" }, unknown.map((finding) => h("li", null, h("strong", null, finding.check), " ", finding.sentence)))),
      deep,
    );
  }

  /** @param {HTMLButtonElement} button */
  async #examine(button) {
    button.disabled = true;
    button.textContent = "Examining …";
    try {
      const { doctor } = await read(`/${this.id}/doctor`);
      this.#deep = true;
      this.#examined(doctor);
    } catch (error) {
      button.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  /** @param {any} found */
  #work({ run, status }) {
    if (!run.alive || !status) {
      fill(this.workers);
      return;
    }
    fill(
      this.workers,
      h(
        "section",
        { class: "sheet" },
        h("h2", null, "At work"),
        h("dl", { class: "pairs" }, pair("doing", status.activity), status.waiting_for && pair("waiting for", status.waiting_for), pair("processes", `${status.workers} of self-play, ${status.mode || "one loop"}`), pair("samples", `${written(status.samples, "count")} of ${written(status.target, "count")}`)),
        (status.nodes || []).length > 0 && h("ol", { class: "workers" }, status.nodes.map((/** @type {any} */ node) => h("li", null, `${node.name}: ${node.actors} actors, ${written(node.samples_per_second, "count")} samples/s${node.idle_share >= STARVING ? `, waiting for work ${Math.round(100 * node.idle_share)}% of the time` : ""}`))),
        /^https?:[/][/]/.test(status.dashboard || "") && h("p", null, h("a", { href: status.dashboard, target: "_blank", rel: "noreferrer" }, "Ray's dashboard")),
        status.states.length > 0 && h("ol", { class: "workers" }, status.states.map((/** @type {string} */ words) => h("li", null, words))),
      ),
    );
  }

  /** @param {any[]} rungs */
  #climb(rungs) {
    if (!rungs.length) {
      fill(this.ladder);
      return;
    }
    fill(
      this.ladder,
      h(
        "section",
        { class: "sheet ladder" },
        h("h2", null, "Ladder"),
        h("div", { class: "scroll" }, h(
          "table",
          { class: "figures" },
          h("thead", null, h("tr", null, ["checkpoint", "Elo", "gain"].map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", null, [...rungs].reverse().map((rung) => h("tr", { title: `${rung.games} games, score ${written(rung.score, "share")}` }, h("td", null, rung.checkpoint ?? rung.name), h("td", null, rung.elo === null ? "–" : `${written(rung.elo, "elo")} ± ${written(rung.margin, "count")}`), h("td", null, rung.gain === null ? "" : `${written(rung.gain, "elo")} ± ${written(rung.gain_margin, "count")}`)))),
        )),
      ),
    );
  }

  /** @param {any} found */
  #said({ log, odd_lines }) {
    fill(this.log, h("section", { class: "sheet" }, h("h2", null, "Log"), h("pre", { class: "log", tabindex: "0" }, log.slice(-14).join("\n") || "nothing yet"), odd_lines > 0 && h("p", { class: "faint" }, `${odd_lines} lines of the metrics could not be read.`)));
  }
}

/** @param {string} name @param {string} value @param {string} note */
function tile(name, value, note) {
  return h("div", { class: "tile sheet" }, h("span", { class: "label" }, name), h("strong", { class: "number" }, value), h("span", { class: "faint" }, note));
}

/** @param {string} name @param {string | number} value */
function pair(name, value) {
  return h("div", null, h("dt", null, name), h("dd", null, value));
}
