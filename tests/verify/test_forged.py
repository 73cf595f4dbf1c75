"""Hands of a room of our own: honest ones pass, and every break is noticed by its check."""

from __future__ import annotations

import unittest
import uuid
from collections.abc import Callable
from copy import deepcopy

from . import bundle, forge, forge_logs
from .audit import audit
from .forge import Plan, Player
from .forge_logs import TRUSTED, Entry
from .proto import Message
from .rules.hand import GAMES
from .rules.kinds import Refused

TOKENS = ["immunity", "markdown", "general-tariff"]
RULES = {"kessel": {"tokens": "assigned", "assigned_tokens": TOKENS, "chips": 4}}
LATER = 60 * forge.SECOND
Edit = Callable[[list[Entry]], object]


def played(plan: Plan, seed: int) -> tuple[bytes, list[Entry]]:
    """A hand's id and entries, from the first seed whose guesses are all legal."""
    while True:
        player = Player(plan, seed)
        try:
            return player.hand_id, player.entries_of_a_hand()
        except Refused:
            seed += 100


def shown(plan: Plan) -> tuple[bytes, list[Entry]]:
    """A hand that comes to a reveal."""
    for seed in range(1, 100):
        hand_id, entries = played(plan, seed)
        if any(one.kind == "CardsShown" for one in entries):
            return hand_id, entries
    raise AssertionError("no hand comes to a reveal")


def fails(hand_id: bytes, entries: list[Entry]) -> list[str]:
    """The checks that do not pass but fail."""
    report = audit(bundle.read(forge_logs.bundle(hand_id, entries)), TRUSTED)
    return [checked.check for checked in report.checks if checked.verdict == "failed"]


def the(entries: list[Entry], kind: str, at: int = 0) -> Message:
    """The event of a kind, the first unless told."""
    return [entry for entry in entries if entry.kind == kind][at].event


def entry(entries: list[Entry], kind: str, at: int = 0) -> Entry:
    """Its entry."""
    return [entry for entry in entries if entry.kind == kind][at]


def put(entries: list[Entry], kind: str, name: str, value: object, at: int = 0) -> None:
    """Changes a field of an event."""
    setattr(the(entries, kind, at), name, value)


def flip(data: bytes) -> bytes:
    """With another first byte."""
    return bytes([data[0] ^ 1]) + data[1:]


def again(entries: list[Entry], kind: str) -> None:
    """A record a second time, behind the first."""
    one = entry(entries, kind)
    entries.insert(entries.index(one) + 1, deepcopy(one))


def drop(entries: list[Entry], kind: str, at: int = 0) -> None:
    """A record is left out."""
    entries.remove(entry(entries, kind, at))


def look(entries: list[Entry], place: tuple[int, int], reason: int) -> None:
    """Somebody has the dealer open a card in mid-hand."""
    one = deepcopy(entry(entries, "CardsOpened", 1))
    one.event.opening = Message(
        cards=[Message(op=place[0], position=place[1])], audience_seat=1, reason=reason
    )
    entries.insert(entries.index(entry(entries, "CardsOpened", 1)) + 1, one)


def use_twice(entries: list[Entry]) -> None:
    """The dealer rolls once more than the hand used."""
    last = entry(entries, "OperationPerformed", -1)
    more = deepcopy(last)
    more.event.operation.index += 1
    more.event.result.index += 1
    entries.insert(entries.index(last) + 1, more)


def zero_leg(entries: list[Entry], account: str) -> None:
    """One more leg in the transfer, of 0 credits."""
    the(entries, "TransferPosted").legs.append(Message(account=account, amount=0))


def zeros(entries: list[Entry]) -> list[Message]:
    """The legs of 0 credits."""
    return [leg for leg in the(entries, "TransferPosted").legs if leg.amount == 0]


def move_all(entries: list[Entry], kind: str, by: int) -> None:
    """The records of the log from the first of a kind on are later."""
    first = entry(entries, kind)
    for one in entries[entries.index(first) :]:
        if one.log == first.log:
            one.at += by


def other_faces(entries: list[Entry], kind: str) -> None:
    """The dice of a roll show something else."""
    for one in entries:
        if one.kind == kind and one.event.operation.roll is not None:
            one.event.result.values[0] = one.event.result.values[0] % 6 + 1
            return


BREAKS: list[tuple[list[str], str, Edit]] = [
    (["streams"], "a record twice", lambda e: again(e, "HandRevealed")),
    (["streams"], "the hand is another in the table's stream",
     lambda e: put(e, "HandStarted", "hand_id", bytes(16))),
    (["streams"], "time runs backwards", lambda e: setattr(entry(e, "HandRevealed"), "at", 1)),
    (["commitment"], "noted otherwise", lambda e: put(
        e, "HandCommitted", "commitment", Message(
            **{**vars(the(e, "HandCommitted").commitment), "commitment": bytes(32)}))),
    (["commitment"], "signed by nobody", lambda e: put_everywhere(e, "signature")),
    (["commitment"], "promised twice", lambda e: again(e, "SeedCommitted")),
    (["commitment", "seed"], "promised too late", lambda e: move_all(e, "SeedCommitted", LATER)),
    (["transcript"], "another row at the table", lambda e: put(
        e, "HandSealed", "rows", the(e, "HandSealed").rows[:-1])),
    (["transcript"], "another transcript at the table", lambda e: put(
        e, "HandSealed", "transcript", bytes(32))),
    (["transcript"], "a beacon", lambda e: put(e, "SeedSealed", "beacon", bytes(41))),
    (["transcript"], "other entropy revealed", lambda e: put(
        e, "EntropyRevealed", "entropy", bytes(32))),
    (["transcript"], "a seat's reveal is left out", lambda e: drop(e, "EntropyRevealed", 1)),
    (["transcript"], "a seat's commitment is left out", lambda e: drop(e, "EntropyCommitted")),
    (["transcript"], "a seat commits twice", lambda e: again(e, "EntropyCommitted")),
    (["transcript"], "closed without a seat", lambda e: the(e, "EntropyClosed").seats.pop()),
    (["seed"], "another seed at the table", lambda e: put(e, "HandRevealed", "seed", bytes(64))),
    (["seed", "transfer"], "opened before the end", lambda e: move_all(e, "HandSettled", LATER)),
    (["seed"], "opened after credits had moved",
     lambda e: (move_all(e, "SeedOpened", LATER), move_all(e, "HandRevealed", 1))),
    (["seed"], "opened as discarded", lambda e: put(e, "SeedOpened", "discarded", True)),
    (["operations"], "the dealer rolled otherwise", lambda e: other_faces(e, "OperationPerformed")),
    (["operations"], "both logs have another roll",
     lambda e: (other_faces(e, "OperationPerformed"), other_faces(e, "ChanceUsed"))),
    (["operations"], "rolled once more", use_twice),
    (["operations"], "another root", lambda e: (
        put_in(the(e, "OperationPerformed").result, "root", bytes(32)),
        put_in(the(e, "ChanceUsed").result, "root", bytes(32)))),
    (["cards"], "a hidden card is written", lambda e: put_in(
        the(e, "CardsMoved").cards[0], "card", "S1")),
    (["cards"], "another place", lambda e: put_in(the(e, "CardsMoved").cards[0], "position", 9)),
    (["cards"], "another card shown", lambda e: put_in(
        the(e, "CardsShown").cards[0], "card", "C3" if the(
            e, "CardsShown").cards[0].card != "C3" else "C4")),
    (["cards"], "another salt", lambda e: put_in(
        the(e, "CardsShown").cards[0], "salt", bytes(32))),
    (["cards"], "a card fewer is shown", lambda e: the(e, "CardsShown").cards.pop()),
    (["openings"], "somebody looked at the bottom card", lambda e: look(e, (0, 75), 4)),
    (["openings"], "somebody looked at a dealt card", lambda e: look(e, (0, 0), 1)),
    (["openings"], "a card was never opened", lambda e: drop(e, "CardsOpened")),
    (["decisions"], "another player", lambda e: put(
        e, "MoveDecided", "seat", next(
            seat.seat for seat in the(e, "HandOpened").roster
            if seat.seat != the(e, "MoveDecided").seat))),
    (["decisions"], "another turn", lambda e: put(e, "MoveDecided", "turn", 7)),
    (["decisions"], "no such move", lambda e: put_in(the(e, "MoveDecided").move, "kind", 26)),
    (["clocks"], "more of the bank", lambda e: put(e, "MoveDecided", "bank_used_ms", 30_000)),
    (["clocks"], "other misses", lambda e: put(
        e, "HandFinished", "misses", [9] * len(the(e, "HandFinished").misses))),
    (["settlement"], "another line", lambda e: the(e, "HandSettled").lines.pop()),
    (["settlement"], "the pot was won", lambda e: [
        put(e, kind, "sabacc_won", not the(e, kind).sabacc_won)
        for kind in ("HandSettled", "HandFinished")]),
    (["transfer"], "another leg", lambda e: put_in(
        the(e, "TransferPosted").legs[0], "account", "house/issuance")),
    (["transfer"], "a stranger won and lost nothing", lambda e: zero_leg(
        e, f"seat/{uuid.UUID(bytes=forge.TABLE)}/{uuid.UUID(int=7)}")),
    (["transfer"], "a pot won and lost nothing", lambda e: zero_leg(
        e, f"pot/{uuid.UUID(bytes=forge.TABLE)}/carried")),
    (["transfer"], "another position", lambda e: put(e, "SettlementPosted", "position", 999)),
    (["transfer"], "posted twice", lambda e: again(e, "TransferPosted")),
    (["conserved"], "the table goes on with more", lambda e: put_in(
        the(e, "HandFinished").seats[0], "stack", 12_345)),
    (["conserved"], "the table goes on as if aborted", lambda e: put(
        e, "HandFinished", "aborted", True)),
]


def put_in(message: Message, name: str, value: object) -> None:
    """Changes a field of a part."""
    setattr(message, name, value)


def put_everywhere(entries: list[Entry], name: str) -> None:
    """Changes the commitment wherever it stands."""
    for kind in ("SeedCommitted", "HandCommitted", "HandOpened"):
        signed = deepcopy(the(entries, kind).commitment)
        setattr(signed, name, flip(getattr(signed, name)))
        put(entries, kind, "commitment", signed)


class Forged(unittest.TestCase):
    """Hands made here."""

    def test_honest_hands_pass(self) -> None:
        for variant in GAMES:
            for entropy in ("all", "some", "withheld", "old"):
                for abort_after in (None, 0, 5, 16):
                    plan = Plan(
                        variant, 3, RULES.get(variant, {}), entropy, abort_after, delay=30
                    )
                    with self.subTest(plan=plan):
                        made = forge_logs.bundle(*played(plan, 1))
                        report = audit(bundle.read(made), TRUSTED)
                        failed = [it.check for it in report.checks if it.verdict != "passed"]
                        self.assertEqual(failed, ["transcript"] if entropy == "old" else [])
                        broken = "broken off" in report.sentences[0]
                        over = "broken_off" if broken else "proved"
                        self.assertEqual(report.verdict, "failed" if failed else over)

    def test_breaks(self) -> None:
        hand_id, honest = shown(Plan("dice", clocks=False, leaves=False))
        self.assertEqual(fails(hand_id, honest), [])
        for expected, what, edit in BREAKS:
            with self.subTest(what):
                entries = deepcopy(honest)
                edit(entries)
                self.assertEqual(fails(hand_id, entries), expected)

    def test_nets_of_zero(self) -> None:
        free = {"hand_ante": 0, "sabacc_ante": 0}
        for count in (1, 2, 3):
            hand_id, honest, seed = b"", [], 0
            while len(zeros(honest) if honest else []) != count:
                seed += 1
                hand_id, honest = played(Plan("dice", 3, free), seed)
            legs, zero = the(honest, "TransferPosted").legs, zeros(honest)
            bare = [leg for leg in legs if leg.amount]
            for expected, what, changed in (
                ([], "as it is", legs),
                ([], "as earlier tables wrote it", bare),
                (["transfer"], "twice", legs + zero[:1]),
                (["transfer"] if count > 1 else [], "one is left out", bare + zero[1:]),
            ):
                with self.subTest(what, count=count):
                    entries = deepcopy(honest)
                    put(entries, "TransferPosted", "legs", changed)
                    self.assertEqual(fails(hand_id, entries), expected)

    def test_breaks_of_hands_that_came_to_nothing(self) -> None:
        for entropy, abort_after in (("withheld", None), ("all", 9)):
            hand_id, honest = played(Plan("dice", 3, {}, entropy, abort_after), 4)
            more = 1 + honest[-3].event.seats[0].stack
            for expected, what, edit in (
                ([], "nothing is wrong", lambda e: None),
                (["transcript"], "nobody's fault", lambda e: put(e, "HandAborted", "at_fault", 0)),
                (["transcript"], "another's fault", lambda e: put(e, "HandAborted", "seats", [9])),
                (["seed"], "opened too early", lambda e: move_all(e, "HandAborted", LATER)),
                (["seed"], "opened as played", lambda e: put(e, "SeedOpened", "discarded", False)),
                (["conserved"], "not given back", lambda e: put_in(
                    the(e, "HandFinished").seats[0], "stack", more)),
                (["conserved"], "as if played", lambda e: put(
                    e, "HandFinished", "aborted", False)),
            ):
                with self.subTest(what, entropy=entropy):
                    entries = deepcopy(honest)
                    edit(entries)
                    found = fails(hand_id, entries)
                    late = what == "opened as played" and entropy == "withheld"
                    self.assertEqual(found, ["streams", *expected] if late else expected)


if __name__ == "__main__":
    unittest.main()
