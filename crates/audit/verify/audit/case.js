// The records of one hand, sorted by stream, and those that a hand has one of; and how a check says that it fails.

import { equal } from "../bytes.js";
import { REVEALED } from "../fair.js";
import { BadSettings, readSettings } from "../settings.js";

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
export const MILLISECOND = 1000n;
export const SECOND = 1000000n;
// Every record is older than the year 10000, so that no window is cut short by the end of time.
export const YEAR_10000 = 253402300800n * SECOND;
// No sum of times is later.
export const LAST = (1n << 64n) - 1n;
export const later = (time, ...spans) => spans.reduce((sum, span) => (sum + span > LAST ? LAST : sum + span), time);

const WHAT = {
  HandOpened: ["hand", "the opening of the hand"],
  EntropyClosed: ["hand", "the closing of the seats' commitments"],
  EntropyRevealed: ["hand", "what a seat revealed"],
  HandSealed: ["hand", "the sealing of the hand"],
  HandSettled: ["hand", "the settlement"],
  HandSuspended: ["hand", "the suspension of the hand"],
  HandContinued: ["hand", "the end of a suspension"],
  HandAborted: ["hand", "that the hand was aborted"],
  SettlementPosted: ["hand", "the table's note of the posted settlement"],
  HandRevealed: ["hand", "the table's copy of the opened seed"],
  SeedRefused: ["hand", "that the table refused the seed"],
  ChanceUsed: ["hand", "a use of chance"],
  HandCommitted: ["table", "the table's note of the dealer's commitment"],
  EntropyCommitted: ["table", "what a seat committed to"],
  HandStarted: ["table", "the start of the hand in the table's stream"],
  HandFinished: ["table", "the end of the hand in the table's stream"],
  SeedCommitted: ["dealer", "the dealer's commitment"],
  CommitmentsClosed: ["dealer", "the dealer's closing"],
  SeedSealed: ["dealer", "the dealer's sealing"],
  TransferPosted: ["wallet", "the wallet's transfer"],
  OperationPerformed: ["dealer", "an operation of the dealer"],
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
    // The key of the dealer's log, and those that the signed texts of dealer and table may have, once they were read.
    this.dealerKey = null;
    this.dealerKeys = [];
    this.tableKeys = [];
    // What a hand that came to nothing held, in words.
    this.held = "";
    this.byName = new Map();
  }

  // Every record of a kind whose payload is here, where that kind belongs; in the table's stream of this hand alone.
  all(name) {
    if (!this.byName.has(name)) {
      const [list] = WHAT[name];
      const found = this[list].filter((record) => record.name === name && !record.keptBack);
      const number = list === "table" ? this.opened?.hand_no : null;
      this.byName.set(name, list === "table" ? found.filter(({ event }) => event.hand_no === number) : found);
    }
    return this.byName.get(name);
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

  // How the hand came to nothing; null where it did not. What is settled is undone by nothing.
  get aborted() {
    return this.find("HandSettled") ? null : this.find("HandAborted");
  }

  // The seats whose numbers the table bound into the transcript.
  get revealed() {
    const rows = this.find("HandSealed")?.event.rows ?? [];
    return rows.filter(({ status }) => status === REVEALED).map(({ seat }) => seat);
  }

  // The table's settings, which the check needs.
  get settings() {
    try {
      return readSettings(this.one("HandOpened").event.settings);
    } catch (error) {
      if (!(error instanceof BadSettings)) throw error;
      throw missing(`the table's settings cannot be read: ${error.message}`);
    }
  }

  // Who plays, by seat.
  get roster() {
    return [...this.one("HandOpened").event.roster].sort((a, b) => a.seat - b.seat);
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
