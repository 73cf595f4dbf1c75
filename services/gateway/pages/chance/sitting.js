// Whether the seat is dealt in: as its player wants it, and not while nobody looks.

import { requestId } from "../api/ids.js";
import { load, remove, save } from "../keep/database.js";

/** @typedef {import("../types.js").TableView} TableView */

const METHOD = "sabacc.table.v1.TableService/SitOut";

export class Sitting {
  /** The command that is on its way. @type {boolean | null} */
  #asked = null;

  /**
   * @param {string} tableId @param {string} playerId
   * @param {(method: string, request: object) => Promise<any>} call
   */
  constructor(tableId, playerId, call) {
    this.tableId = tableId;
    this.key = `away/${playerId}/${tableId}`;
    this.call = call;
  }

  /** As the player wants it. @param {boolean} isOut */
  async want(isOut) {
    await remove("parts", this.key);
    await this.#sitOut(isOut);
  }

  /**
   * Sits out while nobody looks, and comes back. A number that is committed to and not open yet is played first: who sits out
   * before it opens would have withheld nothing, but its commitment would be for nothing.
   * @param {TableView} view @param {boolean} isAway @param {boolean} hasCommitted to the next number
   */
  async follow(view, isAway, hasCommitted) {
    const state = view.seats?.find(({ seat }) => seat === view.yourSeat)?.state;
    if (isAway && state === "SEAT_STATE_PLAYING" && !hasCommitted && this.#asked !== true) {
      await save("parts", this.key, true);
      await this.#sitOut(true);
    }
    if (!isAway && state === "SEAT_STATE_SITTING_OUT" && this.#asked !== false && (await load("parts", this.key))) {
      await remove("parts", this.key);
      await this.#sitOut(false);
    }
    if (state === (this.#asked ? "SEAT_STATE_SITTING_OUT" : "SEAT_STATE_PLAYING")) this.#asked = null;
  }

  /** @param {boolean} sitOut */
  async #sitOut(sitOut) {
    this.#asked = sitOut;
    try {
      await this.call(METHOD, { requestId: requestId(), tableId: this.tableId, sitOut });
    } catch (error) {
      this.#asked = null;
      throw error;
    }
  }
}
