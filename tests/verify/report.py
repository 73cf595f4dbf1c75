"""Knows the result of a file: its verdict, the three sentences, and what each check says."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from . import work
from .work import Work

PASSED, FAILED, NOT_POSSIBLE = "passed", "failed", "not_possible"
EXITS = {"proved": 0, "failed": 1, "refused": 2, "broken_off": 3, "not_finished": 4}
FIRST = (1, 2, 4, 3)
"""Of several files the exit code is the first of these that occurs."""


@dataclass(frozen=True)
class Checked:
    """A check and what came of it; `why` is empty where it passed."""

    check: str
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Report:
    """Result of a file. One that is refused has no checks, and an id only if it is a bundle."""

    hand_id: bytes | None
    verdict: str
    sentences: tuple[str, str, str]
    checks: list[Checked]
    work: Work = field(default_factory=work.now)
    """What it took to read and judge the file."""
    agreed: tuple[tuple[str, str], ...] = ()
    """What it was played by: the texts of rule set and settings, on one line each."""

    def as_json(self) -> dict:
        """For programs."""
        checks = []
        for checked in self.checks:
            why = {"why": checked.why} if checked.why else {}
            checks.append({"check": checked.check, "verdict": checked.verdict, **why})
        return {
            "hand_id": None if self.hand_id is None else str(uuid.UUID(bytes=self.hand_id)),
            "verdict": self.verdict,
            "sentences": list(self.sentences),
            "checks": checks,
            **dict(self.agreed),
            "work": vars(self.work),
        }


def exit_code(verdicts: list[str]) -> int:
    """The exit code for the verdicts of several files."""
    found = {EXITS[verdict] for verdict in verdicts}
    return next((code for code in FIRST if code in found), 0)
