// Credits of a finished hand at each step of its replay: stacks, the hand pot with its layers, the Sabacc Pot, what is carried.
// A fold of the story's lines. Pure.
//
// The story has no line for what an ante, a match or a fold costs: these follow from the rule set, the stacks and the
// settlement. The end is compared with the history's; where it differs, nothing of it is told, and `sure` is false.

/** A pot at one step, and how much more or less is in it than a step before. @typedef {{key: string, credits: number, change: number}} Pot */
/** Credits of a seat at one step: `inHand` is what it has put into the hand pot. @typedef {{stack: number, inHand: number}} SeatCredits */
/** @typedef {{pots: Pot[], seats: Map<number, SeatCredits>}} Credits */
/** What each player pays before the first card. @typedef {{hand: number, sabacc: number}} Antes */
/** @typedef {{name?: string, number?: string, text?: string}} Field */

/** Credits for each chip of Kessel, by the stakes. @type {Record<string, number>} */
const RATES = { lay: 15, pro: 25, tournament: 125 };

/**
 * Antes of a hand.
 *
 * @param {string} variant
 * @param {Field[]} given fields of the rule set that the history has
 * @param {Field[]} defaults fields of the game
 * @param {number} sabaccPot before the hand
 * @returns {Antes}
 */
export function antesOf(variant, given, defaults, sabaccPot) {
  // This preset of Corellian Spike has no antes of its own.
  const isFree = given.some(({ name, text }) => name === "preset" && text === "black-spire");
  const field = (/** @type {string} */ name) => [...given, ...(isFree ? [] : defaults)].find((one) => one.name === name);
  const number = (/** @type {string} */ name) => Number(field(name)?.number ?? 0);
  if (variant === "kessel") return { hand: number("chips") * (RATES[field("stakes")?.text ?? "lay"] ?? 0), sabacc: 0 };
  const isDue = field("sabacc_ante_when")?.text !== "when_empty" || sabaccPot === 0;
  return { hand: number("hand_ante"), sabacc: isDue ? number("sabacc_ante") : 0 };
}

/**
 * Credits at each of the steps.
 *
 * @param {import("./replay.js").Step[]} steps
 * @param {any} history HandHistory
 * @param {Antes} antes
 * @returns {{credits: Credits[], sure: boolean}}
 */
export function creditsOf(steps, history, antes) {
  const fold = new Fold(history, antes, steps.map(({ line }) => line));
  /** @type {Credits[]} */
  const credits = [];
  for (const { line } of steps) {
    fold.take(line);
    credits.push(fold.look(credits[credits.length - 1]?.pots ?? fold.before));
  }
  return { credits, sure: fold.agrees() };
}

/** @param {{who: string, what: string}} line @returns {[number, string]} seat, 0 for nobody of the players; what it does */
const read = (line) => [Number(/^seat (\d+)/.exec(line.who)?.[1] ?? 0), line.what.replace(/ \(the clock ran out\)$/, "")];

const PENALTY = /^pays (\d+) into the Sabacc Pot/;

/** @typedef {{seat: number, stack: number, paid: number, live: boolean, left: boolean, fined: boolean}} Player */

class Fold {
  /** @param {any} history @param {Antes} antes @param {Array<{who: string, what: string}>} lines */
  constructor(history, antes, lines) {
    this.history = history;
    this.antes = antes;
    this.reopens = history.variant === "electronic";
    /** p1 first. @type {Player[]} */
    this.players = [];
    this.hand = 0;
    this.sabacc = 0;
    this.carried = 0;
    /** Layers of the hand pot, main first, once it is being paid out. @type {Array<{credits: number, won: boolean}> | null} */
    this.layers = null;
    /** @type {Bets | null} */
    this.bets = null;
    this.begin();
    /** What a fold costs is told at the end alone. @type {Map<number, number>} */
    this.penalties = new Map();
    for (const line of lines) {
      const [seat, what] = read(line);
      const paid = PENALTY.exec(what);
      if (seat && paid) this.penalties.set(seat, Number(paid[1]));
    }
    /** Pots before the hand. @type {Pot[]} */
    this.before = this.look([]).pots;
  }

  /** Begins with what there was before the hand. */
  begin() {
    const { seats = [], startingStacks = [], sabaccPot, carriedPot } = this.history;
    this.players = seats.map((/** @type {string} */ seat, /** @type {number} */ at) => (
      { seat: Number(seat), stack: Number(startingStacks[at] ?? 0), paid: 0, live: true, left: false, fined: false }));
    [this.hand, this.sabacc, this.carried] = [0, Number(sabaccPot ?? 0), Number(carriedPot ?? 0)];
    [this.layers, this.bets] = [null, null];
  }

  /** @param {{who: string, what: string, log?: string}} line */
  take(line) {
    if (line.log === "wallet") return;
    const [seat, what] = read(line);
    const player = this.players.find((one) => one.seat === seat);
    if (player) return this.decided(player, what) || this.settled(player, what);
    if (/^takes the antes/.test(what)) for (const one of this.players) this.ante(one);
    if (/^(aborts the hand|gives everything back)/.test(what)) this.begin();
    this.settled(null, what);
  }

  /** @param {Player} player */
  ante(player) {
    this.pay(player, this.antes.hand);
    this.fine(player, this.antes.sabacc);
  }

  /** Pays into the hand pot as far as the stack goes. @param {Player} player @param {number} due */
  pay(player, due) {
    const paid = Math.min(due, player.stack);
    player.stack -= paid;
    player.paid += paid;
    this.hand += paid;
    return paid;
  }

  /** Pays into the Sabacc Pot. @param {Player} player @param {number} due */
  fine(player, due) {
    const paid = Math.min(due, player.stack);
    player.stack -= paid;
    this.sabacc += paid;
  }

  /** @param {Player} player */
  fold(player) {
    player.live = false;
    player.fined = this.penalties.has(player.seat);
    this.fine(player, this.penalties.get(player.seat) ?? 0);
  }

  /** Takes a line as a decision; false if it is none that moves credits. @param {Player} player @param {string} what */
  decided(player, what) {
    if (/^leaves the table/.test(what)) player.left = true;
    else if (/^junks /.test(what)) this.fold(player);
    else if (/^calls the hand/.test(what) && this.reopens) this.round(player).reopen(player);
    else {
      const bet = /^(checks|folds|matches the bet|bets (\d+)|raises to (\d+))$/.exec(what);
      if (!bet) return false;
      this.round(player).act(player, what, Number(bet[2] ?? bet[3] ?? 0));
    }
    this.bets?.passLeft(null);
    if (this.bets?.pending.size === 0) this.bets = null;
    return true;
  }

  /** The betting round in which somebody acts. @param {Player} player */
  round(player) {
    this.bets ??= new Bets(this);
    this.bets.passLeft(player);
    return this.bets;
  }

  /** Takes a line of the settlement. @param {Player | null} player @param {string} what */
  settled(player, what) {
    const amount = Number(/ (\d+)/.exec(what)?.[1] ?? 0);
    const pot = / from (the hand pot|the credits pot|side pot (\d+)|the Sabacc Pot)/.exec(what);
    const layer = Number(pot?.[2] ?? 0);
    if (player && /^gets back \d+ that nobody matched/.test(what)) {
      [player.paid, player.stack, this.hand] = [player.paid - amount, player.stack + amount, this.hand - amount];
    } else if (player && PENALTY.test(what)) {
      if (!player.fined) this.fine(player, amount);
    } else if (player && pot && /^wins \d/.test(what)) {
      player.stack += amount;
      if (pot[1] === "the Sabacc Pot") this.sabacc -= amount;
      else this.payOut(layer, amount);
    } else if (!player && pot && /^moves \d+ from /.test(what)) {
      this.payOut(layer, amount);
      this.sabacc += amount;
    } else if (!player && /^carries \d+ over/.test(what)) {
      this.takeOut(amount);
      this.carried += amount;
    } else if (!player && /^takes \d+ for the house/.test(what)) {
      this.takeOut(amount);
    }
  }

  /** The hand pot's layers, cut when the first of them is paid out: a carried pot goes into the lowest. */
  cut() {
    if (this.layers) return this.layers;
    this.hand += this.carried;
    const live = this.players.filter((one) => one.live).map((one) => one.paid);
    const layers = this.layersAt(live).map((credits) => ({ credits, won: false }));
    this.carried = 0;
    return (this.layers = layers);
  }

  /** Layers of the hand pot, cut at these contributions. @param {number[]} contributions */
  layersAt(contributions) {
    const levels = [...new Set(contributions)].filter((paid) => paid > 0).sort((one, other) => one - other);
    // What was carried is in the hand pot beyond all contributions.
    const beyond = Math.max(0, this.hand - this.players.reduce((sum, one) => sum + one.paid, 0));
    let below = 0;
    const layers = levels.map((level, at) => {
      const up = this.players.reduce((sum, one) => sum + Math.max(0, Math.min(one.paid, level) - below), at === 0 ? beyond : 0);
      below = level;
      return up;
    });
    if (layers.length === 0) return [this.hand];
    layers[layers.length - 1] += this.hand - layers.reduce((sum, one) => sum + one, 0);
    return layers;
  }

  /** Pays out of one layer. @param {number} at @param {number} amount */
  payOut(at, amount) {
    const layer = this.cut()[at];
    if (!layer) return;
    layer.credits -= amount;
    layer.won = true;
    this.hand -= amount;
  }

  /** Takes out of what is left, first of what nobody won. @param {number} amount */
  takeOut(amount) {
    for (const layer of [...this.cut()].sort((one, other) => Number(one.won) - Number(other.won))) {
      const part = Math.min(layer.credits, amount);
      layer.credits -= part;
      this.hand -= part;
      amount -= part;
    }
  }

  /** Credits as they are now. @param {Pot[]} before pots of the step before @returns {Credits} */
  look(before) {
    const layers = this.layers?.map((one) => one.credits) ?? this.layersInPlay();
    /** @type {Array<[string, number]>} */
    const now = [...layers.map((credits, at) => /** @type {[string, number]} */ ([at ? `side-${at}` : "main", credits])), ["sabacc", this.sabacc], ["carried", this.carried]];
    const of = (/** @type {string} */ key) => before.find((one) => one.key === key)?.credits ?? 0;
    const gone = before.filter((one) => !now.some(([key]) => key === one.key)).map((one) => /** @type {[string, number]} */ ([one.key, 0]));
    return {
      pots: [...now, ...gone].map(([key, credits]) => ({ key, credits, change: credits - of(key) })),
      seats: new Map(this.players.map((one) => [one.seat, { stack: one.stack, inHand: one.paid }])),
    };
  }

  /** While it is played for, the hand pot has as many layers as somebody who is all-in makes. */
  layersInPlay() {
    const live = this.players.filter((one) => one.live);
    const most = Math.max(0, ...live.map((one) => one.paid));
    return this.layersAt([...live.filter((one) => one.stack === 0).map((one) => one.paid), most]);
  }

  /** Whether the hand ended with what the history says. */
  agrees() {
    const { finishingStacks, finishingSabaccPot, finishingCarriedPot } = this.history;
    if (!finishingStacks) return true;
    const stacks = finishingStacks.amounts ?? [];
    return this.hand === 0
      && this.sabacc === Number(finishingSabaccPot ?? 0)
      && this.carried === Number(finishingCarriedPot ?? 0)
      && this.players.every((one, at) => one.stack === Number(stacks[at] ?? 0));
  }
}

/** A betting round: what each has paid in it, and who must still act. Who has left is folded, or checks, without a line. */
class Bets {
  /** @param {Fold} fold */
  constructor(fold) {
    this.fold = fold;
    /** @type {Map<Player, number>} */
    this.paid = new Map();
    this.highest = 0;
    this.pending = new Set(this.able());
    /** Who acts next, where it is known. @type {Player | undefined} */
    this.turn = this.able()[0];
  }

  able() { return this.fold.players.filter((one) => one.live && one.stack > 0); }

  /** @param {Player} player */
  reopen(player) {
    this.pending = new Set(this.able());
    this.turn = player;
  }

  /** @param {Player} player @param {string} what @param {number} amount */
  act(player, what, amount) {
    const before = this.paid.get(player) ?? 0;
    this.pending.delete(player);
    if (what === "folds") this.fold.fold(player);
    if (what.startsWith("matches")) this.pay(player, this.highest);
    if (what.startsWith("bets")) this.raise(player, before + amount);
    if (what.startsWith("raises")) this.raise(player, amount);
    this.turn = this.after(player);
  }

  /** Pays up to a total of this round. @param {Player} player @param {number} total */
  pay(player, total) {
    const before = this.paid.get(player) ?? 0;
    this.paid.set(player, before + this.fold.pay(player, total - before));
  }

  /** @param {Player} player @param {number} total */
  raise(player, total) {
    this.pay(player, total);
    this.highest = total;
    this.pending = new Set(this.able().filter((one) => one !== player));
  }

  /** Next player clockwise who must still act. @param {Player} player */
  after(player) {
    const { players } = this.fold;
    const from = players.indexOf(player);
    return players.map((_, at) => players[(from + 1 + at) % players.length]).find((one) => one && this.pending.has(one));
  }

  /** Lets those act who have left, up to this player. @param {Player | null} until */
  passLeft(until) {
    while (this.turn?.left && this.turn !== until) this.act(this.turn, (this.paid.get(this.turn) ?? 0) < this.highest ? "folds" : "checks", 0);
  }
}
