// Kessel's ladder: Pure, a Prime pair, pairs, and hands by their difference; and what the fix tokens make of them.

export const SAND = 0;
export const BLOOD = 1;
const SYLOP = "sylop";

export const familyOf = (card) => (card < 22 ? SAND : BLOOD);
export const isImpostor = (card) => card % 22 >= 18 && card % 22 <= 20;

// What a card counts: a number, or a Sylop.
function countOf(card, values, fixes) {
  const place = card % 22;
  if (place < 18) return Math.floor(place / 3) + 1;
  if (place === 21) return SYLOP;
  return fixes.fraud ? 6 : values.get(card);
}

// A pair of 0 is two Sylops that are marked down.
export function worthOf(cards, values, fixes) {
  const [first, second] = cards.map((card) => countOf(card, values, fixes));
  if (first === SYLOP && second === SYLOP) return fixes.markdown ? { kind: "pair", value: 0 } : { kind: "pure" };
  if (first === SYLOP || second === SYLOP) {
    const value = first === SYLOP ? second : first;
    return fixes.markdown ? { kind: "diff", diff: value, sum: value } : { kind: "pair", value };
  }
  if (first === second) return { kind: "pair", value: first };
  return { kind: "diff", diff: Math.abs(first - second), sum: first + second };
}

// Higher is better, and equal only where nobody wins over the other.
export function strengthOf(worth, { prime, cook }) {
  const [PURE, PRIME, PAIR, LOWEST_PAIR, COOKED_PURE] = [500, 400, 300, 200, 290];
  if (worth.kind === "pure") return cook ? COOKED_PURE : PURE;
  if (worth.kind === "diff") return -(worth.diff * 100 + worth.sum);
  if (worth.value === 0) return LOWEST_PAIR;
  if (worth.value === prime) return PRIME;
  return PAIR + (cook ? worth.value : -worth.value) + (cook ? 0 : 7);
}

// What a hand that loses pays.
export const costOf = (worth) => (worth.kind === "diff" ? worth.diff : 1);

export function rankName(worth, { prime }) {
  if (worth.kind === "pure") return "pure";
  if (worth.kind === "diff") return `diff ${worth.diff} sum ${worth.sum}`;
  return worth.value > 0 && worth.value === prime ? `prime ${worth.value}` : `pair ${worth.value}`;
}

// Of [value, strength] the value with the highest strength, the first of equals.
export function bestPairing(tried) {
  let best = tried[0];
  for (const one of tried) if (one[1] > best[1]) best = one;
  return best[0];
}
