"""Files that are given together get the verdicts that the list of their group says."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from . import trust
from .__main__ import judge
from .test_bundles import KEYS
from .trust import Trust

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "several"


class Several(unittest.TestCase):
    """Groups of golden bundles."""

    def setUp(self) -> None:
        self.groups = json.loads((FOLDER / "expected.json").read_text("utf-8"))
        self.assertGreater(len(self.groups), 5, "the groups of bundles are not there")
        self.trusted = Trust(trust.read(KEYS.read_bytes()), [])

    def test_groups(self) -> None:
        for group in self.groups:
            with self.subTest(group=group["group"]):
                paths = [FOLDER / group["group"] / one["file"] for one in group["files"]]
                found = [
                    {
                        "file": Path(name).name,
                        "verdict": report.verdict,
                        "failed": [one.check for one in report.checks if one.verdict == "failed"],
                    }
                    for name, report in judge([str(path) for path in paths], self.trusted)
                ]
                self.assertEqual(found, group["files"])

    def test_in_another_order(self) -> None:
        for group in self.groups:
            with self.subTest(group=group["group"]):
                paths = [FOLDER / group["group"] / one["file"] for one in group["files"][::-1]]
                found = [made.verdict for _, made in judge([str(p) for p in paths], self.trusted)]
                self.assertEqual(found, [one["verdict"] for one in group["files"][::-1]])


if __name__ == "__main__":
    unittest.main()
