// Comparison of the table's receipts with the records of a hand. A log gives a position once, so a receipt contradicts a
// file that shows another record there, whichever number it is for. Where a record of this hand must be in the file if it is
// anywhere, its absence does too: between the first record of the table's stream and the last of that or the hand's. What was
// revealed stands in the stream of a hand that was sealed or has ended, and what was decided in one that has ended, so there
// no position is an excuse. A record whose payload is kept back decides nothing.

import { equal, hex, same } from "../bytes.js";
import { numberIn } from "../evidence.js";
import { contextOf } from "../fair.js";
import { WITHHELD } from "./aborts.js";
import { askedLeaves } from "./leaves.js";

const OTHER_CHAIN = "the chain of decisions is another than the receipt for a decision has";
const OF_ANOTHER = "the position of a receipt for another number holds something else";

// The closing in the table's log.
export const closingIn = (records) => records.find("EntropyClosed")?.event.closing ?? null;

// Position that a receipt names.
export const positionOf = ({ fields }) => numberIn(fields.at(-1));

export class Receipts {
  // The records that receipts are compared with.
  static async of(records, walk, promise) {
    const burnt = new Map();
    const { signed, table, rules } = promise;
    for (const { name, event, keptBack } of records.table) {
      if (name !== "SeatExcluded" || keptBack) continue;
      const { seat, player_id: player, burnt_hand_no: number } = event;
      // The file has no rules but those of this hand.
      burnt.set(excludedBy(seat, player, await contextOf(signed.origin, table, number, rules)), number);
    }
    return new Receipts(records, walk, promise, burnt);
  }

  constructor(records, walk, promise, burnt) {
    Object.assign(this, { records, walk, promise, burnt });
    this.at = new Map(records.bundle.table.records.map((record) => [record.position, record]));
    this.asked = new Set(askedLeaves(records).map(({ position }) => position));
    const hasEnded = Boolean(records.find("HandSettled") || records.find("HandAborted"));
    this.showsReveals = hasEnded || Boolean(records.find("HandSealed"));
    this.showsDecisions = hasEnded && walk.isWhole;
  }

  // Contradictions between a receipt and the records.
  against(receipt) {
    const { tag, fields } = receipt;
    const { context, commitment } = this.promise;
    const isOurs = equal(fields[0], context) && (tag === "decision-receipt-sig" || equal(fields[1], commitment));
    const { isDecided, record } = this.found(positionOf(receipt));
    const excluded = tag === "reveal-receipt-sig" ? this.excluded(fields) : [];
    if (!isOurs) return [...excluded, ...(record && !mayBe(receipt, record) ? [OF_ANOTHER] : [])];
    if (tag === "receipt-sig") return this.committed(fields, isDecided, record);
    if (tag === "reveal-receipt-sig") return [...excluded, ...this.revealed(fields, isDecided, record)];
    return this.decided(fields, isDecided, record);
  }

  // Whether the file decides what stands at a position, and the record there.
  found(position) {
    const record = this.at.get(position) ?? null;
    if (!record) return { isDecided: this.reach(position), record };
    return record.keptBack ? { isDecided: false, record: null } : { isDecided: true, record };
  }

  // A record of this hand, or of the table's stream, would be in the file.
  reach(position) {
    const { table, bundle } = this.records;
    return table.length > 0 && table[0].position <= position && position <= bundle.table.records.at(-1).position;
  }

  committed(fields, isDecided, record) {
    const [, , [seat], player, commitment] = fields;
    const told = [];
    const isLeftOut = (row) =>
      row.seat === seat && equal(row.player_id, player) && !equal(row.commitment, commitment);
    if (closingIn(this.records)?.rows.some(isLeftOut))
      told.push(`the closing leaves out what seat ${seat} has a receipt for`);
    if (isDecided && !(isCommitment(fields, record) && record.event.hand_no === this.promise.handNo))
      told.push("the position of the receipt for a commitment holds something else");
    return told;
  }

  // The table gives no receipt for a number that comes after the burn.
  revealed([, , [seat], , entropy, position], isDecided, record) {
    const isBeyond = this.showsReveals && !this.at.has(numberIn(position));
    const burnt = this.records.find("HandAborted")?.event;
    if (burnt?.cause === WITHHELD && burnt.seats.includes(seat))
      return [`the number was burnt for seat ${seat}, which has a receipt for its number`];
    const isIt = record?.name === "EntropyRevealed" && same(record.event, { seat, entropy });
    return (isDecided || isBeyond) && !isIt ? ["the receipt for a revealed number is for no record of this hand"] : [];
  }

  excluded([context, , [seat], player]) {
    const number = this.burnt.get(excludedBy(seat, player, context));
    if (number === undefined) return [];
    return [`number ${number} was burnt for seat ${seat}, which has a receipt for its number`];
  }

  // The kind of record, always; the chain, as far as the hand could be played again.
  decided([, chain, position], isDecided, record) {
    const place = numberIn(position);
    const isElsewhere = () => [...this.walk.chain.values()].some((own) => equal(own, chain));
    if (!isDecided) return this.showsDecisions && !isElsewhere() ? [OTHER_CHAIN] : [];
    if (record?.name !== "MoveDecided" && !this.asked.has(place))
      return ["the position of the receipt for a decision holds something else"];
    return equal(this.walk.chain.get(place) ?? chain, chain) ? [] : [OTHER_CHAIN];
  }
}

const excludedBy = (seat, player, context) => `${seat} ${hex(player)} ${hex(context)}`;

// Whether a record can be the one of a receipt for another number. The table's stream has commitments to several numbers, and
// leaves; what is revealed and decided stands in the stream of its hand.
function mayBe({ tag, fields }, record) {
  if (tag === "receipt-sig") return isCommitment(fields, record);
  return tag === "decision-receipt-sig" && record.name === "LeaveAsked";
}

// Whether a record is the commitment that a receipt is for, to whichever number.
function isCommitment([, , [seat], player, commitment, key], record) {
  if (record?.name !== "EntropyCommitted") return false;
  return same(record.event, { hand_no: record.event.hand_no, seat, player_id: player, commitment, key });
}
