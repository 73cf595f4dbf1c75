// The records of the table's stream that a bundle has: all of them since the last hand that was played to its end, so that
// nothing was left out that the hand began with.

import { equal } from "../bytes.js";
import { handIdOf } from "../fair.js";
import { ZEROS32 } from "../merkle.js";
import { hold, missing } from "./case.js";

const KINDS = new Set(
  `TableCreated SeatTaken SeatFunded SeatRefused LeaveAsked CashOutDue SeatVacated SitOutChanged SeatRenamed SeatExcluded
  StandingFound HandCommitted EntropyCommitted HandStarted HandFinished CloseAsked PotRefundDue PotRefunded TableClosed
  AbsentPaid EffectStopped EffectResumed TableDisabled TableEnabled`.split(/\s+/),
);
const at = (position) => `the table's log, position ${position}`;

// The first record of a stream.
export const isFirst = ({ version }) => version === 1n;

// The end of a hand before another, that was played.
const isPlayed = ({ name, event, keptBack }, before) =>
  name === "HandFinished" && !keptBack && !event.aborted && event.hand_no < before;

export async function checkTableStream(records) {
  const { table } = records;
  if (table.length === 0) throw missing("the table's stream is not among the records");
  table.forEach(({ name, position, version, sealed }, index) => {
    hold(KINDS.has(name) && !sealed, () => `${at(position)}: ${name} does not belong in a table's stream`);
    const gap = index > 0 && table[index - 1].version + 1n !== version;
    hold(!gap, () => `${at(position)}: records of the table's stream are left out before it`);
  });
  checkBeginning(records);
  await checkHands(records);
}

// It begins with the last hand that was played, or the dealer's commitment where that is earlier, or the table's first
// record.
function checkBeginning(records) {
  const [first] = records.table;
  const { hand_no: number } = records.one("HandOpened").event;
  if (isFirst(first)) {
    hold(equal(first.previous, ZEROS32), "the first record of the table's stream names one before it");
    return;
  }
  const begins = isPlayed(first, number) || records.all("HandCommitted").includes(first);
  hold(
    begins && records.table.some((record) => isPlayed(record, number)),
    "the table's stream begins neither with the end of the last hand that was played nor with the commitment to this one before it",
  );
}

// Hands come one after the other, with every number, each under its id; this one comes last.
async function checkHands(records) {
  const opened = records.one("HandOpened");
  const ours = opened.event.hand_no;
  let last = isFirst(records.table[0]) ? 0n : null;
  let playing = null;
  for (const record of records.table) {
    const { name, position, event } = record;
    hold(last !== ours, () => `${at(position)}: a record behind the end of the hand`);
    if (name !== "HandStarted" && name !== "HandFinished") continue;
    const { hand_no: number, hand_id: id } = event;
    let comes;
    if (name === "HandStarted") {
      comes = playing === null && last !== null && last + 1n === number;
      playing = number;
    } else {
      comes = number === playing || (playing === null && last === null && number < ours);
      [last, playing] = [number, null];
    }
    comes &&= isPlaced(records, record, opened) && equal(id, await handIdOf(opened.event.table_id, number));
    hold(comes, () => `${at(position)}: ${name} of hand ${number} is out of order, or under another id`);
  }
  hold([last, playing].includes(ours), "the start of the hand is not in the table's stream");
}

// This hand's records stand around its own stream.
function isPlaced(records, { name, position, event, time }, opened) {
  if (event.hand_no !== opened.event.hand_no) return true;
  if (name === "HandStarted") return position < opened.position;
  const end = records.aborted ?? records.find("HandSettled");
  return end !== null && end.time <= time;
}
