"""Every golden bundle gets the verdicts that stand beside it, and no byte can be changed."""

from __future__ import annotations

import io
import json
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from . import bundle, proofs, trust
from .__main__ import main
from .audit import audit
from .bundle import NotABundle
from .case import Trouble
from .forge_logs import wrap
from .report import EXITS
from .trust import Trust

BUNDLES = Path(__file__).resolve().parent.parent / "golden" / "bundles"
KEYS = BUNDLES / "keys.txt"
FLIPS = (0x01, 0x80)
MOST_AUDITS = 1_500


def contents_of(data: bytes) -> bytes:
    """The inner message of a bundle."""
    return bundle.proto.decode("HandBundle", data).contents


class Bundles(unittest.TestCase):
    """The golden bundles."""

    def setUp(self) -> None:
        self.files = sorted(BUNDLES.glob("*.sabacc"))
        self.assertGreater(len(self.files), 8, "the golden bundles are not there")
        self.trusted = Trust(trust.read(KEYS.read_bytes()), [])

    def test_verdicts(self) -> None:
        for path in self.files:
            with self.subTest(file=path.name):
                expected = self.expected(path)
                found = audit(bundle.read(path.read_bytes()), self.trusted).as_json()
                self.assertEqual(_verdicts(found), _verdicts(expected), found)

    def test_every_released_format(self) -> None:
        formats = range(bundle.FIRST_FORMAT, bundle.FORMAT + 1)
        kept = sorted((BUNDLES / "formats").glob("*.sabacc"))
        self.assertEqual([int(path.stem) for path in kept], list(formats))
        for path in kept:
            read = bundle.read(path.read_bytes())
            self.assertEqual(audit(read, self.trusted).verdict, "proved", path.name)

    def test_a_room_for_developers(self) -> None:
        mark = (
            "For developers alone: an option fixed the dealer's seeds, so whoever knows it knew every "
            "card beforehand. Clocks of this table run 2 times as fast as its settings say. "
        )
        data = (BUNDLES / "room-for-developers.sabacc").read_bytes()
        report = audit(bundle.read(data), self.trusted)
        self.assertEqual(report.verdict, "proved")
        self.assertTrue(report.sentences[0].startswith(mark + "Hand "), report.sentences[0])
        read = bundle.read(data)
        read.logs[2].records.clear()
        report = audit(read, self.trusted)
        self.assertEqual(report.verdict, "failed")
        self.assertTrue(report.sentences[0].startswith(mark + "This hand"), report.sentences[0])
        others = [path for path in self.files if not path.name.startswith("room-for-developers")]
        for path in others[:5]:
            report = audit(bundle.read(path.read_bytes()), self.trusted)
            self.assertNotIn("developers", report.sentences[0])

    def test_what_is_no_bundle(self) -> None:
        refused = sorted((BUNDLES / "refused").glob("*.sabacc"))
        self.assertGreater(len(refused), 8, "the files that are no bundles are not there")
        for path in refused:
            with self.subTest(file=path.name), self.assertRaises(NotABundle):
                bundle.read(path.read_bytes())

    def test_nobody_is_trusted_unasked(self) -> None:
        for path in self.files:
            report = audit(bundle.read(path.read_bytes()), Trust([], []))
            self.assertEqual((report.verdict, report.checks), ("refused", []))

    def test_other_keys(self) -> None:
        read = bundle.read(self.files[0].read_bytes())
        report = audit(read, Trust(self.trusted.keys[:1], []))
        self.assertEqual((report.verdict, report.checks[0].verdict), ("failed", "failed"))

    def test_the_command(self) -> None:
        for path in self.files:
            verdict = self.expected(path)["verdict"]
            for how in ([], ["--json"]):
                with redirect_stdout(io.StringIO()) as out:
                    code = main([str(path), "--keys", str(KEYS), *how])
                self.assertEqual(code, EXITS[verdict], path.name)
                self.assertIn(verdict if how else verdict.replace("_", " "), out.getvalue())
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as told:
            self.assertEqual(main([str(KEYS), "--keys", str(KEYS)]), 2)
            self.assertEqual(main([str(self.files[0]), "--keys", str(self.files[0])]), 2)
        self.assertIn("keys.txt: refused", out.getvalue())
        self.assertIn(self.files[0].name, told.getvalue())

    def test_every_flipped_byte_of_a_file_is_refused(self) -> None:
        data = self.small()
        for at in range(len(data)):
            for flip in FLIPS:
                changed = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
                with self.assertRaises(NotABundle):
                    bundle.read(changed)
        for cut in (data[:-1], data + b"\0", b""):
            with self.assertRaises(NotABundle):
                bundle.read(cut)

    def test_a_flipped_byte_under_a_new_checksum_is_noticed(self) -> None:
        data = self.small()
        contents = contents_of(data)
        self.assertEqual(wrap(contents), data)
        stride = max(len(contents) * len(FLIPS) // MOST_AUDITS, 1)
        for at in range(0, len(contents), stride):
            for flip in FLIPS:
                forged = wrap(contents[:at] + bytes([contents[at] ^ flip]) + contents[at + 1 :])
                self.assertFalse(self.proved(forged), f"byte {at} of the contents, {flip:#x}")

    def small(self) -> bytes:
        """The smallest bundle that passes."""
        passed = [
            path for path in self.files
            if self.expected(path)["verdict"] in ("proved", "broken_off")
        ]
        return min((path.read_bytes() for path in passed), key=len)

    def proved(self, data: bytes) -> bool:
        """Whether a bundle passes; the quick checks first."""
        try:
            read = bundle.read(data)
            proofs.keys(read, self.trusted.keys)
            proofs.inclusion(read)
        except (NotABundle, Trouble):
            return False
        return audit(read, self.trusted).verdict in ("proved", "broken_off")

    def expected(self, path: Path) -> dict:
        """The report beside a bundle."""
        return json.loads(path.with_suffix(".json").read_text("utf-8"))


def _verdicts(report: dict) -> dict:
    """A report without its words."""
    checks = [(checked["check"], checked["verdict"]) for checked in report["checks"]]
    return {"hand_id": report["hand_id"], "verdict": report["verdict"], "checks": checks}


if __name__ == "__main__":
    unittest.main()
