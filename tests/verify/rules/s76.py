"""Knows what hands of the 76-card pack are worth, and how they are shown and paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from ..decks import S76
from . import pots
from .core import Core
from .kinds import Play
from .pots import Layer

_FACE_VALUES = (-17, -15, -14, -13, -11, -8, -2, 0)
VALUES = tuple(
    card % 15 + 1 if card < 60 else _FACE_VALUES[(card - 60) // 2]
    for card in range(len(S76.codes))
)
FACE_CARDS = frozenset(range(60, 76))
Worth = tuple[int, int]
"""3: an Idiot's Array, 2: Pure Sabacc, 1: a total, 0: bombed out. Then what decides among them."""


def total(cards: Iterable[int]) -> int:
    """The sum of the cards' values."""
    return sum(VALUES[card] for card in cards)


def is_array(cards: Iterable[int]) -> bool:
    """Exactly three cards: an Idiot, a 2 and a 3."""
    return sorted(VALUES[card] for card in cards) == [0, 2, 3]


def is_out(value: int) -> bool:
    """Whether a total bombs out."""
    return value == 0 or abs(value) > 23


def worth_of_total(value: int, ranking: str) -> Worth:
    """What a total is worth."""
    if is_out(value):
        return (0, 0)
    if abs(value) == 23:
        return (2, 0)
    return (1, value if ranking == "signed" else abs(value))


def rank_name(cards: list[int]) -> str:
    """The hand in words."""
    value = total(cards)
    if is_array(cards):
        return "idiots-array"
    kind = worth_of_total(value, "signed")[0]
    return f"{('bombed', 'total', 'pure')[kind]} {value}"


class Showdown:
    """The reveal of `electronic`, `dice` and `swg`.

    `closest`: where all bomb out in the Sudden Demise, whoever is closest to 23 wins; else the next
    best hand of the reveal.
    """

    def __init__(self, core: Core, closest: bool) -> None:
        self.core = core
        self.closest = closest
        self.ranking = core.rules.word("ranking")
        self.holdem = core.rules.flag("holdem")

    def run(self) -> Play:
        """Penalties, layers from the main one on, then the Sabacc Pot."""
        core = self.core
        core.shown = set(core.live)
        worth = {player: self.worth(player, core.cards[player]) for player in core.players}
        for player in core.players:
            core.ranks[player] = self.rank(player, worth[player])
        hand_pot = sum(core.paid)
        layers = pots.layers(core)
        for player in core.players:
            if worth[player][0] == 0:
                core.pay_sabacc(player, self.penalty(hand_pot))
        special: list[int] = []
        for layer in layers:
            winners, at_reveal = yield from self.winners(layer, worth)
            if not winners:
                pots.move(core, layer)
                continue
            pots.win(core, layer, winners)
            if layer.name == "main" and at_reveal:
                special = [player for player in winners if worth[player][0] >= 2]
        if special:
            pots.win_sabacc(core, special)
        pots.close(core)

    def rank(self, player: int, worth: Worth) -> str:
        """A hand at the reveal in words."""
        cards = self.core.cards[player]
        if self.holdem and worth != self.plain(cards):
            totals = self.totals(player, cards)
            if worth[0] == 3:
                return "idiots-array"
            found = next(value for value in totals if worth_of_total(value, self.ranking) == worth)
            return f"{'pure' if worth[0] == 2 else 'total'} {found}"
        return rank_name(cards)

    def penalty(self, hand_pot: int) -> int:
        """What a bombed-out hand pays."""
        rules = self.core.rules
        fixed = rules.number("bomb_out_amount")
        return {"match_pot": hand_pot, "fixed": fixed, "none": 0}[rules.word("bomb_out")]

    def plain(self, cards: list[int]) -> Worth:
        """What exactly these cards are worth."""
        if is_array(cards):
            return (3, 0)
        return worth_of_total(total(cards), self.ranking)

    def worth(self, player: int, cards: list[int]) -> Worth:
        """What the cards are worth, with those of others' fields where the rules have it."""
        if not self.holdem:
            return self.plain(cards)
        best = max(worth_of_total(value, self.ranking) for value in self.totals(player, cards))
        if any(is_array(hand) for hand in self.small(player, cards)):
            return (3, 0)
        return best

    def others(self, player: int) -> list[int]:
        """The cards in the fields of the other live players."""
        core = self.core
        return [card for other in core.players if other != player for card in core.open[other]]

    def totals(self, player: int, cards: list[int]) -> set[int]:
        """Every total that can be made of own cards and others' fields."""
        reachable = {total(cards)}
        for card in self.others(player):
            reachable |= {value + VALUES[card] for value in reachable}
        return reachable

    def small(self, player: int, cards: list[int]) -> Iterator[list[int]]:
        """Every hand of exactly three cards that can be made so."""
        for added in combinations(self.others(player), max(3 - len(cards), 0)):
            yield cards + list(added)

    def winners(self, layer: Layer, worth: dict[int, Worth]) -> Iterator:
        """Who wins a layer, and whether with the hand of the reveal or out of the demise; nobody
        where it moves."""
        fit = {player: worth[player] for player in layer.players if worth[player][0] > 0}
        tied = _best(fit)
        if len(tied) < 2:
            return tied, True
        core = self.core
        need = [player for player in tied if not core.extra[player]]
        if core.piles[0].available < len(need):
            return tied, True
        for player in need:
            core.extra[player] = yield from core.deal(player, 0, 1, "tie")
        hands = {player: core.cards[player] + core.extra[player] for player in tied}
        after = {player: self.worth(player, hands[player]) for player in tied}
        fit_after = {player: value for player, value in after.items() if value[0] > 0}
        if fit_after:
            return _best(fit_after), True
        if self.closest:
            distance = {p: (0, -abs(abs(total(hands[p])) - 23)) for p in tied}
            return _best(distance), True
        return _best({player: fit[player] for player in fit if player not in tied}), False


def _best(worth: dict[int, Worth]) -> list[int]:
    """Whoever is worth most."""
    if not worth:
        return []
    most = max(worth.values())
    return [player for player, value in sorted(worth.items()) if value == most]
