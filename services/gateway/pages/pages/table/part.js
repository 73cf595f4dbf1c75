// One's part at the table: the Seat that signs decisions and takes part in chance, and the proofs of cards that it has checked.
// Its modules weigh as much as half of the page, and are loaded when there is a hand to check or a seat to play from.

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
    /** Whose Seat it is. */
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

  /** Makes the Seat of who is signed in, where this browser can sign. */
  async make() {
    if (this.made && this.owner === session.viewer) return;
    await session.ready;
    const owner = session.viewer;
    if (!session.canSign || this.ended || (this.made && this.owner === owner)) return;
    const [{ Seat }, { cardKey }] = await Promise.all([import("../../chance/seat.js"), import("../../chance/cards.js")]);
    if (this.ended || session.viewer !== owner || (this.made && this.owner === owner)) return;
    this.made?.close();
    [this.made, this.owner, this.cardKey] = [new Seat(this.store), owner, cardKey];
    for (const name of ["proof", "fault"]) this.made.addEventListener(name, this.changed);
    this.made.addEventListener("notice", (/** @type {CustomEvent} */ event) => this.noticed(event.detail.text));
    this.changed();
  }

  /** One's Seat. @returns {Promise<any>} */
  async seat() {
    await this.make();
    if (!this.made) throw new Error("This page can only look: it was not loaded over HTTPS or from the room's own machine.");
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
