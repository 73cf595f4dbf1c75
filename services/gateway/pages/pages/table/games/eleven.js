// Eleven: closest to eleven without going over, with a wild and a clone.

import { drawPile, labelledCard, sumOf } from "./parts.js";
import { cardName } from "../../../elements/cards/names.js";

/** @type {import("./all.js").Game} */
export const eleven = {
  deck: "P42",
  title: "Eleven",
  centre(context) {
    const { wild, clone } = context.view?.hand?.gameState?.eleven ?? {};
    const shown = [];
    if (wild) shown.push(labelledCard("Wild: 1 to 6", wild, "P42", "Cards of this face are 1 to 6, as serves best"));
    if (clone) shown.push(labelledCard("Clone: copies", clone, "P42", "Cards of this face take the value of another card in the hand"));
    return [drawPile("P42"), ...shown];
  },
  badges(context, seat) {
    return context.view?.hand?.gameState?.eleven?.stoodSeats?.includes(seat) ? [{ text: "stands", tone: "good" }] : [];
  },
  hint(context, codes) {
    if (!codes.length) return "";
    const { wild, clone } = context.view?.hand?.gameState?.eleven ?? {};
    const plain = codes.filter((code) => code !== wild && code !== clone);
    const others = codes.length - plain.length;
    const sum = sumOf(plain, "P42");
    const more = others ? ` and ${others === 1 ? "a wild or clone" : `${others} wilds or clones`}` : "";
    return sum > 11 ? `${sum}${more}: over eleven` : `${sum}${more}, of eleven`;
  },
  chance(context, { chance }) {
    if (chance !== "CHANCE_KIND_ANNOUNCE") return null;
    const { wild = "", clone = "" } = context.view?.hand?.gameState?.eleven ?? {};
    return { text: `Wild is the ${cardName(wild, "P42")}, clone the ${cardName(clone, "P42")}`, tone: "roll" };
  },
};
