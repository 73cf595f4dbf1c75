// One's part at the table: the Seat that signs decisions and takes part in chance, and the proofs of cards that it has checked.

import { session } from "../../api/session.js";

/** @typedef {import("../../types.js").Move} Move */
/** @typedef {import("../../types.js").LegalMove} LegalMove */

export class Part {
  /** @param {import("../../store/table.js").TableStore} store @param {string} tableId @param {() => void} changed */
  constructor(store, tableId, changed) {
    this.store = store;
    this.tableId = tableId;
    this.changed = changed;
    /** @type {any} */
    this.made = null;
    this.ended = false;
    this.open = () => void this.make();
    session.addEventListener("change", this.open);
    this.open();
  }

  /** Makes the Seat, where this browser can sign. */
  async make() {
    await session.ready;
    if (!session.canSign || this.made || this.ended) return;
    const { Seat } = await import("../../chance/seat.js");
    if (this.made || this.ended) return;
    this.made = new Seat(this.store);
    this.made.addEventListener("proof", this.changed);
    this.changed();
  }

  /** One's Seat; null while there is none. */
  seat() { return this.made; }

  /** Decides. @param {Move} move @param {LegalMove} legal */
  async act(move, legal) {
    if (!this.made) throw new Error("This page cannot sign yet; try again in a moment.");
    await this.made.act(move, legal);
  }

  /** Proof of a card: what this browser has checked. @param {number} _seat @param {number} _index @param {any} card @returns {{state: string, steps: any[]} | null} */
  proofOf(_seat, _index, card) {
    const proof = card?.proof;
    if (!proof) return null;
    const key = `${this.store.view?.hand?.handNo}/${proof.op ?? 0}/${proof.position ?? 0}`;
    const found = this.made?.proofs?.get(key);
    if (!found) return { state: this.made ? "pending" : "none", steps: [] };
    return { state: found.valid ? "valid" : "invalid", steps: found.steps ?? [] };
  }

  end() {
    this.ended = true;
    session.removeEventListener("change", this.open);
    this.made?.removeEventListener("proof", this.changed);
    this.made?.close?.();
  }
}
