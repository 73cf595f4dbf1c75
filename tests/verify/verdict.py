"""Knows the classes of verdicts, and which one the checks of a hand give."""

from __future__ import annotations

from dataclasses import dataclass

from .case import SECOND, Case
from .report import FAILED, PASSED, Checked
from .trust import Trust
from .witness import Seen

GRACE = 3600 * SECOND
"""Microseconds after which a seed that is owed makes a hand fail."""


@dataclass(frozen=True)
class Verdict:
    """A class, and why where that is no check: `nobody` brought a number, a `seed` is owed since
    `due`, `witnesses` are missing."""

    kind: str
    reason: str = ""
    due: int = 0


def of(case: Case, checks: list[Checked], given: tuple[Trust, Seen]) -> Verdict:
    """The class of a hand whose checks were made."""
    trust, seen = given
    verdicts = {checked.verdict for checked in checks}
    if FAILED in verdicts:
        return Verdict("failed")
    if verdicts == {PASSED}:
        if not case.aborted and not case.revealed:
            return Verdict("failed", "nobody")
        if len(seen.names) < trust.wanted:
            return Verdict("not_finished", "witnesses")
        return Verdict("broken_off" if case.aborted else "proved")
    due = None if case.find("SeedOpened") is not None else seed_due(case)
    if due is None:
        return Verdict("failed")
    late = newest(case, seen) > due + GRACE
    return Verdict("failed" if late else "not_finished", "seed", due)


def seed_due(case: Case) -> int | None:
    """Time at which the dealer was to open its seed; None while the hand has no end."""
    settled, aborted = case.find("HandSettled"), case.find("HandAborted")
    opened = case.find("HandOpened")
    if settled is not None and opened is not None:
        return settled.at + opened.event.reveal_delay_seconds * SECOND
    return None if aborted is None or opened is None else aborted.at


def newest(case: Case, seen: Seen) -> int:
    """The newest time in the file: of a record, or of a trusted witness."""
    times = [read.at for log in case.bundle.logs for read in log.records]
    return max([*times, seen.newest])
