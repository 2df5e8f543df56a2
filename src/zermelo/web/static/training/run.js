// One run: its head with what it does now, and the pages below it. Live while the run is under way.
import { fill, h, toast } from "../dom.js";
import { read, tell } from "./api.js";
import { showGames } from "./games.js";
import { showLearning } from "./learning.js";
import { lasting } from "./numbers.js";
import { Overview } from "./overview.js";
import { failed, state, waiting } from "./parts.js";
import { showSettings } from "./settings.js";

const PAGES = [["", "Overview"], ["games", "Games"], ["learning", "Watch it learn"], ["settings", "Settings"]];

/**
 * @param {HTMLElement} page @param {import("../router.js").Context} context @param {string} id
 * @param {string[]} path @param {URLSearchParams} query
 */
export function showRun(page, context, id, path, query) {
  const [which = ""] = path;
  const head = h("header", { class: "run-head" });
  const body = h("div", { class: "run-body" }, waiting("Reading the run …"));
  fill(page, head, body);
  /** @type {(() => void)[]} */
  const leaving = [];
  let gone = false;
  leaving.push(() => { gone = true; });

  /** @param {any} found */
  function drawHead(found) {
    const { run, status } = found;
    document.title = `${run.name} · Zermelo`;
    const done = run.iterations ? Math.min(1, run.iteration / run.iterations) : 0;
    const left = run.alive && status?.seconds_left ? `about ${lasting(status.seconds_left)} left` : "";
    fill(
      head,
      h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/training" }, "Training"), h("span", { "aria-hidden": "true" }, "›"), h("span", null, run.name)),
      h("div", { class: "row spread" }, h("div", { class: "row" }, h("h1", null, run.name), state(run), h("span", { class: "soft" }, run.game ?? "")), buttons(found)),
      h(
        "div",
        { class: "run-now" },
        h("progress", { value: done, max: 1, "aria-label": "iterations done" }),
        h("p", { class: "soft" }, [`Iteration ${run.iteration}${run.iterations ? ` of ${run.iterations}` : ""}`, run.alive ? run.doing : run.ended && `ended: ${run.ended}`, left].filter(Boolean).join(" · ")),
      ),
      run.error && h("p", { class: "notice bad" }, run.error),
      h("nav", { class: "tabs", "aria-label": "Pages of the run" }, PAGES.map(([name, words]) => h("a", { href: `#/training/${id}${name && `/${name}`}`, "aria-current": name === which ? "page" : null }, words))),
    );
  }

  /** @param {any} found */
  function buttons({ run, may_train }) {
    /** @param {string} what */
    const ask = (what) => async () => {
      try {
        await tell(`/${id}/${what}`);
        toast(what === "stop" ? "The training stops soon." : "The training goes on.");
      } catch (error) {
        toast(error instanceof Error ? error.message : String(error));
      }
    };
    const finished = run.iterations !== null && run.iteration >= run.iterations;
    return h(
      "div",
      { class: "row" },
      may_train && run.alive && h("button", { class: "button", type: "button", onclick: ask("stop") }, "Stop"),
      may_train && !run.alive && !finished && !run.error && h("button", { class: "button main", type: "button", onclick: ask("continue") }, "Continue"),
      h("a", { class: "button", href: `/api/runs/${id}/report`, download: `${run.name}.html` }, "Report"),
    );
  }

  async function begin() {
    try {
      const found = await read(`/${id}`);
      if (gone) return;
      drawHead(found);
      if (which === "") {
        const overview = new Overview(body, id);
        leaving.push(() => overview.leave());
        overview.set(found);
        follow((next) => overview.set(next));
      } else {
        /** @type {Record<string, (body: HTMLElement, context: import("../router.js").Context, id: string, path: string[], query: URLSearchParams) => (void | (() => void))>} */
        const pages = { games: showGames, learning: showLearning, settings: showSettings };
        const show = Object.hasOwn(pages, which) ? pages[which] : null;
        if (!show) {
          failed(body, new Error("There is no such page of a run."));
          return;
        }
        const leave = show(body, context, id, path.slice(1), query);
        if (leave) leaving.push(leave);
        follow(() => {});
      }
    } catch (error) {
      if (!gone) failed(body, error, () => void begin());
    }
  }

  /** Renews the head, and the page, when the server says that something changed. @param {(found: any) => void} renew */
  function follow(renew) {
    const watch = () => void context.socket.ask({ type: "training.watch", run: id }).catch(() => {});
    leaving.push(
      context.socket.on("training.news", (news) => {
        if (news.run !== id) return;
        void read(`/${id}`).then((found) => {
          if (gone) return;
          drawHead(found);
          renew(found);
        }).catch(() => {});
      }),
    );
    context.socket.addEventListener("open", watch);
    leaving.push(() => context.socket.removeEventListener("open", watch));
    leaving.push(() => void context.socket.ask({ type: "training.watch", run: null }).catch(() => {}));
    watch();
  }

  void begin();
  return () => leaving.forEach((leave) => leave());
}
