// What the dealer promised for a hand, and the keys that its signed texts may have.

import { equal } from "../bytes.js";
import { contextOf, keyIdOf } from "../fair.js";
import { exactly, hold, missing } from "./case.js";

// The dealer's commitment and the context it is made in.
export async function promiseOf(records) {
  const { event } = records.one("SeedCommitted");
  const { table_id: table, hand_no: handNo, rules_hash: rules, commitment: signed } = event;
  hold(signed, "the commitment is missing");
  exactly(16, table, "the commitment's table");
  exactly(32, rules, "the hash of the rules");
  exactly(32, signed.commitment, "the commitment");
  const context = await contextOf(signed.origin, table, handNo, rules);
  return { table, handNo, rules, signed, commitment: signed.commitment, context };
}

// The dealer's key of this id, for a text whose record stands at this position.
export async function dealerKeyOf(records, keyId, position) {
  if (records.dealerKeys.length === 0)
    throw missing("the dealer's key cannot be read, so its signatures cannot be checked");
  const found = [];
  for (const one of records.dealerKeys) if (equal(await keyIdOf(one.key), keyId)) found.push(one);
  hold(found.length > 0, "a text of the dealer is signed with a key that is not the dealer's");
  hold(
    found.every(({ until }) => until === null || position < until),
    () => `position ${position} of the dealer's log is signed with a key that had ended`,
  );
  return found[0].key;
}

// The keys that may have signed a log's texts: those of its name, which may have ended since.
export function keysOfLog(own, trusted) {
  if (own === null) return [];
  const found = trusted.filter(({ name, isLog }) => name === own.name && isLog);
  const known = found.some(({ key }) => equal(key, own.key));
  return known ? found : [...found, { ...own, until: null }];
}
