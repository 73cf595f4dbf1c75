"""Knows what a bundle is: bytes in one encoding, three logs, records in order. Believes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from . import proto
from .merkle import sha256
from .proto import Malformed, Message
from .schema import EVENTS

FORMAT = 2
# Every format that was released is read.
FIRST_FORMAT = 2
MAX_FILE = 16 * 1024 * 1024
"""Bytes of the largest file that is read."""
MAX_RECORDS = 500_000
"""Records and hashes of all logs; the hand's id and each log count as one too."""
LOGS = ("table", "dealer", "wallet")
SEALED = ("PlayerNamed", "DisputeStated", "DisputeReasoned")
"""Of these there is only the encrypted payload."""
KEPT_BACK = ("SeatRefused", "StandingFound", "EffectStopped", "EffectResumed")
"""Concerns one player, and those who run the room: in the table's stream, its payload in no
bundle."""
SECRET_AT_TABLE = ("MoveDecided", "ChanceUsed")
"""May hold a secret of a hand in its stream of the table's log, until its seed is open."""
SECRET_AT_DEALER = ("OperationPerformed",)
"""The same, in the dealer's log."""


class NotABundle(Exception):
    """The bytes are no bundle, and nothing about them is checked."""


@dataclass(frozen=True)
class Read:
    """A record with its event: the name of the event's type, and the event; None where its payload
    is kept back."""

    record: Message
    kind: str
    event: Message
    kept_back: bool = False

    @property
    def position(self) -> int:
        """In its log."""
        return self.record.position

    @property
    def at(self) -> int:
        """When it was recorded, in microseconds since 1970."""
        return self.record.recorded_at_micros


@dataclass(frozen=True)
class Log:
    """Records of one log, and what is said to prove them."""

    name: str
    key: str
    checkpoint: str
    records: list[Read]
    proof: list[bytes]


@dataclass(frozen=True)
class Bundle:
    """One hand's records."""

    hand_id: bytes
    table: Log
    dealer: Log
    wallet: Log

    @property
    def logs(self) -> tuple[Log, Log, Log]:
        """In their order."""
        return self.table, self.dealer, self.wallet


def read(data: bytes) -> Bundle:
    """Reads a bundle, or refuses it."""
    if len(data) > MAX_FILE:
        raise NotABundle(f"the file is larger than {MAX_FILE} bytes")
    budget = proto.Budget()
    try:
        outer = proto.decode("HandBundle", data, budget)
        if outer.sha256 != sha256(outer.contents):
            raise NotABundle("the contents are not what their SHA-256 says: the file is damaged")
        # A newer room may write fields that are not known here.
        if (proto.first_number(outer.contents) or 0) > FORMAT:
            raise NotABundle("written by a newer room: take its verify.html")
        contents = proto.decode("BundleContents", outer.contents, budget)
        parts = sum(1 + len(log.records) + len(log.proof) for log in contents.logs)
        if parts + 1 > MAX_RECORDS:
            raise NotABundle(f"a bundle has at most {MAX_RECORDS} records and hashes")
        if not FIRST_FORMAT <= contents.format <= FORMAT:
            raise NotABundle(f"this is a bundle of format {contents.format}")
        _long("the hand's id", contents.hand_id, 16)
        if tuple(log.name for log in contents.logs) != LOGS:
            raise NotABundle("a bundle has three logs: table, dealer, wallet, in this order")
        return Bundle(contents.hand_id, *(_log(log, budget) for log in contents.logs))
    except Malformed as malformed:
        raise NotABundle(str(malformed)) from None


def _long(what: str, data: bytes, length: int) -> None:
    if len(data) != length:
        raise NotABundle(f"{what} has {len(data)} bytes, not {length}")


def _log(log: Message, budget: proto.Budget) -> Log:
    records: list[Read] = []
    for record in log.records:
        if records and record.position <= records[-1].position:
            raise NotABundle(f"the records of the {log.name}'s log do not ascend")
        records.append(_read(record, budget))
    for proved in log.proof:
        _long("a hash of a proof", proved, 32)
    return Log(log.name, log.key, log.checkpoint, records, log.proof)


def _read(record: Message, budget: proto.Budget) -> Read:
    _long("a record's stream", record.stream, 16)
    _long("a record's author_hash", record.author_hash, 32)
    _long("a record's previous", record.previous, 32)
    kind = EVENTS.get(record.type)
    if kind is None or record.schema != 1:
        raise NotABundle(f"position {record.position} is no event that can be read")
    if record.payload_hash:
        return _leaf(record, kind)
    _long("a record's salt", record.salt, 16)
    if record.payload_len or record.sealed or kind in SEALED:
        raise NotABundle(f"position {record.position}: a payload that nobody can read")
    return Read(record, kind, proto.decode(kind, record.payload, budget))


def _leaf(record: Message, kind: str) -> Read:
    """A record without its payload."""
    _long("the hash of a payload", record.payload_hash, 32)
    if record.payload or record.salt:
        raise NotABundle(f"position {record.position}: a payload, and its hash in its place")
    return Read(record, kind, Message(), kept_back=True)
