// What a hand is bound to before anybody knows its cards: the dealer's promise, checked.

import { fromBase64 } from "../api/ids.js";
import { equal, idBytes, number, sha256, utf8 } from "./bytes.js";
import { openLine } from "./evidence.js";
import { contextInput, promiseText, rulesHash, seedInput } from "./fair.js";
import { Fault } from "./fault.js";
import { hasOther } from "./statements.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("../types.js").Commitment} Commitment */

// Seeds that are opened a day later need as many.
const MOST = 512;

export class Promises {
  /** @type {Map<string, Binding>} */
  #bindings = new Map();

  /**
   * @param {string} tableId
   * @param {import("./roomkeys.js").RoomKeys} keys
   * @param {import("./evidence.js").Evidence | null} evidence
   * @param {import("./agreement.js").Agreement} agreed rules that the player has seen
   */
  constructor(tableId, keys, evidence, agreed) {
    this.tableId = tableId;
    this.keys = keys;
    this.evidence = evidence;
    this.agreed = agreed;
  }

  /** @param {string | undefined} handNo */
  of(handNo) {
    return this.#bindings.get(handNo ?? "");
  }

  /**
   * Checks a promise, and keeps it. The same one again changes nothing.
   * @param {{handNo?: string, commitment?: Commitment, ruleSet?: string, settings?: string}} told
   * @returns {Promise<Binding>}
   */
  async check({ handNo = "0", commitment, ruleSet, settings }) {
    if (!commitment) throw new Fault("table", handNo, "the dealer's promise is missing");
    this.agreed.check(handNo, { ruleSet, settings });
    const { origin = "" } = commitment;
    const dealer = fromBase64(commitment.commitment);
    if (dealer.length !== 32) throw new Fault("table", handNo, "the dealer's promise cannot be one");
    const known = this.#bindings.get(handNo);
    if (known && known.origin === origin && equal(known.dealer, dealer)) return known;
    const rules = await rulesHash(this.agreed.ruleSet, this.agreed.settings);
    const input = contextInput(origin, this.tableId, handNo, rules);
    const context = await sha256(input);
    const line = await this.keys.check("dealer", handNo, promiseText(this.tableId, handNo, rules, commitment), commitment, origin);
    // What was promised holds beyond the page's life.
    const kept = (await this.evidence?.statements(handNo)) ?? [];
    await this.evidence?.keep(handNo, openLine(input), line);
    const fields = [utf8(origin), idBytes(this.tableId), number(handNo, 8), rules, dealer];
    if (known || hasOther(kept, "dealer-commit-sig", ...fields))
      throw new Fault("dealer", handNo, "the dealer has promised it twice, with different seeds");
    const binding = { context, dealer, origin };
    this.#bindings.set(handNo, binding);
    if (this.#bindings.size > MOST) this.#bindings.delete([...this.#bindings.keys()][0] ?? "");
    return binding;
  }

  /** Checks an opened seed. @param {import("../types.js").SeedPublished} told */
  async checkSeed({ handNo, seed, refused }) {
    const binding = this.of(handNo);
    if (!binding) return;
    const bytes = fromBase64(seed);
    const isPromised = equal(binding.dealer, await sha256(seedInput(binding.context, bytes)));
    if (refused || !isPromised) throw new Fault("dealer", handNo, "the seed that was opened is not the one that was promised");
  }
}
