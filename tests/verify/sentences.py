"""Knows the three sentences that stand first: what happened, whose word it is, the reader's part.

A sentence claims what was checked and no more. The Rust verifier and the page say the same.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from . import signatures, start
from .aborts import AGREED, WITHHELD
from .case import Case, Trouble
from .evidence import Number
from .held import told as held_by
from .kept import Kept
from .note import Key
from .report import FAILED, NOT_POSSIBLE, PASSED, Checked
from .trust import Trust, room_of
from .verdict import Verdict
from .witness import Seen

Sentences = tuple[str, str, str]
YOURS = "Your part: only you can know whether your own number is in it."
FIXED_SEED = (
    "For developers alone: an option fixed the dealer's seeds, so whoever knows it knew every card "
    "beforehand. "
)
OWED = {
    "seed": (
        "the dealer's seed was due at",
        "the dealer's seed, which is not in this file, is due at",
    ),
    "suspended": (
        "the dealer is silent, and the end of the hand was due at",
        "the dealer is silent, and it is ended at the latest at",
    ),
    "transfer": (
        "the wallet's transfer was due at",
        "the wallet's transfer, or the table's end of it, is owed since",
    ),
    "play": ("its last record is of", "it is in play, and its last record is of"),
}
"""What is owed: where it is overdue, and where it is not."""
WINS = re.compile(r"p([0-9]{1,2}) wins \S+ ([0-9]{1,20})", re.ASCII)


def refused(why: str) -> Sentences:
    """Of a file that is not checked."""
    return (
        f"Nothing is proved: {why}.",
        "Whose word it is: nobody's, since nothing was checked.",
        "Your part: get the file and the room's keys from where you trust them, and check again.",
    )


def failed(why: str) -> Sentences:
    """Of a hand that is not proved."""
    return (
        f"This hand is not proved: {why}.",
        "Whose word it is: that is no help, since no signature makes up for what is wrong.",
        "Your part: do not rely on this hand, and keep the file: only you can know whether your "
        "own number is in it.",
    )


def of(
    case: Case, verdict: Verdict, checks: list[Checked], given: tuple[Trust, Seen, Kept | None]
) -> Sentences:
    """Of a hand whose checks were made."""
    first, word, yours = _of(case, verdict, checks, given)
    return _mark(case) + first, word, yours


def _mark(case: Case) -> str:
    """Sentences, each with a space behind it, for a hand of a room for developers; else nothing."""
    try:
        settings = case.settings
    except Trouble:
        return ""
    times = settings.time_scale
    fast = f"Clocks of this table run {times} times as fast as its settings say. "
    return (FIXED_SEED if settings.insecure_fixed_seed else "") + (fast if times > 1 else "")


def _of(
    case: Case, verdict: Verdict, checks: list[Checked], given: tuple[Trust, Seen, Kept | None]
) -> Sentences:
    trust, seen, kept = given
    if verdict.reason == "evidence" and kept is not None:
        return failed(f"your evidence contradicts it: {'; '.join(kept.against)}")
    if verdict.kind == "failed":
        return failed(_wrong(verdict, checks))
    number = case.one("HandOpened").event.hand_no
    yours = YOURS if kept is None else f"Your part: {_yours(case, checks, kept)}."
    happened = _happened(case, verdict, (trust, seen))
    return f"Hand {number} {happened}.", _word(case, checks, (trust, seen)), yours


def _yours(case: Case, checks: list[Checked], kept: Kept) -> str:
    """Where the reader's own numbers are."""
    if not kept.numbers:
        return "your evidence has no number for this hand: nothing of yours is in it"
    told = [_number(case, checks, one) for one in kept.numbers]
    sent = {
        None: "your evidence has no closing that you were sent for it",
        True: "the closing that you were sent is the one on record",
        False: "the closing that you were sent is another",
    }[kept.sent]
    return "; ".join([*told, sent])


def _number(case: Case, checks: list[Checked], one: Number) -> str:
    """Where one number is: in the closing, in the transcript, in every card."""
    mine = f"your number of seat {one.seat}"
    closed, sealed = case.find("EntropyClosed"), case.find("HandSealed")
    closing = None if closed is None else closed.event.closing
    rows = [] if closing is None else closing.rows
    if not any((row.seat, row.commitment) == (one.seat, one.commitment) for row in rows):
        return f"{mine} is not in the closing, and so in no card"
    bound = [] if sealed is None else sealed.event.rows
    if not any((row.seat, row.entropy) == (one.seat, one.entropy) for row in bound):
        return f"{mine} is in the closing, and in no transcript"
    passed = {checked.check for checked in checks if checked.verdict == PASSED}
    if {"closing", "transcript", "seed", "operations", "cards"} <= passed:
        return f"{mine} is in the closing, in the transcript and in every card"
    return f"{mine} is in the closing and in the transcript, and the cards were not shown yet"


def _wrong(verdict: Verdict, checks: list[Checked]) -> str:
    if verdict.reason == "nobody":
        return "no seat's number is in it, so that the dealer alone made its chance"
    if verdict.reason == "die":
        return (
            "the dealer was silent until the time of the hand was over, and it alone knew what it "
            "cancelled"
        )
    if verdict.reason in OWED:
        what = OWED[verdict.reason][0]
        return f"{what} {time_text(verdict.due)}, and more than an hour later it is not there"
    wrong = [checked.check for checked in checks if checked.verdict == FAILED]
    if wrong:
        return f"failed checks: {', '.join(wrong)}"
    missing = [checked.check for checked in checks if checked.verdict == NOT_POSSIBLE]
    return f"checks that could not be made: {', '.join(missing)}"


def _happened(case: Case, verdict: Verdict, given: tuple[Trust, Seen]) -> str:
    trust, seen = given
    if verdict.reason in OWED:
        return f"is not finished: {OWED[verdict.reason][1]} {time_text(verdict.due)}"
    if verdict.reason == "witnesses":
        return (
            f"is not finished: cosignatures of trusted witnesses asked for {trust.wanted}, "
            f"there {len(seen.times)}"
        )
    if verdict.kind == "proved":
        return f"was played to its end: {_won(case)}{_burnt(case)}"
    when = time_text(case.one("HandAborted").at)
    held = held_by(case)
    return (
        f"was broken off {_step(case)} by {_whom(case)}, at {when}: every credit went back"
        f"{_burnt(case)}{f'. {held}' if held else ''}"
    )


def _burnt(case: Case) -> str:
    """Numbers that came to nothing since the last hand that was played, and who was excluded."""
    try:
        numbers = start.before(case).burnt
    except Trouble:
        return ""
    if not numbers:
        return ""
    what = "number" if len(numbers) == 1 else "numbers"
    told = ", ".join(_excluded(case, number) for number in numbers)
    return f"; before it {what} {told} came to nothing"


def _excluded(case: Case, number: int) -> str:
    """A burnt number, and the seats that the table excluded for it."""
    seats = sorted({
        read.event.seat
        for read in case.table
        if read.kind == "SeatExcluded" and not read.kept_back
        and read.event.burnt_hand_no == number
    })
    if not seats:
        return f"{number} (why is not in this file)"
    return f"{number} (the table excluded {seats_text(seats)} for it)"


def _won(case: Case) -> str:
    roster = case.one("HandOpened").event.roster
    won: dict[int, int] = {}
    for line in case.one("HandSettled").event.lines:
        found = WINS.fullmatch(line.text)
        if found is not None:
            seat = roster[int(found[1]) - 1].seat
            won[seat] = won.get(seat, 0) + int(found[2])
    return ", ".join(f"seat {seat} wins {won[seat]}" for seat in sorted(won)) or "nobody wins"


def _step(case: Case) -> str:
    if case.find("HandSealed") is not None:
        return "in play"
    closed = case.find("EntropyClosed") is not None
    return "before its antes" if closed else "while its seats committed"


def _whom(case: Case) -> str:
    event = case.one("HandAborted").event
    if event.cause == WITHHELD:
        its = "its number" if len(event.seats) == 1 else "their numbers"
        return f"{seats_text(event.seats)}, which withheld {its}"
    agreed = ", and all players who were left agreed" if event.cause == AGREED else ""
    return f"the dealer, which was silent{agreed}"


def _word(case: Case, checks: list[Checked], given: tuple[Trust, Seen]) -> str:
    trust, seen = given
    room = room_of(Key.parse(case.bundle.table.key).name, "table")
    signed = "nobody but the room has seen this log: it could show somebody else another"
    if seen.times:
        of_all = f"{len(seen.times)} of {len(trust.witness_names)} trusted witnesses"
        names = ", ".join(f"{name} at {time_text(at)}" for name, at in seen.times.items())
        signed = f"{of_all} signed the checkpoints of table and dealer: {names}"
    bound = Checked("transcript", PASSED) in checks
    numbers = _numbers(case.revealed) if bound else "which seats' numbers are in it was not shown"
    return (
        f"Whose word it is: that of {room}, by the keys you gave; {signed}; {numbers}; "
        f"{_house(case)}; {_decisions(case, checks)}."
    )


def _house(case: Case) -> str:
    """Seats that the house has marked as its own."""
    opened = case.find("HandOpened")
    roster = opened.event.roster if opened is not None else []
    seats = sorted(seat.seat for seat in roster if seat.house)
    marked = seats_text(seats) if seats else "no seat"
    return f"the house marks {marked} as its own: a house that cheats marks none"


def _decisions(case: Case, checks: list[Checked]) -> str:
    """Which decisions are their players' own."""
    if Checked("signatures", PASSED) not in checks:
        return "who signed decisions was not shown"
    seats = signatures.signing(case)
    if not any(read.kind == "MoveDecided" for read in case.hand):
        return "nothing was decided in it"
    if not seats:
        return "decisions are the table's word"
    return (
        f"those decisions of {seats_text(seats)} which its player made are signed, others are the "
        "clock's or the table's word"
    )


def _numbers(seats: list[int]) -> str:
    if not seats:
        return "no seat's number is in it"
    if len(seats) == 1:
        return f"the number of {seats_text(seats)} is in it: enough if that seat is honest"
    return f"the numbers of {seats_text(seats)} are in it: enough if one of them is honest"


def seats_text(seats: list[int]) -> str:
    """Seats in words: `seat 1`, `seats 1 and 3`, `seats 1, 3 and 5`."""
    return f"seat{'s' if len(seats) > 1 else ''} {list_text(seats)}"


def list_text(numbers: list[int]) -> str:
    """Numbers in words: `1`, `1 and 3`, `1, 3 and 5`."""
    *rest, last = map(str, numbers)
    return f"{', '.join(rest)} and {last}" if rest else last


def time_text(micros: int) -> str:
    """A time in UTC, to the second."""
    try:
        time = datetime(1970, 1, 1) + timedelta(seconds=micros // 1_000_000)
    except OverflowError:
        return f"{micros} microseconds after 1970"
    return f"{time.isoformat(' ')} UTC"
