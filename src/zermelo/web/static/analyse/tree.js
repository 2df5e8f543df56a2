// The tree explorer: nodes of a search's tree, opened one at a time, also while it grows.
import { fill, h } from "../dom.js";
import { compact } from "../parts/chart.js";
import { provenText } from "../parts/evaluation.js";
import { Refused } from "../socket.js";

/**
 * @typedef {import("../router.js").Context} Context
 * @typedef {import("../protocol").Child} Child
 */

const SHOWN = 12;

export class TreeExplorer {
  /** @param {Context} context @param {(path: string[] | null) => void} preview */
  constructor(context, preview) {
    this.context = context;
    this.preview = preview;
    this.search = "";
    this.rows = h("ul", { class: "tree", "aria-label": "Search tree" });
    this.element = h("section", { class: "sheet" },
      h("div", { class: "row spread" }, h("h2", null, "Tree"), h("button", { type: "button", class: "button small", onclick: () => this.open() }, "Look again")),
      h("p", { class: "faint" }, "N visits, P prior, Q value for who chooses, U curiosity. The largest Q + U is visited next (▸)."),
      h("div", { class: "tree-row tree-head", "aria-hidden": "true" }, ["Move", "N", "P", "Q", "U"].map((name) => h("span", null, name))),
      this.rows);
    this.rows.addEventListener("pointerleave", () => preview(null));
  }

  /** The tree of another search. @param {string} search */
  show(search) {
    this.search = search;
    fill(this.rows, h("li", null, h("button", { type: "button", class: "button small", id: "open-tree", onclick: () => this.open() }, "Open the root")));
  }

  async open() {
    if (this.search) await this.#load(this.rows, []);
  }

  /** @param {HTMLElement} place @param {string[]} path */
  async #load(place, path) {
    try {
      const node = await this.context.socket.ask({ type: "analyse.tree", search: this.search, path });
      fill(place, node.children.slice(0, SHOWN).map((/** @type {Child} */ child) => this.#node(child, path)),
        node.children.length > SHOWN ? h("li", { class: "faint" }, `and ${node.children.length - SHOWN} more`) : null,
        node.children.length ? null : h("li", { class: "faint" }, "Nothing below: the game ends here, or it was not searched."));
    } catch (error) {
      fill(place, h("li", { class: "faint" }, error instanceof Refused ? error.message : String(error)));
    }
  }

  /** @param {Child} child @param {string[]} path */
  #node(child, path) {
    const here = [...path, child.move];
    const below = h("ul", { hidden: true });
    const sure = provenText(child.proven, child.distance);
    const button = h("button", {
      type: "button", class: "tree-row", "aria-expanded": "false", disabled: child.visits < 1, "data-path": here.join(" "),
      onpointerenter: () => this.preview(here), onfocus: () => this.preview(here), onblur: () => this.preview(null),
      onclick: () => {
        const open = below.hidden;
        below.hidden = !open;
        button.setAttribute("aria-expanded", String(open));
        if (open) void this.#load(below, here);
      },
    }, h("span", { class: child.chosen ? "tree-move chosen-next" : "tree-move" }, child.move),
      h("span", null, compact(child.visits)), h("span", null, `${(100 * child.prior).toFixed(1)}%`),
      h("span", null, sure || (child.q === null ? "–" : child.q.toFixed(3))), h("span", null, child.u.toFixed(3)));
    return h("li", null, button, below);
  }
}
