// The records of one hand, sorted by stream, and those that a hand has one of; and how a check says that it fails.

import { equal } from "../bytes.js";
import { REVEALED } from "../fair.js";

export class Trouble extends Error {
  constructor(verdict, why) {
    super(why);
    this.verdict = verdict;
  }
}

// What is on record cannot be honest.
export const failed = (why) => new Trouble("failed", why);
// Something is missing that the check needs.
export const missing = (why) => new Trouble("not_possible", why);

export function hold(fact, why) {
  if (!fact) throw failed(typeof why === "function" ? why() : why);
}

// Microseconds that the clocks of two services may be apart before the order of their records counts.
export const CLOCK_SKEW = 250000n;
export const SECOND = 1000000n;

const WHAT = {
  HandOpened: ["hand", "the opening of the hand"],
  EntropyClosed: ["hand", "the closing of the seats' commitments"],
  HandSealed: ["hand", "the sealing of the hand"],
  HandSettled: ["hand", "the settlement"],
  HandAborted: ["hand", "that the hand was aborted"],
  SettlementPosted: ["hand", "the table's note of the posted settlement"],
  HandRevealed: ["hand", "the table's copy of the opened seed"],
  HandCommitted: ["table", "the table's note of the dealer's commitment"],
  HandFinished: ["table", "the end of the hand in the table's stream"],
  SeedCommitted: ["dealer", "the dealer's commitment"],
  SeedSealed: ["dealer", "the dealer's sealing"],
  SeedOpened: ["dealer", "the opened seed"],
};

export class Case {
  constructor(bundle) {
    this.handId = bundle.handId;
    this.bundle = bundle;
    const ours = (record) => equal(record.stream, bundle.handId);
    this.hand = bundle.table.records.filter(ours);
    this.table = bundle.table.records.filter((record) => !ours(record));
    this.dealer = bundle.dealer.records;
    this.wallet = bundle.wallet.records;
    // The dealer's key, once its text was read.
    this.dealerKey = null;
  }

  all(name) {
    const [list] = WHAT[name] ?? [];
    return this[list].filter((record) => record.name === name);
  }

  find(name) {
    return this.all(name)[0] ?? null;
  }

  // The first record of a kind; without it a check cannot be made.
  one(name) {
    const found = this.find(name);
    if (!found) throw missing(`${WHAT[name][1]} is not among the records`);
    return found;
  }

  get opened() {
    return this.find("HandOpened")?.event ?? null;
  }

  // The hand came to nothing.
  get aborted() {
    return this.find("HandAborted");
  }

  // The seats whose numbers the table bound into the transcript.
  get revealed() {
    const rows = this.find("HandSealed")?.event.rows ?? [];
    return rows.filter(({ status }) => status === REVEALED).map(({ seat }) => seat);
  }

  // Seats had a time to commit entropy. A hand without is not proved; it may have no roots of shuffles and no salts of cards.
  get hasEntropy() {
    return (this.opened?.entropy_deadline_micros ?? 0n) !== 0n;
  }
}

export function exactly(length, bytes, what) {
  hold(bytes.length === length, () => `${what} has ${bytes.length} bytes, not ${length}`);
  return bytes;
}

// A time in words, in UTC.
export function timeText(micros) {
  const millis = micros / 1000n;
  return millis > 8640000000000000n
    ? `${micros} \u00b5s`
    : new Date(Number(millis)).toISOString().replace("T", " ").replace("Z", "");
}
