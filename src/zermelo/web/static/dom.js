// Small functions for the document. Text from anywhere becomes text nodes, never markup: there is
// no function here that takes HTML.

/**
 * @typedef {Node | string | number | null | undefined | false} Piece
 * @typedef {Record<string, any>} Attributes  `on…` are listeners, `class`, `dataset`, `style`, else
 *   attributes; false and null leave one out, true is an empty one.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes | null} [attributes]
 * @param {...(Piece | Piece[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  dress(element, attributes ?? {});
  put(element, ...children);
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes | null} [attributes]
 * @param {...(Piece | Piece[])} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes ?? {});
  put(element, ...children);
  return element;
}

/** Appends pieces. @param {Element} element @param {...(Piece | Piece[])} children */
export function put(element, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces what is within. @param {Element} element @param {...(Piece | Piece[])} children */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, ...children);
}

/** Sets attributes. @param {Element} element @param {Attributes} attributes */
export function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (name === "dataset") {
      Object.assign(/** @type {HTMLElement} */ (element).dataset, value);
    } else if (name === "style") {
      for (const [key, each] of Object.entries(value)) {
        /** @type {HTMLElement} */ (element).style.setProperty(key, String(each));
      }
    } else if (value === false || value === null || value === undefined) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/**
 * The element of an id, which the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Says something to screen readers. @param {string} text */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** Shows a sentence for some seconds. @param {string} text */
export function toast(text) {
  const shown = h("div", { class: "toast" }, text);
  byId("toasts").append(shown);
  setTimeout(() => shown.remove(), 4500);
}

/** A picture from lines of 24 x 24. @param {...string} paths @returns {SVGSVGElement} */
export function icon(...paths) {
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, paths.map((d) => s("path", { d })));
}
