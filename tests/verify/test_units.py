"""The parts by themselves: known answers, and what each refuses."""

from __future__ import annotations

import re
import unittest
from itertools import combinations
from math import comb
from pathlib import Path
from unittest import mock

from . import fair, merkle, note, proto, settings, sign
from .bundle import SEALED
from .decks import C62, K44, P42, S76
from .forge_logs import prove
from .proto import Malformed, Message
from .rules import s76
from .rules.hand import Hand
from .rules.kessel_ranks import Fixes, is_impostor, worth_of
from .rules.kinds import Deal, Move, Refused, Shuffle
from .rules.ruleset import FIELDS, RuleSet
from .schema import EVENTS, SCHEMA
from .settings import BadSettings

PROTO = Path(__file__).resolve().parents[2] / "proto" / "sabacc"
TABLE = bytes(range(16))
SEED = bytes(range(64))


class Fair(unittest.TestCase):
    """The protocol's published vectors."""

    def setUp(self) -> None:
        rules = merkle.sha256(b"rules")
        self.ctx = fair.context("sabacc.example/room1", TABLE, 7, rules)
        self.dealer = fair.dealer_commitment(self.ctx, SEED)
        rows = []
        for seat, player, status, entropy in (
            (1, 0xA1, fair.REVEALED, 0x11), (3, 0xA2, fair.REVEALED, 0x22),
            (4, 0xA3, fair.WITHHELD, 0x33),
        ):
            who, what = bytes([player]) * 16, bytes([entropy]) * 32
            made = fair.client_commitment(self.ctx, self.dealer, seat, (who, what))
            rows.append(fair.row(seat, who, status, (made, what)))
        self.transcript = fair.transcript(self.ctx, self.dealer, rows)
        self.chance = fair.Chance(self.transcript, SEED)

    def test_what_is_bound(self) -> None:
        known = {
            self.ctx: "9d9aeb6be9e330227590a61d02bbb8c483f4f1d7c779cc7d462329a443d2403f",
            self.dealer: "d56d4c8460dd1b4824c86abe4b2cc4cb8c7686d84e1532f6b9788c5d68031c17",
            self.transcript: "e1db4a15128673ea790269da500033052752d3f9bc8575e28447445d1d91a101",
            self.chance.hand_key:
                "7d2d37eda17ec07f0112222ce4a05318351a6535a0b5d2ff480caa9dcbc51ab5"
                "f5da0033e15221619a82edb49c3a8e16ac6081e84dae6c5743827866a86184a9",
            self.chance.salt_key:
                "d1d7d16a25454766a36ea39f862f4d885bfa23a4389802542f9abc68f6482f63"
                "0f1acd779d26e90bf3c580ad8d1893506e247dbd6817be28b621ef3233530ce2",
        }
        for made, text in known.items():
            self.assertEqual(made.hex(), text)

    def test_closing(self) -> None:
        rows = []
        for seat, player, entropy in ((1, 0xA1, 0x11), (3, 0xA2, 0x22), (4, 0xA3, 0x33)):
            who, what = bytes([player]) * 16, bytes([entropy]) * 32
            made = fair.client_commitment(self.ctx, self.dealer, seat, (who, what))
            rows.append((seat, who, made))
        self.closing = fair.closing(self.ctx, self.dealer, [fair.closing_row(*r) for r in rows])
        known = "110d669db6a927afc762325011f2f5e3510654b22e8705d5181203beedbcdae3"
        self.assertEqual(self.closing.hex(), known)
        absent = [*rows[:2], (4, rows[2][1], b"")]
        made = fair.closing(self.ctx, self.dealer, [fair.closing_row(*row) for row in absent])
        known = "ff9f3aedcafc5b8ea3880983a29a9141cebe4d0c08819feb491f0756045d7a23"
        self.assertEqual(made.hex(), known)

    def test_rules_hash(self) -> None:
        known = "a797b917abf11a2503d4d5f63396bf5777b0944505a76d914128606d4756fb38"
        self.assertEqual(fair.rules_hash("rules", "settings").hex(), known)

    def test_decisions(self) -> None:
        self.chain = fair.decision(self.transcript, False, "p1 bet 20")
        known = "8e8b112aa4528d6f97b8c40d37c7146ea5a7d876af9eca2b836ad4d9287de267"
        self.assertEqual(self.chain.hex(), known)
        known = "b79629080170a4c1551c455aeb47b0554a700c2ffbce370b7ca27b6260672569"
        self.assertEqual(fair.decision(self.chain, True, "p2 fold").hex(), known)

    def test_signed_texts(self) -> None:
        self.test_closing()
        self.test_decisions()
        player, entropy = b"\xa1" * 16, b"\x11" * 32
        made = fair.client_commitment(self.ctx, self.dealer, 1, (player, entropy))
        number, seat = fair.number(7, 8), b"\x01"
        position = [fair.number(at, 8) for at in (5, 6, 9)]
        origin, rules = b"sabacc.example/room1", merkle.sha256(b"rules")
        known = {
            ("dealer-commit-sig", origin, TABLE, number, rules, self.dealer):
                "0929b2833989b665b34957fa219356e6f42b86cd0cf8f98b2f94f5c30e5fed41",
            ("receipt-sig", self.ctx, self.dealer, seat, player, made, bytes(range(32)),
             position[0]): "a19a3b2007dbc9208926fbfb1085c6323ca271eb9424249b9be5b9c3bd45586c",
            ("closing-sig", self.ctx, self.dealer, self.closing):
                "740b421b6f788b717fd1236858cf3a745498d4b9b08a6f79cca821208573aa20",
            ("reveal-receipt-sig", self.ctx, self.dealer, seat, player, entropy, position[1]):
                "eb3eb00ba830805d8c224c0b6c04a22e1de30f97564cd456698b40e45ac3fa10",
            ("decision-sig", self.ctx, self.chain, b"p1 bet 20"):
                "fcca444da27388a097ba9cb04a94385b4c906c5f889ba40e8a761847df6dc3d9",
            ("decision-receipt-sig", self.ctx, self.chain, position[2]):
                "55391d9e21ac90a1e90e0573f71aa60ca4742f210da552f0238b75b275cbe693",
        }
        with mock.patch.object(fair, "key_id", lambda key: key):
            for (tag, *fields), text in known.items():
                signed = fair.signed_text(tag, b"\x07" * 8, *fields)
                self.assertEqual(merkle.sha256(signed).hex(), text)

    def test_operations(self) -> None:
        deck = self.chance.shuffle(0, 0, range(76))
        self.assertEqual(deck[:12], [44, 19, 58, 60, 70, 56, 33, 55, 30, 49, 73, 68])
        self.assertEqual(sorted(deck), list(range(76)))
        root = "e5ac9fb5845ab6e4f2f65fdafaf2ea28ad7105e6fd0c822404eff59b169a6ae6"
        self.assertEqual(self.chance.root(0).hex(), root)
        self.assertEqual(self.chance.roll(1, [6, 6]), [5, 3])
        self.assertEqual(self.chance.pulse(2, 100_000), 0)
        self.assertEqual(self.chance.pick(3, 4), 3)
        self.assertEqual(self.chance.sample(4, 16, 3), [8, 10, 3])

    def test_hand_id(self) -> None:
        self.assertEqual(fair.hand_id(TABLE, 7).hex(), "0b2caa2549c28deba5103393a082dc33")


class Rules(unittest.TestCase):
    """Figures that can be counted, and rule sets."""

    def test_the_packs(self) -> None:
        self.assertEqual([len(deck.codes) for deck in (S76, K44, P42, C62)], [76, 44, 42, 62])
        self.assertEqual([len(deck.faces()) for deck in (S76, K44, P42, C62)], [76, 16, 21, 61])
        self.assertEqual(s76.total(range(76)), 320)

    def test_hands_of_two(self) -> None:
        totals = [s76.total(hand) for hand in combinations(range(76), 2)]
        self.assertEqual(len(totals), comb(76, 2))
        self.assertEqual((totals.count(23), totals.count(-23)), (64, 4))
        self.assertEqual(sum(map(s76.is_out, totals)), 313)
        self.assertEqual(sum(value < 0 for value in totals), 695)

    def test_idiots_arrays(self) -> None:
        found = sum(map(s76.is_array, combinations(range(76), 3)))
        self.assertEqual((found, comb(76, 3)), (32, 70_300))

    def test_hands_of_kessel(self) -> None:
        kinds: dict[str, int] = {}
        for sand in range(22):
            for blood in range(22, 44):
                hand = [sand, blood]
                worth = worth_of(hand, {}, Fixes())
                kind = "impostor" if any(map(is_impostor, hand)) else worth.kind
                kinds[kind] = kinds.get(kind, 0) + 1
        self.assertEqual(kinds, {"pure": 1, "pair": 90, "diff": 270, "impostor": 123})

    def test_a_hand_that_everybody_has_left_ends(self) -> None:
        for variant, given in (("force", {}), ("dice", {"shift": "none"})):
            rules = RuleSet(variant, {**given, "max_rounds": 1000})
            hand = Hand(rules, [1, 2], [100, 100], (0, 0))
            deck = list(hand.core.piles[0].ids)
            while hand.to_act is None:
                due = hand.due
                hand.give(None if isinstance(due, Shuffle) else [
                    deck.pop() for _ in range(due.parts[0].count)])
            for player in (0, 1):
                hand.decide(player, Move("leave"))
            while not hand.over:
                self.assertIsInstance(hand.due, Deal)
                hand.give([deck.pop() for _ in range(hand.due.parts[0].count)])
            self.assertEqual(hand.total, 200)

    def test_canonical_text(self) -> None:
        for variant in FIELDS:
            rules = RuleSet(variant, {})
            self.assertEqual(RuleSet.from_canonical(rules.canonical()).values, rules.values)
        text = RuleSet("dice", {"shift": "1d10"}).canonical()
        self.assertTrue(text.endswith('shift = "1d10"\nshift_number = 1\n'))
        for change in (
            ("hand_ante = 5", "hand_ante = 05"), ("field = true\n", ""), ('"dice"', '"swg"'),
            ("shift_number = 1\n", "shift_number = 1"), ("shift_number = 1", "shift_number = 11"),
            ('shift = "1d10"', "shift = '1d10'"), ("max_rounds = 12", "max_rounds = 0"),
            ("max_rounds = 12", "max_rounds = 1001"),
            ("max_rounds = 12", "max_rounds = " + "9" * 20),
            ("pot_building_rounds = 3", "pot_building_rounds = 1001"),
            ("hand_ante = 5", "hand_ante = true"), ("holdem = false", "hold = false"),
        ):
            with self.subTest(change=change), self.assertRaises(Refused):
                self.assertNotEqual(text, text.replace(*change))
                RuleSet.from_canonical(text.replace(*change))


class TheSettings(unittest.TestCase):
    """The text of a table's settings."""

    TEXT = (
        "action_seconds = 20\nbank_seconds = 30\ncommit_ms = 2000\ncontributors_min = 1\n"
        'reveal = "at_once"\nreveal_ms = 2000\nsuspend_hours = 2\n'
    )

    def test_the_text(self) -> None:
        read = settings.read(self.TEXT)
        self.assertEqual((read.action_seconds, read.reveal, read.delay_seconds), (20, "at_once", 0))
        self.assertEqual(settings.write(read), self.TEXT)
        late = settings.read(self.TEXT.replace("at_once", "delayed"))
        self.assertEqual(late.delay_seconds, 86_400)

    def test_rooms_for_developers(self) -> None:
        fixed = self.TEXT.replace("reveal = ", "insecure_fixed_seed = 1\nreveal = ")
        marks = {
            self.TEXT: (0, 1), fixed: (1, 1), self.TEXT + "time_scale = 20\n": (0, 20),
            fixed + "time_scale = 100\n": (1, 100),
        }
        for text, mark in marks.items():
            read = settings.read(text)
            self.assertEqual((read.insecure_fixed_seed, read.time_scale), mark)
            self.assertEqual(settings.write(read), text)
            self.assertEqual(read.scaled(1_030_000), 1_030 // mark[1] * 1000)
        for line in ("time_scale = 1", "time_scale = 101", "time_scale = 020", "time_scale = 0"):
            with self.subTest(line=line), self.assertRaises(BadSettings):
                settings.read(f"{self.TEXT}{line}\n")
        for value in (0, 2):
            with self.subTest(value=value), self.assertRaises(BadSettings):
                settings.read(fixed.replace("seed = 1", f"seed = {value}"))

    def test_what_is_refused(self) -> None:
        for change in (
            ("= 20\n", "= 020\n"), ("= 20\n", "= +20\n"), ("= 20\n", "=20\n"),
            ("= 20\n", "= 20\r\n"), ("at_once", "later"), ("commit_ms = 2000\n", ""),
            ("= 2\n", "= 2"), ("= 2\n", "= 2\n\n"), ("= 20\n", "= 0\n"), ("= 20\n", "= 601\n"),
            ("= 30", "= 601"), ("commit_ms = 2000", "commit_ms = 499"),
            ("\nreveal_ms = 2000", "\nreveal_ms = 10001"), ("= 1\n", "= 9\n"), ("= 2\n", "= 0\n"),
            ("= 2\n", "= 169\n"), ("= 20\n", '= "20"\n'), ('"at_once"', "at_once"),
            ("= 20\n", "= \u0662\n"), ("= 20\n", "= " + "9" * 900 + "\n"), ("= 20\n", "= -1\n"),
            ("action_seconds = 20\nbank_seconds = 30", "bank_seconds = 30\naction_seconds = 20"),
        ):
            text = self.TEXT.replace(*change)
            with self.subTest(change=change), self.assertRaises(BadSettings):
                self.assertNotEqual(text, self.TEXT)
                settings.read(text)


class Protobuf(unittest.TestCase):
    """Only one encoding of a message is read."""

    def test_a_message(self) -> None:
        read = proto.decode("CardRef", bytes.fromhex("08011002" "1a025331"))
        self.assertEqual(read, Message(op=1, position=2, card="S1", salt=b""))
        packed = proto.decode("OperationResult", bytes.fromhex("1203000105"))
        self.assertEqual(packed.values, [0, 1, 5])
        signed = proto.decode("Leg", bytes.fromhex("0a0161" "1003"))
        self.assertEqual((signed.account, signed.amount), ("a", -2))
        chosen = proto.decode("Operation", bytes.fromhex("2200"))
        self.assertEqual((chosen.pulse, chosen.roll), (Message(ppm=0), None))

    def test_what_is_refused(self) -> None:
        for name, data, why in (
            ("CardRef", "0801" "2801", "an unknown field"),
            ("CardRef", "0801" "0801", "a field twice"),
            ("CardRef", "1002" "0801", "out of order"),
            ("CardRef", "088100", "a longer number"),
            ("CardRef", "0800", "a default"),
            ("CardRef", "1a00", "an empty text"),
            ("CardRef", "1a01ff", "no text"),
            ("CardRef", "1a0253", "cut off"),
            ("CardRef", "088080808010", "too large"),
            ("LogRecord", "08" + "ff" * 9 + "02", "more than 64 bits"),
            ("LogRecord", "08" + "80" * 10 + "01", "longer than ten bytes"),
            ("CardRef", "0a0101", "another wire type"),
            ("OperationResult", "1005", "numbers one by one"),
            ("OperationResult", "1200", "an empty list"),
            ("SeedOpened", "1002", "neither yes nor no"),
            ("Operation", "1a002200", "two of which there can be one"),
            ("CardRef", "08", "no value"),
        ):
            with self.subTest(why), self.assertRaises(Malformed):
                proto.decode(name, bytes.fromhex(data))

    def test_the_tables_are_those_of_the_interface(self) -> None:
        texts = [
            re.sub("//[^\n]*", "", path.read_text("utf-8"))
            for package in ("audit", "event", "dealer", "common", "wallet")
            for path in sorted((PROTO / package / "v1").glob("*.proto"))
        ]
        text = "\n".join(texts)
        enums = set(re.findall(r"^enum (\w+)", text, re.M))
        for name, fields in SCHEMA.items():
            found = re.search(rf"^message {name} \{{(\}}|.*?^\}})", text, re.S | re.M)
            self.assertIsNotNone(found, name)
            one_of = "".join(re.findall(r"oneof \w+ \{(.*?)\}", found[1], re.S))
            marks = {"repeated ": "*", "optional ": "?", "": ""}
            pattern = r"(repeated |optional )?([\w.]+) (\w+) = (\d+);"
            expected = {}
            for mark, kind, label, number in re.findall(pattern, found[1]):
                kind = kind.split(".")[-1]
                sign_ = "|" if f" {label} = {number};" in one_of else marks[mark]
                expected[int(number)] = (label, "enum" if kind in enums else kind, sign_)
            ours = {number: (f.name, f.type, f.mark) for number, f in fields.items()}
            self.assertEqual(ours, expected, name)
        types = re.findall(r"EVENT_TYPE_(\w+) = (\d+);", text)
        named = {int(n): "".join(w.capitalize() for w in t.split("_")) for t, n in types}
        self.assertEqual(EVENTS, {n: name for n, name in named.items() if n})
        self.assertEqual(set(EVENTS.values()) - set(SCHEMA), set(SEALED))


class Trees(unittest.TestCase):
    """Roots and proofs."""

    def test_some_records_lead_to_the_root_of_all(self) -> None:
        for size in (1, 2, 3, 7, 8, 13):
            records = [bytes([at]) * 149 for at in range(size)]
            leaves = [merkle.leaf_hash(record) for record in records]
            root = merkle.tree_root(records)
            for chosen in ([0], [size - 1], [], list(range(0, size, 2)), list(range(size))):
                proof = prove((0, size), leaves, chosen)
                inside = {at: leaves[at] for at in chosen}
                self.assertEqual(merkle.proved_root(size, inside, proof), root)
                with self.assertRaises(merkle.Unproved):
                    merkle.proved_root(size, inside, [*proof, bytes(32)])
                if proof:
                    with self.assertRaises(merkle.Unproved):
                        merkle.proved_root(size, inside, proof[:-1])

    def test_a_record_beyond_the_end(self) -> None:
        with self.assertRaises(merkle.Unproved):
            merkle.proved_root(1, {1: bytes(32)}, [])


class Notes(unittest.TestCase):
    """Keys and signatures. The key and its notes are those of Go's documentation of notes."""

    KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    NOTE = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
        "\n"
        "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfq"
        "dngotpRZb6KE6RyyBwJnAM=\n"
    )

    def test_a_key(self) -> None:
        key = note.Key.parse(self.KEY)
        self.assertEqual((key.name, key.kind, key.id.hex()), ("PeterNeumann", 1, "c74f20a3"))
        for at in range(len(self.KEY)):
            changed = self.KEY[:at] + chr(ord(self.KEY[at]) ^ 1) + self.KEY[at + 1 :]
            with self.subTest(at=at), self.assertRaises(note.BadNote):
                note.Key.parse(changed)

    def test_a_signature(self) -> None:
        key = note.Key.parse(self.KEY)
        text, body = self.NOTE.split("\n\n")
        made = note.from_base64(body.split(" ")[2].strip())[4:]
        self.assertTrue(sign.verify(key.public, (text + "\n").encode(), made))
        self.assertFalse(sign.verify(key.public, text.encode(), made))
        for at in range(64):
            wrong = made[:at] + bytes([made[at] ^ 1]) + made[at + 1 :]
            self.assertFalse(sign.verify(key.public, (text + "\n").encode(), wrong))

    def test_a_note_that_is_no_checkpoint(self) -> None:
        with self.assertRaises(note.BadNote):
            note.open_checkpoint(self.NOTE, note.Key.parse(self.KEY))

    def test_weak_keys(self) -> None:
        weak = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
        for key in (weak, bytes(32), (1).to_bytes(32, "little"), b"\xff" * 32, b"short"):
            self.assertFalse(sign.is_key(key))


if __name__ == "__main__":
    unittest.main()
