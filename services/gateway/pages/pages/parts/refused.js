// Refusals as people meet them: what happened, and what to do.

import { button, el } from "./dom.js";

/** What to do, by reason. `api/refusals.js` has the words for reasons at a table; these are for the acts of these pages. */
/** @type {Record<string, string>} */
const ADVICE = {
  BAD_FIELD: "Correct the field that is named, and send it again.",
  TOKEN_MISSING: "Sign in first: join as a guest in the lobby, or give an operator's or auditor's token on the page Room.",
  TOKEN_MALFORMED: "Give a whole token, as it stands in the file.",
  TOKEN_EXPIRED: "Sign in again.",
  TOKEN_FORGED: "Give a token of this very room.",
  TOKEN_REVOKED: "This sign-in has ended for good. Join again, or load the login that you saved.",
  ROLE_NOT_ALLOWED: "You are signed in with another role. Sign in with a token of the role that may do this.",
  TABLE_UNKNOWN: "Go back to the lobby and choose a table that is open.",
  ACCOUNT_UNKNOWN: "Compare the player's id; a player who has never sat down may have no account yet.",
  HAND_UNKNOWN: "Choose a hand from a list: numbers begin with 1 at each table.",
  HAND_IN_PLAY: "The hand is still in play. Come back when it has ended.",
  SEED_NOT_OPEN: "This table opens seeds 24 hours after a hand. Come back then; the bundle can be had now.",
  NOT_YOUR_HAND: "Only somebody who was dealt into this hand can dispute it.",
  DISPUTES_OPEN: "Wait until your open dispute is answered; one at a time is taken.",
  DISPUTE_ANSWERED: "It is answered already, which happens once. Read the list again.",
  DISPUTE_UNKNOWN: "Choose a dispute from the list.",
  TABLE_DISABLED: "Choose another table, or wait until an operator enables this one.",
  GAME_DISABLED: "Choose another game, or enable the game first.",
  RULE_SET_INVALID: "Correct the field of the rules that is named.",
  TRANSFER_REFUSED: "The ledger refused it for the reason above; nothing has moved.",
  PLAYER_SEATED: "The player has to leave their tables first.",
  PLAYER_ERASED: "Nothing is recorded of an erased player any more.",
  INSUFFICIENT_CREDITS: "Take a smaller amount.",
  NOTHING_STOPPED: "Nothing waits at this table. Read the list again.",
  RECORDS_SPENT: "The room takes no more of this today. Try again tomorrow.",
  NOT_IN_LOG: "Choose a position below the log's size.",
  NOT_SIGNED: "The log signs about once a second. Try again in a moment.",
  NO_SUCH_METHOD: "This room does not offer that.",
  MESSAGE_TOO_LONG: "Send less at once; evidence may have 256 KiB.",
  OVERLOADED: "Wait a moment, then try again.",
  UNAVAILABLE: "The room cannot be reached just now. Try again in a moment.",
  DEADLINE: "It took too long. Try again.",
  CORRUPT: "Tell the operator, with the trace below.",
};

/**
 * Box that says why something was refused and what to do.
 *
 * @param {any} error a `Refusal`, or whatever was thrown
 * @param {() => void} [again]
 */
export function refused(error, again) {
  const reason = error?.reason ?? "";
  const advice = ADVICE[reason] ?? (error?.code ? "" : "The room cannot be reached, or the page has made a mistake. Try again.");
  const facts = Object.entries(error?.metadata ?? {}).filter(([key]) => key !== "request_id");
  return el(
    "div",
    { class: "notice bad", role: "alert" },
    el("p", {}, el("strong", {}, capital(error?.message || "That did not work."))),
    ...(error?.violations ?? []).map((/** @type {any} */ one) =>
      el("p", {}, one.field ? el("code", {}, one.field) : null, one.field ? ": " : null, one.description ?? ""),
    ),
    advice ? el("p", {}, advice) : null,
    facts.length > 0 ? el("p", { class: "muted" }, facts.map(([key, value]) => `${key}: ${value}`).join(", ")) : null,
    reason
      ? el(
          "p",
          { class: "row" },
          el("a", { href: `/reasons.html#ERROR_REASON_${reason}` }, "What this refusal means"),
          again ? button("Try again", again, { class: "small" }) : null,
        )
      : again
        ? button("Try again", again, { class: "small" })
        : null,
  );
}

/** @param {string} text */
function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
