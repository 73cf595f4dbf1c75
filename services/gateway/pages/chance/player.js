// The chance of one table's hands, as a player takes part in it: what the table shows is judged before anything is sent.
//
// 1. `NextHand`: a number is made and committed to.
// 2. `Entropy`, closed: once every check has passed the number is revealed.
// 3. A number that was burnt for want of the player's own is opened all the same.

import { Chance } from "./chance.js";
import { Contribution } from "./contribution.js";
import { Evidence } from "./evidence.js";
import { Own } from "./own.js";
import { numberOf } from "./sequence.js";

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").NextHand} NextHand */
/** @typedef {import("../types.js").Entropy} Entropy */

export class PlayerChance extends Chance {
  /** The number that was committed to last, and in which seat: in another one it counts for nothing. */
  committedTo = 0n;
  #committedIn = 0;
  /** False: no further hand is committed to. */
  goesOn = true;
  /** Whether this tab is the one that commits and reveals. */
  isActing = false;
  /** False: what is shown may have passed long ago, so nothing is committed to or revealed for it. */
  isLive = true;

  /**
   * @param {string} tableId
   * @param {{playerId: string, call: import("./contribution.js").Call, keys: import("./roomkeys.js").RoomKeys, own?: () => number}} means
   * @param {TableView} view
   */
  constructor(tableId, { playerId, call, keys, own }, view) {
    const evidence = new Evidence(playerId, tableId);
    super(tableId, { keys, own, evidence }, view);
    this.playerId = playerId;
    this.contribution = new Contribution(tableId, playerId, call, keys, evidence);
  }

  /** @override @param {TableView} view */
  async catchUp(view) {
    if (view.entropy) await (view.entropy.closed ? this.#reveal(view, view.entropy) : this.#commit(view, view.entropy));
    if (view.nextHand) await this.#commit(view, view.nextHand);
  }

  /** @override @param {import("./closing.js").Closed} closed @param {import("./closing.js").Place[]} places @param {Entropy} entropy @param {number} seat */
  async checkOwnRow(closed, places, { handNo = "0" }, seat) {
    const binding = this.promises.of(handNo);
    const isIn = places.some((place) => place.seat === seat && place.playerId === this.playerId);
    if (isIn && binding && !(await this.contribution.checkOwn(handNo, closed, seat, binding))) this.blindHands.add(handNo);
  }

  /** What the player has brought to a hand, wherever they sat. @override @param {import("../types.js").HandView} hand @param {import("./fair.js").Binding} binding */
  async ownOf({ handNo = "0", seats }, binding) {
    const seat = seats?.find(({ playerId }) => playerId === this.playerId)?.seat;
    const part = seat ? await this.contribution.part(handNo, seat) : undefined;
    return part ? new Own(handNo, binding, this.playerId, this.contribution, part) : null;
  }

  /** @override @param {import("../types.js").HandVoided} voided @param {number} seat */
  async judgeBurn(voided, seat) {
    const { handNo = "0" } = voided;
    const binding = this.promises.of(handNo);
    const isWithheld = binding && (await this.contribution.isWithheld(voided, this.closings.get(handNo), seat, binding));
    return async () => {
      if (isWithheld && this.isActing) await this.contribution.openBurnt(handNo, seat);
    };
  }

  /** @param {TableView} view @param {NextHand | Entropy} next */
  async #commit(view, next) {
    const { handNo = "0" } = next;
    const binding = this.promises.of(handNo);
    const seat = view.seats?.find((taken) => taken.seat === view.yourSeat);
    const isIn = !("roster" in next) || next.roster?.includes(view.yourSeat ?? 0);
    const mayCommit = this.isActing && this.isLive && this.goesOn && !this.faulty.has(handNo) && !this.sequence.hasEnded(numberOf(handNo));
    const isNew = numberOf(handNo) > this.committedTo || seat?.seat !== this.#committedIn;
    const isDue = mayCommit && isNew && isIn && seat?.state === "SEAT_STATE_PLAYING";
    if (!isDue || !binding) return;
    const hasCommitted = await this.judged(handNo, () => this.contribution.commit(handNo, seat.seat ?? 0, binding));
    if (hasCommitted) [this.committedTo, this.#committedIn] = [numberOf(handNo), seat.seat ?? 0];
  }

  /** Reveals where every check has passed, and the hand is the one that runs. @param {TableView} view @param {Entropy} entropy */
  async #reveal(view, { handNo = "0", roster = [] }) {
    const [seat, binding, closed] = [view.yourSeat ?? 0, this.promises.of(handNo), this.closings.get(handNo)];
    const mayReveal = this.isActing && this.isLive && !this.faulty.has(handNo) && this.sequence.isRunning(numberOf(handNo));
    if (!mayReveal || !roster.includes(seat) || !binding || !closed || this.blindHands.has(handNo)) return;
    await this.judged(handNo, () => this.contribution.reveal(handNo, closed, seat, binding));
  }
}
