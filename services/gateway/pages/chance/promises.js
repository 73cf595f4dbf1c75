// What a hand is bound to before anybody knows its cards: the rules that the table has shown, and the dealer's promise.

import { fromBase64 } from "../api/ids.js";
import { equal, idBytes, number, sha256, utf8 } from "./bytes.js";
import { DECKS } from "./cards.js";
import { contextInput, promiseText, rulesHash, seedInput } from "./fair.js";
import { Fault } from "./fault.js";
import { timesOf } from "./settings.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("../types.js").Commitment} Commitment */

// Seeds that are opened a day later need as many.
const MOST = 512;
// Promises that are kept of numbers whose seeds were opened: of the newest.
const OPENED_MOST = 64;

/** A line's value of a canonical text. @param {string} text @param {string} name */
const valueOf = (text, name) => text.split("\n").find((line) => line.startsWith(`${name} = `))?.slice(name.length + 3) ?? "";

/** Rule set and settings as the table showed them when its viewer came: a hand with others is none of theirs. */
export class Agreement {
  /** @param {{ruleSet?: string, settings?: string}} shown */
  constructor({ ruleSet = "", settings = "" }) {
    this.ruleSet = ruleSet;
    this.settings = settings;
    /** The game by its rule set, whatever else a table says of itself. */
    this.variant = valueOf(ruleSet, "variant").replaceAll('"', "");
    const times = timesOf(settings);
    /** Whether the rules are read: without them nothing could be demanded of the table. */
    this.isReadable = times !== null && this.variant in DECKS;
    /** How long a seed may stay shut after its hand. */
    this.seedDelayMs = times?.seedDelayMs ?? 0;
    /** How long a hand is suspended for before it may end without an agreement. */
    this.suspendMs = times?.suspendMs ?? 0;
  }

  /** @param {string | undefined} handNo @param {{ruleSet?: string, settings?: string}} told */
  check(handNo, { ruleSet = "", settings = "" }) {
    if (!this.isReadable) throw new Fault("table", handNo, "its rule set or settings cannot be read, or lie outside their bounds");
    if (ruleSet !== this.ruleSet || settings !== this.settings)
      throw new Fault("table", handNo, "it has another rule set or other settings than the table showed you");
  }
}

export class Promises {
  /** @type {Map<string, Binding>} */
  #bindings = new Map();
  /** Numbers whose seeds were opened, the oldest first. @type {string[]} */
  #opened = [];

  /**
   * @param {string} tableId
   * @param {import("./roomkeys.js").RoomKeys} keys
   * @param {import("./evidence.js").Evidence | null} evidence
   * @param {Agreement} agreed rules that the player has seen
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
    const fields = [utf8(origin), idBytes(this.tableId), number(handNo, 8), rules, dealer];
    const hasOther = await this.evidence?.hasOther(handNo, "dealer-commit-sig", ...fields);
    await this.evidence?.keepOpen(handNo, input, line);
    if (known || hasOther)
      throw new Fault("dealer", handNo, "the dealer has promised it twice, with different seeds");
    const binding = { context, dealer, origin };
    this.#bindings.set(handNo, binding);
    if (this.#bindings.size > MOST) this.#bindings.delete([...this.#bindings.keys()][0] ?? "");
    return binding;
  }

  /** Checks an opened seed. @param {import("../types.js").SeedPublished} told */
  async checkSeed({ handNo = "0", seed, refused }) {
    const binding = this.of(handNo);
    if (!binding) return;
    const bytes = fromBase64(seed);
    const isPromised = equal(binding.dealer, await sha256(seedInput(binding.context, bytes)));
    if (refused || !isPromised) throw new Fault("dealer", handNo, "the seed that was opened is not the one that was promised");
    if (!this.#opened.includes(handNo)) this.#opened.push(handNo);
    while (this.#opened.length > OPENED_MOST) this.#bindings.delete(this.#opened.shift() ?? "");
  }
}
