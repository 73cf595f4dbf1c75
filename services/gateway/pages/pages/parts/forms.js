// Forms that make a call, say how it went, and name the field that was wrong.

import { el, fill, freshId, refill } from "./dom.js";
import { refused } from "./refused.js";

/**
 * Field of a form. `name` is the key of its value; one with a point goes into a message.
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {"text" | "number" | "area" | "select" | "flag" | "file" | "time"} [type]
 * @property {string} [hint]
 * @property {any} [value]
 * @property {boolean} [required]
 * @property {Array<[string, string]>} [options] value and words
 * @property {Record<string, any>} [attributes]
 */

/**
 * Labelled control of a field.
 *
 * @param {Field} field
 */
export function control(field) {
  const id = freshId();
  const hint = field.hint ? `${id}-hint` : null;
  const shared = {
    id,
    name: field.name,
    required: field.required,
    "aria-describedby": hint,
    ...field.attributes,
  };
  const value = field.value ?? "";
  const made = (() => {
    switch (field.type) {
      case "area":
        return el("textarea", { rows: 4, ...shared, value });
      case "select":
        return el(
          "select",
          shared,
          ...(field.options ?? []).map(([key, words]) =>
            el("option", { value: key, selected: key === String(value) }, words),
          ),
        );
      case "flag":
        return el("input", { ...shared, type: "checkbox", checked: value === true });
      case "number":
        return el("input", { inputmode: "numeric", autocomplete: "off", ...shared, type: "text", pattern: "-?[0-9]*", value });
      case "file":
        return el("input", { ...shared, type: "file" });
      case "time":
        return el("input", { ...shared, type: "datetime-local", step: "1", value });
      default:
        return el("input", { autocomplete: "off", ...shared, type: "text", value });
    }
  })();
  const label = el("label", { for: id }, field.label, field.required ? el("span", { class: "muted" }, " (needed)") : null);
  const under = field.hint ? el("p", { class: "hint muted", id: hint }, field.hint) : null;
  return field.type === "flag"
    ? el("div", { class: "field flag" }, made, label, under)
    : el("div", { class: "field" }, label, made, under);
}

/**
 * Values of a form's controls by their names. Empty ones are left out.
 *
 * @param {HTMLFormElement} form
 * @returns {Record<string, any>}
 */
export function valuesOf(form) {
  /** @type {Record<string, any>} */
  const values = {};
  for (const one of /** @type {any[]} */ ([...form.elements])) {
    if (!one.name) continue;
    if (one.type === "checkbox") {
      if (one.checked) values[one.name] = true;
    } else if (one.type === "file") {
      if (one.files?.[0]) values[one.name] = one.files[0];
    } else if (one.type === "datetime-local") {
      if (one.value) values[one.name] = new Date(one.value).toISOString();
    } else if (one.value !== "") values[one.name] = one.value;
  }
  return values;
}

/**
 * Form whose button makes a call. `call` gives the words to say when it went well.
 *
 * @param {object} options
 * @param {Field[]} options.fields
 * @param {string} options.label of the button
 * @param {(values: Record<string, any>, form: HTMLFormElement) => Promise<any>} options.call
 * @param {string} [options.confirm] question to answer before the call is made
 * @param {boolean} [options.danger]
 * @param {boolean} [options.keep] keep what was written when it went well
 * @param {any[]} [options.extra] elements between the fields and the button
 */
export function callForm({ fields, label, call, confirm, danger, keep, extra = [] }) {
  const said = el("div", { class: "said", role: "status" });
  const submit = el("button", { type: "submit", class: danger ? "button danger" : "button primary" }, label);
  const sure = confirm ? control({ name: "__sure", label: confirm, type: "flag", attributes: { required: true } }) : null;
  const form = el("form", { class: "form" }, ...fields.map(control), ...extra, sure, el("div", { class: "row" }, submit), said);
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    const values = valuesOf(form);
    delete values.__sure;
    submit.disabled = true;
    refill(said, el("p", { class: "muted" }, "Working \u2026"));
    try {
      const words = await call(values, form);
      refill(said);
      if (words) fill(said, words instanceof Node ? words : el("p", { class: "notice good" }, words));
      if (!keep) form.reset();
    } catch (error) {
      refill(said, refused(error));
    } finally {
      submit.disabled = false;
    }
  });
  return form;
}

/**
 * Fills an element with what a promise gives, with word that it is on its way, and with a refusal and a button to try again.
 *
 * @param {Element} into
 * @param {() => Promise<any>} load gives elements
 * @param {string} [waiting]
 */
export async function loadInto(into, load, waiting = "Loading \u2026") {
  refill(into, el("p", { class: "muted", role: "status" }, waiting));
  try {
    const made = await load();
    refill(into, ...[made].flat());
  } catch (error) {
    refill(into, refused(error, () => loadInto(into, load, waiting)));
  }
}
