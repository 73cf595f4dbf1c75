"""Knows how a receipt of the table is compared with the records of a hand.

A log gives a position once, so a receipt contradicts a file that shows another record there,
whichever number it is for. Where a record of this hand must be in the file if it is anywhere, its
absence does too: between the first record of the table's stream and the last of that or the hand's.
What was revealed stands in the stream of a hand that was sealed or has ended, and what was decided
in one that has ended, so there no position is an excuse. A record whose payload is kept back decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import fair, leaves
from .aborts import WITHHELD
from .bundle import Read
from .case import Case
from .evidence import Signed
from .promise import Promise
from .proto import Message
from .walk import Walk

OTHER_CHAIN = "the chain of decisions is another than the receipt for a decision has"
OF_ANOTHER = "the position of a receipt for another number holds something else"


def closing(case: Case) -> Message | None:
    """The closing in the table's log."""
    closed = case.find("EntropyClosed")
    return None if closed is None else closed.event.closing


def position(one: Signed) -> int:
    """Position that a receipt names."""
    return int.from_bytes(one.fields[-1], "big")


class Receipts:
    """The records that receipts are compared with."""

    def __init__(self, case: Case, walked: Walk, made: Promise) -> None:
        self.case, self.walked, self.made = case, walked, made
        self.at = {read.position: read for read in case.bundle.table.records}
        self.last = max(self.at, default=0)
        self.asked = {leave.position for leave in leaves.asked(case)}
        self.burnt = dict(_burnt(case, made))
        has_ended = any(case.find(kind) for kind in ("HandSettled", "HandAborted"))
        self.shows_reveals = has_ended or case.find("HandSealed") is not None
        self.shows_decisions = has_ended and walked.whole

    def against(self, one: Signed) -> Iterator[str]:
        """Contradictions between a receipt and the records."""
        bound = (self.made.context, self.made.commitment)
        told = 1 if one.tag == "decision-receipt-sig" else 2
        ours = one.fields[:told] == bound[:told]
        if one.tag == "receipt-sig":
            yield from self._committed(one) if ours else self._another(one)
        elif one.tag == "reveal-receipt-sig":
            yield from self._excluded(one)
            yield from self._revealed(one) if ours else self._another(one)
        else:
            yield from self._decided(one) if ours else self._another(one)

    def _found(self, one: Signed) -> tuple[bool, Read | None]:
        """Whether the file decides what stands at a receipt's position, and the record there."""
        read = self.at.get(position(one))
        if read is None:
            return self._reach(position(one)), None
        return (False, None) if read.kept_back else (True, read)

    def _reach(self, place: int) -> bool:
        """A record of this hand, or of the table's stream, would be in the file."""
        if not self.case.table:
            return False
        return self.case.table[0].position <= place <= self.last

    def _committed(self, one: Signed) -> Iterator[str]:
        _, _, seat, player, commitment, _, _ = one.fields
        closed = closing(self.case)
        for row in () if closed is None else closed.rows:
            same = (row.seat, row.player_id) == (seat[0], player)
            if same and row.commitment != commitment:
                yield f"the closing leaves out what seat {seat[0]} has a receipt for"
        decides, read = self._found(one)
        told = _is_commitment(one, read) and read.event.hand_no == self.made.event.hand_no
        if decides and not told:
            yield "the position of the receipt for a commitment holds something else"

    def _revealed(self, one: Signed) -> Iterator[str]:
        """The table gives no receipt for a number that comes after the burn."""
        _, _, seat, _, entropy, _ = one.fields
        aborted = self.case.find("HandAborted")
        burnt = aborted is not None and aborted.event.cause == WITHHELD
        if aborted is not None and burnt and seat[0] in aborted.event.seats:
            yield f"the number was burnt for seat {seat[0]}, which has a receipt for its number"
            return
        decides, read = self._found(one)
        told = read is not None and read.kind == "EntropyRevealed" and (
            read.event.seat, read.event.entropy) == (seat[0], entropy)
        beyond = self.shows_reveals and position(one) not in self.at
        if (decides or beyond) and not told:
            yield "the receipt for a revealed number is for no record of this hand"

    def _excluded(self, one: Signed) -> Iterator[str]:
        context, _, seat, player, _, _ = one.fields
        number = self.burnt.get((seat[0], player, context))
        if number is not None:
            where = f"number {number} was burnt for seat {seat[0]}"
            yield f"{where}, which has a receipt for its number"

    def _decided(self, one: Signed) -> Iterator[str]:
        """The kind of record, always; the chain, as far as the hand could be played again."""
        decides, read = self._found(one)
        place, chain = position(one), one.fields[1]
        if not decides:
            if self.shows_decisions and chain not in self.walked.chain.values():
                yield OTHER_CHAIN
        elif (read is None or read.kind != "MoveDecided") and place not in self.asked:
            yield "the position of the receipt for a decision holds something else"
        elif self.walked.chain.get(place, chain) != chain:
            yield OTHER_CHAIN

    def _another(self, one: Signed) -> Iterator[str]:
        """Receipts of another number. The table's stream has commitments to several numbers, and
        leaves; what is revealed and decided stands in the stream of its hand."""
        _, read = self._found(one)
        if read is None:
            return
        told = one.tag == "receipt-sig" and _is_commitment(one, read)
        if not told and (one.tag != "decision-receipt-sig" or read.kind != "LeaveAsked"):
            yield OF_ANOTHER


def _burnt(case: Case, made: Promise) -> Iterator[tuple[tuple[int, bytes, bytes], int]]:
    """Numbers that players are excluded for, by seat, player and context, under the rules of this
    hand: the file has no others."""
    origin, event = made.signed.origin, made.event
    for read in case.table:
        if read.kind == "SeatExcluded" and not read.kept_back:
            number = read.event.burnt_hand_no
            context = fair.context(origin, event.table_id, number, event.rules_hash)
            yield (read.event.seat, read.event.player_id, context), number


def _is_commitment(one: Signed, read: Read | None) -> bool:
    """Whether a record is the commitment that a receipt is for, to whichever number."""
    if read is None or read.kind != "EntropyCommitted":
        return False
    _, _, seat, player, commitment, key, _ = one.fields
    event = read.event
    found = (event.seat, event.player_id, event.commitment, event.key)
    return found == (seat[0], player, commitment, key)
