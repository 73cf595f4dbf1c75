// Pots of the tables in the lobby. A table in the list says nothing of its pots, so that each is asked for by itself: the
// first few, one after the other, and again when some seconds have passed.

import { call } from "../../api/session.js";

/** Tables whose pots are asked for. */
const MOST = 24;
/** Time until a table is asked again, in milliseconds. */
const EVERY_MS = 5000;

export class Pots {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, {name: string, amount: bigint, sabacc: bigint}>} */
    this.known = new Map();
    /** @type {string[]} */
    this.wanted = [];
    this.ending = new AbortController();
    this.run();
  }

  /** @param {any[]} tables */
  follow(tables) {
    this.wanted = tables.slice(0, MOST).map((table) => table.tableId);
  }

  /** @param {string} id */
  of(id) {
    return this.known.get(id);
  }

  end() {
    this.ending.abort();
  }

  async run() {
    const { signal } = this.ending;
    while (!signal.aborted) {
      let news = false;
      for (const tableId of document.hidden ? [] : this.wanted) {
        if (signal.aborted) return;
        try {
          const { table } = await call("sabacc.table.v1.TableService/GetTable", { tableId }, { signal });
          const before = this.known.get(tableId);
          const now = potOf(table);
          this.known.set(tableId, now);
          news ||= before?.amount !== now.amount || before?.sabacc !== now.sabacc;
        } catch {
          // The pot is then shown as it was.
        }
      }
      if (news && !signal.aborted) this.changed();
      await new Promise((done) => setTimeout(done, this.known.size > 0 ? EVERY_MS : 400));
    }
  }
}

/** @param {any} table TableView */
function potOf(table) {
  const standing = table?.hand?.standing;
  const over = (table?.hand?.settlement?.length ?? 0) > 0;
  const hand = BigInt((over ? 0 : standing?.handPotCredits) ?? 0);
  const carried = BigInt((over ? table?.carriedPotCredits : standing?.carriedPotCredits) ?? 0);
  return { name: "Pot", amount: hand + carried, sabacc: BigInt(standing?.sabaccPotCredits ?? table?.sabaccPotCredits ?? 0) };
}
