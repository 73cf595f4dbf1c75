"""What a reader's own evidence, and checkpoints that the reader has seen, say to a hand."""

from __future__ import annotations

import io
import json
import tempfile
import unittest
from base64 import b64encode
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import bundle, evidence, fair, forge_logs, note
from .__main__ import main
from .audit import audit, examine
from .evidence import BadEvidence
from .forge import Player
from .forge_logs import ROOM, TRUSTED, TRUSTED_KEYS, Entry, LogKey
from .forge_table import Plan
from .report import Report
from .test_forged import the
from .trust import Trust, TrustedKey

HEADER = b"sabacc-evidence 1\n"
Texts = list[tuple[str, LogKey, tuple[bytes, ...]]]
Bend = Callable[[list[Entry]], None]
ELSEWHERE = bytes(32)
"""A context that no hand of ours has."""


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


class Noting(Player):
    """Remembers the chain with each decision and leave in it."""

    def write(self, log: str, kind: str, /, on_table: bool = False, **event: Any) -> Entry:
        made = super().write(log, kind, on_table, **event)
        if kind in ("LeaveAsked", "MoveDecided"):
            self.chains = [*getattr(self, "chains", []), getattr(self, "chain", bytes(32))]
        return made


class Hand(unittest.TestCase):
    """A hand, of which somebody keeps evidence."""

    def play(self, plan: Plan, seed: int = 101, bend: Bend = lambda _: None) -> None:
        """Another hand, changed before it is signed."""
        self.player = Noting(plan, seed)
        self.entries = self.player.entries_of_a_hand()
        bend(self.entries)
        self.read = bundle.read(forge_logs.bundle(self.player.hand_id, self.entries))
        self.records = self.read.table.records
        first = the(self.entries, "EntropyCommitted")
        self.seat, self.who = bytes([first.seat]), first.player_id
        self.commitment, self.entropy = self.player.given[first.seat]
        self.key = first.key
        self.bound = (self.player.ctx, self.player.dc)
        self.closing = the(self.entries, "EntropyClosed").closing.closing

    def every(self, *kinds: str) -> list[int]:
        """Positions of records of some kinds."""
        return [read.position for read in self.records if read.kind in kinds]

    def place(self, kind: str) -> int:
        """The position of the first record of a kind."""
        return self.every(kind)[0]

    def gap(self, after: int) -> int:
        """A position that the records reach, of which the file has none."""
        taken = {read.position for read in self.records}
        return next(at for at in range(after, max(taken)) if at not in taken)

    def committed(self, **changed: bytes) -> tuple[bytes, ...]:
        """A receipt for the first commitment."""
        fields = {
            "seat": self.seat, "player": self.who, "commitment": self.commitment, "key": self.key,
            "position": fair.number(self.place("EntropyCommitted"), 8), **changed,
        }
        return (*self.bound, *fields.values())

    def committed_at(self, position: int) -> Texts:
        """A receipt for the first commitment at another position."""
        return [("receipt-sig", ROOM["table"], self.committed(position=fair.number(position, 8)))]

    def revealed(self, position: int) -> tuple[bytes, ...]:
        """A receipt for what the first seat revealed."""
        return (*self.bound, self.seat, self.who, self.entropy, fair.number(position, 8))

    def revealed_at(self, position: int) -> Texts:
        """The same, signed."""
        return [("reveal-receipt-sig", ROOM["table"], self.revealed(position))]

    def decided_at(self, position: int, chain: bytes = bytes(32)) -> Texts:
        """A receipt for a decision or a leave."""
        fields = (self.bound[0], chain, fair.number(position, 8))
        return [("decision-receipt-sig", ROOM["table"], fields)]

    def number(self) -> bytes:
        """What the first commitment was taken of."""
        return fair.encode("client-commit", *self.bound, self.seat, self.who, self.entropy)

    def told(self, texts: Texts, opened: list[bytes] = []) -> Report:
        """The report in the light of evidence."""
        own = evidence.read(file_of(texts, opened))
        return audit(self.read, replace(TRUSTED, evidence=own))

    def against(
        self, texts: Texts, opened: list[bytes] = [], keys: list[TrustedKey] = TRUSTED_KEYS
    ) -> tuple[str, ...]:
        """What of the evidence contradicts the hand, or itself."""
        own = evidence.read(file_of(texts, opened))
        kept = examine(self.read, Trust(keys, [], evidence=own)).kept
        assert kept is not None
        return kept.against


class Kept(Hand):
    """A hand that was played to its end."""

    def setUp(self) -> None:
        self.play(Plan("dice", 3, clocks=False, leaves=False))

    def test_it_fits(self) -> None:
        chain = fair.decision(
            the(self.entries, "HandSealed").transcript, False, self.player.first_line
        )
        made = self.told([
            ("closing-sig", ROOM["dealer"], (*self.bound, self.closing)),
            ("receipt-sig", ROOM["table"], self.committed()),
            ("reveal-receipt-sig", ROOM["table"], self.revealed(self.place("EntropyRevealed"))),
            ("decision-receipt-sig", ROOM["table"], (
                self.bound[0], chain, fair.number(self.place("MoveDecided"), 8))),
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
        opened = fair.number(self.place("HandOpened"), 8)
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
                self.place("HandOpened")))),
            ("the chain of decisions", ("decision-receipt-sig", table, (
                self.bound[0], bytes(32), fair.number(self.place("MoveDecided"), 8)))),
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
        self.assertEqual(evidence.read(other).signed, [])

    def test_files(self) -> None:
        for bad in (
            b"", b"sabacc-evidence 2\n", HEADER[:-1], HEADER + b"open AA==", HEADER + b"open \n",
            HEADER + b"open A\n", HEADER + b"open AB==\n", HEADER + b"seen AA==\n",
            HEADER + b"note 1\n", HEADER + b"note 1 \n", HEADER + b"note  words\n",
            HEADER + b"note 1 a\x1b\n", HEADER + b"\n",
            HEADER + b"note 1 \xc2\x85\n", HEADER + b"note 1 \xff\n",
            HEADER + b"signed AA== AA==\n",
            HEADER + line(b"x", bytes(63), bytes(32)), HEADER + line(b"x", bytes(64), bytes(31)),
            HEADER + b"note 1 " + b"x" * 32_768 + b"\n", b"\xef\xbb\xbf" + HEADER,
        ):
            with self.subTest(bad[:60]), self.assertRaises(BadEvidence):
                evidence.read(bad)
        for fine in (b"2026-05-01T10:00:00Z", b"07", b"-1", b"18446744073709551616"):
            self.assertEqual(evidence.read(HEADER + b"note " + fine + b" a b\n").signed, [])
        cut = (5).to_bytes(4, "big") + b"shor"
        self.assertEqual(evidence.read(HEADER + line(cut, kind="open")).numbers, [])

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


class Conflicts(Hand):
    """What evidence proves by itself."""

    def setUp(self) -> None:
        self.play(Plan("dice", 3, clocks=False, leaves=False))
        self.bound = (ELSEWHERE, ELSEWHERE)

    def closed(self, made: bytes, key: LogKey = ROOM["dealer"]) -> Texts:
        """A closing of another hand."""
        return [("closing-sig", key, (*self.bound, made))]

    def test_two_closings(self) -> None:
        two = [*self.closed(bytes([1] * 32)), *self.closed(bytes([2] * 32))]
        told = "lines 2 and 3: the dealer signed two closings for one number"
        self.assertEqual(self.against(two), (told,))
        made = self.told(two)
        self.assertEqual(made.verdict, "failed")
        self.assertIn(told, made.sentences[0])
        self.assertEqual(self.told([two[0], two[0]]).verdict, "proved")
        three = [*self.closed(bytes(32)), *two]
        lines = [one.partition(":")[0] for one in self.against(three)]
        self.assertEqual(lines, ["lines 2 and 3", "lines 2 and 4"])

    def test_whose_texts_count(self) -> None:
        other = LogKey("dealer")
        other.key = replace(LogKey("x").key, name="elsewhere/dealer")
        other.private = LogKey("x").private
        for key in (LogKey("stranger"), ROOM["table"], ROOM["wallet"], other):
            two = [*self.closed(bytes(32), key), *self.closed(bytes([1] * 32), key)]
            self.assertEqual(self.against(two), ())
        keys = [*TRUSTED_KEYS, TrustedKey(other.key, 0)]
        self.assertEqual(len(self.against(two, keys=keys)), 1)
        self.assertEqual(self.against([two[0], *self.closed(bytes([1] * 32))], keys=keys), ())

    def test_two_promises(self) -> None:
        def promise(rules: int, made: int, number: int = 9) -> Texts:
            fields = (b"elsewhere", bytes(16), fair.number(number, 8))
            return [("dealer-commit-sig", ROOM["dealer"], (
                *fields, bytes([rules] * 32), bytes([made] * 32)))]

        told = ("lines 2 and 3: the dealer promised one number twice",)
        self.assertEqual(self.against([*promise(1, 1), *promise(1, 2)]), told)
        self.assertEqual(self.against([*promise(1, 1), *promise(2, 1)]), told)
        self.assertEqual(self.against([*promise(1, 1), *promise(1, 1)]), ())
        self.assertEqual(self.against([*promise(1, 1), *promise(1, 2, 10)]), ())

    def test_two_receipts(self) -> None:
        seat = "lines 2 and 3: the table took two commitments of one seat"
        place = (
            "lines 2 and 3: the table gave receipts for two records at one position of its log"
        )
        first = ("receipt-sig", ROOM["table"], self.committed(position=fair.number(10**6, 8)))
        for changed, told in (
            ({}, ()),
            ({"commitment": bytes(32)}, (seat, place)),
            ({"key": b""}, (seat, place)),
            ({"position": fair.number(10**6 + 1, 8)}, (seat,)),
            ({"seat": b"\x09"}, (place,)),
            ({"player": bytes(16), "position": fair.number(10**6 + 1, 8)}, ()),
        ):
            fields = self.committed(**{"position": fair.number(10**6, 8), **changed})
            self.assertEqual(self.against([first, ("receipt-sig", ROOM["table"], fields)]), told)
        for other in (self.revealed_at(10**6), self.decided_at(10**6)):
            self.assertEqual(self.against([first, *other]), (place,))

    def test_a_receipt_that_a_closing_leaves_out(self) -> None:
        receipt = self.committed_at(10**6)
        told = ("lines 2 and 3: a receipt was given for a commitment that the closing has not",)
        for seat, player, given, against in (
            (self.seat[0], self.who, self.commitment, ()),
            (self.seat[0], self.who, b"", told),
            (self.seat[0], self.who, bytes([7] * 32), told),
            (self.seat[0] + 1, self.who, b"", ()),
            (self.seat[0], bytes(16), b"", ()),
        ):
            row = fair.closing_row(seat, player, given)
            opened = fair.encode("closing", *self.bound, b"\x01", row)
            made = fair.closing(*self.bound, [row])
            texts = [*receipt, *self.closed(made)]
            self.assertEqual(self.against(texts, [opened]), against)
            self.assertEqual(self.against(texts), ())
        # Other bytes than a closing was taken of open nothing.
        for count, bad in (
            (b"\x01", row[:17] + b"\x02" + row[18:]), (b"\x01", row[:-1] + b"\x01"),
            (b"\x01", row[:-1]), (b"\x01", row + b"\x00"), (b"\x02", row), (b"", row),
        ):
            opened = fair.encode("closing", *self.bound, count, bad)
            self.assertEqual(evidence.read(file_of([], [opened])).closings, {})

    def test_records_that_are_not_proved(self) -> None:
        texts = [*self.closed(bytes(32)), *self.closed(bytes([1] * 32))]
        self.bound = (self.player.ctx, self.player.dc)
        texts += self.closed(bytes(32))
        self.assertEqual(len(self.against(texts)), 2)
        keys = [TrustedKey(TRUSTED_KEYS[0].key, 1), *TRUSTED_KEYS[1:]]
        self.assertEqual(len(self.against(texts, keys=keys)), 1)


if __name__ == "__main__":
    unittest.main()
