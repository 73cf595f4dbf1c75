// The decisions of one hand, each bound to all before it, and the lines that this player has signed.

import { fromBase64 } from "../api/ids.js";
import { equal, hex, sha256 } from "./bytes.js";
import { Fault } from "./fault.js";
import { decisionInput } from "./fair.js";
import { playerOf } from "./lines.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("../types.js").HandAction} HandAction */

// As many as a table has seats.
const MOST_LEAVES = 8;

export class Decisions {
  /** The chain after each decision, from where it was followed on. @type {Bytes[]} */
  #path;
  /** Seats whose leave was asked for and is not in the chain yet. @type {number[]} */
  #leaving = [];

  /** @param {string} handNo @param {number[]} order the seats dealt in @param {Bytes} chain */
  constructor(handNo, order, chain) {
    this.handNo = handNo;
    this.order = order;
    this.#path = [chain];
  }

  get chain() {
    return this.#path[this.#path.length - 1] ?? new Uint8Array(32);
  }

  /** Goes on from the chain that a snapshot shows. @param {Bytes} chain @param {number[]} leaving seats that it shows as leaving */
  resume(chain, leaving) {
    if (!equal(chain, this.chain)) this.#path = [chain];
    this.#leaving = leaving.filter((seat) => this.order.includes(seat));
  }

  /** @param {number} seat */
  leaveAsked(seat) {
    if (this.order.includes(seat) && !this.#leaving.includes(seat)) this.#leaving.push(seat);
  }

  /**
   * Follows a decision. Gives what the chain was taken of, or null where it is a use of chance.
   * @param {HandAction} action
   */
  async follow(action) {
    const { decision, chainLine = "", byClock = false, seat = 0 } = action;
    if (!decision && !chainLine) return null;
    const input = decisionInput(this.chain, byClock, chainLine);
    const after = await sha256(input);
    const isWhole = chainLine.startsWith(`${playerOf(this.order, seat)} `) && equal(after, fromBase64(action.chain));
    if (!isWhole) throw new Fault("table", this.handNo, "a decision does not go on from those before it");
    if (chainLine.endsWith(" leave") || chainLine.endsWith(" void"))
      this.#leaving = chainLine.endsWith(" void") ? [] : this.#leaving.filter((other) => other !== seat);
    this.#path.push(after);
    return input;
  }

  /** Whether a chain has come up. @param {Bytes} chain */
  isPassed(chain) {
    return this.#path.some((passed) => equal(passed, chain));
  }

  /**
   * The chains that a line may have to be signed over, the likeliest first: leaves that were asked for may be in it.
   * @param {number} own
   */
  async #bases(own) {
    let chains = [this.chain];
    for (const seat of this.#leaving.filter((other) => other !== own).slice(0, MOST_LEAVES)) {
      const more = await Promise.all(chains.map((chain) => this.#withLeave(chain, seat)));
      chains = [...chains, ...more];
    }
    return chains;
  }

  /** @param {Bytes} chain @param {number} seat */
  #withLeave(chain, seat) {
    return sha256(decisionInput(chain, false, `${playerOf(this.order, seat)} leave`));
  }

  /**
   * The chain to sign over: the one that a refusal names, if leaves explain it; null: they do not.
   * @param {number} own @param {string} [hint] in hexadecimal
   */
  async base(own, hint) {
    if (hint === undefined) return this.chain;
    return (await this.#bases(own)).find((chain) => hex(chain) === hint) ?? null;
  }

  /** The chain to sign one's own leave over: with all leaves that were asked for before. @param {number} own */
  async leaveBase(own) {
    return (await this.#bases(own)).at(-1) ?? this.chain;
  }
}

/** @param {Bytes} chain @param {string} line */
export const chainWith = (chain, line) => sha256(decisionInput(chain, false, line));

