// Force sabacc: two sides, a showdown with an extra card each, and layers scored afresh.

import { isFaceS76, isWhiteS76, valueS76 } from "../decks.js";
import { bettingRound, held } from "./betting.js";
import { Pile, bestOf } from "./core.js";
import { makeMove } from "./moves.js";
import { askDrawAction, drawAction } from "./shifting.js";
import { bombs, isIdiotsArray, totalOf } from "./totals.js";

const FIRST_CALL = 3;

function* play(core, state) {
  const sides = (state.sides = core.seats.map(() => "light"));
  core.takeAntes();
  yield* core.shuffle(0);
  if (core.rules.alignment === "naboo") yield* nabooSides(core, sides);
  else yield* chosenSides(core, sides);
  for (const player of core.everybody) yield* core.dealToHand(player, 1, "opening");
  if (yield* cycles(core)) return;
  for (const player of core.inOrder) yield* showdown(core, player, sides);
  yield* score(core, sides);
}

function* chosenSides(core, sides) {
  for (const player of core.everybody) yield* core.dealToHand(player, 1, "opening");
  for (const player of core.everybody) {
    const chosen = yield* core.ask(
      player,
      [{ verb: "align", names: ["light", "dark"] }],
      makeMove("align", { names: ["light"] }),
    );
    [sides[player]] = chosen.names;
  }
}

// Cards are shown to each player until he has a face card, which is his; the others go back.
function* nabooSides(core, sides) {
  const aside = [];
  for (const player of core.everybody) {
    const parts = [{ pile: 0, count: null, restock: null }];
    const cards = yield {
      chance: { kind: "deal", to: player, parts, shown: true, why: "alignment", until: isFaceS76 },
    };
    for (const card of cards) core.piles[0].draw.delete(card);
    const face = cards.at(-1);
    core.seats[player].cards.push(face);
    core.seats[player].faceUp.add(face);
    sides[player] = isWhiteS76(face) ? "light" : "dark";
    aside.push(...cards.slice(0, -1));
  }
  yield* core.shuffle(0, aside);
}

// True where folds have ended the hand.
function* cycles(core) {
  for (let cycle = 1; cycle <= core.rules.max_rounds; cycle += 1) {
    const call = cycle >= FIRST_CALL ? [{ verb: "call-hand" }] : [];
    for (const player of core.inOrder) {
      const chosen = yield* askDrawAction(core, player, call);
      if (chosen.verb === "call-hand") return false;
      yield* drawAction(core, player, chosen);
    }
    if (held(core) && (yield* bettingRound(core))) return true;
  }
  return false;
}

// One player, completely: his hand is seen, an extra card comes, and he keeps three or drops one.
function* showdown(core, player, sides) {
  const seat = core.seats[player];
  core.shown.add(player);
  const before = totalOf(seat.cards);
  const [extra] = yield* core.deal(player, [[0, 1]], "extra");
  if (extra === undefined) return;
  const legal = [{ verb: "keep" }, { verb: "drop", cards: [...seat.cards, extra] }];
  const chosen = yield* core.ask(player, legal, makeMove("drop", { cards: [extra] }));
  seat.cards.push(extra);
  const [dropped] = chosen.cards;
  if (dropped !== undefined) {
    core.remove(player, dropped);
    core.discard(0, dropped);
  }
  if (dropped === extra) return;
  const shade = isWhiteS76(extra) ? "light" : "dark";
  const flips =
    core.rules.alignment === "naboo" ? isFaceS76(extra) && shade !== sides[player] : before * valueS76(extra) < 0;
  if (flips) sides[player] = sides[player] === "light" ? "dark" : "light";
}

function* score(core, sides) {
  const totals = core.seats.map((seat) => totalOf(seat.cards));
  const kinds = core.seats.map((seat, player) => {
    if (isIdiotsArray(seat.cards)) return "idiots-array";
    if (bombs(totals[player])) return "bombed";
    return Math.abs(totals[player]) === 23 ? "natural" : sides[player];
  });
  for (const player of core.everybody) {
    const named = kinds[player] === "idiots-array" ? "idiots-array" : `${kinds[player]} ${totals[player]}`;
    core.ranks[player] = core.live.has(player) ? named : "folded";
  }
  for (const [at, layer] of core.layers().entries()) {
    const winners = yield* winnersOf(core, layer.players, totals, kinds);
    if (winners.length === 0) core.carryLayer(layer);
    else core.award(layer, winners);
    if (at === 0) core.winners = winners;
  }
}

const strength = (total) => [Math.abs(total), -total];

// Among equal hands: one card each; who bombs is out. None left: nobody.
function* tieBreak(core, tied, totals) {
  if (tied.length <= 1) return tied;
  const without = tied.filter((player) => core.seats[player].extra.length === 0);
  if (!(yield* core.tieCards(without))) return tied;
  const modified = (player) => totals[player] + totalOf(core.seats[player].extra);
  return bestOf(tied, (player) => (bombs(modified(player)) ? null : strength(modified(player))));
}

function* winnersOf(core, players, totals, kinds) {
  for (const kind of ["idiots-array", "natural"]) {
    const winners = yield* tieBreak(
      core,
      players.filter((player) => kinds[player] === kind),
      totals,
    );
    if (winners.length > 0) return winners;
  }
  const of = (side) => players.filter((player) => kinds[player] === side);
  const [light, dark] = [of("light"), of("dark")];
  const order = darkIsAhead(light, dark, totals) ? [dark, light] : [light, dark];
  for (const side of order) {
    let rest = side;
    while (rest.length > 0) {
      const tied = bestOf(rest, (player) => strength(totals[player]));
      const winners = yield* tieBreak(core, tied, totals);
      if (winners.length > 0) return winners;
      rest = rest.filter((player) => !tied.includes(player));
    }
  }
  return [];
}

function darkIsAhead(light, dark, totals) {
  if (light.length === 0 || dark.length === 0) return light.length === 0;
  const sum = (side) => side.reduce((all, player) => all + totals[player], 0);
  const highest = (side) => Math.max(...side.map((player) => Math.abs(totals[player])));
  const [ofLight, ofDark] = [sum(light), -sum(dark)];
  return ofLight === ofDark ? highest(dark) >= highest(light) : ofDark > ofLight;
}

export const FORCE = { piles: () => [new Pile(0, 76, false)], play };
