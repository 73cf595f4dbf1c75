// A table, followed: one stream for all tabs of this browser, folded into one view.

import { Refusal } from "../api/connect.js";
import { session } from "../api/session.js";
import { ServerClock } from "./clock.js";
import { fold, isNext } from "./fold.js";
import { follow, share } from "./follow.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").TableUpdate} TableUpdate */
/** @typedef {import("../types.js").WatchTableResponse} WatchTableResponse */
/** @typedef {"live" | "catching up" | "stale"} Connection */

/**
 * A hand that is over: how it ended, and with which cards, as far as they were shown.
 * @typedef {object} LastHand
 * @property {string} handNo
 * @property {import("../types.js").HandView | null} hand null: it was burnt before anything was dealt.
 * @property {import("../types.js").HandVoided | null} voided Why it came to nothing; null: it was settled.
 * @property {string} rakeCredits
 * @property {number | null} endMs The server's time.
 */

const METHOD = "sabacc.table.v1.TableService/WatchTable";
const MOST_LAST_HANDS = 20;

export class TableStore extends EventTarget {
  /** @type {TableView | null} */
  view = null;
  /** @type {Connection} */
  connection = "catching up";
  /** This device's time at which the last message came, while the connection is stale. @type {number | null} */
  staleSince = null;
  /** Newest first. @type {LastHand[]} */
  lastHands = [];
  /** What ended the following for good: there is no such table, say. @type {Refusal | null} */
  refusal = null;
  #clock = new ServerClock();
  #lastMessageMs = Date.now();
  #resumeToken = "";
  #viewer = "";
  #holders = 0;
  #isClosed = false;
  /** @type {import("./follow.js").Shared | undefined} */
  #shared;
  #reopen = () => this.#open();

  /** @param {string} tableId */
  constructor(tableId) {
    super();
    this.tableId = tableId;
    session.addEventListener("change", this.#reopen);
    void session.ready.then(() => this.#shared ?? this.#open());
  }

  /** The server's time in milliseconds since 1970. */
  now() {
    return this.#clock.now();
  }

  /** Keeps the table followed beyond `close`, until what this gives is called. */
  hold() {
    let isHeld = true;
    this.#holders += 1;
    return () => {
      if (isHeld) this.#holders -= 1;
      isHeld = false;
      if (this.#isClosed) this.close();
    };
  }

  close() {
    this.#isClosed = true;
    if (this.#holders > 0) return;
    session.removeEventListener("change", this.#reopen);
    this.#shared?.close();
    this.#shared = { tell() {}, ask() {}, close() {} };
  }

  /** Follows as whoever is signed in now: what another saw is forgotten. */
  #open() {
    if (this.#shared && this.#viewer === session.viewer) return;
    this.#shared?.close();
    this.#shared = undefined;
    this.#viewer = session.viewer;
    [this.#resumeToken, this.view] = ["", null];
    this.#shared = share({
      name: `sabacc-table/${this.tableId}/${this.#viewer}`,
      lead: (stop) => this.#lead(stop),
      state: () => (this.view ? this.#state() : undefined),
      told: (message) => this.#told(message),
    });
  }

  #state() {
    const { view, connection, staleSince, lastHands } = this;
    return { view, connection, staleSince, lastHands, resumeToken: this.#resumeToken, now: this.now() };
  }

  /** @param {AbortSignal} stop */
  async #lead(stop) {
    const ended = await follow({
      method: METHOD,
      request: () => ({ tableId: this.tableId, resumeToken: this.#resumeToken }),
      seen: (message) => this.#seen(message, true),
      connection: (connection) => this.#broke(connection),
      forget: () => (this.#resumeToken = ""),
      stop,
    });
    if (ended && !stop.aborted) {
      this.refusal = ended;
      this.#connect("stale", true);
    }
  }

  /** What the leading tab says. @param {any} message */
  #told(message) {
    if (message.state) {
      const { view, lastHands, connection, resumeToken, now } = message.state;
      this.#clock.tell(now);
      if (this.view && BigInt(view.sequence ?? 0) < BigInt(this.view.sequence ?? 0)) return;
      [this.view, this.lastHands, this.#resumeToken] = [view, lastHands, resumeToken];
      this.#tellChange(null);
      this.#connect(connection, false);
    } else if (message.connection) this.#connect(message.connection, false);
    else if (message.seen) this.#seen(message.seen, false);
  }

  /** @param {WatchTableResponse} message @param {boolean} leads */
  #seen(message, leads) {
    this.#lastMessageMs = Date.now();
    if (this.connection === "stale") this.#connect("catching up", leads);
    if (message.snapshot && !this.#begin(message.snapshot, leads)) return;
    if (message.update && !this.#goOn(message.update, leads)) return;
    if (message.resumeToken) this.#resumeToken = message.resumeToken;
    if (leads) this.#shared?.tell({ seen: message });
    if (message.heartbeat?.serverTime) this.#clock.tell(Date.parse(message.heartbeat.serverTime));
    if (message.caughtUp || (message.heartbeat && this.connection !== "live")) this.#connect("live", leads);
  }

  /** False: the table is shown as it was before what was seen already. @param {TableView} view @param {boolean} leads */
  #begin(view, leads) {
    if (this.view && BigInt(view.sequence ?? 0) < BigInt(this.view.sequence ?? 0)) {
      if (leads) throw new Refusal("the table is shown as it was before", { code: "unavailable" });
      return false;
    }
    this.view = view;
    const { hand } = view;
    if (hand?.settlement?.length) this.#remember({ handNo: hand.handNo ?? "", hand, voided: null, rakeCredits: "0", endMs: null });
    this.#tellChange(null);
    return true;
  }

  /** False: an update is missing, and the state has been asked for. @param {TableUpdate} update @param {boolean} leads */
  #goOn(update, leads) {
    const { view } = this;
    if (!view || !isNext(view, update)) {
      if (view && BigInt(update.sequence ?? 0) <= BigInt(view.sequence ?? 0)) return false;
      if (!leads) this.#shared?.ask();
      else this.#beginAnew();
      return false;
    }
    if (update.recordTime) this.#clock.tell(Date.parse(update.recordTime));
    this.view = fold(view, update, session.player?.id);
    this.#end(view, update);
    this.#tellChange(update);
    return true;
  }

  /** @returns {never} */
  #beginAnew() {
    this.#resumeToken = "";
    throw new Refusal("an update is missing", { code: "unavailable" });
  }

  /** Remembers a hand that is over with this update. @param {TableView} before @param {TableUpdate} update */
  #end(before, { handEnded, voided, recordTime }) {
    const endMs = recordTime ? Date.parse(recordTime) : null;
    const hand = this.view?.hand ?? null;
    if (handEnded)
      this.#remember({ handNo: handEnded.handNo ?? "", hand, voided: null, rakeCredits: handEnded.rakeCredits ?? "0", endMs });
    if (voided) {
      const gone = before.hand?.handNo === voided.handNo ? (before.hand ?? null) : null;
      this.#remember({ handNo: voided.handNo ?? "", hand: gone, voided, rakeCredits: "0", endMs });
    }
  }

  /** @param {LastHand} last */
  #remember(last) {
    const others = this.lastHands.filter(({ handNo }) => handNo !== last.handNo);
    this.lastHands = [last, ...others].slice(0, MOST_LAST_HANDS);
  }

  /** A stream begins or has broken. Until its first message the view is as old as it was. @param {Connection} connection */
  #broke(connection) {
    if (connection === "stale" || this.connection !== "stale") this.#connect(connection, true);
  }

  /** @param {Connection} connection @param {boolean} leads */
  #connect(connection, leads) {
    if (connection === this.connection) return;
    this.connection = connection;
    this.staleSince = connection === "stale" ? this.#lastMessageMs : null;
    if (leads) this.#shared?.tell({ connection });
    this.dispatchEvent(new Event("connection"));
  }

  /** @param {TableUpdate | null} update */
  #tellChange(update) {
    this.dispatchEvent(new CustomEvent("change", { detail: { update } }));
  }
}

/** @param {string} tableId */
export const followTable = (tableId) => new TableStore(tableId);
