// Sabacc for SWG: a bet, then a draw, turn by turn, until the action is back where it was last lifted.

import { el } from "../dom.js";
import { drawPile, labelled, total23 } from "./parts.js";

/** @type {import("./all.js").Game} */
export const swg = {
  deck: "S76",
  title: "Sabacc for SWG",
  centre(context) {
    const ends = context.view?.hand?.gameState?.swg?.endsAtSeat;
    return [drawPile("S76"), ...(ends ? [labelled("Called when play is back at", el("strong", { class: "word" }, context.nameOf(ends, true)))] : [])];
  },
  badges(context, seat) {
    return context.view?.hand?.gameState?.swg?.endsAtSeat === seat ? [{ text: "ends here", tone: "accent", title: "The hand is called when play is back at this seat" }] : [];
  },
  hint: (_context, codes) => total23(codes),
  chance: () => null,
};
