// Form that opens a table: an operator's act. The fields of the rules follow the game that is chosen.

import { call } from "../../api/session.js";
import { el, panel, refill } from "../parts/dom.js";
import { callForm, control, loadInto } from "../parts/forms.js";
import { requestId } from "../parts/words.js";

/** Settings of a table beside its rules: key, label, hint. @type {Array<[string, string, string]>} */
const SETTINGS = [
  ["minBuyInCredits", "Least buy-in", "Credits; empty: twenty times what a hand needs."],
  ["maxBuyInCredits", "Most buy-in", "Credits; empty: ten times the least."],
  ["seats", "Seats", "Empty: as many as the game takes."],
  ["actionSeconds", "Seconds for a decision", "1 to 600; empty: 20."],
  ["bankSeconds", "Time bank in seconds", "Up to 600; empty: 30."],
  ["pauseMs", "Pause between hands in ms", "Up to 60,000; empty: none."],
  ["idleSeconds", "Seconds until an idle seat is paid out", "30 to 86,400; empty: 600."],
  ["commitMs", "Milliseconds to commit to entropy", "500 to 10,000; empty: 2000."],
  ["revealMs", "Milliseconds to reveal it", "500 to 10,000; empty: 2000."],
  ["contributorsMin", "Seats that must have committed", "Up to 8; empty: 1."],
  ["suspendHours", "Hours a hand may be suspended", "1 to 168; empty: 2."],
];

/**
 * Panel with the form.
 *
 * @param {() => any[]} variants games of the room, once they are known
 */
export function openTableForm(variants) {
  const rules = el("div", { class: "fields" });
  /** @type {any[]} */
  let known = [];
  const draw = async (/** @type {string} */ variant) => {
    await loadInto(rules, async () => {
      const { fields = [] } = await call("sabacc.table.v1.RulesService/GetVariant", { variant });
      known = fields;
      return fields.map(ruleField);
    });
  };
  const games = variants().map((one) => /** @type {[string, string]} */ ([one.variant, one.title]));
  const form = callForm({
    label: "Open the table",
    fields: [
      { name: "name", label: "Name", required: true, attributes: { maxlength: 60 } },
      { name: "variant", label: "Game", type: "select", options: games, attributes: { onchange: (/** @type {any} */ event) => draw(event.target.value) } },
    ],
    extra: [
      el("details", {}, el("summary", {}, "Rules of the game"), rules),
      el(
        "details",
        {},
        el("summary", {}, "Clocks, seats and buy-ins"),
        el("div", { class: "fields" }, ...SETTINGS.map(([name, label, hint]) => control({ name, label, hint, type: "number" })), control({ name: "revealDelayed", label: "Open seeds 24 hours later", type: "flag" })),
      ),
    ],
    call: async (values) => {
      /** @type {Record<string, any>} */
      const config = { name: values.name, variant: values.variant, ruleSet: ruleSetOf(known, values) };
      for (const [key] of SETTINGS) if (values[key]) config[key] = values[key];
      if (values.revealDelayed) config.revealDelayed = true;
      const { tableId } = await call("sabacc.table.v1.TableService/CreateTable", { requestId: requestId(), config });
      return el("p", { class: "notice good" }, "The table is open: ", el("a", { href: `#/table/${tableId}` }, values.name), ".");
    },
  });
  const made = panel("Open a table", el("p", { class: "muted" }, "What is left empty stays at the game's usual value."), form);
  if (games.length > 0) draw(games[0][0]);
  else {
    const wait = setInterval(() => {
      if (!made.isConnected && wait) return clearInterval(wait);
      if (variants().length === 0) return;
      clearInterval(wait);
      refill(made, ...openTableForm(variants).childNodes);
    }, 300);
  }
  return made;
}

/** @param {any} field RuleSetFieldDescription */
function ruleField(field) {
  const { name, ...value } = field.defaultField;
  const type = String(field.valueType).replace("RULE_SET_FIELD_TYPE_", "");
  const shared = { name: `rule.${name}`, label: name.replaceAll("_", " "), hint: field.text };
  if (type === "FLAG") {
    return control({ ...shared, type: "select", value: "", options: [["", `usual (${value.flag ? "yes" : "no"})`], ["true", "yes"], ["false", "no"]] });
  }
  if (type === "TEXT") {
    return control({ ...shared, type: "select", value: "", options: [["", `usual (${value.text ?? ""})`], ...(field.choices ?? []).map((/** @type {string} */ one) => [one, one])] });
  }
  if (type === "LIST") {
    const usual = (value.list?.words ?? []).join(", ") || "none";
    return control({ ...shared, hint: `${field.text} Words of: ${(field.choices ?? []).join(", ")}.`, attributes: { placeholder: usual } });
  }
  return control({ ...shared, type: "number", hint: `${field.text} (${field.min ?? 0} to ${field.max ?? 0})`, attributes: { placeholder: value.number ?? "0" } });
}

/**
 * @param {any[]} fields
 * @param {Record<string, any>} values
 */
function ruleSetOf(fields, values) {
  return fields
    .filter((field) => values[`rule.${field.defaultField.name}`] !== undefined)
    .map((field) => {
      const { name } = field.defaultField;
      const text = values[`rule.${name}`];
      const type = String(field.valueType).replace("RULE_SET_FIELD_TYPE_", "");
      if (type === "FLAG") return { name, flag: text === "true" };
      if (type === "TEXT") return { name, text };
      if (type === "LIST") return { name, list: { words: text.split(/[\s,]+/).filter(Boolean) } };
      return { name, number: text };
    });
}
