// Proofs of cards: each that the viewer may see leads to the root that the dealer published when its pile was shuffled. And the four
// packs: a card's number is its place in its pack. Specification: crates/history/SPEC.md section 4.5.

import { base64, fromBase64 } from "../api/ids.js";
import { concat, equal, hex, sha256 } from "./bytes.js";
import { Fault } from "./fault.js";
import { cardRecord, saltOf } from "./fair.js";
import { rootOfShuffle } from "./order.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("../types.js").CardProof} CardProof */
/** @typedef {import("../types.js").DeckRoot} DeckRoot */
/** @typedef {import("../types.js").HandView} HandView */

/** @param {string} suit @param {number} from @param {number} to */
const numbered = (suit, from, to) => Array.from({ length: to - from + 1 }, (_, at) => `${suit}${from + at}`);

/** @param {string[]} codes @param {number} count */
const copies = (codes, count) => codes.flatMap((code) => Array.from({ length: count }, () => code));

const S76 = [
  ...["S", "F", "C", "T"].flatMap((suit) => numbered(suit, 1, 15)),
  ...["Star", "Evil", "Moderation", "Demise", "Balance", "Endurance", "Queen", "Idiot"].flatMap((face) => [`${face}A`, `${face}B`]),
];
const K44 = ["s", "b"].flatMap((family) => [
  ...copies([...numbered(family, 1, 6), `${family}I`], 3),
  `${family}Y`,
]);
const P42 = [
  ...[1, 2, 3, 4, 5].flatMap((rank) => copies(["S", "H", "D", "C"].map((suit) => `${rank}${suit}`), 2)),
  ...copies(["6S"], 2),
];
const C62 = [
  ...["c", "t", "s"].flatMap((suit) => [...numbered(`${suit}+`, 1, 10), ...numbered(`${suit}-`, 1, 10)]),
  ...copies(["Y"], 2),
];

/** Codes of a game's pack in their order; undefined: a game that this page does not know. @type {Record<string, string[] | undefined>} */
export const DECKS = {
  coruscant: C62,
  dice: S76,
  electronic: S76,
  eleven: P42,
  force: S76,
  kessel: K44,
  spike: C62,
  swg: S76,
};

/** How many cards a game's piles have at first: each takes the next numbers of the pack. @param {string} game */
export function pilesOf(game) {
  const cards = DECKS[game]?.length ?? 0;
  return game === "kessel" ? [cards / 2, cards / 2] : [cards];
}

/**
 * What was proved of a card. `steps` tell it to a person, each with the value in hexadecimal that it is about.
 * @typedef {{valid: boolean, code: string, handNo: string, steps: {text: string, value: string}[]}} Proved
 */

/** Name of a card in `Seat.proofs`. @param {string | undefined} handNo @param {CardProof} proof */
export const cardKey = (handNo, { op = 0, position = 0 }) => `${handNo}/${op}.${position}`;

/** @param {Uint8Array} left @param {Uint8Array} right */
const node = (left, right) => sha256(concat(Uint8Array.of(1), left, right));

/**
 * The root that a leaf leads to, by RFC 6962; null: the path is not as long as it must be.
 * @param {Bytes} leaf @param {number} position @param {number} count @param {Bytes} path @param {(text: string, value: Bytes) => void} step
 */
async function rootOf(leaf, position, count, path, step) {
  let [hash, at, last, used] = [leaf, position, count - 1, 0];
  if (position >= count || path.length % 32 !== 0) return null;
  while (last > 0) {
    const isRight = at % 2 === 1;
    // The last node of an odd level has nothing beside it and moves up as it is.
    if (isRight || at < last) {
      const beside = path.slice(used, used + 32);
      if (beside.length < 32) return null;
      used += 32;
      hash = isRight ? await node(beside, hash) : await node(hash, beside);
      step(isRight ? "with the hash to its left" : "with the hash to its right", hash);
    }
    [at, last] = [at >> 1, last >> 1];
  }
  return used === path.length ? hash : null;
}

/**
 * Checks that a card lies where its proof says.
 * @param {string} variant @param {string} code @param {CardProof} proof @param {DeckRoot | undefined} root
 * @returns {Promise<Omit<Proved, "handNo">>}
 */
export async function proveCard(variant, code, proof, root) {
  const { op = 0, position = 0, cardId = 0 } = proof;
  /** @type {Proved["steps"]} */
  const steps = [];
  const step = (/** @type {string} */ text, /** @type {Bytes} */ value) => steps.push({ text, value: hex(value) });
  const salt = fromBase64(proof.salt);
  const record = cardRecord({ op, position, card: cardId, salt });
  step(`record of card ${cardId} at place ${position} of shuffle ${op}`, record);
  const leaf = await sha256(concat(Uint8Array.of(0), record));
  step("its leaf in the tree of the pile", leaf);
  const found = await rootOf(leaf, position, root?.cards ?? 0, fromBase64(proof.path), step);
  const published = fromBase64(root?.root);
  step("root that the dealer published when it shuffled", published);
  const deck = DECKS[variant];
  const isCode = deck === undefined || deck[cardId] === code;
  if (!isCode) step(`card ${cardId} of this pack is ${deck?.[cardId] ?? "none"}, not ${code}`, new Uint8Array());
  // Wider numbers would be hashed as smaller ones.
  const isNarrow = [op < 2 ** 32, position < 2 ** 16, cardId < 256].every(Boolean);
  const valid = isCode && isNarrow && salt.length === 32 && root !== undefined && found !== null && equal(found, published);
  return { valid, code, steps };
}

/** The cards of a view that are shown, with their proofs. @param {HandView} hand @returns {{code: string, proof: CardProof}[]} */
function shownCards({ seats = [], handNo }) {
  const cards = seats.flatMap(({ cards = [] }) => cards).filter(({ code }) => code && code !== "??");
  return cards.map(({ code = "", proof }) => {
    if (!proof) throw new Fault("table", handNo, `card ${code} is shown without proof that it lies there`);
    return { code, proof };
  });
}

/** Cards that an update turns up on the table. @param {string | undefined} handNo @param {import("../types.js").HandAction | undefined} action */
function turnedCards(handNo, action) {
  const codes = action?.cards?.filter((code) => code !== "??") ?? [];
  const proofs = action?.proofs ?? [];
  if (codes.length !== proofs.length) throw new Fault("table", handNo, "cards are shown without proof that they lie there");
  return proofs.map((proof, at) => ({ code: codes[at] ?? "", proof }));
}

/** Proofs of the hands that were followed last. */
export class Cards {
  /** @type {Map<string, Proved>} */
  proofs = new Map();
  /** @type {Map<string, {proof: CardProof, transcript: string}>} */
  #told = new Map();
  /** What was committed to at each shuffle, by hand and shuffle, however often it is told. @type {Map<string, string>} */
  #roots = new Map();

  /**
   * Checks every card of a view that was not checked before. Gives the keys of the new ones.
   * @param {string} variant @param {HandView} hand @param {import("../types.js").HandAction} [action]
   */
  async check(variant, hand, action) {
    const roots = this.#rootsOf(hand);
    /** @type {string[]} */
    const news = [];
    for (const { code, proof } of [...shownCards(hand), ...turnedCards(hand.handNo, action)]) {
      const key = cardKey(hand.handNo, proof);
      if (this.proofs.get(key)?.code === code) continue;
      const proved = await proveCard(variant, code, proof, roots.get(proof.op ?? 0));
      this.proofs.set(key, { ...proved, handNo: hand.handNo ?? "" });
      this.#told.set(key, { proof, transcript: hand.transcript ?? "" });
      news.push(key);
      if (!proved.valid) throw new Fault("dealer", hand.handNo, `${code} is not the card that was committed to when the pile was shuffled`);
    }
    return news;
  }

  /** @param {HandView} hand @returns {Map<number, DeckRoot>} */
  #rootsOf({ roots = [], handNo }) {
    const found = new Map();
    for (const told of roots) {
      const { op = 0, cards = 0, root = "" } = told;
      const key = `${handNo}/${op}`;
      const before = this.#roots.get(key) ?? `${cards} ${root}`;
      if (before !== `${cards} ${root}`) throw new Fault("dealer", handNo, `there are two commitments to shuffle ${op}`);
      this.#roots.set(key, before);
      found.set(op, told);
    }
    return found;
  }

  /** Checks the salts of a hand's cards against its opened seed. Gives the keys of the cards. @param {string} handNo @param {Bytes} saltKey */
  async checkSalts(handNo, saltKey) {
    const keys = [...this.proofs].filter(([, proved]) => proved.handNo === handNo).map(([key]) => key);
    for (const key of keys) {
      const { proof } = this.#told.get(key) ?? {};
      const salt = await saltOf(saltKey, proof?.op ?? 0, proof?.position ?? 0);
      if (!equal(salt, fromBase64(proof?.salt))) throw new Fault("dealer", handNo, "the opened seed gives another salt for a card");
      this.proofs.get(key)?.steps.push({ text: "salt, as it follows from the seed that the dealer has opened", value: hex(salt) });
    }
    return keys;
  }

  /**
   * Checks the first shuffles of a hand's piles against its opened seed. Later ones have hidden cards in them, which the hand's
   * records tell alone.
   * @param {string} handNo @param {string} variant @param {Bytes} transcript @param {Bytes} seed
   */
  async checkOrder(handNo, variant, transcript, seed) {
    const told = [...this.#roots].filter(([key]) => key.startsWith(`${handNo}/`));
    const roots = told.map(([key, root]) => ({ op: Number(key.split("/")[1]), root })).sort((a, b) => a.op - b.op);
    let first = 0;
    for (const [pile, count] of pilesOf(variant).entries()) {
      const found = roots[pile];
      if (!found || count === 0) return;
      const cards = Array.from({ length: count }, (_, at) => first + at);
      const root = await rootOfShuffle(transcript, seed, found.op, pile, cards);
      if (found.root !== `${count} ${base64(root)}`)
        throw new Fault("dealer", handNo, "the opened seed gives another order of the cards than the one that was committed to");
      first += count;
    }
  }

  /** Forgets hands before a number. @param {bigint} handNo */
  forgetBefore(handNo) {
    for (const [key, proved] of this.proofs)
      if (BigInt(proved.handNo || 0) < handNo) {
        this.proofs.delete(key);
        this.#told.delete(key);
      }
    for (const key of this.#roots.keys()) if (BigInt(key.split("/")[0] || 0) < handNo) this.#roots.delete(key);
  }
}
