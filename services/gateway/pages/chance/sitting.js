// Whether the seat is dealt in: as its player wants it, and not while nobody looks.

import { requestId } from "../api/ids.js";
import { load, remove, save } from "../keep/database.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {(method: string, request: object, options?: import("../api/connect.js").CallOptions) => Promise<any>} Call */

const METHOD = "sabacc.table.v1.TableService/SitOut";
// What a page sends as it is left has reached the room after so long, or never will.
const LATE_MS = 15_000;

export class Sitting {
  /** What is on its way. @type {boolean | null} */
  #asked = null;
  /** Whether somebody has come to look since the seat was last dealt in: who was away comes back then, and at no other time. */
  #mayReturn = true;

  /** @param {string} tableId @param {string} playerId @param {Call} call */
  constructor(tableId, playerId, call) {
    this.tableId = tableId;
    this.key = `out/${playerId}/${tableId}`;
    this.call = call;
  }

  /** As the player wants it. Who has sat out on purpose is not brought back. @param {boolean} isOut */
  async want(isOut) {
    await (isOut ? save("parts", this.key, true) : remove("parts", this.key));
    await this.#sitOut(isOut);
  }

  /**
   * Sits out while nobody looks, and comes back. A number that is committed to is played first.
   * @param {TableView} view @param {boolean} isAway @param {boolean} hasCommitted to a number that is not open yet
   */
  async follow(view, isAway, hasCommitted) {
    const seat = view.seats?.find((taken) => taken.seat === view.yourSeat);
    const isOut = seat?.state === "SEAT_STATE_SITTING_OUT";
    const isIn = seat?.state === "SEAT_STATE_PLAYING";
    if (isAway) this.#mayReturn = true;
    if (this.#asked === isOut && (isOut || isIn)) this.#asked = null;
    if (isAway && isIn && !hasCommitted && this.#asked !== true) await this.#sitOut(true);
    if (isAway || !this.#mayReturn || !(isIn || isOut)) return;
    if (isIn && Date.now() - leftMs(this.key) < LATE_MS) return;
    this.#mayReturn = false;
    noteLeft(this.key, false);
    // The room brings back who is excluded for a time.
    if (isOut && !seat.exclusion && !(await load("parts", this.key))) await this.#sitOut(false);
  }

  /** Sits out until the player says otherwise, or comes to look again. */
  async stepOut() {
    this.#mayReturn = false;
    await this.#sitOut(true);
  }

  /** Sits out as the page is left: a number that nobody is here to reveal would be lost to all. */
  leave() {
    // The page may be shown again, or another one of the table, before the room has heard of it.
    this.#mayReturn = true;
    noteLeft(this.key, true);
    void this.#sitOut(true, { keepalive: true, attempts: 1 }).catch(() => undefined);
  }

  /** @param {boolean} sitOut @param {import("../api/connect.js").CallOptions} [options] */
  async #sitOut(sitOut, options) {
    this.#asked = sitOut;
    try {
      await this.call(METHOD, { requestId: requestId(), tableId: this.tableId, sitOut }, options);
    } catch (error) {
      this.#asked = null;
      throw error;
    }
  }
}

/** When a page was left that was dealt in. Kept in what can be written while a page is being left. @param {string} key */
function leftMs(key) {
  try {
    return Number(globalThis.localStorage?.getItem(`left/${key}`) ?? 0);
  } catch {
    return 0;
  }
}

/** @param {string} key @param {boolean} hasLeft */
function noteLeft(key, hasLeft) {
  try {
    if (hasLeft) globalThis.localStorage?.setItem(`left/${key}`, String(Date.now()));
    else globalThis.localStorage?.removeItem(`left/${key}`);
  } catch {
    // Storage may be denied: then they come back by the button.
  }
}
