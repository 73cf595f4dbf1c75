// One hand as its viewer follows it: what it was made of, and its decisions.

import { fromBase64 } from "../api/ids.js";
import { equal } from "./bytes.js";
import { areAsClosed, checkedRows, haveSamePlaces, is32 } from "./closing.js";
import { Decisions } from "./decisions.js";
import { isHashOf, transcriptInput } from "./fair.js";
import { Fault } from "./fault.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("./own.js").Own} Own */
/** @typedef {import("../types.js").HandView} HandView */

export class Hand {
  /**
   * @param {HandView} view @param {Binding} binding @param {Own | null} own
   */
  constructor(view, binding, own) {
    const order = (view.seats ?? []).map(({ seat = 0 }) => seat);
    this.handNo = view.handNo ?? "0";
    this.transcript = fromBase64(view.transcript);
    this.binding = binding;
    this.own = own;
    this.decisions = new Decisions(this.handNo, order, fromBase64(view.chain || view.transcript));
    this.hasEnded = view.phase === "HAND_PHASE_OVER";
  }

  /**
   * Begins with a hand as a view shows it: what its chance is made of is checked.
   * @param {HandView} view @param {Binding} binding
   * @param {Own | null} own @param {import("./closing.js").Closed | undefined} closed what was closed, where that was followed
   * @param {import("./evidence.js").Evidence | null} evidence
   */
  static async begin(view, binding, own, closed, evidence) {
    const { handNo = "0", transcript } = view;
    if (!is32(transcript) || !is32(view.chain || transcript)) throw new Fault("table", handNo, "its transcript is missing");
    const rows = await checkedRows(handNo, view.rows ?? [], binding);
    const input = transcriptInput(binding, rows);
    if (!(await isHashOf(transcript, input))) throw new Fault("table", handNo, "its transcript is not that of what the seats brought");
    if (closed && !areAsClosed(rows, closed.rows)) throw new Fault("table", handNo, "it was not dealt from what was closed");
    const places = rows.map(({ seat = 0, playerId = "" }) => ({ seat, playerId }));
    const dealt = (view.seats ?? []).map(({ seat = 0, playerId = "" }) => ({ seat, playerId }));
    if (!haveSamePlaces(places, dealt)) throw new Fault("table", handNo, "it was made of other seats than are dealt in");
    const isIn = own !== null && (await own.isIn(rows));
    await evidence?.keepOpen(handNo, input);
    return new Hand(view, binding, isIn ? own : null);
  }

  /** Whether the viewer's number is in the hand, so that their decisions are signed. */
  get isSigned() {
    return this.own !== null;
  }

  /** @param {import("../types.js").HandAction} action @param {import("./evidence.js").Evidence | null} evidence */
  async follow(action, evidence) {
    const input = await this.decisions.follow(action);
    if (!input) return;
    await this.own?.checkSigned(action);
    this.decisions.checkReceived();
    void evidence?.keepDecision(this.handNo, input);
  }

  /** Goes on from a snapshot. @param {HandView} view @param {number[]} leaving */
  resume(view, leaving) {
    if (!equal(fromBase64(view.transcript), this.transcript))
      throw new Fault("table", this.handNo, "its transcript is another one than before");
    this.hasEnded ||= view.phase === "HAND_PHASE_OVER";
    this.decisions.resume(fromBase64(view.chain || view.transcript), leaving);
  }
}
