"""Knows the records of a hand by what they are, and how a check says why it does not pass."""

from __future__ import annotations

from collections.abc import Iterator

from . import fair, note
from .bundle import Bundle, Read
from .note import BadNote, Key

CLOCK_SKEW = 250_000
"""Microseconds that the clocks of two services may be apart before order between logs counts."""
SECOND = 1_000_000


class Trouble(Exception):
    """Why a check does not pass. `failed`: it cannot be honest; else something is missing."""

    def __init__(self, why: str, failed: bool = True) -> None:
        super().__init__(why)
        self.failed = failed


def hold(fact: bool, why: str) -> None:
    """Fails where the fact is not so."""
    if not fact:
        raise Trouble(why)


def missing(why: str) -> Trouble:
    """Something that a check needs is not there."""
    return Trouble(why, failed=False)


class Case:
    """A bundle's records, sorted."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.hand_id = bundle.hand_id
        table = bundle.table.records
        self.hand = [read for read in table if read.record.stream == self.hand_id]
        self.table = [read for read in table if read.record.stream != self.hand_id]
        self.dealer = bundle.dealer.records
        self.wallet = bundle.wallet.records

    def all(self, kind: str) -> Iterator[Read]:
        """Every record of a kind, where that kind belongs."""
        records = self.hand
        if kind in ("HandCommitted", "EntropyCommitted", "HandStarted", "HandFinished"):
            records = self.table
        elif kind in ("SeedCommitted", "SeedSealed", "SeedOpened", "OperationPerformed"):
            records = self.dealer
        elif kind == "TransferPosted":
            records = self.wallet
        return (read for read in records if read.kind == kind)

    def find(self, kind: str) -> Read | None:
        """The first record of a kind."""
        return next(self.all(kind), None)

    def one(self, kind: str) -> Read:
        """The first record of a kind, which the check needs."""
        found = self.find(kind)
        if found is None:
            raise missing(f"{kind} is not among the records")
        return found

    @property
    def aborted(self) -> bool:
        """Whether the hand came to nothing."""
        return self.find("HandAborted") is not None

    @property
    def revealed(self) -> list[int]:
        """The seats whose numbers the table bound into the transcript."""
        sealed = self.find("HandSealed")
        rows = [] if sealed is None else sealed.event.rows
        return [row.seat for row in rows if row.status == fair.REVEALED]

    @property
    def has_entropy(self) -> bool:
        """Whether seats had a time to commit entropy, shuffles have roots, and cards salts."""
        opened = self.find("HandOpened")
        return opened is not None and opened.event.entropy_deadline_micros != 0

    @property
    def dealer_key(self) -> Key | None:
        """The key of the dealer's log, where it is one."""
        try:
            return note.Key.parse(self.bundle.dealer.key)
        except BadNote:
            return None


def of_length(what: str, data: bytes, length: int) -> bytes:
    """Bytes that must be so many."""
    hold(len(data) == length, f"{what} has {len(data)} bytes, not {length}")
    return data
