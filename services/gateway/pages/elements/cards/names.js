// Names and values of the cards of the four decks, by their codes: S76, K44, C62 and P42.

/** @typedef {"S76" | "K44" | "C62" | "P42"} Deck */
/** A card by its code. `value` is null where it has none by itself. `suit` and `kind` choose the drawing.
 * @typedef {{deck: Deck, name: string, value: number | null, suit: string, kind: string}} Card */

/** @type {Record<string, string>} */
const SUITS = { S: "Sabers", F: "Flasks", C: "Coins", T: "Staves" };
/** @type {Record<number, string>} */
const COURT = { 12: "Commander", 13: "Mistress", 14: "Master", 15: "Ace" };
/** @type {Record<string, [string, number]>} */
const FACES = {
  Star: ["The Star", -17], Evil: ["The Evil One", -15], Moderation: ["Moderation", -14], Demise: ["Demise", -13],
  Balance: ["Balance", -11], Endurance: ["Endurance", -8], Queen: ["Queen of Air and Darkness", -2], Idiot: ["The Idiot", 0],
};
/** @type {Record<string, string>} */
const SHAPES = { c: "circle", t: "triangle", s: "square" };
/** @type {Record<string, string>} */
const FRENCH = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };

/** Card of a code. The deck decides where two decks share a code. @param {string} code @param {string} [deck] @returns {Card | null} */
export function cardOf(code, deck) {
  const readers = { S76: readS76, K44: readK44, C62: readC62, P42: readP42 };
  const only = readers[/** @type {Deck} */ (deck)];
  if (only) return only(code);
  return readS76(code) ?? readK44(code) ?? readC62(code) ?? readP42(code);
}

/** Name for people, such as "7 of Sabers". @param {string} code @param {string} [deck] */
export function cardName(code, deck) {
  return cardOf(code, deck)?.name ?? (code === "??" || !code ? "a face-down card" : code);
}

/** Number with a true minus sign. @param {number} value */
export function signed(value) {
  return value < 0 ? `\u2212${-value}` : String(value);
}

/** Text of a rank as it is read: a true minus, spaces between words. @param {string} text */
export function rankWords(text) {
  return text.replace(/-(?=\d)/g, "\u2212").replaceAll("-", " ");
}

/** @param {string} code @returns {Card | null} */
function readS76(code) {
  const face = /^(Star|Evil|Moderation|Demise|Balance|Endurance|Queen|Idiot)([AB])$/.exec(code);
  if (face) {
    const [name, value] = /** @type {[string, number]} */ (FACES[face[1] ?? ""]);
    const shade = face[2] === "A" ? "white" : "black";
    return { deck: "S76", name: `${name} (${shade}, ${signed(value)})`, value, suit: shade, kind: face[1] ?? "" };
  }
  const number = /^([SFCT])([1-9]|1[0-5])$/.exec(code);
  if (!number) return null;
  const value = Number(number[2]);
  const suit = SUITS[number[1] ?? ""] ?? "";
  const name = COURT[value] ? `${COURT[value]} of ${suit} (${value})` : `${value} of ${suit}`;
  return { deck: "S76", name, value, suit, kind: COURT[value] ?? "number" };
}

/** @param {string} code @returns {Card | null} */
function readK44(code) {
  const match = /^([sb])([1-6]|I|Y)$/.exec(code);
  if (!match) return null;
  const suit = match[1] === "s" ? "Sand" : "Blood";
  if (match[2] === "I") return { deck: "K44", name: `${suit} Impostor`, value: null, suit, kind: "Impostor" };
  if (match[2] === "Y") return { deck: "K44", name: `${suit} Sylop`, value: null, suit, kind: "Sylop" };
  return { deck: "K44", name: `${suit} ${match[2]}`, value: Number(match[2]), suit, kind: "number" };
}

/** @param {string} code @returns {Card | null} */
function readC62(code) {
  if (code === "Y") return { deck: "C62", name: "Sylop (0)", value: 0, suit: "none", kind: "Sylop" };
  const match = /^([cts])([+-])([1-9]|10)$/.exec(code);
  if (!match) return null;
  const value = Number(`${match[2]}${match[3]}`);
  const suit = SHAPES[match[1] ?? ""] ?? "";
  return { deck: "C62", name: `${suit} ${value > 0 ? "+" : ""}${signed(value)}`, value, suit, kind: "number" };
}

/** @param {string} code @returns {Card | null} */
function readP42(code) {
  const match = /^([1-6])([SHDC])$/.exec(code);
  if (!match) return null;
  const suit = FRENCH[match[2] ?? ""] ?? "";
  return { deck: "P42", name: `${match[1]} of ${suit}`, value: Number(match[1]), suit, kind: "number" };
}
