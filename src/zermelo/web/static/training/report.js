// Draws the charts of a report. Inlined into the file below dom.js, numbers.js and chart.js; the page
// itself does not load it.
import { byId } from "../dom.js";
import { Chart } from "./chart.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

function shade() {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
}

shade();
dark.addEventListener("change", shade);
const { panels } = JSON.parse(byId("data").textContent ?? "{}");
for (const panel of panels) {
  const place = document.querySelector(`[data-panel="${CSS.escape(panel.id)}"]`);
  place?.replaceChildren(new Chart(panel).element);
}
