// Hands that come to nothing: a number is burnt by who withholds theirs, any other ends by the dealer's silence alone.

import { Fault } from "./fault.js";

/** @typedef {import("../types.js").Suspension} Suspension */

// The update that tells of a suspension comes a moment after its record.
const TOLERANCE_MS = 10_000;

/** A hand that stands still because the dealer is silent, as the table has told it. */
export class Suspensions {
  /** @type {{handNo: string, sinceMs: number, untilMs: number} | null} */
  #now = null;

  /** @param {number} limitMs how long a hand is suspended for before it may end without an agreement */
  constructor(limitMs) {
    this.limitMs = limitMs;
  }

  /**
   * Notes that a hand stands still, or goes on.
   * @param {string} handNo @param {Suspension | undefined} told
   * @param {number | null} recordedMs the table's time of the record; null: a snapshot has told it
   */
  tell(handNo, told, recordedMs) {
    const before = this.#now;
    this.#now = null;
    if (!told) return;
    const sinceMs = Date.parse(told.startTime ?? "");
    if (Number.isNaN(sinceMs)) throw new Fault("table", handNo, "it stands still, and the table does not say since when");
    const goesOn = before !== null && before.handNo === handNo && sinceMs <= before.sinceMs;
    const from = recordedMs === null ? sinceMs : recordedMs - TOLERANCE_MS;
    const leastMs = goesOn ? before.untilMs : from + this.limitMs;
    const toldMs = Date.parse(told.endTime ?? "");
    this.#now = { handNo, sinceMs, untilMs: Math.max(leastMs, Number.isNaN(toldMs) ? 0 : toldMs) };
  }

  /** Until when a hand stands still at the least; null: it does not. @param {string} handNo */
  untilMs(handNo) {
    return this.#now?.handNo === handNo ? this.#now.untilMs : null;
  }
}

/**
 * Checks why a hand came to nothing that was followed.
 * @param {import("../types.js").HandVoided} voided
 * @param {{isDealt: boolean, untilMs: number | null, nowMs: number, hasAgreed: boolean}} known `hasAgreed`: or had no need to
 */
export function checkAbort({ handNo, cause }, { isDealt, untilMs, nowMs, hasAgreed }) {
  if (cause === "ABORT_CAUSE_WITHHELD") {
    if (isDealt) throw new Fault("table", handNo, "it was burnt after it had been dealt");
    return;
  }
  if (cause !== "ABORT_CAUSE_AGREED" && cause !== "ABORT_CAUSE_SUSPENDED")
    throw new Fault("table", handNo, "it came to nothing, and the table does not say why");
  if (untilMs === null) throw new Fault("table", handNo, "it was ended for a silence of the dealer's that was not told");
  if (cause === "ABORT_CAUSE_AGREED" && isDealt && !hasAgreed)
    throw new Fault("table", handNo, "it was ended by agreement, and you have not agreed");
  if (cause === "ABORT_CAUSE_SUSPENDED" && isDealt && nowMs < untilMs)
    throw new Fault("table", handNo, "it was ended before its suspension was over");
}
