// Coruscant Shift: dice name a target and a suit; players select cards to come closest.

import { signed } from "../../../elements/cards/names.js";
import { own } from "../dom.js";
import { drawPile, labelled, sumOf } from "./parts.js";

/** @type {Record<string, [string, string, string]>} */
const SUITS = { CORUSCANT_SUIT_CIRCLE: ["circle", "\u25cf", "c"], CORUSCANT_SUIT_TRIANGLE: ["triangle", "\u25b2", "t"], CORUSCANT_SUIT_SQUARE: ["square", "\u25a0", "s"] };

/** @param {number} total */
const plus = (total) => (total > 0 ? `+${total}` : signed(total));

/** @type {import("./all.js").Game} */
export const coruscant = {
  deck: "C62",
  title: "Coruscant Shift",
  centre(context) {
    const target = context.view?.hand?.gameState?.coruscant?.target;
    const suit = SUITS[target?.suit ?? ""];
    if (!target || !suit) return [drawPile("C62")];
    const total = target.total ?? 0;
    const thing = labelled(`Target ${plus(total)}, then most ${suit[0]}s`, own("sabacc-dice", { words: `${plus(total)} ${suit[1]}` }), "Gold die: the total to come closest to. Silver die: the suit that decides between equal totals");
    return [drawPile("C62"), thing];
  },
  badges(context, seat) {
    const found = context.view?.hand?.gameState?.coruscant?.selections?.find((one) => one.seat === seat);
    return found ? [{ text: `${found.count ?? 0} selected`, tone: "accent" }] : [];
  },
  hint(context, codes) {
    if (!codes.length) return "";
    const state = context.view?.hand?.gameState?.coruscant;
    const mine = state?.selections?.find((one) => one.seat === context.view?.yourSeat)?.cards ?? [];
    const suit = SUITS[state?.target?.suit ?? ""];
    const of = mine.length ? mine : codes;
    const sum = sumOf(of, "C62");
    const suited = suit ? of.filter((code) => code === "Y" || code.startsWith(suit[2])).length : 0;
    const target = state?.target ? `, ${Math.abs(sum - (state.target.total ?? 0))} from the target ${plus(state.target.total ?? 0)}; ${suited} of its suit` : "";
    return `${mine.length ? "Selection" : "All cards"}: ${signed(sum)}${target}`;
  },
  chance(context, { chance }) {
    const target = context.view?.hand?.gameState?.coruscant?.target;
    if (chance !== "CHANCE_KIND_ROLL" || !target) return null;
    return { text: `The target is ${plus(target.total ?? 0)}, the suit ${SUITS[target.suit ?? ""]?.[0] ?? "unknown"}`, tone: "roll" };
  },
};
