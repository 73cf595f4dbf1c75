// A seat at a table: commands of its player, and their part in chance for as long as it lives.

import { Refusal, sleep } from "../api/connect.js";
import { fromBase64, requestId } from "../api/ids.js";
import { call, session } from "../api/session.js";
import { isDurable } from "../keep/database.js";
import { playerOf } from "./decisions.js";
import { linesOf } from "./lines.js";
import { PlayerChance } from "./player.js";
import { Presence } from "./presence.js";
import { Sitting } from "./sitting.js";
import { Watch } from "./watch.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").Move} Move */
/** @typedef {import("../types.js").LegalMove} LegalMove */
/** @typedef {import("./watch.js").FollowedTable} FollowedTable */

const SERVICE = "sabacc.table.v1.TableService";
const FOLDS = ["MOVE_KIND_FOLD", "MOVE_KIND_JUNK"];
const SIGN_ANEW = ["SIGNATURE_INVALID", "SIGNATURE_NEEDED"];
const SIGN_ATTEMPTS = 5;
const SIGN_WAIT_MS = 80;
const LINGER_MS = 120_000;

/** Seats that were closed and have a number to reveal yet, or are dealt in still, by their tables. @type {Map<string, Seat>} */
const lingering = new Map();

/** The seat of who is signed in as a player, also before they sit down: what they are shown by then is evidence. @extends {Watch<PlayerChance>} */
export class Seat extends Watch {
  /** Plays hands that the player's own number is not in, as they want it. */
  playsBlind = false;
  #presence;
  /** @type {Sitting | null} */
  #sitting = null;
  #shown = () => this.#weigh();
  #hid = () => this.#isActing && this.#isDealtIn && this.#sitting?.leave();
  /** Lets the table go that a closed seat has to follow on. @type {(() => void) | null} */
  #letGo = null;
  /** Hands without the player's number that they sit out for. @type {Set<string>} */
  #givenUp = new Set();
  /** Counts what the player has asked for of their place, of which the last holds. */
  #asked = 0;

  /** @param {FollowedTable} table */
  constructor(table) {
    super(table);
    this.playerId = session.roles.includes("player") ? (session.player?.id ?? "") : "";
    const before = lingering.get(this.tableId);
    if (before) before.release();
    this.#presence = new Presence(this.tableId);
    if (!session.canSign) return;
    globalThis.addEventListener?.("pagehide", this.#hid);
    table.addEventListener("connection", this.#shown);
    this.#presence.addEventListener("change", this.#shown);
    if (this.playerId) this.#sitting = new Sitting(this.tableId, this.playerId, this.#call);
    void this.#takeTurns();
  }

  /**
   * The table is looked at no more. Whoever is dealt in is a part of its chance until they sit out, ten seconds later; the seat
   * sees to that by itself, unless another takes its place.
   * @override
   */
  close() {
    if (this.#letGo) return;
    if (!this.#isActing || !this.#isNeeded) return this.release();
    lingering.set(this.tableId, this);
    this.#letGo = this.table.hold();
    this.#presence.leave();
    setTimeout(() => this.release(), LINGER_MS);
  }

  /** @override */
  release() {
    if (lingering.get(this.tableId) === this) lingering.delete(this.tableId);
    globalThis.removeEventListener?.("pagehide", this.#hid);
    this.table.removeEventListener("connection", this.#shown);
    this.#presence.close();
    super.release();
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

  /** Whether the hand in play has the player's number in it, so that their decisions are signed. */
  get isSigned() {
    return this.chance?.hand?.isSigned ?? false;
  }

  /** Whether nobody has looked for so long that the seat sits out. */
  get isAway() {
    return this.#presence.isAway;
  }

  // ---- Commands ----

  /** Takes a seat; 0 is the lowest free one. @param {{seat?: number, buyIn: string | number}} wanted */
  async sitDown({ seat = 0, buyIn }) {
    if (!session.canSign) throw new Error("This page can only look: it was not loaded over HTTPS or from this very machine.");
    await this.queue;
    if (this.table.view && !this.chance) throw new Error(this.unready || "The room's keys are not known yet: nothing of a hand could be checked.");
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
    await this.queue;
    const ids = this.#ids();
    return this.#signing(async (hint) => {
      const hand = this.#handOf();
      const before = hint === undefined ? await hand?.decisions.leaveBase(this.#own) : await hand?.decisions.base(this.#own, hint);
      if (hand && !before) throw unexplained(hint);
      const line = hand ? `${playerOf(hand.decisions.order, this.#own)} leave` : "";
      const signed = before ? await hand?.own?.sign(before, line, line) : null;
      /** @type {import("../types.js").StandUpResponse} */
      const answer = await this.#call(`${SERVICE}/StandUp`, { ...ids, signature: signed?.signature ?? "" });
      if (signed && answer.receipt) await this.judged(async () => hand?.own?.accept(answer.receipt, signed.chain));
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
    const left = await this.#vacate(own);
    if (this.#asked !== asked || this.#letGo || this.closing.signal.aborted) throw new Error("You have left the table: no credits were brought.");
    const most = BigInt(view?.maxBuyInCredits ?? 0);
    const wanted = BigInt(left.stackCredits ?? 0) + BigInt(amount);
    return this.sitDown({ seat: own.seat, buyIn: String(wanted > most ? most : wanted) });
  }

  /** Leaves a seat. Gives it as it was when it became free, which may be before the room has answered. @param {import("../types.js").SeatView} own */
  async #vacate(own) {
    const listening = new AbortController();
    let last = own;
    const free = new Promise((done) => {
      const look = (/** @type {Event} */ event) => {
        const told = /** @type {CustomEvent} */ (event).detail?.update?.seat;
        const isOwn = told?.vacated && told.seat?.seat === own.seat && told.seat.playerId === this.playerId;
        const now = this.table.view?.seats?.find(({ seat, playerId }) => seat === own.seat && playerId === this.playerId);
        last = now ?? (isOwn ? told.seat : last);
        if (!now) done(undefined);
      };
      this.table.addEventListener("change", look, { signal: listening.signal });
    });
    try {
      await this.#leave();
      await free;
    } finally {
      listening.abort();
    }
    return last;
  }

  /** Decides. @param {Move} move @param {LegalMove} [legal] the legal move that it is one of */
  async act(move, legal) {
    const { view } = this.table;
    const turn = view?.hand?.turn;
    if (!view?.hand || !turn) throw new Refusal("no decision is due", { code: "failed_precondition", reason: "NOT_YOUR_TURN" });
    const due = { handNo: view.hand.handNo ?? "0", turn: turn.turn ?? 0, seen: view.hand.chain || view.hand.transcript || "" };
    const known = legal ?? turn.legal?.find(({ kind }) => kind === move.kind);
    await this.queue;
    if (session.canSign && this.chance?.hand?.handNo !== due.handNo)
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
      if (!hand || !before || !signed) return;
      await this.judged(async () => {
        await hand.own?.accept(receipt, signed.chain);
        hand.decisions.receive(before, signed.chain);
      });
    });
  }

  /** @param {import("./hand.js").Hand} hand @param {import("./bytes.js").Bytes} before @param {Move} move @param {LegalMove | undefined} legal */
  #signed(hand, before, move, legal) {
    const cards = this.table.view?.hand?.seats?.find(({ seat }) => seat === this.#own)?.cards ?? [];
    const { line, said } = linesOf(move, legal, { order: hand.decisions.order, seat: this.#own, cards });
    return hand.own?.sign(before, line, said);
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
        await this.queue;
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
    const hand = this.chance?.hand;
    return hand && hand.isSigned && !hand.hasEnded && hand.handNo === handNo ? hand : null;
  }

  // ---- Chance ----

  /** One tab of the browser commits and reveals; the next one does when it is gone. */
  async #takeTurns() {
    if (!this.playerId) return;
    const lead = async () => {
      if (this.closing.signal.aborted) return;
      this.#isActing = true;
      this.do(async () => this.#catchUp());
      await new Promise((done) => this.closing.signal.addEventListener("abort", done, { once: true }));
    };
    const locks = globalThis.navigator?.locks;
    const name = `sabacc-seat/${this.tableId}/${this.playerId}`;
    const signal = this.closing.signal;
    await (locks ? locks.request(name, { signal }, lead).catch(() => undefined) : lead());
  }

  #isActing = false;

  async #catchUp() {
    const { view } = this.table;
    if (!this.chance || !view) return;
    this.ready(this.chance);
    await this.chance.catchUp(view);
  }

  /** @override @param {TableView} view @param {import("./roomkeys.js").RoomKeys} keys */
  async makeChance(view, keys) {
    if (!(await isDurable())) this.notify("This browser keeps nothing here: evidence, and the numbers that you bring to hands, are lost when the page is left.");
    return new PlayerChance(this.tableId, { playerId: this.playerId, call: this.#call, keys }, view);
  }

  /** @override @param {PlayerChance} chance */
  ready(chance) {
    chance.isActing = this.#isActing;
    chance.isLive = this.table.connection === "live";
    chance.goesOn = !this.#presence.isAway && !this.fault;
  }

  /** Does what the chance asks of the player: sits out, comes back, gives up a hand without the own number. @override @param {TableView} view */
  async follow(view) {
    const chance = this.chance;
    if (this.#letGo && !this.#isNeeded) return this.release();
    if (!chance || !this.playerId || !view.yourSeat || !this.#isActing) return;
    // What did not reach the room is sent again.
    if (view.entropy || (view.nextHand && BigInt(view.nextHand.handNo ?? 0) > chance.committedTo)) await chance.catchUp(view);
    const hasCommitted = chance.committedTo > BigInt(view.handNo ?? 0);
    await this.#sitting?.follow(view, this.#presence.isAway || this.fault !== null, hasCommitted);
    await this.#giveUp(view, chance);
  }

  /** Folds a hand that the player's own number is not in, and sits out. @param {TableView} view @param {PlayerChance} chance */
  async #giveUp(view, chance) {
    const handNo = (view.entropy ?? view.hand)?.handNo ?? "0";
    if (!chance.blindHands.has(handNo) || this.playsBlind || !chance.isLive) return;
    this.notify(`Your number is not in hand ${handNo}: whoever made the others may have chosen its cards. It is folded for you, and you sit out.`);
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

  #weigh() {
    this.do(async () => {
      await this.#catchUp();
      if (this.table.view) await this.follow(this.table.view);
    });
  }
}

/** The refusal of a signature that no leave explains: what came between has not been shown. @param {string | undefined} chain */
const unexplained = (chain) =>
  new Refusal("the table has not shown what was decided before", {
    code: "failed_precondition",
    reason: "SIGNATURE_INVALID",
    metadata: chain === undefined ? {} : { chain },
  });
