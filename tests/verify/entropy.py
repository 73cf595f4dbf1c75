"""Knows what the seats brought to chance, and who withheld what he had committed to.

All of it stands in one log, so that order is order of positions, and a deadline is compared with
times of that log's own clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import fair
from .bundle import Read
from .case import Case, Trouble, hold, of_length
from .proto import Message

SEAT, DEALER, OPERATOR = 1, 2, 3


@dataclass
class Brought:
    """By seat: what it committed to in time, and what it revealed."""

    committed: dict[int, Message] = field(default_factory=dict)
    revealed: dict[int, Message] = field(default_factory=dict)
    closed: Read | None = None

    @property
    def silent(self) -> list[int]:
        """Seats that committed and have not revealed."""
        return sorted(set(self.committed) - set(self.revealed))

    def is_row(self, row: Message) -> None:
        """A row of a sealed hand is what its seat brought; nobody withheld."""
        given, shown = self.committed.get(row.seat), self.revealed.get(row.seat)
        if given is None:
            hold(row.status == fair.ABSENT, f"seat {row.seat} has a part that it did not bring")
            return
        if shown is None:
            raise Trouble(f"the hand was sealed, and seat {row.seat} had not revealed")
        same = (row.commitment, row.entropy) == (given.commitment, shown.entropy)
        hold(
            same and row.status == fair.REVEALED,
            f"the hand was sealed with another part of seat {row.seat} than it brought",
        )


def brought(case: Case, ctx: bytes, promised: bytes) -> Brought:
    """The seats' part as the table's log has it, each step in its order and time."""
    opened = case.one("HandOpened").event
    every: dict[int, Read] = {}
    for read in case.all("EntropyCommitted"):
        hold(read.event.seat not in every, f"seat {read.event.seat} committed twice")
        every[read.event.seat] = read
    found = Brought(closed=case.find("EntropyClosed"))
    hold(case.has_entropy, "the table gave the seats no part in the chance of this hand")
    if found.closed is None:
        return found
    roster = {seat.seat: seat.player_id for seat in opened.roster}
    for seat, read in sorted(every.items()):
        in_time = read.position < found.closed.position
        hold(in_time, f"seat {seat} committed after the commitments were closed")
        if roster.get(seat) == read.event.player_id:
            found.committed[seat] = read.event
    hold(
        found.closed.event.seats == sorted(found.committed),
        "the table closed with the commitments of other seats than have made one",
    )
    everybody = len(found.committed) == len(opened.roster)
    hold(
        everybody or found.closed.at >= opened.entropy_deadline_micros,
        "the commitments were closed before their time, and not all had made one",
    )
    for read in case.all("EntropyRevealed"):
        _reveal(found, read.event, (ctx, promised))
    return found


def _reveal(found: Brought, event: Message, bound: tuple[bytes, bytes]) -> None:
    seat = event.seat
    given = found.committed.get(seat)
    if given is None:
        raise Trouble(f"seat {seat} revealed entropy that it had not committed to")
    hold(seat <= 255, f"there is no seat {seat}")
    player = of_length("a player's id", given.player_id, 16)
    entropy = of_length("a seat's entropy", event.entropy, 32)
    of_length("a seat's commitment", given.commitment, 32)
    made = fair.client_commitment(*bound, seat, (player, entropy))
    hold(made == given.commitment, f"what seat {seat} revealed does not open its commitment")
    hold(seat not in found.revealed, f"seat {seat} revealed twice")
    found.revealed[seat] = event


def grounds(case: Case, found: Brought) -> None:
    """The hand may have been aborted as it was."""
    aborted = case.find("HandAborted")
    if aborted is None:
        return
    event = aborted.event
    if event.at_fault in (DEALER, OPERATOR):
        hold(event.seats == [], "the hand was aborted for two faults at once")
        return
    hold(event.at_fault == SEAT, "the hand was aborted, and nobody is at fault")
    hold(
        found.silent != [] and event.seats == found.silent,
        "the hand was burnt for other seats than have withheld",
    )
    hold(case.find("HandSealed") is None, "the hand was burnt after it was sealed")
    until = found.closed.event.deadline_micros if found.closed else None
    hold(
        until is not None and aborted.at >= until,
        "the hand was burnt before the seats' time to reveal was over",
    )
