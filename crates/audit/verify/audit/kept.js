// What a reader's own evidence says to a hand: whether it contradicts the records or itself, and whether the reader's number
// is in it.

import { equal, number, utf8 } from "../bytes.js";
import { conflictsOf } from "../conflicts.js";
import { Trouble } from "./case.js";
import { promiseOf } from "./promise.js";
import { Receipts, closingIn, positionOf } from "./receipts.js";

// `against`: contradictions, in words. `numbers`: the reader's own for this hand. `sent`: whether the closing that the reader
// was sent is the one on record; null where the evidence has none. Records that are not proved contradict nothing.
export async function keptOf(records, walk, { evidence, keys }, isProved) {
  const itself = conflictsOf(evidence, keys);
  let promise;
  try {
    promise = await promiseOf(records);
  } catch (error) {
    if (error instanceof Trouble) return { against: itself, numbers: [], sent: null };
    throw error;
  }
  const { context, commitment } = promise;
  const bound = (fields) => equal(fields[0], context) && equal(fields[1], commitment);
  const closing = closingIn(records);
  const receipts = await Receipts.of(records, walk, promise);
  const known = { records, receipts, promise, bound, closing };
  const against = isProved ? evidence.signed.flatMap((one) => contradictionsOf(known, one)) : [];
  const sent = evidence.signed.filter(
    (one) => one.tag === "closing-sig" && bound(one.fields) && counts(records.dealerKeys, one),
  );
  return {
    against: [...new Set([...against, ...itself])],
    numbers: evidence.numbers.filter((one) => bound([one.context, one.dealer])),
    sent: sent.length > 0 ? sent.every(({ fields }) => closing && equal(fields[2], closing.closing)) : null,
  };
}

// Whether a text is of one of a log's keys. A receipt stands before the key's end, of one that is given twice the lesser.
function counts(keys, { key }, position = null) {
  const own = keys.filter((one) => equal(one.key, key));
  return own.length > 0 && own.every(({ until }) => position === null || until === null || position < until);
}

function contradictionsOf(known, one) {
  const { records, receipts } = known;
  if (one.tag === "decision-sig") return [];
  if (one.tag === "dealer-commit-sig" || one.tag === "closing-sig")
    return counts(records.dealerKeys, one) ? ofDealer(known, one) : [];
  return counts(records.tableKeys, one, positionOf(one)) ? receipts.against(one) : [];
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
