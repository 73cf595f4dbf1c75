// The hand, dealt again from the seed and played again by the rules, record by record. Faces and results come from the
// seed alone; what is on record of them is only compared. Where the rules or the seed refuse a record the walk stops.

import { equal, same } from "../bytes.js";
import { NoCrypto } from "../digest.js";
import { saltOf } from "../fair.js";
import { Hand, Refused } from "../rules/hand.js";
import { makeMove, sameMove } from "../rules/moves.js";
import { BadRules, MOST, readRules } from "../rules/ruleset.js";
import { MOVE_KINDS } from "../schema.js";
import { AGREED } from "./aborts.js";
import { Trouble, failed, hold } from "./case.js";
import { Clock } from "./clock.js";
import { askedLeaves } from "./leaves.js";
import { Places } from "./places.js";
import { keysOf } from "./promises.js";
import { Shoe } from "./shoe.js";
import { missedBefore, tableBefore } from "./start.js";

const SEATS = 8;
const EMPTY = new Uint8Array();
const POSITIONS = 1 << 16;
const AMOUNTS = ["bet", "raise"];

// Credits of a record as the rules count them.
export function credits(amount) {
  hold(amount <= BigInt(MOST), "an amount of credits is out of range");
  return Number(amount);
}

export class Stop extends Error {
  // `check`: of which check it is a failure; null where records are missing.
  constructor(check, why) {
    super(why);
    this.check = check;
  }
}

function stopping(check, act) {
  try {
    return act();
  } catch (error) {
    if (error instanceof Trouble || error instanceof Refused || error instanceof BadRules)
      throw new Stop(check, error.message);
    throw error;
  }
}

export class Walk {
  constructor(records) {
    this.records = records;
    this.troubles = new Map();
    this.stop = null;
    // Why there is no walk to speak of: records that no service writes.
    this.broken = null;
    // What each record of the hand's stream was to the rules, by position.
    this.steps = new Map();
    // Decisions as the chain takes them; `said`: with a choice that is secret when made in the clear.
    this.lines = [];
    // The chain with each decision and each asked leave in it, by position, once signatures were checked.
    this.chain = new Map();
    // Who agrees to end the hand, while it is suspended.
    this.agreed = null;
    this.deals = [];
    // What the dealer may have done already of a hand that was aborted then.
    this.ahead = [];
    this.end = null;
    this.shown = new Map();
    this.notes = [];
    this.layout = null;
  }

  static async of(records) {
    const walk = new Walk(records);
    try {
      await walk.run();
    } catch (error) {
      if (error instanceof Stop) walk.stop = error;
      else if (error instanceof NoCrypto) walk.stop = new Stop(null, error.message);
      else walk.broken = `the check cannot deal with these records: ${error}`;
    }
    if (walk.clock) walk.notes.push(...walk.clock.notes);
    return walk;
  }

  // The hand was played again as far as its records go.
  get isWhole() {
    return this.stop === null && this.broken === null;
  }

  // What the walk says to one check; throws where it is no pass.
  judge(check) {
    if (this.broken !== null) throw failed(this.broken);
    if (this.troubles.has(check)) throw failed(this.troubles.get(check));
    if (!this.stop) return;
    if (this.stop.check === check) throw failed(this.stop.message);
    throw new Trouble("not_possible", `the hand cannot be replayed to its end: ${this.stop.message}`);
  }

  trouble(check, why) {
    if (!this.troubles.has(check)) this.troubles.set(check, why);
  }

  async run() {
    const { records } = this;
    const opened = records.find("HandOpened");
    if (records.aborted && !records.find("HandSealed")) {
      if (opened) this.openUnplayed(opened);
      return;
    }
    if (!opened) throw new Stop(null, "the opening of the hand is not among the records");
    stopping("decisions", () => this.open(opened));
    let keys;
    try {
      keys = await keysOf(records);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      throw new Stop(null, error.message);
    }
    this.shoe = new Shoe(keys);
    for (const record of records.hand) {
      try {
        await this.step(record);
      } catch (error) {
        if (!(error instanceof Stop)) throw error;
        throw new Stop(error.check, `position ${record.position} of the table's log: ${error.message}`);
      }
    }
    if (records.aborted) {
      this.checkShown([...this.shown.keys()]);
      await this.lookAhead();
      return;
    }
    if (!this.end) throw new Stop(null, "the hand is not over");
    this.checkShown([...this.end.shown.keys(), ...this.shown.keys()]);
    const finished = this.records.find("HandFinished");
    if (finished && !this.clock.missed(finished.event.misses)) {
      this.trouble("clocks", "the table counts other clocks missed in a row than the hand has");
    }
  }

  // Nothing was played: the rules are only for who reads the story.
  openUnplayed(opened) {
    try {
      stopping(null, () => this.open(opened));
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      this.hand = null;
    }
  }

  open({ event, time }) {
    const rules = readRules(event.rule_set);
    hold(
      event.roster.every(({ seat }) => seat >= 1 && seat <= SEATS),
      "a seat's number is out of range",
    );
    this.seats = event.roster.map(({ seat }) => seat);
    const [sabaccPot, carriedPot] = [credits(event.sabacc_pot), credits(event.carried_pot)];
    this.hand = new Hand({
      rules,
      seats: this.seats,
      stacks: event.roster.map(({ stack }) => credits(stack)),
      sabaccPot,
      carriedPot,
    });
    this.deck = rules.deck;
    const when = rules.sabacc_ante_when === "when_empty" && sabaccPot > 0;
    this.ante = when ? 0 : (rules.sabacc_ante ?? 0);
    this.places = new Places();
    this.clock = new Clock(this.settings(), this.missedBefore(event.roster), time);
    this.since = time;
  }

  settings() {
    try {
      return this.records.settings;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      throw new Stop(null, error.message);
    }
  }

  missedBefore(roster) {
    try {
      return missedBefore(tableBefore(this.records), roster);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      return roster.map(() => null);
    }
  }

  async step(record) {
    const { name, event, time, keptBack } = record;
    if (keptBack) return;
    if (name === "HandSealed") {
      this.clock.dueAt = time;
      this.since = time;
    } else if (name === "ChanceUsed") await this.chance(record);
    else if (name === "CardsMoved") stopping("cards", () => this.cards(record));
    else if (name === "MoveDecided") stopping("decisions", () => this.decision(record));
    else if (name === "ClockResumed") {
      const wrong = this.clock.resume(event, this.hand.decision?.player ?? null, time);
      if (wrong) this.trouble("clocks", wrong);
    } else if (name === "CardsShown") {
      if (!this.end) this.trouble("cards", `seat ${event.seat} shows before the end`);
      if (this.shown.has(event.seat)) this.trouble("cards", `seat ${event.seat} shows its hand twice`);
      this.shown.set(event.seat, event.cards);
      for (const card of event.cards) await this.checkSalt(card);
    } else if (name === "HandSuspended") {
      this.agreed = new Set();
      this.clock.suspend(time);
    } else if (name === "HandContinued") {
      this.agreed = null;
      const wrong = this.clock.goOn(event, this.hand.decision?.player ?? null, time);
      if (wrong) this.trouble("clocks", wrong);
    } else if (name === "HandAborted") this.ended(record);
    else if (name === "HandSettled" && !this.end) {
      throw new Stop("settlement", "settled before the rules end the hand");
    }
  }

  // The operation that the rules call for; of a restock, the next one on the way of the deal that is due.
  called(restock) {
    const { due } = this.hand;
    hold(due, "a use of chance where none is due");
    if (!restock) return this.places.ask(due);
    hold(due.kind === "deal" && !due.until, "a restock where no deal is due");
    this.layout ??= this.places.layOut(due, 0);
    const next = this.layout.restocks.shift();
    hold(next, "a restock of a pile that does not run out");
    return next;
  }

  async chance(record) {
    const { operation, result, restock } = record.event;
    const { due } = this.hand;
    stopping("operations", () => {
      hold(operation && result, "an operation without content");
      hold(same(this.called(restock), operation), "another operation of chance than the rules call for");
    });
    let made;
    try {
      made = await this.shoe.perform(operation);
    } catch (error) {
      if (error instanceof Trouble) throw new Stop("operations", error.message);
      throw error;
    }
    const [given, own] = [result.values.join(" "), made.result.values.join(" ")];
    if (result.index !== operation.index || given !== own) {
      throw new Stop("operations", `operation ${operation.index} gave ${given} on record, the seed gives ${own}`);
    }
    if (!equal(result.root, made.result.root)) {
      this.trouble("operations", `the root of the cards of operation ${operation.index} is not the one the seed gives`);
    }
    if (restock) return;
    stopping("operations", () => this.hand.chance(made.outcome));
    this.steps.set(record.position, { due, outcome: made.outcome });
    this.evolved(record.time);
  }

  cards(record) {
    const { seat, cards } = record.event;
    const { due } = this.hand;
    hold(due?.kind === "deal", "cards where no deal is due");
    hold(seat === this.seatOf(due.to), "cards for another seat");
    const { restocks, places } = this.takeLayout(due, cards.length);
    hold(restocks.length === 0, "cards before the restock they need");
    hold(
      places.length === cards.length &&
        places.every(({ op, position }, at) => cards[at].op === op && cards[at].position === position),
      "a deal of other cards than the top of the pile",
    );
    const faces = places.map((place) => this.shoe.face(place));
    hold(!faces.includes(null), "a card that no shuffle put there");
    const open = due.shown;
    this.hand.chance(faces);
    faces.forEach((face, at) => this.places.learn(places[at], face));
    for (const card of cards) this.compare(card, open);
    this.deals.push({ places, audience: open ? 0 : seat, since: this.since, done: true });
    this.steps.set(record.position, { due, outcome: faces });
    this.evolved(record.time);
  }

  takeLayout(due, count) {
    const layout = this.layout ?? this.places.layOut(due, count);
    this.layout = null;
    return layout;
  }

  seatOf(player) {
    return player === null ? 0 : this.seats[player];
  }

  // A shown card has the salt that the seed gives to its place.
  async checkSalt(card) {
    const { op, position } = card;
    const own = card.card !== "" && position < POSITIONS ? await saltOf(this.shoe.keys, op, position) : EMPTY;
    if (!equal(card.salt, own)) this.trouble("cards", `the salt of ${op}:${position} is not the seed's`);
  }

  // A card on record: its face, and what proves it, where everybody sees it.
  compare(card, open) {
    const face = this.shoe.face(card);
    const fits = card.card === (open ? this.deck.code(face) : "");
    if (fits && equal(card.salt, open ? this.shoe.saltOf(card) : EMPTY)) return;
    const problem = open ? "is not the one the seed put there" : "is hidden, and written";
    this.trouble("cards", `the card at position ${card.position} of shuffle ${card.op} ${problem}`);
  }

  decision(record) {
    const { event, time } = record;
    const { decision } = this.hand;
    const fallback = decision && this.hand.decide(decision.player, decision.fallback);
    const player = this.seats.indexOf(event.seat);
    hold(player >= 0, "a decision of a seat that is not in the hand");
    if (MOVE_KINDS[event.move?.kind] === "void") {
      this.note(record, makeMove("void"), player);
      this.agree(record, player);
      this.steps.set(record.position, { player, move: makeMove("void"), byClock: false });
      return;
    }
    const move = this.hand.decide(player, this.moveOf(event));
    this.note(record, move, player);
    if (this.agreed && move.verb !== "leave")
      this.trouble("decisions", `turn ${event.turn}: seat ${event.seat} decided while the hand was suspended`);
    if (event.turn !== this.clock.turn)
      this.trouble("decisions", `the decision of turn ${this.clock.turn} is recorded as turn ${event.turn}`);
    if (event.by_clock && !(decision.player === player && sameMove(fallback, move))) {
      this.trouble(
        "decisions",
        `turn ${this.clock.turn}: the clock decided for seat ${event.seat} what is not the default`,
      );
    }
    this.checkNamed(event, move);
    const wrong = this.clock.decided(player, move.verb, event, time);
    if (wrong) this.trouble("clocks", wrong);
    this.steps.set(record.position, { player, move, byClock: event.by_clock });
    this.since = time;
    this.hand.take(player, move);
    this.evolved(time);
  }

  // A decision as the chain takes it: cards as they lie, a secret choice hidden, and in the clear as it is said.
  note({ position, event }, move, player) {
    const { seat, by_clock: byClock, signature } = event;
    const words = [`p${player + 1}`, move.verb === "draw-from" ? "draw" : move.verb];
    const cards = move.verb === "void" ? [] : event.cards;
    words.push(...cards.map(({ op, position: place }) => `${op}.${place}`));
    const choice = AMOUNTS.includes(move.verb) ? [move.amount] : [...move.names];
    if (move.target !== null) choice.push(`p${move.target + 1}`);
    if (move.value !== 0) choice.push(move.value);
    const hidden = move.verb !== "void" && this.hand.hides(this.hand, move);
    const line = [...words, ...(hidden ? choice.map(() => "??") : choice)].join(" ");
    const [leaves, voids] = [move.verb === "leave", move.verb === "void"];
    this.lines.push({ position, seat, byClock, leaves, voids, line, said: [...words, ...choice].join(" "), signature });
  }

  // Who must agree to end a suspended hand, at this place: who is in it and has not asked to leave it before.
  votersAt(position) {
    const { core } = this.hand;
    const left = askedLeaves(this.records).filter((leave) => leave.position < position);
    const isIn = (player) => !core.left.has(player) && !left.some((leave) => leave.player === player);
    return core.inOrder.filter(isIn);
  }

  agree({ position, event: { seat, by_clock: byClock } }, player) {
    const told = (why) => `seat ${seat} agreed to end the hand, and ${why}`;
    hold(this.agreed && !byClock, () => told("it was not suspended, or the clock decided"));
    const votes = this.votersAt(position).includes(player) && !this.agreed.has(player);
    hold(votes, () => told("was not in it, or had agreed before"));
    this.agreed.add(player);
  }

  // The hand came to nothing: by agreement only where all have agreed. Where everybody has asked to leave there is nobody to
  // agree.
  ended({ position, event }) {
    const all = this.agreed?.size > 0 && this.votersAt(position).every((player) => this.agreed.has(player));
    if (event.cause === AGREED && !all)
      this.trouble("decisions", "the hand was ended by agreement, and not all had agreed");
  }

  // A recorded move with its cards.
  moveOf({ move, cards }) {
    hold(move, "a decision without a move");
    const verb = MOVE_KINDS[move.kind];
    hold(verb, "a decision that is no move");
    const named = cards.map((place) => this.places.at(place));
    hold(!named.includes(null), "a decision names a card that has no known place");
    const target = move.target_seat === 0 ? null : this.seats.indexOf(move.target_seat);
    hold(target === null || target >= 0, "nobody in this hand has the targeted seat");
    const made = makeMove(verb, {
      cards: named,
      amount: credits(move.amount),
      names: move.names,
      target,
      value: move.value,
    });
    hold(verb !== "leave" || sameMove(made, makeMove("leave")), "leaving names nothing");
    return made;
  }

  // The cards a decision names are written down as the rules let everybody see them.
  checkNamed({ move, cards }, meant) {
    const open = !this.hand.hides(this.hand, meant);
    const fits = (card, at) => {
      const place = this.places.of(meant.cards[at]);
      const same = place && place.op === card.op && place.position === card.position;
      return (
        same &&
        card.card === (open ? this.deck.code(meant.cards[at]) : "") &&
        equal(card.salt, open ? this.shoe.saltOf(place) : EMPTY)
      );
    };
    if (move.cards.length === 0 && cards.length === meant.cards.length && cards.every(fits)) return;
    this.trouble(
      "cards",
      `turn ${this.clock.turn}: the cards of the decision are not written as they lie, or one that is hidden is written down`,
    );
  }

  evolved(time) {
    this.clock.movedOn(this.hand.decision !== null, time);
    if (this.hand.settlement && !this.end) this.end = this.endOf(this.hand.settlement, time);
  }

  // The rules' end of the hand.
  endOf(settlement, at) {
    const sabaccWon = settlement.lines.some(({ kind, pot }) => kind === "wins" && pot === "sabacc");
    const sabaccPaid = this.seats.map(() => (sabaccWon ? 0 : this.ante));
    // What a winner took is nobody's any more.
    for (const { kind, player, amount } of settlement.lines)
      if (kind === "pays" && !sabaccWon) sabaccPaid[player] += amount;
    const shown = new Map(settlement.shown.map((player) => [this.seats[player], settlement.hands[player].cards]));
    return { settlement, sabaccPaid, sabaccWon, shown, at };
  }

  // Who shows, shows all of his hand and nothing else.
  checkShown(seats) {
    const line = (place, code) =>
      `${String(place.op).padStart(10, "0")}:${String(place.position).padStart(10, "0")} ${code}`;
    for (const seat of new Set(seats)) {
      const expected = this.end?.shown.get(seat)?.map((card) => line(this.places.of(card), this.deck.code(card)));
      const own = this.shown.get(seat);
      const all = own
        ?.map((card) => line(card, card.card))
        .sort()
        .join();
      if (all !== expected?.sort().join()) {
        this.trouble("cards", `what seat ${seat} shows at the end is not what the rules show of it`);
      }
    }
  }

  // The dealer is asked first: of an aborted hand it may have done already what was due. What would come of more
  // operations than it has performed is nobody's business, and may be much.
  async lookAhead() {
    const most = this.records.all("OperationPerformed").length - this.records.all("ChanceUsed").length;
    for (let due = this.hand.due; due; due = this.hand.due) {
      if (this.ahead.length >= most && due.kind !== "deal") return;
      await this.foresee(due);
    }
    if (this.hand.settlement && !this.end) this.end = this.endOf(this.hand.settlement, this.since);
  }

  // What the seed gives for what is due, in words; none for a shuffle.
  async foresee(due) {
    if (due.kind !== "deal") {
      const { result, outcome } = await this.performAhead(this.places.ask(due));
      this.hand.chance(outcome);
      if (due.kind === "pulse") return outcome ? "a pulse" : "no pulse";
      return due.kind === "shuffle" ? "" : `${due.kind === "roll" ? "dice" : due.kind}: ${result.values.join(" ")}`;
    }
    const { restocks, places } = this.takeLayout(due, due.until ? this.countUntil(due) : 0);
    for (const operation of restocks) await this.performAhead(operation);
    const faces = places.map((place) => this.shoe.face(place));
    this.hand.chance(faces);
    faces.forEach((face, at) => this.places.learn(places[at], face));
    this.deals.push({ places, audience: due.shown ? 0 : this.seatOf(due.to), since: this.since, done: false });
    const where = due.to === null ? "on the table" : `seat ${this.seatOf(due.to)}`;
    return `${where}: ${faces.map((face) => this.deck.code(face)).join(" ")}`;
  }

  countUntil(due) {
    return this.places.rest(due.parts[0].pile).findIndex((place) => due.until(this.shoe.face(place))) + 1;
  }

  async performAhead(operation) {
    const made = await this.shoe.perform(operation);
    this.ahead.push({ operation, result: made.result });
    return made;
  }
}
