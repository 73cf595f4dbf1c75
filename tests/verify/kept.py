"""Knows what a reader's own evidence says to a hand: whether it contradicts the records, and if
the reader's number is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import fair
from .aborts import WITHHELD
from .bundle import Read
from .case import Case, Trouble
from .evidence import Evidence, Number, Signed
from .promise import Promise, promise
from .proto import Message
from .trust import TrustedKey
from .walk import Walk


@dataclass(frozen=True)
class Kept:
    """What came of comparing. `numbers`: the reader's own for this hand; `sent`: the closing that
    the reader was sent is the one on record; None: the evidence has none for this hand."""

    against: tuple[str, ...]
    numbers: tuple[Number, ...]
    sent: bool | None


def compare(case: Case, walked: Walk, evidence: Evidence) -> Kept:
    """Compares evidence with the records."""
    try:
        made = promise(case)
    except Trouble:
        return Kept((), (), None)
    bound = (made.context, made.commitment)
    numbers = tuple(one for one in evidence.numbers if (one.context, one.dealer) == bound)
    sent = [
        one.fields[2] for one in evidence.signed
        if one.tag == "closing-sig" and one.fields[:2] == bound
        and _of(case.dealer_keys, one.key) is not None
    ]
    closing = _closing(case)
    recorded = None if closing is None else closing.closing
    against = tuple(dict.fromkeys(_against(case, walked, (made, evidence))))
    return Kept(against, numbers, all(one == recorded for one in sent) if sent else None)


def _closing(case: Case) -> Message | None:
    closed = case.find("EntropyClosed")
    return None if closed is None else closed.event.closing


def _of(keys: list[TrustedKey], key: bytes) -> TrustedKey | None:
    return next((one for one in keys if one.key.public == key), None)


def _against(
    case: Case, walked: Walk, given: tuple[Promise, Evidence]
) -> Iterator[str]:
    made, evidence = given
    for one in evidence.signed:
        if one.tag in ("dealer-commit-sig", "closing-sig"):
            if _of(case.dealer_keys, one.key) is not None:
                yield from _dealers(case, made, one)
        elif one.tag != "decision-sig":
            key = _of(case.table_keys, one.key)
            position = int.from_bytes(one.fields[-1], "big")
            if key is not None and (key.until is None or position < key.until):
                yield from _tables(case, (walked, made), (one, position))


def _dealers(case: Case, made: Promise, one: Signed) -> Iterator[str]:
    """Two promises for one number, two closings."""
    if one.tag == "closing-sig":
        closing = _closing(case)
        if one.fields[:2] == (made.context, made.commitment) and closing is not None:
            if closing.closing != one.fields[2]:
                yield "the dealer signed another closing for this hand"
        return
    event = made.event
    number = (made.signed.origin.encode(), event.table_id, fair.number(event.hand_no, 8))
    if one.fields[:3] == number and one.fields[3:] != (event.rules_hash, made.commitment):
        yield "the dealer promised another seed, or other rules, for this number"


def _tables(
    case: Case, given: tuple[Walk, Promise], what: tuple[Signed, int]
) -> Iterator[str]:
    """A receipt for what the records have otherwise."""
    (walked, made), (one, position) = given, what
    if one.fields[0] != made.context or (
        one.tag != "decision-receipt-sig" and one.fields[1] != made.commitment
    ):
        return
    read = _at(case, position)
    if one.tag == "receipt-sig":
        yield from _committed(case, one, read)
    elif one.tag == "reveal-receipt-sig":
        yield from _revealed(case, one, read)
    elif read is None or read.kind not in ("MoveDecided", "LeaveAsked"):
        if _is_covered(case, position) or read is not None:
            yield "the position of the receipt for a decision holds something else"
    elif read.kind == "MoveDecided" and walked.chain.get(position, one.fields[1]) != one.fields[1]:
        yield "the chain of decisions is another than the receipt for a decision has"


def _at(case: Case, position: int) -> Read | None:
    records = case.bundle.table.records
    return next((read for read in records if read.position == position), None)


def _is_covered(case: Case, position: int) -> bool:
    """A record of the table's stream at this position would be in the file."""
    return bool(case.table) and case.table[0].position < position < case.table[-1].position


def _committed(case: Case, one: Signed, read: Read | None) -> Iterator[str]:
    _, _, seat, player, commitment, key, _ = one.fields
    closing = _closing(case)
    for row in () if closing is None else closing.rows:
        same = (row.seat, row.player_id) == (seat[0], player)
        if same and row.commitment != commitment:
            yield f"the closing leaves out what seat {seat[0]} has a receipt for"
    position = int.from_bytes(one.fields[-1], "big")
    if read is None and not _is_covered(case, position):
        return
    wanted = (case.number, seat[0], player, commitment, key)
    found = None
    if read is not None and read.kind == "EntropyCommitted" and not read.kept_back:
        event = read.event
        found = (event.hand_no, event.seat, event.player_id, event.commitment, event.key)
    if found != wanted:
        yield "the position of the receipt for a commitment holds something else"


def _revealed(case: Case, one: Signed, read: Read | None) -> Iterator[str]:
    _, _, seat, _, entropy, _ = one.fields
    aborted = case.find("HandAborted")
    if aborted is not None and aborted.event.cause == WITHHELD and seat[0] in aborted.event.seats:
        if int.from_bytes(one.fields[-1], "big") < aborted.position:
            yield f"the number was burnt for seat {seat[0]}, which has a receipt for its number"
    found = None if read is None or read.kept_back else read
    told = found is not None and found.kind == "EntropyRevealed" and (
        found.event.seat, found.event.entropy) == (seat[0], entropy)
    if not told:
        yield "the receipt for a revealed number is for no record of this hand"
