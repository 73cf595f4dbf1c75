// Force sabacc: players are light or dark, and the sides score together.

import { el } from "../dom.js";
import { drawPile, labelled, total23 } from "./parts.js";

/** @type {import("./all.js").Game} */
export const force = {
  deck: "S76",
  title: "Force sabacc",
  centre(context) {
    const known = context.view?.hand?.gameState?.force?.alignments ?? [];
    const count = (/** @type {string} */ side) => known.filter((one) => one.side === side).length;
    if (!known.length) return [drawPile("S76")];
    const scale = el("span", { class: "sides" }, el("b", { class: "light" }, `${count("FORCE_SIDE_LIGHT")} light`), el("b", { class: "dark" }, `${count("FORCE_SIDE_DARK")} dark`));
    return [drawPile("S76"), labelled("Sides", scale, "The side with the higher score wins: light adds totals, dark subtracts them")];
  },
  badges(context, seat) {
    const side = context.view?.hand?.gameState?.force?.alignments?.find((one) => one.seat === seat)?.side;
    if (!side) return [];
    return side === "FORCE_SIDE_DARK" ? [{ text: "Dark", tone: "dark" }] : [{ text: "Light", tone: "light" }];
  },
  hint: (_context, codes) => total23(codes).replace("Pure Sabacc", "Natural"),
  chance: () => null,
};
