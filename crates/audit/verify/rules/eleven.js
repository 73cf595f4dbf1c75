// Eleven: a wild and a clone face, cards up to six, and the total closest to 11 without going over.

import { bettingRound, held } from "./betting.js";
import { Pile, bestOf } from "./core.js";
import { makeMove } from "./moves.js";

const GOAL = 11;
const FULL = 6;

function* play(core, state) {
  core.takeAntes();
  const [wild, clone] = yield {
    chance: { kind: "sample", n: core.deck.faces.length, k: 2, purpose: { announce: true } },
  };
  state.wild = core.deck.faces[wild];
  state.clone = core.deck.faces[clone];
  yield* core.shuffle(0);
  for (const player of core.everybody) yield* core.dealToHand(player, 2, "opening");
  yield* laps(core);
  if (held(core) && (yield* bettingRound(core))) return;
  const worths = core.seats.map((seat) => worthOf(core.deck, seat.cards, state));
  for (const player of core.everybody) core.ranks[player] = core.live.has(player) ? worths[player].rank : "folded";
  for (const player of core.inOrder) core.shown.add(player);
  for (const [at, layer] of core.layers().entries()) {
    const winners = bestOf(layer.players, (player) => worths[player].strength);
    if (winners.length === 0) core.carryLayer(layer);
    else core.award(layer, winners);
    if (at === 0) core.winners = winners;
  }
}

function* laps(core) {
  const standing = new Set();
  const stillIn = () =>
    core.everybody.filter((player) => !standing.has(player) && core.seats[player].cards.length < FULL);
  for (let lap = stillIn(); lap.length > 0; lap = stillIn()) {
    for (const player of lap) {
      const legal = core.piles[0].available > 0 ? [{ verb: "draw" }, { verb: "stand" }] : [{ verb: "stand" }];
      const move = yield* core.ask(player, legal, makeMove("stand"));
      if (move.verb === "stand") standing.add(player);
      else yield* core.dealToHand(player, 1, "draw");
    }
  }
}

// The best total: wilds are 1 to 6, clones copy another card that is no clone.
function worthOf(deck, cards, { wild, clone }) {
  const codes = cards.map((card) => deck.code(card));
  const clones = codes.filter((code) => code === clone).length;
  const plain = codes.filter((code) => code !== clone && code !== wild).map((code) => Number(code[0]));
  let choices = [plain];
  for (const code of codes)
    if (code === wild) choices = choices.flatMap((values) => [1, 2, 3, 4, 5, 6].map((value) => [...values, value]));
  const totals = new Set();
  for (const values of choices) {
    const sum = values.reduce((all, value) => all + value, 0);
    let sums = [sum];
    for (let at = 0; at < clones; at += 1)
      sums = sums.flatMap((one) => (values.length === 0 ? [one] : values.map((value) => one + value)));
    sums.forEach((one) => totals.add(one));
  }
  const best = Math.max(...[...totals].filter((total) => total <= GOAL));
  if (best === -Infinity) return { rank: `over in ${cards.length}`, strength: null };
  return { rank: `${best} in ${cards.length}`, strength: [best, -cards.length] };
}

export const ELEVEN = { piles: () => [new Pile(0, 42, false)], play };
