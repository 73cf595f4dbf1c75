// The state all games share: stacks and pots, draw piles and discards, and the settlement's lines. Players are numbers
// from 0: p1 is 0. A game is a generator; it yields a use of chance or a decision that is due, and is told what came.

import { MOST } from "./ruleset.js";

const byNumber = (a, b) => a - b;

export class Pile {
  // An open pile shows its top discard, which stays when the others are shuffled in.
  constructor(first, end, open) {
    Object.assign(this, { first, end, open, draw: new Set(), discards: [] });
  }

  get cards() {
    return Array.from({ length: this.end - this.first }, (_, at) => this.first + at);
  }

  get stays() {
    return this.open ? Math.min(1, this.discards.length) : 0;
  }

  // How many cards can still be dealt.
  get available() {
    return this.draw.size + this.discards.length - this.stays;
  }

  get top() {
    return this.open ? this.discards.at(-1) : undefined;
  }
}

export class Core {
  constructor(rules, setup, piles) {
    this.rules = rules;
    this.deck = rules.deck;
    this.seats = setup.stacks.map((stack) => ({ stack, paid: 0, cards: [], faceUp: new Set(), extra: [], last: null }));
    this.everybody = this.seats.map((_, player) => player);
    this.live = new Set(this.everybody);
    this.left = new Set();
    this.shown = new Set();
    this.piles = piles;
    this.pot = 0;
    this.sabacc = setup.sabaccPot ?? 0;
    this.carried = setup.carriedPot ?? 0;
    this.rake = 0;
    this.lines = [];
    this.ranks = this.seats.map(() => null);
    this.winners = [];
  }

  // Live players, p1 first.
  get inOrder() {
    return [...this.live].sort(byNumber);
  }

  // Live and with credits to bet.
  get able() {
    return this.inOrder.filter((player) => this.seats[player].stack > 0);
  }

  line(kind, fields) {
    this.lines.push({ kind, ...fields });
  }

  // ---- credits -------------------------------------------------------------------------------------------------

  takeAntes() {
    const { hand_ante: hand = 0, sabacc_ante: sabacc = 0, sabacc_ante_when: when } = this.rules;
    const due = when === "when_empty" && this.sabacc > 0 ? 0 : sabacc;
    for (const player of this.everybody) {
      this.payPot(player, hand);
      this.toSabacc(player, due);
    }
  }

  payPot(player, amount) {
    const seat = this.seats[player];
    const paid = Math.min(amount, seat.stack);
    seat.stack -= paid;
    seat.paid += paid;
    this.pot += paid;
    return paid;
  }

  toSabacc(player, due) {
    const seat = this.seats[player];
    const paid = Math.min(due, seat.stack);
    seat.stack -= paid;
    this.sabacc += paid;
    return paid;
  }

  // A penalty, as far as the stack goes.
  penalty(player, due) {
    if (due === 0) return;
    const amount = this.toSabacc(player, due);
    this.line("pays", { player, amount, short: due - amount });
  }

  fold(player) {
    this.live.delete(player);
    this.penalty(player, this.rules.fold_penalty ?? 0);
    this.seats[player].faceUp.clear();
    this.bury(0, this.seats[player].cards);
  }

  // What nobody matched goes back, even to somebody who has folded since.
  returnUncalled() {
    const paid = this.seats.map((seat) => seat.paid).sort((a, b) => b - a);
    const amount = paid[0] - paid[1];
    if (amount === 0) return;
    const player = this.seats.findIndex((seat) => seat.paid === paid[0]);
    const seat = this.seats[player];
    seat.paid -= amount;
    seat.stack += amount;
    this.pot -= amount;
    this.line("returned", { player, amount });
  }

  // One live player is left: he takes everything in the Hand Pot, and nothing is shown.
  endsByFolds() {
    if (this.live.size !== 1) return false;
    const [winner] = this.live;
    this.returnUncalled();
    this.pot += this.carried;
    this.carried = 0;
    this.win(winner, "main", this.pot);
    for (const player of this.everybody) if (player !== winner) this.ranks[player] = "folded";
    this.winners = [winner];
    return true;
  }

  // The Hand Pot and what was carried, cut at the distinct contributions of the live players, the lowest first.
  layers() {
    const carried = this.carried;
    this.pot += carried;
    this.carried = 0;
    const live = this.inOrder;
    const levels = [...new Set(live.map((player) => this.seats[player].paid))]
      .filter((paid) => paid > 0)
      .sort(byNumber);
    if (levels.length === 0) return [{ name: "main", amount: this.pot, players: live }];
    const upTo = (level) => this.seats.reduce((sum, seat) => sum + Math.min(seat.paid, level), 0);
    return levels.map((level, at) => {
      const below = at === 0 ? 0 : levels[at - 1];
      let amount = upTo(level) - upTo(below);
      if (at === 0) amount += carried;
      // What folded players paid above the highest live contribution.
      if (at === levels.length - 1) amount += this.pot - carried - upTo(level);
      const players = live.filter((player) => this.seats[player].paid > below);
      return { name: at === 0 ? "main" : `side-${at}`, amount, players };
    });
  }

  rakeOf(amount) {
    const { rake_bps: share, rake_cap: cap } = this.rules;
    const rake = Number((BigInt(amount) * BigInt(share)) / 10000n);
    return cap === 0 ? rake : Math.min(rake, Math.max(cap - this.rake, 0));
  }

  // A layer to its winners, after the house's share of what at least two reached the reveal with.
  award(layer, winners, contested = layer.players.length >= 2) {
    const rake = contested ? this.rakeOf(layer.amount) : 0;
    this.pot -= rake;
    this.rake += rake;
    for (const [player, share] of shares(layer.amount - rake, winners)) this.win(player, layer.name, share);
  }

  win(player, pot, amount) {
    if (amount === 0) return;
    if (pot !== "sabacc") this.pot -= amount;
    this.seats[player].stack += amount;
    this.line("wins", { player, pot, amount });
  }

  awardSabacc(winners) {
    if (winners.length === 0) return;
    const pot = this.sabacc;
    this.sabacc = 0;
    for (const [player, share] of shares(pot, winners)) this.win(player, "sabacc", share);
  }

  moveLayer(layer) {
    if (layer.amount === 0) return;
    this.pot -= layer.amount;
    this.sabacc += layer.amount;
    this.line("moves", { pot: layer.name, amount: layer.amount });
  }

  carryLayer(layer) {
    this.pot -= layer.amount;
    this.carried += layer.amount;
  }

  // ---- cards ---------------------------------------------------------------------------------------------------

  discard(pile, card) {
    this.piles[pile].discards.push(card);
  }

  // A whole hand, face down: under the top of an open pile.
  bury(pile, cards) {
    const { discards, open } = this.piles[pile];
    if (open) discards.unshift(...cards);
    else discards.push(...cards);
  }

  remove(player, card) {
    const seat = this.seats[player];
    seat.cards.splice(seat.cards.indexOf(card), 1);
    seat.faceUp.delete(card);
  }

  *shuffle(pile, add = this.piles[pile].cards) {
    yield { chance: { kind: "shuffle", pile, add } };
    for (const card of add) this.piles[pile].draw.add(card);
  }

  // Cards from the top of draw piles, one part a pile; fewer where there are fewer. Discards are shuffled in where a
  // draw pile runs out. `to` is a player, or null for the table.
  *deal(to, wanted, why) {
    const parts = [];
    for (const [pile, count] of wanted) {
      const from = this.piles[pile];
      const taken = Math.min(count, from.available);
      if (taken === 0) continue;
      const restock =
        taken > from.draw.size
          ? { after: from.draw.size, cards: from.discards.splice(0, from.discards.length - from.stays) }
          : null;
      parts.push({ pile, count: taken, restock });
    }
    if (parts.length === 0) return [];
    const shown = to === null || ["tie", "extra"].includes(why);
    const cards = yield { chance: { kind: "deal", to, parts, shown, why } };
    let at = 0;
    for (const { pile, count, restock } of parts) {
      const { draw } = this.piles[pile];
      for (const card of restock?.cards ?? []) draw.add(card);
      for (const card of cards.slice(at, at + count)) draw.delete(card);
      at += count;
    }
    return cards;
  }

  *dealToHand(player, count, why) {
    const cards = yield* this.deal(player, [[0, count]], why);
    this.seats[player].cards.push(...cards);
    return cards;
  }

  // One card beside the hand for each of these, unless there are not enough for all: then for nobody.
  *tieCards(players) {
    if (this.piles[0].available < players.length) return false;
    for (const player of players) this.seats[player].extra.push(...(yield* this.deal(player, [[0, 1]], "tie")));
    return true;
  }

  // ---- decisions -----------------------------------------------------------------------------------------------

  // Waits for a player's decision. Whoever has left gets his default at once; others may leave meanwhile.
  *ask(player, legal, fallback) {
    while (!this.left.has(player)) {
      const move = yield { decision: { player, legal, fallback } };
      if (move.verb !== "leave") return move;
      this.left.add(move.player);
    }
    return fallback;
  }
}

// Equal shares; odd credits go one each, p1 first.
export function shares(amount, winners) {
  const share = Math.floor(amount / winners.length);
  const odd = amount - share * winners.length;
  return [...winners].sort(byNumber).map((player, at) => [player, at < odd ? share + 1 : share]);
}

// Those with the highest strength; whoever has none (null) is not among them.
export function bestOf(players, strength) {
  let best = [];
  let most = null;
  for (const player of players) {
    const own = strength(player);
    if (own === null) continue;
    const order = most === null ? 1 : compareKeys(own, most);
    if (order > 0) [best, most] = [[player], own];
    else if (order === 0) best.push(player);
  }
  return best;
}

// Strengths are lists of numbers, compared from the left.
export function compareKeys(a, b) {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    if (a[at] !== b[at]) return a[at] > b[at] ? 1 : -1;
  }
  return 0;
}

export function lineText(line) {
  const who = line.player === undefined ? "" : `p${line.player + 1}`;
  switch (line.kind) {
    case "returned":
      return `${who} returned ${line.amount}`;
    case "pays":
      return `${who} pays sabacc ${line.amount}${line.short > 0 ? ` short ${line.short}` : ""}`;
    case "eliminated":
      return `${who} eliminated`;
    case "wins":
      return `${who} wins ${line.pot} ${line.amount}`;
    case "moves":
      return `${line.pot} moves sabacc ${line.amount}`;
    case "carries":
      return `pot carries ${line.amount}`;
    default:
      return `rake ${line.amount}`;
  }
}

export const tooMany = (amounts) => amounts.reduce((sum, amount) => sum + BigInt(amount), 0n) > BigInt(MOST);
