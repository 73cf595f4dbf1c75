"""Knows `force`: light against dark, with an extra card for everybody at the showdown."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from . import betting, pots
from .core import Core
from .kinds import STAND, Ask, Deal, Move, Part, Play, Refused
from .s76 import FACE_CARDS, VALUES, is_array, is_out, total
from .shifting import action

LIGHT, DARK = 1, -1
FIRST_CALL = 3


def shade(card: int) -> int:
    """The side a face card stands for: copy A is white."""
    return LIGHT if card % 2 == 0 else DARK


class Force:
    """One hand."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.side: dict[int, int] = {}
        self.out: set[int] = set()
        """Bombed out in the showdown."""

    def play(self) -> Play:
        """Sides, second card, cycles, showdown."""
        core = self.core
        core.take_antes()
        yield from core.fresh(0)
        if core.rules.word("alignment") == "naboo":
            yield from self.naboo()
        else:
            yield from self.choose()
        for player in core.players:
            yield from core.deal_hand(player, 1, "opening")
        yield from self.cycles()
        for player in core.players:
            yield from self.open(player)
        yield from Scoring(self).run()

    def choose(self) -> Play:
        """One card each, and everybody declares a side."""
        core = self.core
        for player in core.players:
            yield from core.deal_hand(player, 1, "opening")
        for player in core.players:
            move = yield Ask(player, Move("align", names=("light",)))
            if move.kind != "align" or move.names not in (("light",), ("dark",)):
                raise Refused("a side is to be declared: light or dark")
            self.side[player] = LIGHT if move.names == ("light",) else DARK

    def naboo(self) -> Play:
        """Cards face up until each has a face card, whose copy decides; the rest goes back."""
        core = self.core
        aside: list[int] = []
        for player in core.players:
            part = Part(0, 0, until=FACE_CARDS)
            cards: list[int] = yield Deal(player, (part,), True, "alignment")
            core.cards[player] = [cards[-1]]
            core.open[player] = {cards[-1]}
            self.side[player] = shade(cards[-1])
            aside += cards[:-1]
        yield from core.shuffle(0, aside)

    def cycles(self) -> Play:
        """Action rounds and betting rounds, until somebody calls the hand."""
        core = self.core
        for cycle in range(1, core.rules.number("max_rounds") + 1):
            for player in core.players:
                move: Move = yield Ask(player, STAND, secret=frozenset({"trade"}))
                if move.kind == "call-hand" and cycle >= FIRST_CALL:
                    return
                yield from action(core, player, move, list(core.cards[player]))
            yield from betting.betting_round(core)
            if core.nobody_decides:
                return

    def open(self, player: int) -> Play:
        """Shows the hand and takes or leaves one extra card."""
        core = self.core
        before = total(core.cards[player])
        core.shown.add(player)
        dealt: list[int] = yield from core.deal(player, 0, 1, "extra")
        if dealt:
            core.cards[player] += dealt
            (extra,) = dealt
            move: Move = yield Ask(player, Move("drop", cards=(extra,)))
            dropped: int | None = None
            if move.kind == "drop":
                (dropped,) = core.named(move.cards, core.cards[player])
                core.cards[player].remove(dropped)
                core.discard(0, dropped)
            elif move.kind != "keep":
                raise Refused("the extra card is kept, or a card is dropped")
            if dropped != extra and self.upside_down(player, extra, before):
                self.side[player] = -self.side[player]
        if is_out(total(core.cards[player])):
            self.out.add(player)

    def upside_down(self, player: int, extra: int, before: int) -> bool:
        """Whether the extra card turns its player to the other side."""
        if self.core.rules.word("alignment") == "naboo":
            return extra in FACE_CARDS and shade(extra) != self.side[player]
        return VALUES[extra] * before < 0


class Scoring:
    """Each layer afresh among its own players who are not out."""

    def __init__(self, hand: Force) -> None:
        self.core = hand.core
        self.side = hand.side
        self.out = hand.out

    def run(self) -> Play:
        """All layers, main first."""
        core = self.core
        for player in core.players:
            core.ranks[player] = self.rank(player)
        for layer in pots.layers(core):
            winners = yield from self.winners(layer.players)
            if winners:
                pots.win(core, layer, winners)
            else:
                pots.carry(core, layer)
        pots.close(core)

    def kind(self, player: int) -> int:
        """2: an Idiot's Array, 1: a Natural, 0: another hand."""
        cards = self.core.cards[player]
        return 2 if is_array(cards) else 1 if abs(total(cards)) == 23 else 0

    def rank(self, player: int) -> str:
        """The hand in words."""
        value = total(self.core.cards[player])
        if self.kind(player) == 2:
            return "idiots-array"
        if player in self.out:
            return f"bombed {value}"
        if self.kind(player) == 1:
            return f"natural {value}"
        return f"{'light' if self.side[player] == LIGHT else 'dark'} {value}"

    def winners(self, players: list[int]) -> Generator[Any, Any, list[int]]:
        """Who wins a layer; nobody where all are out."""
        fit = [player for player in players if player not in self.out]
        for kind in (2, 1):
            best = [player for player in fit if self.kind(player) == kind]
            if best:
                won = yield from self.among_equals(best)
                if won:
                    return won
                fit = [player for player in fit if player not in best]
        for side in self.sides(fit):
            mine = [player for player in fit if self.side[player] == side]
            while mine:
                strength = {player: _strength(self.value(player)) for player in mine}
                best = [p for p in mine if strength[p] == max(strength.values())]
                won = yield from self.among_equals(best)
                if won:
                    return won
                mine = [player for player in mine if player not in best]
        return []

    def value(self, player: int) -> int:
        """The total at the reveal."""
        return total(self.core.cards[player])

    def sides(self, fit: list[int]) -> tuple[int, int]:
        """The better side, then the other."""

        def standing(side: int) -> tuple[bool, int, int, bool]:
            values = [self.value(player) for player in fit if self.side[player] == side]
            highest = max((abs(value) for value in values), default=0)
            return (bool(values), side * sum(values), highest, side == DARK)

        return (LIGHT, DARK) if standing(LIGHT) > standing(DARK) else (DARK, LIGHT)

    def among_equals(self, tied: list[int]) -> Generator[Any, Any, list[int]]:
        """One card each decides; nobody wins where all bomb out."""
        core = self.core
        if len(tied) < 2:
            return tied
        need = [player for player in tied if not core.extra[player]]
        if core.piles[0].available < len(need):
            return tied
        for player in need:
            core.extra[player] = yield from core.deal(player, 0, 1, "tie")
        after = {player: self.value(player) + total(core.extra[player]) for player in tied}
        fit = {player: _strength(v) for player, v in after.items() if not is_out(v)}
        return [player for player in fit if fit[player] == max(fit.values())]


def _strength(value: int) -> tuple[int, bool]:
    """A higher absolute total, then a negative one."""
    return (abs(value), value < 0)


def play(core: Core) -> Play:
    """One hand."""
    return Force(core).play()
