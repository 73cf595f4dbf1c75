// What a hand is bound to before anybody knows its cards: the dealer's promise, checked.

import { fromBase64 } from "../api/ids.js";
import { equal, sha256 } from "./bytes.js";
import { openLine } from "./evidence.js";
import { contextInput, promiseText, rulesHash, seedInput } from "./fair.js";
import { Fault } from "./fault.js";

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
   * @param {{ruleSet: string, settings: string}} agreed rules that the player has seen
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
  async check({ handNo = "0", commitment, ruleSet = "", settings = "" }) {
    if (!commitment) throw new Fault("table", handNo, "the dealer's promise is missing");
    if (ruleSet !== this.agreed.ruleSet || settings !== this.agreed.settings)
      throw new Fault("table", handNo, "it has another rule set or other settings than the table showed you");
    if (commitment.origin !== this.keys.origin) throw new Fault("table", handNo, "its promise is of another dealer's log");
    const dealer = fromBase64(commitment.commitment);
    const known = this.#bindings.get(handNo);
    if (known && equal(known.dealer, dealer)) return known;
    const rules = await rulesHash(ruleSet, settings);
    const input = contextInput(commitment.origin, this.tableId, handNo, rules);
    const context = await sha256(input);
    const line = await this.keys.check("dealer", handNo, promiseText(this.tableId, handNo, rules, commitment), commitment);
    await this.evidence?.keep(handNo, openLine(input), line);
    if (known) throw new Fault("dealer", handNo, "the dealer has promised it twice, with different seeds");
    const binding = { context, dealer };
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
