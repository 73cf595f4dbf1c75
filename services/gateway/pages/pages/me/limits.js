// Limits that a player sets themselves, and self-exclusion.

import { call } from "../../api/session.js";
import { dataTable, el, fill, panel, tag } from "../parts/dom.js";
import { callForm, loadInto } from "../parts/forms.js";
import { credits, dayTime, enumWord, requestId, span } from "../parts/words.js";

const WALLET = "sabacc.wallet.v1.WalletService";
/** Windows of a limit: key and words. @type {Array<["day" | "week" | "month", string]>} */
const WINDOWS = [
  ["day", "24 hours"],
  ["week", "7 days"],
  ["month", "30 days"],
];
/** Measures: key of the request, words, whether in hours. @type {Array<[string, string, boolean]>} */
const MEASURES = [
  ["limits", "Brought to tables, in credits", false],
  ["loss", "Lost, in credits", false],
  ["time", "Time at tables, in hours", true],
];

/** @param {AbortSignal} signal */
export function limitsPanel(signal) {
  const into = el("div", { class: "stack" });
  const load = () => loadInto(into, () => draw(signal, load));
  load();
  return panel("Limits and pauses", into);
}

/**
 * @param {AbortSignal} signal
 * @param {() => void} again
 */
async function draw(signal, again) {
  const told = await call(`${WALLET}/GetLimits`, {}, { signal });
  const account = await call(`${WALLET}/GetAccount`, {}, { signal });
  return [standing(told.standing, account.exclusionEndTime), usedTable(told), setForm(told, again), excludeForm(again)];
}

/**
 * @param {any} told PlayStanding
 * @param {string | undefined} excluded
 */
function standing(told, excluded) {
  if (excluded) {
    const forGood = excluded.startsWith("9999");
    return el("p", { class: "notice warn" }, forGood ? "You keep out of play for good." : `You keep out of play until ${dayTime(excluded)}. Then you may sit down again.`);
  }
  const kind = enumWord(told?.kind, "STANDING_KIND_");
  if (kind && kind !== "may play") {
    return el("p", { class: "notice warn" }, `You are dealt into no hand: ${kind}${told.endTime ? `, until ${dayTime(told.endTime)}` : ""}.`);
  }
  const nearly = told?.nearly ?? [];
  if (nearly.length === 0) return el("p", { class: "muted" }, "Nothing keeps you from play.");
  return el("p", { class: "notice warn" }, `Nearly reached: ${nearly.map((/** @type {any} */ mark) => `${enumWord(mark.measure, "LIMIT_MEASURE_")} a ${enumWord(mark.window, "LIMIT_WINDOW_")}`).join(", ")}.`);
}

/** @param {any} told GetLimitsResponse */
function usedTable(told) {
  const own = told.ownLimits ?? {};
  const operator = told.operatorLimits ?? {};
  const rows = MEASURES.flatMap(([key, words, hours]) =>
    WINDOWS.map(([window, span]) => {
      const used = { limits: told.used, loss: told.lost, time: told.seconds }[key]?.[window];
      const left = { limits: told.left, loss: told.leftToLose, time: told.leftSeconds }[key]?.[window];
      const of = (/** @type {any} */ terms) => (key === "limits" ? terms.now : terms[key]?.now)?.[window];
      const later = key === "limits" ? own : own[key];
      return { words, window: span, hours, used, left, own: of(own), operator: of(operator), later: later?.later?.[window], laterTime: later?.laterTime };
    }),
  );
  const amount = (/** @type {any} */ row, /** @type {any} */ value) => (value === undefined ? "none" : row.hours ? span(Number(value)) : credits(value));
  return dataTable(
    "Limits and what is used of them",
    [
      { head: "What", cell: (row) => row.words.replace(/, in .*/, "") },
      { head: "Within", cell: (row) => row.window },
      { head: "Used", number: true, cell: (row) => amount(row, row.used ?? 0) },
      { head: "Yours", number: true, cell: (row) => amount(row, row.own) },
      { head: "The room's", number: true, cell: (row) => amount(row, row.operator) },
      { head: "Left", number: true, cell: (row) => (row.left === undefined ? "\u221e" : amount(row, row.left)) },
      { head: "Later", cell: (row) => (row.laterTime ? tag(`${amount(row, row.later)} from ${dayTime(row.laterTime)}`, "warn") : "") },
    ],
    rows,
  );
}

/**
 * @param {any} told
 * @param {() => void} again
 */
function setForm(told, again) {
  const own = told.ownLimits ?? {};
  const fields = MEASURES.flatMap(([key, words, hours]) =>
    WINDOWS.map(([window, span]) => {
      const now = (key === "limits" ? own.now : own[key]?.now)?.[window];
      const value = now === undefined ? "" : hours ? String(Number(now) / 3600) : now;
      return { name: `${key}.${window}`, label: `${words}, within ${span}`, value, attributes: { inputmode: "decimal", placeholder: "no limit" } };
    }),
  );
  return el(
    "details",
    {},
    el("summary", {}, "Change your limits"),
    el("p", { class: "muted" }, "A tighter limit holds at once, a looser one after 24 hours. An empty field is no limit."),
    callForm({
      label: "Set the limits",
      keep: true,
      fields,
      call: async (values) => {
        /** @type {Record<string, any>} */
        const request = { requestId: requestId() };
        for (const [key, , hours] of MEASURES) {
          /** @type {Record<string, string>} */
          const limits = {};
          for (const [window] of WINDOWS) {
            const value = values[`${key}.${window}`];
            if (value === undefined) continue;
            const number = Number(value);
            if (!(number >= 0)) throw new Error("A limit is a number. Correct it, or leave it empty for none.");
            limits[window] = String(Math.round(hours ? number * 3600 : number));
          }
          request[key] = limits;
        }
        await call(`${WALLET}/SetLimits`, request);
        again();
        return "Your limits are set.";
      },
    }),
  );
}

/** @param {() => void} again */
function excludeForm(again) {
  const hours = /** @type {Array<[string, string]>} */ ([
    ["1", "one hour"],
    ["24", "one day"],
    ["168", "one week"],
    ["720", "30 days"],
    ["4380", "half a year"],
    ["", "for good"],
  ]);
  const made = el("details", {}, el("summary", {}, "Keep yourself from play"));
  fill(
    made,
    el("p", { class: "muted" }, "At once, at every table of the room. It can be made longer and never shorter. A hand in play is played to its end, then your seat is paid out."),
    callForm({
      label: "Keep me from play",
      danger: true,
      confirm: "I know that nobody can shorten this.",
      fields: [{ name: "hours", label: "For how long", type: "select", value: "24", options: hours }],
      call: async (values) => {
        const endTime = values.hours ? new Date(Date.now() + Number(values.hours) * 3.6e6).toISOString() : undefined;
        const answer = await call(`${WALLET}/Exclude`, { requestId: requestId(), endTime });
        again();
        return answer.endTime ? `You keep out of play until ${dayTime(answer.endTime)}.` : "You keep out of play for good.";
      },
    }),
  );
  return made;
}
