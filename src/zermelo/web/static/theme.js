// Light or dark: as the system says until the visitor chooses, then as chosen.
import { byId, fill, icon } from "./dom.js";

const KEY = "zermelo-theme";
const SUN = "M12 3v2M12 19v2M4.2 4.2l1.4 1.4M18.4 18.4l1.4 1.4M3 12h2M19 12h2M4.2 19.8l1.4-1.4M18.4 5.6l1.4-1.4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z";
const MOON = "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z";

const system = matchMedia("(prefers-color-scheme: dark)");

/** The theme in use. @returns {"light" | "dark"} */
export function theme() {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "light" || chosen === "dark") return chosen;
  return system.matches ? "dark" : "light";
}

function apply() {
  const now = theme();
  document.documentElement.dataset.theme = now;
  fill(byId("theme"), icon(now === "dark" ? SUN : MOON));
  byId("theme").setAttribute("aria-label", now === "dark" ? "Use light colours" : "Use dark colours");
  window.dispatchEvent(new CustomEvent("theme"));
}

/** Follows the system and the button. Fires "theme" at the window after a change. */
export function startTheme() {
  apply();
  system.addEventListener("change", apply);
  byId("theme").addEventListener("click", () => {
    localStorage.setItem(KEY, theme() === "dark" ? "light" : "dark");
    apply();
  });
}

/** A token's value now, for what cannot be styled by rules. @param {string} name */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
