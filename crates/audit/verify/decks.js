// The four packs. A card is a number: its place in the pack's published list.

const numbered = (suit, from, to) => Array.from({ length: to - from + 1 }, (_, at) => `${suit}${from + at}`);
const copies = (codes, count) => codes.flatMap((code) => Array(count).fill(code));

const S76_FACES = ["Star", "Evil", "Moderation", "Demise", "Balance", "Endurance", "Queen", "Idiot"];
const S76_FACE_VALUES = [-17, -15, -14, -13, -11, -8, -2, 0];
const S76_FACE_NAMES = [
  "the Star",
  "the Evil One",
  "Moderation",
  "Demise",
  "Balance",
  "Endurance",
  "the Queen of Air and Darkness",
  "the Idiot",
];
const S76_RANKS = { 12: "Commander", 13: "Mistress", 14: "Master", 15: "Ace" };
const S76_SUITS = { S: "Sabers", F: "Flasks", C: "Coins", T: "Staves" };
const P42_SUITS = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const C62_SUITS = { c: "circle", t: "triangle", s: "square" };
const K44_FAMILIES = { s: "Sand", b: "Blood" };

const family = (letter) => [
  ...[1, 2, 3, 4, 5, 6].flatMap((rank) => copies([`${letter}${rank}`], 3)),
  ...copies([`${letter}I`], 3),
  `${letter}Y`,
];

function makeDeck(name, codes, nameOf) {
  const byCode = new Map();
  codes.forEach((code, card) => byCode.set(code, [...(byCode.get(code) ?? []), card]));
  return {
    name,
    codes,
    // The different codes, in the order of the list.
    faces: [...byCode.keys()],
    code: (card) => codes[card] ?? "??",
    // Every card that a code may mean.
    cardsOf: (code) => byCode.get(code) ?? [],
    nameOf: (card) => (codes[card] === undefined ? "a card of another pack" : nameOf(codes[card])),
  };
}

export const S76 = makeDeck(
  "S76",
  [
    ...["S", "F", "C", "T"].flatMap((suit) => numbered(suit, 1, 15)),
    ...S76_FACES.flatMap((face) => [`${face}A`, `${face}B`]),
  ],
  (code) => {
    const face = S76_FACES.indexOf(code.slice(0, -1));
    if (face >= 0) return `${S76_FACE_NAMES[face]} (${S76_FACE_VALUES[face]})`.replace("(-", "(\u2212");
    const rank = Number(code.slice(1));
    return `${S76_RANKS[rank] ? `${S76_RANKS[rank]} (${rank})` : rank} of ${S76_SUITS[code[0]]}`;
  },
);

export const K44 = makeDeck("K44", [...family("s"), ...family("b")], (code) => {
  const rank = { I: "Impostor", Y: "Sylop" }[code[1]] ?? code[1];
  return `${K44_FAMILIES[code[0]]} ${rank}`;
});

export const P42 = makeDeck(
  "P42",
  [1, 2, 3, 4, 5]
    .flatMap((rank) => ["S", "H", "D", "C"].flatMap((suit) => copies([`${rank}${suit}`], 2)))
    .concat(copies(["6S"], 2)),
  (code) => `${code[0]} of ${P42_SUITS[code[1]]}`,
);

export const C62 = makeDeck(
  "C62",
  [...["c", "t", "s"].flatMap((suit) => [...numbered(`${suit}+`, 1, 10), ...numbered(`${suit}-`, 1, 10)]), "Y", "Y"],
  (code) => (code === "Y" ? "Sylop" : `${C62_SUITS[code[0]]} ${code.slice(1).replace("-", "\u2212")}`),
);

// S76: what a card adds to a total.
export function valueS76(card) {
  return card < 60 ? (card % 15) + 1 : S76_FACE_VALUES[(card - 60) >> 1];
}

export const isFaceS76 = (card) => card >= 60;
// S76: copy A is white, copy B is black.
export const isWhiteS76 = (card) => card >= 60 && (card - 60) % 2 === 0;

// C62: from -10 to 10; a Sylop is 0.
export function valueC62(card) {
  const rank = (card % 20) + 1;
  return card >= 60 ? 0 : rank <= 10 ? rank : 10 - rank;
}

// C62: 0 circles, 1 triangles, 2 squares; 3 for a Sylop.
export const suitC62 = (card) => Math.floor(card / 20);
