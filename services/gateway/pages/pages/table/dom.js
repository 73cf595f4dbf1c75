// Making of elements, and words for errors. Text is always text: nothing here reads markup.

/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/** Makes an element. A function is a listener of the event, `true` an attribute without value, false and null none.
 * @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {Attributes | null} [attributes] @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[T]} */
export function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  for (const child of children) if (child || child === "") made.append(child);
  return made;
}

/** Makes one of our own elements. @param {string} tag @param {Attributes | null} [attributes] @returns {any} */
export function own(tag, attributes) {
  return el(/** @type {"span"} */ (tag), attributes);
}

export { setText } from "../../elements/sheet.js";

/** What a person is told of an error. The words are loaded with the first one; while the room is away its own must do. @param {unknown} error */
export async function wordsOf(error) {
  const words = await import("../../api/refusals.js").catch(() => null);
  return words ? words.wordsOf(error) : error instanceof Error ? error.message : String(error);
}
