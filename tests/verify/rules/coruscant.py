"""Knows `coruscant`: a target and a suit are rolled, and cards are selected for them."""

from __future__ import annotations

from ..decks import C62
from . import betting, pots
from .core import Core
from .kinds import Ask, Move, Play, Refused, Roll

GOLD = (0, 0, 5, -5, 10, -10)
SILVER = ("c", "c", "t", "t", "s", "s")
HAND = 5
SECRET = frozenset({"select", "add"})
VALUES = tuple(0 if code == "Y" else int(code[1:]) for code in C62.codes)


def play(core: Core) -> Play:
    """One hand. At the end a hand is what was selected; the other cards are never shown."""
    core.take_antes()
    yield from core.fresh(0)
    for player in core.players:
        yield from core.deal_hand(player, HAND, "opening")
    gold, silver = yield Roll((6, 6), "target")
    target, suit = GOLD[gold - 1], SILVER[silver - 1]
    selected: dict[int, list[int]] = {}
    for player in core.players:
        hand = core.cards[player]
        move = yield Ask(player, Move("select", cards=tuple(hand)), secret=SECRET)
        if move.kind != "select" or not 1 <= len(move.cards) <= HAND:
            raise Refused("one to five cards are to be selected")
        selected[player] = core.named(move.cards, hand)
    yield from betting.betting_round(core)
    fresh = yield from _redraw(core, selected)
    yield from betting.betting_round(core)
    for player in core.players:
        if fresh[player]:
            move = yield Ask(player, Move("add"), secret=SECRET)
            if move.kind != "add":
                raise Refused("new cards may be added, and nothing else is due")
            selected[player] += core.named(move.cards, fresh[player])
        core.cards[player] = selected[player]
    core.shown = set(core.live)
    _settle(core, selected, (target, suit))


def _redraw(core: Core, selected: dict[int, list[int]]) -> Play:
    """What is not selected is discarded, all of it before the first new card is dealt."""
    counts: dict[int, int] = {}
    for player in core.players:
        rest = [card for card in core.cards[player] if card not in selected[player]]
        core.bury(0, rest)
        counts[player] = len(rest)
        core.cards[player] = [c for c in core.cards[player] if c in selected[player]]
    fresh: dict[int, list[int]] = {}
    for player, count in counts.items():
        fresh[player] = yield from core.deal(player, 0, count, "shift")
        core.cards[player] += fresh[player]
    return fresh


def _settle(core: Core, selected: dict[int, list[int]], rolled: tuple[int, str]) -> None:
    target, suit = rolled
    worth: dict[int, tuple[int, int, int, int]] = {}
    for player in core.players:
        cards = selected[player]
        value = sum(VALUES[card] for card in cards)
        off = abs(value - target)
        suited = sum(C62.codes[card][0] in (suit, "Y") for card in cards)
        high = max(VALUES[card] for card in cards)
        worth[player] = (-off, suited, value, high)
        core.ranks[player] = f"off {off} suit {suited} total {value} high {high}"
    for layer in pots.layers(core):
        most = max(worth[player] for player in layer.players)
        pots.win(core, layer, [p for p in layer.players if worth[p] == most])
    pots.close(core)
