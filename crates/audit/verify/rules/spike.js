// Corellian Spike: three rounds of actions, dice and betting, and a ladder of hands that sum to 0.

import { valueC62 } from "../decks.js";
import { bettingRound, held } from "./betting.js";
import { Pile, bestOf } from "./core.js";
import { makeMove } from "./moves.js";

const ROUNDS = 3;
const FULL = 5;
const BLIND_CARDS = 3;

function* play(core, state) {
  core.takeAntes();
  yield* core.shuffle(0);
  for (const player of core.everybody) yield* core.dealToHand(player, 2, "opening");
  for (const card of yield* core.deal(null, [[0, 1]], "flip")) core.discard(0, card);
  for (let round = 1; round <= ROUNDS; round += 1) {
    state.round = round;
    for (const player of core.inOrder) {
      yield* action(core, player);
      if (core.endsByFolds()) return;
    }
    const [first, second] = yield { chance: { kind: "roll", sides: [6, 6], purpose: { shift: true } } };
    if (first === second) yield* redraw(core);
    if (core.rules.preset === "casino" && held(core) && (yield* bettingRound(core))) return;
  }
  yield* reveal(core);
}

function* action(core, player) {
  const seat = core.seats[player];
  const pile = core.piles[0];
  const legal = [{ verb: "stand" }, { verb: "junk" }];
  if (pile.available > 0)
    legal.push({ verb: "gain", cards: [...seat.cards], count: [seat.cards.length < FULL ? 0 : 1, 1] });
  if (pile.top !== undefined) legal.push({ verb: "swap", cards: [...seat.cards] });
  const chosen = yield* core.ask(player, legal, makeMove("stand"));
  const [card] = chosen.cards;
  if (chosen.verb === "gain") {
    if (card !== undefined) {
      core.remove(player, card);
      core.discard(0, card);
    }
    yield* core.dealToHand(player, 1, "draw");
  } else if (chosen.verb === "swap") {
    const top = pile.discards.pop();
    core.remove(player, card);
    core.discard(0, card);
    seat.cards.push(top);
  } else if (chosen.verb === "junk") {
    core.fold(player);
  }
}

function* redraw(core) {
  const live = core.inOrder;
  const counts = live.map((player) => {
    const seat = core.seats[player];
    const hand = seat.cards;
    seat.cards = [];
    core.bury(0, hand);
    return hand.length;
  });
  for (const [at, player] of live.entries()) yield* core.dealToHand(player, counts[at], "shift");
}

// Hands from the best, each with what decides between two of its kind; null where it is none.
const LADDER = [
  ["pure", (hand) => (hand.size === 2 && hand.sylops === 2 ? [] : null)],
  ["full", (hand) => (hand.sylops === 1 && hand.sorted === "-10,-10,10,10" ? [] : null)],
  ["fleet", (hand) => (hand.sylops === 1 && hand.size === 5 && hand.most === 4 ? [-hand.lowestOf(4)] : null)],
  ["yee-haa", (hand) => (hand.sylops === 1 && hand.size === 3 && hand.most === 2 ? [-hand.lowestOf(2)] : null)],
  ["rhylet", rhylet],
  ["squadron", (hand) => (hand.size === 4 && hand.most === 4 ? [-hand.lowestOf(4)] : null)],
  ["gee-whiz", (hand) => (["-10,1,2,3,4", "-4,-3,-2,-1,10"].includes(hand.sorted) && hand.size === 5 ? [] : null)],
  ["straight-khyron", khyron],
  ["banthas-wild", (hand) => (hand.most >= 3 ? [-hand.lowestOf(3)] : null)],
  ["rule-of-two", ruleOfTwo],
  ["sabacc-pair", (hand) => (hand.most >= 2 ? [-hand.lowestOf(2), ...hand.plain] : null)],
  ["sabacc", (hand) => hand.plain],
];

function rhylet(hand) {
  if (hand.size !== 5 || hand.sylops > 0) return null;
  const signed = Object.entries(hand.signed).map(([value, count]) => [Number(value), count]);
  const three = signed.find(([, count]) => count === 3);
  const two = signed.find(([, count]) => count === 2);
  return three && two && three[0] * two[0] < 0 ? [-Math.abs(three[0])] : null;
}

function khyron(hand) {
  const values = hand.absolute;
  const run = hand.size === 4 && values.length === 4 && values.every((value, at) => value === values[0] + at);
  return run ? [-values[0]] : null;
}

function ruleOfTwo(hand) {
  const pairs = Object.entries(hand.counts)
    .filter(([, count]) => count >= 2)
    .map(([value]) => Number(value))
    .sort((a, b) => a - b);
  return pairs.length >= 2 ? [-pairs[0], -pairs[1]] : null;
}

function describe(cards) {
  const values = cards
    .map(valueC62)
    .filter((value) => value !== 0)
    .sort((a, b) => a - b);
  const absolute = values.map(Math.abs).sort((a, b) => a - b);
  const [counts, signed] = [{}, {}];
  for (const value of values) {
    counts[Math.abs(value)] = (counts[Math.abs(value)] ?? 0) + 1;
    signed[value] = (signed[value] ?? 0) + 1;
  }
  const positives = values.filter((value) => value > 0);
  return {
    size: cards.length,
    sylops: cards.length - values.length,
    total: values.reduce((sum, value) => sum + value, 0),
    sorted: values.join(),
    absolute,
    counts,
    signed,
    most: Math.max(0, ...Object.values(counts)),
    lowestOf: (count) =>
      Math.min(
        ...Object.keys(counts)
          .map(Number)
          .filter((value) => counts[value] >= count),
      ),
    // More cards, then the higher sum of positives, then the higher single positive.
    plain: [cards.length, positives.reduce((sum, value) => sum + value, 0), Math.max(0, ...positives)],
  };
}

export function worthOf(cards) {
  const hand = describe(cards);
  if (hand.total !== 0) {
    return {
      rank: "nulrhek",
      total: hand.total,
      strength: [-LADDER.length, -Math.abs(hand.total), Math.sign(hand.total), ...hand.plain],
    };
  }
  for (const [at, [rank, fits]] of LADDER.entries()) {
    const tie = fits(hand);
    if (tie) return { rank, total: 0, strength: [-at, ...tie] };
  }
  throw new Error("a hand that sums to 0 is at least a plain Sabacc");
}

function* reveal(core) {
  const live = core.inOrder;
  live.forEach((player) => core.shown.add(player));
  const worths = core.seats.map((seat, player) => (core.live.has(player) ? worthOf(seat.cards) : null));
  for (const player of core.everybody) core.ranks[player] = worths[player]?.rank ?? "folded";
  let sabaccTo = [];
  for (const [at, layer] of core.layers().entries()) {
    const winners = yield* blindCards(
      core,
      bestOf(layer.players, (player) => worths[player].strength),
    );
    core.award(layer, winners);
    if (at === 0) {
      core.winners = winners;
      if (worths[winners[0]].total === 0) sabaccTo = winners;
    }
  }
  core.awardSabacc(sabaccTo);
}

// Equal hands: one blind card each, compared alone, up to three times.
function* blindCards(core, equal) {
  let tied = equal;
  for (let draw = 0; draw < BLIND_CARDS && tied.length > 1; draw += 1) {
    const without = tied.filter((player) => core.seats[player].extra.length <= draw);
    if (!(yield* core.tieCards(without))) return tied;
    const blind = (player) => valueC62(core.seats[player].extra[draw]);
    tied = bestOf(tied, (player) => [-Math.abs(blind(player)), Math.sign(blind(player))]);
  }
  return tied;
}

export const SPIKE = { piles: () => [new Pile(0, 62, true)], play, hides: () => false };
