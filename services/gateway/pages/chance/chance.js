// The chance of one table's hands, as this browser takes part in it and checks it: what the table shows is taken in order, one
// thing after the other.
//
// 1. `NextHand`: the dealer has promised; a number is made and committed to.
// 2. `Entropy`, closed: the dealer has signed what the hand is made of; the number is revealed.
// 3. `HandStarted`: the transcript is that of what all have brought, the own number among it.
// 4. `HandAction`: cards lead to the published roots, decisions to the chain.
// 5. `SeedPublished`: the seed is the one that was promised, and the salts of the cards follow from it.

import { fromBase64 } from "../api/ids.js";
import { Cards } from "./cards.js";
import { Contribution } from "./contribution.js";
import { endedLine, Evidence } from "./evidence.js";
import { saltKey } from "./fair.js";
import { Fault } from "./fault.js";
import { Hand } from "./hand.js";
import { Promises } from "./promises.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").TableUpdate} TableUpdate */
/** @typedef {import("../types.js").NextHand} NextHand */
/** @typedef {import("../types.js").Entropy} Entropy */

const PROVED_HANDS = 20n;

export class Chance {
  /** @type {Hand | null} */
  hand = null;
  /** The number that was committed to last. */
  committedTo = 0n;
  /** False: no further hand is committed to. */
  goesOn = true;
  /** Whether this tab is the one that commits and reveals. */
  isActing = false;
  /** Hands that the player's number is not in, though they were dealt into them. @type {Set<string>} */
  blindHands = new Set();
  cards = new Cards();
  /** Beginnings of the hands of which a seed may be told. @type {Map<string, {transcript: string}>} */
  #sealed = new Map();

  /**
   * @param {string} tableId
   * @param {{playerId: string, call: import("./contribution.js").Call, keys: import("./roomkeys.js").RoomKeys}} means
   *     `playerId` empty: a viewer who only checks
   * @param {TableView} view
   */
  constructor(tableId, { playerId, call, keys }, view) {
    const evidence = playerId ? new Evidence(playerId, tableId) : null;
    const agreed = { ruleSet: view.ruleSet ?? "", settings: view.settings ?? "" };
    this.playerId = playerId;
    this.evidence = evidence;
    this.promises = new Promises(tableId, keys, evidence, agreed);
    this.contribution = evidence && new Contribution(tableId, playerId, call, keys, evidence);
  }

  /** Takes in a snapshot. Gives the keys of the cards that were proved. @param {TableView} view */
  async begin(view) {
    this.#look(view);
    const { hand, nextHand, entropy } = view;
    if (hand?.transcript) await this.#startHand(view);
    if (entropy) await this.#collect(view, entropy);
    if (nextHand) await this.#commit(view, nextHand);
    return hand ? this.cards.check(view.variant ?? "", hand) : [];
  }

  /**
   * Takes in an update. Gives the keys of the cards about which there is news.
   * @param {TableView} view with the update in it @param {TableUpdate} update @param {TableView} before
   */
  async take(view, update, before) {
    this.#look(view);
    if (update.seat) await this.#seatChanged(view, update.seat);
    else if (update.nextHand) await this.#commit(view, update.nextHand);
    else if (update.entropy) await this.#opened(view, update.entropy, before);
    else if (update.handStarted) await this.#startHand(view);
    else if (update.action) return this.#act(view, update.action);
    else if (update.handEnded && view.hand) return this.#end(view, update.handEnded.handNo);
    else if (update.voided) await this.#void(view, update.voided);
    else if (update.seed) return this.#open(update.seed);
    return [];
  }

  /** @param {TableView} view */
  #look({ yourSeat, hand }) {
    const isIn = hand?.seats?.some(({ playerId }) => playerId === this.playerId) ?? false;
    if (this.evidence) this.evidence.isKept = isIn || Boolean(yourSeat);
  }

  /** Does what is due by a view: this tab has become the one that acts, or somebody looks again. @param {TableView} view */
  async catchUp(view) {
    if (view.entropy) await this.#collect(view, view.entropy);
    if (view.nextHand) await this.#commit(view, view.nextHand);
  }

  /** @param {TableView} view @param {import("../types.js").SeatChanged} changed */
  async #seatChanged(view, { seat, vacated }) {
    if (seat?.state === "SEAT_STATE_LEAVING" && !vacated) this.hand?.decisions.leaveAsked(seat.seat ?? 0);
    // Whoever has sat down commits at once: when the hand opens it may be too late.
    if (seat?.seat === view.yourSeat) await this.catchUp(view);
  }

  /** @param {TableView} view @param {NextHand | Entropy} next */
  async #commit(view, next) {
    const { handNo = "0" } = next;
    const binding = await this.promises.check(next);
    const seat = view.seats?.find((taken) => taken.seat === view.yourSeat);
    const isDue = this.isActing && this.goesOn && seat?.state === "SEAT_STATE_PLAYING" && BigInt(handNo) > this.committedTo;
    if (!isDue || !this.contribution) return;
    if (await this.contribution.commit(handNo, seat.seat ?? 0, binding)) this.committedTo = BigInt(handNo);
  }

  /** @param {TableView} view @param {Entropy} entropy @param {TableView} before */
  async #opened(view, entropy, before) {
    const { handNo = "0" } = entropy;
    const last = before.hand;
    const isEarly = last && last.handNo !== handNo && last.phase !== "HAND_PHASE_OVER";
    if (isEarly) throw new Fault("table", handNo, `it was opened before hand ${last.handNo} had ended`);
    const expected = BigInt(before.handNo ?? 0) + (before.entropy?.handNo === handNo ? 0n : 1n);
    if (BigInt(handNo) !== expected) throw new Fault("table", handNo, `it was opened in place of hand ${expected}`);
    await this.#collect(view, entropy);
  }

  /** A hand is open: it is committed to, or, once that is closed, revealed for. @param {TableView} view @param {Entropy} entropy */
  async #collect(view, entropy) {
    const { handNo = "0", roster = [], closed } = entropy;
    const seat = view.yourSeat ?? 0;
    const isIn = roster.includes(seat);
    if (!closed) {
      if (isIn) await this.#commit(view, entropy);
      return;
    }
    const binding = await this.promises.check(entropy);
    if (!isIn || !this.isActing || !this.contribution) return;
    const hasNumber = await this.contribution.reveal(entropy, seat, binding);
    if (!hasNumber) this.blindHands.add(handNo);
  }

  /** @param {TableView} view */
  async #startHand(view) {
    const { hand } = view;
    if (!hand?.transcript) return;
    const handNo = hand.handNo ?? "0";
    const leaving = (view.seats ?? []).filter(({ state }) => state === "SEAT_STATE_LEAVING").map(({ seat = 0 }) => seat);
    if (this.hand?.handNo === handNo) return this.hand.resume(hand, leaving);
    const promise = { handNo, commitment: hand.dealer, ruleSet: hand.ruleSet, settings: hand.settings };
    const binding = hand.dealer ? await this.promises.check(promise) : this.promises.of(handNo);
    if (!binding) throw new Fault("table", handNo, "the dealer's promise is missing");
    this.hand = await Hand.begin(hand, binding, await this.#own(hand, handNo), this.evidence);
    this.hand.resume(hand, leaving);
    this.#sealed.set(handNo, { transcript: hand.transcript });
    this.cards.forgetBefore(BigInt(handNo) - PROVED_HANDS);
  }

  /** What the player has brought to a hand, wherever they sat. @param {import("../types.js").HandView} hand @param {string} handNo */
  async #own(hand, handNo) {
    const seat = hand.seats?.find(({ playerId }) => playerId === this.playerId)?.seat;
    if (!this.contribution || !seat) return null;
    const part = await this.contribution.part(handNo, seat);
    return part ? { contribution: this.contribution, part, playerId: this.playerId } : null;
  }

  /** @param {TableView} view @param {import("../types.js").HandAction} action */
  async #act(view, action) {
    if (this.hand?.handNo === action.handNo) await this.hand?.follow(action, this.evidence);
    return view.hand ? this.cards.check(view.variant ?? "", view.hand, action) : [];
  }

  /** @param {TableView} view @param {string | undefined} handNo */
  async #end(view, handNo) {
    await this.#ended(handNo);
    return view.hand ? this.cards.check(view.variant ?? "", view.hand) : [];
  }

  /** From here on the player's number may be shown. @param {string | undefined} handNo */
  async #ended(handNo = "0") {
    const binding = this.promises.of(handNo);
    if (this.hand?.handNo === handNo) this.hand.hasEnded = true;
    if (binding) await this.evidence?.keep(handNo, endedLine(binding.context));
  }

  /** @param {TableView} view @param {import("../types.js").HandVoided} voided */
  async #void(view, voided) {
    const binding = this.promises.of(voided.handNo);
    await this.#ended(voided.handNo);
    if (binding && this.isActing) await this.contribution?.openBurnt(voided, view.yourSeat ?? 0, binding);
  }

  /** @param {import("../types.js").SeedPublished} told */
  async #open(told) {
    const { handNo = "0", seed } = told;
    await this.promises.checkSeed(told);
    const sealed = this.#sealed.get(handNo);
    this.#sealed.delete(handNo);
    if (!sealed) return [];
    return this.cards.checkSalts(handNo, await saltKey(fromBase64(sealed.transcript), fromBase64(seed)));
  }
}
