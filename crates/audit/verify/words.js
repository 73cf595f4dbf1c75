// What happens in a hand, in sentences without their subject.

import { GOLD, SILVER } from "./rules/coruscant.js";

const cardsOf = (cards) => cards.flatMap((card, at) => (at === 0 ? [{ card }] : [" ", { card }]));
const tokenName = (name) => name.replaceAll("-", " ");

const DEALS = {
  opening: "is dealt ",
  draw: "gets ",
  trade: "gets in its place ",
  shift: "gets new cards: ",
  tie: "gets a card to break the tie: ",
  extra: "gets an extra card: ",
  exhaustion: "gets a new hand: ",
  alignment: "is shown ",
};

export function dealWords({ due, outcome }) {
  if (due.to === null) return ["turns up ", ...cardsOf(outcome)];
  return [DEALS[due.why] ?? "is dealt ", ...cardsOf(outcome)];
}

export function operationWords({ due, outcome }, walk) {
  const { deck, seats } = walk;
  switch (due.kind) {
    case "shuffle":
      return [
        due.add.length === 0
          ? "shuffles the draw pile"
          : `shuffles ${due.add.length} cards${due.pile > 0 || deck.name === "K44" ? ` (${due.pile === 0 ? "Sand" : "Blood"})` : ""}`,
      ];
    case "pulse":
      return [outcome ? "lets the pulse pass: the cards shift" : "lets the pulse pass: nothing shifts"];
    case "pick":
      return ["draws who starts: ", { seat: startingSeat(outcome, due, walk) }];
    case "sample": {
      if (due.purpose.announce)
        return [`announces the ${deck.faces[outcome[0]]} as wild and the ${deck.faces[outcome[1]]} as clone`];
      return ["draws three shift tokens for ", { seat: seats[due.purpose.tokens] }];
    }
    default:
      return rollWords(due, outcome, seats);
  }
}

function startingSeat(index, due, { seats, hand }) {
  return due.n === seats.length
    ? seats[index]
    : (seats[hand.core.everybody.filter((player) => !hand.core.left.has(player))[index]] ?? seats[index]);
}

function rollWords({ purpose }, faces, seats) {
  if (purpose.target)
    return [`rolls the target: ${String(GOLD[faces[0] - 1]).replace("-", "\u2212")}, ${SILVER[faces[1] - 1]}s`];
  const dice = faces.join(" and ");
  if (purpose.impostor !== undefined)
    return [`rolls ${dice} for `, { card: purpose.card }, " of ", { seat: seats[purpose.impostor] }];
  if (purpose.prime !== undefined) return [`rolls ${dice} for the Prime Sabacc`];
  return [`rolls ${dice}`];
}

const DECISIONS = {
  draw: () => ["draws"],
  trade: ({ cards }) => ["trades away ", { card: cards[0] }],
  stand: () => ["stands"],
  lock: ({ cards }) => ["locks ", { card: cards[0] }, " in the field"],
  unlock: ({ cards }) => ["takes ", { card: cards[0] }, " back from the field"],
  check: () => ["checks"],
  bet: ({ amount }) => ["bets ", { amount }],
  match: () => ["matches"],
  raise: ({ amount }) => ["raises to ", { amount }],
  fold: () => ["folds"],
  "call-hand": () => ["calls the hand"],
  leave: () => ["leaves the table"],
  align: ({ names }) => [`declares for the ${names[0]} side`],
  keep: () => ["keeps all"],
  drop: ({ cards }) => ["drops ", { card: cards[0] }],
  choose: ({ names }) => [`chooses the tokens ${names.map(tokenName).join(", ")}`],
  token: ({ names, target }, seats) => [
    `plays the token \u201c${tokenName(names[0])}\u201d`,
    ...(target === null ? [] : [" on ", { seat: seats[target] }]),
  ],
  prime: ({ value }) => [`makes the ${value} the Prime Sabacc`],
  "draw-from": ({ names }) => [
    `draws from ${names[0].replace("-discard", "'s discards").replace("sand", "Sand").replace("blood", "Blood")}`,
  ],
  discard: ({ cards }) => ["discards ", { card: cards[0] }],
  impostor: ({ cards, value }) => ["gives ", { card: cards[0] }, ` the value ${value}`],
  gain: ({ cards }) => (cards.length === 0 ? ["gains a card"] : ["discards ", { card: cards[0] }, " and gains a card"]),
  swap: ({ cards }) => ["swaps ", { card: cards[0] }, " for the top discard"],
  junk: () => ["junks the hand"],
  select: ({ cards }) => ["selects ", ...cardsOf(cards)],
  void: () => ["agrees to end the hand, which waits for the dealer"],
  add: ({ cards }) => (cards.length === 0 ? ["adds nothing"] : ["adds ", ...cardsOf(cards)]),
};

export function decisionWords({ move, byClock }, { seats }) {
  return [...DECISIONS[move.verb](move, seats), byClock ? " (the clock ran out)" : ""];
}

// A settlement line as it stands on record, with its player for its subject.
export function settlementWords(text, seats) {
  const [, player, rest] = /^p(\d{1,2}) (.*)$/.exec(text) ?? [];
  const seat = player === undefined ? undefined : seats[Number(player) - 1];
  const found = RECORDED.map(([form, words]) => [form.exec(seat === undefined ? text : rest), words]).find(
    ([match]) => match,
  );
  if (!found) return { who: "table", words: [`records \u201c${text}\u201d`] };
  return { who: seat ?? "table", words: found[1](found[0]) };
}

const potName = (name) =>
  ({ main: "the main pot", credits: "the pot", sabacc: "the Sabacc Pot" })[name] ?? `side pot ${name.slice(5)}`;
const amount = (text) => ({ amount: BigInt(text) });

const RECORDED = [
  [/^wins (\S+) (\d{1,20})$/, ([, pot, credits]) => [`wins ${potName(pot)}: `, amount(credits)]],
  [/^returned (\d{1,20})$/, ([, credits]) => ["gets back what nobody matched: ", amount(credits)]],
  [
    /^pays sabacc (\d{1,20})(?: short (\d{1,20}))?$/,
    ([, credits, short]) => [
      "pays into the Sabacc Pot: ",
      amount(credits),
      ...(short ? [" (short by ", amount(short), ")"] : []),
    ],
  ],
  [/^eliminated$/, () => ["is out of chips"]],
  [
    /^(\S+) moves sabacc (\d{1,20})$/,
    ([, pot, credits]) => [`moves ${potName(pot)} into the Sabacc Pot: `, amount(credits)],
  ],
  [/^pot carries (\d{1,20})$/, ([, credits]) => ["carries the pot to the next hand: ", amount(credits)]],
  [/^rake (\d{1,20})$/, ([, credits]) => ["takes the house's share: ", amount(credits)]],
];

export function abortWords({ cause, seats, evidence }) {
  const who =
    {
      1: "players withheld their random number: ",
      2: "the dealer was silent, and all players who were left agreed",
      3: "the dealer was silent for too long",
    }[cause] ?? "nobody is named as at fault";
  const named = cause === 1 ? seats.flatMap((seat, at) => [at === 0 ? "" : " and ", { seat }]) : [];
  return [
    "breaks the hand off, every credit goes back; ",
    who,
    ...named,
    evidence ? ` \u2013 \u201c${evidence}\u201d` : "",
  ];
}

const RANKS = [
  [/^idiots-array$/, () => "Idiot\u2019s Array"],
  [/^pure$/, () => "Pure Sabacc"],
  [/^pure (-?\d+)$/, ([, total]) => `Pure Sabacc, ${total}`],
  [/^natural (-?\d+)$/, ([, total]) => `natural ${total}`],
  [/^total (-?\d+)$/, ([, total]) => `total ${total}`],
  [/^bombed (-?\d+)$/, ([, total]) => `bombed out with ${total}`],
  [/^(light|dark) (-?\d+)$/, ([, side, total]) => `${side} side, ${total}`],
  [/^prime (\d)$/, ([, value]) => `Prime Sabacc, ${value}/${value}`],
  [/^pair 0$/, () => "two Sylops, marked down"],
  [/^pair (\d)$/, ([, value]) => `pair ${value}/${value}`],
  [/^diff (\d) sum (\d+)$/, ([, diff, sum]) => `difference ${diff}, sum ${sum}`],
  [/^(\d+) in (\d)$/, ([, total, cards]) => `${total} in ${cards} cards`],
  [/^over in (\d)$/, ([, cards]) => `over 11 in ${cards} cards`],
  [
    /^off (\d+) suit (\d) total (-?\d+) high (-?\d+)$/,
    ([, off, suit, total, high]) => `total ${total}, ${off} off the target, ${suit} of the suit, highest ${high}`,
  ],
];

// A rank as people say it.
export function rankWords(rank) {
  if (rank === null) return "not shown";
  for (const [form, words] of RANKS) {
    const match = form.exec(rank);
    if (match) return words(match).replaceAll("-", "\u2212");
  }
  return rank.replaceAll("-", " ");
}
