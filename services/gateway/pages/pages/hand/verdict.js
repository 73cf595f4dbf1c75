// The verdict on a hand: three sentences, and every check with its outcome.

import { el, panel, tag } from "../parts/dom.js";

/** Titles by verdict: words, and what they mean. @type {Record<string, [string, string]>} */
const TITLES = {
  HAND_VERDICT_PROVED: ["All of this hand checks out", "good"],
  HAND_VERDICT_BROKEN_OFF: ["This hand was broken off, and all of it checks out", "good"],
  HAND_VERDICT_NOT_FINISHED: ["This hand is not finished", "warn"],
  HAND_VERDICT_FAILED: ["This hand is not proved", "bad"],
  HAND_VERDICT_REFUSED: ["There were no keys to check this hand with", "bad"],
};

/** Marks of checks: sign, words, meaning. @type {Record<string, [string, string, string]>} */
const MARKS = {
  CHECK_VERDICT_PASSED: ["\u2713", "passed", "good"],
  CHECK_VERDICT_FAILED: ["\u2715", "failed", "bad"],
  CHECK_VERDICT_NOT_POSSIBLE: ["?", "could not be made", "warn"],
};

/**
 * Panel of the room's own audit.
 *
 * @param {any} audit AuditHandResponse
 */
export function verdictPanel(audit) {
  const [title, kind] = TITLES[audit.verdict] ?? ["Not judged", "warn"];
  const checks = audit.checks ?? [];
  const passed = checks.filter((/** @type {any} */ one) => one.verdict === "CHECK_VERDICT_PASSED").length;
  const all = passed === checks.length;
  return panel(
    title,
    el("div", { class: `notice ${kind} sentences` }, ...(audit.sentences ?? []).map((/** @type {string} */ text) => el("p", {}, text))),
    el("p", { class: "muted" }, "This is the room's own word. Take the bundle to the verifier, below, to trust nobody's."),
    audit.notes?.length ? el("ul", { class: "muted" }, ...audit.notes.map((/** @type {string} */ text) => el("li", {}, text))) : null,
    el(
      "details",
      { open: !all },
      el("summary", {}, `${passed} of ${checks.length} checks passed`),
      el("ol", { class: "checks" }, ...checks.map(checkItem)),
    ),
  );
}

/** @param {any} one HandCheck */
function checkItem(one) {
  const [sign, words, kind] = MARKS[one.verdict] ?? ["?", "not made", "warn"];
  return el(
    "li",
    {},
    el("span", { class: `sign ${kind}`, "aria-hidden": "true" }, sign),
    el(
      "div",
      {},
      el("p", {}, el("code", {}, one.check), " ", kind === "good" ? el("span", { class: "hidden-text" }, words) : tag(words, /** @type {any} */ (kind))),
      el("p", {}, one.sentence),
      one.why ? el("p", { class: "notice bad" }, one.why) : null,
    ),
  );
}
