// A seat at a table, or a place to look on from: commands of its player, and their part in chance for as long as it lives.

import { Refusal, roomAddress, sleep } from "../api/connect.js";
import { fromBase64, requestId } from "../api/ids.js";
import { call, session } from "../api/session.js";
import { isDurable } from "../keep/database.js";
import { canonicalId } from "./bytes.js";
import { Chance } from "./chance.js";
import { asFault, Fault } from "./fault.js";
import { linesOf } from "./lines.js";
import { Presence } from "./presence.js";
import { roomKeys } from "./roomkeys.js";
import { Sitting } from "./sitting.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").TableUpdate} TableUpdate */
/** @typedef {import("../types.js").Move} Move */
/** @typedef {import("../types.js").LegalMove} LegalMove */
/** @typedef {import("./cards.js").Proved} Proved */

/**
 * A table that is followed, as store/table.js does.
 * @typedef {EventTarget & {tableId: string, view: TableView | null, connection: string, hold: () => () => void}} FollowedTable
 */

const SERVICE = "sabacc.table.v1.TableService";
const FOLDS = ["MOVE_KIND_FOLD", "MOVE_KIND_JUNK"];
const SIGN_ANEW = ["SIGNATURE_INVALID", "SIGNATURE_NEEDED"];
const SIGN_ATTEMPTS = 5;
const SIGN_WAIT_MS = 80;
const LINGER_MS = 120_000;
const OUTCOMES = 20;
const MOST_BROKEN = 3;
// A stream that is live for so long has nothing on its way from before.
const LOOK_AT_TIME_MS = 60_000;

/** Seats that were closed and have a number to reveal yet, or are dealt in still, by their tables. @type {Map<string, Seat>} */
const lingering = new Map();

/**
 * Events: `proof` (`detail`: `{keys}`, of the cards in `proofs` about which there is news), `notice` (`detail`: `{text}`, for the
 * player), `fault` (`detail`: the `Fault`).
 */
export class Seat extends EventTarget {
  /** Why the room is not trusted any more; the seat commits to no further hand. @type {Fault | null} */
  fault = null;
  /** Plays hands that the player's own number is not in, as they want it. */
  playsBlind = false;
  /** What must not be told twice. @type {Set<string>} */
  #noticed = new Set();
  /** @type {Chance | null} */
  #chance = null;
  /** @type {TableView | null} */
  #seen = null;
  #queue = Promise.resolve();
  /** Why nothing can be checked. */
  #unready = "";
  #closing = new AbortController();
  #presence;
  /** @type {Sitting | null} */
  #sitting = null;
  #changed = (/** @type {Event} */ event) => this.#enqueue(/** @type {CustomEvent} */ (event).detail?.update ?? null);
  #shown = () => this.#weigh();
  #hid = () => this.#isActing && this.#isDealtIn && this.#sitting?.leave();
  /** Lets the table go that a closed seat has to follow on. @type {(() => void) | null} */
  #letGo = null;
  /** Of the last hands, whether each came to nothing. @type {boolean[]} */
  #outcomes = [];
  /** The newest update that was taken in. */
  #sequence = 0n;
  /** Hands without the player's number that they sit out for. @type {Set<string>} */
  #givenUp = new Set();
  /** Counts what the player has asked for of their place, of which the last holds. */
  #asked = 0;
  /** When the stream was last seen to be live, while it goes on to be. @type {number | null} */
  #liveMs = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {FollowedTable} table */
  constructor(table) {
    super();
    this.table = table;
    /** By one name, so that all tabs of the table find the same numbers and evidence. */
    this.tableId = canonicalId(table.tableId);
    this.playerId = session.roles.includes("player") ? (session.player?.id ?? "") : "";
    const before = lingering.get(this.tableId);
    if (before) before.#release();
    this.#presence = new Presence(this.tableId);
    if (!session.canSign) return;
    globalThis.addEventListener?.("pagehide", this.#hid);
    table.addEventListener("change", this.#changed);
    table.addEventListener("connection", this.#shown);
    this.#presence.addEventListener("change", this.#shown);
    if (this.playerId) this.#sitting = new Sitting(this.tableId, this.playerId, this.#call);
    this.#timer = setInterval(() => this.#lookAtTime(), LOOK_AT_TIME_MS);
    /** @type {any} */ (this.#timer).unref?.();
    if (table.view) this.#enqueue(null);
    void this.#takeTurns();
  }

  /**
   * The table is looked at no more. Whoever is dealt in is a part of its chance until they sit out, ten seconds later; the seat
   * sees to that by itself, unless another takes its place.
   */
  close() {
    if (this.#letGo) return;
    if (!this.#isActing || !this.#isNeeded) return this.#release();
    lingering.set(this.tableId, this);
    this.#letGo = this.table.hold();
    this.#presence.leave();
    setTimeout(() => this.#release(), LINGER_MS);
  }

  #release() {
    if (lingering.get(this.tableId) === this) lingering.delete(this.tableId);
    globalThis.removeEventListener?.("pagehide", this.#hid);
    this.table.removeEventListener("change", this.#changed);
    this.table.removeEventListener("connection", this.#shown);
    clearInterval(this.#timer);
    this.#presence.close();
    this.#closing.abort();
    this.#letGo?.();
  }

  /** A call as this seat's player, and as nobody who has signed in since. @type {import("./contribution.js").Call} */
  #call = async (method, request, options) => {
    if (this.playerId && session.player?.id !== this.playerId)
      throw new Refusal("somebody else is signed in now", { code: "unauthenticated" });
    return call(method, request, options);
  };

  get #isDealtIn() {
    const { view } = this.table;
    const state = view?.seats?.find(({ seat }) => seat === view.yourSeat)?.state ?? "";
    return ["SEAT_STATE_PLAYING", "SEAT_STATE_BUYING_IN"].includes(state);
  }

  /** Whether the others at the table may have to wait for this seat's number. */
  get #isNeeded() {
    const { view } = this.table;
    const isAwaited = view?.entropy?.roster?.includes(view.yourSeat ?? 0) ?? false;
    return session.player?.id === this.playerId && (this.#isDealtIn || isAwaited);
  }

  /** What was proved of each card that was shown, by `cardKey` of cards.js. @returns {Map<string, Proved>} */
  get proofs() {
    return this.#chance?.cards.proofs ?? new Map();
  }

  /** Whether the hand in play has the player's number in it, so that their decisions are signed. */
  get isSigned() {
    return this.#chance?.hand?.isSigned ?? false;
  }

  /** Whether nobody has looked for so long that the seat sits out. */
  get isAway() {
    return this.#presence.isAway;
  }

  // ---- Commands ----

  /** Takes a seat; 0 is the lowest free one. @param {{seat?: number, buyIn: string | number}} wanted */
  async sitDown({ seat = 0, buyIn }) {
    if (!session.canSign) throw new Error("This page can only look: it was not loaded over HTTPS or from this very machine.");
    await this.#queue;
    if (this.table.view && !this.#chance) throw new Error(this.#unready || "The room's keys are not known yet: nothing of a hand could be checked.");
    const request = { ...this.#ids(), seat, buyInCredits: String(buyIn) };
    /** @type {import("../types.js").SitDownResponse} */
    const taken = await this.#call(`${SERVICE}/SitDown`, request);
    // Evidence is nowhere else: the browser is asked not to drop it when it needs room.
    void globalThis.navigator?.storage?.persist?.().catch(() => undefined);
    return taken.seat ?? 0;
  }

  /** Leaves the table. True: when the hand in play is over. */
  standUp() {
    this.#asked += 1;
    return this.#leave();
  }

  async #leave() {
    await this.#queue;
    const ids = this.#ids();
    return this.#signing(async (hint) => {
      const hand = this.#handOf();
      const before = hint === undefined ? await hand?.decisions.leaveBase(this.#own) : await hand?.decisions.base(this.#own, hint);
      if (hand && !before) throw unexplained(hint);
      const line = hand?.leaveLine(this.#own) ?? "";
      const signed = hand && before ? await hand.sign(before, line, line) : null;
      /** @type {import("../types.js").StandUpResponse} */
      const answer = await this.#call(`${SERVICE}/StandUp`, { ...ids, signature: signed?.signature ?? "" });
      if (hand && signed && answer.receipt) await this.#judged(() => hand.accept(answer.receipt, signed.chain));
      return answer.afterHand ?? false;
    });
  }

  /** Sits hands out, or is dealt in again, from the next hand on. @param {boolean} isOut */
  async sitOut(isOut) {
    if (this.#sitting) await this.#sitting.want(isOut);
  }

  /**
   * Brings more credits to the seat. A room takes credits at the sitting down alone, so the player leaves and takes the same seat
   * again, between hands.
   * @param {string | number | bigint} amount
   */
  async topUp(amount) {
    const { view } = this.table;
    const own = view?.seats?.find(({ seat }) => seat === view.yourSeat);
    if (!own) throw new Error("You have no seat here.");
    this.#asked += 1;
    const asked = this.#asked;
    await this.#leave();
    const left = await this.#paidOut(own.seat ?? 0);
    if (this.#asked !== asked || this.#letGo || this.#closing.signal.aborted) throw new Error("You have left the table: no credits were brought.");
    const most = BigInt(view?.maxBuyInCredits ?? 0);
    const wanted = BigInt(left.stackCredits ?? 0) + BigInt(amount);
    return this.sitDown({ seat: own.seat, buyIn: String(wanted > most ? most : wanted) });
  }

  /** The player's seat as it is when it is free again. @param {number} seat @returns {Promise<import("../types.js").SeatView>} */
  #paidOut(seat) {
    return new Promise((done) => {
      let last = this.table.view?.seats?.find((taken) => taken.seat === seat) ?? {};
      const look = () => {
        const now = this.table.view?.seats?.find((taken) => taken.seat === seat && taken.playerId === this.playerId);
        last = now ?? last;
        if (now) return;
        this.table.removeEventListener("change", look);
        done(last);
      };
      this.table.addEventListener("change", look);
      look();
    });
  }

  /** Decides. @param {Move} move @param {LegalMove} [legal] the legal move that it is one of */
  async act(move, legal) {
    const { view } = this.table;
    const turn = view?.hand?.turn;
    if (!view?.hand || !turn) throw new Refusal("no decision is due", { code: "failed_precondition", reason: "NOT_YOUR_TURN" });
    const due = { handNo: view.hand.handNo ?? "0", turn: turn.turn ?? 0, seen: view.hand.chain || view.hand.transcript || "" };
    const known = legal ?? turn.legal?.find(({ kind }) => kind === move.kind);
    await this.#queue;
    if (session.canSign && this.#chance?.hand?.handNo !== due.handNo)
      throw this.fault ?? new Error("What this hand is made of could not be checked, so nothing is decided in it.");
    await this.#act(due, move, known);
  }

  /** Agrees to end a hand that stands still. */
  agreeToVoid() {
    return this.act({ kind: "MOVE_KIND_VOID" });
  }

  /**
   * @param {{handNo: string, turn: number, seen: string}} due `seen`: the chain of decisions that the player has decided over
   * @param {Move} move @param {LegalMove | undefined} legal
   */
  #act({ handNo, turn, seen }, move, legal) {
    const request = { ...this.#ids(), handNo, turn, decision: move };
    return this.#signing(async (hint) => {
      const hand = this.#handOf(handNo);
      // Whoever would raise 20 has not said so of what was raised since.
      if (hand && !hand.decisions.isAsSeen(fromBase64(seen), move.kind === "MOVE_KIND_VOID"))
        throw new Refusal("others have decided since", { code: "failed_precondition", reason: "NOT_YOUR_TURN" });
      const before = await hand?.decisions.base(this.#own, hint);
      if (hand && !before) throw unexplained(hint);
      const signed = hand && before ? await this.#signed(hand, before, move, legal) : null;
      /** @type {import("../types.js").ActResponse} */
      const { receipt } = await this.#call(`${SERVICE}/Act`, { ...request, signature: signed?.signature ?? "" });
      if (hand && signed) await this.#judged(() => hand.accept(receipt, signed.chain, before ?? undefined));
    });
  }

  /** @param {import("./hand.js").Hand} hand @param {import("./bytes.js").Bytes} before @param {Move} move @param {LegalMove | undefined} legal */
  #signed(hand, before, move, legal) {
    const cards = this.table.view?.hand?.seats?.find(({ seat }) => seat === this.#own)?.cards ?? [];
    const { line, said } = linesOf(move, legal, { order: hand.decisions.order, seat: this.#own, cards });
    return hand.sign(before, line, said);
  }

  /**
   * Sends what is signed. It is signed anew where somebody's leave came between, or the hand has begun just now.
   * @template T
   * @param {(hint: string | undefined) => Promise<T>} send `hint`: the chain as the room says that it stands
   * @returns {Promise<T>}
   */
  async #signing(send) {
    /** @type {string | undefined} */
    let hint;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(hint);
      } catch (error) {
        if (!(error instanceof Refusal) || !SIGN_ANEW.includes(error.reason) || attempt >= SIGN_ATTEMPTS) throw error;
        // One that nothing explains may be of a moment that has passed.
        hint = hint === undefined || error.metadata.chain !== hint ? error.metadata.chain : undefined;
        // The update that explains it may be on its way.
        await sleep(SIGN_WAIT_MS * attempt);
        await this.#queue;
      }
    }
  }

  #ids() {
    return { requestId: requestId(), tableId: this.tableId };
  }

  /** The seat that the player has in the hand in play, which is theirs until it ends. */
  get #own() {
    const { view } = this.table;
    return view?.hand?.seats?.find(({ playerId }) => playerId === this.playerId)?.seat ?? view?.yourSeat ?? 0;
  }

  /** The hand in which the player signs, if it is in play. @param {string} [handNo] */
  #handOf(handNo = this.table.view?.hand?.handNo) {
    const hand = this.#chance?.hand;
    return hand && hand.isSigned && !hand.hasEnded && hand.handNo === handNo ? hand : null;
  }

  // ---- Chance ----

  /** One tab of the browser commits and reveals; the next one does when it is gone. */
  async #takeTurns() {
    if (!this.playerId) return;
    const lead = async () => {
      if (this.#closing.signal.aborted) return;
      this.#isActing = true;
      this.#do(async () => this.#catchUp());
      await new Promise((done) => this.#closing.signal.addEventListener("abort", done, { once: true }));
    };
    const locks = globalThis.navigator?.locks;
    const name = `sabacc-seat/${this.tableId}/${this.playerId}`;
    const signal = this.#closing.signal;
    await (locks ? locks.request(name, { signal }, lead).catch(() => undefined) : lead());
  }

  #isActing = false;

  async #catchUp() {
    const { view } = this.table;
    if (!this.#chance || !view) return;
    this.#ready(this.#chance);
    await this.#chance.catchUp(view);
  }

  /** Says what may be sent now. @param {Chance} chance */
  #ready(chance) {
    chance.isActing = this.#isActing;
    chance.isLive = this.table.connection === "live";
    chance.goesOn = !this.#presence.isAway && !this.fault;
  }

  /** @param {TableUpdate | null} update */
  #enqueue(update) {
    const { view } = this.table;
    if (!view) return;
    const before = this.#seen;
    this.#seen = view;
    this.#do(async () => {
      if (this.#isOld(view, update)) return;
      const keys = await this.#take(view, update, before);
      if (keys.length > 0) this.dispatchEvent(new CustomEvent("proof", { detail: { keys } }));
      await this.#follow(view);
    });
  }

  /** Work in the order of the stream. @param {() => Promise<void>} work */
  #do(work) {
    this.#queue = this.#queue.then(() => (this.#closing.signal.aborted ? undefined : this.#judged(work))).catch((error) => {
      // What was not reached is tried again with the next update.
      if (!(error instanceof Fault)) this.#notify(error instanceof Error ? error.message : String(error));
    });
  }

  /** Whether a view says nothing new: by one that is older than what was seen nothing is sent. @param {TableView} view @param {TableUpdate | null} update */
  #isOld(view, update) {
    const sequence = BigInt(view.sequence ?? 0);
    const isOld = update ? sequence <= this.#sequence : sequence < this.#sequence;
    if (!isOld) this.#sequence = sequence;
    else if (!update) this.#notify("The room shows the table as it was before. Nothing is sent until it goes on.");
    return isOld;
  }

  /** @param {TableView} view @param {TableUpdate | null} update @param {TableView | null} before */
  async #take(view, update, before) {
    const isNew = !this.#chance;
    this.#chance ??= await this.#begin(view);
    this.#ready(this.#chance);
    if (update?.handEnded || update?.voided) this.#count(update);
    if (update && before && !isNew) return this.#chance.take(view, update, before);
    return this.#chance.begin(view);
  }

  /** Warns where many hands come to nothing. @param {TableUpdate} update */
  #count({ voided }) {
    this.#outcomes = [...this.#outcomes, voided !== undefined].slice(-OUTCOMES);
    const broken = this.#outcomes.filter(Boolean).length;
    if (voided && broken >= MOST_BROKEN)
      this.#notify(`${broken} of the last ${this.#outcomes.length} hands came to nothing, the last of them hand ${voided.handNo}: somebody may be throwing away hands that they dislike.`);
  }

  /** @param {TableView} view */
  async #begin(view) {
    const { keys, isOther } = await roomKeys(roomAddress()).catch((error) => {
      this.#unready = error instanceof Error ? error.message : String(error);
      throw error;
    });
    if (!(await isDurable())) this.#notify("This browser keeps nothing here: evidence, and the numbers that you bring to hands, are lost when the page is left.");
    if (isOther) this.#notify("This room shows other keys than when you first came. Texts that are signed with the new ones are not believed.");
    return new Chance(this.tableId, { playerId: this.playerId, call: this.#call, keys }, view);
  }

  /** Does what the chance asks of the player: sits out, comes back, gives up a hand without the own number. @param {TableView} view */
  async #follow(view) {
    const chance = this.#chance;
    if (this.#letGo && !this.#isNeeded) return this.#release();
    if (!chance || !this.playerId || !view.yourSeat || !this.#isActing) return;
    // What did not reach the room is sent again.
    if (view.entropy || (view.nextHand && BigInt(view.nextHand.handNo ?? 0) > chance.committedTo)) await chance.catchUp(view);
    const hasCommitted = chance.committedTo > BigInt(view.handNo ?? 0);
    await this.#sitting?.follow(view, this.#presence.isAway || this.fault !== null, hasCommitted);
    await this.#giveUp(view, chance);
  }

  /** Folds a hand that the player's own number is not in, and sits out. @param {TableView} view @param {Chance} chance */
  async #giveUp(view, chance) {
    const handNo = (view.entropy ?? view.hand)?.handNo ?? "0";
    if (!chance.blindHands.has(handNo) || this.playsBlind || !chance.isLive) return;
    this.#notify(`Your number is not in hand ${handNo}: whoever made the others may have chosen its cards. It is folded for you, and you sit out.`);
    const turn = view.hand?.turn;
    if (turn && turn.seat === view.yourSeat) {
      const fold = turn.legal?.find(({ kind }) => FOLDS.includes(kind ?? ""));
      const move = fold ? { kind: fold.kind } : turn.defaultMove;
      const seen = view.hand?.chain || view.hand?.transcript || "";
      if (move) void this.#act({ handNo, turn: turn.turn ?? 0, seen }, move, fold).catch(() => undefined);
    }
    if (this.#givenUp.has(handNo)) return;
    await this.#sitting?.stepOut();
    this.#givenUp.add(handNo);
  }

  /** Judges by this device's time, once the stream has been live for a while, and the device awake. */
  #lookAtTime() {
    const now = performance.now();
    const isAwake = this.#liveMs !== null && now - this.#liveMs < 2 * LOOK_AT_TIME_MS;
    const isLive = this.table.connection === "live";
    if (isLive && isAwake) this.#do(async () => this.#chance?.checkTime());
    this.#liveMs = isLive ? now : null;
  }

  #weigh() {
    this.#do(async () => {
      await this.#catchUp();
      if (this.table.view) await this.#follow(this.table.view);
    });
  }

  /** @param {() => Promise<void>} work */
  async #judged(work) {
    try {
      await work();
    } catch (thrown) {
      const error = asFault(thrown, this.table.view?.handNo);
      if (error instanceof Fault && !this.fault) {
        this.fault = error;
        this.dispatchEvent(new CustomEvent("fault", { detail: error }));
      }
      throw error;
    }
  }

  /** @param {string} text */
  #notify(text) {
    if (this.#noticed.has(text)) return;
    this.#noticed.add(text);
    this.dispatchEvent(new CustomEvent("notice", { detail: { text } }));
  }
}

/** The refusal of a signature that no leave explains: what came between has not been shown. @param {string | undefined} chain */
const unexplained = (chain) =>
  new Refusal("the table has not shown what was decided before", {
    code: "failed_precondition",
    reason: "SIGNATURE_INVALID",
    metadata: chain === undefined ? {} : { chain },
  });
