"""Knows what a reader's own evidence says to a hand: whether it contradicts the records or itself,
and if the reader's number is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import fair, receipts
from .case import Case, Trouble
from .conflicts import conflicts
from .evidence import Evidence, Number, Signed
from .promise import Promise, promise
from .receipts import Receipts, closing
from .trust import TrustedKey
from .walk import Walk


@dataclass(frozen=True)
class Kept:
    """What came of comparing. `numbers`: the reader's own for this hand; `sent`: the closing that
    the reader was sent is the one on record; None: the evidence has none for this hand."""

    against: tuple[str, ...]
    numbers: tuple[Number, ...]
    sent: bool | None


@dataclass(frozen=True)
class Own:
    """The reader's evidence, and the keys that the reader trusts."""

    evidence: Evidence
    keys: list[TrustedKey]


def compare(case: Case, walked: Walk, own: Own, proved: bool) -> Kept:
    """Compares evidence with the records. Those that are not proved contradict nothing."""
    evidence = own.evidence
    itself = conflicts(evidence, own.keys)
    try:
        made = promise(case)
    except Trouble:
        return Kept(tuple(itself), (), None)
    bound = (made.context, made.commitment)
    numbers = tuple(one for one in evidence.numbers if (one.context, one.dealer) == bound)
    sent = [
        one.fields[2] for one in evidence.signed
        if one.tag == "closing-sig" and one.fields[:2] == bound and _counts(case.dealer_keys, one)
    ]
    closed = closing(case)
    recorded = None if closed is None else closed.closing
    held = Receipts(case, walked, made)
    against = list(_against(held, evidence)) if proved else []
    told = tuple(dict.fromkeys([*against, *itself]))
    return Kept(told, numbers, all(one == recorded for one in sent) if sent else None)


def _counts(keys: list[TrustedKey], one: Signed, position: int | None = None) -> bool:
    """Whether a text is of one of a log's keys. A receipt stands before the key's end, of one that
    is given twice the lesser."""
    ends = [other.until for other in keys if other.key.public == one.key]
    return ends != [] and all(
        position is None or end is None or position < end for end in ends
    )


def _against(held: Receipts, evidence: Evidence) -> Iterator[str]:
    case = held.case
    for one in evidence.signed:
        if one.tag in ("dealer-commit-sig", "closing-sig"):
            if _counts(case.dealer_keys, one):
                yield from _dealers(case, held.made, one)
        elif one.tag != "decision-sig":
            if _counts(case.table_keys, one, receipts.position(one)):
                yield from held.against(one)


def _dealers(case: Case, made: Promise, one: Signed) -> Iterator[str]:
    """Two promises for one number, two closings."""
    if one.tag == "closing-sig":
        closed = closing(case)
        if one.fields[:2] == (made.context, made.commitment) and closed is not None:
            if closed.closing != one.fields[2]:
                yield "the dealer signed another closing for this hand"
        return
    event = made.event
    number = (made.signed.origin.encode(), event.table_id, fair.number(event.hand_no, 8))
    if one.fields[:3] == number and one.fields[3:] != (event.rules_hash, made.commitment):
        yield "the dealer promised another seed, or other rules, for this number"
