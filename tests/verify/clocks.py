"""Knows turns, deadlines and time banks, as a table must keep them. Times in microseconds.

A decision is judged when it comes and recorded when the log has taken it: so a player's decision
that is recorded behind its deadline may have come in time, and that less of a bank was taken than
the times say is no trouble either.
"""

from __future__ import annotations

from .case import SECOND
from .proto import Message

SLACK = 10 * SECOND
"""What a clock that is resumed twice can gain."""


class Clocks:
    """The clock of a hand."""

    def __init__(self, opened: Message, at: int) -> None:
        self.turn = 0
        self.action = opened.action_seconds * SECOND
        self.banks = [opened.bank_seconds * SECOND] * len(opened.roster)
        self.missed = [0] * len(opened.roster)
        """Clocks in a row that ran out in this hand."""
        self.himself = [False] * len(opened.roster)
        """Whether a player has decided anything himself."""
        self.due_at = at
        self.resumed: int | None = None

    def moved_on(self, decision_due: bool, at: int) -> None:
        """Something happened in the hand; perhaps a decision is due now."""
        self.due_at = at
        self.resumed = None
        self.turn += 1 if decision_due else 0

    def deadline(self, player: int) -> int:
        """When the clock runs out for him."""
        if self.resumed is not None:
            return self.resumed
        return self.due_at + self.action + self.banks[player]

    def decided(self, player: int, event: Message, at: int) -> str | None:
        """A decision was recorded; what is wrong with its time."""
        deadline, bank = self.deadline(player), self.banks[player]
        taken = event.bank_used_ms * 1000
        self.banks[player] = max(bank - taken, 0)
        if event.by_clock:
            self.missed[player] += 1
        else:
            self.missed[player], self.himself[player] = 0, True
        if event.by_clock and at < deadline:
            return f"turn {event.turn}: the clock decided before the deadline"
        if event.by_clock and taken != bank:
            return f"turn {event.turn}: the clock ran out and the time bank did not"
        leaves = event.move is not None and event.move.kind == LEAVE
        used = 0 if leaves else max(bank - max(deadline - at, 0), 0)
        if taken > used:
            return f"turn {event.turn}: more of the time bank was taken than was used"
        return None

    def resume(self, event: Message, player: int | None, at: int) -> str | None:
        """An interruption is over; what is wrong with the new deadline."""
        if player is None or event.turn != self.turn:
            return f"the clock of turn {event.turn} is resumed, and is not running"
        before, self.resumed = self.deadline(player), event.deadline_micros
        if event.deadline_micros < before:
            return f"turn {event.turn}: the deadline is moved forward"
        if event.deadline_micros > at + self.action + self.banks[player] + SLACK:
            return f"turn {event.turn}: the resumed clock has more time than a whole one"
        return None

    def counts(self, recorded: list[int]) -> bool:
        """Whether the table may go on with these numbers of clocks missed in a row: those before
        the hand count on for whoever has not decided anything himself."""
        return len(recorded) == len(self.missed) and all(
            found == missed if himself else found >= missed
            for found, missed, himself in zip(recorded, self.missed, self.himself)
        )


LEAVE = 12
"""The kind of the move to leave."""
