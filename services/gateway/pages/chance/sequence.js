// The order of a table's hand numbers: none is skipped or comes again, each ends before the next opens, and the seeds of those
// that have ended are opened in time.

import { Fault } from "./fault.js";

// After this time a seed that is due and shut counts as withheld, as verifiers judge it.
const SEED_GRACE_MS = 3_600_000;

const NUMBER = /^(0|[1-9][0-9]{0,19})$/;

/** A number as messages have it. What is kept of a number is kept by its name, so each has one. @param {string | undefined} handNo */
export function numberOf(handNo = "0") {
  if (typeof handNo !== "string" || !NUMBER.test(handNo)) throw new Fault("table", String(handNo), "its number is none");
  return BigInt(handNo);
}

export class Sequence {
  /** The last number that has opened; null before the first snapshot. @type {bigint | null} */
  #last = null;
  /** The number that has opened and not ended. @type {bigint | null} */
  #running = null;
  /** The latest time that the table has told. */
  #toldMs = 0;
  /** Numbers that have ended and whose seed is shut, with the times by which it is due. @type {Map<bigint, {told: number, own: number}>} */
  #shut = new Map();

  /** @param {() => number} [own] milliseconds by a clock of this device that nobody sets */
  constructor(own = () => performance.now()) {
    this.own = own;
  }

  /**
   * Goes on from a snapshot. Numbers that have passed meanwhile cannot be judged, nor seeds that may have been opened.
   * @param {bigint} last @param {bigint | null} open the number that is made of the players' numbers @param {bigint | null} inPlay
   */
  snapshot(last, open, inPlay) {
    if (open !== null && inPlay !== null && open !== inPlay) throw this.#notEnded(open, inPlay);
    const running = open ?? inPlay;
    if (running !== null && this.hasEnded(running)) throw this.#repeated(running);
    this.#shut.clear();
    this.#last = this.#last === null || last > this.#last ? last : this.#last;
    this.#running = running;
  }

  /** Judges the number of a promise: the one after the last that has opened. @param {bigint} handNo */
  promised(handNo) {
    if (this.#last === null) return;
    if (handNo <= this.#last) throw this.#repeated(handNo);
    if (handNo !== this.#last + 1n) throw new Fault("table", String(handNo), `it comes in place of hand ${this.#last + 1n}`);
  }

  /** Opens a number, or goes on with it. @param {bigint} handNo */
  opened(handNo) {
    if (this.#running === handNo) return;
    if (this.#running !== null && this.#running < handNo) throw this.#notEnded(handNo, this.#running);
    this.promised(handNo);
    [this.#last, this.#running] = [handNo, handNo];
  }

  /** Whether the number is open, and all before it have ended. @param {bigint} handNo */
  isRunning(handNo) {
    return this.#running === handNo;
  }

  /** Whether the number has passed, as far as the table was followed. @param {bigint} handNo */
  hasEnded(handNo) {
    return this.#last !== null && handNo <= this.#last && !this.isRunning(handNo);
  }

  /** Whether the seed of a number may be opened: it has passed, or nothing is known yet. @param {bigint} handNo */
  mayOpen(handNo) {
    return (this.#last === null || handNo <= this.#last) && !this.isRunning(handNo);
  }

  /** Judges the end of a number: only the one that is open ends. @param {bigint} handNo */
  mayEnd(handNo) {
    if (this.#last === null || this.isRunning(handNo)) return;
    if (this.hasEnded(handNo)) throw this.#repeated(handNo);
    throw new Fault("table", String(handNo), "it has ended, and was never opened");
  }

  /** Ends a number. @param {bigint} handNo */
  ended(handNo) {
    if (this.#running !== null && this.#running <= handNo) this.#running = null;
    if (this.#last === null || handNo > this.#last) this.#last = handNo;
  }

  /** Expects the seed of a number that has ended within so many milliseconds. @param {bigint} handNo @param {number} delayMs */
  expectSeed(handNo, delayMs) {
    this.#shut.set(handNo, { told: this.#toldMs + delayMs, own: this.own() + delayMs });
  }

  /** Expects the seed of a number no more. @param {bigint} handNo */
  seedOpened(handNo) {
    this.#shut.delete(handNo);
  }

  /** Notes a time that the table has told. @param {number} toldMs */
  tellTime(toldMs) {
    if (Number.isFinite(toldMs)) this.#toldMs = Math.max(this.#toldMs, toldMs);
    this.#judgeSeeds((due) => this.#toldMs > due.told + SEED_GRACE_MS);
  }

  /** Judges by this device's own time, which a table cannot keep from passing. For a stream that is live: nothing is on its way. */
  checkOwnTime() {
    this.#judgeSeeds((due) => this.own() > due.own + SEED_GRACE_MS);
  }

  get toldMs() {
    return this.#toldMs;
  }

  /** @param {(due: {told: number, own: number}) => boolean} isOverdue */
  #judgeSeeds(isOverdue) {
    for (const [handNo, due] of this.#shut) {
      if (!isOverdue(due)) continue;
      this.#shut.delete(handNo);
      throw new Fault("dealer", String(handNo), "its seed is still shut, an hour after it was due");
    }
  }

  /** @param {bigint} handNo @param {bigint} before */
  #notEnded(handNo, before) {
    return new Fault("table", String(handNo), `it was opened before hand ${before} had ended`);
  }

  /** @param {bigint} handNo */
  #repeated(handNo) {
    return new Fault("table", String(handNo), "the number has passed, and comes again");
  }
}
