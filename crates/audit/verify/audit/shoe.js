// Chance made again from the seed: every operation, every card, every salt.

import { deckOf, pick, pulse, roll, sample, shuffle } from "../fair.js";
import { failed, hold } from "./case.js";

const EMPTY = new Uint8Array();

export class Shoe {
  constructor(keys) {
    this.keys = keys;
    this.decks = new Map();
  }

  // The result that the log must have, and what it means to the rules.
  async perform({ index, kind, [kind]: body }) {
    const result = (values, root = EMPTY) => ({ index, values, root });
    if (kind === "shuffle") {
      const input =
        body.cards.length > 0
          ? body.cards.map((place) => this.face(place))
          : Array.from({ length: body.fresh }, (_, at) => body.first_fresh + at);
      hold(input.length > 0 && !input.includes(null), "a shuffle of cards that are not there");
      const cards = await shuffle(this.keys, index, body.pile, input);
      const { root, salts } = await deckOf(this.keys, index, cards);
      this.decks.set(index, { cards, salts });
      return { result: result([cards.length], root), outcome: null };
    }
    if (kind === "roll") {
      const faces = await roll(this.keys, index, body.sides);
      return { result: result(faces), outcome: faces };
    }
    if (kind === "pulse") {
      const shifts = await pulse(this.keys, index, body.ppm);
      return { result: result([shifts]), outcome: shifts === 1 };
    }
    if (kind === "pick") {
      const picked = await pick(this.keys, index, body.n);
      return { result: result([picked]), outcome: picked };
    }
    if (kind !== "sample") throw failed("an operation that is none");
    const drawn = await sample(this.keys, index, body.n, body.k);
    return { result: result(drawn), outcome: drawn };
  }

  // The card that a shuffle put there, or null.
  face({ op, position }) {
    return this.decks.get(op)?.cards[position] ?? null;
  }

  // What a record must show with an open card.
  saltOf({ op, position }) {
    return this.decks.get(op)?.salts[position] ?? EMPTY;
  }
}
