// What is hashed and signed in a hand, byte for byte as crates/fairness/SPEC.md says. Pure functions; WebCrypto does
// the rest.

import type { Closing, Commitment, EntropyRow } from "../gen/sabacc/common/v1/chance_pb.js";
import { EntropyStatus } from "../gen/sabacc/common/v1/chance_pb.js";
import type { DecisionReceipt, EntropyReceipt, RevealReceipt } from "../gen/sabacc/table/v1/table_pb.js";
import { type Bytes, concat, fields, idBytes, number, sha256, utf8 } from "./bytes.js";

const ZEROS = new Uint8Array(32);

// What a hand is bound to: its context, and the dealer's commitment to its seed.
export interface Binding {
  context: Bytes;
  dealer: Bytes;
}

// A seat with the player who has it.
export interface Place {
  seat: number;
  playerId: string;
}

// H(tag, fields), section 4.2.
const hash = (tag: string, ...parts: Uint8Array[]): Promise<Bytes> =>
  sha256(fields(utf8(`sabacc/fair/v1/${tag}`), ...parts));

// M(tag, fields), section 4.4. The tag is that of no other text.
const message = (tag: string, ...parts: Uint8Array[]): Bytes => fields(utf8(tag), ...parts);

export const rulesHash = (ruleSet: string, settings: string): Promise<Bytes> =>
  sha256(fields(utf8(ruleSet), utf8(settings)));

export const contextOf = (origin: string, tableId: string, handNo: bigint, rules: Bytes): Promise<Bytes> =>
  hash("ctx", utf8(origin), idBytes(tableId), number(handNo, 8), rules);

export const clientCommitment = ({ context, dealer }: Binding, place: Place, entropy: Bytes): Promise<Bytes> =>
  hash("client-commit", context, dealer, number(place.seat, 1), idBytes(place.playerId), entropy);

export const seedCommitment = (context: Bytes, seed: Uint8Array): Promise<Bytes> =>
  hash("dealer-commit", context, seed);

export function closingOf({ context, dealer }: Binding, rows: Closing["rows"]): Promise<Bytes> {
  const encoded = rows.map(({ seat, playerId, commitment }) => {
    const committed = commitment.length > 0;
    return concat(number(seat, 1), idBytes(playerId), number(committed ? 1 : 0, 1), committed ? commitment : ZEROS);
  });
  return hash("closing", context, dealer, number(rows.length, 1), ...encoded);
}

export function transcriptOf({ context, dealer }: Binding, rows: EntropyRow[]): Promise<Bytes> {
  const encoded = rows.map(({ seat, playerId, status, commitment, entropy }) =>
    concat(
      number(seat, 1),
      idBytes(playerId),
      number(status, 1),
      commitment.length > 0 ? commitment : ZEROS,
      status === EntropyStatus.REVEALED ? entropy : ZEROS,
    ),
  );
  const noBeacon = new Uint8Array();
  return hash("transcript", context, dealer, noBeacon, number(rows.length, 1), ...encoded);
}

// The chain of decisions with one more line in it, section 9.1.
export const chainWith = (chain: Uint8Array, byClock: boolean, line: string): Promise<Bytes> =>
  hash("decision", chain, number(byClock ? 1 : 0, 1), utf8(line));

// --- Texts that somebody signs, section 8 ---

export const keyId = async (key: Bytes): Promise<Bytes> => (await sha256(key)).slice(0, 8);

export const commitmentText = (tableId: string, handNo: bigint, rules: Bytes, promise: Commitment): Bytes =>
  message(
    "dealer-commit-sig",
    utf8(promise.origin),
    idBytes(tableId),
    number(handNo, 8),
    rules,
    promise.commitment,
    promise.keyId,
  );

export const closingText = ({ context, dealer }: Binding, closing: Closing): Bytes =>
  message("closing-sig", context, dealer, closing.closing, closing.keyId);

export const commitReceiptText = ({ context, dealer }: Binding, receipt: EntropyReceipt): Bytes =>
  message(
    "receipt-sig",
    context,
    dealer,
    number(receipt.seat, 1),
    idBytes(receipt.playerId),
    receipt.commitment,
    receipt.playerKey,
    number(receipt.position, 8),
    receipt.keyId,
  );

export const revealReceiptText = ({ context, dealer }: Binding, receipt: RevealReceipt): Bytes =>
  message(
    "reveal-receipt-sig",
    context,
    dealer,
    number(receipt.seat, 1),
    idBytes(receipt.playerId),
    receipt.entropy,
    number(receipt.position, 8),
    receipt.keyId,
  );

export const decisionText = (context: Bytes, chain: Bytes, said: string, key: Bytes): Bytes =>
  message("decision-sig", context, chain, utf8(said), key);

export const decisionReceiptText = (context: Bytes, receipt: DecisionReceipt): Bytes =>
  message("decision-receipt-sig", context, receipt.chain, number(receipt.position, 8), receipt.keyId);
