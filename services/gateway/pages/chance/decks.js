// The four packs. A card's number is its place in its pack. Specification: crates/history/SPEC.md section 4.5.

/** @param {string} suit @param {number} from @param {number} to */
const numbered = (suit, from, to) => Array.from({ length: to - from + 1 }, (_, at) => `${suit}${from + at}`);

/** @param {string[]} codes @param {number} count */
const copies = (codes, count) => codes.flatMap((code) => Array.from({ length: count }, () => code));

const S76 = [
  ...["S", "F", "C", "T"].flatMap((suit) => numbered(suit, 1, 15)),
  ...["Star", "Evil", "Moderation", "Demise", "Balance", "Endurance", "Queen", "Idiot"].flatMap((face) => [`${face}A`, `${face}B`]),
];
const K44 = ["s", "b"].flatMap((family) => [
  ...copies([...numbered(family, 1, 6), `${family}I`], 3),
  `${family}Y`,
]);
const P42 = [
  ...[1, 2, 3, 4, 5].flatMap((rank) => copies(["S", "H", "D", "C"].map((suit) => `${rank}${suit}`), 2)),
  ...copies(["6S"], 2),
];
const C62 = [
  ...["c", "t", "s"].flatMap((suit) => [...numbered(`${suit}+`, 1, 10), ...numbered(`${suit}-`, 1, 10)]),
  ...copies(["Y"], 2),
];

/** Codes of a game's pack in their order; undefined: a game that this page does not know. @type {Record<string, string[] | undefined>} */
export const DECKS = {
  coruscant: C62,
  dice: S76,
  electronic: S76,
  eleven: P42,
  force: S76,
  kessel: K44,
  spike: C62,
  swg: S76,
};

/** How many cards a game's piles have at first: each takes the next numbers of the pack. @param {string} game */
export function pilesOf(game) {
  const cards = DECKS[game]?.length ?? 0;
  return game === "kessel" ? [cards / 2, cards / 2] : [cards];
}
