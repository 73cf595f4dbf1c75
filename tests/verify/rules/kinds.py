"""Knows what a hand asks for and what it is answered: uses of chance, decisions, moves.

A game is a generator: it yields one of the questions below and is sent the answer. It never draws
anything itself.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

TOKENS = (
    "free-draw", "refund", "extra-refund", "embezzlement", "general-tariff", "target-tariff",
    "general-audit", "target-audit", "prime-sabacc", "markdown", "cook-the-books", "major-fraud",
    "embargo", "immunity", "exhaustion", "direct-transaction",
)


class Refused(Exception):
    """What the rules do not allow."""


@dataclass(frozen=True)
class Move:
    """A decision: its verb, and what the verb needs."""

    kind: str
    cards: tuple[int, ...] = ()
    amount: int = 0
    names: tuple[str, ...] = ()
    target: int | None = None
    value: int = 0


@dataclass(frozen=True)
class Shuffle:
    """Shuffle what is left of a pile, and then `add`, into the pile. Answer: nothing."""

    pile: int
    add: tuple[int, ...]


@dataclass(frozen=True)
class Restock:
    """After so many cards of the part the pile is empty: these discards are shuffled into it."""

    after: int
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """Cards from the top of one pile: so many, or up to the first one of `until`."""

    pile: int
    count: int
    restock: Restock | None = None
    until: frozenset[int] | None = None


@dataclass(frozen=True)
class Deal:
    """Cards for a player, or (None) for the table. Answer: the cards, as a list."""

    player: int | None
    parts: tuple[Part, ...]
    shown: bool
    why: str


@dataclass(frozen=True)
class Roll:
    """Dice, one entry of `sides` each. Answer: faces from 1. `card`: the Impostor that rolls."""

    sides: tuple[int, ...]
    why: str
    player: int | None = None
    card: int | None = None


@dataclass(frozen=True)
class Pulse:
    """A draw with a probability in parts per million. Answer: yes or no."""

    ppm: int


@dataclass(frozen=True)
class Pick:
    """One of n, from 0. Answer: the number."""

    n: int


@dataclass(frozen=True)
class Sample:
    """k different ones of n, from 0. Answer: the numbers. For one player, or for everybody."""

    n: int
    k: int
    player: int | None = None


@dataclass(frozen=True)
class Ask:
    """A decision of a player. Answer: his move; or `Left`, where the game wants to hear of it.

    `secret`: the cards a move names stay hidden when it is made so.
    """

    player: int
    default: Move
    hears_leaves: bool = False
    secret: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Left:
    """Somebody left while a decision was due, whosever."""

    player: int


Chance = Shuffle | Deal | Roll | Pulse | Pick | Sample
Question = Chance | Ask
Play = Generator[Question, Any, None]

STAND, CHECK, FOLD = Move("stand"), Move("check"), Move("fold")
