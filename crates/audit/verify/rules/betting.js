// No-limit betting: full and short bets, caps, and who may still raise.

import { makeMove } from "./moves.js";
import { leastBet } from "./ruleset.js";

export const held = (core) => core.able.length >= 2;

export class Bets {
  constructor(core) {
    this.core = core;
    this.put = core.seats.map(() => 0);
    this.highest = 0;
    this.size = leastBet(core.rules);
    this.open = new Set(core.able);
    this.pending = new Set(core.able);
    this.lifter = null;
  }

  // What is added to match, whatever the stack.
  missing(player) {
    return this.highest - this.put[player];
  }

  // The least and the most total that he may bet or raise to, or null.
  range(player) {
    const { core, highest, size, put } = this;
    const whole = put[player] + core.seats[player].stack;
    if (!this.open.has(player) || whole <= highest || !core.able.some((other) => other !== player)) return null;
    const most = Math.min(whole, this.cap(player));
    const least = Math.min(highest + size, whole);
    return least <= most ? [least, most] : null;
  }

  // The most total that the caps leave them: one that is used up binds, one that is not set (0) does not.
  cap(player) {
    const { core, highest, put } = this;
    const { rules } = core;
    const earlier = core.seats[player].paid - (rules.hand_ante ?? 0) - put[player];
    const others = core.pot + core.carried - put[player];
    const caps = [
      [rules.max_raise, highest + rules.max_raise],
      [rules.max_round_total, rules.max_round_total],
      [rules.max_hand_total, rules.max_hand_total - earlier],
      [rules.max_pot, rules.max_pot - others],
    ];
    return Math.min(...caps.map(([cap, total]) => (cap > 0 ? total : Infinity)));
  }

  legal(player) {
    const { core, put } = this;
    const missing = this.missing(player);
    const range = this.range(player);
    const moves = missing === 0 ? [{ verb: "check" }] : [{ verb: "match" }];
    if (range && missing === 0) moves.push({ verb: "bet", min: range[0] - put[player], max: range[1] - put[player] });
    if (range && missing > 0) moves.push({ verb: "raise", min: range[0], max: range[1] });
    moves.push({ verb: "fold" });
    return moves;
  }

  fallback(player) {
    return makeMove(this.missing(player) === 0 ? "check" : "fold");
  }

  pay(player, amount) {
    this.put[player] += this.core.payPot(player, amount);
  }

  lift(player, total) {
    const by = total - this.highest;
    this.pay(player, total - this.put[player]);
    this.highest = total;
    this.lifter = player;
    const others = this.core.able.filter((other) => other !== player);
    this.pending = new Set(others);
    if (by >= this.size) {
      this.size = by;
      this.open = new Set(others);
    }
  }

  act(player, move) {
    this.open.delete(player);
    this.pending.delete(player);
    if (move.verb === "match") this.pay(player, this.missing(player));
    else if (move.verb === "bet") this.lift(player, this.put[player] + move.amount);
    else if (move.verb === "raise") this.lift(player, move.amount);
    else if (move.verb === "fold") this.core.fold(player);
  }

  // Everybody who can must act again.
  reopen() {
    this.open = new Set(this.core.able);
    this.pending = new Set(this.core.able);
  }

  // Who acts after a player, around the table; null where nobody must.
  after(player) {
    const waiting = [...this.pending].sort((a, b) => a - b);
    return waiting.find((other) => other > player) ?? waiting[0] ?? null;
  }
}

// A whole round. `call`, where given, says whether the hand may be called now and is told who did.
// True where folds have ended the hand.
export function* bettingRound(core, call = null) {
  const bets = new Bets(core);
  let player = bets.after(-1);
  while (player !== null) {
    const mayCall = call?.may() ?? false;
    const legal = [...bets.legal(player), ...(mayCall ? [{ verb: "call-hand" }] : [])];
    const move = yield* core.ask(player, legal, bets.fallback(player));
    if (move.verb === "call-hand") {
      if (call.made()) bets.reopen();
      continue;
    }
    bets.act(player, move);
    if (core.endsByFolds()) return true;
    player = bets.after(player);
  }
  core.returnUncalled();
  return false;
}
