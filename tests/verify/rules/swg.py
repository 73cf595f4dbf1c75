"""Knows `swg`: turns of a betting action and a draw action, the whole hand one betting round."""

from __future__ import annotations

from . import betting
from .betting import Bets
from .core import Core
from .kinds import STAND, Ask, Play
from .s76 import Showdown
from .shifting import action


def play(core: Core) -> Play:
    """One hand."""
    core.take_antes()
    yield from core.fresh(0)
    for player in core.players:
        yield from core.deal_hand(player, 2, "opening")
    yield from _turns(core)
    yield from Showdown(core, closest=True).run()


def _turns(core: Core) -> Play:
    """Round and round, until the action is back at the place of whoever last lifted the stakes."""
    bets = Bets(core) if betting.held(core) else None
    place = end = 0
    while True:
        if bets is not None and core.able(place):
            move = yield Ask(place, bets.default(place))
            if bets.act(place, move):
                end = place
            core.end_if_one_left()
        if place in core.live and core.rules.flag("draw_phase"):
            move = yield Ask(place, STAND, secret=frozenset({"trade"}))
            yield from action(core, place, move, list(core.cards[place]))
        place = (place + 1) % core.count
        if place == end:
            break
    core.return_uncalled()
