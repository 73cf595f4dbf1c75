// Builders of DOM. Text is always a text node, never markup, whoever wrote it.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Control characters, and what could turn a text around or hide in it.
 */
const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * Text as it is shown: what would not be seen is escaped.
 *
 * @param {string} text
 */
export function shown(text) {
  return text.replace(UNSEEN, (letter) => `\\u{${letter.charCodeAt(0).toString(16)}}`);
}

/**
 * Element with attributes and children. An attribute that begins with `on` is a listener; `true` is an attribute without a
 * value; `false`, `null` and `undefined` are left out; `value`, `checked` and `selected` are set as properties.
 *
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "checked" || key === "selected") /** @type {any} */ (made)[key] = value;
    else made.setAttribute(key, value === true ? "" : shown(String(value)));
  }
  fill(made, ...children);
  if ("value" in attributes && "value" in made) /** @type {any} */ (made).value = attributes.value;
  return made;
}

/**
 * Appends children to an element.
 *
 * @param {Element} to
 * @param {...(Child | Child[])} children
 */
export function fill(to, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    to.append(child instanceof Node ? child : shown(String(child)));
  }
  return to;
}

/**
 * Puts children in the place of those that an element has.
 *
 * @param {Element} to
 * @param {...(Child | Child[])} children
 */
export function refill(to, ...children) {
  to.replaceChildren();
  return fill(to, ...children);
}

/**
 * Loads a style sheet of the folder `style`, once.
 *
 * @param {...string} names
 */
export function useStyles(...names) {
  for (const name of names) {
    const href = `style/${name}`;
    if (document.querySelector(`link[href="${href}"]`)) continue;
    document.head.append(el("link", { rel: "stylesheet", href }));
  }
}

let counted = 0;

/** Id for an element, unlike all others of the page. */
export function freshId() {
  counted += 1;
  return `part-${counted}`;
}

/**
 * Panel with a heading, which names it.
 *
 * @param {string} title
 * @param {...(Child | Child[])} children
 */
export function panel(title, ...children) {
  const id = freshId();
  return el("section", { class: "panel", "aria-labelledby": id }, el("h2", { id }, title), ...children);
}

/**
 * Head of a page: its title, and a line under it.
 *
 * @param {string} title
 * @param {Child | Child[]} [under]
 * @param {...Child} beside
 */
export function pageHead(title, under, ...beside) {
  return el(
    "header",
    { class: "page-head" },
    el("div", {}, el("h1", { tabindex: "-1" }, title), under ? el("p", { class: "lead" }, under) : null),
    beside.length > 0 ? el("div", { class: "head-side" }, ...beside) : null,
  );
}

/**
 * Column of a table: its heading, whether it is of numbers, and the cell of a row.
 *
 * @typedef {{head: string, number?: boolean, cell: (row: any) => Child | Child[]}} Column
 */

/**
 * Table that scrolls within itself.
 *
 * @param {string} caption
 * @param {Column[]} columns
 * @param {any[]} rows
 * @param {string} [none] words where there are no rows
 */
export function dataTable(caption, columns, rows, none = "Nothing yet.") {
  if (rows.length === 0) return el("p", { class: "muted" }, none);
  const kind = (/** @type {Column} */ column) => (column.number ? "number" : null);
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      { class: "table" },
      el("caption", { class: "hidden-text" }, caption),
      el(
        "thead",
        {},
        el("tr", {}, ...columns.map((column) => el("th", { scope: "col", class: kind(column) }, column.head))),
      ),
      el(
        "tbody",
        {},
        ...rows.map((row) =>
          el("tr", {}, ...columns.map((column) => el("td", { class: kind(column) }, ...[column.cell(row)].flat()))),
        ),
      ),
    ),
  );
}

/**
 * List of terms and what they are.
 *
 * @param {Array<[string, Child | Child[]]>} pairs
 */
export function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    ...pairs.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, ...[value].flat()))),
  );
}

/**
 * Large figures with their names.
 *
 * @param {Array<[string, Child]>} pairs
 */
export function figures(pairs) {
  return el(
    "dl",
    { class: "figures" },
    ...pairs.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))),
  );
}

/**
 * Button.
 *
 * @param {Child} label
 * @param {(event: Event) => void} press
 * @param {Record<string, any>} [attributes]
 */
export function button(label, press, attributes = {}) {
  const { class: kind, ...rest } = attributes;
  return el("button", { type: "button", class: `button ${kind ?? ""}`.trim(), onclick: press, ...rest }, label);
}

/**
 * Tabs by the arrow keys. `make` draws a panel when it is chosen, and returns what ends it.
 *
 * @param {string} label
 * @param {Array<{id: string, name: string, make: (into: Element) => (() => void) | void}>} tabs
 * @param {{first?: string, chosen?: (id: string) => void}} [options]
 */
export function tabs(label, tabs, options = {}) {
  const box = freshId();
  const into = el("div", { class: "tab-panel", role: "tabpanel", id: box, tabindex: "0" });
  /** @type {(() => void) | void} */
  let end;
  const buttons = tabs.map((tab) =>
    el(
      "button",
      { type: "button", role: "tab", id: `${box}-${tab.id}`, "aria-controls": box, onclick: () => choose(tab.id) },
      tab.name,
    ),
  );
  /** @param {string} id */
  function choose(id) {
    end?.();
    into.replaceChildren();
    const at = Math.max(
      0,
      tabs.findIndex((tab) => tab.id === id),
    );
    buttons.forEach((one, other) => {
      one.setAttribute("aria-selected", String(other === at));
      one.tabIndex = other === at ? 0 : -1;
    });
    into.setAttribute("aria-labelledby", buttons[at].id);
    options.chosen?.(tabs[at].id);
    end = tabs[at].make(into);
  }
  const list = el(
    "div",
    {
      class: "tabs",
      role: "tablist",
      "aria-label": label,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const at = buttons.indexOf(/** @type {any} */ (event.target));
        const next = (at + step + tabs.length) % tabs.length;
        buttons[next].focus();
        choose(tabs[next].id);
        event.preventDefault();
      },
    },
    ...buttons,
  );
  choose(options.first ?? tabs[0].id);
  return { list, into, choose, end: () => end?.() };
}

/**
 * Word in a frame, coloured by what it means.
 *
 * @param {Child} words
 * @param {"good" | "bad" | "warn" | "accent" | ""} [kind]
 */
export function tag(words, kind = "") {
  return el("span", { class: `tag ${kind}`.trim() }, words);
}

/**
 * Line plot by the element `sabacc-plot`, with its figures in words for whoever does not see it.
 *
 * @param {string} label
 * @param {Array<{name: string, points: Array<[number, number]>}>} series x in milliseconds since 1970 or any number
 * @param {Record<string, any>} [properties]
 */
export function plot(label, series, properties = {}) {
  const made = el("sabacc-plot", { label, role: "img", "aria-label": `${label}: ${series.map(inWords).join("; ")}` });
  Object.assign(made, { label, ...properties, series });
  return made;
}

/** @param {{name: string, points: Array<[number, number]>}} one */
function inWords({ name, points }) {
  if (points.length === 0) return `${name}: nothing yet`;
  const values = points.map(([, value]) => value);
  const words = (/** @type {number} */ value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
  return `${name}: now ${words(values[values.length - 1])}, least ${words(Math.min(...values))}, most ${words(Math.max(...values))}`;
}

/**
 * Drawn card, or its back for `??`.
 *
 * @param {string} code
 * @param {string} deck such as "S76"
 * @param {Record<string, any>} [attributes]
 */
export function card(code, deck, attributes = {}) {
  const hidden = code === "??";
  return el("sabacc-card", { code: hidden ? null : code, deck, face: hidden ? "down" : "up", ...attributes });
}

/**
 * Sets a value of the query behind the path, without leaving the page.
 *
 * @param {Record<string, string | null>} values
 */
export function setQuery(values) {
  const [path, query] = location.hash.split("?");
  const all = new URLSearchParams(query ?? "");
  for (const [key, value] of Object.entries(values)) {
    if (value) all.set(key, value);
    else all.delete(key);
  }
  const text = all.toString();
  history.replaceState(null, "", `${path || "#/"}${text ? `?${text}` : ""}`);
}
