"""Knows what the seats revealed of what the closing says they had committed to, and who did not.

All of it stands in one log, so that order is order of positions.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import fair
from .bundle import Read
from .case import Case, Trouble, hold, of_length
from .promise import Promise
from .proto import Message


@dataclass
class Brought:
    """By seat: its row of the closing, and what it revealed; `late`: after the hand was burnt."""

    rows: dict[int, Message]
    revealed: dict[int, Message]
    late: dict[int, Message]

    @property
    def silent(self) -> list[int]:
        """Seats that committed and have not revealed."""
        return sorted(
            seat for seat, row in self.rows.items() if row.commitment and seat not in self.revealed
        )

    def fits(self, rows: list[Message]) -> None:
        """The rows of a sealed hand are those of the closing, and nobody withheld."""
        hold(
            [(row.seat, row.player_id) for row in rows]
            == [(seat, row.player_id) for seat, row in sorted(self.rows.items())],
            "the parts are not one of each seat of the closing",
        )
        hold(self.silent == [], f"the hand was sealed, and seats {self.silent} had not revealed")
        for row in rows:
            self._fits(row)

    def _fits(self, row: Message) -> None:
        shown = self.revealed.get(row.seat)
        if shown is None:
            fits = row.status == fair.ABSENT
        else:
            given = (self.rows[row.seat].commitment, shown.entropy)
            fits = row.status == fair.REVEALED and (row.commitment, row.entropy) == given
        hold(fits, f"the hand was sealed with another part of seat {row.seat} than it brought")


def brought(case: Case, made: Promise) -> Brought:
    """The seats' part as the table's log has it."""
    closed, aborted = case.find("EntropyClosed"), case.find("HandAborted")
    closing = None if closed is None else closed.event.closing
    rows = {} if closing is None else {row.seat: row for row in closing.rows}
    found = Brought(rows, {}, {})
    for read in case.all("EntropyRevealed"):
        late = aborted is not None and read.position > aborted.position
        _reveal(found, read, made, late)
    return found


def _reveal(found: Brought, read: Read, made: Promise, late: bool) -> None:
    seat, entropy = read.event.seat, read.event.entropy
    row = found.rows.get(seat)
    if row is None or not row.commitment:
        raise Trouble(f"seat {seat} revealed entropy that it had not committed to")
    hold(seat <= 255, f"there is no seat {seat}")
    player = of_length("a player's id", row.player_id, 16)
    of_length("a seat's entropy", entropy, 32)
    of_length("a seat's commitment", row.commitment, 32)
    opens = fair.client_commitment(made.context, made.commitment, seat, (player, entropy))
    hold(opens == row.commitment, f"what seat {seat} revealed does not open its commitment")
    hold(seat not in found.revealed and seat not in found.late, f"seat {seat} revealed twice")
    (found.late if late else found.revealed)[seat] = read.event
