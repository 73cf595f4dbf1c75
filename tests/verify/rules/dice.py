"""Knows `dice`: dice shift the cards, and the round a hand is called in goes on as usual."""

from __future__ import annotations

from .core import Core
from .kinds import Play
from .shifting import Shifting


def play(core: Core) -> Play:
    """One hand."""
    return Shifting(core, reopens=False).play()
