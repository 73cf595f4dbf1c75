"""Knows which records of the table's stream a bundle has: all of them since the last hand that was
played to its end, so that nothing was left out that the hand began with.
"""

from __future__ import annotations

from . import fair
from .bundle import Read
from .case import Case, hold, missing

KINDS = (
    "TableCreated", "SeatTaken", "SeatFunded", "SeatRefused", "LeaveAsked", "CashOutDue",
    "SeatVacated", "SitOutChanged", "SeatRenamed", "SeatExcluded", "StandingFound",
    "HandCommitted", "EntropyCommitted", "HandStarted", "HandFinished", "CloseAsked",
    "PotRefundDue", "PotRefunded", "TableClosed", "AbsentPaid", "EffectStopped", "EffectResumed",
    "TableDisabled", "TableEnabled",
)
LOG = "the table's log"


def check(case: Case) -> None:
    """The stream is whole over its range, which is long enough, and its hands are in order."""
    if not case.table:
        raise missing("the table's stream is not among the records")
    _kinds(case)
    _without_gaps(case.table)
    _far_back(case)
    _hands(case)


def _kinds(case: Case) -> None:
    for read in case.table:
        hold(
            read.kind in KINDS and not read.record.sealed,
            f"{LOG}, {read.position}: {read.kind} does not belong in a table's stream",
        )


def _without_gaps(records: list[Read]) -> None:
    for before, read in zip(records, records[1:]):
        hold(
            before.record.version + 1 == read.record.version,
            f"{LOG}, {read.position}: records of the table's stream are left out before it",
        )


def is_first(read: Read) -> bool:
    """The first record of a stream."""
    return read.record.version == 1


def is_played(read: Read, before: int) -> bool:
    """The end of a hand before another, that was played."""
    played = read.kind == "HandFinished" and not read.kept_back and not read.event.aborted
    return played and read.event.hand_no < before


def _far_back(case: Case) -> None:
    """From the last hand that was played, or from the dealer's commitment where that is earlier, or
    from the table's first record."""
    first, number = case.table[0], case.one("HandOpened").event.hand_no
    if is_first(first):
        hold(first.record.previous == bytes(32), f"{LOG}: the first record names one before it")
        return
    begins = is_played(first, number) or first in case.all("HandCommitted")
    hold(
        begins and any(is_played(read, number) for read in case.table),
        f"{LOG}: the table's stream begins neither with the end of the last hand that was played "
        "nor with the commitment to this one before it",
    )


def _hands(case: Case) -> None:
    """One after the other, with every number, each under its id; this one is the last record's."""
    opened = case.one("HandOpened")
    last = 0 if is_first(case.table[0]) else None
    playing: int | None = None
    for read in case.table:
        hold(
            last != opened.event.hand_no,
            f"{LOG}, {read.position}: a record behind the end of the hand",
        )
        if read.kept_back or read.kind not in ("HandStarted", "HandFinished"):
            continue
        number = read.event.hand_no
        if read.kind == "HandStarted":
            comes = playing is None and last is not None and last + 1 == number
            playing = number
        else:
            comes = number == playing or playing is last is None and number < opened.event.hand_no
            last, playing = number, None
        hold(
            comes and _placed(case, read),
            f"{LOG}, {read.position}: {read.kind} of hand {number} is out of order",
        )
    hold(
        opened.event.hand_no in (last, playing),
        f"{LOG}: the start of the hand is not in the table's stream",
    )


def _placed(case: Case, read: Read) -> bool:
    """Under the hand's id; and this hand's around its own stream."""
    opened, number = case.one("HandOpened"), read.event.hand_no
    placed = True
    if number == opened.event.hand_no and read.kind == "HandStarted":
        placed = read.position < opened.position
    elif number == opened.event.hand_no:
        end = case.find("HandSettled") or case.find("HandAborted")
        placed = end is not None and end.at <= read.at
    return placed and read.event.hand_id == fair.hand_id(opened.event.table_id, number)
