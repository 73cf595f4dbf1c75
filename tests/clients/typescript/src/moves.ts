// Moves, from what `LegalMove` says alone: this client knows no game.

import { create } from "@bufbuild/protobuf";
import { type LegalMove, type Move, MoveArgument, MoveKind, MoveSchema } from "../gen/sabacc/common/v1/game_pb.js";
import type { HandState } from "./table.js";

// A whole number below `n`, which is at least 1.
export type Below = (n: number) => number;

export const randomly: Below = (n) => Math.floor(Math.random() * n);

// Picks a move: one of those that do not end the player's part in the hand, while there is one. Three times of four
// credits are not raised where something else is legal, so that hands come to an end.
export function pick(legal: LegalMove[], below: Below): Move {
  const ends = [MoveKind.LEAVE, MoveKind.FOLD, MoveKind.JUNK, MoveKind.VOID];
  const going = legal.filter(({ kind }) => !ends.includes(kind));
  const calm = going.filter(({ moveArguments }) => !moveArguments.includes(MoveArgument.AMOUNT));
  const choices = [below(4) > 0 ? calm : going, going, legal.filter(({ kind }) => kind !== MoveKind.LEAVE)];
  const from = choices.find((some) => some.length > 0) ?? [];
  const chosen = from[below(from.length)];
  if (!chosen) throw new Error("no move is legal that this client could make");
  return fill(chosen, below);
}

// Fills in what each argument says, from the choices in the list.
export function fill(legal: LegalMove, below: Below): Move {
  const move = create(MoveSchema, { kind: legal.kind });
  for (const argument of legal.moveArguments) {
    switch (argument) {
      case MoveArgument.CARDS:
        move.cards = some(legal.cards, legal.minCards + below(legal.maxCards - legal.minCards + 1), below);
        break;
      case MoveArgument.AMOUNT:
        // The least that is taken: random amounts would have everybody all-in at once.
        move.amountCredits = legal.minCredits;
        break;
      case MoveArgument.SIDE:
      case MoveArgument.PILE:
      case MoveArgument.TOKENS:
        move.names = some(legal.names, legal.namesCount, below);
        break;
      case MoveArgument.SEAT:
        move.targetSeat = legal.targetSeats[below(legal.targetSeats.length)] ?? 0;
        break;
      case MoveArgument.VALUE:
        move.value = legal.values[below(legal.values.length)] ?? 0;
        break;
      default:
        throw new Error(`an argument of the future: ${argument}`);
    }
  }
  return move;
}

// So many different items of a list, in its order.
function some<T>(items: T[], count: number, below: Below): T[] {
  let wanted = count;
  return items.filter((_, at) => {
    const taken = below(items.length - at) < wanted;
    if (taken) wanted -= 1;
    return taken;
  });
}

// The line of a decision as the chain takes it and its player signs it, section 9.2 of crates/fairness/SPEC.md: cards
// by where they lie, secret choices as `??`, or in the clear where `said`.
export function lineOf(
  move: Move,
  legal: LegalMove,
  verb: string,
  seat: number,
  hand: HandState,
  said: boolean,
): string {
  const player = (number: number) => `p${hand.order.indexOf(number) + 1}`;
  const words = [player(seat), verb];
  for (const argument of legal.moveArguments) {
    const shown = (word: string) => (legal.secret && !said ? "??" : word);
    if (argument === MoveArgument.CARDS) words.push(...handles(move.cards, hand));
    else if (argument === MoveArgument.AMOUNT) words.push(shown(String(move.amountCredits)));
    else if (argument === MoveArgument.SEAT) words.push(shown(player(move.targetSeat)));
    else if (argument === MoveArgument.VALUE) words.push(shown(String(move.value)));
    else words.push(...move.names.map(shown));
  }
  return words.join(" ");
}

// Where the named cards lie. Of copies that look alike, each code takes the first that is not taken yet.
function handles(codes: string[], hand: HandState): string[] {
  const left = [...hand.cards];
  return codes.map((code) => {
    const at = left.findIndex((held) => held.code === code);
    const proof = at < 0 ? undefined : left.splice(at, 1)[0]?.proof;
    if (!proof) throw new Error(`nothing shows where ${code} lies`);
    return `${proof.op}.${proof.position}`;
  });
}
