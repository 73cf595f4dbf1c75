// Casino sabacc: the droid dealer's pulse shifts the cards at random; cards in the field are safe.

import { el } from "../dom.js";
import { declared } from "./dice.js";
import { drawPile, labelled, total23 } from "./parts.js";

/** @type {import("./all.js").Game} */
export const electronic = {
  deck: "S76",
  title: "Casino sabacc",
  centre(context) {
    const state = context.lastPulse ? (context.lastPulse.shifted ? "shifted" : "quiet") : "waiting";
    const words = { shifted: "Cards shifted", quiet: "No pulse", waiting: "Droid dealer" };
    const lamp = el("span", { class: `lamp ${state}` }, el("i"), el("i"), el("i"));
    return [drawPile("S76"), labelled(words[/** @type {"quiet"} */ (state)], lamp, "After every turn and every betting round the dealer may pulse: then every card outside the field is dealt anew")];
  },
  badges: (context, seat) => declared(context.view?.hand?.gameState?.electronic?.declaredTotals, seat),
  hint: (_context, codes) => total23(codes),
  chance(_context, { chance, values = [] }) {
    if (chance !== "CHANCE_KIND_PULSE") return null;
    return values[0] === 1
      ? { text: "The dealer pulses: the cards shift! Every card outside the field is dealt anew", tone: "shift" }
      : { text: "No pulse", tone: "quiet" };
  },
};
