// One hand, driven from outside: it says what it waits for, takes what came, and refuses what cannot have come.

import { Core, lineText, tooMany } from "./core.js";
import { GAMES } from "./games.js";
import { seatsOf } from "./ruleset.js";
import { step } from "../work.js";

export class Refused extends Error {}

const CARD_MOVES = ["trade", "lock", "unlock", "drop", "discard", "gain", "swap", "select", "add"];

function checkSetup({ rules, seats, stacks, sabaccPot = 0, carriedPot = 0 }) {
  const [least, most] = seatsOf(rules);
  if (seats.length < least || seats.length > most || stacks.length !== seats.length) {
    throw new Refused(`these rules are for ${least} to ${most} players, not ${seats.length}`);
  }
  const falls = seats.filter((seat, at) => seat >= seats[(at + 1) % seats.length]).length;
  if (falls !== 1 || seats.some((seat) => seat < 1)) throw new Refused("seats must ascend, and wrap once at most");
  for (const [name, pot] of [
    ["sabacc_pot", sabaccPot],
    ["carried_pot", carriedPot],
  ]) {
    if (pot > 0 && !rules.variant.pots.includes(name)) throw new Refused(`${rules.variant.title} has no such pot`);
  }
  const sabacc = rules.sabacc_ante_when === "when_empty" && sabaccPot > 0 ? 0 : (rules.sabacc_ante ?? 0);
  const stake = rules.id === "kessel" ? rules.chips * { lay: 15, pro: 25, tournament: 125 }[rules.stakes] : 0;
  const due = Math.max(1, (rules.hand_ante ?? 0) + sabacc + stake);
  if (stacks.some((stack) => stack < due)) throw new Refused(`a player needs ${due} to be dealt in`);
  if (tooMany([...stacks, sabaccPot, carriedPot])) throw new Refused("stacks and pots together are too many credits");
}

export class Hand {
  constructor(setup) {
    checkSetup(setup);
    this.rules = setup.rules;
    const game = GAMES[setup.rules.id];
    this.core = new Core(setup.rules, setup, game.piles());
    this.state = {};
    this.hides = game.hides ?? ((hand, move) => move.verb === "trade");
    this.course = game.play(this.core, this.state);
    this.settlement = null;
    this.next = null;
    this.resume(undefined);
  }

  resume(answer) {
    step();
    const { value, done } = this.course.next(answer);
    this.next = done ? null : value;
    if (done) this.finish();
  }

  finish() {
    const { core } = this;
    if (core.carried > 0) core.line("carries", { amount: core.carried });
    if (core.rake > 0) core.line("rake", { amount: core.rake });
    this.settlement = {
      lines: core.lines,
      text: core.lines.map(lineText),
      stacks: core.seats.map((seat) => seat.stack),
      sabaccPot: core.sabacc,
      carriedPot: core.carried,
      rake: core.rake,
      winners: core.winners,
      hands: core.seats.map((seat, player) => ({ cards: [...(seat.last ?? seat.cards)], rank: core.ranks[player] })),
      shown: core.everybody.filter((player) => core.shown.has(player)),
    };
  }

  // The use of chance that is due, or null.
  get due() {
    return this.next?.chance ?? null;
  }

  // Whose decision is due, or null.
  get decision() {
    return this.next?.decision ?? null;
  }

  chance(outcome) {
    if (!this.due) throw new Refused("a use of chance where none is due");
    checkChance(this.core, this.due, outcome);
    this.resume(outcome);
  }

  // The move as it counts: of cards that look alike, the one held longest.
  decide(player, move) {
    const { decision, core } = this;
    if (this.settlement) throw new Refused("the hand is over");
    if (!decision) throw new Refused("a decision where chance is due");
    if (player < 0 || player >= core.seats.length) throw new Refused("there is no such player");
    if (core.left.has(player)) throw new Refused(`p${player + 1} has left`);
    if (move.verb === "leave") return move;
    if (decision.player !== player) throw new Refused(`it is the turn of p${decision.player + 1}`);
    const meant = firstOfAlike(core.deck, decision.legal, move);
    if (!decision.legal.some((legal) => allows(legal, meant))) throw new Refused(`${move.verb} is not legal here`);
    return meant;
  }

  // Applies what `decide` returned.
  take(player, move) {
    this.resume({ ...move, player });
  }
}

function checkChance(core, due, outcome) {
  const wrong = () => new Refused(`this cannot come of a ${due.kind}`);
  const whole = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;
  if (due.kind === "deal") {
    if (due.until) {
      const at = outcome.findIndex((card) => due.until(card));
      if (at < 0 || at !== outcome.length - 1) throw new Refused("the deal ends with the first card that it is for");
    } else if (outcome.length !== due.parts.reduce((sum, part) => sum + part.count, 0)) {
      throw new Refused("another number of cards is due");
    }
    let at = 0;
    for (const { pile, count, restock } of due.parts) {
      const there = new Set(core.piles[pile].draw);
      for (let taken = 0; taken < (due.until ? outcome.length : count); taken += 1, at += 1) {
        if (restock?.after === taken) restock.cards.forEach((card) => there.add(card));
        if (!there.delete(outcome[at])) throw new Refused("a card that is not in the draw pile");
      }
    }
  } else if (due.kind === "roll") {
    if (outcome.length !== due.sides.length || !outcome.every((face, at) => whole(face, 1, due.sides[at])))
      throw wrong();
  } else if (due.kind === "pulse") {
    if (typeof outcome !== "boolean" || (due.ppm === 0 && outcome) || (due.ppm === 1e6 && !outcome)) throw wrong();
  } else if (due.kind === "pick") {
    if (!whole(outcome, 0, due.n - 1)) throw wrong();
  } else if (due.kind === "sample") {
    const different = new Set(outcome).size === due.k && outcome.length === due.k;
    if (!different || !outcome.every((item) => whole(item, 0, due.n - 1))) throw wrong();
  }
}

function firstOfAlike(deck, legal, move) {
  if (!CARD_MOVES.includes(move.verb)) return move;
  const listed = legal.filter((one) => one.verb === move.verb).flatMap((one) => one.cards ?? []);
  const cards = [];
  for (const card of move.cards) {
    const alike = listed.find((other) => deck.code(other) === deck.code(card) && !cards.includes(other));
    cards.push(alike ?? card);
  }
  return { ...move, cards };
}

// Whether a legal move, as the game lists it, stands for this one.
function allows(legal, move) {
  if (legal.verb !== move.verb) return false;
  const [least, most] = legal.count ?? (legal.cards ? [1, 1] : [0, 0]);
  const cards =
    move.cards.length >= least && move.cards.length <= most && new Set(move.cards).size === move.cards.length;
  if (!cards || !move.cards.every((card) => legal.cards.includes(card))) return false;
  if (legal.min === undefined ? move.amount !== 0 : !(move.amount >= legal.min && move.amount <= legal.max))
    return false;
  if (legal.values ? !legal.values.includes(move.value) : move.value !== 0) return false;
  if (legal.targets ? !legal.targets.includes(move.target) : move.target !== null) return false;
  if (!legal.names) return move.names.length === 0;
  const picks = legal.picks ?? 1;
  return (
    move.names.length === picks &&
    new Set(move.names).size === picks &&
    move.names.every((name) => legal.names.includes(name))
  );
}
