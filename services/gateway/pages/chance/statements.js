// Signed texts as the evidence holds them, read back: what was promised, closed and received holds beyond the page's life.

import { fromBase64 } from "../api/ids.js";
import { equal } from "./bytes.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {{tag: string, parts: Bytes[]}} Statement */

/** Fields of a signed text. @param {Bytes} bytes @returns {Bytes[]} */
function partsOf(bytes) {
  const parts = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + view.getUint32(at);
    parts.push(bytes.slice(at + 4, end));
    at = end;
  }
  return parts;
}

/** The signed texts among lines of evidence. @param {string[]} lines @returns {Statement[]} */
export function statementsOf(lines) {
  const signed = lines.filter((line) => line.startsWith("signed "));
  return signed.map((line) => {
    const [tag = new Uint8Array(), ...parts] = partsOf(fromBase64(line.split(" ")[1]));
    return { tag: new TextDecoder().decode(tag), parts };
  });
}

/**
 * Whether a text of this kind is there whose first fields are other ones.
 * @param {Statement[]} statements @param {string} tag @param {Bytes[]} first
 */
export const hasOther = (statements, tag, ...first) =>
  statements.some((told) => told.tag === tag && !begins(told, first));

/** Whether a text of this kind begins with these fields. @param {Statement[]} statements @param {string} tag @param {Bytes[]} first */
export const hasSame = (statements, tag, ...first) => statements.some((told) => told.tag === tag && begins(told, first));

/** @param {Statement} told @param {Bytes[]} first */
const begins = ({ parts }, first) => first.every((part, at) => equal(part, parts[at] ?? new Uint8Array()));
