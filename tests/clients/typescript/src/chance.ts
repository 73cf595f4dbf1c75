// A player's part in the chance of a table's hands: a number of their own that nobody knows, committed to before the
// hand and revealed once the dealer has signed what everybody has committed to. Whatever the room says on the way is
// checked.
//
// This client keeps its numbers in memory. One that must survive its program's end writes them to disk before it sends
// what speaks of them, or derives them from one secret: crates/fairness/SPEC.md section 5.4.

import type { Closing, Commitment, EntropyRow } from "../gen/sabacc/common/v1/chance_pb.js";
import {
  CommitEntropyResponseSchema,
  type Entropy,
  type HandSeat,
  type NextHand,
  RevealEntropyResponseSchema,
  SeatState,
  type SeatView,
  type SeedPublished,
} from "../gen/sabacc/table/v1/table_pb.js";
import { type Bytes, equal, random, requestId } from "./bytes.js";
import { Decisions } from "./decisions.js";
import * as fair from "./fair.js";
import type { RoomKeys } from "./keys.js";
import { twice } from "./repeat.js";
import { reasonOf, type Room } from "./room.js";
import type { TableEvent } from "./table.js";

// What this player has brought to a hand.
interface Part {
  seat: number;
  entropy: Bytes;
  commitment: Bytes;
  key: CryptoKeyPair;
  revealed: boolean;
}

export class Chance {
  readonly #promises = new Map<bigint, fair.Binding>();
  readonly #parts = new Map<bigint, Part>();
  // The hand to come, once the dealer has committed to it.
  #next: NextHand | undefined;
  readonly #room: Room;
  readonly #tableId: string;
  readonly #playerId: string;
  readonly #keys: RoomKeys;
  // The decisions of the hand in play, where this player's number is in it.
  decisions: Decisions | undefined;
  // False: no further hand is committed to.
  goesOn = true;

  constructor(room: Room, tableId: string, playerId: string, keys: RoomKeys) {
    this.#room = room;
    this.#tableId = tableId;
    this.#playerId = playerId;
    this.#keys = keys;
  }

  // Takes in what the table shows, after `seat`, the player's own, is known; does what is due.
  async apply(event: TableEvent, seat: SeatView | undefined): Promise<void> {
    if ("view" in event) {
      const { hand, nextHand, entropy } = event.view;
      if (hand && hand.transcript.length > 0)
        await this.#promised(hand.handNo, hand.dealer, hand.ruleSet, hand.settings);
      this.#next = nextHand;
      if (nextHand) await this.#commit(nextHand, seat);
      if (entropy) await this.#collect(entropy, seat);
      if (hand) await this.#seal(hand.handNo, hand.rows, hand.transcript, hand.chain, hand.seats);
      return;
    }
    const { what } = event.update;
    switch (what.case) {
      case "seat":
        // Whoever has sat down commits at once: when the hand opens it may be too late.
        return this.#next && this.#commit(this.#next, seat);
      case "nextHand":
        this.#next = what.value;
        return this.#commit(what.value, seat);
      case "entropy":
        return this.#collect(what.value, seat);
      case "handStarted": {
        const { handNo, rows, transcript, seats } = what.value;
        return this.#seal(handNo, rows, transcript, transcript, seats);
      }
      case "action":
        return this.decisions?.follow(what.value);
      case "seed":
        return this.#checkSeed(what.value);
    }
  }

  // Keeps the dealer's promise for a hand, which must be signed, and never another one for it.
  async #promised(handNo: bigint, promise: Commitment | undefined, ruleSet: string, settings: string): Promise<void> {
    if (!promise) throw new Error(`hand ${handNo} has no commitment of the dealer`);
    if (promise.origin !== this.#keys.origin) throw new Error(`${promise.origin} is not this room's dealer`);
    const rules = await fair.rulesHash(ruleSet, settings);
    await this.#keys.check("dealer", fair.commitmentText(this.#tableId, handNo, rules, promise), promise);
    const context = await fair.contextOf(promise.origin, this.#tableId, handNo, rules);
    const dealer = new Uint8Array(promise.commitment);
    const before = this.#promises.get(handNo);
    if (before && !(equal(before.dealer, dealer) && equal(before.context, context)))
      throw new Error(`the dealer has promised hand ${handNo} twice`);
    this.#promises.set(handNo, { context, dealer });
  }

  async #commit(next: NextHand | Entropy, seat: SeatView | undefined): Promise<void> {
    const { handNo } = next;
    await this.#promised(handNo, next.commitment, next.ruleSet, next.settings);
    if (!this.goesOn || seat?.state !== SeatState.PLAYING || this.#parts.has(handNo)) return;
    const binding = this.#binding(handNo);
    const entropy = random(32);
    const commitment = await fair.clientCommitment(binding, { seat: seat.seat, playerId: this.#playerId }, entropy);
    const key = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", key.publicKey));
    this.#parts.set(handNo, { seat: seat.seat, entropy, commitment, key, revealed: false });
    const request = { requestId: requestId(), tableId: this.#tableId, handNo, commitment, key: publicKey };
    try {
      const { receipt } = await twice(CommitEntropyResponseSchema, () => this.#room.tables.commitEntropy(request));
      if (!receipt || !equal(receipt.commitment, commitment) || !equal(receipt.playerKey, publicKey))
        throw new Error("a receipt for another commitment");
      await this.#keys.check("table", fair.commitReceiptText(binding, receipt), receipt);
    } catch (error) {
      // It came too late for this number: the seat is dealt in without one, or waits for the next.
      if (!["CHANCE_REFUSED", "NOT_YOUR_SEAT"].includes(reasonOf(error))) throw error;
      this.#parts.delete(handNo);
    }
  }

  // A hand is open: commit to it, or, once commitments are closed, reveal.
  async #collect(open: Entropy, seat: SeatView | undefined): Promise<void> {
    const { handNo, roster, closed, closing } = open;
    if (this.#next?.handNo === handNo) this.#next = undefined;
    if (!closed) return roster.includes(seat?.seat ?? 0) ? this.#commit(open, seat) : undefined;
    await this.#promised(handNo, open.commitment, open.ruleSet, open.settings);
    const part = this.#parts.get(handNo);
    if (!part || part.revealed || !roster.includes(part.seat)) return;
    await this.#checkClosing(this.#binding(handNo), part, roster, closing);
    const request = { requestId: requestId(), tableId: this.#tableId, handNo, entropy: part.entropy };
    const { receipt } = await twice(RevealEntropyResponseSchema, () => this.#room.tables.revealEntropy(request));
    if (!receipt || !equal(receipt.entropy, part.entropy)) throw new Error("a receipt for another number");
    await this.#keys.check("table", fair.revealReceiptText(this.#binding(handNo), receipt), receipt);
    part.revealed = true;
  }

  // Nobody reveals before the dealer has signed what all seats of the roster, and this one, have committed to.
  async #checkClosing(
    binding: fair.Binding,
    part: Part,
    roster: number[],
    closing: Closing | undefined,
  ): Promise<void> {
    if (!closing || !equal(closing.closing, await fair.closingOf(binding, closing.rows)))
      throw new Error("the closing is not that of its rows");
    await this.#keys.check("dealer", fair.closingText(binding, closing), closing);
    if (closing.rows.map(({ seat }) => seat).join() !== [...roster].sort((a, b) => a - b).join())
      throw new Error("the closing is of another roster");
    const own = closing.rows.find(({ seat, playerId }) => seat === part.seat && playerId === this.#playerId);
    if (!own || !equal(own.commitment, part.commitment))
      throw new Error("the closing has another commitment of this player");
  }

  // The hand is sealed: from here on its chance is determined, by this player's number too.
  async #seal(
    handNo: bigint,
    rows: EntropyRow[],
    transcript: Uint8Array,
    chain: Uint8Array,
    seats: HandSeat[],
  ): Promise<void> {
    const part = this.#parts.get(handNo);
    if (this.decisions?.handNo === handNo) return this.decisions.resume(chain);
    if (!part?.revealed || transcript.length === 0) return;
    const binding = this.#binding(handNo);
    if (!equal(transcript, await fair.transcriptOf(binding, rows)))
      throw new Error("the transcript is not that of its rows");
    const own = rows.find(({ seat, playerId }) => seat === part.seat && playerId === this.#playerId);
    if (!own || !equal(own.entropy, part.entropy)) throw new Error("this player's number is not in the hand");
    const player = seats.findIndex(({ seat }) => seat === part.seat) + 1;
    this.decisions = new Decisions(
      { handNo, context: binding.context, seat: part.seat, player },
      part.key,
      chain,
      this.#keys,
    );
  }

  async #checkSeed({ handNo, seed, refused }: SeedPublished): Promise<void> {
    const binding = this.#promises.get(handNo);
    if (!binding) return;
    if (refused || !equal(binding.dealer, await fair.seedCommitment(binding.context, seed)))
      throw new Error(`the seed of hand ${handNo} is not the one that the dealer had committed to`);
  }

  #binding(handNo: bigint): fair.Binding {
    const binding = this.#promises.get(handNo);
    if (!binding) throw new Error(`hand ${handNo} was never promised`);
    return binding;
  }
}
