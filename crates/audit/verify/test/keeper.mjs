// Somebody who keeps evidence of a hand: signed lines, files of them, and what they say to the hand.

import { sign } from "node:crypto";

import { audit, modules, parseBundle } from "./built.mjs";
import { ROOM, TRUST, forged, opened, recordsOf } from "./forge.mjs";

const { examine } = modules["audit.js"];
const { base64, number, utf8 } = modules["bytes.js"];
const { contextOf, keyIdOf, signedText } = modules["fair.js"];
const { readEvidence } = modules["evidence.js"];

export const HAND = "everybody-reveals";
export const HEADER = "sabacc-evidence 1\n";
export const ZEROS = new Uint8Array(32);

export const line = (kind, ...parts) => `${[kind, ...parts.map(base64)].join(" ")}\n`;

export async function signedLine(key, tag, ...fields) {
  const message = signedText(tag, await keyIdOf(key.key), ...fields);
  return line("signed", message, new Uint8Array(sign(null, message, key.secret)), key.key);
}

// A hand, and what its first seat knows of it.
export async function known(name = HAND) {
  const hand = opened(name);
  const [{ event: promise }] = recordsOf(hand, "SeedCommitted");
  const { table_id: table, hand_no: handNo, rules_hash: rules, commitment } = promise;
  const context = await contextOf(commitment.origin, table, handNo, rules);
  const bound = [context, commitment.commitment];
  const [given] = recordsOf(hand, "EntropyCommitted");
  const revealed = recordsOf(hand, "EntropyRevealed").find(({ event }) => event.seat === given.event.seat);
  const [{ event: closed }] = recordsOf(hand, "EntropyClosed");
  return { hand, table, handNo, rules, context, bound, given, revealed, closing: closed.closing.closing };
}

export const at = ({ position }) => number(position, 8);

export async function told({ hand }, lines, trust = TRUST) {
  const evidence = await readEvidence(utf8([HEADER, ...lines, "note 7 words\n"].join("")));
  const { report } = await audit(await parseBundle(await forged(hand)), { ...trust, evidence });
  return report;
}

export const receiptOf = ({ bound, given }, { commitment = given.event.commitment, key = given.event.key, place = at(given) } = {}) => [
  ...bound,
  number(given.event.seat, 1),
  given.event.player_id,
  commitment,
  key,
  place,
];

// What of the evidence contradicts a hand, or itself. `bytes`: the file of the hand.
export async function against(bytes, lines, trust = TRUST) {
  const evidence = await readEvidence(utf8([HEADER, ...lines].join("")));
  return (await examine(await parseBundle(bytes), { ...trust, evidence })).kept.against;
}

// Receipts of the table at a position, of a commitment, of a revealed number and of a decision.
export const committed = (one, position, changed = {}) =>
  signedLine(ROOM.table, "receipt-sig", ...receiptOf(one, { ...changed, place: number(position, 8) }));
export const revealed = ({ bound, given }, position, entropy = ZEROS) => {
  const { seat, player_id: player } = given.event;
  return signedLine(ROOM.table, "reveal-receipt-sig", ...bound, number(seat, 1), player, entropy, number(position, 8));
};
export const decided = ({ bound }, position, chain = ZEROS) =>
  signedLine(ROOM.table, "decision-receipt-sig", bound[0], chain, number(position, 8));
