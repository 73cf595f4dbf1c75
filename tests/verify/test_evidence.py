"""What a reader's own evidence, and checkpoints that the reader has seen, say to a hand."""

from __future__ import annotations

import io
import json
import tempfile
import unittest
from base64 import b64encode
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

from . import bundle, evidence, fair, forge_logs, note
from .__main__ import main
from .audit import audit
from .evidence import BadEvidence
from .forge import Player
from .forge_logs import ROOM, TRUSTED, LogKey
from .forge_table import Plan
from .report import Report
from .test_forged import the

HEADER = b"sabacc-evidence 1\n"
Texts = list[tuple[str, LogKey, tuple[bytes, ...]]]


def line(*parts: bytes, kind: str = "signed") -> bytes:
    """A line of evidence."""
    return " ".join([kind, *(b64encode(part).decode() for part in parts)]).encode() + b"\n"


def file_of(texts: Texts, opened: list[bytes] = []) -> bytes:
    """A file with signed texts."""
    lines = [HEADER]
    for tag, key, fields in texts:
        message = fair.signed_text(tag, key.key.public, *fields)
        lines.append(line(message, key.private.sign(message), key.key.public))
    return b"".join([*lines, *(line(one, kind="open") for one in opened), b"note 7 words\n"])


class Kept(unittest.TestCase):
    """One hand, of which somebody keeps evidence."""

    def setUp(self) -> None:
        self.player = Player(Plan("dice", 3, clocks=False, leaves=False), 101)
        self.entries = self.player.entries_of_a_hand()
        read = bundle.read(forge_logs.bundle(self.player.hand_id, self.entries))
        self.read = read
        self.places = {
            kind: next(one.position for one in read.table.records if one.kind == kind)
            for kind in ("EntropyCommitted", "EntropyRevealed", "MoveDecided", "HandOpened")
        }
        first = the(self.entries, "EntropyCommitted")
        self.seat, self.who = bytes([first.seat]), first.player_id
        self.commitment, self.entropy = self.player.given[first.seat]
        self.key = first.key
        self.bound = (self.player.ctx, self.player.dc)
        self.closing = the(self.entries, "EntropyClosed").closing.closing

    def committed(self, **changed: bytes) -> tuple[bytes, ...]:
        """A receipt for the first commitment."""
        fields = {
            "seat": self.seat, "player": self.who, "commitment": self.commitment, "key": self.key,
            "position": fair.number(self.places["EntropyCommitted"], 8), **changed,
        }
        return (*self.bound, *fields.values())

    def revealed(self, position: int) -> tuple[bytes, ...]:
        """A receipt for what the first seat revealed."""
        return (*self.bound, self.seat, self.who, self.entropy, fair.number(position, 8))

    def number(self) -> bytes:
        """What the first commitment was taken of."""
        return fair.encode("client-commit", *self.bound, self.seat, self.who, self.entropy)

    def told(self, texts: Texts, opened: list[bytes] = []) -> Report:
        """The report in the light of evidence."""
        own = evidence.read(file_of(texts, opened))
        return audit(self.read, replace(TRUSTED, evidence=own))

    def test_it_fits(self) -> None:
        chain = fair.decision(
            the(self.entries, "HandSealed").transcript, False, self.player.first_line
        )
        made = self.told([
            ("closing-sig", ROOM["dealer"], (*self.bound, self.closing)),
            ("receipt-sig", ROOM["table"], self.committed()),
            ("reveal-receipt-sig", ROOM["table"], self.revealed(self.places["EntropyRevealed"])),
            ("decision-receipt-sig", ROOM["table"], (
                self.bound[0], chain, fair.number(self.places["MoveDecided"], 8))),
        ], [self.number()])
        self.assertEqual(made.verdict, "proved", made.sentences)
        self.assertEqual(
            made.sentences[2],
            f"Your part: your number of seat {self.seat[0]} is in the closing, in the transcript "
            "and in every card; the closing that you were sent is the one on record.",
        )

    def test_nothing_of_this_hand(self) -> None:
        made = self.told([])
        self.assertEqual(made.verdict, "proved")
        self.assertIn("nothing of yours is in it", made.sentences[2])
        other = fair.encode("client-commit", *self.bound, self.seat, self.who, bytes(32))
        self.assertIn("is not in the closing", self.told([], [other]).sentences[2])

    def test_what_convicts(self) -> None:
        table, dealer = ROOM["table"], ROOM["dealer"]
        promise = the(self.entries, "SeedCommitted")
        number = (dealer.name.encode(), promise.table_id, fair.number(promise.hand_no, 8))
        opened = fair.number(self.places["HandOpened"], 8)
        for what, text in (
            ("another closing", ("closing-sig", dealer, (*self.bound, bytes(32)))),
            ("promised another seed", ("dealer-commit-sig", dealer, (
                *number, promise.rules_hash, bytes(32)))),
            ("promised another seed", ("dealer-commit-sig", dealer, (
                *number, bytes(32), self.player.dc))),
            ("the closing leaves out", ("receipt-sig", table, self.committed(
                commitment=bytes(32)))),
            ("holds something else", ("receipt-sig", table, self.committed(position=opened))),
            ("holds something else", ("receipt-sig", table, self.committed(key=bytes(32)))),
            ("for no record", ("reveal-receipt-sig", table, self.revealed(
                self.places["HandOpened"]))),
            ("the chain of decisions", ("decision-receipt-sig", table, (
                self.bound[0], bytes(32), fair.number(self.places["MoveDecided"], 8)))),
            ("holds something else", ("decision-receipt-sig", table, (
                self.bound[0], bytes(32), opened))),
        ):
            with self.subTest(what):
                made = self.told([text])
                self.assertEqual(made.verdict, "failed")
                self.assertIn("your evidence contradicts it: ", made.sentences[0])
                self.assertIn(what, made.sentences[0])

    def test_what_convicts_nobody(self) -> None:
        stranger = LogKey("stranger")
        for texts in (
            [("closing-sig", stranger, (*self.bound, bytes(32)))],
            [("closing-sig", ROOM["table"], (*self.bound, bytes(32)))],
            [("closing-sig", ROOM["dealer"], (bytes(32), self.bound[1], bytes(32)))],
            [("receipt-sig", ROOM["dealer"], self.committed(commitment=bytes(32)))],
            [("decision-sig", ROOM["table"], (self.bound[0], bytes(32), b"p1 fold"))],
        ):
            self.assertEqual(self.told(texts).verdict, "proved")
        forged = file_of([("closing-sig", ROOM["dealer"], (*self.bound, bytes(32)))])
        at = forged.index(b" ", forged.index(b"signed ") + 7) + 1
        other = forged[:at] + (b"B" if forged[at:at + 1] == b"A" else b"A") + forged[at + 1 :]
        self.assertEqual(len(evidence.read(forged).signed), 1)
        self.assertEqual(evidence.read(other).signed, ())

    def test_a_burn_that_a_receipt_refutes(self) -> None:
        self.player = Player(Plan("dice", 3, entropy="withheld"), 101)
        entries = self.player.entries_of_a_hand()
        seat = the(entries, "HandAborted").seats[0]
        self.read = bundle.read(forge_logs.bundle(self.player.hand_id, entries))
        self.bound = (self.player.ctx, self.player.dc)
        self.seat, self.entropy = bytes([seat]), self.player.given[seat][1]
        self.assertEqual(self.told([]).verdict, "broken_off")
        closed = next(r.position for r in self.read.table.records if r.kind == "EntropyClosed")
        made = self.told([("reveal-receipt-sig", ROOM["table"], self.revealed(closed + 1))])
        self.assertEqual(made.verdict, "failed")
        self.assertIn(f"the number was burnt for seat {seat}", made.sentences[0])

    def test_files(self) -> None:
        for bad in (
            b"", b"sabacc-evidence 2\n", HEADER[:-1], HEADER + b"open AA==", HEADER + b"open \n",
            HEADER + b"open A\n", HEADER + b"open AB==\n", HEADER + b"seen AA==\n",
            HEADER + b"note 07 a\n", HEADER + b"note -1 a\n", HEADER + b"note 1 \n",
            HEADER + b"note 18446744073709551616 a\n", HEADER + b"note 1 a\x1b\n", HEADER + b"\n",
            HEADER + b"note 1 \xc2\x85\n", HEADER + b"note 1 \xff\n",
            HEADER + b"signed AA== AA==\n",
            HEADER + line(b"x", bytes(63), bytes(32)), HEADER + line(b"x", bytes(64), bytes(31)),
            HEADER + b"note 1 " + b"x" * 32_768 + b"\n", b"\xef\xbb\xbf" + HEADER,
        ):
            with self.subTest(bad[:60]), self.assertRaises(BadEvidence):
                evidence.read(bad)
        self.assertEqual(evidence.read(HEADER).signed, ())
        cut = (5).to_bytes(4, "big") + b"shor"
        self.assertEqual(evidence.read(HEADER + line(cut, kind="open")).numbers, ())

    def test_the_command(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path, keys, own, seen = (Path(folder) / name for name in ("a", "keys", "own", "seen"))
            path.write_bytes(forge_logs.bundle(self.player.hand_id, self.entries))
            keys.write_text("".join(f"{key.text}\n" for key in ROOM.values()))
            own.write_bytes(file_of([("closing-sig", ROOM["dealer"], (*self.bound, bytes(32)))]))
            seen.mkdir()
            (seen / "x.checkpoint").write_text(self.read.table.checkpoint)
            (seen / "y.checkpoint").write_bytes(b"\xff")
            trusting = [str(path), "--keys", str(keys), "--json"]

            def run(*more: str) -> tuple[int, str]:
                with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()):
                    return main([*trusting, *more]), out.getvalue()

            self.assertEqual(run()[0], 0)
            self.assertEqual(run("--evidence", str(own))[0], 1)
            self.assertEqual(run("--evidence", str(keys))[0], 2)
            self.assertEqual(run("--seen", str(seen))[0], 0)
            self.assertEqual(run("--seen", str(keys))[0], 2)
            size = note.open_checkpoint(self.read.table.checkpoint, ROOM["table"].key).size
            fork = ROOM["table"].checkpoint(size, bytes(32))
            (seen / "z.checkpoint").write_text(fork)
            (seen / "x.checkpoint").unlink()
            code, out = run("--seen", str(seen))
            self.assertEqual((code, json.loads(out)["verdict"]), (1, "failed"))
            self.assertIn("a checkpoint you have seen contradicts it", out)


if __name__ == "__main__":
    unittest.main()
