// `electronic` and `dice`: cycles of a play round and a betting round, and cards that shift.

import { bettingRound, held } from "./betting.js";
import { Pile } from "./core.js";
import { makeMove } from "./moves.js";
import { revealTo23 } from "./totals.js";

const piles = () => [new Pile(0, 76, false)];

function* play(core, state, electronic) {
  const { rules } = core;
  core.takeAntes();
  yield* core.shuffle(0);
  for (const player of core.everybody) yield* core.dealToHand(player, 2, "opening");
  let calledBy = null;
  for (let round = 1; round <= rules.max_rounds; round += 1) {
    state.round = round;
    const mayBeCalled = round > rules.pot_building_rounds;
    for (const player of core.inOrder) {
      yield* turn(core, player);
      yield* shiftChance(core);
    }
    if (!held(core)) {
      if (mayBeCalled) break;
      continue;
    }
    const call = {
      may: () => mayBeCalled && calledBy === null,
      made: () => {
        calledBy = round;
        return electronic;
      },
    };
    if (yield* bettingRound(core, call)) return;
    yield* shiftChance(core);
    if (calledBy !== null) break;
  }
  yield* revealTo23(core);
}

function* turn(core, player) {
  const seat = core.seats[player];
  let [locked, unlocked] = [null, null];
  for (;;) {
    const loose = seat.cards.filter((card) => !seat.faceUp.has(card));
    const legal = [{ verb: "stand" }];
    if (core.piles[0].available > 0) legal.push({ verb: "draw" }, { verb: "trade", cards: loose });
    if (core.rules.field) {
      if (locked === null) legal.push({ verb: "lock", cards: loose.filter((card) => card !== unlocked) });
      if (unlocked === null)
        legal.push({ verb: "unlock", cards: seat.cards.filter((card) => seat.faceUp.has(card) && card !== locked) });
    }
    const chosen = yield* core.ask(player, legal, makeMove("stand"));
    const [card] = chosen.cards;
    if (chosen.verb === "lock") {
      seat.faceUp.add(card);
      locked = card;
    } else if (chosen.verb === "unlock") {
      seat.faceUp.delete(card);
      unlocked = card;
    } else {
      yield* drawAction(core, player, chosen);
      return;
    }
  }
}

// What ends a turn: draw, trade or stand.
export function* drawAction(core, player, chosen) {
  if (chosen.verb === "trade") {
    core.remove(player, chosen.cards[0]);
    core.discard(0, chosen.cards[0]);
  }
  if (chosen.verb !== "stand") yield* core.dealToHand(player, 1, chosen.verb);
}

// A plain draw, trade or stand.
export function* askDrawAction(core, player, more = []) {
  const legal = [{ verb: "stand" }, ...more];
  if (core.piles[0].available > 0)
    legal.push({ verb: "draw" }, { verb: "trade", cards: [...core.seats[player].cards] });
  return yield* core.ask(player, legal, makeMove("stand"));
}

function pulsePpm(core) {
  const { pulse_ppm: ppm, pot_building_rounds: rounds } = core.rules;
  if (ppm > 0) return ppm;
  return Number(1000000n / ((BigInt(rounds) + 1n) * (BigInt(core.seats.length) + 1n)));
}

function* shiftChance(core) {
  const { shift, shift_number: number } = core.rules;
  let shifts = false;
  if (shift === "pulse") {
    shifts = yield { chance: { kind: "pulse", ppm: pulsePpm(core) } };
  } else if (shift !== "none") {
    const [count, sides] = shift.split("d").map(Number);
    const faces = yield { chance: { kind: "roll", sides: Array(count).fill(sides), purpose: { shift: true } } };
    shifts = count === 1 ? faces[0] === number : faces[0] === faces[1];
  }
  if (!shifts) return;
  const live = core.inOrder;
  const taken = [];
  const counts = live.map((player) => {
    const seat = core.seats[player];
    const loose = seat.cards.filter((card) => !seat.faceUp.has(card));
    seat.cards = seat.cards.filter((card) => seat.faceUp.has(card));
    taken.push(...loose);
    return loose.length;
  });
  // With nothing to shuffle nothing is shuffled.
  if (taken.length > 0 || core.piles[0].draw.size > 0) yield* core.shuffle(0, taken);
  for (const [at, player] of live.entries()) yield* core.dealToHand(player, counts[at], "shift");
}

export const ELECTRONIC = { piles, play: (core, state) => play(core, state, true) };
export const DICE = { piles, play: (core, state) => play(core, state, false) };
