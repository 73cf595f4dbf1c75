// The three sentences that stand first: what happened, whose word it is, the reader's part. A sentence claims what was
// checked and no more. The Rust verifier and the Python one say the same.

import { AGREED, WITHHELD } from "./audit/aborts.js";
import { Trouble } from "./audit/case.js";
import { signingSeats } from "./audit/signatures.js";
import { tableBefore } from "./audit/start.js";
import { equal } from "./bytes.js";
import { roomOf, witnessCount } from "./trust.js";

const YOURS = "Your part: only you can know whether your own number is in it.";
// What is owed: where it is overdue, and where it is not.
const OWED = {
  seed: ["the dealer's seed was due at", "the dealer's seed, which is not in this file, is due at"],
  suspended: [
    "the dealer is silent, and the end of the hand was due at",
    "the dealer is silent, and it is ended at the latest at",
  ],
  transfer: ["the wallet's transfer was due at", "the wallet's transfer, or the table's end of it, is owed since"],
  play: ["its last record is of", "it is in play, and its last record is of"],
};
const FIXED_SEED =
  "For developers alone: an option fixed the dealer's seeds, so whoever knows it knew every card beforehand. ";
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

export function sentencesOf(records, verdict, checks, trust, seen, kept) {
  const [first, ...others] = unmarked(records, verdict, checks, trust, seen, kept);
  return [markOf(records) + first, ...others];
}

// Sentences, each with a space behind it, for a hand of a room for developers; else nothing.
function markOf(records) {
  const { insecure_fixed_seed, time_scale } = settingsOf(records);
  const fast = `Clocks of this table run ${time_scale} times as fast as its settings say. `;
  return (insecure_fixed_seed ? FIXED_SEED : "") + (time_scale > 1 ? fast : "");
}

function settingsOf(records) {
  try {
    return records.settings;
  } catch (error) {
    if (error instanceof Trouble) return {};
    throw error;
  }
}

function unmarked(records, verdict, checks, trust, seen, kept) {
  if (verdict.reason === "evidence")
    return failedSentences(`your evidence contradicts it: ${kept.against.join("; ")}`);
  if (verdict.kind === "failed") return failedSentences(wrong(verdict, checks));
  const number = records.one("HandOpened").event.hand_no;
  return [`Hand ${number} ${happened(records, verdict, trust, seen)}.`, word(records, checks, trust, seen), yours(records, checks, kept)];
}

// Where the reader's own numbers are.
function yours(records, checks, kept) {
  if (!kept) return YOURS;
  if (kept.numbers.length === 0)
    return "Your part: your evidence has no number for this hand: nothing of yours is in it.";
  const told = kept.numbers.map((one) => whereNumberIs(records, checks, one));
  const sent =
    kept.sent === null
      ? "your evidence has no closing that you were sent for it"
      : `the closing that you were sent is ${kept.sent ? "the one on record" : "another"}`;
  return `Your part: ${[...told, sent].join("; ")}.`;
}

// Where one number is: in the closing, in the transcript, in every card.
function whereNumberIs(records, checks, { seat, commitment, entropy }) {
  const mine = `your number of seat ${seat}`;
  const rows = records.find("EntropyClosed")?.event.closing?.rows ?? [];
  if (!rows.some((row) => row.seat === seat && equal(row.commitment, commitment)))
    return `${mine} is not in the closing, and so in no card`;
  const bound = records.find("HandSealed")?.event.rows ?? [];
  if (!bound.some((row) => row.seat === seat && equal(row.entropy, entropy)))
    return `${mine} is in the closing, and in no transcript`;
  if (["closing", "transcript", "seed", "operations", "cards"].every((name) => passed(checks, name)))
    return `${mine} is in the closing, in the transcript and in every card`;
  return `${mine} is in the closing and in the transcript, and the cards were not shown yet`;
}

function wrong({ reason, due }, checks) {
  if (reason === "nobody") return "no seat's number is in it, so that the dealer alone made its chance";
  if (reason === "die")
    return "the dealer was silent until the time of the hand was over, and it alone knew what it cancelled";
  if (reason in OWED) return `${OWED[reason][0]} ${timeWords(due)}, and more than an hour later it is not there`;
  const names = (verdict) => checks.filter((one) => one.verdict === verdict).map(({ check }) => check);
  const failed = names("failed");
  if (failed.length > 0) return `failed checks: ${failed.join(", ")}`;
  return `checks that could not be made: ${names("not_possible").join(", ")}`;
}

function happened(records, { kind, reason, due }, { wanted }, seen) {
  if (reason in OWED) return `is not finished: ${OWED[reason][1]} ${timeWords(due)}`;
  if (reason === "witnesses")
    return `is not finished: cosignatures of trusted witnesses asked for ${wanted}, there ${seen.times.size}`;
  if (kind === "proved") return `was played to its end: ${won(records)}${burnt(records)}`;
  const when = timeWords(records.aborted.time);
  const held = records.held ? `. ${records.held}` : "";
  return `was broken off ${step(records)} by ${whom(records)}, at ${when}: every credit went back${burnt(records)}${held}`;
}

// Numbers that came to nothing since the last hand that was played, and who was excluded for them.
function burnt(records) {
  let numbers;
  try {
    numbers = tableBefore(records).burnt;
  } catch {
    return "";
  }
  if (numbers.length === 0) return "";
  const told = numbers.map((number) => excludedFor(records, number)).join(", ");
  return `; before it number${numbers.length > 1 ? "s" : ""} ${told} came to nothing`;
}

// A burnt number, and the seats that the table excluded for it.
function excludedFor({ table }, number) {
  const excluded = table.filter(
    ({ name, event, keptBack }) => name === "SeatExcluded" && !keptBack && event.burnt_hand_no === number,
  );
  const seats = [...new Set(excluded.map(({ event }) => event.seat))].sort((a, b) => a - b);
  if (seats.length === 0) return `${number} (why is not in this file)`;
  return `${number} (the table excluded ${seatWords(seats)} for it)`;
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
  if (records.find("HandSealed")) return "in play";
  return records.find("EntropyClosed") ? "before its antes" : "while its seats committed";
}

function whom({ aborted }) {
  const { cause, seats } = aborted.event;
  if (cause === WITHHELD)
    return `${seatWords(seats)}, which withheld ${seats.length === 1 ? "its number" : "their numbers"}`;
  return `the dealer, which was silent${cause === AGREED ? ", and all players who were left agreed" : ""}`;
}

function word(records, checks, trust, seen) {
  const [name] = records.bundle.table.key.split("+");
  const signed =
    seen.times.size === 0
      ? "nobody but the room has seen this log: it could show somebody else another"
      : `${seen.times.size} of ${witnessCount(trust)} trusted witnesses signed the checkpoints of table and dealer: ${[
          ...seen.times,
        ]
          .map(([witness, time]) => `${witness} at ${timeWords(time)}`)
          .join(", ")}`;
  const numbers = passed(checks, "transcript") ? numberWords(records.revealed) : "which seats' numbers are in it was not shown";
  return `Whose word it is: that of ${roomOf(name, "table")}, by the keys you gave; ${signed}; ${numbers}; ${houseWords(records)}; ${decisions(records, checks)}.`;
}

const passed = (checks, name) => checks.some(({ check, verdict }) => check === name && verdict === "passed");

// Seats that the house has marked as its own.
function houseWords(records) {
  const roster = records.find("HandOpened")?.event.roster ?? [];
  const seats = roster.filter(({ house }) => house).map(({ seat }) => seat);
  const marked = seats.length === 0 ? "no seat" : seatWords(seats.sort((a, b) => a - b));
  return `the house marks ${marked} as its own: a house that cheats marks none`;
}

// Which decisions are their players' own.
function decisions(records, checks) {
  if (!passed(checks, "signatures")) return "who signed decisions was not shown";
  const seats = signingSeats(records);
  if (!records.hand.some(({ name }) => name === "MoveDecided")) return "nothing was decided in it";
  if (seats.length === 0) return "decisions are the table's word";
  return `those decisions of ${seatWords(seats)} which its player made are signed, others are the clock's or the table's word`;
}

function numberWords(seats) {
  if (seats.length === 0) return "no seat's number is in it";
  if (seats.length === 1) return `the number of ${seatWords(seats)} is in it: enough if that seat is honest`;
  return `the numbers of ${seatWords(seats)} are in it: enough if one of them is honest`;
}

// `seat 1`, `seats 1 and 3`, `seats 1, 3 and 5`.
export function seatWords(seats) {
  return `seat${seats.length > 1 ? "s" : ""} ${listWords(seats)}`;
}

// `1`, `1 and 3`, `1, 3 and 5`.
function listWords(numbers) {
  return numbers.length === 1 ? `${numbers[0]}` : `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

// A time in UTC, to the second.
export function timeWords(micros) {
  const seconds = micros / 1000000n;
  if (seconds > LAST) return `${micros} microseconds after 1970`;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
