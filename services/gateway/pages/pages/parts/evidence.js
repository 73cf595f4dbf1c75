// Evidence that this browser keeps, hand by hand. Only this module knows how it lies in the database.

import { keysOf, load, remove } from "../../keep/database.js";

/**
 * Hands of which evidence is kept.
 *
 * @returns {Promise<Array<{key: string, bytes: number, record: any}>>}
 */
export async function keptEvidence() {
  const keys = await keysOf("evidence", "");
  return Promise.all(
    keys.map(async (key) => {
      const record = await load("evidence", key);
      return { key, bytes: textOf(record).length, record };
    }),
  );
}

/**
 * Evidence of a hand as a file; null where none is kept.
 *
 * @param {{tableId: string, handNo: string, handId: string}} hand
 * @returns {Promise<Uint8Array | null>}
 */
export async function evidenceOfHand(hand) {
  const found = (await keptEvidence()).find(
    ({ key }) => key.includes(hand.handId) || (key.includes(hand.tableId) && key.endsWith(`/${hand.handNo}`)),
  );
  return found ? new TextEncoder().encode(textOf(found.record)) : null;
}

/** @param {string} key */
export const forgetEvidence = (key) => remove("evidence", key);

/**
 * The evidence file of a record, whatever its form.
 *
 * @param {any} record
 */
export function textOf(record) {
  if (typeof record === "string") return record;
  const lines = Array.isArray(record) ? record : (record?.lines ?? []);
  return `sabacc-evidence 1\n${lines.map((/** @type {string} */ line) => `${line}\n`).join("")}`;
}
