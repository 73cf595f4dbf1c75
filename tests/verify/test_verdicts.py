"""Verdicts, the sentences before them, keys, witnesses, and several files at once."""

from __future__ import annotations

import tempfile
import unittest
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from unittest import mock

from . import audit as audits
from . import bundle, forge_logs, note, report, several, trust
from .__main__ import judge
from .audit import audit
from .forge_logs import ROOM, TRUSTED_KEYS, TRUSTED, Entry, LogKey, WitnessKey
from .forge_table import SECOND, TABLE, Plan
from .note import BadNote, Key
from .proto import Message
from .report import Report
from .sentences import seats_text, time_text
from .test_forged import drop, entry, move_all, played, put, the
from .trust import TrustedKey, Trust

ONE, TWO = WitnessKey("one.example"), WitnessKey("two.example")
WATCHED = Trust(TRUSTED_KEYS, [TrustedKey(ONE.key), TrustedKey(TWO.key)], 1)
NOBODY = "nobody but the room has seen this log: it could show somebody else another"
HOUR = 3600 * SECOND
RENAMED = Message(seat=8)
KEY = ROOM["table"].text


def report_on(hand_id: bytes, entries: list[Entry], trusted: Trust = TRUSTED) -> Report:
    """The report on a hand."""
    return audit(bundle.read(forge_logs.bundle(hand_id, entries)), trusted)


def why(made: Report, check: str) -> str:
    """The reason that a check gives."""
    return next(one.why for one in made.checks if one.check == check)


def failed(made: Report) -> list[str]:
    """The checks that failed."""
    return [one.check for one in made.checks if one.verdict == "failed"]


class Hands(unittest.TestCase):
    """One hand that is proved, to be bent."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.hand_id, cls.honest = played(Plan("dice", 3, clocks=False, leaves=False), 1)
        cls.delayed = played(Plan("dice", 3, delayed=True, clocks=False, leaves=False), 1)

    def setUp(self) -> None:
        self.entries = deepcopy(self.honest)

    def unopened(self, delayed: bool = False) -> tuple[bytes, list[Entry]]:
        """The hand as long as the seed is owed."""
        hand_id, entries = self.delayed if delayed else (self.hand_id, self.entries)
        later = ("SeedOpened", "HandRevealed", "SettlementPosted", "TransferPosted")
        return hand_id, [one for one in deepcopy(entries) if one.kind not in later]


class Classes(Hands):
    """Which class a hand is of, and what is said of it first."""

    def test_proved(self) -> None:
        made = report_on(self.hand_id, self.entries)
        self.assertEqual(made.verdict, "proved")
        roster = the(self.entries, "HandOpened").roster
        won: dict[int, int] = {}
        for line in the(self.entries, "HandSettled").lines:
            who, verb, *rest = line.text.split(" ")
            if verb == "wins":
                seat = roster[int(who[1:]) - 1].seat
                won[seat] = won.get(seat, 0) + int(rest[-1])
        wins = ", ".join(f"seat {seat} wins {won[seat]}" for seat in sorted(won))
        number = the(self.entries, "HandOpened").hand_no
        seats = seats_text(sorted(seat.seat for seat in roster))
        signed = seats_text(sorted({
            one.event.seat for one in self.entries
            if one.kind == "MoveDecided" and one.event.signature
        }))
        self.assertEqual(made.sentences, (
            f"Hand {number} was played to its end: {wins}.",
            f"Whose word it is: that of room.example, by the keys you gave; {NOBODY}; the numbers "
            f"of {seats} are in it: enough if one of them is honest; the house marks no seat as "
            f"its own: a house that cheats marks none; those decisions of {signed} which its player "
            "made are signed, others are the clock's or the table's word.",
            "Your part: only you can know whether your own number is in it.",
        ))

    def test_seats_of_the_house(self) -> None:
        finished = [one.event.seats for one in self.entries if one.kind == "HandFinished"]
        for seats in (the(self.entries, "HandOpened").roster, *finished):
            for seat in seats:
                seat.house = seat.seat != 1
        made = report_on(self.hand_id, self.entries)
        self.assertEqual(made.verdict, "proved")
        rest = [seat.seat for seat in the(self.entries, "HandOpened").roster if seat.seat != 1]
        words = f"; the house marks {seats_text(sorted(rest))} as its own: a house that cheats "
        self.assertIn(f"{words}marks none; ", made.sentences[1])

    def test_broken_off(self) -> None:
        for plan, expected in (
            (Plan("dice", 3, entropy="withheld"), "before its antes by seat "),
            (Plan("dice", 3, silent_after=-1), "before its antes by the dealer, which was silent,"),
            (Plan("dice", 3, silent_after=9, silence="agreed"),
             "in play by the dealer, which was silent, and all players who were left agreed, at 2"),
        ):
            made = report_on(*played(plan, 4))
            self.assertEqual(made.verdict, "broken_off")
            self.assertIn(f"was broken off {expected}", made.sentences[0])

    def test_nobodys_number(self) -> None:
        made = report_on(*played(Plan("dice", 3, entropy="none"), 1))
        self.assertEqual((made.verdict, failed(made)), ("failed", []))
        self.assertIn("no seat's number is in it", made.sentences[0])

    def test_failed(self) -> None:
        put(self.entries, "HandSettled", "rake", 7)
        made = report_on(self.hand_id, self.entries)
        self.assertEqual(made.verdict, "failed")
        self.assertEqual(
            made.sentences[0], "This hand is not proved: failed checks: settlement, conserved."
        )
        self.assertNotIn("wins", " ".join(made.sentences))

    def test_a_check_that_cannot_be_made(self) -> None:
        drop(self.entries, "HandRevealed")
        made = report_on(self.hand_id, self.entries)
        self.assertEqual(made.verdict, "failed")
        self.assertEqual(
            made.sentences[0], "This hand is not proved: checks that could not be made: seed."
        )

    def test_a_hand_that_the_dealer_let_die(self) -> None:
        made = report_on(*played(Plan("dice", 3, silent_after=9, silence="late"), 4))
        self.assertEqual((made.verdict, failed(made)), ("failed", []))
        self.assertIn("the dealer was silent until the time of the hand", made.sentences[0])

    def test_a_suspended_hand(self) -> None:
        hand_id, entries = played(Plan("dice", 3, silent_after=9, silence="open"), 4)
        until = the(entries, "HandSuspended").until_micros
        for late, verdict in ((0, "not_finished"), (1, "failed")):
            changed = deepcopy(entries)
            # Somebody who is in no hand is renamed: the newest record of the file.
            changed.append(
                Entry("table", TABLE, until + HOUR + late, "SeatRenamed", RENAMED)
            )
            made = report_on(hand_id, changed)
            self.assertEqual((made.verdict, failed(made)), (verdict, []))
            self.assertIn(time_text(until), made.sentences[0])

    def test_burnt_numbers_are_told(self) -> None:
        for burnt, told in (
            (1, "before it number {} came to nothing."),
            (3, "before it numbers {}, {}, {} came to nothing."),
        ):
            plan = Plan("dice", 3, burnt=burnt)
            hand_id, entries = played(plan, 0)
            made = report_on(hand_id, entries)
            self.assertEqual(made.verdict, "proved")
            number = the(entries, "HandOpened").hand_no
            told = told.format(
                *(self.burnt(entries, one) for one in range(number - burnt, number))
            )
            self.assertTrue(made.sentences[0].endswith(told), made.sentences[0])

    def burnt(self, entries: list[Entry], number: int) -> str:
        """What is said of a burnt number."""
        by = sorted(
            one.event.seat for one in entries
            if one.kind == "SeatExcluded" and one.event.burnt_hand_no == number
        )
        told = f"the table excluded {seats_text(by)} for it" if by else "why is not in this file"
        return f"{number} ({told})"

    def test_why_a_number_was_burnt_may_not_be_told(self) -> None:
        hand_id, entries = played(Plan("dice", 3, burnt=1), 0)
        entries = [one for one in entries if one.kind not in ("SeatExcluded", "SitOutChanged")]
        made = report_on(hand_id, entries)
        self.assertIn(" (why is not in this file) came to nothing.", made.sentences[0])

    def test_a_transfer_that_is_owed(self) -> None:
        later = ("SettlementPosted", "TransferPosted")
        entries = [one for one in self.entries if one.kind not in later]
        entries.remove(entry(entries, "HandFinished", -1))
        self.assertEqual(report_on(self.hand_id, entries).verdict, "not_finished")
        entry(entries, "HandRevealed").at += 2 * HOUR
        self.assertEqual(report_on(self.hand_id, entries).verdict, "failed")

    def test_who_signs(self) -> None:
        for signing, told in (
            (0, "decisions are the table's word."),
            (4, " which its player made are signed, others are the clock's or the table's word."),
        ):
            made = report_on(*played(Plan("dice", 3, signing=signing), 1))
            self.assertEqual(made.verdict, "proved")
            self.assertTrue(made.sentences[1].endswith(told), made.sentences[1])

    def test_a_seed_that_is_owed(self) -> None:
        for delay in (0, 86_400):
            hand_id, entries = self.unopened(delayed=delay > 0)
            due = entry(entries, "HandSettled").at + delay * SECOND
            for late, verdict in ((0, "not_finished"), (1, "failed")):
                with self.subTest(delay=delay, late=late):
                    entry(entries, "HandFinished", -1).at = due + HOUR + late
                    made = report_on(hand_id, entries)
                    self.assertEqual((made.verdict, failed(made)), (verdict, []))
                    self.assertIn(time_text(due), made.sentences[0])

    def test_a_cosignature_is_a_time_too(self) -> None:
        hand_id, entries = self.unopened()
        due = entry(entries, "HandSettled").at // SECOND
        for late, verdict in ((3600, "not_finished"), (3602, "failed")):
            for witness, expected in ((ONE, verdict), (WitnessKey("?.example"), "not_finished")):
                data = forge_logs.bundle(
                    hand_id, entries, lambda _, made: witness.cosign(made, due + late)
                )
                self.assertEqual(audit(bundle.read(data), WATCHED).verdict, expected)

    def test_a_seed_that_is_owed_for_an_aborted_hand(self) -> None:
        agreed = Plan("dice", 3, silent_after=9, silence="agreed")
        for plan in (agreed, Plan("dice", 3, entropy="withheld")):
            hand_id, entries = played(plan, 4)
            owed = [one for one in entries if one.kind not in ("SeedOpened", "HandRevealed")]
            self.assertEqual(report_on(hand_id, owed).verdict, "not_finished")
            entry(owed, "HandFinished", -1).at += 2 * HOUR
            self.assertEqual(report_on(hand_id, owed).verdict, "failed")

    def test_a_hand_without_an_end(self) -> None:
        end = self.entries.index(entry(self.entries, "MoveDecided"))
        entries = self.entries[:end]
        made = report_on(self.hand_id, entries)
        self.assertEqual((made.verdict, failed(made)), ("not_finished", []))
        self.assertIn("it is in play, and its last record is of", made.sentences[0])
        entries[-1].at += 2 * HOUR
        self.assertEqual(report_on(self.hand_id, entries).verdict, "not_finished")
        entries.append(Entry("table", TABLE, entries[-1].at + 2 * HOUR, "SeatRenamed", RENAMED))
        self.assertEqual(report_on(self.hand_id, entries).verdict, "failed")

    def test_what_fails_is_not_unfinished(self) -> None:
        hand_id, entries = self.unopened()
        put(entries, "HandFinished", "carried_pot", 77, -1)
        self.assertEqual(report_on(hand_id, entries).verdict, "failed")

    def test_exit_codes(self) -> None:
        for verdicts, code in (
            (["proved"], 0), (["proved", "broken_off"], 3), (["broken_off", "not_finished"], 4),
            (["not_finished", "refused", "broken_off"], 2), (["refused", "failed"], 1),
        ):
            self.assertEqual(report.exit_code(verdicts), code)

    def test_words(self) -> None:
        self.assertEqual(seats_text([1]), "seat 1")
        self.assertEqual(seats_text([1, 3]), "seats 1 and 3")
        self.assertEqual(seats_text([1, 3, 5]), "seats 1, 3 and 5")
        self.assertEqual(time_text(1_700_000_000_900_000), "2023-11-14 22:13:20 UTC")
        self.assertEqual(time_text(2**64 - 1), f"{2**64 - 1} microseconds after 1970")


class Keys(Hands):
    """Files of keys, and what a key speaks for."""

    def test_a_file(self) -> None:
        text = f"# mine\r\n\n{KEY}\r\n{ROOM['dealer'].text} until 18446744073709551615"
        self.assertEqual(
            trust.read(text.encode()),
            [TrustedKey(ROOM["table"].key), TrustedKey(ROOM["dealer"].key, 2**64 - 1)],
        )
        self.assertEqual(trust.read(b""), [])

    def test_what_is_refused(self) -> None:
        named = Key("other.example/table", 1, ROOM["table"].key.public).text
        for text in (
            f" {KEY}\n", f"{KEY} \n", f"{KEY}\t\n", f"\t\n{KEY}", " # no comment", "nonsense",
            f"\ufeff{KEY}\n", f"{KEY}\r", f"{KEY}\r\r\n", f"{KEY}\r{KEY}\n", f"{KEY}\u2028{KEY}\n",
            f"{KEY}\u0085\n", f"{KEY}\x0c\n", f"# a\u2028{KEY}\u2028\n{KEY}x", f"{KEY} until \n",
            f"{KEY} until 01\n", f"{KEY} until -1\n", f"{KEY} until 1 \n", f"{KEY}  until 1\n",
            f"{KEY} until 18446744073709551616\n", f"{KEY} until \u0661\n", f"{KEY} Until 1\n",
            f"{KEY}\n{named}\n",
        ):
            with self.subTest(text), self.assertRaises(BadNote):
                trust.read(text.encode())
        for data in (KEY.encode() + b"\xff\n", KEY.encode("utf-16")):
            with self.assertRaises(BadNote):
                trust.read(data)
        with self.assertRaises(BadNote):
            trust.read_witnesses(KEY.encode())
        self.assertEqual(trust.read(f"# \u2028{KEY}\n".encode()), [])

    def test_rooms(self) -> None:
        for name, log, room in (
            ("room.example/table", "table", "room.example"),
            ("room.example/3/table", "table", "room.example"),
            ("room.example/rooms/blue/dealer", "dealer", "room.example/rooms/blue"),
            ("room.example/03/table", "table", "room.example/03"),
            ("room.example/dealer", "table", None), ("table", "table", None),
            ("/table", "table", None), ("room.example/vegetable", "table", None),
        ):
            self.assertEqual(trust.room_of(name, log), room, name)

    def test_a_key_counts_for_its_own_log(self) -> None:
        for name, called in (
            ("table", "room.example/dealer2"), ("table", "room.example"),
            ("wallet", "other.example/wallet"), ("dealer", "other.example/3/dealer"),
        ):
            key = LogKey("x")
            key.name = called
            key.key = replace(key.key, name=called)
            key.text = key.key.text
            with self.subTest(called), mock.patch.dict(ROOM, {name: key}):
                hand_id, entries = played(Plan("dice", 3, clocks=False, leaves=False), 1)
                keys = [TrustedKey(one.key) for one in ROOM.values()]
                made = report_on(hand_id, entries, Trust(keys, []))
                self.assertEqual((made.verdict, failed(made)), ("failed", ["keys"]))

    def test_shards(self) -> None:
        key = LogKey("3/table")
        with mock.patch.dict(ROOM, {"table": key}):
            keys = [TrustedKey(one.key) for one in ROOM.values()]
            made = report_on(*played(Plan("dice", 3), 1), Trust(keys, []))
            self.assertEqual(made.verdict, "proved")

    def test_an_end(self) -> None:
        read = bundle.read(forge_logs.bundle(self.hand_id, self.entries))
        for log in read.logs:
            key = ROOM[log.name].key
            size = note.open_checkpoint(log.checkpoint, key).size
            rest = [one for one in TRUSTED_KEYS if one.key != key]
            for until, expected in ((size, "proved"), (size - 1, "failed"), (0, "failed")):
                made = audit(read, Trust([*rest, TrustedKey(key, until)], []))
                self.assertEqual(made.verdict, expected)
                wrong = [] if expected == "proved" else ["keys"]
                if log.name == "dealer" and until == 0:
                    wrong += ["commitment", "closing"]
                self.assertEqual(failed(made), wrong)
                twice = audit(read, Trust([*rest, TrustedKey(key), TrustedKey(key, until)], []))
                self.assertEqual(twice.verdict, expected)
        committed = next(one for one in read.dealer.records if one.kind == "SeedCommitted")
        ended = TrustedKey(ROOM["dealer"].key, committed.position)
        made = audit(read, Trust([TRUSTED_KEYS[0], ended, TRUSTED_KEYS[2]], []))
        self.assertIn("a commitment stands at", why(made, "keys"))

    def test_no_keys(self) -> None:
        made = report_on(self.hand_id, self.entries, Trust([], []))
        self.assertEqual((made.verdict, made.checks), ("refused", []))
        self.assertEqual(made.sentences[0], "Nothing is proved: no keys were given to trust.")


class Witnesses(Hands):
    """Cosignatures under the checkpoints."""

    def seen(self, under: forge_logs.Under, trusted: Trust = WATCHED) -> tuple[str, str]:
        """The verdict, and whose word it is."""
        data = forge_logs.bundle(self.hand_id, self.entries, under)
        made = audit(bundle.read(data), trusted)
        self.assertEqual(failed(made), [])
        return made.verdict, made.sentences[1]

    def test_how_many_signed(self) -> None:
        both = lambda _, made: TWO.cosign(ONE.cosign(made, 5), 6)
        verdict, word = self.seen(both)
        self.assertEqual(verdict, "proved")
        self.assertIn("; 2 of 2 trusted witnesses signed the checkpoints of table and ", word)
        self.assertEqual(self.seen(both, replace(WATCHED, wanted=3))[0], "not_finished")
        only = lambda name, made: made if name == "wallet" else ONE.cosign(made, 5)
        self.assertIn("; 1 of 2 trusted witnesses signed", self.seen(only)[1])
        verdict, word = self.seen(only, replace(WATCHED, wanted=2))
        self.assertEqual(verdict, "not_finished")
        self.assertIn("; 1 of 2 trusted", word)

    def test_what_does_not_count(self) -> None:
        stranger = WitnessKey("three.example")
        twin = WitnessKey("one.example")
        twin.private = stranger.private
        for what, under in (
            ("none", lambda _, made: made),
            ("table alone", lambda name, made: ONE.cosign(made, 5) if name == "table" else made),
            ("one each", lambda name, made: (ONE if name == "table" else TWO).cosign(made, 5)),
            ("unknown", lambda _, made: stranger.cosign(made, 5)),
            ("wrong", lambda _, made: twin.cosign(made, 5)),
            ("a time too large", lambda _, made: ONE.cosign(made, 2**63)),
            ("short", lambda _, made: f"{made}\u2014 one.example {ONE.cosign(made, 5)[-16:-8]}\n"),
        ):
            with self.subTest(what):
                verdict, word = self.seen(under)
                self.assertEqual(verdict, "not_finished")
                self.assertIn(NOBODY, word)

    def test_a_wrong_one_beside_a_good_one(self) -> None:
        twin = WitnessKey("one.example")
        twin.private = TWO.private
        verdict, _ = self.seen(lambda _, made: ONE.cosign(twin.cosign(made, 5), 5))
        self.assertEqual(verdict, "proved")

    def test_a_witness_with_another_key_since(self) -> None:
        new = WitnessKey("other.example")
        new.key = replace(new.key, name="one.example")
        keys = [TrustedKey(ONE.key, 10_000), TrustedKey(new.key)]
        by = {"table": lambda made: new.cosign(made, 300),
              "dealer": lambda made: ONE.cosign(ONE.cosign(made, 100), 200)}
        verdict, word = self.seen(
            lambda name, made: by.get(name, str)(made), Trust(TRUSTED_KEYS, keys, 1)
        )
        self.assertEqual(verdict, "proved")
        self.assertIn("; 1 of 1 trusted witnesses signed the checkpoints of table and ", word)
        self.assertIn("one.example at 1970-01-01 00:05:00 UTC", word)

    def test_a_witness_has_an_end(self) -> None:
        ended = Trust(TRUSTED_KEYS, [TrustedKey(ONE.key, 5)], 1)
        self.assertEqual(self.seen(lambda _, made: ONE.cosign(made, 5), ended)[0], "not_finished")

    def test_failed_hands_have_no_witness(self) -> None:
        put(self.entries, "HandSettled", "rake", 7)
        data = forge_logs.bundle(self.hand_id, self.entries, lambda _, made: ONE.cosign(made, 5))
        made = audit(bundle.read(data), WATCHED)
        self.assertEqual(made.verdict, "failed")
        self.assertNotIn("trusted witnesses", " ".join(made.sentences))


class Several(Hands):
    """Files that contradict each other."""

    def judged(self, *files: tuple[bytes, list[Entry]]) -> dict[str, Report]:
        """By name, a, b, …"""
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for letter, (hand_id, entries) in zip("abc", files):
                names.append(str(Path(folder) / letter))
                Path(names[-1]).write_bytes(forge_logs.bundle(hand_id, entries))
            return {Path(name).name: made for name, made in judge(names, TRUSTED)}

    def test_the_same_hand_twice(self) -> None:
        made = self.judged((self.hand_id, self.honest), (self.hand_id, self.honest))
        self.assertEqual([one.verdict for one in made.values()], ["proved", "proved"])

    def test_two_histories(self) -> None:
        other = deepcopy(self.honest)
        move_all(other, "HandStarted", 1)
        made = self.judged((self.hand_id, self.honest), (self.hand_id, other))
        self.assertEqual([one.verdict for one in made.values()], ["failed", "failed"])
        self.assertEqual(failed(made["a"]), ["inclusion"])
        self.assertIn("b contradicts it: checkpoints of", why(made["a"], "inclusion"))

    def test_each_contradiction(self) -> None:
        read = bundle.read(forge_logs.bundle(self.hand_id, self.honest))
        table = read.table
        key = ROOM["table"]
        size = note.open_checkpoint(table.checkpoint, key.key).size
        one = table.records[0]

        def changed(**fields: object) -> bundle.Bundle:
            record = Message(**{**vars(one.record), **fields})
            log = replace(table, records=[replace(one, record=record)],
                          checkpoint=key.checkpoint(size + 1, bytes(32)))
            return replace(read, table=log)

        fork = replace(read, table=replace(
            table, records=[], checkpoint=key.checkpoint(size, bytes(32))))
        for what, other in (
            ("different records at position", changed(recorded_at_micros=7, version=900)),
            ("different records of version", changed(position=10**6)),
            ("checkpoints of", fork),
        ):
            found = several.contradictions({"a": read, "b": other})
            self.assertEqual(set(found), {"a", "b"})
            self.assertIn(what, found["a"])
        fine = changed(position=10**6, version=900)
        self.assertEqual(several.contradictions({"a": read, "b": fine}), {})

    def test_a_forgery_contradicts_nothing(self) -> None:
        forged = deepcopy(self.honest)
        move_all(forged, "HandStarted", 1)
        stranger = LogKey("table")
        stranger.private = ONE.private
        data = bundle.read(forge_logs.bundle(self.hand_id, self.honest))
        with mock.patch.dict(ROOM, {"table": stranger}):
            other = forge_logs.bundle(self.hand_id, forged)
        self.assertEqual(failed(audit(bundle.read(other), TRUSTED))[:1], ["inclusion"])
        self.assertTrue(audits.examine(data, TRUSTED).proved)
        with tempfile.TemporaryDirectory() as folder:
            good, bad = Path(folder) / "good", Path(folder) / "bad"
            good.write_bytes(forge_logs.bundle(self.hand_id, self.honest))
            bad.write_bytes(other)
            made = judge([str(good), str(bad)], TRUSTED)
        self.assertEqual([one.verdict for _, one in made], ["proved", "failed"])


if __name__ == "__main__":
    unittest.main()
