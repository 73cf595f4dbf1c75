// Shift tokens of Kessel: their names in moves, titles and what they do.

// A long word says where it may be parted, for the narrow buttons of a telephone.
/** @type {Record<string, [string, string]>} */
const TOKENS = {
  "free-draw": ["Free draw", "The draw of this turn costs nothing."],
  "refund": ["Refund", "Two chips come back from your hand pot."],
  "extra-refund": ["Extra refund", "Three chips come back from your hand pot."],
  "embezzlement": ["Embezzle\u00adment", "A chip of every other hand pot goes into yours."],
  "general-tariff": ["General tariff", "All others lose a chip of their stock."],
  "target-tariff": ["Target tariff", "One other loses two chips of their stock."],
  "general-audit": ["General audit", "All others who stand lose two chips of their stock."],
  "target-audit": ["Target audit", "One other who stands loses three chips of their stock."],
  "prime-sabacc": ["Prime Sabacc", "Two dice are rolled; the one you pick is the Prime, right below Pure."],
  "markdown": ["Markdown", "A Sylop is a 0 that copies nothing."],
  "cook-the-books": ["Cook the books", "Higher pairs are better."],
  "major-fraud": ["Major fraud", "An Impostor is a 6 without a roll."],
  "embargo": ["Embargo", "The next player in turn must stand."],
  "immunity": ["Immunity", "Stock, tax and disrupt tokens of others do not touch you."],
  "exhaustion": ["Exhaustion", "One other discards their hand and is dealt another."],
  "direct-transaction": ["Direct transaction", "You exchange hands with another."],
};

/** Name in moves of a token of the state. @param {string} token such as SHIFT_TOKEN_FREE_DRAW */
export function tokenWord(token) {
  return token.replace(/^SHIFT_TOKEN_/, "").toLowerCase().replaceAll("_", "-");
}

/** Title of a token. @param {string} word */
export function tokenTitle(word) {
  return TOKENS[word]?.[0] ?? word;
}

/** Effect of a token. @param {string} word */
export function tokenText(word) {
  return TOKENS[word]?.[1] ?? "";
}
