// The chance of one table's hands, as this browser checks it: what the table shows is taken in order, one thing after the other.
// What a player brings to it, and sends, is in player.js.
//
// 1. `NextHand`: the dealer has promised.
// 2. `Entropy`, closed: the dealer has signed what the hand is made of.
// 3. `HandStarted`: the hand was dealt from what was closed, and each number is the one that was committed to.
// 4. `HandAction`: cards lead to the published roots, decisions to the chain.
// 5. `SeedPublished`: the seed is the one that was promised, and the order and the salts of the cards
//    follow from it.
//
// Every step is demanded: what is missing where it is due is a `Fault`.

import { fromBase64 } from "../api/ids.js";
import { checkAbort, Suspensions } from "./aborts.js";
import { equal } from "./bytes.js";
import { Cards } from "./cards.js";
import { checkClosing } from "./closing.js";
import { saltKey } from "./fair.js";
import { asFault, Fault } from "./fault.js";
import { Hand } from "./hand.js";
import { Agreement, Promises } from "./promises.js";
import { numberOf, Sequence } from "./sequence.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").TableUpdate} TableUpdate */
/** @typedef {import("../types.js").NextHand} NextHand */
/** @typedef {import("../types.js").Entropy} Entropy */
/** @typedef {import("./closing.js").Closed} Closed */
/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("./closing.js").Place} Place */

const PROVED_HANDS = 20n;
const OVER = "HAND_PHASE_OVER";
/** Shortest time between a burn's record and the next number with who withheld in it: 30 seconds, less those by which a record may be late. */
const EXCLUSION_MS = 20_000;

export class Chance {
  /** @type {Hand | null} */
  hand = null;
  /** Whose chance it is; empty: a viewer's who only checks. */
  playerId = "";
  /** Hands that the player's number is not in, though they were dealt into them. @type {Set<string>} */
  blindHands = new Set();
  cards = new Cards();
  /** Beginnings of the hands of which a seed may be told. @type {Map<string, {transcript: string}>} */
  #sealed = new Map();
  /** The number that is open and not dealt, and who is in it. @type {{handNo: string, roster: Place[]} | null} */
  #open = null;
  /** @protected @type {Map<string, Closed>} */
  closings = new Map();
  /** Until when players who withheld are dealt into no number, at the least. @type {Map<string, number>} */
  #excluded = new Map();
  /** A hand of which the last snapshot showed nothing: the table has lost its cards, or it was never dealt. */
  #bare = "";
  /** Numbers in which something was wrong: nothing is revealed for them. @protected @type {Set<string>} */
  faulty = new Set();
  /** Whether something that was shown could not be taken in, as with a full disk: the next view is begun with. */
  #isBehind = false;

  /**
   * @param {string} tableId
   * @param {{keys: import("./roomkeys.js").RoomKeys, own?: () => number, evidence?: import("./evidence.js").Evidence | null}} means
   *     `own`: this device's time, in milliseconds; `evidence`: where a player keeps what was signed
   * @param {TableView} view
   */
  constructor(tableId, { keys, own, evidence = null }, view) {
    this.keys = keys;
    this.evidence = evidence;
    this.agreed = new Agreement(view);
    this.sequence = new Sequence(own);
    this.suspensions = new Suspensions(this.agreed.suspendMs);
    this.promises = new Promises(tableId, keys, evidence, this.agreed);
  }

  /** Takes in a snapshot. Gives the keys of the cards that were proved. @param {TableView} view */
  async begin(view) {
    this.#look(view);
    const news = await this.#seen(view.handNo, () => this.#shown(view));
    await this.catchUp(view);
    return news;
  }

  /**
   * Takes in an update. Gives the keys of the cards about which there is news.
   * @param {TableView} view with the update in it @param {TableUpdate} update @param {TableView} before
   */
  async take(view, update, before) {
    if (this.#isBehind) return this.begin(view);
    this.#look(view);
    const news = await this.#seen(view.handNo, async () => {
      const late = faultOf(() => this.sequence.tellTime(Date.parse(update.recordTime ?? "")));
      const found = await this.#told(view, update, before);
      if (late) throw late;
      return found;
    });
    const isOwn = update.seat?.seat?.seat !== undefined && update.seat.seat.seat === view.yourSeat;
    // Whoever has sat down commits at once: when the hand opens it may be too late.
    if (update.nextHand || update.entropy || isOwn) await this.catchUp(view);
    return news;
  }

  // ---- What a player adds ----

  /** Does what is due by a view: this tab has become the one that acts, or somebody looks again. @param {TableView} _view */
  async catchUp(_view) {}

  /** Checks the player's own row of a closing. @protected @param {Closed} _closed @param {Place[]} _places @param {Entropy} _entropy @param {number} _seat */
  async checkOwnRow(_closed, _places, _entropy, _seat) {}

  /** What the player has brought to a hand. @protected @param {import("../types.js").HandView} _hand @param {Binding} _binding @returns {Promise<import("./own.js").Own | null>} */
  async ownOf(_hand, _binding) {
    return null;
  }

  /** Judges whom a burn blames. Gives what is to be done about it. @protected @param {import("../types.js").HandVoided} _voided @param {number} _seat @returns {Promise<() => Promise<void>>} */
  async judgeBurn(_voided, _seat) {
    return async () => {};
  }

  // ---- What is taken in ----

  /** Judges by this device's own time, while the stream is live. */
  checkTime() {
    return this.judged("", async () => this.sequence.checkOwnTime());
  }

  /** Takes in what was shown. @template T @param {string | undefined} handNo @param {() => Promise<T>} work */
  async #seen(handNo, work) {
    this.#isBehind = true;
    try {
      const found = await this.judged(handNo, work);
      this.#isBehind = false;
      return found;
    } catch (error) {
      if (error instanceof Fault) this.#isBehind = false;
      throw error;
    }
  }

  /** @protected @template T @param {string | undefined} handNo @param {() => Promise<T>} work */
  async judged(handNo, work) {
    try {
      return await work();
    } catch (error) {
      const fault = asFault(error, handNo);
      if (fault instanceof Fault) this.faulty.add(fault.handNo);
      throw fault;
    }
  }

  /** @param {TableView} view */
  #look({ yourSeat, hand }) {
    const isIn = hand?.seats?.some(({ playerId }) => playerId === this.playerId) ?? false;
    if (this.evidence) this.evidence.isKept = isIn || Boolean(yourSeat);
  }

  // ---- What is shown ----

  /** @param {TableView} view */
  async #shown(view) {
    this.agreed.check(view.handNo, view);
    const { entropy, hand, nextHand } = view;
    const dealt = numberOf(hand?.handNo);
    const isOver = hand?.phase === OVER || (!hand?.phase && this.sequence.hasEnded(dealt));
    const open = entropy ? numberOf(entropy.handNo) : null;
    const inPlay = hand && !isOver ? dealt : null;
    const last = [numberOf(view.handNo), open ?? 0n, inPlay ?? 0n].reduce((most, one) => (one > most ? one : most));
    this.sequence.snapshot(last, open, inPlay);
    // A snapshot has no time of the table's to hold anybody to.
    this.#excluded.clear();
    [this.#open, this.#bare] = [null, ""];
    const stands = entropy?.suspension ? entropy : hand;
    this.suspensions.tell(stands?.handNo ?? "0", stands?.suspension, null);
    if (entropy) await this.#opened(view, entropy);
    if (nextHand) await this.#promised(nextHand);
    if (!hand) return [];
    await this.#startHand(view);
    return this.cards.check(this.agreed.variant, hand);
  }

  /** @param {TableView} view @param {TableUpdate} update @param {TableView} before @returns {Promise<string[]>} */
  async #told(view, update, before) {
    if (update.seat) this.#seatChanged(update.seat);
    else if (update.nextHand) await this.#promised(update.nextHand);
    else if (update.entropy) await this.#opened(view, update.entropy);
    else if (update.handStarted) await this.#started(view, update.handStarted);
    else if (update.action) return this.#act(view, update.action);
    else if (update.handEnded) return this.#end(view, update.handEnded);
    else if (update.voided) await this.#void(view, update.voided, before);
    else if (update.suspension) this.#suspended(update.suspension);
    else if (update.seed) return this.#seedOpened(update.seed);
    return [];
  }

  /** @param {import("../types.js").SeatChanged} changed */
  #seatChanged({ seat, vacated }) {
    if (seat?.state === "SEAT_STATE_LEAVING" && !vacated) this.hand?.decisions.leaveAsked(seat.seat ?? 0);
  }

  /** @param {import("../types.js").SuspensionChanged} changed */
  #suspended({ handNo = "0", suspension }) {
    this.suspensions.tell(handNo, suspension, this.sequence.toldMs);
  }

  /** @param {NextHand} next */
  async #promised(next) {
    this.sequence.promised(numberOf(next.handNo));
    await this.promises.check(next);
  }

  /** A number is open, or closed. @param {TableView} view @param {Entropy} entropy */
  async #opened(view, entropy) {
    const { handNo = "0", roster = [], closed, closing } = entropy;
    this.sequence.opened(numberOf(handNo));
    const binding = await this.promises.check(entropy);
    const known = this.#open?.handNo === handNo ? this.#open.roster : null;
    const nameOf = (/** @type {number} */ seat) => view.seats?.find((taken) => taken.seat === seat)?.playerId ?? "";
    // Who sits down later is not in the hand: the roster is fixed when it opens.
    const places = known ?? roster.map((seat) => ({ seat, playerId: nameOf(seat) }));
    if (places.map(({ seat }) => seat).join() !== roster.join()) throw new Fault("table", handNo, "it has another roster than before");
    const early = places.find(({ playerId }) => (this.#excluded.get(playerId) ?? 0) > this.sequence.toldMs);
    if (early) throw new Fault("table", handNo, `seat ${early.seat} has withheld its number just now, and is dealt in`);
    this.#open = { handNo, roster: places };
    if (!closed) return;
    const before = this.closings.get(handNo);
    try {
      const found = await checkClosing(handNo, closing, places, binding, { keys: this.keys, evidence: this.evidence });
      if (before && !equal(fromBase64(before.closing), fromBase64(found.closing)))
        throw new Fault("dealer", handNo, "the dealer has closed it twice, in different ways");
      await this.checkOwnRow(found, places, entropy, view.yourSeat ?? 0);
      this.closings.set(handNo, before ?? found);
    } catch (error) {
      if (before) before.isDisputed = true;
      throw error;
    }
  }

  /** @param {TableView} view @param {import("../types.js").HandStarted} started */
  async #started(view, { handNo = "0", commitment }) {
    this.sequence.opened(numberOf(handNo));
    const binding = this.promises.of(handNo);
    if (!binding || !equal(binding.dealer, fromBase64(commitment))) throw new Fault("table", handNo, "it goes back to another promise of the dealer's");
    if (view.hand?.handNo !== handNo || !view.hand.transcript) throw new Fault("table", handNo, "its transcript is missing");
    if (!this.closings.has(handNo)) throw new Fault("table", handNo, "it was dealt before it was closed");
    await this.#startHand(view);
    this.#open = null;
  }

  /** Begins to follow the hand of a view, or goes on. @param {TableView} view */
  async #startHand(view) {
    const { hand = {} } = view;
    const handNo = hand.handNo ?? "0";
    const isBare = !hand.seats?.length && !hand.turn;
    if (!hand.transcript && (isBare || hand.phase === OVER)) return void (this.#bare = handNo);
    const promise = { handNo, commitment: hand.dealer, ruleSet: hand.ruleSet, settings: hand.settings };
    const binding = hand.dealer ? await this.promises.check(promise) : this.promises.of(handNo);
    if (!binding) throw new Fault("table", handNo, "the dealer's promise is missing");
    const leaving = (view.seats ?? []).filter(({ state }) => state === "SEAT_STATE_LEAVING").map(({ seat = 0 }) => seat);
    if (this.hand?.handNo !== handNo) {
      this.hand = await Hand.begin(hand, binding, await this.ownOf(hand, binding), this.closings.get(handNo), this.evidence);
      this.#forget(handNo);
    }
    this.hand.resume(hand, leaving);
    const row = hand.rows?.find(({ playerId }) => playerId === this.playerId);
    if (row?.status === "ENTROPY_STATUS_ABSENT") this.blindHands.add(handNo);
    if (!this.#sealed.has(handNo)) this.#sealed.set(handNo, { transcript: hand.transcript ?? "" });
  }

  /** Forgets what is long past. @param {string} handNo */
  #forget(handNo) {
    this.cards.forgetBefore(numberOf(handNo) - PROVED_HANDS);
    for (const known of [this.closings.keys(), this.blindHands].flatMap((numbers) => [...numbers]))
      if (numberOf(known) < numberOf(handNo)) {
        this.closings.delete(known);
        this.blindHands.delete(known);
      }
  }

  /** @param {TableView} view @param {import("../types.js").HandAction} action */
  async #act(view, action) {
    const { handNo = "0" } = action;
    if (this.hand?.handNo !== handNo && this.#bare !== handNo) throw new Fault("table", handNo, "what the seats brought to it is missing");
    if (this.hand?.handNo === handNo) await this.hand.follow(action, this.evidence);
    return view.hand ? this.cards.check(this.agreed.variant, view.hand, action) : [];
  }

  /** @param {TableView} view @param {import("../types.js").HandEnded} ended */
  async #end(view, { handNo = "0" }) {
    this.sequence.mayEnd(numberOf(handNo));
    await this.#ended(handNo, this.agreed.seedDelayMs);
    return view.hand ? this.cards.check(this.agreed.variant, view.hand) : [];
  }

  /** From here on the player's number may be shown. @param {string} handNo @param {number} delayMs of its seed */
  async #ended(handNo, delayMs) {
    const binding = this.promises.of(handNo);
    this.sequence.ended(numberOf(handNo));
    if (this.hand?.handNo === handNo) this.hand.hasEnded = true;
    if (!binding) return;
    this.sequence.expectSeed(numberOf(handNo), delayMs);
    await this.evidence?.keepEnd(handNo, binding.context);
  }

  /** @param {TableView} view @param {import("../types.js").HandVoided} voided @param {TableView} before */
  async #void(view, voided, before) {
    const { handNo = "0", cause } = voided;
    this.sequence.mayEnd(numberOf(handNo));
    const hand = this.hand?.handNo === handNo ? this.hand : null;
    const isOpen = this.#open?.handNo === handNo;
    const closed = this.closings.get(handNo);
    let answer = async () => {};
    try {
      if (hand || isOpen) {
        const known = { untilMs: this.suspensions.untilMs(handNo), nowMs: this.sequence.toldMs };
        const hasAgreed = !hand?.own || (await hand.own.mayEndAgreed(before.hand?.standing));
        checkAbort(voided, { ...known, isDealt: hand !== null, hasAgreed });
      }
      if (cause === "ABORT_CAUSE_WITHHELD" && isOpen && !closed) throw new Fault("table", handNo, "it was burnt before it was closed");
      answer = await this.judgeBurn(voided, view.yourSeat ?? 0);
    } finally {
      // The seed of a burnt number is opened at once.
      await this.#ended(handNo, cause === "ABORT_CAUSE_WITHHELD" ? 0 : this.agreed.seedDelayMs);
      if (isOpen) this.#exclude(voided);
      if (isOpen) this.#open = null;
    }
    await answer();
  }

  /** Notes who sits out after a burn. @param {import("../types.js").HandVoided} voided */
  #exclude({ cause, seats = [] }) {
    if (cause !== "ABORT_CAUSE_WITHHELD") return;
    const now = this.sequence.toldMs;
    for (const [playerId, until] of this.#excluded) if (until <= now) this.#excluded.delete(playerId);
    for (const { seat, playerId } of this.#open?.roster ?? []) if (playerId && seats.includes(seat)) this.#excluded.set(playerId, now + EXCLUSION_MS);
  }

  /** @param {import("../types.js").SeedPublished} told */
  async #seedOpened(told) {
    const { handNo = "0", seed } = told;
    if (this.promises.of(handNo)) this.sequence.seedOpened(numberOf(handNo));
    await this.promises.checkSeed(told);
    if (this.promises.of(handNo) && !this.sequence.mayOpen(numberOf(handNo)) && this.#bare !== handNo)
      throw new Fault("dealer", handNo, "its seed was opened before it had ended");
    const sealed = this.#sealed.get(handNo);
    this.#sealed.delete(handNo);
    if (!sealed) return [];
    const transcript = fromBase64(sealed.transcript);
    await this.cards.checkOrder(handNo, this.agreed.variant, transcript, fromBase64(seed));
    return this.cards.checkSalts(handNo, await saltKey(transcript, fromBase64(seed)));
  }
}

/** The fault that something throws, or null. @param {() => void} work */
function faultOf(work) {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
}
