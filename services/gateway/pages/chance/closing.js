// The dealer's closing: which commitments a hand is made of, before anybody reveals.

import { fromBase64 } from "../api/ids.js";
import { equal, sha256 } from "./bytes.js";
import { openLine } from "./evidence.js";
import { closingInput, closingText } from "./fair.js";
import { Fault } from "./fault.js";
import { checkClosingRows } from "./rows.js";
import { hasOther } from "./statements.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("../types.js").ClosingRow} ClosingRow */
/** @typedef {{seat: number, playerId: string}} Place `playerId` empty: not known */

/**
 * A closing that has passed every check.
 * @typedef {object} Closed
 * @property {string} closing base64
 * @property {ClosingRow[]} rows
 * @property {boolean} isDisputed Another was told that does not pass: nothing is revealed under either.
 */

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
  const kept = (await evidence?.statements(handNo)) ?? [];
  await evidence?.keep(handNo, openLine(input), line);
  if (hasOther(kept, "closing-sig", binding.context, binding.dealer, hash))
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
