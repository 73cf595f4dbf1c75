// The hand told line by line: who, when, what. A line's words are a list of texts and of {card}, {seat} and {amount}, for
// whoever shows them. The story is told from the same walk as the verdicts; where the walk stopped, records are still
// named, without what they would mean.

import { uuid } from "./bytes.js";
import { REVEALED } from "./fair.js";
import { abortWords, dealWords, decisionWords, operationWords, settlementWords } from "./words.js";

const PLAIN = {
  CommitmentsClosed: ["dealer", "signs what the seats have sealed: nothing can be added or left out any more", true],
  HandSuspended: ["table", "waits for the dealer, who is silent; clocks stand", false],
  HandContinued: ["table", "has the dealer back, and goes on where it was", false],
  SeedCommitted: ["dealer", "seals its secret seed for this hand and signs what it sealed", false],
  HandCommitted: ["table", "writes down the dealer's sealed seed", true],
  HandStarted: ["table", "starts the hand", true],
  SeedSealed: ["dealer", "binds its seed to what the players brought", true],
  OperationPerformed: ["dealer", "makes a use of chance ready", true],
  SeedOpened: ["dealer", "opens the seed: everybody can work out every card now", false],
  HandRevealed: ["table", "writes down the opened seed", true],
  SeedRefused: ["table", "refuses the seed that the dealer opened: it is not the sealed one", false],
  SettlementPosted: ["table", "writes down that the wallet has moved the credits", true],
  HandFinished: ["table", "goes on with what the hand left", true],
};

const LOST = {
  ChanceUsed: "uses chance, in a way that could not be replayed",
  CardsMoved: "deals cards, in a way that could not be replayed",
  MoveDecided: "decides, in a way that could not be replayed",
};

// Lines in the order of their times; `minor` ones are bookkeeping.
export function storyOf(records, walk) {
  const lines = [];
  const lists = [records.dealer, records.table, records.hand, records.wallet];
  for (const record of lists.flat()) {
    for (const { who, words, minor = false } of tell(record, records, walk)) {
      lines.push({ time: record.time, log: record.log, position: record.position, who, words, minor });
    }
  }
  return lines
    .map((line, at) => ({ line, at }))
    .sort((a, b) => (a.line.time === b.line.time ? a.at - b.at : a.line.time < b.line.time ? -1 : 1))
    .map(({ line }) => line);
}

function tell(record, records, walk) {
  const { name, event, keptBack } = record;
  if (keptBack) return [{ who: record.log, words: [`has ${name} on record, and its content is kept back`], minor: true }];
  const own = TELLERS[name];
  if (own) return own(record, records, walk);
  const [who, sentence, minor] = PLAIN[name] ?? ["table", `writes down ${name}`, true];
  return [{ who, words: [sentence], minor: minor || !event }];
}

const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

const broughtBy = ({ closing }) => (closing?.rows ?? []).filter(({ commitment }) => commitment.length > 0).length;

const TELLERS = {
  TableDisabled: ({ event }) => [
    {
      who: "table",
      words: [`is disabled${event.with_game ? " with its game" : ""}, and starts no hand: ${event.reason}`],
    },
  ],
  TableEnabled: ({ event }) => [{ who: "table", words: [`is enabled: ${event.reason}`] }],
  EntropyCommitted: ({ event }) => [{ who: event.seat, words: ["brings a sealed random number of their own"] }],
  EntropyClosed: ({ event }) => [
    {
      who: "table",
      words: [
        broughtBy(event) === 0
          ? "closes the time for random numbers: nobody brought one"
          : `closes the time for random numbers: ${count(broughtBy(event), "seat")} brought one`,
      ],
      minor: true,
    },
  ],
  EntropyRevealed: ({ event }) => [{ who: event.seat, words: ["opens that random number"], minor: true }],
  HandOpened({ event }) {
    const pots = [];
    if (event.sabacc_pot > 0n) pots.push("; in the Sabacc Pot lie ", { amount: event.sabacc_pot });
    if (event.carried_pot > 0n) pots.push("; carried over from before are ", { amount: event.carried_pot });
    const seats = event.roster.map(({ seat, stack }, at) => ({
      who: seat,
      words: ["is dealt in with ", { amount: stack }, at + 1 === event.roster.length ? " and has the button" : ""],
    }));
    return [{ who: "table", words: [`opens hand ${event.hand_no}`, ...pots] }, ...seats];
  },
  HandSealed({ event }) {
    const brought = event.rows.filter(({ status }) => status === REVEALED).length;
    const mixed =
      brought === 0
        ? "binds the seed; no player brought a number"
        : `mixes the seed with what ${count(brought, "player")} brought`;
    return [{ who: "dealer", words: [`${mixed}; the antes are paid`] }];
  },
  ChanceUsed({ position, event }, records, walk) {
    if (event.restock) return [{ who: "dealer", words: ["shuffles the discards, because a pile runs out"] }];
    const step = walk.steps.get(position);
    return [{ who: "dealer", words: step ? operationWords(step, walk) : [LOST.ChanceUsed] }];
  },
  CardsMoved({ position, event }, records, walk) {
    const step = walk.steps.get(position);
    if (!step) return [{ who: "dealer", words: [LOST.CardsMoved] }];
    return [{ who: event.seat === 0 ? "dealer" : event.seat, words: dealWords(step) }];
  },
  MoveDecided({ position, event }, records, walk) {
    const step = walk.steps.get(position);
    return [{ who: event.seat, words: step ? decisionWords(step, walk) : [LOST.MoveDecided] }];
  },
  ClockResumed: ({ event }) => [
    { who: "table", words: [`lets the clock of turn ${event.turn} run again after an interruption`] },
  ],
  CardsShown({ event }, records, walk) {
    const cards = event.cards.map(({ card }) => (walk.deck ? { card: walk.deck.cardsOf(card)[0] ?? card } : card));
    return [{ who: event.seat, words: ["shows ", ...spaced(cards)] }];
  },
  HandSettled({ event }, records, walk) {
    const lines = event.lines.map(({ text }) => settlementWords(text, walk.seats ?? []));
    return [{ who: "table", words: ["settles the hand"], minor: lines.length > 0 }, ...lines];
  },
  HandAborted: ({ event }) => [{ who: "table", words: abortWords(event) }],
  TransferPosted({ event }, records) {
    const legs = event.legs.flatMap(({ account, amount }, at) => [
      at === 0 ? "" : ", ",
      accountWords(account, records),
      " ",
      { amount, signed: true },
    ]);
    return [
      { who: "wallet", words: legs.length === 0 ? ["moves nothing"] : ["moves the credits: ", ...legs.slice(1)] },
    ];
  },
  CardsOpened({ event }) {
    const { cards = [], audience_seat: seat = 0 } = event.opening ?? {};
    return [
      {
        who: "dealer",
        words: [
          `shows ${count(cards.length, "card")} to `,
          seat === 0 ? "everybody" : { seat },
          `, asked by ${event.caller}`,
        ],
        minor: true,
      },
    ];
  },
};

export const spaced = (items) => items.flatMap((item, at) => (at === 0 ? [item] : [" ", item]));

// An account of this hand as people call it; any other by its name.
function accountWords(account, records) {
  const { opened } = records;
  if (account === "house/rake") return "the house";
  if (!opened || opened.table_id.length !== 16) return account;
  const table = uuid(opened.table_id);
  if (account === `pot/${table}/sabacc`) return "the Sabacc Pot";
  if (account === `pot/${table}/carried`) return "the carried pot";
  const place = opened.roster.find(({ player_id: player }) => account === `seat/${table}/${uuid(player)}`);
  return place ? { seat: place.seat } : account;
}
