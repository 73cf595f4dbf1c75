// Rows of closings and transcripts, read strictly: what is not exactly as long as it must be could be read in two ways.

import { fromBase64 } from "../api/ids.js";
import { equal, sha256 } from "./bytes.js";
import { commitmentInput } from "./fair.js";
import { Fault } from "./fault.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("../types.js").ClosingRow} ClosingRow */
/** @typedef {import("../types.js").EntropyRow} EntropyRow */
/** @typedef {{seat: number, playerId: string}} Place */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const REVEALED = "ENTROPY_STATUS_REVEALED";
const ABSENT = "ENTROPY_STATUS_ABSENT";

/** Whether a text is 32 bytes in base64. @param {string | undefined} text */
export const is32 = (text) => text !== undefined && fromBase64(text).length === 32;

/**
 * Checks that rows have places, once and ascending.
 * @param {string} handNo @param {{seat?: number, playerId?: string}[]} rows
 */
function checkPlaces(handNo, rows) {
  let last = 0;
  for (const { seat = 0, playerId = "" } of rows) {
    const isPlace = Number.isInteger(seat) && seat > last && seat < 256 && UUID.test(playerId);
    if (!isPlace) throw new Fault("table", handNo, "its seats do not come once and ascending");
    last = seat;
  }
}

/** @param {string} handNo @param {ClosingRow[]} rows */
export function checkClosingRows(handNo, rows) {
  checkPlaces(handNo, rows);
  if (rows.some(({ commitment }) => commitment && !is32(commitment)))
    throw new Fault("table", handNo, "its closing has a commitment that cannot be one");
}

/**
 * Checks the rows that a hand was made of: each number is the one that its seat has committed to. Gives them as they are hashed.
 * @param {string} handNo @param {EntropyRow[]} rows @param {Binding} binding @returns {Promise<EntropyRow[]>}
 */
export async function checkedRows(handNo, rows, binding) {
  if (rows.length === 0) throw new Fault("table", handNo, "what the seats brought to it is missing");
  checkPlaces(handNo, rows);
  return Promise.all(
    rows.map(async ({ seat = 0, playerId = "", status, commitment, entropy }) => {
      if (status === ABSENT) return { seat, playerId, status };
      if (status !== REVEALED) throw new Fault("table", handNo, `it was dealt without the number of seat ${seat}`);
      const isWhole = is32(commitment) && is32(entropy);
      const opened = isWhole && (await sha256(commitmentInput(binding, { seat, playerId }, fromBase64(entropy))));
      if (!opened || !equal(opened, fromBase64(commitment)))
        throw new Fault("table", handNo, `the number of seat ${seat} is not the one that it had committed to`);
      return { seat, playerId, status, commitment, entropy };
    }),
  );
}

/** Whether two lists have the same seats and players, in whatever order. @param {Place[]} one @param {Place[]} other */
export function haveSamePlaces(one, other) {
  const told = (/** @type {Place[]} */ places) => places.map(({ seat, playerId }) => `${seat} ${playerId}`).sort().join();
  return told(one) === told(other);
}

/**
 * Whether a hand was made of exactly what was closed.
 * @param {EntropyRow[]} rows checked @param {ClosingRow[]} closed
 */
export function areAsClosed(rows, closed) {
  const same = (/** @type {EntropyRow} */ row, /** @type {ClosingRow | undefined} */ other) =>
    row.seat === other?.seat &&
    row.playerId === other?.playerId &&
    equal(fromBase64(row.commitment), fromBase64(other?.commitment));
  return rows.length === closed.length && rows.every((row, at) => same(row, closed[at]));
}
