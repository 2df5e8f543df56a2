// How actions share the policy, and how the game stands, in bars.
import { h } from "../dom.js";
import { written } from "./numbers.js";

const ROWS = 8;

/** Actions by their share, largest first: the order of an object's keys means nothing. @param {Record<string, number>} shares */
export function strongest(shares) {
  return Object.entries(shares).sort((a, b) => b[1] - a[1]);
}

/**
 * @param {Record<string, number>} shares by action
 * @param {string | null} [best] that stands out
 */
export function shareBars(shares, best = null) {
  const rows = strongest(shares);
  const shown = rows.slice(0, ROWS);
  const kept = best !== null && !shown.some(([name]) => name === best) ? rows.find(([name]) => name === best) : null;
  if (kept) shown[shown.length - 1] = kept;
  return h(
    "ol",
    { class: "shares" },
    shown.map(([name, share]) =>
      h("li", { class: name === best ? "best" : null }, h("span", { class: "mono" }, name), h("span", { class: "bar-of", "aria-hidden": "true" }, h("i", { style: { "--share": `${(100 * share).toFixed(1)}%` } })), h("span", { class: "number" }, written(share, "share"))),
    ),
  );
}

/**
 * @param {number[]} wdl first wins, drawn, second wins
 * @param {import("./boards.js").Sides} sides
 */
export function standing(wdl, { kind, players }) {
  const words = `${players[0]} ${written(wdl[0], "share")} · drawn ${written(wdl[1], "share")} · ${players[1]} ${written(wdl[2], "share")}`;
  return h("div", { class: `wdl kind-${kind || "own"}` }, h("div", { class: "wdl-bar", role: "img", "aria-label": words }, wdl.map((share) => h("i", { style: { "--share": `${(100 * share).toFixed(1)}%` } }))), h("span", { class: "faint number" }, words));
}

/** Value and draw probability as win, draw, loss. @param {number} value @param {number} draw */
export function wdlOf(value, draw) {
  return [Math.max(0, (1 - draw + value) / 2), draw, Math.max(0, (1 - draw - value) / 2)];
}
