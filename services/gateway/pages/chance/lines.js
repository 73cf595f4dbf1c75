// The line of a decision, as the chain takes it and its player signs it. Specification: crates/fairness/SPEC.md section 9.2.

import { playerOf } from "./decisions.js";

/** @typedef {import("../types.js").Move} Move */
/** @typedef {import("../types.js").LegalMove} LegalMove */
/** @typedef {import("../types.js").HeldCard} HeldCard */

/** @param {import("../types.js").MoveKind | undefined} kind */
export const verbOf = (kind = "MOVE_KIND_VOID") =>
  kind === "MOVE_KIND_DRAW_FROM" ? "draw" : kind.replace("MOVE_KIND_", "").toLowerCase().replaceAll("_", "-");

/**
 * @param {Move} move
 * @param {LegalMove | undefined} legal the legal move that it is one of
 * @param {{order: number[], seat: number, cards: HeldCard[]}} own the seats dealt in, and the player's own with its cards
 * @returns {{line: string, said: string}} `said` has in the clear what the line has as `??`
 */
export function linesOf(move, legal, { order, seat, cards }) {
  const { kind, amountCredits, names = [], targetSeat, value } = move;
  const head = [playerOf(order, seat), verbOf(kind), ...placesOf(move.cards ?? [], cards)];
  const takesAmount = kind === "MOVE_KIND_BET" || kind === "MOVE_KIND_RAISE";
  if (takesAmount) head.push(String(amountCredits ?? 0));
  const choice = [...names];
  if (targetSeat) choice.push(playerOf(order, targetSeat));
  if (value) choice.push(String(value));
  const hidden = legal?.secret ? choice.map(() => "??") : choice;
  return { line: [...head, ...hidden].join(" "), said: [...head, ...choice].join(" ") };
}

/** Where the named cards lie. Of cards that look alike it is the first that is not named yet. @param {string[]} codes @param {HeldCard[]} cards */
function placesOf(codes, cards) {
  const left = [...cards];
  return codes.map((code) => {
    const at = left.findIndex((held) => held.code === code);
    const [held] = at < 0 ? [] : left.splice(at, 1);
    if (!held?.proof) throw new Error(`You do not hold ${code}.`);
    return `${held.proof.op ?? 0}.${held.proof.position ?? 0}`;
  });
}
