// The order of a shuffled pile, as it follows from an opened seed. Specification: crates/fairness/SPEC.md section 6.

import { concat, hmac, number, sha256 } from "./bytes.js";
import { cardRecord, handKey, operationInput, saltKey, saltOf } from "./fair.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */

/** Numbers of one operation: words that would favour some outcomes are thrown away. */
class Words {
  #block = 0;
  /** @type {bigint[]} */
  #words = [];

  /** @param {Bytes} key */
  constructor(key) {
    this.key = key;
  }

  async #next() {
    if (this.#words.length === 0) {
      const view = new DataView((await hmac(this.key, number(this.#block, 4))).buffer);
      this.#block += 1;
      for (let at = 0; at < 64; at += 8) this.#words.push(view.getBigUint64(at));
    }
    return this.#words.shift() ?? 0n;
  }

  /** @param {number} count */
  async uniform(count) {
    const n = BigInt(count);
    const limit = (1n << 64n) - ((1n << 64n) % n);
    for (;;) {
      const word = await this.#next();
      if (word < limit) return Number(word % n);
    }
  }
}

/** Root over leaves, by RFC 6962. @param {Bytes[]} leaves @returns {Promise<Bytes>} */
async function rootOver(leaves) {
  const [only] = leaves;
  if (only && leaves.length === 1) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = await Promise.all([rootOver(leaves.slice(0, split)), rootOver(leaves.slice(split))]);
  return sha256(concat(Uint8Array.of(1), left, right));
}

/**
 * What the dealer must have committed to when it first shuffled a pile.
 * @param {Bytes} transcript @param {Bytes} seed @param {number} op
 * @param {number} pile @param {number[]} cards the pile's, as they lie before
 */
export async function rootOfShuffle(transcript, seed, op, pile, cards) {
  const input = operationInput(op, "shuffle", concat(number(pile, 1), Uint8Array.from(cards)));
  const words = new Words(await hmac(await handKey(transcript, seed), input));
  const order = [...cards];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = await words.uniform(at + 1);
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  const salts = await saltKey(transcript, seed);
  const leaves = order.map(async (card, position) => {
    const record = cardRecord({ op, position, card, salt: await saltOf(salts, op, position) });
    return sha256(concat(Uint8Array.of(0), record));
  });
  return rootOver(await Promise.all(leaves));
}
