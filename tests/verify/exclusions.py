"""Knows who is not dealt in for a while, having withheld a number: what the records of it must say.

An exclusion stands right behind the end of the number that it is for. Its k-th step lasts until
number h + 1 + 2^(k-1) and 30 s * 2^(k-1) after the burnt number h. Steps go up by one; twenty
numbers revealed in take one back.
"""

from __future__ import annotations

from .bundle import Read
from .case import CLOCK_SKEW, SECOND, Case, hold, later
from .proto import Message

FIRST = 30 * SECOND
"""Least time of the first step."""
WRITTEN_WITHIN = 10 * SECOND
"""From when the table burns a number to the record."""
MOST_STEPS = 32
"""The time of the last of them is two thousand years."""
REVEALED_FOR_A_STEP = 20


def check(case: Case) -> None:
    """Every exclusion in the table's stream, and that nobody is dealt in before its time."""
    seen = _Seen()
    for read in case.table:
        seen.take(read)
    opened = case.one("HandOpened")
    seen.dealt_in(opened.event.roster, opened.at)


class _Seen:
    """What the stream has said so far."""

    def __init__(self) -> None:
        self.started_at: int | None = None
        self.ended: Message | None = None
        """The end that the next record may exclude seats for."""
        self.last: dict[bytes, Message] = {}
        """Exclusions by player, of each the last."""

    def take(self, read: Read) -> None:
        """The next record."""
        event = read.event
        if read.kept_back:
            self.ended = None
        elif read.kind == "SeatExcluded":
            self.excluded(read)
        elif read.kind == "HandStarted":
            self.started_at, self.ended = read.at, None
        elif read.kind == "HandFinished":
            if event.aborted and self.started_at is not None:
                self.dealt_in(event.seats, self.started_at)
            self.started_at, self.ended = None, event if event.aborted else None
        elif read.kind != "SitOutChanged" or event.why != "excluded":
            self.ended = None

    def dealt_in(self, roster: list[Message], at: int) -> None:
        """A hand was opened: the exclusions of its players were over."""
        for place in roster:
            before = self.last.get(place.player_id)
            hold(
                before is None or at >= before.until_micros,
                f"seat {place.seat} is dealt in before its exclusion was over",
            )

    def excluded(self, read: Read) -> None:
        """A seat is excluded."""
        event, ended = read.event, self.ended
        where = f"the table's log, {read.position}: the exclusion of seat {event.seat}"
        of_it = ended is not None and ended.hand_no == event.burnt_hand_no
        hold(of_it, f"{where} does not stand behind the number that it is for")
        who = (event.seat, event.player_id)
        there = ended is not None and who in [(one.seat, one.player_id) for one in ended.seats]
        hold(there, f"{where} is for a number that its player was not in")
        step = event.step
        hold(1 <= step <= MOST_STEPS, f"{where} is of step {step}")
        missed = 1 << (step - 1)
        hold(
            event.until_hand_no == event.burnt_hand_no + 1 + missed,
            f"{where} is for another number of hands than its step",
        )
        until, span = event.until_micros, FIRST * missed
        in_time = later(until, WRITTEN_WITHIN) >= later(read.at, span)
        in_time = in_time and until <= later(read.at, span, CLOCK_SKEW)
        hold(in_time, f"{where} is for another time than its step")
        self.step(where, event)
        self.last[event.player_id] = event

    def step(self, where: str, event: Message) -> None:
        """Its step follows the one before."""
        before = self.last.get(event.player_id)
        if before is None:
            return
        between = event.burnt_hand_no - before.burnt_hand_no - 1
        hold(between >= 0, f"{where} is the second for one number")
        least = max(before.step - between // REVEALED_FOR_A_STEP, 0) + 1
        hold(least <= event.step <= before.step + 1, f"{where} is of step {event.step}")
