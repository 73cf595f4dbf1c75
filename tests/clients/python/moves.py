"""How a move is chosen and written down. Nothing here knows a game: all is read off `LegalMove`."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sabacc.common.v1.game_pb2 import LegalMove, Move, MoveArgument, MoveKind
from sabacc.table.v1.table_pb2 import HeldCard

# Moves that this player makes only where there is nothing else.
LAST = (MoveKind.MOVE_KIND_FOLD, MoveKind.MOVE_KIND_JUNK)
# TableService.StandUp makes this one; Act refuses it.
LEAVE = MoveKind.MOVE_KIND_LEAVE


def choose(legal: Sequence[LegalMove], chance: random.Random) -> tuple[LegalMove, Move]:
    """One of the legal moves with its arguments filled in, and the line of the list it is from."""
    offered = [one for one in legal if one.kind != LEAVE]
    offered = [one for one in offered if one.kind not in LAST] or offered
    chosen = chance.choice(offered)
    return chosen, fill_in(chosen, chance)


def fill_in(legal: LegalMove, chance: random.Random) -> Move:
    """A move of this kind, with a choice for each argument that it has."""
    move = Move(kind=legal.kind)
    for argument in legal.move_arguments:
        if argument == MoveArgument.MOVE_ARGUMENT_CARDS:
            count = chance.randint(legal.min_cards, legal.max_cards)
            move.cards.extend(chance.sample(list(legal.cards), count))
        elif argument == MoveArgument.MOVE_ARGUMENT_AMOUNT:
            move.amount_credits = legal.min_credits
        elif argument == MoveArgument.MOVE_ARGUMENT_SEAT:
            move.target_seat = chance.choice(legal.target_seats)
        elif argument == MoveArgument.MOVE_ARGUMENT_VALUE:
            move.value = chance.choice(legal.values)
        elif argument in (
            MoveArgument.MOVE_ARGUMENT_SIDE,
            MoveArgument.MOVE_ARGUMENT_PILE,
            MoveArgument.MOVE_ARGUMENT_TOKENS,
        ):
            move.names.extend(chance.sample(list(legal.names), legal.names_count))
        else:
            raise ValueError(f"an argument of the future: {argument}")
    return move


def verb(kind: int) -> str:
    """The word for a kind of move: its name in lower case, with hyphens."""
    name = MoveKind.Name(kind).removeprefix("MOVE_KIND_").lower().replace("_", "-")
    return "draw" if name == "draw-from" else name


def write(move: Move, seats: Sequence[int], seat: int, held: Sequence[HeldCard]) -> tuple[list[str], list[str]]:
    """The words of a decision: what everybody may know, and what may be secret when it is made.

    `seats` are those of the hand, p1 first; `held` are the cards of the player who decides.
    """
    open_words = [f"p{seats.index(seat) + 1}", verb(move.kind)]
    left = list(held)
    for code in move.cards:
        # Of cards that look alike, the first one that was not named yet.
        card = next(card for card in left if card.code == code)
        left.remove(card)
        # A card is named by where it lies: never by its face.
        open_words.append(f"{card.proof.op}.{card.proof.position}")
    choice = []
    if move.kind in (MoveKind.MOVE_KIND_BET, MoveKind.MOVE_KIND_RAISE):
        choice.append(str(move.amount_credits))
    choice.extend(move.names)
    if move.target_seat:
        choice.append(f"p{seats.index(move.target_seat) + 1}")
    if move.value:
        choice.append(str(move.value))
    return open_words, choice


def lines(
    move: Move, secret: bool, seats: Sequence[int], seat: int, held: Sequence[HeldCard]
) -> tuple[str, str]:
    """A decision as the chain takes it, and as it is said: with a secret choice in the clear."""
    open_words, choice = write(move, seats, seat, held)
    shown = ["??"] * len(choice) if secret else choice
    return " ".join(open_words + shown), " ".join(open_words + choice)
