// Evidence of each hand, as a file that `sabacc evidence`, `verify.html` and a dispute take: what dealer and table have signed,
// and what hashes were taken of. Specification: crates/fairness/SPEC.md section 16.

import { base64, fromBase64 } from "../api/ids.js";
import { keysOf, load, update } from "../keep/database.js";
import { hex, utf8 } from "./bytes.js";
import { hasOther, statementsOf } from "./statements.js";

const HEADER = "sabacc-evidence 1";
const MOST_LINES = 8192;
// Decisions of others are left out beyond this: what has to be kept before something is sent finds room.
const MOST_WITH_DECISIONS = 4096;
const MOST_COPY_BYTES = 256 * 1024;
// What may not be shown to others before its hand has ended begins with one of these tags.
const SECRET = ["sabacc/fair/v1/client-commit", "sabacc/fair/v1/transcript", "reveal-receipt-sig", "decision-sig"];

/** Keys sort as the hands do. @param {string} playerId @param {string} tableId @param {string} handNo */
export const handKey = (playerId, tableId, handNo) => `${playerId}/${tableId}/${handNo.padStart(20, "0")}`;

/** @param {Uint8Array} bytes */
export const openLine = (bytes) => `open ${base64(bytes)}`;

/** @param {string} words */
export const noteLine = (words) => `note ${BigInt(Date.now()) * 1000n} ${words}`;

/** The note that a hand has ended, from which on its numbers may be shown. @param {Uint8Array} context */
export const endedLine = (context) => noteLine(`ended ${hex(context)}`);

// Hands of which a player who looks on has what they need if they sit down.
const HELD_HANDS = 4;

/** Evidence of one player at one table, kept while they have a seat. */
export class Evidence {
  isKept = false;
  /** What was told before the player sat down, by hand. @type {Map<string, string[]>} */
  #held = new Map();

  /** @param {string} playerId @param {string} tableId */
  constructor(playerId, tableId) {
    this.playerId = playerId;
    this.tableId = tableId;
  }

  /** Keeps lines of a hand; they are on disk when this resolves. @param {string} handNo @param {string[]} lines */
  keep(handNo, ...lines) {
    return this.#keep(handNo, lines, MOST_LINES);
  }

  /** Keeps what a hash was taken of, with what was signed over it. @param {string} handNo @param {Uint8Array} input @param {string[]} lines */
  keepOpen(handNo, input, ...lines) {
    return this.keep(handNo, openLine(input), ...lines);
  }

  /** Keeps that a hand has ended. @param {string} handNo @param {Uint8Array} context */
  keepEnd(handNo, context) {
    return this.keep(handNo, endedLine(context));
  }

  /** Keeps a decision of whoever, as far as there is room. @param {string} handNo @param {Uint8Array} input */
  async keepDecision(handNo, input) {
    await this.#keep(handNo, [openLine(input)], MOST_WITH_DECISIONS).catch(() => undefined);
  }

  /** @param {string} handNo @param {string[]} lines @param {number} most */
  async #keep(handNo, lines, most) {
    const held = this.#held.get(handNo) ?? [];
    if (!this.isKept) return this.#hold(handNo, [...held, ...lines]);
    const all = [...held, ...lines];
    await update("evidence", this.#key(handNo), (/** @type {string[] | undefined} */ kept = []) => {
      const news = all.filter((line, at) => !kept.includes(line) && all.indexOf(line) === at);
      if (kept.length + news.length > most) throw new Error(`hand ${handNo} has more evidence than is kept`);
      return [...kept, ...news];
    });
    // Not before it is on disk; what was held meanwhile stays.
    if (this.#held.get(handNo) === held) this.#held.delete(handNo);
  }

  /** @param {string} handNo */
  #key(handNo) {
    return handKey(this.playerId, this.tableId, handNo);
  }

  /** The signed texts that there are of a hand. @param {string} handNo */
  async statements(handNo) {
    /** @type {string[]} */
    const kept = (await load("evidence", this.#key(handNo))) ?? [];
    return statementsOf([...kept, ...(this.#held.get(handNo) ?? [])]);
  }

  /** Whether a signed text of a kind is kept whose first fields are other ones. @param {string} handNo @param {string} tag @param {import("./bytes.js").Bytes[]} first */
  async hasOther(handNo, tag, ...first) {
    return hasOther(await this.statements(handNo), tag, ...first);
  }

  /** The highest number that there is evidence of. */
  async lastHand() {
    return BigInt((await hands(this.playerId, this.tableId)).at(-1) ?? 0);
  }

  /** @param {string} handNo @param {string[]} lines */
  #hold(handNo, lines) {
    this.#held.set(handNo, lines);
    if (this.#held.size > HELD_HANDS) this.#held.delete([...this.#held.keys()][0] ?? "");
  }
}

/** Numbers of the hands that there is evidence of, ascending. @param {string} playerId @param {string} tableId */
export async function hands(playerId, tableId) {
  const keys = await keysOf("evidence", `${playerId}/${tableId}/`);
  return keys.map((key) => BigInt(key.slice(key.lastIndexOf("/") + 1)).toString());
}

/** Everything that there is evidence of. @param {string} playerId @returns {Promise<{tableId: string, handNo: string}[]>} */
export async function allHands(playerId) {
  const keys = await keysOf("evidence", `${playerId}/`);
  return keys.map((key) => {
    const [, tableId = "", handNo = "0"] = key.split("/");
    return { tableId, handNo: BigInt(handNo).toString() };
  });
}

/** @param {string[]} lines */
const fileOf = (lines) => new Blob([[HEADER, ...lines, ""].join("\n")], { type: "text/plain" });

/** The evidence of a hand as its owner keeps it. @param {string} playerId @param {string} tableId @param {string} handNo */
export async function evidenceFile(playerId, tableId, handNo) {
  return fileOf((await load("evidence", handKey(playerId, tableId, handNo))) ?? []);
}

/** A copy for others, such as for a dispute. @param {string} playerId @param {string} tableId @param {string} handNo */
export async function evidenceCopy(playerId, tableId, handNo) {
  /** @type {string[]} */
  const lines = (await load("evidence", handKey(playerId, tableId, handNo))) ?? [];
  const isOver = hasEnded(lines);
  const shown = lines.filter((line) => isOver || !isSecret(line));
  let size = 0;
  return fileOf(shown.filter((line) => (size += utf8(line).length + 1) < MOST_COPY_BYTES - HEADER.length));
}

/** Whether the evidence of a hand says that it has ended. @param {string[]} lines */
const hasEnded = (lines) => lines.some((line) => / ended [0-9a-f]{64}$/.test(line));

/** Whether it is kept that a hand has ended. @param {string} playerId @param {string} tableId @param {string} handNo */
export async function isKnownToBeOver(playerId, tableId, handNo) {
  return hasEnded((await load("evidence", handKey(playerId, tableId, handNo))) ?? []);
}

/** @param {string} line */
function isSecret(line) {
  const bytes = fromBase64(line.startsWith("note ") ? "" : line.split(" ")[1]);
  const length = bytes.length < 4 ? 0 : new DataView(bytes.buffer).getUint32(0);
  return SECRET.includes(new TextDecoder().decode(bytes.slice(4, 4 + length)));
}
