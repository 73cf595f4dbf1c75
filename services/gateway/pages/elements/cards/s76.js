// Drawings of the classic deck of 76: four suits of 15 and eight pairs of face cards, white (A) and black (B).

import { at, corners, large, pips } from "./pips.js";
import { signed } from "./names.js";

/** Emblems of the suits, about 20 by 20 around the origin. @type {Record<string, string>} */
const EMBLEMS = {
  Sabers: '<path d="M0-11.5C2.4-8.4 2.3-3.2 1.8 1.4h-3.6C-2.3-3.2-2.4-8.4 0-11.5z"/><path d="M-5 2.2h10v2.2H1.5V10a1.5 1.5 0 0 1-3 0V4.4H-5z"/>',
  Flasks: '<path d="M-3-11h6v2.2H2v5C6.4-1.6 8.4 2.2 7.4 6.2 6.6 9.3 4 10.5 0 10.5s-6.6-1.2-7.4-4.3C-8.4 2.2-6.4-1.6-2-3.8v-5h-1z"/><path class="cut" d="M-4.6 2.6C-2.4 1.2-.8 4 1.4 3.2 3 2.6 3.8 2 4.8 2.4 5.6 6.6 3.6 8 0 8s-5.4-1.8-4.6-5.4z"/>',
  Coins: '<path fill-rule="evenodd" d="M0-10.5A10.5 10.5 0 1 1 0 10.5 10.5 10.5 0 0 1 0-10.5zm0 2.6A7.9 7.9 0 1 0 0 7.9 7.9 7.9 0 0 0 0-7.9z"/><path d="M0-5.8 5 0 0 5.8-5 0z"/>',
  Staves: '<path d="M-1.5 11V-2.6h3V11z"/><path d="M0-11.5 5-6 0-.5-5-6z"/><path d="M-6 2.2h12v2.4H-6z"/>',
};

/** Signs of the face cards, in a circle of about 30 around the origin. @type {Record<string, string>} */
const SIGNS = {
  Star: `<path d="${star(8, 30, 11)}"/><circle class="cut" r="7"/>`,
  Evil: '<path d="M-27-26c2 10 6 14 12 16C-10-13-5-14 0-14s10 1 15 4c6-2 10-6 12-16 5 14 3 24-4 30-1 14-9 24-23 28-14-4-22-14-23-28-7-6-9-16-4-30z"/><path class="cut" d="M-15-1 -4 5c-3 4-9 4-11-6zM15-1 4 5c3 4 9 4 11-6zM-9 17c6 3 12 3 18 0-3 6-6 8-9 8s-6-2-9-8z"/>',
  Moderation: '<path d="M-20-28h40v6C20-10 8-6 5 0c3 6 15 10 15 22v6h-40v-6C-20 10-8 6-5 0c-3-6-15-10-15-22z"/><path class="cut" d="M-13-21h26C11-12 3-9 0-5-3-9-11-12-13-21zM-13 22C-10 13-3 12 0 7c3 5 10 6 13 15z"/>',
  Demise: '<path d="M0-29c16 0 26 10 26 25 0 8-4 13-10 16v9c0 4-3 7-7 7H-9c-4 0-7-3-7-7v-9c-6-3-10-8-10-16 0-15 10-25 26-25z"/><path class="cut" d="M-11-8a7 7 0 1 0 .1 0zM11-8a7 7 0 1 0 .1 0zM0 6l4 8h-8zM-6 19h2v6h-2zM-1 19h2v6h-2zM4 19h2v6H4z"/>',
  Balance: '<path d="M-2.5-28h5v50H14v6h-28v-6h11.500z"/><path d="M-26-20H26v4H-26z"/><path d="M-22-17-31 4h18zM22-17 13 4h18z" class="line"/><path d="M-33 4h22c0 7-4 11-11 11s-11-4-11-11zM11 4h22c0 7-4 11-11 11S11 11 11 4z"/>',
  Endurance: '<path d="M-20-28h40v7h-5l3 42h6v7h-48v-7h6l3-42h-5z"/><path class="cut" d="M-7-19h3l-1 38h-4zM4-19h3l2 38H5z"/>',
  Queen: '<path d="M-16-13-22-29l11 7L0-31l11 9 11-7-6 16z"/><path d="M6-9A20 20 0 1 0 20 23 23 23 0 1 1 6-9z"/><path d="M13 4l2.2 4.5 5 .7-3.6 3.5.9 5L13 15.3 8.5 17.700l.9-5L5.8 9.200l5-.7z"/>',
  Idiot: '<path d="M0-10C-4-24-16-28-26-20c6 0 9 4 8 12-4-4-10-4-14 2 10 0 12 6 14 22h36C20 0 22-6 32-6c-4-6-10-6-14-2-1-8 2-12 8-12C16-28 4-24 0-10z"/><path d="M-19 19h38v8h-38z"/><circle cx="-26" cy="-17" r="4"/><circle cx="26" cy="-17" r="4"/><circle cx="0" cy="-11" r="4"/>',
};

/** Path of a star. @param {number} points @param {number} outer @param {number} inner */
function star(points, outer, inner) {
  const corners = Array.from({ length: points * 2 }, (_, i) => {
    const [radius, angle] = [i % 2 ? inner : i % 4 ? outer * 0.72 : outer, (Math.PI * i) / points - Math.PI / 2];
    return `${(radius * Math.cos(angle)).toFixed(1)} ${(radius * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${corners.join("L")}z`;
}

/** Signs of the ranks above 11. @type {Record<string, string>} */
const RANKS = {
  Commander: '<path d="M0-10 14-3v5L0-5-14 2v-5zM0 0l14 7v5L0 5l-14 7V7z"/>',
  Mistress: '<path d="M4-11A11 11 0 1 0 11 7 9 9 0 1 1 4-11z"/><circle cx="6" cy="-1" r="3"/>',
  Master: '<path d="M-13 9-15-8l8 7 7-11 7 11 8-7-2 17z"/>',
  Ace: `<path d="${star(6, 13, 5)}"/>`,
};

/** Ornament behind the sign of a court or face card. */
const RAYS = `<g class="rays">${Array.from({ length: 24 }, (_, i) => `<path d="M50 34v-8" transform="rotate(${i * 15} 50 70)"/>`).join("")}<circle cx="50" cy="70" r="36"/></g>`;

/** Drawing of a card. @param {import("./names.js").Card} card @param {boolean} small @returns {{tone: string, body: string}} */
export function drawS76(card, small) {
  const text = signed(card.value ?? 0);
  const sign = SIGNS[card.kind];
  if (sign) {
    const tone = `face ${card.suit} ${card.kind.toLowerCase()}`;
    if (small) return { tone, body: `<text class="index" x="50" y="62" font-size="${text.length > 2 ? 38 : 52}">${text}</text>${at(50, 102, 0.82, sign)}` };
    return { tone, body: `${RAYS}${at(50, 70, 0.9, sign)}${corners(text, "", true)}<text class="title" x="50" y="124">${card.kind === "Evil" ? "EVIL ONE" : card.kind.toUpperCase()}</text>` };
  }
  const emblem = EMBLEMS[card.suit] ?? "";
  const tone = card.suit.toLowerCase();
  if (small) return { tone, body: large(text, emblem) };
  if (card.kind === "number") return { tone, body: corners(text, (card.value ?? 0) > 8 ? "" : emblem) + pips(card.value ?? 0, emblem) };
  return {
    tone,
    body: `${RAYS}${at(50, 78, 2, emblem)}${at(50, 48, 0.72, RANKS[card.kind] ?? "")}${corners(text, emblem, true)}<text class="title" x="50" y="124">${card.kind.toUpperCase()}</text>`,
  };
}
