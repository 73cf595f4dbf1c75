// Kessel sabacc: one hand is one whole game, played in chips and settled once in credits. Whoever leaves is out at once,
// wherever the game stands: the turn that waits for him ends, and the last one in has won.

import { Pile } from "./core.js";
import {
  BLOOD,
  SAND,
  bestPairing,
  costOf,
  familyOf,
  isImpostor,
  rankName,
  strengthOf,
  worthOf,
} from "./kessel-ladder.js";
import { makeMove } from "./moves.js";
import { TOKENS, tokensOf } from "./ruleset.js";
import { askToken } from "./kessel-tokens.js";

const LAPS = 3;
const SOURCES = {
  sand: [SAND, false],
  blood: [BLOOD, false],
  "sand-discard": [SAND, true],
  "blood-discard": [BLOOD, true],
};

// Thrown where the game ends in the middle of something.
class Won extends Error {}
// Thrown where whoever is to move has gone.
class Gone extends Error {}

class Game {
  constructor(core, state) {
    this.core = core;
    this.state = state;
    this.seats = core.seats.map(() => ({ stock: core.rules.chips, pot: 0, tokens: null }));
    this.starter = 0;
    this.round = 0;
    this.newRound();
  }

  newRound() {
    this.round += 1;
    this.lap = 1;
    this.fixes = { prime: null, markdown: false, cook: false, fraud: false };
    this.immune = new Set();
    this.embargoed = new Set();
    this.standing = new Set();
    this.state.round = this.round;
  }

  // A player's decision. Throws where he leaves, or where one is left.
  *ask(player, legal, fallback) {
    for (;;) {
      const list = legal();
      const chosen = yield { decision: { player, legal: list, fallback: fallback() } };
      if (chosen.verb !== "leave") return chosen;
      this.leave(chosen.player);
      if (!this.core.live.has(player)) throw new Gone();
    }
  }

  leave(player) {
    const { core } = this;
    core.left.add(player);
    if (!core.live.delete(player)) return;
    core.seats[player].last = [...core.seats[player].cards];
    core.ranks[player] = "left";
    this.embargoed.delete(player);
    if (core.live.size > 1) return;
    // His hand is never shown.
    for (const winner of core.live) core.ranks[winner] = null;
    this.pay([...core.live], false);
    throw new Won();
  }

  pay(winners, contested) {
    const { core } = this;
    core.award({ name: "credits", amount: core.pot, players: winners }, winners, contested);
    core.winners = winners;
  }

  // Those still in, clockwise from a player's place.
  clockwise(from) {
    const count = this.core.seats.length;
    return this.core.inOrder.sort((a, b) => ((a - from + count) % count) - ((b - from + count) % count));
  }

  // Whose turn comes after this player's in this round; nobody's after the last lap's last.
  nextInTurn(player) {
    const order = this.clockwise(this.starter);
    const place = (other) => (other - this.starter + this.core.seats.length) % this.core.seats.length;
    const later = order.find((other) => place(other) > place(player));
    return later ?? (this.lap < LAPS ? order[0] : undefined);
  }

  *play() {
    const { core } = this;
    const stake = core.rules.chips * { lay: 15, pro: 25, tournament: 125 }[core.rules.stakes];
    for (const player of core.everybody) core.payPot(player, stake);
    yield* this.dealTokens();
    const order = core.inOrder;
    this.starter = order[yield { chance: { kind: "pick", n: order.length, purpose: { starter: true } } }];
    yield* core.shuffle(SAND);
    yield* core.shuffle(BLOOD);
    for (;;) {
      yield* this.dealRound();
      yield* this.laps();
      if (yield* this.reveal()) return;
      yield* this.gather();
    }
  }

  *dealTokens() {
    const { core, seats } = this;
    if (core.rules.tokens === "assigned") {
      for (const player of core.everybody) seats[player].tokens = [...tokensOf(core.rules, player)];
    } else if (core.rules.tokens === "random") {
      for (const player of core.everybody) {
        const kinds = yield { chance: { kind: "sample", n: TOKENS.length, k: 3, purpose: { tokens: player } } };
        seats[player].tokens = kinds.map((kind) => TOKENS[kind]);
      }
    } else {
      this.state.drafting = true;
      for (const player of core.everybody) {
        if (!core.live.has(player)) continue;
        const legal = () => [{ verb: "choose", names: TOKENS, picks: 3 }];
        yield* this.orGone(
          this.ask(player, legal, () => makeMove("choose", { names: TOKENS.slice(0, 3) })),
          (chosen) => {
            seats[player].tokens = [...chosen.names];
          },
        );
      }
      this.state.drafting = false;
    }
  }

  // Goes on where the player asked has gone.
  *orGone(course, then = () => {}) {
    try {
      then(yield* course);
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
    }
  }

  *dealRound() {
    const { core } = this;
    for (const card of yield* core.deal(
      null,
      [
        [SAND, 1],
        [BLOOD, 1],
      ],
      "flip",
    ))
      core.discard(familyOf(card), card);
    for (const player of core.inOrder) yield* this.dealPair(player, "opening");
  }

  *dealPair(player, why) {
    this.core.seats[player].cards.push(
      ...(yield* this.core.deal(
        player,
        [
          [SAND, 1],
          [BLOOD, 1],
        ],
        why,
      )),
    );
  }

  // The next round: every card goes back, and the next one still in starts.
  *gather() {
    const { core } = this;
    this.starter = this.clockwise(this.starter).find((player) => player !== this.starter) ?? this.starter;
    this.newRound();
    const held = core.seats.flatMap((seat) => seat.cards);
    const adds = [SAND, BLOOD].map((pile) => [
      ...core.piles[pile].discards.splice(0),
      ...held.filter((card) => familyOf(card) === pile),
    ]);
    for (const seat of core.seats) seat.cards = [];
    for (const pile of [SAND, BLOOD]) yield* core.shuffle(pile, adds[pile]);
    core.shown.clear();
  }

  *laps() {
    const { core } = this;
    for (this.lap = 1; this.lap <= LAPS; this.lap += 1) {
      const stood = new Set();
      for (let player = this.clockwise(this.starter)[0], first = true; player !== undefined; first = false) {
        const lap = this.lap;
        yield* this.orGone(this.turn(player, stood));
        this.embargoed.delete(player);
        player = this.laterInLap(player);
        if (lap !== this.lap) throw new Error("a lap ended within a turn");
      }
      if (core.inOrder.every((player) => stood.has(player))) break;
    }
    this.embargoed.clear();
  }

  laterInLap(player) {
    const place = (other) => (other - this.starter + this.core.seats.length) % this.core.seats.length;
    return this.clockwise(this.starter).find((other) => place(other) > place(player));
  }

  *turn(player, stood) {
    const seat = this.seats[player];
    const turn = { free: false, played: false };
    let chosen = yield* this.ask(
      player,
      () => this.actions(player, turn),
      () => makeMove("stand"),
    );
    if (chosen.verb === "token") {
      turn.played = true;
      yield* askToken(this, player, chosen, turn);
      chosen = yield* this.ask(
        player,
        () => this.actions(player, turn),
        () => makeMove("stand"),
      );
    }
    if (chosen.verb === "stand") {
      this.standing.add(player);
      stood.add(player);
      return;
    }
    this.standing.delete(player);
    const [pile, fromDiscards] = SOURCES[chosen.names[0]];
    if (!turn.free) {
      seat.stock -= 1;
      seat.pot += 1;
    }
    const { cards } = this.core.seats[player];
    const [drawn] = fromDiscards
      ? [this.core.piles[pile].discards.pop()]
      : yield* this.core.deal(player, [[pile, 1]], "draw");
    cards.push(drawn);
    const legal = () => [
      { verb: "discard", cards: this.core.seats[player].cards.filter((card) => familyOf(card) === pile) },
    ];
    const {
      cards: [card],
    } = yield* this.ask(player, legal, () => makeMove("discard", { cards: [drawn] }));
    this.core.remove(player, card);
    this.core.discard(pile, card);
  }

  actions(player, turn) {
    const legal = [{ verb: "stand" }];
    if (!turn.played) legal.push(...this.tokensOf(player));
    const pays = turn.free || this.seats[player].stock > 0;
    if (this.embargoed.has(player) || !pays) return legal;
    for (const [name, [pile, fromDiscards]] of Object.entries(SOURCES)) {
      const there = fromDiscards ? this.core.piles[pile].top !== undefined : this.core.piles[pile].available > 0;
      if (there) legal.push({ verb: "draw-from", names: [name] });
    }
    return legal;
  }

  tokensOf(player) {
    const targets = this.core.inOrder.filter((other) => other !== player && !this.immune.has(other));
    const inStand = targets.filter((other) => this.standing.has(other));
    const legal = [];
    for (const token of this.seats[player].tokens) {
      const at = {
        "target-tariff": targets,
        "target-audit": inStand,
        exhaustion: targets,
        "direct-transaction": targets,
      }[token];
      if (at) {
        if (at.length > 0) legal.push({ verb: "token", names: [token], targets: at });
        continue;
      }
      if (["refund", "extra-refund"].includes(token) && this.seats[player].pot === 0) continue;
      if (token === "cook-the-books" && this.fixes.cook) continue;
      if (token === "embargo" && this.nextInTurn(player) === undefined) continue;
      legal.push({ verb: "token", names: [token] });
    }
    return legal;
  }

  // The cards as they count: an Impostor is what was chosen for it.
  worth(player, values) {
    return worthOf(this.core.seats[player].cards, values, this.fixes);
  }

  // True where the game is over.
  *reveal() {
    const { core, fixes } = this;
    core.inOrder.forEach((player) => core.shown.add(player));
    const impostors = [];
    if (!fixes.fraud) {
      for (const player of core.inOrder) {
        const held = core.seats[player].cards.filter(isImpostor).sort((a, b) => a - b);
        for (const card of held) {
          const dice = yield { chance: { kind: "roll", sides: [6, 6], purpose: { impostor: player, card } } };
          impostors.push({ player, card, dice });
        }
      }
    }
    const values = new Map();
    for (const impostor of impostors) {
      if (core.live.has(impostor.player)) yield* this.orGone(this.choose(impostor, impostors, values));
    }
    return this.settleRound(values);
  }

  *choose({ player, card, dice }, impostors, values) {
    const legal = () => [{ verb: "impostor", cards: [card], values: dice }];
    const open = () => impostors.filter((one) => core.live.has(one.player) && !values.has(one.card)).length;
    const { core } = this;
    const fallback = () => {
      const other = impostors.find((one) => one.player === player && one.card !== card);
      const others = other ? (values.has(other.card) ? [values.get(other.card)] : other.dice) : [0];
      const tried = dice.flatMap((value) =>
        others.map((rest) => [
          value,
          strengthOf(this.worth(player, new Map([[card, value], ...(other ? [[other.card, rest]] : [])])), this.fixes),
        ]),
      );
      return makeMove("impostor", { cards: [card], value: bestPairing(tried) });
    };
    this.state.openChoices = open;
    const chosen = yield* this.ask(player, legal, fallback);
    values.set(card, chosen.value);
  }

  settleRound(values) {
    const { core, seats, fixes } = this;
    const inside = core.inOrder;
    const worths = new Map(inside.map((player) => [player, this.worth(player, values)]));
    const strengths = inside.map((player) => strengthOf(worths.get(player), fixes));
    const best = Math.max(...strengths);
    const winners = inside.filter((player, at) => strengths[at] === best);
    for (const player of inside) {
      const seat = seats[player];
      core.ranks[player] = rankName(worths.get(player), fixes);
      if (winners.includes(player)) seat.stock += seat.pot;
      else seat.stock -= Math.min(seat.stock, costOf(worths.get(player)));
      seat.pot = 0;
    }
    for (const player of inside) {
      if (seats[player].stock > 0) continue;
      core.live.delete(player);
      core.seats[player].last = [...core.seats[player].cards];
      core.line("eliminated", { player });
    }
    const still = core.inOrder;
    if (still.length === 0) this.pay(winners, true);
    else if (still.length === 1) this.pay(still, true);
    else if (this.round >= core.rules.max_rounds) {
      const most = Math.max(...still.map((player) => seats[player].stock));
      this.pay(
        still.filter((player) => seats[player].stock === most),
        true,
      );
    } else return false;
    return true;
  }
}

function* play(core, state) {
  try {
    yield* new Game(core, state).play();
  } catch (error) {
    if (!(error instanceof Won)) throw error;
  }
}

// A draft stays secret; an Impostor's value until all have theirs.
const hides = (hand, chosen) =>
  chosen.verb === "choose" || (chosen.verb === "impostor" && hand.state.openChoices() > 1);

export const KESSEL = { piles: () => [new Pile(0, 22, true), new Pile(22, 44, true)], play, hides };
