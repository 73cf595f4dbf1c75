"""Knows `electronic`: a pulse shifts the cards, and a call lets everybody act again."""

from __future__ import annotations

from .core import Core
from .kinds import Play
from .shifting import Shifting


def play(core: Core) -> Play:
    """One hand."""
    return Shifting(core, reopens=True).play()
