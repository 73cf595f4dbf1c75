"""Knows the three sentences that stand first: what happened, whose word it is, the reader's part.

A sentence claims what was checked and no more. The Rust verifier and the page say the same.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from .case import Case
from .entropy import DEALER, SEAT
from .report import FAILED, NOT_POSSIBLE, PASSED, Checked
from .trust import Trust, room_of
from .note import Key
from .verdict import Verdict
from .witness import Seen

Sentences = tuple[str, str, str]
YOURS = "Your part: only you can know whether your own number is in it."
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


def of(case: Case, verdict: Verdict, checks: list[Checked], given: tuple[Trust, Seen]) -> Sentences:
    """Of a hand whose checks were made."""
    if verdict.kind == "failed":
        return failed(_wrong(verdict, checks))
    number = case.one("HandOpened").event.hand_no
    return f"Hand {number} {_happened(case, verdict, given)}.", _word(case, checks, given), YOURS


def _wrong(verdict: Verdict, checks: list[Checked]) -> str:
    if verdict.reason == "nobody":
        return "no seat's number is in it, so that the dealer alone made its chance"
    if verdict.reason == "seed":
        due = time_text(verdict.due)
        return f"the dealer's seed was due at {due}, and more than an hour later it is not there"
    wrong = [checked.check for checked in checks if checked.verdict == FAILED]
    if wrong:
        return f"failed checks: {', '.join(wrong)}"
    missing = [checked.check for checked in checks if checked.verdict == NOT_POSSIBLE]
    return f"checks that could not be made: {', '.join(missing)}"


def _happened(case: Case, verdict: Verdict, given: tuple[Trust, Seen]) -> str:
    trust, seen = given
    if verdict.reason == "seed":
        due = time_text(verdict.due)
        return f"is not finished: the dealer's seed is due at {due}, and is not in this file"
    if verdict.reason == "witnesses":
        return (
            f"is not finished: cosignatures of trusted witnesses asked for {trust.wanted}, "
            f"there {len(seen.names)}"
        )
    if verdict.kind == "proved":
        return f"was played to its end: {_won(case)}"
    return f"was broken off {_step(case)} by {_whom(case)}: every credit went back"


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
    for kind, step in (
        ("HandSettled", "after its settlement"),
        ("HandSealed", "in play"),
        ("EntropyClosed", "before its antes"),
    ):
        if case.find(kind) is not None:
            return step
    return "while its seats committed"


def _whom(case: Case) -> str:
    event = case.one("HandAborted").event
    if event.at_fault == SEAT:
        its = "its number" if len(event.seats) == 1 else "their numbers"
        return f"{seats_text(event.seats)}, which withheld {its}"
    return "the dealer" if event.at_fault == DEALER else "the operator"


def _word(case: Case, checks: list[Checked], given: tuple[Trust, Seen]) -> str:
    trust, seen = given
    room = room_of(Key.parse(case.bundle.table.key).name, "table")
    signed = "nobody but the room has seen this log: it could show somebody else another"
    if seen.names:
        of_all = f"{len(seen.names)} of {len(trust.witness_names)} trusted witnesses"
        signed = f"{of_all} signed the checkpoints of table and dealer"
    bound = Checked("transcript", PASSED) in checks
    numbers = _numbers(case.revealed) if bound else "which seats' numbers are in it was not shown"
    return f"Whose word it is: that of {room}, by the keys you gave; {signed}; {numbers}."


def _numbers(seats: list[int]) -> str:
    if not seats:
        return "no seat's number is in it"
    if len(seats) == 1:
        return f"the number of {seats_text(seats)} is in it: enough if that seat is honest"
    return f"the numbers of {seats_text(seats)} are in it: enough if one of them is honest"


def seats_text(seats: list[int]) -> str:
    """Seats in words: `seat 1`, `seats 1 and 3`, `seats 1, 3 and 5`."""
    *rest, last = map(str, seats)
    return f"seats {', '.join(rest)} and {last}" if rest else f"seat {last}"


def time_text(micros: int) -> str:
    """A time in UTC, to the second."""
    try:
        time = datetime(1970, 1, 1) + timedelta(seconds=micros // 1_000_000)
    except OverflowError:
        return f"{micros} microseconds after 1970"
    return f"{time.isoformat(' ')} UTC"
