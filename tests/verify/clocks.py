"""Knows turns, deadlines and time banks, as a table must keep them. Times in microseconds.

A decision is judged when it comes and recorded when the log has taken it: so a player's decision
that is recorded behind its deadline may have come in time, and that less of a bank was taken than
the times say is no trouble either.
"""

from __future__ import annotations

from .case import CLOCK_SKEW, SECOND, Case, hold, later
from .proto import Message
from .settings import Settings

SLACK = 10 * SECOND
"""What a clock that is resumed twice can gain."""
SILENCE = 10 * SECOND
"""How long the dealer is silent before a hand is suspended."""
HOUR = 3600 * SECOND


def suspensions(case: Case) -> None:
    """Each suspension began after a silence and ends in time, whether or not the hand can be played
    again; and before the seal no decision is due."""
    for read in case.all("HandSuspended"):
        since, until = read.event.since_micros, read.event.until_micros
        silent = later(since, SILENCE) <= read.at
        hold(silent, "the hand was suspended before the dealer had been silent for ten seconds")
        span = case.settings.scaled(case.settings.suspend_hours * HOUR)
        hold(
            later(since, span) <= until <= later(read.at, span, CLOCK_SKEW),
            "the hand is suspended for another time than the settings say",
        )
    sealed = case.find("HandSealed")
    for read in case.all("HandContinued"):
        before = sealed is None or read.position < sealed.position
        hold(
            not before or read.event.deadline_micros == 0,
            "a hand goes on before its antes with a deadline for a decision",
        )


class Clocks:
    """The clock of a hand. `missed`: before it, where the records say so."""

    def __init__(self, settings: Settings, missed: list[int | None], at: int) -> None:
        self.turn = 0
        self.action = settings.scaled(settings.action_seconds * SECOND)
        self.banks = [settings.scaled(settings.bank_seconds * SECOND)] * len(missed)
        self.missed = [before or 0 for before in missed]
        """Clocks in a row that ran out."""
        self.known = [before is not None for before in missed]
        """Whether that is all of them: the player has decided something since, or the records say
        what was before."""
        self.due_at = at
        self.resumed: int | None = None
        self.stood_at: int | None = None
        """Since when the hand is suspended."""

    def moved_on(self, decision_due: bool, at: int) -> None:
        """Something happened in the hand; perhaps a decision is due now."""
        self.due_at = at
        self.resumed = None
        self.turn += 1 if decision_due else 0

    def deadline(self, player: int) -> int:
        """When the clock runs out for him."""
        if self.resumed is not None:
            return self.resumed
        return later(self.due_at, self.action, self.banks[player])

    def decided(self, player: int, event: Message, at: int) -> str | None:
        """A decision was recorded; what is wrong with its time."""
        deadline, bank = self.deadline(player), self.banks[player]
        taken = event.bank_used_ms * 1000
        self.banks[player] = max(bank - taken, 0)
        if event.by_clock:
            self.missed[player] += 1
        else:
            self.missed[player], self.known[player] = 0, True
        if event.by_clock and self.stood_at is not None:
            return f"turn {event.turn}: the clock decided in a suspended hand"
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
        if event.deadline_micros > later(at, self.action, self.banks[player], SLACK):
            return f"turn {event.turn}: the resumed clock has more time than a whole one"
        return None

    def suspend(self, at: int) -> None:
        """The hand is suspended: clocks stand."""
        self.stood_at = at

    def go_on(self, event: Message, player: int | None, at: int) -> str | None:
        """The dealer is back; what is wrong with the deadline of the decision that is due."""
        stood_at, self.stood_at = self.stood_at, None
        deadline = event.deadline_micros
        if player is None:
            return None if deadline == 0 else "a hand goes on with a deadline for no decision"
        rest = max(self.deadline(player) - (at if stood_at is None else stood_at), 0)
        self.resumed = deadline
        if later(deadline, SLACK) < later(at, rest):
            return "the hand goes on with less time for a decision than was left"
        if deadline > later(at, self.action, self.banks[player], SLACK):
            return "the hand goes on with more time for a decision than a whole clock"
        return None

    def counts(self, recorded: list[int]) -> bool:
        """Whether the table may go on with these numbers of clocks missed in a row."""
        return len(recorded) == len(self.missed) and all(
            found == missed if known else found >= missed
            for found, missed, known in zip(recorded, self.missed, self.known)
        )


LEAVE = 12
"""The kind of the move to leave."""
