// The decisions of one hand, each bound to all before it, and the lines that this player has signed.

import { fromBase64 } from "../api/ids.js";
import { equal, hex, sha256 } from "./bytes.js";
import { Fault } from "./fault.js";
import { decisionInput } from "./fair.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("../types.js").HandAction} HandAction */

// As many as a table has seats.
const MOST_LEAVES = 8;

/** A seat's player in lines: the place among those dealt in. @param {number[]} order @param {number} seat */
export const playerOf = (order, seat) => `p${order.indexOf(seat) + 1}`;

export class Decisions {
  /** The chain after each decision, from where it was followed on. @type {Bytes[]} */
  #path;
  /** The lines of those decisions: the one at a place leads to the chain at the next. @type {string[]} */
  #lines = [];
  /** Seats whose leave was asked for and is not in the chain yet. @type {number[]} */
  #leaving = [];
  /** Lines of the viewer's that the table has given a receipt for. @type {{before: Bytes, after: Bytes}[]} */
  #received = [];

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
    if (!equal(chain, this.chain)) [this.#path, this.#lines] = [[chain], []];
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
    this.#lines.push(chainLine);
    return input;
  }

  /**
   * Whether nothing but leaves has been decided since a chain, so that who decided then would decide the same now.
   * @param {Bytes} chain @param {boolean} [orVoids] leaves, or that others would end the hand
   */
  isAsSeen(chain, orVoids = false) {
    const at = this.#path.findLastIndex((passed) => equal(passed, chain));
    return at >= 0 && this.#lines.slice(at).every((line) => line.endsWith(" leave") || (orVoids && line.endsWith(" void")));
  }

  /** Notes that a line of the viewer's is on record. @param {Bytes} before @param {Bytes} after */
  receive(before, after) {
    this.#received.push({ before, after });
    this.checkReceived();
  }

  /** Checks that what is on record is in the chain, where that has gone on. */
  checkReceived() {
    for (const { before, after } of this.#received) {
      const at = this.#path.findIndex((passed) => equal(passed, before));
      const next = at < 0 ? undefined : this.#path[at + 1];
      if (next && !equal(next, after)) throw new Fault("table", this.handNo, "a decision of yours is not in it, for which you have a receipt");
    }
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

