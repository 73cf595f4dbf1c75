// The three sentences that stand first: what happened, whose word it is, the reader's part. A sentence claims what was
// checked and no more. The Rust verifier and the Python one say the same.

import { roomOf, witnessCount } from "./trust.js";

const YOURS = "Your part: only you can know whether your own number is in it.";
const [SEAT, DEALER] = [1, 2];
const LAST = 253402300799n;

export const refusedSentences = (why) => [
  `Nothing is proved: ${why}.`,
  "Whose word it is: nobody's, since nothing was checked.",
  "Your part: get the file and the room's keys from where you trust them, and check again.",
];

export const failedSentences = (why) => [
  `This hand is not proved: ${why}.`,
  "Whose word it is: that is no help, since no signature makes up for what is wrong.",
  "Your part: do not rely on this hand, and keep the file: only you can know whether your own number is in it.",
];

export function sentencesOf(records, verdict, checks, trust, seen) {
  if (verdict.kind === "failed") return failedSentences(wrong(verdict, checks));
  const number = records.one("HandOpened").event.hand_no;
  return [`Hand ${number} ${happened(records, verdict, trust, seen)}.`, word(records, checks, trust, seen), YOURS];
}

function wrong({ reason, due }, checks) {
  if (reason === "nobody") return "no seat's number is in it, so that the dealer alone made its chance";
  if (reason === "seed")
    return `the dealer's seed was due at ${timeWords(due)}, and more than an hour later it is not there`;
  const names = (verdict) => checks.filter((one) => one.verdict === verdict).map(({ check }) => check);
  const failed = names("failed");
  if (failed.length > 0) return `failed checks: ${failed.join(", ")}`;
  return `checks that could not be made: ${names("not_possible").join(", ")}`;
}

function happened(records, { kind, reason, due }, { wanted }, seen) {
  if (reason === "seed")
    return `is not finished: the dealer's seed is due at ${timeWords(due)}, and is not in this file`;
  if (reason === "witnesses")
    return `is not finished: cosignatures of trusted witnesses asked for ${wanted}, there ${seen.names.length}`;
  if (kind === "proved") return `was played to its end: ${won(records)}`;
  return `was broken off ${step(records)} by ${whom(records)}: every credit went back`;
}

function won(records) {
  const { roster } = records.one("HandOpened").event;
  const wins = new Map();
  for (const { text } of records.one("HandSettled").event.lines) {
    const found = /^p([0-9]{1,2}) wins [^ ]+ ([0-9]{1,20})$/.exec(text);
    if (!found) continue;
    const { seat } = roster[Number(found[1]) - 1];
    wins.set(seat, (wins.get(seat) ?? 0n) + BigInt(found[2]));
  }
  const told = [...wins].sort(([a], [b]) => a - b).map(([seat, credits]) => `seat ${seat} wins ${credits}`);
  return told.join(", ") || "nobody wins";
}

function step(records) {
  if (records.find("HandSettled")) return "after its settlement";
  if (records.find("HandSealed")) return "in play";
  return records.find("EntropyClosed") ? "before its antes" : "while its seats committed";
}

function whom({ aborted }) {
  const { at_fault: fault, seats } = aborted.event;
  if (fault === SEAT) return `${seatWords(seats)}, which withheld ${seats.length === 1 ? "its number" : "their numbers"}`;
  return fault === DEALER ? "the dealer" : "the operator";
}

function word(records, checks, trust, seen) {
  const [name] = records.bundle.table.key.split("+");
  const signed =
    seen.names.length === 0
      ? "nobody but the room has seen this log: it could show somebody else another"
      : `${seen.names.length} of ${witnessCount(trust)} trusted witnesses signed the checkpoints of table and dealer`;
  const bound = checks.some(({ check, verdict }) => check === "transcript" && verdict === "passed");
  const numbers = bound ? numberWords(records.revealed) : "which seats' numbers are in it was not shown";
  return `Whose word it is: that of ${roomOf(name, "table")}, by the keys you gave; ${signed}; ${numbers}.`;
}

function numberWords(seats) {
  if (seats.length === 0) return "no seat's number is in it";
  if (seats.length === 1) return `the number of ${seatWords(seats)} is in it: enough if that seat is honest`;
  return `the numbers of ${seatWords(seats)} are in it: enough if one of them is honest`;
}

// `seat 1`, `seats 1 and 3`, `seats 1, 3 and 5`.
export function seatWords(seats) {
  const last = seats.at(-1);
  return seats.length === 1 ? `seat ${last}` : `seats ${seats.slice(0, -1).join(", ")} and ${last}`;
}

// A time in UTC, to the second.
export function timeWords(micros) {
  const seconds = micros / 1000000n;
  if (seconds > LAST) return `${micros} microseconds after 1970`;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
