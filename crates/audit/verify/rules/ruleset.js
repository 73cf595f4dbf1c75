// Rule sets as their canonical text: `variant = "..."`, then every field the variant has, sorted, one a line.
// These bytes were hashed before the hand, so only exactly that text is read.

import { C62, K44, P42, S76 } from "../decks.js";

export const TOKENS = [
  "free-draw",
  "refund",
  "extra-refund",
  "embezzlement",
  "general-tariff",
  "target-tariff",
  "general-audit",
  "target-audit",
  "prime-sabacc",
  "markdown",
  "cook-the-books",
  "major-fraud",
  "embargo",
  "immunity",
  "exhaustion",
  "direct-transaction",
];

export const MOST = Number.MAX_SAFE_INTEGER;

export class BadRules extends Error {}

const BETTING = { min_bet: 0, max_raise: 0, max_round_total: 0, max_hand_total: 0, max_pot: 0 };
const RAKE = { rake_bps: 0, rake_cap: 0 };
const SHIFTING = {
  hand_ante: 5,
  sabacc_ante: 5,
  sabacc_ante_when: "every_hand",
  ...BETTING,
  ranking: "signed",
  max_rounds: 12,
  field: true,
  holdem: false,
  bomb_out: "match_pot",
  bomb_out_amount: 0,
  fold_penalty: 0,
  ...RAKE,
};

// What each variant is: its pack, its seats, its pots, and every field with its default.
export const VARIANTS = {
  electronic: {
    title: "Casino sabacc",
    deck: S76,
    seats: [2, 8],
    pots: ["sabacc_pot"],
    fields: { ...SHIFTING, pot_building_rounds: 4, shift: "pulse", pulse_ppm: 0, declare_totals: false },
    shifts: ["pulse", "none"],
  },
  dice: {
    title: "Sabacc with dice",
    deck: S76,
    seats: [2, 8],
    pots: ["sabacc_pot"],
    fields: { ...SHIFTING, pot_building_rounds: 3, shift: "2d6", shift_number: 1, declare_totals: true },
    shifts: ["2d6", "2d10", "2d12", "1d6", "1d10", "1d12", "none"],
  },
  swg: {
    title: "Sabacc for SWG",
    deck: S76,
    seats: [2, 8],
    pots: ["sabacc_pot"],
    fields: {
      hand_ante: 100,
      sabacc_ante: 1000,
      sabacc_ante_when: "when_empty",
      ...BETTING,
      ranking: "absolute",
      bomb_out: "match_pot",
      bomb_out_amount: 0,
      fold_penalty: 200,
      draw_phase: true,
      ...RAKE,
    },
  },
  force: {
    title: "Force sabacc",
    deck: S76,
    seats: [2, 8],
    pots: ["carried_pot"],
    fields: { hand_ante: 10, ...BETTING, max_rounds: 8, alignment: "choose", ...RAKE },
  },
  kessel: {
    title: "Kessel sabacc",
    deck: K44,
    seats: [2, 6],
    pots: [],
    fields: { max_rounds: 100, stakes: "lay", chips: 8, tokens: "random", assigned_tokens: [], ...RAKE },
  },
  eleven: {
    title: "Eleven",
    deck: P42,
    seats: [2, 7],
    pots: ["carried_pot"],
    fields: { hand_ante: 10, ...BETTING, ...RAKE },
  },
  spike: {
    title: "Corellian Spike",
    deck: C62,
    seats: [2, 8],
    pots: ["sabacc_pot"],
    fields: { preset: "casino", hand_ante: 2, sabacc_ante: 2, sabacc_ante_when: "every_hand", ...BETTING, ...RAKE },
  },
  coruscant: {
    title: "Coruscant Shift",
    deck: C62,
    seats: [2, 6],
    pots: [],
    fields: { hand_ante: 5, ...BETTING, ...RAKE },
  },
};

const WORDS = {
  sabacc_ante_when: ["every_hand", "when_empty"],
  ranking: ["signed", "absolute"],
  bomb_out: ["match_pot", "fixed", "none"],
  alignment: ["choose", "naboo"],
  stakes: ["lay", "pro", "tournament"],
  tokens: ["random", "chosen", "assigned"],
  preset: ["casino", "black-spire"],
};

const RANGES = {
  max_rounds: [1, 1000],
  pot_building_rounds: [0, 1000],
  pulse_ppm: [0, 1e6],
  rake_bps: [0, 10000],
  chips: [4, 8],
};

// Three kinds for everybody, or three for each player in turn, in one flat list.
const SET = 3;

function isTokenList(value, variant) {
  const sets = tokenSets(value);
  const three = (set) => new Set(set).size === SET && set.every((token) => TOKENS.includes(token));
  return sets.length <= variant.seats[1] && sets.every(three);
}

function tokenSets(list) {
  return Array.from({ length: Math.ceil(list.length / SET) }, (_, at) => list.slice(at * SET, (at + 1) * SET));
}

// What a player is given where tokens are assigned.
export function tokensOf(rules, player) {
  const sets = tokenSets(rules.assigned_tokens);
  return sets.length > 1 ? sets[player] : sets[0];
}

// The least and the most players of a hand: the variant's, or exactly as many as tokens are assigned to.
export function seatsOf(rules) {
  const sets = rules.tokens === "assigned" ? tokenSets(rules.assigned_tokens) : [];
  return sets.length > 1 ? [sets.length, sets.length] : rules.variant.seats;
}

function checkValue(variant, name, value) {
  const wrong = () => new BadRules(`the rule set field ${name} cannot be ${JSON.stringify(value)}`);
  const model = variant.fields[name];
  if (Array.isArray(model)) {
    if (!Array.isArray(value) || !isTokenList(value, variant)) throw wrong();
  } else if (typeof value !== typeof model || Array.isArray(value)) {
    throw wrong();
  } else if (typeof value === "string") {
    const words = name === "shift" ? variant.shifts : WORDS[name];
    if (!words.includes(value)) throw wrong();
  } else if (typeof value === "number") {
    const [least, most] = RANGES[name] ?? [0, MOST];
    if (!(value >= least && value <= most)) throw wrong();
  }
}

// The rules of a variant with these fields in place of its defaults, checked.
export function makeRules(id, given) {
  const variant = Object.hasOwn(VARIANTS, id) ? VARIANTS[id] : null;
  if (!variant) throw new BadRules(`there is no variant ${id}`);
  const rules = { ...variant.fields };
  if (given.preset === "black-spire") Object.assign(rules, { hand_ante: 0, sabacc_ante: 0 });
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(variant.fields, name)) throw new BadRules(`the variant ${id} has no rule set field ${name}`);
    checkValue(variant, name, value);
    rules[name] = value;
  }
  const least = leastBet(rules);
  for (const cap of ["max_raise", "max_round_total", "max_hand_total"]) {
    if (rules[cap] > 0 && rules[cap] < least) throw new BadRules(`${cap} is below the least bet, ${least}`);
  }
  if (rules.max_pot > 0 && rules.max_pot < 2 * rules.hand_ante + least)
    throw new BadRules("max_pot is below two hand antes and the least bet");
  if ((rules.hand_ante ?? 0) + (rules.sabacc_ante ?? 0) > MOST) throw new BadRules("the antes are too large together");
  const sides = /^1d(\d+)$/.exec(rules.shift ?? "")?.[1];
  if (sides && !(rules.shift_number >= 1 && rules.shift_number <= Number(sides))) {
    throw new BadRules(`shift_number is not on a die with ${sides} sides`);
  }
  if (rules.tokens === "assigned" && rules.assigned_tokens.length === 0)
    throw new BadRules("assigned_tokens names no tokens");
  return { id, variant, deck: variant.deck, ...rules };
}

// The least size of a bet before anybody has made a larger one.
export const leastBet = (rules) => Math.max(rules.min_bet || rules.hand_ante || 0, 1);

const written = (value) =>
  Array.isArray(value)
    ? `[${value.map((item) => `"${item}"`).join(", ")}]`
    : typeof value === "string"
      ? `"${value}"`
      : String(value);

export function canonicalText(rules) {
  const fields = Object.keys(rules.variant.fields).sort();
  return [`variant = "${rules.id}"`, ...fields.map((name) => `${name} = ${written(rules[name])}`), ""].join("\n");
}

function readValue(text) {
  if (text === "true" || text === "false") return text === "true";
  if (/^(0|[1-9][0-9]{0,19})$/.test(text)) return Number(text);
  const word = /^"([^"\\]*)"$/.exec(text);
  if (word) return word[1];
  if (text === "[]") return [];
  if (/^\["[^"\\]*"(, "[^"\\]*")*\]$/.test(text)) return text.slice(2, -2).split('", "');
  throw new BadRules(`${text} is no value of a rule set`);
}

export function readRules(text) {
  const given = {};
  for (const line of text.split("\n").slice(0, -1)) {
    const at = line.indexOf(" = ");
    if (at < 0) throw new BadRules("a line of the rule set is not `name = value`");
    given[line.slice(0, at)] = readValue(line.slice(at + 3));
  }
  const { variant, ...fields } = given;
  const rules = makeRules(variant, fields);
  if (canonicalText(rules) !== text) throw new BadRules("the rule set is not in its canonical form");
  return rules;
}
