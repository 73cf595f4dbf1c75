// Corellian Spike: hands that sum to 0, an open discard, and dice whose pair redraws every hand.

import { signed } from "../../../elements/cards/names.js";
import { drawPile, emptyPlace, labelledCard, labelledDice, listed, sumOf } from "./parts.js";

/** @type {import("./all.js").Game} */
export const spike = {
  deck: "C62",
  title: "Corellian Spike",
  centre(context) {
    const top = context.view?.hand?.gameState?.spike?.topDiscard;
    const roll = context.lastRoll;
    const pair = roll ? roll.values[0] === roll.values[1] : false;
    return [drawPile("C62"), top ? labelledCard("Discard", top, "C62", "A swap takes this card") : emptyPlace("Discard"), ...(roll ? [labelledDice(roll.values, pair ? "A pair: redraw" : "No pair", pair)] : [])];
  },
  badges: () => [],
  hint(_context, codes) {
    if (!codes.length) return "";
    const sum = sumOf(codes, "C62");
    if (sum !== 0) return `Sum ${signed(sum)}: ${Math.abs(sum)} from 0`;
    return codes.length === 2 && codes.every((code) => code === "Y") ? "Pure Sabacc: the best hand there is" : "Sum 0: sabacc";
  },
  chance(_context, { chance, values = [] }) {
    if (chance !== "CHANCE_KIND_ROLL") return null;
    return values[0] === values[1]
      ? { text: `${listed(values)}, a pair: every hand is discarded and drawn anew`, tone: "shift" }
      : { text: `The dice show ${listed(values)}: hands stay`, tone: "quiet" };
  },
};
