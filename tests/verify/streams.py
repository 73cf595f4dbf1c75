"""Check `streams`: numbers, chains, and which event may follow which."""

from __future__ import annotations

import re

from . import merkle
from .bundle import Read
from .case import Case, hold, missing

RECOVERY = 4
OPERATOR = 3
LETTERS = {
    "HandOpened": "o", "EntropyClosed": "c", "EntropyRevealed": "e", "HandSealed": "s",
    "ChanceUsed": "x", "CardsMoved": "x", "MoveDecided": "x", "ClockResumed": "x",
    "CardsShown": "w", "HandSettled": "t", "SettlementPosted": "p", "HandRevealed": "r",
    "SeedRefused": "f", "HandAborted": "a",
    "SeedCommitted": "C", "SeedSealed": "S", "OperationPerformed": "X", "SeedOpened": "O",
}
# After its settlement a hand is posted and its seed is opened, in either order. A seed that is not
# the one committed to can still end the hand in nothing, as long as no credit has moved.
PLAYED = "o(sx*w*(t(p[rf]?|rp?|f)?)?)?"
# Nor need a settled hand stand that an operator makes void (v) before it is posted.
ABORTED = "o(sx*w*(tf)?)?[av]r?|osx*w*t(vr?|rv)"
PLAYED_WITH_ENTROPY = "o(ce*(sx*w*(t(p[rf]?|rp?|f)?)?)?)?"
ABORTED_WITH_ENTROPY = "o(ce*(sx*w*(tf)?)?)?[av]r?|oce*sx*w*t(vr?|rv)"
# How often the dealer promised is judged with the promise. D: the seed of a hand to be discarded.
DEALER = "C*|C+(S[XR]*([OD]R*)?|D)"


def check(case: Case) -> None:
    """The streams are whole, and their events in an order that can be."""
    if not case.hand or not case.dealer:
        raise missing("the table's or the dealer's stream of the hand is not there")
    whole("the table's log", case.hand_id, case.hand)
    whole("the dealer's log", case.hand_id, case.dealer)
    table = case.one("HandOpened").event.table_id
    part("the table's log", table, case.table)
    part("the wallet's log", table, case.wallet)
    hand_in_order(case)
    dealer_in_order(case)
    of_this_hand(case)


def whole(log: str, stream: bytes, records: list[Read]) -> None:
    """A stream from its first record on, without a gap."""
    part(log, stream, records)
    hold(
        [read.record.version for read in records] == list(range(1, len(records) + 1)),
        f"{log}: the versions of the stream have a gap",
    )
    hold(records[0].record.previous == bytes(32), f"{log}: the first record names one before it")


def part(log: str, stream: bytes, records: list[Read]) -> None:
    """Records of a stream in order; of two neighbours the one names the other."""
    for read in records:
        hold(read.record.stream == stream, f"{log}, {read.position}: of another stream")
    for before, read in zip(records, records[1:]):
        ascends = before.record.version < read.record.version and before.at <= read.at
        hold(ascends and before.position < read.position, f"{log}, {read.position}: out of order")
        if before.record.version + 1 == read.record.version:
            named = read.record.previous == merkle.sha256(merkle.leaf_record(before.record))
            hold(named, f"{log}, {read.position}: does not name the record before it")


def hand_in_order(case: Case) -> None:
    """The hand's stream is that of a hand, played or come to nothing."""
    order = "".join(_letter(read) for read in case.hand)
    if case.has_entropy:
        pattern = ABORTED_WITH_ENTROPY if case.aborted else PLAYED_WITH_ENTROPY
    else:
        pattern = ABORTED if case.aborted else PLAYED
    hold(re.fullmatch(pattern, order) is not None, f"no hand has records in this order: {order}")


def _letter(read: Read) -> str:
    void = read.kind == "HandAborted" and read.event.at_fault == OPERATOR
    return "v" if void else LETTERS.get(read.kind, "?")


def dealer_in_order(case: Case) -> None:
    """The dealer's stream: after the seed is open, whoever lost his memory may still ask again."""
    order = "".join(_dealer_letter(read) for read in case.dealer)
    hold(re.fullmatch(DEALER, order) is not None, f"no dealer has records in this order: {order}")


def _dealer_letter(read: Read) -> str:
    if read.kind == "SeedOpened" and read.event.discarded:
        return "D"
    if read.kind != "CardsOpened":
        return LETTERS.get(read.kind, "?")
    opening = read.event.opening
    return "R" if opening is not None and opening.reason == RECOVERY else "X"


def of_this_hand(case: Case) -> None:
    """The records of the table's stream: of this hand, around the hand's own."""
    number = case.one("HandOpened").event.hand_no
    seen: list[str] = []
    for read in case.table:
        event = read.event
        ours = read.kind in ("HandCommitted", "EntropyCommitted", "HandStarted", "HandFinished")
        ours = ours and event.hand_no == number
        if ours and read.kind in ("HandStarted", "HandFinished"):
            ours = event.hand_id == case.hand_id
        if ours and read.kind == "HandFinished":
            end = case.find("HandAborted") or case.find("HandSettled")
            ours = end is not None and end.at <= read.at
        hold(
            ours and (read.kind in ("HandCommitted", "EntropyCommitted") or read.kind not in seen),
            f"the table's log, {read.position}: {read.kind} is not this hand's, or out of order",
        )
        seen.append(read.kind)
    if "HandStarted" not in seen:
        raise missing("the start of the hand is not among the records")
