"""Knows what two cards of Kessel are worth, with the tokens that change it."""

from __future__ import annotations

from dataclasses import dataclass

from ..decks import K44


@dataclass
class Fixes:
    """Tokens that hold until the reveal."""

    prime: int | None = None
    markdown: bool = False
    cooked: bool = False
    fraud: bool = False


@dataclass(frozen=True)
class Worth:
    """A hand: its kind, the number of a pair, the difference and sum of others."""

    kind: str
    number: int = 0
    sum: int = 0

    def name(self) -> str:
        """In words."""
        if self.kind == "diff":
            return f"diff {self.number} sum {self.sum}"
        return "pure" if self.kind == "pure" else f"{self.kind} {self.number}"

    @property
    def costs(self) -> int:
        """Chips that a losing hand pays from stock."""
        return self.number if self.kind == "diff" else 1

    def strength(self, cooked: bool) -> tuple[int, int, int]:
        """More is better."""
        if self.kind == "diff":
            return (0, -self.number, -self.sum)
        if self.kind == "prime":
            return (4, 0, 0)
        if self.kind == "pure":
            return (2, 0, 0) if cooked else (5, 0, 0)
        if self.number == 0:
            return (1, 0, 0)
        return (3, self.number if cooked else -self.number, 0)


def pile_of(card: int) -> int:
    """0: Sand, 1: Blood."""
    return 0 if card < len(K44.codes) // 2 else 1


def is_impostor(card: int) -> bool:
    """Whether the card rolls for its value."""
    return K44.codes[card][1] == "I"


def worth_of(hand: list[int], chosen: dict[int, int], fixes: Fixes) -> Worth:
    """What a hand is worth; `chosen`: the values of Impostors, 6 where one has none."""
    values: list[int] = []
    sylops = 0
    for card in hand:
        mark = K44.codes[card][1]
        if mark == "Y":
            sylops += 1
        else:
            values.append(chosen.get(card, 6) if mark == "I" else int(mark))
    if sylops == 2:
        return Worth("pair", 0) if fixes.markdown else Worth("pure")
    if sylops == 1:
        values.append(0 if fixes.markdown else values[0])
    low, high = sorted(values)
    if low == high:
        return Worth("prime" if low == fixes.prime else "pair", low)
    return Worth("diff", high - low, low + high)
