"""Knows the seventeen checks of a bundle, in order, and what each says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import (
    clocks, closing, credits, openings, promises, proofs, seed, sentences, signatures, start,
    streams, verdict, witness, work,
)
from .bundle import Bundle
from .case import Case, Trouble
from .kept import Kept, Own, compare
from .report import FAILED, NOT_POSSIBLE, PASSED, Checked, Report
from .trust import TrustedKey, Trust
from .verdict import Verdict
from .walk import Walk, walk
from .work import Work

MAX_WHY = 2000
"""Letters of the longest reason that is told."""
NO_KEYS = "no keys were given to trust"


@dataclass(frozen=True)
class Audited:
    """A bundle with what every check said."""

    bundle: Bundle
    trust: Trust
    checks: list[Checked]
    kept: Kept | None
    """What the reader's own evidence says to it."""
    work: Work

    @property
    def proved(self) -> bool:
        """Its records are those of logs that the reader trusts."""
        return _proved(self.checks)

    def contradicted(self, why: str) -> Audited:
        """The same, with another file that contradicts it."""
        checks = [
            Checked(one.check, FAILED, why) if one.check == "inclusion" else one
            for one in self.checks
        ]
        return Audited(self.bundle, self.trust, checks, self.kept, self.work)

    def report(self) -> Report:
        """The verdict, in words too."""
        case = Case(self.bundle, self.trust.keys)
        given = (self.trust, witness.seen(self.bundle, self.trust))
        found = verdict.of(case, self.checks, given)
        if self.kept is not None and self.kept.against:
            found = Verdict("failed", "evidence")
        said = sentences.of(case, found, self.checks, (self.trust, given[1], self.kept))
        return Report(
            self.bundle.hand_id, found.kind, said, self.checks, self.work, _agreed(case)
        )


def _agreed(case: Case) -> tuple[tuple[str, str], ...]:
    """Rule set and settings, as the hand's first record has them."""
    opened = case.find("HandOpened")
    if opened is None:
        return ()
    texts = (("rules", opened.event.rule_set), ("settings", opened.event.settings))
    return tuple((name, _short(", ".join(text.splitlines()))) for name, text in texts)


def broken(bundle: Bundle, problem: Exception) -> Report:
    """The report on a bundle that breaks even its report."""
    said = sentences.failed(f"the program cannot deal with it: {type(problem).__name__}")
    return Report(bundle.hand_id, "failed", said, [])


def refused(why: str, hand_id: bytes | None = None) -> Report:
    """The report on what is not checked."""
    return Report(hand_id, "refused", sentences.refused(why), [])


def audit(bundle: Bundle, trust: Trust) -> Report:
    """The report on one file."""
    if not trust.keys:
        return refused(NO_KEYS, bundle.hand_id)
    return examine(bundle, trust).report()


def examine(bundle: Bundle, trust: Trust) -> Audited:
    """Makes every check."""
    case = Case(bundle, trust.keys)
    walked = _walked(case)
    checks = _checks(bundle, trust.keys, (case, walked))
    made = [_made(check, make) for check, make in checks]
    kept = None
    if trust.evidence is not None:
        kept = compare(case, walked, Own(trust.evidence, trust.keys), _proved(made))
    return Audited(bundle, trust, made, kept, work.now())


def _proved(checks: list[Checked]) -> bool:
    return {Checked("keys", PASSED), Checked("inclusion", PASSED)} <= set(checks)


def _walked(case: Case) -> Walk:
    try:
        return walk(case)
    except Exception as problem:  # Records that nobody foresaw fail the checks, not the program.
        return Walk(broken=_broken(problem))


def _broken(problem: Exception) -> str:
    return f"the check cannot deal with these records: {type(problem).__name__}: {problem}"


def _short(why: str) -> str:
    """A reason may quote what stands in the file, as much as it is."""
    return why if len(why) <= MAX_WHY else f"{why[:MAX_WHY]}…"


def _checks(
    bundle: Bundle, trusted: list[TrustedKey], given: tuple[Case, Walk]
) -> list[tuple[str, Callable[[], None]]]:
    case, walked = given
    return [
        ("keys", lambda: proofs.keys(bundle, trusted)),
        ("inclusion", lambda: proofs.inclusion(bundle)),
        ("streams", lambda: streams.check(case)),
        ("commitment", lambda: promises.commitment(case)),
        ("closing", lambda: closing.check(case)),
        ("transcript", lambda: promises.transcript(case)),
        ("seed", lambda: seed.check(case)),
        ("operations", lambda: _operations(case, walked)),
        ("cards", lambda: walked.verdict("cards")),
        ("openings", lambda: openings.check(case, walked)),
        ("decisions", lambda: walked.verdict("decisions")),
        ("signatures", lambda: signatures.check(case, walked)),
        ("clocks", lambda: _clocks(case, walked)),
        ("settlement", lambda: credits.settlement(case, walked)),
        ("transfer", lambda: credits.transfer(case, walked)),
        ("conserved", lambda: credits.conserved(case)),
        ("start", lambda: start.check(case)),
    ]


def _made(check: str, make: Callable[[], None]) -> Checked:
    try:
        make()
    except Trouble as trouble:
        return Checked(check, FAILED if trouble.failed else NOT_POSSIBLE, _short(str(trouble)))
    except Exception as problem:  # As above.
        return Checked(check, FAILED, _short(_broken(problem)))
    return Checked(check, PASSED)


def _clocks(case: Case, walked: Walk) -> None:
    """What can be said of times without playing the hand again, and what the walk found."""
    clocks.suspensions(case)
    walked.verdict("clocks")


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
