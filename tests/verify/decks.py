"""Knows the four packs of cards: which codes they have, and in which order.

A card is its index in its pack's list; the list never changes, since chance names cards by it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Deck:
    """A pack: the code of each card, by its id. Copies that are alike share a code."""

    name: str
    codes: tuple[str, ...]

    def alike(self, code: str) -> list[int]:
        """Every card that a code may mean."""
        return [card for card, other in enumerate(self.codes) if other == code]

    def faces(self) -> list[str]:
        """The different codes, in the order of the list."""
        return list(dict.fromkeys(self.codes))


FACES = ("Star", "Evil", "Moderation", "Demise", "Balance", "Endurance", "Queen", "Idiot")

S76 = Deck(
    "S76",
    tuple(f"{suit}{number}" for suit in "SFCT" for number in range(1, 16))
    + tuple(f"{face}{copy}" for face in FACES for copy in "AB"),
)

K44 = Deck(
    "K44",
    tuple(
        code
        for family in "sb"
        for code in (
            *(f"{family}{number}" for number in range(1, 7) for _ in range(3)),
            *(f"{family}I",) * 3,
            f"{family}Y",
        )
    ),
)

P42 = Deck(
    "P42",
    tuple(f"{rank}{suit}" for rank in range(1, 6) for suit in "SHDC" for _ in range(2))
    + ("6S", "6S"),
)

C62 = Deck(
    "C62",
    tuple(
        f"{suit}{sign}{number}" for suit in "cts" for sign in "+-" for number in range(1, 11)
    )
    + ("Y", "Y"),
)
