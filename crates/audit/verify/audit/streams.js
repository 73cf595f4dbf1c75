// Whether the streams are whole: numbers, chains, and which record may follow which.

import { equal } from "../bytes.js";
import { ZEROS32 } from "../merkle.js";
import { exactly, failed, hold, missing } from "./case.js";

const RECOVERY = 4;
// Who is at fault.
const OPERATOR = 3;

export function checkStreams(records) {
  if (records.hand.length === 0 || records.dealer.length === 0)
    throw missing("the table's or the dealer's stream of the hand is not here");
  whole("the table's log", records.handId, records.hand);
  whole("the dealer's log", records.handId, records.dealer);
  const table = exactly(16, records.one("HandOpened").event.table_id, "the hand's table");
  part("the table's log", table, records.table);
  part("the wallet's log", table, records.wallet);
  handInOrder(records);
  dealerInOrder(records);
  tableOfThisHand(records);
}

// A stream from its first record on.
function whole(log, stream, list) {
  part(log, stream, list);
  let previous = ZEROS32;
  list.forEach((record, at) => {
    hold(
      record.version === BigInt(at + 1),
      () => `${log}, position ${record.position}: version ${record.version} of the stream where ${at + 1} belongs`,
    );
    hold(
      equal(record.previous, previous),
      () => `${log}, position ${record.position}: the record does not name the one before it`,
    );
    previous = record.chain;
  });
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

// Of each record of the hand's stream those that may stand right before it.
const PLAY = ["ChanceUsed", "CardsMoved", "MoveDecided", "ClockResumed"];
const ENTROPY = ["EntropyClosed", "EntropyRevealed"];
const SETTLED = ["HandSettled", "HandRevealed"];
const AFTER = {
  HandOpened: [null],
  EntropyClosed: ["HandOpened"],
  EntropyRevealed: ENTROPY,
  CardsShown: ["HandSealed", ...PLAY, "CardsShown"],
  HandSettled: ["HandSealed", ...PLAY, "CardsShown"],
  SettlementPosted: ["HandSettled", "HandRevealed"],
  HandRevealed: ["HandSettled", "SettlementPosted", "HandAborted"],
  SeedRefused: ["HandSettled", "SettlementPosted", "HandAborted"],
  // Of a settled hand only because the seed that was opened is not its own, or because an operator says so.
  HandAborted: ["HandOpened", ...ENTROPY, "HandSealed", ...PLAY, "CardsShown", "SeedRefused", ...SETTLED],
};
for (const name of PLAY) AFTER[name] = ["HandSealed", ...PLAY];
const ONCE = ["SettlementPosted", "HandRevealed", "HandAborted"];

function handInOrder(records) {
  const seen = new Set();
  let before = null;
  for (const { position, name, event } of records.hand) {
    const sealsAfter = records.hasEntropy ? ENTROPY : ["HandOpened"];
    const may = name === "HandSealed" ? sealsAfter : AFTER[name];
    if (!may) throw failed(`the table's stream of the hand, position ${position}: ${name} does not belong there`);
    let comes = may.includes(before) && !(ONCE.includes(name) && seen.has(name));
    if (name === "EntropyClosed") comes &&= records.hasEntropy;
    if (name === "SettlementPosted") comes &&= !records.aborted;
    if (name === "SeedRefused") comes &&= !seen.has("HandRevealed");
    if (name === "HandAborted") {
      comes &&= !seen.has("SettlementPosted") && (!SETTLED.includes(before) || event.at_fault === OPERATOR);
    }
    hold(comes, () => `the table's stream of the hand, position ${position}: ${name} comes too early or too late`);
    seen.add(name);
    before = name;
  }
}

// The dealer promises, seals, works, and opens the seed; after that only who lost his memory may ask again.
function dealerInOrder(records) {
  const seen = new Set();
  for (const { position, name, event } of records.dealer) {
    const [promised, sealed, open] = ["SeedCommitted", "SeedSealed", "SeedOpened"].map((one) => seen.has(one));
    const comes = {
      SeedCommitted: () => !sealed && !open,
      SeedSealed: () => promised && !sealed && !open,
      OperationPerformed: () => sealed && !open,
      CardsOpened: () => sealed && (!open || event.opening?.reason === RECOVERY),
      SeedOpened: () => (sealed || (promised && event.discarded)) && !open,
    }[name];
    if (!comes) throw failed(`the dealer's stream of the hand, position ${position}: ${name} does not belong there`);
    hold(comes(), () => `the dealer's stream of the hand, position ${position}: ${name} comes too early or too late`);
    seen.add(name);
  }
}

// The records of the table's stream: of this hand, around the hand's own.
function tableOfThisHand(records) {
  const { hand_no: handNo } = records.one("HandOpened").event;
  const over = records.aborted ?? records.find("HandSettled");
  const counts = { HandStarted: 0, HandFinished: 0 };
  for (const { position, name, event, time } of records.table) {
    let fits =
      ["HandCommitted", "EntropyCommitted", "HandStarted", "HandFinished"].includes(name) && event.hand_no === handNo;
    if (fits && name in counts) {
      counts[name] += 1;
      fits = equal(event.hand_id, records.handId) && counts[name] === 1;
    }
    // Written together with the hand's end, on either side of it.
    if (name === "HandFinished") fits &&= over !== null && over.time <= time;
    hold(fits, () => `the table's log, position ${position}: ${name} is not this hand's, or out of order`);
  }
  if (counts.HandStarted !== 1) throw missing("the start of the hand in the table's stream is not among the records");
}
