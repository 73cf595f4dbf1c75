"""Hands of a room of our own: honest ones pass, and every break is noticed by its check."""

from __future__ import annotations

import unittest
import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

from . import bundle, forge_logs
from .aborts import SUSPENDED
from .audit import audit
from .forge import Player
from .forge_logs import TRUSTED, Entry
from .forge_table import SECOND, TABLE, Plan
from .proto import Message
from .rules.hand import GAMES
from .rules.kinds import Refused

TOKENS = ["immunity", "markdown", "general-tariff"]
RULES = {"kessel": {"tokens": "assigned", "assigned_tokens": TOKENS, "chips": 4}}
LATER = 60 * SECOND
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


def move_behind(entries: list[Entry], kind: str, other: str, **event: object) -> None:
    """A copy of a record behind another, changed."""
    one = deepcopy(entry(entries, kind))
    vars(one.event).update(event)
    behind = entry(entries, other)
    one.at = behind.at
    entries.insert(entries.index(behind) + 1, one)


def drop_signed(entries: list[Entry]) -> None:
    """A commitment is left out, of a seat that signs nothing from now on."""
    seat = the(entries, "EntropyCommitted").seat
    drop(entries, "EntropyCommitted")
    for one in entries:
        if one.kind == "MoveDecided" and one.event.seat == seat:
            one.event.signature = b""


def swap_signatures(entries: list[Entry]) -> None:
    """Two decisions have each other's signature."""
    one, two = the(entries, "MoveDecided"), the(entries, "MoveDecided", 1)
    one.signature, two.signature = two.signature, one.signature


def refuse(entries: list[Entry]) -> None:
    """The table refuses the seed."""
    one = entry(entries, "HandRevealed")
    one.kind, one.event = "SeedRefused", Message(seed=one.event.seed)


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
    (["commitment", "closing"], "promised too late", lambda e: move_all(
        e, "SeedCommitted", LATER)),
    (["commitment"], "other settings than promised", lambda e: put(
        e, "HandOpened", "settings",
        the(e, "HandOpened").settings.replace("hours = 2", "hours = 3"))),
    (["transcript"], "another row at the table", lambda e: put(
        e, "HandSealed", "rows", the(e, "HandSealed").rows[:-1])),
    (["transcript"], "another transcript at the table", lambda e: put(
        e, "HandSealed", "transcript", bytes(32))),
    (["transcript"], "a beacon", lambda e: put(e, "SeedSealed", "beacon", bytes(41))),
    (["transcript"], "other entropy revealed", lambda e: put(
        e, "EntropyRevealed", "entropy", bytes(32))),
    (["transcript"], "a seat's reveal is left out", lambda e: drop(e, "EntropyRevealed", 1)),
    (["closing"], "a seat's commitment is left out", lambda e: drop_signed(e)),
    (["closing"], "a seat commits twice", lambda e: again(e, "EntropyCommitted")),
    (["closing", "transcript"], "closed without a seat", lambda e: put_in(
        the(e, "EntropyClosed").closing, "rows", the(e, "EntropyClosed").closing.rows[:-1])),
    (["closing"], "closed twice", lambda e: again(e, "CommitmentsClosed")),
    (["closing"], "closed by the table alone", lambda e: put_in(
        the(e, "CommitmentsClosed").closing, "rows", [])),
    (["closing"], "the closing is signed by nobody", lambda e: put_closing(
        e, "signature", bytes(64))),
    (["closing"], "the closing is signed with another key", lambda e: put_closing(
        e, "key_id", bytes(8))),
    (["closing"], "another hash of the closing", lambda e: put_closing(e, "closing", bytes(32))),
    (["closing"], "closed before it was signed", lambda e: move_all(
        e, "CommitmentsClosed", 300_000)),
    (["closing"], "a stranger commits after the closing", lambda e: move_behind(
        e, "EntropyCommitted", "EntropyClosed", player_id=bytes(16))),
    (["signatures"], "another signature", lambda e: put(
        e, "MoveDecided", "signature", flip(the(e, "MoveDecided").signature))),
    (["signatures"], "not signed", lambda e: put(e, "MoveDecided", "signature", b"")),
    (["signatures"], "signed by another player", swap_signatures),
    (["seed"], "another seed at the table", lambda e: put(e, "HandRevealed", "seed", bytes(64))),
    (["seed", "transfer"], "opened before the end", lambda e: move_all(e, "HandSettled", LATER)),
    (["seed"], "refused", lambda e: refuse(e)),
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
    (["decisions"], "no such move", lambda e: put_in(
        the(e, "MoveDecided").move, "kind", 26)),
    (["decisions", "signatures"], "agreed to end what is not suspended", lambda e: put_in(
        the(e, "MoveDecided").move, "kind", 27)),
    (["clocks"], "more of the bank", lambda e: put(e, "MoveDecided", "bank_used_ms", 30_000)),
    (["clocks"], "other misses", lambda e: put(
        e, "HandFinished", "misses", [9] * len(the(e, "HandFinished").misses), -1)),
    (["settlement"], "another line", lambda e: the(e, "HandSettled").lines.pop()),
    (["settlement"], "the pot was won", lambda e: [
        put(e, kind, "sabacc_won", not the(e, kind, -1).sabacc_won, -1)
        for kind in ("HandSettled", "HandFinished")]),
    (["transfer"], "another leg", lambda e: put_in(
        the(e, "TransferPosted").legs[0], "account", "house/issuance")),
    (["transfer"], "a stranger won and lost nothing", lambda e: zero_leg(
        e, f"seat/{uuid.UUID(bytes=TABLE)}/{uuid.UUID(int=7)}")),
    (["transfer"], "a pot won and lost nothing", lambda e: zero_leg(
        e, f"pot/{uuid.UUID(bytes=TABLE)}/carried")),
    (["transfer"], "another position", lambda e: put(e, "SettlementPosted", "position", 999)),
    (["transfer"], "posted twice", lambda e: again(e, "TransferPosted")),
    (["conserved"], "the table goes on with more", lambda e: put_in(
        the(e, "HandFinished", -1).seats[0], "stack", 12_345)),
    (["conserved"], "the table goes on as if aborted", lambda e: put(
        e, "HandFinished", "aborted", True, -1)),
    (["start"], "another stack before", lambda e: put_in(
        the(e, "HandFinished").seats[0], "stack", 12_345)),
    (["start"], "another player before", lambda e: put_in(
        the(e, "HandFinished").seats[0], "player_id", bytes(16))),
    (["start"], "another pot before", lambda e: put(e, "HandFinished", "carried_pot", 7)),
    (["start"], "another button before", lambda e: put(
        e, "HandFinished", "seats", the(e, "HandFinished").seats[:-1])),
    (["streams"], "the hand before was none", lambda e: put(e, "HandFinished", "aborted", True)),
    (["streams"], "the hand before is left out", lambda e: drop(e, "HandFinished")),
    (["streams"], "the hand before has another number", lambda e: put(
        e, "HandFinished", "hand_no", 1)),
    (["streams", "closing", "signatures"], "a record is kept back", lambda e: setattr(
        entry(e, "EntropyCommitted"), "kept_back", True)),
    (["streams", "operations", "decisions", "signatures"], "a decision is kept back",
     lambda e: setattr(entry(e, "MoveDecided"), "kept_back", True)),
]


def put_in(message: Message, name: str, value: object) -> None:
    """Changes a field of a part."""
    setattr(message, name, value)


def put_closing(entries: list[Entry], name: str, value: object) -> None:
    """Changes the closing in both logs."""
    for kind in ("CommitmentsClosed", "EntropyClosed"):
        closing = deepcopy(the(entries, kind).closing)
        setattr(closing, name, value)
        put(entries, kind, "closing", closing)


def put_everywhere(entries: list[Entry], name: str) -> None:
    """Changes the commitment wherever it stands."""
    for kind in ("SeedCommitted", "HandCommitted", "HandOpened"):
        signed = deepcopy(the(entries, kind).commitment)
        setattr(signed, name, flip(getattr(signed, name)))
        put(entries, kind, "commitment", signed)


class Forged(unittest.TestCase):
    """Hands made here."""

    def test_honest_hands_pass(self) -> None:
        silences = [{"silence": how, "silent_after": at} for how in (
            "back", "agreed", "late") for at in (-1, 0, 5, 16)]
        for variant in GAMES:
            for more in (
                {}, {"entropy": "some"}, {"entropy": "withheld"}, {"entropy": "late"},
                {"history": "new"}, {"history": "end"}, {"burnt": 2}, {"signing": 3},
                {"delayed": True}, {"burnt": 1, "history": "new"}, *silences,
            ):
                plan = Plan(variant, 3, RULES.get(variant, {}), **more)
                with self.subTest(plan=plan):
                    hand_id, entries = played(plan, 1)
                    report = audit(bundle.read(forge_logs.bundle(hand_id, entries)), TRUSTED)
                    failed = [it.check for it in report.checks if it.verdict != "passed"]
                    self.assertEqual(failed, [])
                    self.assertEqual(report.verdict, self.verdict_of(entries))

    def verdict_of(self, entries: list[Entry]) -> str:
        """The class of an honest hand."""
        causes = [one.event.cause for one in entries if one.kind == "HandAborted"]
        died = causes == [SUSPENDED] and any(one.kind == "HandSealed" for one in entries)
        return "failed" if died else "broken_off" if causes else "proved"

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
        # The first seed of each count: of two in three seats it is rare.
        for count, seed in ((1, 1), (2, 4936), (3, 2)):
            hand_id, honest = played(Plan("dice", 3, free), seed)
            self.assertEqual(len(zeros(honest)), count)
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
        for plan in (
            Plan("dice", 3, entropy="withheld"), Plan("dice", 3, silent_after=9, silence="agreed"),
            Plan("dice", 3, silent_after=-1),
        ):
            hand_id, honest = played(plan, 4)
            unsealed = plan.silence != "agreed"
            for expected, what, edit in (
                ([], "nothing is wrong", lambda e: None),
                (["transcript"], "nobody's fault", lambda e: put(e, "HandAborted", "at_fault", 0)),
                (["transcript"], "for no cause", lambda e: put(e, "HandAborted", "cause", 0)),
                (["transcript"], "another's fault", lambda e: put(e, "HandAborted", "seats", [9])),
                (["seed"], "opened too early", lambda e: move_all(e, "HandAborted", LATER)),
                (["seed"], "opened as played", lambda e: put(e, "SeedOpened", "discarded", False)),
                (["conserved"], "not given back", lambda e: put_in(
                    the(e, "HandFinished", -1).seats[0], "stack", 12_345)),
                (["conserved", "start"], "clocks count as missed", lambda e: (
                    put(e, "HandFinished", "sabacc_won", True, -1),
                    put(e, "HandFinished", "misses", [0, 0, 1], -1))),
                (["conserved"], "as if played", lambda e: put(
                    e, "HandFinished", "aborted", False, -1)),
            ):
                with self.subTest(what, plan=plan):
                    entries = deepcopy(honest)
                    edit(entries)
                    late = what == "opened as played" and unsealed
                    self.assertEqual(
                        fails(hand_id, entries), ["streams", *expected] if late else expected
                    )

    def test_windows(self) -> None:
        hand_id, honest = played(Plan("dice", 3, entropy="some"), 2)
        start = entry(honest, "HandCommitted").at
        gap = start + 2 * SECOND - entry(honest, "EntropyClosed").at
        self.assertEqual(fails(hand_id, moved(honest, "CommitmentsClosed", gap)), [])
        self.assertEqual(fails(hand_id, moved(honest, "CommitmentsClosed", gap - 1)), ["closing"])
        hand_id, honest = played(Plan("dice", 3, entropy="withheld"), 2)
        gap = entry(honest, "EntropyClosed").at + 2 * SECOND
        gap -= entry(honest, "HandAborted").at
        self.assertEqual(fails(hand_id, moved(honest, "HandAborted", gap)), [])
        self.assertEqual(fails(hand_id, moved(honest, "HandAborted", gap - 1)), ["transcript"])

    def test_who_sits_down_has_time_too(self) -> None:
        hand_id, honest = played(Plan("dice", 3, entropy="some"), 2)
        seat = next(
            place for place in the(honest, "HandOpened").roster
            if all(place.seat != one.event.seat for one in honest if one.kind == "EntropyCommitted")
        )
        taken = Message(
            seat=seat.seat, player_id=seat.player_id, buy_in=seat.stack, transfer_id=bytes(16)
        )
        closed = entry(honest, "EntropyClosed").at
        started = honest.index(entry(honest, "HandStarted"))
        last = the(honest, "HandFinished")
        last.seats = [place for place in last.seats if place.seat != seat.seat]
        last.misses = last.misses[1:]
        for early, expected in ((2 * SECOND, []), (SECOND, ["closing"])):
            entries = deepcopy(honest)
            for kind in ("SeatFunded", "SeatTaken"):
                event = taken if kind == "SeatTaken" else Message(seat=seat.seat)
                entries.insert(started, Entry("table", TABLE, closed - early, kind, event))
            for one in entries[started + 2 :]:
                if one.log == "table":
                    one.at = max(one.at, closed - early)
            self.assertEqual(fails(hand_id, entries), expected)

    def test_suspensions(self) -> None:
        plan = Plan("dice", 3, silent_after=9, silence="back", clocks=False, leaves=False)
        hand_id, honest = played(plan, 2)
        hours = 7200 * SECOND
        for expected, what, edit in (
            ([], "nothing is wrong", lambda e: None),
            (["clocks"], "suspended early", lambda e: put(
                e, "HandSuspended", "since_micros", the(e, "HandSuspended").since_micros + 10**4)),
            (["clocks"], "suspended for longer", lambda e: put(
                e, "HandSuspended", "until_micros", entry(e, "HandSuspended").at + hours + 10**6)),
            (["clocks"], "less time than before", lambda e: put(
                e, "HandContinued", "deadline_micros",
                the(e, "HandContinued").deadline_micros - 11 * SECOND)),
            (["streams"], "back twice", lambda e: again(e, "HandContinued")),
            (["decisions"], "played on while suspended", lambda e: e.insert(
                e.index(the_next(e, "HandContinued", "MoveDecided")) + 1,
                e.pop(e.index(entry(e, "HandContinued"))))),
        ):
            with self.subTest(what):
                entries = deepcopy(honest)
                edit(entries)
                found = fails(hand_id, entries)
                if what == "played on while suspended":
                    found = [check for check in found if check not in ("clocks", "streams")]
                self.assertEqual(found, expected)

    def test_agreements(self) -> None:
        plan = Plan("dice", 3, silent_after=9, silence="agreed", clocks=False, leaves=False)
        hand_id, honest = played(plan, 2)
        void = [one for one in honest if one.kind == "MoveDecided" and one.event.move.kind == 27]
        self.assertEqual(len(void), 3)
        for expected, what, edit in (
            (["decisions"], "one has not agreed", lambda e: e.remove(void[2])),
            (["decisions", "signatures"], "one has agreed twice", lambda e: e.insert(
                e.index(void[2]), void[2])),
            (["transcript", "decisions"], "the hand is not suspended", lambda e: drop(
                e, "HandSuspended")),
            (["signatures"], "one has not signed", lambda e: e.__setitem__(
                e.index(void[2]), replace(void[2], event=changed(void[2], signature=b"")))),
        ):
            with self.subTest(what):
                entries = list(honest)
                edit(entries)
                self.assertEqual(fails(hand_id, entries), expected)

    def test_what_is_kept_back_of_a_suspended_hand(self) -> None:
        hand_id, entries = played(Plan("dice", 3, silent_after=9, silence="open"), 2)
        for one in entries:
            one.kept_back = one.kind in ("MoveDecided", "ChanceUsed", "OperationPerformed")
        made = audit(bundle.read(forge_logs.bundle(hand_id, entries)), TRUSTED)
        self.assertEqual(made.verdict, "not_finished")
        self.assertEqual([it.check for it in made.checks if it.verdict == "failed"], [])
        passed = [it.check for it in made.checks if it.verdict == "passed"]
        self.assertEqual(passed, [
            "keys", "inclusion", "streams", "commitment", "closing", "transcript", "start"])


def moved(honest: list[Entry], kind: str, by: int) -> list[Entry]:
    """A hand whose records from one on, in all logs, are moved."""
    entries = deepcopy(honest)
    for one in entries[entries.index(entry(entries, kind)) :]:
        one.at += by
    return entries


def the_next(entries: list[Entry], kind: str, other: str) -> Entry:
    """The first record of another kind behind one."""
    since = entries.index(entry(entries, kind))
    return next(one for one in entries[since:] if one.kind == other)


def changed(one: Entry, **event: object) -> Message:
    """An event with other fields."""
    return Message(**{**vars(one.event), **event})


if __name__ == "__main__":
    unittest.main()
