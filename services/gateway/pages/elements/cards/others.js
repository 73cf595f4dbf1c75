// Drawings of the decks of Kessel (K44), of Corellia (C62) and of two packs of playing cards (P42).

import { at, corners, large, pips } from "./pips.js";
import { signed } from "./names.js";

/** Hexagon of Kessel, in which the value stands. */
const HEX = "M0-34 29-17v34L0 34l-29-17v-34z";

/** Signs of Kessel's cards without a number. @type {Record<string, string>} */
const KESSEL = {
  Impostor: '<path d="M-19-20C-8-25 8-25 19-20 21 0 16 18 0 26-16 18-21 0-19-20z"/><path class="cut" d="M-13-7-2-3c-2 6-9 6-11-4zM13-7 2-3c2 6 9 6 11-4zM-6 11h12L0 15z"/>',
  Sylop: '<path fill-rule="evenodd" d="M0-26A26 26 0 1 1 0 26 26 26 0 0 1 0-26zm0 6A20 20 0 1 0 0 20 20 20 0 0 0 0-20z"/><path d="M0-14c9 0 14 6 14 13 0 8-6 12-12 12-5 0-9-3-9-8 0-4 3-7 7-7v5c-2 0-2 4 2 4s7-2 7-6-4-8-9-8c-7 0-10 6-10 11h-5C-15-6-9-14 0-14z"/>',
};

/** Drawing of a card of Kessel. @param {import("./names.js").Card} card @param {boolean} small @returns {{tone: string, body: string}} */
export function drawK44(card, small) {
  const tone = `kessel ${card.suit.toLowerCase()}`;
  const drop = card.suit === "Blood" ? '<path d="M0-9C5-2 7 1 7 4.500A7 7 0 0 1-7 4.500C-7 1-5-2 0-9z"/>' : '<path d="M-9 6C-6-2-2-6 0-6s6 4 9 12z"/><path d="M-4-8h8v2.500h-8z"/>';
  const sign = KESSEL[card.kind];
  if (sign) {
    const word = card.kind.toUpperCase();
    if (small) return { tone, body: at(50, 70, 1.35, sign) };
    return { tone, body: `<g class="rays"><path d="${HEX}" transform="translate(50 66) scale(1.18)"/></g>${at(50, 66, 0.9, sign)}${at(15, 20, 0.8, drop)}<text class="title" x="50" y="124" font-size="10">${word}</text>` };
  }
  const value = card.value ?? 0;
  if (small) return { tone, body: large(String(value), drop) };
  const dots = Array.from({ length: 6 }, (_, i) => {
    const angle = (Math.PI * i) / 3 - Math.PI / 2;
    return `<circle cx="${(50 + 41 * Math.cos(angle) * 0.92).toFixed(1)}" cy="${(70 + 47 * Math.sin(angle)).toFixed(1)}" r="4.2" class="${i < value ? "dot" : "dot hollow"}"/>`;
  }).join("");
  return { tone, body: `<path class="plate" d="${HEX}" transform="translate(50 70)"/><text class="index" x="50" y="88" font-size="50">${value}</text>${dots}${at(13, 18, 0.75, drop)}${at(87, 122, 0.75, drop, true)}` };
}

/** Shapes of the pack of 62. @type {Record<string, string>} */
const SHAPES = {
  circle: '<circle r="8.5"/><circle class="cut" r="3.6"/>',
  triangle: '<path d="M0-10 10 8h-20z"/><path class="cut" d="M0-2 4 5h-8z"/>',
  square: '<path d="M-8.5-8.500h17v17h-17z"/><path class="cut" d="M-3.5-3.500h7v7h-7z"/>',
};

/** Drawing of a card of the pack of 62. @param {import("./names.js").Card} card @param {boolean} small @returns {{tone: string, body: string}} */
export function drawC62(card, small) {
  if (card.kind === "Sylop") {
    const sign = '<circle r="28" class="line"/><path d="M0-20 17 10h-34z" class="line"/><path d="M-8-6H8v16H-8z"/>';
    return { tone: "spike sylop", body: small ? `${at(50, 56, 1.2, sign)}<text class="title" x="50" y="122" font-size="24">0</text>` : `${at(50, 70, 1, sign)}${corners("0", "", true)}<text class="title" x="50" y="122">SYLOP</text>` };
  }
  const value = card.value ?? 0;
  const tone = `spike ${value > 0 ? "plus" : "minus"}`;
  const text = value > 0 ? `+${value}` : signed(value);
  const emblem = SHAPES[card.suit] ?? "";
  return { tone, body: small ? large(text, emblem) : corners(text, Math.abs(value) > 8 ? "" : emblem) + pips(Math.abs(value), emblem) };
}

/** Suits of playing cards. @type {Record<string, string>} */
const FRENCH = {
  spades: '<path d="M0-11C3-6 10-2 10 4c0 5-6 7-8.5 3C1.7 9 2.5 10 4 11H-4c1.5-1 2.3-2 2.5-4C-4 11-10 9-10 4c0-6 7-10 10-15z"/>',
  hearts: '<path d="M0 11C-3 6-10.5 2-10.5-4.500c0-6.5 8.5-8 10.5-2 2-6 10.5-4.5 10.5 2C10.5 2 3 6 0 11z"/>',
  diamonds: '<path d="M0-11.500C2-7 5-3 8.5 0 5 3 2 7 0 11.5-2 7-5 3-8.5 0-5-3-2-7 0-11.500z"/>',
  clubs: '<path d="M0-11a5 5 0 0 1 4 8 5 5 0 1 1-2.5 8.500C1.7 8 2.5 10 4 11H-4c1.5-1 2.3-3 2.5-5.500A5 5 0 1 1-4-3a5 5 0 0 1 4-8z"/>',
};

/** Drawing of a playing card. @param {import("./names.js").Card} card @param {boolean} small @returns {{tone: string, body: string}} */
export function drawP42(card, small) {
  const red = card.suit === "hearts" || card.suit === "diamonds";
  const emblem = FRENCH[card.suit] ?? "";
  const text = String(card.value ?? "");
  return { tone: `french ${red ? "red" : "black"}`, body: small ? large(text, emblem) : corners(text, emblem) + pips(card.value ?? 0, emblem) };
}
