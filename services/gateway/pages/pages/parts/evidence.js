// Evidence that this browser keeps of the player's hands, as the pages list, save and forget it.

import { Refusal } from "../../api/connect.js";
import { session } from "../../api/session.js";
import { allHands, evidenceCopy, evidenceFile, handKey, isKnownToBeOver } from "../../chance/evidence.js";
import { remove } from "../../keep/database.js";

/** @typedef {{tableId: string, handNo: string, bytes: number}} KeptHand */

/**
 * Hands of the player of which evidence is kept, by tables.
 *
 * @returns {Promise<KeptHand[]>}
 */
export async function keptEvidence() {
  const player = session.player?.id;
  if (!player) return [];
  const hands = await allHands(player);
  return Promise.all(hands.map(async (hand) => ({ ...hand, bytes: (await evidenceFile(player, hand.tableId, hand.handNo)).size })));
}

/**
 * Evidence of a hand as the player keeps it.
 *
 * @param {{tableId: string, handNo: string}} hand
 */
export async function evidenceOf({ tableId, handNo }) {
  return evidenceFile(session.player?.id ?? "", tableId, handNo);
}

/**
 * Copy of a hand's evidence that may be shown to others; null where none is kept.
 *
 * @param {{tableId: string, handNo: string}} hand
 * @returns {Promise<Uint8Array | null>}
 */
export async function copyForOthers({ tableId, handNo }) {
  const player = session.player?.id;
  const kept = player ? (await allHands(player)).some((one) => one.tableId === tableId && one.handNo === handNo) : false;
  if (!player || !kept) return null;
  return new Uint8Array(await (await evidenceCopy(player, tableId, handNo)).arrayBuffer());
}

/**
 * Forgets the evidence of a hand. One that may be in play is refused: without it the player could not show what they were promised.
 *
 * @param {{tableId: string, handNo: string}} hand
 */
export async function forgetEvidence({ tableId, handNo }) {
  const player = session.player?.id;
  if (!player) return;
  if (!(await isKnownToBeOver(player, tableId, handNo)) && isInPlay(await tableNow(tableId), handNo))
    throw new Error(`Hand ${handNo} is not over: what the room signs for you in it holds it to its word. Forget it when it has ended.`);
  await remove("evidence", handKey(player, tableId, handNo));
}

/**
 * Table as it stands; null: there is none any more.
 *
 * @param {string} tableId
 * @returns {Promise<import("../../types.js").TableView | null>}
 */
async function tableNow(tableId) {
  try {
    return (await session.call("sabacc.table.v1.TableService/GetTable", { tableId })).table ?? null;
  } catch (error) {
    if (error instanceof Refusal && error.reason === "TABLE_UNKNOWN") return null;
    throw error;
  }
}

/**
 * Whether a hand is promised, open or being played.
 *
 * @param {import("../../types.js").TableView | null} view
 * @param {string} handNo
 */
function isInPlay(view, handNo) {
  if (!view) return false;
  const isDealt = view.hand?.handNo === handNo && view.hand.phase !== "HAND_PHASE_OVER";
  return isDealt || view.entropy?.handNo === handNo || BigInt(handNo) > BigInt(view.handNo ?? 0);
}

/**
 * Evidence of many hands as one file.
 *
 * @param {KeptHand[]} hands
 */
export async function evidenceOfAll(hands) {
  const files = await Promise.all(hands.map(async (hand) => (await evidenceOf(hand)).text()));
  const [header] = files[0].split("\n", 1);
  return new Blob([`${header}\n`, ...files.map((text) => text.slice(header.length + 1))], { type: "text/plain" });
}
