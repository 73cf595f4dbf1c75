// What a reader's own evidence says to a hand: whether it contradicts the records, and whether the reader's number is in it.

import { equal, number, same, utf8 } from "../bytes.js";
import { numberIn } from "../evidence.js";
import { WITHHELD } from "./aborts.js";
import { Trouble } from "./case.js";
import { promiseOf } from "./promise.js";

const EMPTY = { against: [], numbers: [], sent: null };

// `against`: contradictions, in words. `numbers`: the reader's own for this hand. `sent`: whether the closing that the reader
// was sent is the one on record; null where the evidence has none.
export async function keptOf(records, walk, evidence) {
  let promise;
  try {
    promise = await promiseOf(records);
  } catch (error) {
    if (error instanceof Trouble) return EMPTY;
    throw error;
  }
  const { context, commitment } = promise;
  const bound = (fields) => equal(fields[0], context) && equal(fields[1], commitment);
  const closing = records.find("EntropyClosed")?.event.closing ?? null;
  const known = { records, walk, promise, bound, closing };
  const against = new Set(evidence.signed.flatMap((one) => contradictionsOf(known, one)));
  const sent = evidence.signed.filter(
    ({ tag, fields, key }) => tag === "closing-sig" && bound(fields) && keyOf(records.dealerKeys, key),
  );
  return {
    against: [...against],
    numbers: evidence.numbers.filter((one) => bound([one.context, one.dealer])),
    sent: sent.length > 0 ? sent.every(({ fields }) => closing && equal(fields[2], closing.closing)) : null,
  };
}

const keyOf = (keys, key) => keys.find((one) => equal(one.key, key));

function contradictionsOf(known, one) {
  const { records, promise, bound } = known;
  const { tag, fields, key } = one;
  if (tag === "decision-sig") return [];
  if (tag === "dealer-commit-sig" || tag === "closing-sig") {
    return keyOf(records.dealerKeys, key) ? ofDealer(known, one) : [];
  }
  const trusted = keyOf(records.tableKeys, key);
  const position = numberIn(fields.at(-1));
  const ours = tag === "decision-receipt-sig" ? equal(fields[0], promise.context) : bound(fields);
  if (!trusted || !ours || (trusted.until !== null && position >= trusted.until)) return [];
  const record = records.bundle.table.records.find((other) => other.position === position) ?? null;
  return OF_TABLE[tag](known, fields, position, record);
}

// Two promises for one number, two closings.
function ofDealer({ promise, bound, closing }, { tag, fields }) {
  if (tag === "closing-sig") {
    const other = closing && bound(fields) && !equal(closing.closing, fields[2]);
    return other ? ["the dealer signed another closing for this hand"] : [];
  }
  const { signed, table, handNo, rules, commitment } = promise;
  const ours = [utf8(signed.origin), table, number(handNo, 8)].every((own, at) => equal(own, fields[at]));
  const other = ours && !(equal(rules, fields[3]) && equal(commitment, fields[4]));
  return other ? ["the dealer promised another seed, or other rules, for this number"] : [];
}

// A record of the table's stream at this position would be in the file.
const isCovered = ({ table }, position) =>
  table.length > 0 && table[0].position < position && position < table.at(-1).position;

// Receipts for what the records have otherwise.
const OF_TABLE = {
  "receipt-sig"({ records, closing }, [, , [seat], player, commitment, key], position, record) {
    const told = [];
    const row = closing?.rows.find((one) => one.seat === seat && equal(one.player_id, player));
    if (row && !equal(row.commitment, commitment)) told.push(`the closing leaves out what seat ${seat} has a receipt for`);
    if (!record && !isCovered(records, position)) return told;
    const wanted = { hand_no: records.opened?.hand_no, seat, player_id: player, commitment, key };
    if (record?.name !== "EntropyCommitted" || !same(record.event, wanted))
      told.push("the position of the receipt for a commitment holds something else");
    return told;
  },
  "reveal-receipt-sig"({ records }, [, , [seat], , entropy], position, record) {
    const told = [];
    const burnt = records.find("HandAborted");
    const blamed = burnt?.event.cause === WITHHELD && burnt.event.seats.includes(seat);
    if (blamed && position < burnt.position)
      told.push(`the number was burnt for seat ${seat}, which has a receipt for its number`);
    if (record?.name !== "EntropyRevealed" || !same(record.event, { seat, entropy }))
      told.push("the receipt for a revealed number is for no record of this hand");
    return told;
  },
  "decision-receipt-sig"({ records, walk }, [, chain], position, record) {
    if (!record && !isCovered(records, position)) return [];
    if (!["MoveDecided", "LeaveAsked"].includes(record?.name))
      return ["the position of the receipt for a decision holds something else"];
    const own = walk.chain.get(position);
    const other = record.name === "MoveDecided" && own && !equal(own, chain);
    return other ? ["the chain of decisions is another than the receipt for a decision has"] : [];
  },
};
