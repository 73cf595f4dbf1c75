"""Files of whoever means harm: refused or failed, and never more than said so."""

from __future__ import annotations

import io
import json
import sys
import tempfile
import unicodedata
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from . import bundle, forge_logs, note, proto
from .__main__ import judge, main, shown
from .audit import audit
from .bundle import MAX_FILE, NotABundle
from .forge_logs import ROOM, TRUSTED
from .note import BadNote, Key
from .proto import MAX_PARTS, Malformed, Message
from .test_bundles import contents_of
from .test_forged import put, the
from .test_verdicts import ONE, Hands, failed, report_on


class Hostile(Hands):
    """Files of whoever means harm."""

    def test_a_large_file(self) -> None:
        with self.assertRaisesRegex(NotABundle, "larger than"):
            bundle.read(bytes(MAX_FILE + 1))
        with self.assertRaises(NotABundle):
            bundle.read(bytes(MAX_FILE))
        made = judge(["/dev/zero"], TRUSTED)[0][1]
        self.assertEqual(made.verdict, "refused")
        self.assertIn("larger than", made.sentences[0])

    def test_a_newer_room(self) -> None:
        contents = contents_of(forge_logs.bundle(self.hand_id, self.entries))
        for other in (b"\x08\x03" + contents[2:], b"\x08\x80\x01\xff\xff"):
            with self.assertRaisesRegex(NotABundle, "^written by a newer room: take its verify.h"):
                bundle.read(forge_logs.wrap(other))
        with self.assertRaisesRegex(NotABundle, "format 0"):
            bundle.read(forge_logs.wrap(contents[2:]))
        for cut in (b"", b"\x08", b"\x08" + b"\xff" * 11):
            with self.assertRaises(NotABundle):
                bundle.read(forge_logs.wrap(cut))

    def test_nothing_in_a_text_is_unseen(self) -> None:
        for code in range(sys.maxunicode + 1):
            if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
                self.assertNotIn(chr(code), shown(chr(code)))
        self.assertEqual(shown("Seat 1 \u2212 \U0001f0a1"), "Seat 1 \u2212 \U0001f0a1")
        self.assertEqual(shown("\u00ad\u061c\U000e0041"), r"\xad\u061c\U000e0041")

    def test_a_crowd_of_hashes(self) -> None:
        def log(name: bytes, count: int) -> bytes:
            made = b"\x0a" + bytes([len(name)]) + name + b"\x2a\x00" * count
            return b"\x1a" + forge_logs.varint(len(made)) + made

        logs = log(b"table", 500_000) + log(b"dealer", 0) + log(b"wallet", 0)
        with self.assertRaisesRegex(NotABundle, "at most 500000 records and hashes"):
            bundle.read(forge_logs.wrap(b"\x08\x02\x12\x10" + bytes(16) + logs))

    def test_many_small_parts(self) -> None:
        with self.assertRaisesRegex(Malformed, "too many parts"):
            proto.decode("CardsMoved", b"\x12\x00" * MAX_PARTS)
        with self.assertRaisesRegex(Malformed, "too many parts"):
            proto.decode("OperationResult", b"\x12\x04" + b"\x01" * 4, proto.Budget(3))
        for at, kind in enumerate(("CardsMoved", "CardsMoved")):
            card = Message(op=0, position=0, card="", salt=b"")
            put(self.entries, kind, "cards", [card] * (MAX_PARTS // 4), at)
        with self.assertRaisesRegex(NotABundle, "too many parts"):
            bundle.read(forge_logs.bundle(self.hand_id, self.entries))

    def test_a_long_reason(self) -> None:
        the(self.entries, "HandSettled").lines[0].text = "x" * 100_000
        made = report_on(self.hand_id, self.entries)
        self.assertEqual(failed(made), ["settlement"])
        self.assertLess(max(len(one.why) for one in made.checks), 2100)

    def test_checkpoints(self) -> None:
        key = ROOM["table"]
        root = bytes(32)
        for size in ("9" * 20, "9" * 21, "9" * 5000, str(2**63), "01", "", "-1", "\u0661"):
            with self.subTest(size[:30]), self.assertRaises(BadNote):
                note.open_checkpoint(key.checkpoint(size, root), key.key)
        self.assertEqual(
            note.open_checkpoint(key.checkpoint(2**63 - 1, root), key.key).size, 2**63 - 1
        )
        with self.assertRaises(BadNote):
            note.open_checkpoint(key.checkpoint(0, root), key.key)
        good = key.checkpoint(7, root).split("\n\n")[0]
        for control in "\x00\t\r\x1f\x7f":
            with self.assertRaises(BadNote):
                note.open_checkpoint(key.sign(f"{good}\nmore{control}\n"), key.key)
            with self.assertRaises(BadNote):
                Key("a\x7fb", 1, key.key.public).parse(Key("a\x7fb", 1, key.key.public).text)
        note.open_checkpoint(key.sign(f"{good}\nmore\u0080\u2028\n"), key.key)

    def test_a_checkpoint_of_many_digits_in_a_bundle(self) -> None:
        key = ROOM["table"]
        data = forge_logs.bundle(
            self.hand_id, self.entries,
            lambda name, made: key.checkpoint("9" * 5000, bytes(32)) if name == "table" else made,
        )
        made = audit(bundle.read(data), TRUSTED)
        self.assertEqual((made.verdict, failed(made)), ("failed", ["inclusion"]))

    def test_rules_of_many_rounds(self) -> None:
        rules = the(self.entries, "HandOpened").rule_set
        put(self.entries, "HandOpened", "rule_set", rules.replace("max_rounds = 12",
                                                                   "max_rounds = 1000000000"))
        made = report_on(self.hand_id, self.entries)
        self.assertEqual(failed(made), ["commitment", "decisions"])

    def test_a_check_that_breaks_down_fails(self) -> None:
        for where in ("openings.check", "seed.check", "proofs.keys", "walk"):
            target = f"{__package__}.audit.{where}"
            with self.subTest(where), mock.patch(target, side_effect=RecursionError("deep")):
                made = report_on(self.hand_id, self.entries)
                self.assertEqual(made.verdict, "failed")
                self.assertIn("RecursionError", "".join(one.why for one in made.checks))

    def test_what_is_read_breaks_down(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            with mock.patch(f"{__package__}.bundle.read", side_effect=MemoryError):
                self.assertEqual(judge([file.name], TRUSTED)[0][1].verdict, "refused")

    def test_a_report_that_breaks_down_fails(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(forge_logs.bundle(self.hand_id, self.entries))
            file.flush()
            with mock.patch(f"{__package__}.verdict._owed", side_effect=KeyError):
                self.assertEqual(judge([file.name], TRUSTED)[0][1].verdict, "proved")
            with mock.patch(f"{__package__}.witness.seen", side_effect=KeyError):
                self.assertEqual(judge([file.name], TRUSTED)[0][1].verdict, "failed")

    def test_nothing_reaches_the_terminal(self) -> None:
        hidden = "a\x1b[2J\u202eb\u0085\n\u2066"
        self.assertEqual(shown(hidden), r"a\x1b[2J\u202eb\x85\x0a\u2066")
        line = "p1 wins main 1\x1b[2K\u202e\x7f\n  cards       passed"
        self.entries = [one for one in self.entries if one.kind != "SettlementPosted"]
        the(self.entries, "HandSettled").lines[0].text = line
        legs = the(self.entries, "TransferPosted").legs
        legs[0].account = "seat\x9b\u2029\u200f"
        with tempfile.TemporaryDirectory() as folder:
            path, keys = Path(folder) / "a", Path(folder) / "keys"
            path.write_bytes(forge_logs.bundle(self.hand_id, self.entries))
            keys.write_text("".join(f"{key.text}\n" for key in ROOM.values()))
            for how in ([], ["--json"]):
                with redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(main([str(path), "--keys", str(keys), *how]), 1)
                for bad in "\x1b\u202e\x7f\x9b\u2029":
                    self.assertNotIn(bad, out.getvalue())
                self.assertEqual(out.getvalue().count("\n"), 1 if how else 23)

    def test_the_command(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path, keys = Path(folder) / "a", Path(folder) / "keys"
            watchers = Path(folder) / "witnesses"
            path.write_bytes(
                forge_logs.bundle(self.hand_id, self.entries, lambda _, made: ONE.cosign(made, 5))
            )
            keys.write_text("".join(f"{key.text}\n" for key in ROOM.values()))
            watchers.write_text(f"{ONE.key.text}\n")
            trusting = [str(path), "--keys", str(keys)]
            for more, code in (
                ([], 0), (["--witness-keys", str(watchers)], 0), (["--witnesses", "1"], 4),
                (["--witness-keys", str(watchers), "--witnesses", "2"], 4),
                (["--witness-keys", str(keys)], 2), (["--json"], 0),
            ):
                with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()):
                    self.assertEqual(main([*trusting, *more]), code, more)
            with redirect_stdout(io.StringIO()) as out:
                none = str(Path(folder) / "none")
                self.assertEqual(main([str(path), none, "--keys", str(keys)]), 2)
                self.assertEqual(main([str(path), str(keys), "--keys", str(keys)]), 2)
            with redirect_stdout(io.StringIO()) as out:
                self.assertEqual(main([str(path), str(keys), "--json"]), 2)
            first, second = map(json.loads, out.getvalue().splitlines())
            self.assertEqual(set(first), {"hand_id", "verdict", "sentences", "checks", "work"})
            self.assertEqual((first["verdict"], second["verdict"]), ("refused", "refused"))
            self.assertIsNone(second["hand_id"])
            with redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as left:
                main([*trusting, "--witnesses", "-1"])
            self.assertEqual(left.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
