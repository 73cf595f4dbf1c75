// Whether the streams are whole: numbers, chains, and which record may follow which.

import { equal } from "../bytes.js";
import { KEPT_BACK, LOGS, SECRET_AT_DEALER, SECRET_AT_TABLE } from "../bundle.js";
import { ZEROS32 } from "../merkle.js";
import { YEAR_10000, exactly, hold, missing } from "./case.js";
import { checkQuota } from "./quota.js";
import { checkTableStream } from "./table-stream.js";

const RECOVERY = 4;

export async function checkStreams(records) {
  if (records.hand.length === 0 || records.dealer.length === 0)
    throw missing("the table's or the dealer's stream of the hand is not here");
  whole("the table's log", records.handId, records.hand);
  whole("the dealer's log", records.handId, records.dealer);
  const table = exactly(16, records.one("HandOpened").event.table_id, "the hand's table");
  part("the table's log", table, records.table);
  part("the wallet's log", table, records.wallet);
  checkTimes(records);
  checkKeptBack(records);
  handInOrder(records);
  dealerInOrder(records);
  await checkTableStream(records);
  checkQuota(records);
}

// A stream from its first record on.
function whole(log, stream, list) {
  part(log, stream, list);
  list.forEach((record, at) => {
    hold(
      record.version === BigInt(at + 1),
      () => `${log}, position ${record.position}: version ${record.version} of the stream where ${at + 1} belongs`,
    );
  });
  hold(equal(list[0].previous, ZEROS32), () => `${log}: the first record of the stream names one before it`);
}

// Some records of a stream, in order; where two are neighbours the one names the other.
function part(log, stream, list) {
  list.forEach((record, at) => {
    const where = `${log}, position ${record.position}`;
    hold(equal(record.stream, stream), () => `${where}: the record belongs to another stream`);
    if (at === 0) return;
    const before = list[at - 1];
    const ascends = before.position < record.position && before.version < record.version && before.time <= record.time;
    hold(ascends, () => `${where}: the record is out of order`);
    hold(
      before.version + 1n !== record.version || equal(before.chain, record.previous),
      () => `${where}: the record does not name the one before it`,
    );
  });
}

// Every record is of a time before the year 10000.
function checkTimes({ bundle }) {
  for (const log of LOGS) {
    for (const { position, time } of bundle[log].records)
      hold(time < YEAR_10000, () => `the ${log}'s log, position ${position}: recorded in the year 10000 or later`);
  }
}

// Nothing is sealed, since no kind of these streams is. A payload is kept back where it concerns one player, in the table's
// stream, or where it has a secret whose seed is shut.
function checkKeptBack(records) {
  const open = records.find("SeedOpened") ?? records.find("HandRevealed");
  const { hand, table, dealer, wallet } = records;
  for (const [list, always, secret] of [
    [hand, [], SECRET_AT_TABLE],
    [table, KEPT_BACK, []],
    [dealer, [], SECRET_AT_DEALER],
    [wallet, [], []],
  ]) {
    const may = open ? always : [...always, ...secret];
    for (const { log, position, name, sealed, keptBack } of list) {
      const where = `the ${log}'s log, position ${position}: ${name}`;
      hold(!sealed, () => `${where} is sealed, as none is`);
      hold(!keptBack || may.includes(name), () => `${where} is kept back, and holds no secret`);
    }
  }
}

// What a hand is in before it is over.
const OPEN = ["opened", "closed", "play", "shown"];
const OVER = ["settled", "aborted"];
// Of each record of the hand's stream: what the hand is in when it comes, and from then on.
const STEPS = new Map([
  ["HandOpened", { in: ["start"], to: "opened" }],
  ["EntropyClosed", { in: ["opened"], to: "closed" }],
  ["EntropyRevealed", { in: ["closed", "aborted"], suspended: true }],
  ["HandSealed", { in: ["closed"], to: "play" }],
  ["ChanceUsed", { in: ["play"] }],
  ["CardsMoved", { in: ["play"] }],
  ["MoveDecided", { in: ["play"], suspended: true }],
  ["ClockResumed", { in: ["play"], suspended: true }],
  ["CardsShown", { in: ["play", "shown"], to: "shown" }],
  ["HandSettled", { in: ["play", "shown"], to: "settled" }],
  ["SettlementPosted", { in: ["settled"], once: ["SettlementPosted"] }],
  ["HandRevealed", { in: OVER, once: ["HandRevealed", "SeedRefused"] }],
  ["SeedRefused", { in: OVER, once: ["HandRevealed", "SeedRefused"] }],
  ["HandSuspended", { in: OPEN }],
  ["HandContinued", { in: OPEN, suspended: true }],
  ["HandAborted", { in: OPEN, to: "aborted", suspended: true }],
]);

function handInOrder(records) {
  const seen = new Set();
  let [state, suspended] = ["start", false];
  for (const { position, name } of records.hand) {
    const step = STEPS.get(name);
    const comes =
      step?.in.includes(state) &&
      (!suspended || step.suspended) &&
      (name !== "HandContinued" || suspended) &&
      !step.once?.some((other) => seen.has(other));
    hold(comes, () => `the table's stream of the hand, position ${position}: ${name} comes too early or too late`);
    state = step.to ?? state;
    seen.add(name);
    if (name === "HandSuspended") suspended = true;
    if (name === "HandContinued" || name === "HandAborted") suspended = false;
  }
}

// The dealer promises, closes, seals, works, and opens the seed; after that only who lost its memory may ask again. How
// often it promised or closed is judged elsewhere.
function dealerInOrder(records) {
  const seen = new Set();
  for (const { position, name, event } of records.dealer) {
    const [promised, closed, sealed, open] = ["SeedCommitted", "CommitmentsClosed", "SeedSealed", "SeedOpened"].map(
      (one) => seen.has(one),
    );
    const comes = {
      SeedCommitted: () => !closed && !sealed && !open,
      CommitmentsClosed: () => promised && !sealed && !open,
      SeedSealed: () => closed && !sealed && !open,
      OperationPerformed: () => sealed && !open,
      CardsOpened: () => sealed && (!open || event.opening?.reason === RECOVERY),
      SeedOpened: () => (sealed || (promised && event.discarded)) && !open,
    }[name];
    hold(comes?.(), () => `the dealer's stream of the hand, position ${position}: ${name} comes too early or too late`);
    seen.add(name);
  }
}
