// Coruscant Shift: dice name a target and a suit; a selection from five cards, and what a redraw adds to it.

import { suitC62, valueC62 } from "../decks.js";
import { bettingRound, held } from "./betting.js";
import { Pile, bestOf } from "./core.js";
import { makeMove } from "./moves.js";

export const GOLD = [0, 0, 5, -5, 10, -10];
export const SILVER = ["circle", "circle", "triangle", "triangle", "square", "square"];
const SYLOP = 3;

function* play(core, state) {
  core.takeAntes();
  yield* core.shuffle(0);
  for (const player of core.everybody) yield* core.dealToHand(player, 5, "opening");
  const [gold, silver] = yield { chance: { kind: "roll", sides: [6, 6], purpose: { target: true } } };
  state.target = GOLD[gold - 1];
  state.suit = (silver - 1) >> 1;
  const selected = core.seats.map(() => []);
  for (const player of core.inOrder) {
    const { cards } = core.seats[player];
    const legal = [{ verb: "select", cards: [...cards], count: [1, 5] }];
    const chosen = yield* core.ask(player, legal, makeMove("select", { cards: [...cards] }));
    selected[player] = cards.filter((card) => chosen.cards.includes(card));
  }
  if (held(core) && (yield* bettingRound(core))) return;
  const fresh = yield* redraw(core, selected);
  if (held(core) && (yield* bettingRound(core))) return;
  for (const player of core.inOrder) {
    if (fresh[player].length === 0) continue;
    const legal = [{ verb: "add", cards: [...fresh[player]], count: [0, 5] }];
    const chosen = yield* core.ask(player, legal, makeMove("add"));
    selected[player].push(...fresh[player].filter((card) => chosen.cards.includes(card)));
  }
  reveal(core, state, selected);
}

// The rest is discarded, and as many are drawn; all go in before the first comes.
function* redraw(core, selected) {
  const fresh = core.seats.map(() => []);
  const live = core.inOrder;
  const counts = live.map((player) => {
    const seat = core.seats[player];
    const rest = seat.cards.filter((card) => !selected[player].includes(card));
    seat.cards = [...selected[player]];
    core.bury(0, rest);
    return rest.length;
  });
  for (const [at, player] of live.entries()) fresh[player] = [...(yield* core.dealToHand(player, counts[at], "draw"))];
  return fresh;
}

function worthOf(cards, { target, suit }) {
  const values = cards.map(valueC62);
  const total = values.reduce((sum, value) => sum + value, 0);
  const off = Math.abs(total - target);
  const suited = cards.filter((card) => [suit, SYLOP].includes(suitC62(card))).length;
  const high = Math.max(...values);
  return { rank: `off ${off} suit ${suited} total ${total} high ${high}`, strength: [-off, suited, total, high] };
}

function reveal(core, state, selected) {
  for (const player of core.inOrder) {
    core.seats[player].cards = selected[player];
    core.shown.add(player);
  }
  const worths = core.seats.map((seat, player) => (core.live.has(player) ? worthOf(seat.cards, state) : null));
  for (const player of core.everybody) core.ranks[player] = worths[player]?.rank ?? "folded";
  for (const [at, layer] of core.layers().entries()) {
    const winners = bestOf(layer.players, (player) => worths[player].strength);
    core.award(layer, winners);
    if (at === 0) core.winners = winners;
  }
}

export const CORUSCANT = {
  piles: () => [new Pile(0, 62, false)],
  play,
  hides: (hand, move) => move.verb === "select" || move.verb === "add",
};
