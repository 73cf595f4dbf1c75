"""Knows the classes of verdicts, and which one the checks of a hand give."""

from __future__ import annotations

from dataclasses import dataclass

from . import aborts, seed
from .case import SECOND, Case, Trouble
from .report import FAILED, PASSED, Checked
from .trust import Trust
from .witness import Seen

GRACE = 3600 * SECOND
"""Microseconds after which what is owed makes a hand fail."""


@dataclass(frozen=True)
class Verdict:
    """A class, and why where that is no check: `nobody` brought a number, the dealer let the hand
    `die`, `witnesses` are missing, or what is owed: a `seed`, the end of a `suspended` hand, the
    `transfer`, or the end of a hand in `play`; `due`: since or until when."""

    kind: str
    reason: str = ""
    due: int = 0


def of(case: Case, checks: list[Checked], given: tuple[Trust, Seen]) -> Verdict:
    """The class of a hand whose checks were made."""
    trust, seen = given
    verdicts = {checked.verdict for checked in checks}
    if FAILED in verdicts or not {Checked("keys", PASSED), Checked("inclusion", PASSED)} <= set(
        checks
    ):
        return Verdict("failed")
    if _let_die(case):
        return Verdict("failed", "die")
    if verdicts != {PASSED}:
        return _unfinished(case, seen)
    if len(seen.times) < trust.wanted:
        return Verdict("not_finished", "witnesses")
    if case.aborted:
        return Verdict("broken_off")
    return Verdict("proved") if case.revealed else Verdict("failed", "nobody")


def _let_die(case: Case) -> bool:
    """The dealer was silent until the time of a hand in play was over: it alone knew what it
    cancelled."""
    aborted = case.find("HandAborted")
    suspended = aborted is not None and aborted.event.cause == aborts.SUSPENDED
    return suspended and case.find("HandSealed") is not None


def _unfinished(case: Case, seen: Seen) -> Verdict:
    """A hand some of whose checks could not be made: something is owed, or it is failed."""
    owed = _owed(case)
    if owed is None:
        return Verdict("failed")
    reason, due = owed
    late = newest(case, seen) > due + GRACE
    return Verdict("failed" if late else "not_finished", reason, due)


def _owed(case: Case) -> tuple[str, int] | None:
    """What the hand still needs, and since or until when."""
    settled = case.find("HandSettled")
    ended = settled is not None or case.aborted
    if ended and case.find("SeedOpened") is None and case.find("SeedRefused") is None:
        try:
            due = seed.due_at(case)
        except Trouble:
            return None
        return None if due is None else ("seed", due)
    if settled is not None and not case.aborted:
        whole = case.find("SettlementPosted") is not None and case.find("HandFinished") is not None
        return None if whole else ("transfer", settled.at)
    if ended:
        return None
    since = aborts.suspension(case)
    if since is not None:
        return "suspended", since.event.until_micros
    last = [read for read in case.hand if not read.kept_back]
    return ("play", last[-1].at) if last else None


def newest(case: Case, seen: Seen) -> int:
    """The newest time in the file: of a record, or of a trusted witness."""
    times = [read.at for log in case.bundle.logs for read in log.records]
    return max([*times, seen.newest])
