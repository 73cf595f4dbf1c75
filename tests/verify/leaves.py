"""Knows which players asked to leave while a hand was played."""

from __future__ import annotations

from dataclasses import dataclass

from .case import Case


@dataclass(frozen=True)
class Leave:
    """A leave that was asked for: where in the table's log, by whom, and how it is signed."""

    position: int
    player: int
    seat: int
    signature: bytes

    @property
    def line(self) -> str:
        """As the chain takes it."""
        return f"p{self.player + 1} leave"


def asked(case: Case) -> list[Leave]:
    """Those of the hand's players between its sealing and its end, in order."""
    opened, sealed = case.find("HandOpened"), case.find("HandSealed")
    if opened is None or sealed is None:
        return []
    end = case.find("HandSettled") or case.find("HandAborted")
    seats = [place.seat for place in opened.event.roster]
    found: list[Leave] = []
    for read in case.table:
        during = sealed.position < read.position and (end is None or read.position < end.position)
        if not during or read.kind != "LeaveAsked" or read.kept_back:
            continue
        seat = read.event.seat
        if read.event.why == "asked" and seat in seats:
            found.append(Leave(read.position, seats.index(seat), seat, read.event.signature))
    return found
