// What every part of the page knows of the table: the view, who is called what, and the rule set's fields.

import { loadGame, UNKNOWN } from "./games/all.js";

/** @typedef {import("../../types.js").TableView} TableView */
/** @typedef {import("../../types.js").TableUpdate} TableUpdate */
/** @typedef {import("../../types.js").HandAction} HandAction */

export class Context {
  /** @param {import("../../store/table.js").TableStore} store */
  constructor(store) {
    this.store = store;
    /** The last dice of the hand in play. @type {{handNo: string, values: number[], seat: number} | null} */
    this.lastRoll = null;
    /** The last pulse of the hand in play: whether the cards shifted. @type {{handNo: string, shifted: boolean} | null} */
    this.lastPulse = null;
    /** Proof of a card, where this browser has checked it. @type {(seat: number, index: number, card: any) => ({state: string, steps: any[]} | null)} */
    this.proofOf = () => null;
    /** Drawing module of the game; null until `learnGame` has it. @type {import("./games/all.js").Game | null} */
    this.known = null;
  }

  get view() { return this.store.view; }

  /** Drawing module of the game. */
  get game() { return this.known ?? UNKNOWN; }

  /** Loads the drawing module of the game that is played here. */
  async learnGame() {
    this.known ??= await loadGame(this.view?.variant ?? "");
  }

  /** Name of the player in a seat. @param {number | undefined} seat @param {boolean} [plain] without "you" */
  nameOf(seat, plain = false) {
    if (!seat) return "the house";
    if (!plain && seat === this.view?.yourSeat) return "You";
    const found = this.view?.seats?.find((one) => one.seat === seat);
    return found?.name || `Seat ${seat}`;
  }

  /** Text with names in place of p1, p2 …. @param {string} text */
  named(text) {
    return text.replace(/\bp(\d+)\b/g, (all, n) => {
      const seat = this.view?.hand?.seats?.[Number(n) - 1]?.seat;
      return seat ? this.nameOf(seat) : all;
    });
  }

  /** Field of a canonical text of rules or settings. @param {string} name @returns {string} */
  field(name) {
    const text = `${this.view?.hand?.ruleSet ?? this.view?.ruleSet ?? ""}\n${this.view?.settings ?? ""}`;
    return (new RegExp(`^${name} = (.*)$`, "m").exec(text)?.[1] ?? "").replace(/^"|"$/g, "");
  }

  /** Cards of one's own hand. @returns {{code?: string, locked?: boolean, proof?: any}[]} */
  get ownCards() {
    const seat = this.view?.yourSeat;
    return seat ? (this.view?.hand?.seats?.find((one) => one.seat === seat)?.cards ?? []) : [];
  }

  /** The decision that is due from oneself, if any. */
  get ownTurn() {
    const turn = this.view?.hand?.turn;
    return turn && turn.seat === this.view?.yourSeat ? turn : null;
  }

  /** A full clock in ms: the time for a decision and what the time bank holds. @param {number} bankMs */
  clockTotal(bankMs) {
    const scale = Number(this.field("time_scale")) || 1;
    return (Number(this.field("action_seconds")) || 20) * 1000 / scale + bankMs;
  }

  /** Keeps what chance gave last. @param {TableUpdate | null} update */
  remember(update) {
    const action = update?.action;
    const handNo = action?.handNo ?? this.view?.handNo ?? "";
    if (this.lastRoll && this.lastRoll.handNo !== handNo) this.lastRoll = null;
    if (this.lastPulse && this.lastPulse.handNo !== handNo) this.lastPulse = null;
    if (action?.chance === "CHANCE_KIND_ROLL") this.lastRoll = { handNo, values: action.values ?? [], seat: action.seat ?? 0 };
    if (action?.chance === "CHANCE_KIND_PULSE") this.lastPulse = { handNo, shifted: action.values?.[0] === 1 };
  }
}
