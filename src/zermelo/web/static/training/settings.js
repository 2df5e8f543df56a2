// A run's configuration: every option with its meaning; what somebody chose stands out.
import { fill, h } from "../dom.js";
import { read } from "./api.js";
import { failed, waiting } from "./parts.js";

/**
 * @param {HTMLElement} body @param {unknown} _context @param {string} id
 */
export function showSettings(body, _context, id) {
  fill(body, waiting("Reading the settings …"));
  void load(body, id);
}

/** @param {HTMLElement} body @param {string} id */
async function load(body, id) {
  try {
    const { sections } = await read(`/${id}/settings`);
    const all = h("input", { type: "checkbox", onchange: () => body.classList.toggle("every", all.checked) });
    fill(
      body,
      h("div", { class: "row spread" }, h("p", { class: "soft" }, "Options with another value than the default, by section."), h("label", { class: "check" }, all, "Show every option")),
      h("div", { class: "settings" }, sections.map(section)),
    );
  } catch (error) {
    failed(body, error, () => void load(body, id));
  }
}

/** @param {any} found */
function section({ name, rows }) {
  const changed = rows.some((/** @type {any} */ row) => row.changed) || name === "game";
  return h(
    "section",
    { class: changed ? "sheet" : "sheet usual" },
    h("h2", null, h("code", null, `[${name}]`)),
    h("table", { class: "options" }, h("tbody", null, rows.map((/** @type {any} */ row) => h("tr", { class: row.changed || name === "game" ? null : "usual" }, h("th", { scope: "row" }, h("code", null, row.key)), h("td", { class: "number" }, valueText(row.value)), h("td", { class: "faint" }, row.meaning))))),
  );
}

/** @param {unknown} value */
export function valueText(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === "" ? "“”" : String(value);
}
