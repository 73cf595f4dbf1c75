// Form of a message, made from its descriptor. It writes into the value that it is given.

import { button, el, freshId, refill } from "../parts/dom.js";

/** Depth of messages within messages that a form goes to; deeper ones are written as JSON. */
const DEEPEST = 4;
/** Messages that JSON has as text, and their form. @type {Record<string, string>} */
const AS_TEXT = { ".google.protobuf.Timestamp": "2026-01-31T20:15:00Z", ".google.protobuf.Duration": "1.5s" };

/** @typedef {import("./descriptors.js").Api} Api */
/** @typedef {import("./descriptors.js").ApiField} ApiField */

/**
 * @param {Api} api
 * @param {string} name of the message
 * @param {any} value object to write into
 * @param {() => void} changed
 * @param {number} [depth]
 * @returns {Element}
 */
export function messageForm(api, name, value, changed, depth = 0) {
  const fields = api.message(name)?.fields ?? [];
  if (fields.length === 0) return el("p", { class: "muted" }, "It has no fields.");
  return el("div", { class: "stack" }, ...fields.map((field) => fieldForm(api, field, value, changed, depth)));
}

/**
 * @param {Api} api
 * @param {ApiField} field
 * @param {any} value
 * @param {() => void} changed
 * @param {number} depth
 */
function fieldForm(api, field, value, changed, depth) {
  const words = `${field.repeated ? "list of " : ""}${field.words}${field.oneof ? `, one of ${field.oneof}` : ""}`;
  const isMessage = field.type === "message" && !AS_TEXT[field.typeName];
  if (field.map || (isMessage && depth >= DEEPEST)) return jsonField(field, value, changed, words);
  if (field.repeated) return listField(api, field, value, changed, depth, words);
  if (isMessage) return nestedField(api, field, value, changed, depth, words);
  const set = (/** @type {any} */ next) => {
    if (next === undefined) delete value[field.json];
    else value[field.json] = next;
    changed();
  };
  return labelled(field.json, words, (id) => scalar(api, field, value[field.json], set, id));
}

/**
 * @param {string} name
 * @param {string} words
 * @param {(id: string) => Element} make
 */
function labelled(name, words, make) {
  const id = freshId();
  return el("div", { class: "field" }, el("label", { for: id }, el("code", {}, name), el("span", { class: "muted" }, ` ${words}`)), make(id));
}

/**
 * @param {Api} api
 * @param {ApiField} field
 * @param {any} now
 * @param {(next: any) => void} set
 * @param {string} id
 */
function scalar(api, field, now, set, id) {
  if (field.type === "bool") {
    return el("input", { id, type: "checkbox", checked: now === true, onchange: (/** @type {any} */ event) => set(event.target.checked ? true : undefined) });
  }
  if (field.type === "enum") {
    const values = api.enums.get(field.typeName) ?? [];
    return el(
      "select",
      { id, onchange: (/** @type {any} */ event) => set(event.target.value || undefined) },
      el("option", { value: "" }, "\u2013"),
      ...values.map((one) => el("option", { value: one, selected: one === now }, one)),
    );
  }
  const small = /^(u?int32|s?fixed32|sint32|float|double)$/.test(field.type);
  return el("input", {
    id,
    type: "text",
    value: now ?? "",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: AS_TEXT[field.typeName] ?? (field.type === "bytes" ? "base64" : null),
    inputmode: small || field.type.endsWith("64") ? "numeric" : null,
    oninput: (/** @type {any} */ event) => {
      const text = event.target.value;
      set(text === "" ? undefined : small && !Number.isNaN(Number(text)) ? Number(text) : text);
    },
  });
}

/**
 * @param {ApiField} field
 * @param {any} value
 * @param {() => void} changed
 * @param {string} words
 */
function jsonField(field, value, changed, words) {
  return labelled(field.json, `${words}, as JSON`, (id) =>
    el("textarea", {
      id,
      rows: 3,
      class: "mono",
      value: value[field.json] === undefined ? "" : JSON.stringify(value[field.json]),
      oninput: (/** @type {any} */ event) => {
        try {
          if (event.target.value.trim() === "") delete value[field.json];
          else value[field.json] = JSON.parse(event.target.value);
          event.target.setCustomValidity("");
          changed();
        } catch {
          event.target.setCustomValidity("Not JSON yet");
        }
      },
    }),
  );
}

/**
 * @param {Api} api
 * @param {ApiField} field
 * @param {any} value
 * @param {() => void} changed
 * @param {number} depth
 * @param {string} words
 */
function nestedField(api, field, value, changed, depth, words) {
  const inner = el("div", { class: "nested" });
  const draw = () => {
    const there = value[field.json] !== undefined;
    refill(
      inner,
      there ? messageForm(api, field.typeName, value[field.json], changed, depth + 1) : null,
      button(
        there ? `Leave ${field.json} out` : `Fill in ${field.json}`,
        () => {
          if (there) delete value[field.json];
          else value[field.json] = {};
          changed();
          draw();
        },
        { class: "small" },
      ),
    );
  };
  draw();
  return el("fieldset", {}, el("legend", {}, el("code", {}, field.json), el("span", { class: "muted" }, ` ${words}`)), inner);
}

/**
 * @param {Api} api
 * @param {ApiField} field
 * @param {any} value
 * @param {() => void} changed
 * @param {number} depth
 * @param {string} words
 */
function listField(api, field, value, changed, depth, words) {
  const inner = el("div", { class: "nested" });
  const isMessage = field.type === "message" && !AS_TEXT[field.typeName];
  const draw = () => {
    /** @type {any[]} */
    const all = value[field.json] ?? [];
    refill(
      inner,
      ...all.map((one, at) =>
        el(
          "div",
          { class: "item" },
          isMessage
            ? messageForm(api, field.typeName, one, changed, depth + 1)
            : labelled(`${field.json}[${at}]`, "", (id) => scalar(api, field, one, (next) => ((all[at] = next ?? ""), changed()), id)),
          button("Remove", () => (all.splice(at, 1), all.length === 0 && delete value[field.json], changed(), draw()), { class: "small quiet", "aria-label": `Remove ${field.json} ${at + 1}` }),
        ),
      ),
      button(`Add to ${field.json}`, () => ((value[field.json] = [...all, isMessage ? {} : ""]), changed(), draw()), { class: "small" }),
    );
  };
  draw();
  return el("fieldset", {}, el("legend", {}, el("code", {}, field.json), el("span", { class: "muted" }, ` ${words}`)), inner);
}
