// Parts that several games draw: piles, labelled cards, and totals of the games to 23.

import { cardOf, signed } from "../../../elements/cards/names.js";
import { el, own } from "../dom.js";

/** Thing with a label under it. @param {string} label @param {Node} thing @param {string} [title] */
export function labelled(label, thing, title) {
  return el("figure", { class: "thing", title }, thing, el("figcaption", null, label));
}

/** Card with a label. @param {string} label @param {string | undefined} code "" for its back @param {string} deck @param {string} [title] */
export function labelledCard(label, code, deck, title) {
  return labelled(label, own("sabacc-card", { code: code ?? "", deck, small: Boolean(code) }), title);
}

/** Draw pile, from which cards fly. @param {string} deck @param {string} [label] */
export function drawPile(deck, label = "Draw pile") {
  const pile = labelledCard(label, "", deck);
  pile.classList.add("pile");
  return pile;
}

/** Dice with a label. @param {number[]} values @param {string} label @param {boolean} [pair] */
export function labelledDice(values, label, pair = false) {
  return labelled(label, own("sabacc-dice", { values: values.join(" "), pair }));
}

/** Place of a card that has not been laid yet. @param {string} label */
export function emptyPlace(label) {
  return labelled(label, el("span", { class: "empty-place" }));
}

/** Worth of a hand in the games to 23. @param {string[]} codes @returns {string} */
export function total23(codes) {
  const cards = codes.map((code) => cardOf(code, "S76"));
  if (!cards.length || cards.some((card) => card === null)) return "";
  const values = cards.map((card) => card?.value ?? 0);
  const total = values.reduce((sum, value) => sum + value, 0);
  const isArray = cards.length === 3 && cards.some((card) => card?.kind === "Idiot") && values.includes(2) && values.includes(3);
  if (isArray) return "Idiot's Array: the best hand there is";
  if (Math.abs(total) === 23) return `Pure Sabacc: ${signed(total)}`;
  if (Math.abs(total) > 23) return `Total ${signed(total)}: over 23, bombed out unless it changes`;
  if (total === 0) return "Total 0: bombed out unless it changes";
  return `Total ${signed(total)}`;
}

/** Sum of values. @param {string[]} codes @param {string} deck */
export function sumOf(codes, deck) {
  return codes.reduce((sum, code) => sum + (cardOf(code, deck)?.value ?? 0), 0);
}

/** Numbers as people say them. @param {readonly (number | string)[]} values */
export function listed(values) {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} and ${values[values.length - 1]}`;
}
