// Where every card of a hand lies, by shuffle and position: the records speak of places, the rules of cards.

import { failed, hold } from "./case.js";

const nameOf = ({ op, position }) => `${op}:${position}`;

// An operation in the shape in which it is read.
export function operationOf(index, kind, body) {
  return { index, kind, shuffle: null, roll: null, pulse: null, pick: null, sample: null, [kind]: body };
}

export class Places {
  constructor() {
    this.piles = new Map();
    this.placeOf = new Map();
    this.cardAt = new Map();
    this.nextOp = 0;
  }

  // What remains of a pile, from the top.
  rest(pile) {
    const { op, next, length } = this.piles.get(pile) ?? { op: 0, next: 0, length: 0 };
    return Array.from({ length: length - next }, (_, at) => ({ op, position: next + at }));
  }

  take(pile) {
    const from = this.piles.get(pile);
    hold(from && from.next < from.length, "more cards leave a pile than it has");
    from.next += 1;
    return { op: from.op, position: from.next - 1 };
  }

  learn(place, card) {
    this.placeOf.set(card, place);
    this.cardAt.set(nameOf(place), card);
  }

  of(card) {
    return this.placeOf.get(card) ?? null;
  }

  at(place) {
    return this.cardAt.get(nameOf(place)) ?? null;
  }

  index() {
    this.nextOp += 1;
    return this.nextOp - 1;
  }

  // Shuffles what remains of a pile, then `add`, into that pile.
  shuffle(pile, add) {
    const rest = this.rest(pile);
    const fresh = add.length > 0 && rest.length === 0 && add.every((card) => !this.placeOf.has(card));
    const body = { pile, fresh: 0, first_fresh: 0, cards: [] };
    if (fresh) Object.assign(body, { fresh: add.length, first_fresh: add[0] });
    else {
      const added = add.map((card) => {
        const place = this.placeOf.get(card);
        hold(place, "a card is shuffled that has no known place");
        this.placeOf.delete(card);
        this.cardAt.delete(nameOf(place));
        return place;
      });
      body.cards = [...rest, ...added];
    }
    const index = this.index();
    this.piles.set(pile, { op: index, next: 0, length: fresh ? add.length : body.cards.length });
    return operationOf(index, "shuffle", body);
  }

  // A use of chance as the dealer is asked for it.
  ask(due) {
    switch (due.kind) {
      case "shuffle":
        return this.shuffle(due.pile, due.add);
      case "roll":
        return operationOf(this.index(), "roll", { sides: due.sides });
      case "pulse":
        return operationOf(this.index(), "pulse", { ppm: due.ppm });
      case "pick":
        return operationOf(this.index(), "pick", { n: due.n });
      case "sample":
        return operationOf(this.index(), "sample", { n: due.n, k: due.k });
      default:
        throw failed("a deal is no operation of chance");
    }
  }

  // Where the cards of a deal come from, and the shuffles of discards on the way. A deal of unknown size takes `count`.
  layOut(deal, count) {
    const layout = { restocks: [], places: [] };
    if (deal.until) {
      for (let taken = 0; taken < count; taken += 1) layout.places.push(this.take(deal.parts[0].pile));
      return layout;
    }
    for (const part of deal.parts) {
      for (let taken = 0; taken < part.count; taken += 1) {
        if (part.restock?.after === taken) layout.restocks.push(this.shuffle(part.pile, part.restock.cards));
        layout.places.push(this.take(part.pile));
      }
    }
    return layout;
  }
}
