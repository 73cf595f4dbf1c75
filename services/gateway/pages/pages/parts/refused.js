// Refusals as people meet them: what happened, what to do, and what the room itself said.

import { callNumberOf, wordsOf } from "../../api/refusals.js";
import { button, el } from "./dom.js";

/** Metadata that says nothing to a person. */
const FOR_PROGRAMS = ["request_id", "trace_id", "refusal"];

/**
 * Box that says why something was refused and what to do.
 *
 * @param {any} error a `Refusal`, or whatever was thrown
 * @param {() => void} [again]
 */
export function refused(error, again) {
  const words = wordsOf(error);
  const number = callNumberOf(error);
  const facts = Object.entries(error?.metadata ?? {}).filter(([key]) => !FOR_PROGRAMS.includes(key));
  const said = error?.message && error.message !== words ? [error.message, ...facts.map(([key, value]) => `${key}: ${value}`)] : [];
  return el(
    "div",
    { class: "notice bad", role: "alert" },
    el("p", {}, el("strong", {}, words)),
    said.length > 0 ? el("p", { class: "muted" }, `The room says: ${said.join("; ")}.`) : null,
    error?.reason || again
      ? el(
          "p",
          { class: "row" },
          again ? button("Try again", again, { class: "small" }) : null,
          error?.reason ? el("a", { href: `/reasons.html#ERROR_REASON_${error.reason}` }, "What this refusal means") : null,
        )
      : null,
    number ? el("p", { class: "hint muted" }, "Number of the call: ", el("code", { class: "hex" }, number)) : null,
  );
}
