// What a hand's bundle says of its chance: the dealer's commitment, the closing, what each seat brought, every operation, the
// seed. Read for show alone; `verify.html` is what checks a bundle.

import { toHex } from "../parts/words.js";

/** Types of the events that are read, as in `EventType`. */
const COMMITTED = 100;
const SEALED = 101;
const PERFORMED = 102;
const OPENED = 104;
const CLOSED = 105;

/** Kinds of operation, by the field of `Operation` that is set. @type {Record<number, string>} */
const KINDS = { 2: "shuffle", 3: "roll", 4: "pulse", 5: "pick", 6: "sample" };

/** @typedef {{field: number, number: bigint, bytes: Uint8Array}} Part */

/**
 * Fields of an encoded message, in their order.
 *
 * @param {Uint8Array} bytes
 * @returns {Part[]}
 */
export function partsOf(bytes) {
  /** @type {Part[]} */
  const parts = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (at >= bytes.length || shift > 63n) throw new Error("the bundle is cut off");
      const byte = bytes[at];
      at += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const [field, wire] = [key >> 3, key & 7];
    let number = 0n;
    let content = new Uint8Array();
    if (wire === 0) number = varint();
    else {
      const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : wire === 5 ? 4 : NaN;
      if (!(at + length <= bytes.length)) throw new Error("the bundle is cut off");
      content = bytes.slice(at, at + length);
      at += length;
    }
    parts.push({ field, number, bytes: content });
  }
  return parts;
}

/**
 * @param {Part[]} parts
 * @param {number} field
 */
const bytesAt = (parts, field) => parts.find((part) => part.field === field)?.bytes ?? new Uint8Array();

/**
 * @param {Part[]} parts
 * @param {number} field
 */
const numberAt = (parts, field) => Number(parts.find((part) => part.field === field)?.number ?? 0n);

/**
 * Chance of a hand, as hexadecimal.
 *
 * @typedef {object} HandChance
 * @property {string} commitment
 * @property {string} closing
 * @property {Array<{seat: number, commitment: string, entropy: string}>} rows
 * @property {string} transcript
 * @property {Array<{index: number, kind: string, result: string}>} operations
 * @property {string} seed
 * @property {boolean} discarded
 * @property {Array<{name: string, size: string, records: number}>} logs
 */

/**
 * Reads an encoded `HandBundle`.
 *
 * @param {Uint8Array} bundle
 * @returns {HandChance}
 */
export function chanceOf(bundle) {
  const contents = partsOf(bytesAt(partsOf(bundle), 1));
  const logs = contents.filter((part) => part.field === 3).map((part) => partsOf(part.bytes));
  const name = (/** @type {Part[]} */ log) => new TextDecoder().decode(bytesAt(log, 1));
  /** @type {HandChance} */
  const found = { commitment: "", closing: "", rows: [], transcript: "", operations: [], seed: "", discarded: false, logs: [] };
  for (const log of logs) {
    const records = log.filter((part) => part.field === 4).map((part) => partsOf(part.bytes));
    const size = new TextDecoder().decode(bytesAt(log, 3)).split("\n")[1] ?? "";
    found.logs.push({ name: name(log), size, records: records.length });
    if (name(log) !== "dealer") continue;
    for (const record of records) take(found, numberAt(record, 5), partsOf(bytesAt(record, 8)));
  }
  return found;
}

/**
 * @param {HandChance} found
 * @param {number} type
 * @param {Part[]} event
 */
function take(found, type, event) {
  if (type === COMMITTED) found.commitment = toHex(bytesAt(partsOf(bytesAt(event, 4)), 1));
  if (type === CLOSED) found.closing = toHex(bytesAt(partsOf(bytesAt(event, 1)), 1));
  if (type === SEALED) {
    found.transcript = toHex(bytesAt(event, 1));
    found.rows = event
      .filter((part) => part.field === 3)
      .map((part) => partsOf(part.bytes))
      .map((row) => ({ seat: numberAt(row, 1), commitment: toHex(bytesAt(row, 4)), entropy: toHex(bytesAt(row, 5)) }));
  }
  if (type === PERFORMED) {
    const operation = partsOf(bytesAt(event, 1));
    const result = partsOf(bytesAt(event, 2));
    const kind = KINDS[operation.find((part) => part.field >= 2)?.field ?? 0] ?? "operation";
    const root = bytesAt(result, 3);
    found.operations.push({
      index: numberAt(operation, 1),
      kind,
      result: root.length > 0 ? `root ${toHex(root)}` : valuesOf(result).join(" "),
    });
  }
  if (type === OPENED) {
    found.seed = toHex(bytesAt(event, 1));
    found.discarded = numberAt(event, 2) === 1;
  }
}

/**
 * Values of an operation's result, packed or not.
 *
 * @param {Part[]} result
 * @returns {number[]}
 */
function valuesOf(result) {
  return result
    .filter((part) => part.field === 2)
    .flatMap((part) => {
      if (part.bytes.length === 0) return [Number(part.number)];
      const values = [];
      let value = 0;
      let shift = 0;
      for (const byte of part.bytes) {
        value += (byte & 127) * 2 ** shift;
        shift = byte > 127 ? shift + 7 : 0;
        if (byte < 128) {
          values.push(value);
          value = 0;
        }
      }
      return values;
    });
}
