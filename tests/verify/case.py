"""Knows the records of a hand by what they are, and how a check says why it does not pass."""

from __future__ import annotations

from functools import cached_property

from . import fair, note, settings
from .bundle import Bundle, Read
from .note import LOG, BadNote, Key
from .proto import Message
from .settings import BadSettings, Settings
from .trust import TrustedKey

CLOCK_SKEW = 250_000
"""Microseconds that the clocks of two services may be apart before order between logs counts."""
MILLISECOND = 1_000
SECOND = 1_000_000
LAST = (1 << 64) - 1
"""No sum of times is later."""
YEAR_10000 = 253_402_300_800 * SECOND
"""Every record is older, so that no window is cut short by the end of time."""


def later(time: int, *spans: int) -> int:
    """A time so much later."""
    return min(time + sum(spans), LAST)


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


TABLE = ("HandCommitted", "EntropyCommitted", "HandStarted", "HandFinished")
"""In the table's stream, of a hand by its number."""
DEALER = ("SeedCommitted", "CommitmentsClosed", "SeedSealed", "SeedOpened", "OperationPerformed")


class Case:
    """A bundle's records, sorted. Those whose payload is kept back are in the lists of their
    streams alone."""

    def __init__(self, bundle: Bundle, trusted: list[TrustedKey]) -> None:
        self.bundle = bundle
        self.hand_id = bundle.hand_id
        table = bundle.table.records
        self.hand = [read for read in table if read.record.stream == self.hand_id]
        self.table = [read for read in table if read.record.stream != self.hand_id]
        self.dealer = bundle.dealer.records
        self.wallet = bundle.wallet.records
        self.of_kind: dict[str, list[Read]] = {}
        self.dealer_key = _key(bundle.dealer.key)
        self.dealer_keys = _keys(self.dealer_key, trusted)
        self.table_keys = _keys(_key(bundle.table.key), trusted)

    def all(self, kind: str) -> list[Read]:
        """Every record of a kind, where that kind belongs, of this hand."""
        if kind not in self.of_kind:
            self.of_kind[kind] = [
                read for read in self._where(kind)
                if read.kind == kind and not read.kept_back
                and (kind not in TABLE or read.event.hand_no == self.number)
            ]
        return self.of_kind[kind]

    def _where(self, kind: str) -> list[Read]:
        if kind in TABLE:
            return self.table
        if kind in DEALER:
            return self.dealer
        return self.wallet if kind == "TransferPosted" else self.hand

    @property
    def number(self) -> int | None:
        """The hand's, as its first record has it."""
        opened = self.find("HandOpened")
        return None if opened is None else opened.event.hand_no

    def find(self, kind: str) -> Read | None:
        """The first record of a kind."""
        return next(iter(self.all(kind)), None)

    def one(self, kind: str) -> Read:
        """The first record of a kind, which the check needs."""
        found = self.find(kind)
        if found is None:
            raise missing(f"{kind} is not among the records")
        return found

    @cached_property
    def settings(self) -> Settings:
        """The table's, which the check needs."""
        try:
            return settings.read(self.one("HandOpened").event.settings)
        except BadSettings as problem:
            raise missing(f"the table's settings cannot be read: {problem}") from None

    @property
    def roster(self) -> list[Message]:
        """Who plays, by seat."""
        return sorted(self.one("HandOpened").event.roster, key=lambda seat: seat.seat)

    @property
    def aborted(self) -> bool:
        """Whether the hand came to nothing. What is settled is undone by nothing."""
        return self.find("HandAborted") is not None and self.find("HandSettled") is None

    @property
    def revealed(self) -> list[int]:
        """The seats whose numbers the table bound into the transcript."""
        sealed = self.find("HandSealed")
        rows = [] if sealed is None else sealed.event.rows
        return [row.seat for row in rows if row.status == fair.REVEALED]


def _key(text: str) -> Key | None:
    try:
        return note.Key.parse(text)
    except BadNote:
        return None


def _keys(own: Key | None, trusted: list[TrustedKey]) -> list[TrustedKey]:
    """The keys that may have signed a log's texts: those of its name, ended or not."""
    if own is None:
        return []
    found = [one for one in trusted if one.key.name == own.name and one.key.kind == LOG]
    known = any(one.key.public == own.public for one in found)
    return found if known else [*found, TrustedKey(own)]


def of_length(what: str, data: bytes, length: int) -> bytes:
    """Bytes that must be so many."""
    hold(len(data) == length, f"{what} has {len(data)} bytes, not {length}")
    return data
