// The decisions of one hand, each bound to all before it, and the signatures of this player's own.

import type { LegalMove, Move } from "../gen/sabacc/common/v1/game_pb.js";
import type { DecisionReceipt, HandAction } from "../gen/sabacc/table/v1/table_pb.js";
import { type Bytes, equal } from "./bytes.js";
import * as fair from "./fair.js";
import type { RoomKeys } from "./keys.js";
import { lineOf } from "./moves.js";
import type { HandState } from "./table.js";

// A hand, and this player's place in it.
export interface Own {
  handNo: bigint;
  context: Bytes;
  seat: number;
  // The number of pN in lines.
  player: number;
}

export class Decisions {
  readonly #own: Own;
  readonly #key: CryptoKeyPair;
  readonly #keys: RoomKeys;
  // The chain as the stream has told it, from the transcript on.
  #chain: Uint8Array;
  // Chains that end in a decision that this player has signed.
  readonly #signed: Bytes[] = [];
  // Decisions of this player that came back in the stream.
  seen = 0;

  constructor(own: Own, key: CryptoKeyPair, chain: Uint8Array, keys: RoomKeys) {
    this.#own = own;
    this.#key = key;
    this.#chain = chain;
    this.#keys = keys;
  }

  get handNo(): bigint {
    return this.#own.handNo;
  }

  // Signs a decision for the turn that is due.
  async sign(move: Move, legal: LegalMove, verb: string, hand: HandState): Promise<Bytes> {
    const { context, seat } = this.#own;
    const chain = await fair.chainWith(this.#chain, false, lineOf(move, legal, verb, seat, hand, false));
    const said = lineOf(move, legal, verb, seat, hand, true);
    const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", this.#key.publicKey));
    const text = fair.decisionText(context, chain, said, await fair.keyId(publicKey));
    this.#signed.push(chain);
    return new Uint8Array(await crypto.subtle.sign("Ed25519", this.#key.privateKey, text));
  }

  // Checks the table's word that a decision is on record.
  async accept(receipt: DecisionReceipt | undefined): Promise<void> {
    if (!receipt || !this.#isSigned(receipt.chain)) throw new Error("a receipt for a decision that was not signed");
    await this.#keys.check("table", fair.decisionReceiptText(this.#own.context, receipt), receipt);
  }

  // Goes on from the chain as a view shows it, where the stream could not go on from its token.
  resume(chain: Uint8Array): void {
    this.#chain = chain;
  }

  // Follows the chain: every decision of the hand is in it, and of this player only what they have signed.
  async follow({ handNo, chainLine, byClock, chain, seat }: HandAction): Promise<void> {
    if (handNo !== this.#own.handNo || chainLine === "") return;
    const next = await fair.chainWith(this.#chain, byClock, chainLine);
    if (!equal(next, chain)) throw new Error(`the chain is not that of "${chainLine}"`);
    this.#chain = next;
    if (seat !== this.#own.seat || byClock) return;
    if (!chainLine.startsWith(`p${this.#own.player} `) || !this.#isSigned(next))
      throw new Error(`"${chainLine}" was not signed by this player`);
    this.seen += 1;
  }

  #isSigned(chain: Uint8Array): boolean {
    return this.#signed.some((signed) => equal(signed, chain));
  }
}
