// One's part at the table: what checks its cards, and for a player the Seat that signs decisions and takes part in chance. Their modules
// are loaded when there is a hand to check or a seat to play from; who is no player needs those that check alone.

import { session } from "../../api/session.js";

/** @typedef {import("../../types.js").Move} Move */
/** @typedef {import("../../types.js").LegalMove} LegalMove */

export class Part {
  /** @param {import("../../store/table.js").TableStore} store @param {string} tableId @param {() => void} changed @param {(text: string) => void} noticed */
  constructor(store, tableId, changed, noticed) {
    this.store = store;
    this.tableId = tableId;
    this.changed = changed;
    this.noticed = noticed;
    /** Whose it is. */
    this.owner = "";
    /** Gives a card's key among the proofs. @type {((handNo: any, proof: any) => string) | null} */
    this.cardKey = null;
    /** @type {any} */
    this.made = null;
    this.ended = false;
    this.open = () => void (this.isNeeded && this.make().catch(() => {}));
    session.addEventListener("change", this.open);
    store.addEventListener("change", this.open);
    this.open();
  }

  /** Whether there is chance to take part in or to check. */
  get isNeeded() {
    const { view } = this.store;
    return Boolean(this.made || view?.yourSeat || view?.entropy || view?.hand);
  }

  /** Makes the Seat of the player who is signed in, or what checks for anybody else, where this browser can do so. */
  async make() {
    if (this.made && this.owner === session.viewer) return;
    await session.ready;
    const owner = session.viewer;
    if (!session.canSign || this.ended || (this.made && this.owner === owner)) return;
    const [Kind, { cardKey }] = await Promise.all([session.player ? this.load() : watch(), import("../../chance/cards.js")]);
    if (this.ended || session.viewer !== owner || (this.made && this.owner === owner)) return;
    this.made?.close();
    [this.made, this.owner, this.cardKey] = [new Kind(this.store), owner, cardKey];
    for (const name of ["proof", "fault"]) this.made.addEventListener(name, this.changed);
    this.made.addEventListener("notice", (/** @type {CustomEvent} */ event) => this.noticed(event.detail.text));
    this.changed();
  }

  /** Loads what only a seat of one's own needs. */
  async load() {
    // Words for refusals too: a room that is away cannot send them.
    const [{ Seat }] = await Promise.all([import("../../chance/seat.js"), import("../../api/refusals.js"), this.loadOwn()]);
    return Seat;
  }

  /** Loads what draws the hand and the moves of a player. */
  async loadOwn() {
    const [hand, moves] = await Promise.all([import("./hand.js"), import("./moves.js")]);
    return { ...hand, ...moves };
  }

  /** One's Seat. @returns {Promise<any>} */
  async seat() {
    await this.make();
    if (!this.made) throw new Error("This page can only look: it was not loaded over HTTPS or from the room's own machine.");
    if (!session.player) throw new Error("A seat is a player's: join first.");
    return this.made;
  }

  /** Why the room is not trusted any more; empty: it is. */
  get fault() { return this.made?.fault ? String(this.made.fault.message ?? this.made.fault) : ""; }

  /** Decides. @param {Move} move @param {LegalMove} legal */
  async act(move, legal) {
    await (await this.seat()).act(move, legal);
  }

  /** Proof of a card: what this browser has checked. @param {number} _seat @param {number} _index @param {any} card @returns {{state: string, steps: any[]} | null} */
  proofOf(_seat, _index, card) {
    const proof = card?.proof;
    if (!proof) return null;
    const key = this.cardKey?.(this.store.view?.hand?.handNo, proof);
    const found = this.made?.proofs.get(key);
    if (!found) return { state: this.made ? "pending" : "none", steps: [] };
    return { state: found.valid ? "valid" : "invalid", steps: found.steps ?? [] };
  }

  end() {
    this.ended = true;
    session.removeEventListener("change", this.open);
    this.store.removeEventListener("change", this.open);
    this.made?.close();
  }
}

/** Loads what checks a table's chance for whoever looks on. */
const watch = async () => (await import("../../chance/watch.js")).Watch;
