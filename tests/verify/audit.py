"""Knows the fourteen checks of a bundle, in order, and what each says."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from . import credits, openings, promises, proofs, streams
from .bundle import Bundle
from .case import Case, Trouble
from .note import Key
from .walk import Walk, walk

PASSED, FAILED, NOT_POSSIBLE = "passed", "failed", "not_possible"


@dataclass(frozen=True)
class Checked:
    """A check and what came of it; `why` is empty where it passed."""

    check: str
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Report:
    """What came of a bundle."""

    hand_id: bytes
    checks: list[Checked]

    @property
    def passed(self) -> bool:
        """Whether every check was made and passed."""
        return all(checked.verdict == PASSED for checked in self.checks)

    def as_json(self) -> dict:
        """For programs."""
        checks = []
        for checked in self.checks:
            why = {"why": checked.why} if checked.why else {}
            checks.append({"check": checked.check, "verdict": checked.verdict, **why})
        return {
            "hand_id": str(uuid.UUID(bytes=self.hand_id)),
            "passed": self.passed,
            "checks": checks,
        }


def audit(bundle: Bundle, trusted: list[Key]) -> Report:
    """Makes every check."""
    case = Case(bundle)
    walked = walk(case)
    checks = _checks(bundle, trusted, (case, walked))
    return Report(bundle.hand_id, [_made(check, make) for check, make in checks])


def _checks(
    bundle: Bundle, trusted: list[Key], given: tuple[Case, Walk]
) -> list[tuple[str, Callable[[], None]]]:
    case, walked = given
    return [
        ("keys", lambda: proofs.keys(bundle, trusted)),
        ("inclusion", lambda: proofs.inclusion(bundle)),
        ("streams", lambda: streams.check(case)),
        ("commitment", lambda: promises.commitment(case)),
        ("transcript", lambda: promises.transcript(case)),
        ("seed", lambda: promises.seed(case)),
        ("operations", lambda: _operations(case, walked)),
        ("cards", lambda: walked.verdict("cards")),
        ("openings", lambda: openings.check(case, walked)),
        ("decisions", lambda: walked.verdict("decisions")),
        ("clocks", lambda: walked.verdict("clocks")),
        ("settlement", lambda: credits.settlement(case, walked)),
        ("transfer", lambda: credits.transfer(case, walked)),
        ("conserved", lambda: credits.conserved(case)),
    ]


def _made(check: str, make: Callable[[], None]) -> Checked:
    try:
        make()
    except Trouble as trouble:
        return Checked(check, FAILED if trouble.failed else NOT_POSSIBLE, str(trouble))
    return Checked(check, PASSED)


def _operations(case: Case, walked: Walk) -> None:
    """Both logs have the same uses of chance, and the walk found them called for."""
    table = [read.event for read in case.all("ChanceUsed")]
    dealer = [read.event for read in case.all("OperationPerformed")]
    for index, used in enumerate(table):
        if index >= len(dealer):
            raise Trouble(f"operation {index} is in the table's log and not in the dealer's")
        done = dealer[index]
        if (used.operation, used.result) != (done.operation, done.result):
            raise Trouble(f"the table's and the dealer's logs tell operation {index} differently")
    # The dealer is asked first: of a hand that goes on it may know more, and of one that came to
    # nothing what was due when it did.
    over = case.find("HandSettled") is not None or case.aborted
    for index, done in list(enumerate(dealer))[len(table):] if over else ():
        due = [pair for pair in walked.ahead if pair[0].index == index]
        if due != [(done.operation, done.result)]:
            raise Trouble(f"the dealer performed operation {index}, which the hand did not use")
    walked.verdict("operations")
