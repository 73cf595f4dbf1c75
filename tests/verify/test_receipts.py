"""What receipts in a reader's evidence say to a hand: of it, and of other numbers."""

from __future__ import annotations

import unittest
from dataclasses import replace

from . import fair, note
from .forge_logs import ROOM, TRUSTED_KEYS, Entry
from .forge_table import TABLE, Plan
from .proto import Message
from .test_evidence import ELSEWHERE, Hand
from .test_forged import the
from .trust import TrustedKey

NO_COMMITMENT = "the position of the receipt for a commitment holds something else"
NO_REVEAL = "the receipt for a revealed number is for no record of this hand"
NO_DECISION = "the position of the receipt for a decision holds something else"
OTHER_CHAIN = "the chain of decisions is another than the receipt for a decision has"
OTHER_NUMBER = "the position of a receipt for another number holds something else"


class Receipts(Hand):
    """What receipts are held against."""

    def test_every_decision_and_leave(self) -> None:
        self.play(Plan("dice", 3, clocks=False), 103)
        places, chains = self.every("LeaveAsked", "MoveDecided"), self.player.chains
        self.assertEqual(len(places), len(chains))
        fits = [self.decided_at(*one)[0] for one in zip(places, chains)]
        self.assertEqual(self.told(fits).verdict, "proved")
        for place in (*self.every("LeaveAsked"), places[0], places[-1]):
            self.assertEqual(self.against(self.decided_at(place)), (OTHER_CHAIN,))

    def test_a_leave_is_judged_before_its_signature(self) -> None:
        def bend(entries: list[Entry]) -> None:
            the(entries, "LeaveAsked").signature = bytes(64)

        self.play(Plan("dice", 3, clocks=False), 103, bend)
        self.assertEqual(self.against(self.decided_at(self.place("LeaveAsked"))), (OTHER_CHAIN,))

    def test_leaves_that_the_hand_ended_before(self) -> None:
        def bend(entries: list[Entry]) -> None:
            at = next(at for at, one in enumerate(entries) if one.kind == "HandSettled")
            for seat in self.player.seats[:2]:
                event = Message(seat=seat, why="asked", signature=b"")
                entries.insert(at, Entry("table", TABLE, entries[at].at, "LeaveAsked", event))
                at += 1

        self.play(Plan("dice", 3, clocks=False, leaves=False, signing=0), bend=bend)
        self.assertEqual(self.told([]).verdict, "proved")
        chain = self.player.chains[-1]
        for place, line in zip(self.every("LeaveAsked"), ("p1 leave", "p2 leave"), strict=True):
            chain = fair.decision(chain, False, line)
            self.assertEqual(self.against(self.decided_at(place, chain)), ())
            self.assertEqual(self.against(self.decided_at(place)), (OTHER_CHAIN,))

    def test_a_leave_before_the_sealing_has_no_chain(self) -> None:
        self.play(Plan("dice", 3, silent_after=-1))
        self.assertEqual(self.against(self.decided_at(self.place("LeaveAsked"))), (NO_DECISION,))

    def test_a_hand_that_goes_on(self) -> None:
        self.play(Plan("dice", 3, clocks=False, leaves=False, silent_after=12, silence="open"))
        self.assertEqual(self.told([]).verdict, "not_finished")
        last, opened = self.records[-1].position, self.place("HandOpened")
        self.assertGreater(last, self.place("HandStarted"))
        for at in (opened, self.gap(self.place("HandStarted")), last):
            self.assertEqual(self.against(self.committed_at(at)), (NO_COMMITMENT,))
            self.assertEqual(self.against(self.revealed_at(at)), (NO_REVEAL,))
            self.assertEqual(self.against(self.decided_at(at)), (NO_DECISION,))
        before = self.records[0].position - 1
        for texts in (
            self.decided_at(self.place("MoveDecided")),
            *(self.committed_at(at) for at in (before, last + 1, 10**6)),
            *(self.decided_at(at) for at in (before, last + 1, 10**6)),
        ):
            self.assertEqual(self.told(texts).verdict, "not_finished", texts)
        for at in (before, last + 1, 10**6):
            # It was sealed: all that was revealed is there.
            self.assertEqual(self.against(self.revealed_at(at)), (NO_REVEAL,))

    def test_a_position_beyond_a_hand_that_has_ended(self) -> None:
        self.play(Plan("dice", 3, clocks=False, leaves=False))
        for at in (10**6, 1 << 60):
            self.assertEqual(self.against(self.revealed_at(at)), (NO_REVEAL,))
            self.assertEqual(self.against(self.decided_at(at)), (OTHER_CHAIN,))
            self.assertEqual(self.against(self.committed_at(at)), ())

    def test_a_record_that_is_kept_back(self) -> None:
        def bend(entries: list[Entry]) -> None:
            for one in entries:
                one.kept_back = one.kind in ("EntropyCommitted", "EntropyRevealed", "MoveDecided")

        self.play(Plan("dice", 3, clocks=False, leaves=False), bend=bend)
        ours = self.bound
        for at in self.every("EntropyCommitted", "EntropyRevealed", "MoveDecided"):
            for bound in (ours, (ELSEWHERE, ELSEWHERE)):
                self.bound = bound
                texts = [*self.committed_at(at), *self.revealed_at(at), *self.decided_at(at)]
                told = set(self.against(texts))
                convicts = {NO_COMMITMENT, NO_REVEAL, NO_DECISION, OTHER_CHAIN, OTHER_NUMBER}
                self.assertFalse(convicts & told)

    def test_a_commitment_to_the_next_number(self) -> None:
        def bend(entries: list[Entry]) -> None:
            at = next(at for at, one in enumerate(entries) if one.kind == "HandStarted")
            given = next(one for one in entries if one.kind == "EntropyCommitted")
            event = Message(**{**vars(given.event), "hand_no": given.event.hand_no + 1})
            entries.insert(at + 1, replace(given, at=entries[at].at, event=event))

        self.play(Plan("dice", 3, clocks=False, leaves=False), bend=bend)
        at = self.every("EntropyCommitted")[-1]
        self.assertEqual(self.against(self.committed_at(at)), (NO_COMMITMENT,))
        self.bound = (ELSEWHERE, self.bound[1])
        self.assertEqual(self.against(self.committed_at(at)), ())

    def test_a_burn_that_a_receipt_refutes(self) -> None:
        for entropy in ("withheld", "late"):
            self.play(Plan("dice", 3, entropy=entropy))
            aborted = the(self.entries, "HandAborted").seats[0]
            other = next(seat for seat in self.player.given if seat != aborted)
            place = next(
                one.position for one in self.records
                if one.kind == "EntropyRevealed" and one.event.seat == other
            )
            self.seat, self.entropy = bytes([other]), self.player.given[other][1]
            self.assertEqual(self.told(self.revealed_at(place)).verdict, "broken_off")
            self.seat, self.entropy = bytes([aborted]), self.player.given[aborted][1]
            burnt = f"the number was burnt for seat {aborted}, which has a receipt for its number"
            late = self.every("EntropyRevealed")[-1]
            for at in (self.place("EntropyClosed") + 1, late, self.place("HandAborted"), 10**6):
                self.assertEqual(self.against(self.revealed_at(at)), (burnt,))
            self.assertIn(burnt, self.told(self.revealed_at(late)).sentences[0])

    def test_another_number(self) -> None:
        self.play(Plan("dice", 3, clocks=False), 103)
        finished, given = self.place("HandFinished"), self.place("EntropyCommitted")
        ours = self.bound
        for bound in ((ELSEWHERE, ours[1]), (ELSEWHERE, ELSEWHERE)):
            self.bound = bound
            for texts in (
                self.committed_at(finished), self.revealed_at(finished), self.decided_at(finished),
                self.revealed_at(self.place("EntropyRevealed")), self.decided_at(given),
                self.decided_at(self.place("MoveDecided")),
                [("receipt-sig", ROOM["table"], self.committed(key=bytes(32)))],
            ):
                self.assertEqual(self.against(texts), (OTHER_NUMBER,))
            for texts in (
                self.committed_at(given), self.decided_at(self.place("LeaveAsked")),
                self.committed_at(10**6), self.revealed_at(10**6), self.decided_at(10**6),
                *([one(self.gap(finished))[0]] for one in (
                    self.committed_at, self.revealed_at, self.decided_at)),
            ):
                self.assertEqual(self.told(texts).verdict, "proved")
        self.bound = (ours[0], ELSEWHERE)
        self.assertEqual(self.against(self.committed_at(finished)), (OTHER_NUMBER,))
        self.assertEqual(
            self.against(self.revealed_at(self.place("EntropyRevealed"))), (OTHER_NUMBER,))

    def test_an_exclusion_that_a_receipt_refutes(self) -> None:
        self.play(Plan("dice", 3, burnt=2))
        event = the(self.entries, "SeatExcluded")
        number, seat, promise = event.burnt_hand_no, event.seat, the(self.entries, "SeedCommitted")

        def context(number: int) -> tuple[bytes, bytes]:
            origin = ROOM["dealer"].name
            return fair.context(origin, TABLE, number, promise.rules_hash), ELSEWHERE

        self.bound, self.seat, self.who = context(number), bytes([seat]), event.player_id
        burnt = f"number {number} was burnt for seat {seat}, which has a receipt for its number"
        self.assertEqual(self.against(self.revealed_at(10**6)), (burnt,))
        self.assertEqual(self.told(self.revealed_at(10**6)).verdict, "failed")
        self.bound = context(number + 7)
        self.assertEqual(self.against(self.revealed_at(10**6)), ())
        self.bound, self.who = context(number), bytes(16)
        self.assertEqual(self.against(self.revealed_at(10**6)), ())

    def test_a_key_that_had_ended(self) -> None:
        self.play(Plan("dice", 3, entropy="withheld"))
        seat = the(self.entries, "HandAborted").seats[0]
        self.seat, table = bytes([seat]), TRUSTED_KEYS[0]
        size = note.open_checkpoint(self.read.table.checkpoint, table.key).size
        for ends, counts in (
            ([None], True), ([size], False), ([size + 1], True), ([None, size], False),
        ):
            keys = [*(TrustedKey(table.key, end) for end in ends), *TRUSTED_KEYS[1:]]
            told = self.against(self.revealed_at(size), keys=keys)
            self.assertEqual(bool(told), counts, ends)


if __name__ == "__main__":
    unittest.main()
