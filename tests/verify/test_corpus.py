"""Every hostile file of the corpus gets the outcome that the list says, within its bound of work."""

from __future__ import annotations

import json
import os
import unittest
from pathlib import Path

from . import audit, bundle, evidence, note, trust, work
from .bundle import NotABundle
from .evidence import BadEvidence
from .note import BadNote
from .report import Report
from .test_bundles import KEYS
from .trust import Trust

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "hostile"
FOLDER = Path(os.environ.get("SABACC_SWEEP", GOLDEN))
"""The corpus, or a sweep in its place."""
STEPS, BYTES, SIGNATURES = 2, 40, 1 / 32
"""Work of each byte of a file."""
ALWAYS = work.Work(20_000, 100_000, 16)
"""Work that any file may make."""


def content(path: Path) -> bytes:
    """The bytes of a file; of one in short, those that its lines stand for: `TIMES HEX`, or
    `= FROM LENGTH` of the honest bundle."""
    data = path.read_bytes()
    if path.suffix != ".short":
        return data
    honest = (FOLDER / "bundles" / "honest.sabacc").read_bytes()
    pieces = []
    for line in data.decode("ascii").splitlines():
        first, *rest = line.split(" ")
        if first == "=":
            start, length = map(int, rest)
            pieces.append(honest[start : start + length])
        else:
            pieces.append(int(first) * bytes.fromhex(rest[0]))
    return b"".join(pieces)


class Corpus(unittest.TestCase):
    """Files of whoever means harm."""

    def setUp(self) -> None:
        self.listed = json.loads((FOLDER / "expected.json").read_text("utf-8"))
        self.assertGreater(len(self.listed), 100, "the corpus is not there")
        self.trusted = Trust(trust.read(KEYS.read_bytes()), [])

    def test_outcomes(self) -> None:
        for one in self.listed:
            with self.subTest(file=one["file"]):
                data = content(FOLDER / one["file"])
                self.assertEqual(self.outcome(one["kind"], data), {
                    key: one[key] for key in one if key not in ("file", "kind")
                })

    def test_nothing_else_is_there(self) -> None:
        found = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
        self.assertEqual(found - {"expected.json"}, {one["file"] for one in self.listed})

    def outcome(self, kind: str, data: bytes) -> dict:
        """What becomes of a file."""
        if kind == "bundle":
            return self.judged(data)
        try:
            self.read(kind, data)
        except (BadEvidence, BadNote, UnicodeDecodeError):
            return {"verdict": "refused"}
        return {"verdict": "accepted"}

    def read(self, kind: str, data: bytes) -> None:
        """Reads a file that is no bundle."""
        match kind:
            case "keys":
                trust.read(data)
            case "witness_keys":
                trust.read_witnesses(data)
            case "note":
                note.parse(data.decode())
            case "checkpoint":
                note.open_checkpoint(data.decode(), self.trusted.keys[0].key)
            case "evidence":
                evidence.read(data)
            case _:
                self.fail(f"no such kind: {kind}")

    def judged(self, data: bytes) -> dict:
        """The verdict of a bundle and of its checks."""
        work.begin()
        try:
            report = audit.audit(bundle.read(data), self.trusted)
        except NotABundle as problem:
            report = audit.refused(str(problem))
        made = work.now()
        self.assertLessEqual(made.steps, ALWAYS.steps + STEPS * len(data))
        self.assertLessEqual(made.bytes, ALWAYS.bytes + BYTES * len(data))
        self.assertLessEqual(made.signatures, ALWAYS.signatures + SIGNATURES * len(data))
        if report.verdict == "refused":
            return {"verdict": "refused"}
        return {
            "verdict": report.verdict,
            "failed": checks(report, "failed"),
            "not_possible": checks(report, "not_possible"),
        }


def checks(report: Report, verdict: str) -> list[str]:
    """The checks with a verdict."""
    return [one.check for one in report.checks if one.verdict == verdict]


if __name__ == "__main__":
    unittest.main()
