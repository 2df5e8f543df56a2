// The bar beside a board: what both sides may expect, from the first player's point of view.
import { h } from "../dom.js";

export class EvaluationBar {
  constructor() {
    this.part = h("div", { class: "evaluation-first" });
    this.text = h("span", { class: "evaluation-text number" });
    this.element = h("div", { class: "evaluation", role: "img", "aria-label": "No evaluation" }, this.part, this.text);
  }

  /**
   * @param {number | null} value for the first player, -1 to 1; null: not known
   * @param {string} [said] instead of the number
   */
  show(value, said) {
    const known = value !== null;
    this.element.classList.toggle("unknown", !known);
    const share = known ? (1 + value) / 2 : 0.5;
    this.part.style.setProperty("--share", `${(100 * share).toFixed(2)}%`);
    const text = known ? (said ?? `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`) : "";
    this.text.textContent = text;
    this.element.setAttribute("aria-label", known ? `Evaluation ${text} for the first player` : "No evaluation");
  }

  /** Upside down with the board. @param {boolean} flipped */
  flip(flipped) {
    this.element.classList.toggle("flipped", flipped);
  }
}

/** A proven result in words. @param {number | null} proven @param {number | null} distance */
export function provenText(proven, distance) {
  if (proven === null) return "";
  if (proven === 0) return "draw";
  return `${proven > 0 ? "win" : "loss"} in ${distance}`;
}
