// A table's chance, watched: all that is shown is checked in the order of the stream. Whoever only looks on needs no more; seat.js
// adds what a player sends.

import { roomAddress } from "../api/connect.js";
import { session } from "../api/session.js";
import { canonicalId } from "./bytes.js";
import { Chance } from "./chance.js";
import { asFault, Fault } from "./fault.js";
import { roomKeys } from "./roomkeys.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").TableUpdate} TableUpdate */
/** @typedef {import("./cards.js").Proved} Proved */

/**
 * A table that is followed, as store/table.js does.
 * @typedef {EventTarget & {tableId: string, view: TableView | null, connection: string, hold: () => () => void}} FollowedTable
 */

const OUTCOMES = 20;
const MOST_BROKEN = 3;
// A stream that is live for so long has nothing on its way from before.
const LOOK_AT_TIME_MS = 60_000;

/**
 * Events: `proof` (`detail`: `{keys}`, of the cards in `proofs` about which there is news), `notice` (`detail`: `{text}`, for the
 * viewer), `fault` (`detail`: the `Fault`).
 * @template {Chance} [C=Chance]
 */
export class Watch extends EventTarget {
  /** Why the room is not trusted any more; a seat commits to no further hand. @type {Fault | null} */
  fault = null;
  /** @protected @type {C | null} */
  chance = null;
  /** Why nothing can be checked. @protected */
  unready = "";
  /** What is being taken in. @protected */
  queue = Promise.resolve();
  /** @protected */
  closing = new AbortController();
  /** What must not be told twice. @type {Set<string>} */
  #noticed = new Set();
  /** @type {TableView | null} */
  #seen = null;
  #changed = (/** @type {Event} */ event) => this.#enqueue(/** @type {CustomEvent} */ (event).detail?.update ?? null);
  /** Of the last hands, whether each came to nothing. @type {boolean[]} */
  #outcomes = [];
  /** The newest update that was taken in. */
  #sequence = 0n;
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
    if (!session.canSign) return;
    table.addEventListener("change", this.#changed);
    this.#timer = setInterval(() => this.#lookAtTime(), LOOK_AT_TIME_MS);
    /** @type {any} */ (this.#timer).unref?.();
    if (table.view) this.#enqueue(null);
  }

  /** The table is looked at no more. */
  close() {
    this.release();
  }

  /** @protected */
  release() {
    this.table.removeEventListener("change", this.#changed);
    clearInterval(this.#timer);
    this.closing.abort();
  }

  /** What was proved of each card that was shown, by `cardKey` of cards.js. @returns {Map<string, Proved>} */
  get proofs() {
    return this.chance?.cards.proofs ?? new Map();
  }

  // ---- What a seat does otherwise ----

  /** @protected @param {TableView} view @param {import("./roomkeys.js").RoomKeys} keys @returns {Promise<C>} */
  async makeChance(view, keys) {
    return /** @type {C} */ (new Chance(this.tableId, { keys }, view));
  }

  /** Says what may be sent now. @protected @param {C} _chance */
  ready(_chance) {}

  /** Does what a view asks of the player. @protected @param {TableView} _view */
  async follow(_view) {}

  // ---- What is taken in ----

  /** @param {TableUpdate | null} update */
  #enqueue(update) {
    const { view } = this.table;
    if (!view) return;
    const before = this.#seen;
    this.#seen = view;
    this.do(async () => {
      if (this.#isOld(view, update)) return;
      const keys = await this.#take(view, update, before);
      if (keys.length > 0) this.dispatchEvent(new CustomEvent("proof", { detail: { keys } }));
      await this.follow(view);
    });
  }

  /** Work in the order of the stream. @protected @param {() => Promise<void>} work */
  do(work) {
    this.queue = this.queue.then(() => (this.closing.signal.aborted ? undefined : this.judged(work))).catch((error) => {
      // What was not reached is tried again with the next update.
      if (!(error instanceof Fault)) this.notify(error instanceof Error ? error.message : String(error));
    });
  }

  /** Whether a view says nothing new: by one that is older than what was seen nothing is sent. @param {TableView} view @param {TableUpdate | null} update */
  #isOld(view, update) {
    const sequence = BigInt(view.sequence ?? 0);
    const isOld = update ? sequence <= this.#sequence : sequence < this.#sequence;
    if (!isOld) this.#sequence = sequence;
    else if (!update) this.notify("The room shows the table as it was before. Nothing is sent until it goes on.");
    return isOld;
  }

  /** @param {TableView} view @param {TableUpdate | null} update @param {TableView | null} before */
  async #take(view, update, before) {
    const isNew = !this.chance;
    const chance = (this.chance ??= await this.#begin(view));
    this.ready(chance);
    if (update?.handEnded || update?.voided) this.#count(update);
    if (update && before && !isNew) return chance.take(view, update, before);
    return chance.begin(view);
  }

  /** Warns where many hands come to nothing. @param {TableUpdate} update */
  #count({ voided }) {
    this.#outcomes = [...this.#outcomes, voided !== undefined].slice(-OUTCOMES);
    const broken = this.#outcomes.filter(Boolean).length;
    if (voided && broken >= MOST_BROKEN)
      this.notify(`${broken} of the last ${this.#outcomes.length} hands came to nothing, the last of them hand ${voided.handNo}: somebody may be throwing away hands that they dislike.`);
  }

  /** @param {TableView} view */
  async #begin(view) {
    const { keys, isOther } = await roomKeys(roomAddress()).catch((error) => {
      this.unready = error instanceof Error ? error.message : String(error);
      throw error;
    });
    if (isOther) this.notify("This room shows other keys than when you first came. Texts that are signed with the new ones are not believed.");
    return this.makeChance(view, keys);
  }

  /** Judges by this device's time, once the stream has been live for a while, and the device awake. */
  #lookAtTime() {
    const now = performance.now();
    const isAwake = this.#liveMs !== null && now - this.#liveMs < 2 * LOOK_AT_TIME_MS;
    const isLive = this.table.connection === "live";
    if (isLive && isAwake) this.do(async () => this.chance?.checkTime());
    this.#liveMs = isLive ? now : null;
  }

  /** @protected @param {() => Promise<void>} work */
  async judged(work) {
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

  /** @protected @param {string} text */
  notify(text) {
    if (this.#noticed.has(text)) return;
    this.#noticed.add(text);
    this.dispatchEvent(new CustomEvent("notice", { detail: { text } }));
  }
}
