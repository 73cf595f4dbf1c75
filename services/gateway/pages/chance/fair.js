// What is hashed and signed in a hand: each function gives the bytes. Of what is hashed they go into the evidence, and
// `sha256` of them is the value. Specification: crates/fairness/SPEC.md sections 5, 7, 8 and 9.

import { fromBase64 } from "../api/ids.js";
import { concat, equal, fields, hmac, idBytes, number, sha256, utf8 } from "./bytes.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("../types.js").EntropyRow} EntropyRow */
/** @typedef {import("../types.js").ClosingRow} ClosingRow */

/**
 * What a hand is bound to: its context, and the dealer's commitment to its seed. `origin`: the log of the dealer that made it.
 * @typedef {{context: Bytes, dealer: Bytes, origin?: string}} Binding
 */

const PREFIX = "sabacc/fair/v1/";
const ZEROS = new Uint8Array(32);
const REVEALED = "ENTROPY_STATUS_REVEALED";
const STATUSES = ["", REVEALED, "ENTROPY_STATUS_WITHHELD", "ENTROPY_STATUS_ABSENT"];

/** @param {string} tag @param {Uint8Array[]} parts */
const input = (tag, ...parts) => fields(utf8(PREFIX + tag), ...parts);

/** @param {string} tag @param {Uint8Array[]} parts */
const message = (tag, ...parts) => fields(utf8(tag), ...parts);

/** @param {string | undefined} value base64 @returns {Bytes} zeros where there is none */
const orZeros = (value) => (value ? fromBase64(value) : ZEROS);

// ---- What is hashed ----

/** @param {string} ruleSet @param {string} settings */
export const rulesHash = (ruleSet, settings) => sha256(fields(utf8(ruleSet), utf8(settings)));

/** @param {string} origin @param {string} tableId @param {string} handNo @param {Bytes} rules */
export const contextInput = (origin, tableId, handNo, rules) =>
  input("ctx", utf8(origin), idBytes(tableId), number(handNo, 8), rules);

/** @param {Bytes} context @param {Bytes} seed */
export const seedInput = (context, seed) => input("dealer-commit", context, seed);

/** @param {Binding} binding @param {{seat: number, playerId: string}} place @param {Bytes} entropy */
export const commitmentInput = ({ context, dealer }, { seat, playerId }, entropy) =>
  input("client-commit", context, dealer, number(seat, 1), idBytes(playerId), entropy);

/** @param {Binding} binding @param {ClosingRow[]} rows */
export function closingInput({ context, dealer }, rows) {
  const encoded = rows.map(({ seat = 0, playerId, commitment }) =>
    concat(number(seat, 1), idBytes(playerId), number(commitment ? 1 : 0, 1), orZeros(commitment)),
  );
  return input("closing", context, dealer, number(rows.length, 1), ...encoded);
}

/** @param {Binding} binding @param {EntropyRow[]} rows */
export function transcriptInput({ context, dealer }, rows) {
  const encoded = rows.map(({ seat = 0, playerId, status = "", commitment, entropy }) => {
    const shown = status === REVEALED ? orZeros(entropy) : ZEROS;
    const place = concat(number(seat, 1), idBytes(playerId));
    return concat(place, number(STATUSES.indexOf(status), 1), orZeros(commitment), shown);
  });
  const noBeacon = new Uint8Array();
  return input("transcript", context, dealer, noBeacon, number(rows.length, 1), ...encoded);
}

/** The chain of decisions with one more line. @param {Bytes} chain @param {boolean} byClock @param {string} line */
export const decisionInput = (chain, byClock, line) => input("decision", chain, number(byClock ? 1 : 0, 1), utf8(line));

/** @param {{op: number, position: number, card: number, salt: Bytes}} record */
export const cardRecord = ({ op, position, card, salt }) =>
  concat(fields(utf8(`${PREFIX}card`)), number(op, 4), number(position, 2), number(card, 1), salt);

// ---- What follows from a seed ----

/** @param {Bytes} transcript @param {Bytes} seed @param {string} what */
async function derivedKey(transcript, seed, what) {
  const extracted = await hmac(transcript, seed);
  return hmac(extracted, concat(fields(utf8(PREFIX + what)), Uint8Array.of(1)));
}

/** Key of a hand's salts. @param {Bytes} transcript @param {Bytes} seed */
export const saltKey = (transcript, seed) => derivedKey(transcript, seed, "salt-key");

/** Key of a hand's operations. @param {Bytes} transcript @param {Bytes} seed */
export const handKey = (transcript, seed) => derivedKey(transcript, seed, "hand-key");

/** @param {number} op @param {string} kind @param {Bytes} params */
export const operationInput = (op, kind, params) => input("op", number(op, 4), utf8(kind), params);

/** @param {Bytes} key @param {number} op @param {number} position */
export const saltOf = async (key, op, position) =>
  (await hmac(key, input("card-salt", number(op, 4), number(position, 2)))).slice(0, 32);

// ---- What is signed ----

/** By which a signed text names its key. @param {Bytes} key @returns {Promise<Bytes>} */
export const keyIdOf = async (key) => (await sha256(key)).slice(0, 8);

/** @param {string} tableId @param {string} handNo @param {Bytes} rules @param {import("../types.js").Commitment} told */
export const promiseText = (tableId, handNo, rules, { origin = "", commitment, keyId }) =>
  message("dealer-commit-sig", utf8(origin), idBytes(tableId), number(handNo, 8), rules, fromBase64(commitment), fromBase64(keyId));

/** @param {Binding} binding @param {import("../types.js").Closing} told */
export const closingText = ({ context, dealer }, { closing, keyId }) =>
  message("closing-sig", context, dealer, fromBase64(closing), fromBase64(keyId));

/** @param {Binding} binding @param {import("../types.js").EntropyReceipt} told */
export function commitReceiptText({ context, dealer }, { seat = 0, playerId, commitment, playerKey, position = "0", keyId }) {
  const place = [number(seat, 1), idBytes(playerId)];
  const said = [fromBase64(commitment), fromBase64(playerKey), number(position, 8)];
  return message("receipt-sig", context, dealer, ...place, ...said, fromBase64(keyId));
}

/** @param {Binding} binding @param {import("../types.js").RevealReceipt} told */
export function revealReceiptText({ context, dealer }, { seat = 0, playerId, entropy, position = "0", keyId }) {
  const place = [number(seat, 1), idBytes(playerId)];
  return message("reveal-receipt-sig", context, dealer, ...place, fromBase64(entropy), number(position, 8), fromBase64(keyId));
}

/** @param {Bytes} context @param {Bytes} chain with the line in it @param {string} said @param {Bytes} keyId */
export const decisionText = (context, chain, said, keyId) => message("decision-sig", context, chain, utf8(said), keyId);

/** @param {Bytes} context @param {import("../types.js").DecisionReceipt} told */
export const decisionReceiptText = (context, { chain, position = "0", keyId }) =>
  message("decision-receipt-sig", context, fromBase64(chain), number(position, 8), fromBase64(keyId));

/** Whether a value is the hash of these bytes. @param {string | undefined} value base64 @param {Bytes} bytes */
export const isHashOf = async (value, bytes) => equal(fromBase64(value), await sha256(bytes));
