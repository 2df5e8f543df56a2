// The form of a new game: which game, against whom, how strong, which side, how much time.
import { fill, h } from "../dom.js";

/**
 * @typedef {import("../router.js").Context} Context
 * @typedef {import("../protocol").Seat} Seat
 * @typedef {{game: string, opponent: string, strength: "level" | "simulations" | "seconds", level: number,
 *   simulations: number, seconds: number, side: "first" | "second" | "random", clock: number}} Choice
 */

const KEY = "zermelo-setup";
/** @type {Choice} */
const USUAL = { game: "connect4", opponent: "", strength: "level", level: 3, simulations: 400, seconds: 1, side: "first", clock: 0 };
export const PERSON = "person";

/** What was chosen last. @returns {Choice} */
export function lastChoice() {
  try {
    return { ...USUAL, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...USUAL };
  }
}

/** The seats that a choice means. @param {Choice} choice @returns {Seat[]} */
export function seatsOf(choice) {
  const nobody = { opponent: null, level: null, simulations: null, seconds: null };
  if (choice.opponent === PERSON) return [nobody, nobody];
  const seat = {
    ...nobody, opponent: choice.opponent,
    level: choice.strength === "level" ? choice.level : null,
    simulations: choice.strength === "simulations" ? choice.simulations : null,
    seconds: choice.strength === "seconds" ? choice.seconds : null,
  };
  const first = choice.side === "first" || (choice.side === "random" && Math.random() < 0.5);
  return first ? [nobody, seat] : [seat, nobody];
}

/** A choice that this server can serve. @param {Choice} choice @param {Context} context @returns {Choice} */
export function fitting(choice, context) {
  const games = context.welcome.games;
  const game = games.find((each) => each.id === choice.game) ?? games[0];
  if (!game) return choice;
  const known = choice.opponent === PERSON || game.opponents.includes(choice.opponent);
  return { ...choice, game: game.id, opponent: known ? choice.opponent : (game.opponents[0] ?? PERSON) };
}

/** @param {Context} context @param {Choice} choice @param {(choice: Choice) => void} begin */
export function setupForm(context, choice, begin) {
  let now = fitting(choice, context);
  const form = h("form", { class: "stack setup", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    localStorage.setItem(KEY, JSON.stringify(now));
    begin(now);
  } });

  /** @param {Partial<Choice>} change */
  const set = (change) => {
    now = fitting({ ...now, ...change }, context);
    draw();
  };

  function draw() {
    const game = context.welcome.games.find((each) => each.id === now.game);
    if (!game) return;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.id;
    const offers = game.opponents.map((id) => context.welcome.opponents.find((each) => each.id === id)).filter((each) => each !== undefined);
    const chosen = offers.find((each) => each.id === now.opponent);
    fill(form,
      h("label", { class: "field" }, h("span", null, "Game"), select("setup-game", now.game, context.welcome.games.map((each) => [each.id, each.title]), (game) => set({ game }))),
      h("label", { class: "field" }, h("span", null, "Opponent"), select("setup-opponent", now.opponent, [...offers.map((each) => /** @type {[string, string]} */ ([each.id, `${each.title} · ${each.detail}`])), [PERSON, "Another person · at this screen"]], (opponent) => set({ opponent }))),
      chosen?.levels ? strength() : null,
      now.opponent === PERSON ? null : sides(game.players),
      h("label", { class: "field" }, h("span", null, "Clock"), select("setup-clock", String(now.clock), [["0", "No clock"], ["60", "1 minute each"], ["180", "3 minutes each"], ["300", "5 minutes each"], ["600", "10 minutes each"]], (clock) => set({ clock: Number(clock) }))),
      h("button", { type: "submit", class: "button main", id: "setup-begin" }, "New game"));
    if (focused) document.getElementById(focused)?.focus();
  }

  function strength() {
    const level = context.welcome.levels.find((each) => each.number === now.level);
    const detail = h("output", { class: "faint", for: "setup-level" }, level?.detail ?? "");
    const title = h("strong", { id: "setup-level-title" }, `${now.level} · ${level?.title ?? ""}`);
    const slider = h("input", {
      type: "range", id: "setup-level", min: 1, max: context.welcome.levels.length, step: 1, value: now.level, "aria-label": "Level", "aria-valuetext": level?.title,
      oninput: (/** @type {Event} */ event) => {
        const number = Number(/** @type {HTMLInputElement} */ (event.target).value);
        now = { ...now, level: number };
        const offer = context.welcome.levels.find((each) => each.number === number);
        title.textContent = `${number} · ${offer?.title}`;
        detail.textContent = offer?.detail ?? "";
        slider.setAttribute("aria-valuetext", offer?.title ?? "");
      },
    });
    const number = (/** @type {"simulations" | "seconds"} */ key, /** @type {number} */ most, /** @type {number} */ step) => h("input", {
      type: "number", id: `setup-${key}`, "aria-label": key, min: step, max: most, step, value: now[key],
      onchange: (/** @type {Event} */ event) => set({ [key]: Math.min(most, Math.max(step, Number(/** @type {HTMLInputElement} */ (event.target).value) || step)) }),
    });
    const { limits } = context.welcome;
    return h("fieldset", { class: "stack tight" },
      h("legend", { class: "label" }, "Strength"),
      choices("strength", now.strength, [["level", "Level"], ["simulations", "Simulations"], ["seconds", "Seconds"]], (value) => set({ strength: /** @type {Choice["strength"]} */ (value) })),
      now.strength === "level" ? h("div", { class: "stack tight level" }, title, slider, detail) : null,
      now.strength === "simulations" ? number("simulations", limits.simulations, 1) : null,
      now.strength === "seconds" ? number("seconds", limits.seconds, 0.1) : null);
  }

  /** @param {string[]} names */
  function sides(names) {
    return h("fieldset", { class: "stack tight" }, h("legend", { class: "label" }, "You play"),
      choices("side", now.side, [["first", names[0] ?? "First"], ["second", names[1] ?? "Second"], ["random", "Either"]], (value) => set({ side: /** @type {Choice["side"]} */ (value) })));
  }

  draw();
  return form;
}

/** @param {string} id @param {string} value @param {[string, string][]} options @param {(value: string) => void} change */
export function select(id, value, options, change) {
  return h("select", { id, onchange: (/** @type {Event} */ event) => change(/** @type {HTMLSelectElement} */ (event.target).value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
}

/** @param {string} name @param {string} value @param {[string, string][]} options @param {(value: string) => void} change */
export function choices(name, value, options, change) {
  return h("div", { class: "choice" }, options.map(([key, text]) =>
    h("label", null, h("input", { type: "radio", id: `choice-${name}-${key}`, name, value: key, checked: key === value, onchange: () => change(key) }), text)));
}
