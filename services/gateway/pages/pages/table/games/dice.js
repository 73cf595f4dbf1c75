// Sabacc with dice: dice that may shift the cards, a field, announced totals.

import { signed } from "../../../elements/cards/names.js";
import { drawPile, labelledDice, listed, total23 } from "./parts.js";

/** Whether these dice shift the cards, by the rule set. @param {import("../context.js").Context} context @param {number[]} values */
export function isShift(context, values) {
  if (values.length === 2) return values[0] === values[1];
  return values[0] === (Number(context.field("shift_number")) || 1);
}

/** Marks of announced totals. @param {readonly {seat?: number, total?: number}[] | undefined} totals @param {number} seat */
export function declared(totals, seat) {
  const found = totals?.find((one) => one.seat === seat);
  return found ? [{ text: `opened ${signed(found.total ?? 0)}`, title: "Total of the opening hand, as the rules have it announced" }] : [];
}

/** @type {import("./all.js").Game} */
export const dice = {
  deck: "S76",
  title: "Sabacc with dice",
  centre(context) {
    const roll = context.lastRoll;
    const shown = roll ? [labelledDice(roll.values, isShift(context, roll.values) ? "Sabacc Shift" : "No shift", isShift(context, roll.values))] : [];
    return [drawPile("S76"), ...shown];
  },
  badges: (context, seat) => declared(context.view?.hand?.gameState?.dice?.declaredTotals, seat),
  hint: (_context, codes) => total23(codes),
  chance(context, { chance, values = [] }) {
    if (chance !== "CHANCE_KIND_ROLL") return null;
    return isShift(context, values)
      ? { text: `${listed(values)}: Sabacc Shift! Every card outside the field is dealt anew`, tone: "shift" }
      : { text: `The dice show ${listed(values)}: no shift`, tone: "quiet" };
  },
};
