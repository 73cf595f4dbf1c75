"""Every golden bundle gets the verdicts that stand beside it, and no byte can be changed."""

from __future__ import annotations

import io
import json
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from . import bundle, note, proofs
from .__main__ import main
from .audit import audit
from .bundle import NotABundle
from .case import Trouble
from .merkle import sha256

BUNDLES = Path(__file__).resolve().parent.parent / "golden" / "bundles"
KEYS = BUNDLES / "keys.txt"
FLIPS = (0x01, 0x80)
MOST_AUDITS = 1_500


def contents_of(data: bytes) -> bytes:
    """The inner message of a bundle."""
    return bundle.proto.decode("HandBundle", data).contents


def wrap(contents: bytes) -> bytes:
    """A bundle around contents, with the right SHA-256: what a forger would write."""
    length = len(contents)
    varint = b""
    while length >= 128:
        varint += bytes([length & 127 | 128])
        length >>= 7
    return b"\x0a" + varint + bytes([length]) + contents + b"\x12\x20" + sha256(contents)


class Bundles(unittest.TestCase):
    """The golden bundles."""

    def setUp(self) -> None:
        self.files = sorted(BUNDLES.glob("*.sabacc"))
        self.assertGreater(len(self.files), 8, "the golden bundles are not there")
        self.trusted = note.trusted(KEYS.read_text("utf-8"))

    def test_verdicts(self) -> None:
        for path in self.files:
            with self.subTest(file=path.name):
                expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
                found = audit(bundle.read(path.read_bytes()), self.trusted).as_json()
                self.assertEqual(_verdicts(found), _verdicts(expected), found)

    def test_what_is_no_bundle(self) -> None:
        refused = sorted((BUNDLES / "refused").glob("*.sabacc"))
        self.assertGreater(len(refused), 8, "the files that are no bundles are not there")
        for path in refused:
            with self.subTest(file=path.name), self.assertRaises(NotABundle):
                bundle.read(path.read_bytes())

    def test_nobody_is_trusted_unasked(self) -> None:
        for path in self.files:
            report = audit(bundle.read(path.read_bytes()), [])
            self.assertEqual(report.checks[0].verdict, "not_possible")
            self.assertFalse(report.passed)

    def test_other_keys(self) -> None:
        read = bundle.read(self.files[0].read_bytes())
        report = audit(read, self.trusted[:1])
        self.assertEqual(report.checks[0].verdict, "failed")

    def test_the_command(self) -> None:
        for path in self.files:
            passed = json.loads(path.with_suffix(".json").read_text("utf-8"))["passed"]
            for how in ([], ["--json"]):
                with redirect_stdout(io.StringIO()) as out:
                    code = main([str(path), "--keys", str(KEYS), *how])
                self.assertEqual(code, 0 if passed else 1, path.name)
                self.assertTrue(out.getvalue())
        with redirect_stderr(io.StringIO()) as told:
            self.assertEqual(main([str(KEYS), "--keys", str(KEYS)]), 2)
            self.assertEqual(main([str(self.files[0]), "--keys", str(self.files[0])]), 2)
        self.assertIn("keys.txt", told.getvalue())

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
            if json.loads(path.with_suffix(".json").read_text("utf-8"))["passed"]
        ]
        return min((path.read_bytes() for path in passed), key=len)

    def proved(self, data: bytes) -> bool:
        """Whether a bundle passes; the quick checks first."""
        try:
            read = bundle.read(data)
            proofs.keys(read, self.trusted)
            proofs.inclusion(read)
        except (NotABundle, Trouble):
            return False
        return audit(read, self.trusted).passed


def _verdicts(report: dict) -> dict:
    """A report without its words."""
    checks = [(checked["check"], checked["verdict"]) for checked in report["checks"]]
    return {"hand_id": report["hand_id"], "passed": report["passed"], "checks": checks}


if __name__ == "__main__":
    unittest.main()
