"""The work that a file makes is bounded by its size."""

from __future__ import annotations

import unittest

from . import bundle, forge_logs, work
from .audit import audit, refused
from .bundle import NotABundle
from .forge_logs import TRUSTED
from .forge_table import Plan
from .proto import Message
from .rules.hand import GAMES
from .test_forged import RULES, played, put, the
from .work import Work

STEPS, BYTES, SIGNATURES = 2, 40, 1 / 32
"""Of each byte of a file."""
ALWAYS = Work(20_000, 100_000, 16)
"""Whatever the file: a rule set's cycles and rounds are at most 1,000."""


def made_by(data: bytes) -> Work:
    """The work that a file makes."""
    work.begin()
    try:
        report = audit(bundle.read(data), TRUSTED)
    except NotABundle as problem:
        report = refused(str(problem))
    return report.work


class Bounded(unittest.TestCase):
    """Files of whoever wants to make a verifier hang."""

    def check(self, data: bytes) -> None:
        made = made_by(data)
        self.assertLessEqual(made.steps, ALWAYS.steps + STEPS * len(data), made)
        self.assertLessEqual(made.bytes, ALWAYS.bytes + BYTES * len(data), made)
        self.assertLessEqual(made.signatures, ALWAYS.signatures + SIGNATURES * len(data), made)

    def test_honest_hands(self) -> None:
        for variant in GAMES:
            with self.subTest(variant):
                made = made_by(forge_logs.bundle(*played(Plan(variant, 3), 3)))
                self.assertTrue(min(vars(made).values()) > 5, made)
                self.check(forge_logs.bundle(*played(Plan(variant, 3, RULES.get(variant, {})), 3)))

    def test_a_hand_that_everybody_has_left(self) -> None:
        for variant, rules in (
            ("dice", {"shift": "1d6", "max_rounds": 1000}),
            ("electronic", {"pulse_ppm": 1_000_000, "max_rounds": 1000}),
            ("electronic", {"shift": "none", "max_rounds": 1000}), ("force", {"max_rounds": 1000}),
        ):
            plan = Plan(variant, 3, rules, silent_after=9, silence="agreed", everybody_leaves=True)
            hand_id, entries = played(plan, 2)
            with self.subTest(plan=plan):
                self.check(forge_logs.bundle(hand_id, entries))
                put(entries, "HandOpened", "rule_set", the(entries, "HandOpened").rule_set.replace(
                    "max_rounds = 1000", f"max_rounds = {2**53 - 1}"))
                self.check(forge_logs.bundle(hand_id, entries))

    def test_many_records(self) -> None:
        hand_id, entries = played(Plan("dice", 3), 1)
        renamed = [one for one in entries if one.kind == "HandCommitted"]
        for at in range(2_000):
            renamed.append(forge_logs.Entry(
                "table", renamed[0].stream, renamed[0].at, "SeatRenamed", Message(seat=1)))
        at = entries.index(renamed[0])
        self.check(forge_logs.bundle(hand_id, entries[:at] + renamed + entries[at + 1 :]))

    def test_bytes_that_are_no_bundle(self) -> None:
        for data in (
            b"\xff" * 2_000_000, b"\x0a\x80" * 500_000, b"\x0a\x00" * 500_000,
            forge_logs.wrap(b"\x08\x02\x1a\x00" + b"\x1a\x00" * 500_000),
            forge_logs.wrap(b"\x08\x02\x1a\x02\x22\x00" * 200_000),
        ):
            self.check(data)


if __name__ == "__main__":
    unittest.main()
