// Which view is shown: the part of the address after #/. A view is a module with
// `show(container, context, path, query)`, which returns a function that ends it, or nothing.

/**
 * @typedef {import("./socket.js").Socket} Socket
 * @typedef {import("./protocol").Welcome} Welcome
 * @typedef {{socket: Socket, welcome: Welcome, go: (address: string) => void}} Context
 * @typedef {{title: string, show: (container: HTMLElement, context: Context, path: string[],
 *   query: URLSearchParams) => (void | (() => void))}} View
 */

/** @type {Record<string, () => Promise<View>>} */
const VIEWS = {
  "": () => import("./welcome/welcome.js"),
  play: () => import("./play/play.js"),
  analyse: () => import("./analyse/analyse.js"),
  training: () => import("./training/training.js"),
};

export class Router {
  /** @type {(() => void) | null} */
  #leave = null;
  #turn = 0;

  /** @param {HTMLElement} container @param {Context} context */
  constructor(container, context) {
    this.container = container;
    this.context = context;
    window.addEventListener("hashchange", () => void this.follow());
  }

  /** Shows what the address says. */
  async follow() {
    const turn = ++this.#turn;
    const [place = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [name = "", ...path] = place.split("/").filter(Boolean).map(decoded);
    const load = Object.hasOwn(VIEWS, name) ? VIEWS[name] : VIEWS[""];
    const view = await /** @type {() => Promise<View>} */ (load)();
    if (turn !== this.#turn) return; // the visitor went on meanwhile
    this.#leave?.();
    this.container.replaceChildren();
    document.title = view.title ? `${view.title} · Zermelo` : "Zermelo";
    for (const link of document.querySelectorAll(".views a")) {
      const current = /** @type {HTMLElement} */ (link).dataset.view === name;
      if (current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.#leave = view.show(this.container, this.context, path, new URLSearchParams(search)) ?? null;
    window.scrollTo(0, 0);
  }
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
