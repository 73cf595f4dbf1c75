// Hands that play to 23: totals, the Idiot's Array, and the Sudden Demise.

import { valueS76 } from "../decks.js";
import { bestOf } from "./core.js";

export const totalOf = (cards) => cards.reduce((sum, card) => sum + valueS76(card), 0);

const isIdiot = (card) => card >= 74;

export function isIdiotsArray(cards) {
  if (cards.length !== 3 || !cards.some(isIdiot)) return false;
  const values = cards
    .filter((card) => !isIdiot(card))
    .map(valueS76)
    .sort();
  return values.join() === "2,3";
}

export const bombs = (total) => total > 23 || total < -23 || total === 0;

// What a hand is worth: its name, its total, and its strength; null where it bombs.
export function worthOf(cards, ranking) {
  if (isIdiotsArray(cards)) return { rank: "idiots-array", special: true, total: totalOf(cards), strength: [1000] };
  return worthOfTotal(totalOf(cards), ranking);
}

function worthOfTotal(total, ranking) {
  if (bombs(total)) return { rank: `bombed ${total}`, special: false, total, strength: null };
  if (Math.abs(total) === 23) return { rank: `pure ${total}`, special: true, total, strength: [500] };
  return { rank: `total ${total}`, special: false, total, strength: [ranking === "signed" ? total : Math.abs(total)] };
}

// The best that one's own cards and any of the pool's make.
export function bestWith(own, pool, ranking) {
  let best = worthOf(own, ranking);
  const better = (worth) => {
    if (worth.strength && (!best.strength || worth.strength[0] > best.strength[0])) best = worth;
  };
  if (own.length <= 3) {
    for (const extra of subsets(pool, 3 - own.length))
      if (isIdiotsArray([...own, ...extra])) better(worthOf([...own, ...extra], ranking));
  }
  let totals = new Set([totalOf(own)]);
  for (const card of pool) totals = new Set([...totals, ...[...totals].map((total) => total + valueS76(card))]);
  for (const total of [...totals].sort((a, b) => b - a)) better(worthOfTotal(total, ranking));
  return best;
}

function* subsets(cards, size, from = 0) {
  if (size === 0) {
    yield [];
    return;
  }
  for (let at = from; at < cards.length; at += 1) {
    for (const rest of subsets(cards, size - 1, at + 1)) yield [cards[at], ...rest];
  }
}

// Where all who tied bomb in the demise: the game's own rule says who takes the layer.
const smallestMiss = (worths) => (players) =>
  bestOf(players, (player) => [-Math.abs(Math.abs(worths[player].total) - 23)]);

// The reveal of the games to 23 with a Sabacc Pot: penalties, layers, demise, and the Sabacc Pot last.
export function* revealTo23(core, { swg = false } = {}) {
  const { ranking, bomb_out: kind, bomb_out_amount: fixed, holdem = false } = core.rules;
  const live = core.inOrder;
  const poolOf = (player) =>
    holdem ? live.filter((other) => other !== player).flatMap((other) => [...core.seats[other].faceUp]) : [];
  const worth = (player, more = []) => bestWith([...core.seats[player].cards, ...more], poolOf(player), ranking);
  const worths = core.seats.map((_, player) => (core.live.has(player) ? worth(player) : null));
  for (const player of core.everybody) core.ranks[player] = worths[player]?.rank ?? "folded";
  live.forEach((player) => core.shown.add(player));
  const penalty = { match_pot: core.pot, fixed, none: 0 }[kind];
  const layers = core.layers();
  for (const player of live) if (!worths[player].strength) core.penalty(player, penalty);
  let sabaccTo = [];
  for (const [at, layer] of layers.entries()) {
    const { winners, special } = yield* winnersOf(core, layer, worths, worth, swg);
    if (winners.length === 0) core.moveLayer(layer);
    else core.award(layer, winners);
    if (at === 0) {
      core.winners = winners;
      if (special) sabaccTo = winners;
    }
  }
  core.awardSabacc(sabaccTo);
}

// Who takes a layer, and whether he may take the Sabacc Pot with it.
function* winnersOf(core, layer, worths, worth, swg) {
  const tied = bestOf(layer.players, (player) => worths[player].strength);
  const special = tied.length > 0 && worths[tied[0]].special;
  if (tied.length <= 1) return { winners: tied, special };
  const without = tied.filter((player) => core.seats[player].extra.length === 0);
  if (!(yield* core.tieCards(without))) return { winners: tied, special };
  const modified = core.seats.map((seat, player) => (tied.includes(player) ? worth(player, seat.extra) : null));
  const best = bestOf(tied, (player) => modified[player].strength);
  if (best.length > 0) return { winners: best, special };
  if (swg) return { winners: smallestMiss(modified)(tied), special };
  const rest = layer.players.filter((player) => !tied.includes(player));
  return { winners: bestOf(rest, (player) => worths[player].strength), special: false };
}
