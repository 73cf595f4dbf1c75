// Chance, as it was promised before the hand: commitments, the transcript, the keys of a hand, and its operations.

import { concat, lp, number, utf8 } from "./bytes.js";
import { hmac, hmacKey, mac, sha256 } from "./digest.js";
import { ZEROS32, leafHash, rootOf } from "./merkle.js";

const PREFIX = "sabacc/fair/v1/";
const encoded = (tag, fields) => concat(lp(utf8(PREFIX + tag)), ...fields.map(lp));
const list = (tag, fields) => concat(lp(utf8(tag)), ...fields.map(lp));

export const H = (tag, ...fields) => sha256(encoded(tag, fields));
const prf = (key, tag, ...fields) => hmac(key, encoded(tag, fields));

// Of the texts of rule set and settings, as they are stored.
export const rulesHash = (ruleSet, settings) => sha256(lp(utf8(ruleSet)), lp(utf8(settings)));
export const contextOf = (origin, table, handNo, rules) => H("ctx", utf8(origin), table, number(handNo, 8), rules);
export const dealerCommitment = (context, seed) => H("dealer-commit", context, seed);
export const clientCommitment = (context, dealer, seat, player, entropy) =>
  H("client-commit", context, dealer, number(seat, 1), player, entropy);

export const REVEALED = 1;
export const WITHHELD = 2;
export const ABSENT = 3;

// Rows ascending by seat: {seat, player, status, commitment, entropy}, zeros for what is missing.
export async function transcriptOf(context, dealer, rows) {
  const bytes = rows.map(({ seat, player, status, commitment, entropy }) =>
    concat(number(seat, 1), player, number(status, 1), commitment, entropy),
  );
  return H("transcript", context, dealer, new Uint8Array(), number(rows.length, 1), ...bytes);
}

// Rows ascending by seat: {seat, player, commitment}, a commitment empty where the seat has made none.
export function closingOf(context, dealer, rows) {
  const bytes = rows.map(({ seat, player, commitment }) =>
    concat(number(seat, 1), player, number(commitment.length > 0 ? 1 : 0, 1), concat(commitment, ZEROS32).subarray(0, 32)),
  );
  return H("closing", context, dealer, number(rows.length, 1), ...bytes);
}

// The chain of decisions with one more in it; it begins with the transcript.
export const decisionOf = (chain, byClock, line) => H("decision", chain, number(byClock ? 1 : 0, 1), utf8(line));

// HKDF-SHA-512 with the transcript as salt.
export async function handKeys(transcript, seed) {
  const extracted = await hmac(transcript, seed);
  const expand = (info) => hmac(extracted, concat(lp(utf8(PREFIX + info)), Uint8Array.of(1)));
  return { hand: await expand("hand-key"), salt: await expand("salt-key") };
}

// By which a signed text names its key.
export const keyIdOf = async (key) => (await sha256(key)).slice(0, 8);
// What is signed by a key: a tag, fields, and the key's id.
export const signedText = (tag, keyId, ...fields) => list(tag, [...fields, keyId]);

// The first bytes of a hash, dressed as a UUID of version 8.
export async function handIdOf(table, handNo) {
  const id = (await sha256(list("sabacc/hand-id/v1", [table, number(handNo, 8)]))).slice(0, 16);
  id[6] = (id[6] & 0x0f) | 0x80;
  id[8] = (id[8] & 0x3f) | 0x80;
  return id;
}

// One operation's numbers. Words that would favour some outcomes are thrown away.
class Words {
  constructor(key) {
    this.key = key;
    this.block = 0;
    this.words = [];
  }

  async next() {
    if (this.words.length === 0) {
      const view = new DataView((await mac(this.key, number(this.block, 4))).buffer);
      this.block += 1;
      for (let at = 0; at < 64; at += 8) this.words.push(view.getBigUint64(at));
    }
    return this.words.shift();
  }

  async uniform(count) {
    const n = BigInt(count);
    const limit = (1n << 64n) - ((1n << 64n) % n);
    for (;;) {
      const word = await this.next();
      if (word < limit) return Number(word % n);
    }
  }
}

async function wordsOf(keys, index, kind, params) {
  return new Words(await hmacKey(await prf(keys.hand, "op", number(index, 4), utf8(kind), params)));
}

export async function shuffle(keys, index, pile, cards) {
  const words = await wordsOf(keys, index, "shuffle", concat(number(pile, 1), Uint8Array.from(cards)));
  const shuffled = [...cards];
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = await words.uniform(at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other], shuffled[at]];
  }
  return shuffled;
}

export async function roll(keys, index, sides) {
  const words = await wordsOf(keys, index, "roll", Uint8Array.from(sides));
  const faces = [];
  for (const count of sides) faces.push(1 + (await words.uniform(count)));
  return faces;
}

export async function pulse(keys, index, ppm) {
  const words = await wordsOf(keys, index, "pulse", number(ppm, 4));
  return (await words.uniform(1000000)) < ppm ? 1 : 0;
}

export async function pick(keys, index, n) {
  return (await wordsOf(keys, index, "pick", number(n, 4))).uniform(n);
}

export async function sample(keys, index, n, k) {
  const words = await wordsOf(keys, index, "sample", concat(number(n, 4), number(k, 4)));
  // Only what was moved is kept: n may be large.
  const moved = new Map();
  const at = (place) => moved.get(place) ?? place;
  const drawn = [];
  for (let place = 0; place < k; place += 1) {
    const other = place + (await words.uniform(n - place));
    drawn.push(at(other));
    moved.set(other, at(place));
  }
  return drawn;
}

export async function saltOf(keys, op, position) {
  return (await prf(keys.salt, "card-salt", number(op, 4), number(position, 2))).slice(0, 32);
}

// The root over the records of a shuffled pile, and every card's salt.
export async function deckOf(keys, op, cards) {
  const salts = await Promise.all(cards.map((_, position) => saltOf(keys, op, position)));
  const record = (card, position) =>
    concat(lp(utf8(`${PREFIX}card`)), number(op, 4), number(position, 2), number(card, 1), salts[position]);
  const leaves = await Promise.all(cards.map((card, position) => leafHash(record(card, position))));
  return { root: await rootOf(leaves), salts };
}
