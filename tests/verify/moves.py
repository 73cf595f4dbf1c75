"""Knows how records write decisions: kinds by number, and which fields each kind has."""

from __future__ import annotations

from dataclasses import dataclass

from .proto import Message
from .rules.kinds import Move, Refused


@dataclass(frozen=True)
class Shape:
    """What a kind of move takes."""

    name: str
    cards: tuple[int, int] = (0, 0)
    amount: bool = False
    names: int = 0
    target: bool = False
    value: bool = False


SHAPES = {
    1: Shape("draw"),
    2: Shape("trade", cards=(1, 1)),
    3: Shape("stand"),
    4: Shape("lock", cards=(1, 1)),
    5: Shape("unlock", cards=(1, 1)),
    6: Shape("check"),
    7: Shape("bet", amount=True),
    8: Shape("match"),
    9: Shape("raise", amount=True),
    10: Shape("fold"),
    11: Shape("call-hand"),
    12: Shape("leave"),
    13: Shape("align", names=1),
    14: Shape("keep"),
    15: Shape("drop", cards=(1, 1)),
    16: Shape("choose", names=3),
    17: Shape("token", names=1, target=True),
    18: Shape("prime", value=True),
    19: Shape("draw-from", names=1),
    20: Shape("discard", cards=(1, 1)),
    21: Shape("impostor", cards=(1, 1), value=True),
    22: Shape("gain", cards=(0, 1)),
    23: Shape("swap", cards=(1, 1)),
    24: Shape("junk"),
    25: Shape("select", cards=(1, 5)),
    26: Shape("add", cards=(0, 5)),
}
SHAPE_OF = {shape.name: shape for shape in SHAPES.values()}
NONE = Shape("void")
VOID = 27
"""The kind of the decision that agrees to end a suspended hand: no game knows it."""


def is_void(sent: Message | None) -> bool:
    """Whether a recorded decision agrees to end a suspended hand."""
    return sent is not None and sent.kind == VOID


def line(
    player: int, move: Move, cards: list[Message], secret: frozenset[str]
) -> tuple[str, str]:
    """A decision as the chain takes it, and as it is said: with a secret choice in the clear. Cards
    are written as they lie."""
    words = [f"p{player + 1}", "draw" if move.kind == "draw-from" else move.kind]
    words += [f"{ref.op}.{ref.position}" for ref in cards]
    choice = [str(move.amount)] if SHAPE_OF.get(move.kind, NONE).amount else list(move.names)
    choice += [] if move.target is None else [f"p{move.target + 1}"]
    choice += [str(move.value)] if move.value else []
    hidden = ["??"] * len(choice) if move.kind in secret else choice
    return " ".join(words + hidden), " ".join(words + choice)


def read(sent: Message | None, cards: list[int], seats: list[int]) -> Move:
    """A recorded move with the cards that its record names."""
    if sent is None or sent.kind not in SHAPES:
        raise Refused("a decision without a move")
    shape = SHAPES[sent.kind]
    least, most = shape.cards
    fits = (
        least <= len(cards) <= most
        and (shape.amount or sent.amount_credits == 0)
        and len(sent.names) == shape.names
        and (shape.target or sent.target_seat == 0)
        and (1 <= sent.value <= 6 if shape.value else sent.value == 0)
        and (sent.target_seat == 0 or sent.target_seat in seats)
    )
    if not fits:
        raise Refused(f"this is no {shape.name}: a field is missing, or too much")
    target = seats.index(sent.target_seat) if sent.target_seat else None
    names = tuple(sent.names)
    return Move(shape.name, tuple(cards), sent.amount_credits, names, target, sent.value)
