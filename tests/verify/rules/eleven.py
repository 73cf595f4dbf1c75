"""Knows `eleven`: 42 cards, closest to 11 without going over, with a wild face and a clone face."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ..decks import P42
from . import betting, pots
from .core import Core
from .kinds import STAND, Ask, Play, Sample
from .shifting import action

MOST_CARDS = 6
GOAL = 11


def play(core: Core) -> Play:
    """One hand."""
    core.take_antes()
    faces = P42.faces()
    wild, clone = (faces[at] for at in (yield Sample(len(faces), 2)))
    yield from core.fresh(0)
    for player in core.players:
        yield from core.deal_hand(player, 2, "opening")
    yield from _laps(core)
    yield from betting.betting_round(core)
    core.shown = set(core.live)
    best = {player: _total(core.cards[player], wild, clone) for player in core.players}
    for player, value in best.items():
        core.ranks[player] = f"{value if value <= GOAL else 'over'} in {len(core.cards[player])}"
    for layer in pots.layers(core):
        worth = {
            player: (best[player], -len(core.cards[player]))
            for player in layer.players
            if best[player] <= GOAL
        }
        if worth:
            most = max(worth.values())
            pots.win(core, layer, [p for p in worth if worth[p] == most])
        else:
            pots.carry(core, layer)
    pots.close(core)


def _laps(core: Core) -> Play:
    """Everybody draws until he stands or has six cards."""
    drawing = core.players
    while drawing:
        for player in list(drawing):
            if len(core.cards[player]) >= MOST_CARDS:
                drawing.remove(player)
                continue
            move = yield Ask(player, STAND)
            if move.kind == "stand":
                drawing.remove(player)
            yield from action(core, player, move, [])


def _total(cards: list[int], wild: str, clone: str) -> int:
    """The best total: the highest that is not over 11, else the lowest."""
    totals = set(_totals([P42.codes[card] for card in cards], wild, clone))
    within = [value for value in totals if value <= GOAL]
    return max(within) if within else min(totals)


def _totals(codes: list[str], wild: str, clone: str) -> Iterator[int]:
    """Every total the hand can stand for."""
    clones = codes.count(clone)
    others = [code for code in codes if code != clone]
    for values in product(*(range(1, 7) if c == wild else (int(c[0]),) for c in others)):
        for copied in product(set(values) or {0}, repeat=clones):
            yield sum(values) + sum(copied)
