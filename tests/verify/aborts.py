"""Knows for which causes a hand may come to nothing. There are three: seats withheld, all live
players agreed, the hand was suspended for too long.

Whether all live players agreed is judged where the hand is played again.
"""

from __future__ import annotations

from .bundle import Read
from .case import MILLISECOND, Case, Trouble, hold, later
from .entropy import Brought

SEAT, DEALER = 1, 2
WITHHELD, AGREED, SUSPENDED = 1, 2, 3


def grounds(case: Case, found: Brought) -> None:
    """The hand may have been aborted as it was."""
    aborted = case.find("HandAborted")
    if aborted is None or not case.aborted:
        return
    event = aborted.event
    hold(event.cause in (WITHHELD, AGREED, SUSPENDED), "the hand was aborted for no cause")
    fault = SEAT if event.cause == WITHHELD else DEALER
    hold(event.at_fault == fault, "the hand was aborted, and another is at fault")
    if event.cause == WITHHELD:
        _burnt(case, aborted, found)
        return
    hold(event.seats == [], "the dealer is at fault, and seats are named")
    since = suspension(case)
    if since is None:
        raise Trouble("the hand was ended as a suspended one, and was not suspended")
    sealed = case.find("HandSealed") is not None
    if event.cause == AGREED:
        hold(sealed, "a hand that was never sealed was ended by agreement")
        return
    over = aborted.at >= since.event.until_micros
    hold(
        over or not sealed and left(case, aborted), "the suspended hand was ended before its time"
    )


def _burnt(case: Case, aborted: Read, found: Brought) -> None:
    hold(
        found.silent != [] and aborted.event.seats == found.silent,
        "the hand was burnt for other seats than have withheld",
    )
    hold(case.find("HandSealed") is None, "the hand was burnt after it was sealed")
    until = later(case.one("EntropyClosed").at, case.settings.scaled(case.settings.reveal_ms * MILLISECOND))
    hold(aborted.at >= until, "the hand was burnt before the seats' time to reveal was over")


def suspension(case: Case) -> Read | None:
    """The suspension that the records end with, where the dealer has not come back since."""
    last = None
    for read in case.hand:
        if read.kind in ("HandSuspended", "HandContinued"):
            last = read if read.kind == "HandSuspended" else None
    return last


def left(case: Case, aborted: Read) -> bool:
    """Whether somebody of the hand left or sat out while it was open."""
    opened = case.one("HandOpened")
    seats = {seat.seat for seat in opened.event.roster}
    for read in case.table:
        if read.kept_back or not opened.position < read.position < aborted.position:
            continue
        leaves = read.kind == "LeaveAsked" or (
            read.kind == "SitOutChanged" and read.event.sitting_out
        )
        if leaves and read.event.seat in seats:
            return True
    return False
