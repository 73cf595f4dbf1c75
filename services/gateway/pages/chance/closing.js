// What a hand is made of: the commitments that the dealer has closed before anybody reveals, and the numbers that open them. Rows
// are read strictly: what is not exactly as long as it must be could be read in two ways.

import { fromBase64 } from "../api/ids.js";
import { equal, sha256 } from "./bytes.js";
import { closingInput, closingText, commitmentInput } from "./fair.js";
import { Fault } from "./fault.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("../types.js").ClosingRow} ClosingRow */
/** @typedef {import("../types.js").EntropyRow} EntropyRow */
/** @typedef {{seat: number, playerId: string}} Place `playerId` empty: not known */

/**
 * A closing that has passed every check.
 * @typedef {object} Closed
 * @property {string} closing base64
 * @property {ClosingRow[]} rows
 * @property {boolean} isDisputed Another was told that does not pass: nothing is revealed under either.
 */

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
function checkClosingRows(handNo, rows) {
  checkPlaces(handNo, rows);
  if (rows.some(({ commitment }) => commitment && !is32(commitment)))
    throw new Fault("table", handNo, "its closing has a commitment that cannot be one");
}

/**
 * Checks a closing. What it says is kept first: a signed one that does not pass is evidence.
 * @param {string} handNo @param {import("../types.js").Closing | undefined} told @param {Place[]} roster @param {Binding} binding
 * @param {{keys: import("./roomkeys.js").RoomKeys, evidence: import("./evidence.js").Evidence | null}} means
 * @returns {Promise<Closed>}
 */
export async function checkClosing(handNo, told, roster, binding, { keys, evidence }) {
  if (!told) throw new Fault("table", handNo, "what it is made of is closed, and not told");
  const { rows = [], closing = "" } = told;
  checkClosingRows(handNo, rows);
  const input = closingInput(binding, rows);
  const hash = await sha256(input);
  if (!equal(fromBase64(closing), hash)) throw new Fault("dealer", handNo, "its closing is not that of its rows");
  const line = await keys.check("dealer", handNo, closingText(binding, told), told, binding.origin);
  const hasOther = await evidence?.hasOther(handNo, "closing-sig", binding.context, binding.dealer, hash);
  await evidence?.keepOpen(handNo, input, line);
  if (hasOther)
    throw new Fault("dealer", handNo, "the dealer has closed it twice, in different ways");
  checkRoster(handNo, rows, roster);
  return { closing, rows, isDisputed: false };
}

/** @param {string} handNo @param {ClosingRow[]} rows @param {Place[]} roster */
function checkRoster(handNo, rows, roster) {
  const places = [...roster].sort((a, b) => a.seat - b.seat);
  const same = rows.length === places.length && rows.every(({ seat }, at) => seat === places[at]?.seat);
  if (!same) throw new Fault("table", handNo, "its closing has other seats than those dealt in");
  const others = rows.some(({ playerId }, at) => places[at]?.playerId && places[at]?.playerId !== playerId);
  if (others) throw new Fault("table", handNo, "its closing has other players than those dealt in");
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
