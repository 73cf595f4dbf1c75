"""Writes bundles, as the owner of the three logs can: encodes, chains, proves and signs.

Knows the logs' private keys. Only the tests use it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from . import merkle
from .merkle import sha256
from .note import WITNESS, Key
from .proto import Message
from .schema import EVENTS, SCHEMA, Field
from .trust import TrustedKey, Trust

TYPES = {kind: number for number, kind in EVENTS.items()}
LOGS = ("table", "dealer", "wallet")


def varint(value: int) -> bytes:
    """As protobuf writes numbers."""
    value &= (1 << 64) - 1
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def encode(name: str, message: Message) -> bytes:
    """The one encoding of a message."""
    out = b""
    for number, one in sorted(SCHEMA[name].items()):
        value = getattr(message, one.name, None)
        if value is None or (one.mark in ("", "*") and not _there(one, value)):
            continue
        if one.mark == "*" and one.type in ("bytes", "string", *SCHEMA):
            out += b"".join(_long(number, _bytes(one, item)) for item in value)
        elif one.mark == "*":
            out += _long(number, b"".join(varint(item) for item in value))
        elif one.type in ("bytes", "string", *SCHEMA):
            out += _long(number, _bytes(one, value))
        else:
            zigzag = one.type == "sint64"
            out += varint(number << 3) + varint(value << 1 ^ value >> 63 if zigzag else value)
    return out


def _there(one: Field, value: Any) -> bool:
    return one.type in SCHEMA and one.mark == "" or bool(value)


def _bytes(one: Field, value: Any) -> bytes:
    if one.type in SCHEMA:
        return encode(one.type, value)
    return value.encode() if isinstance(value, str) else value


def _long(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


@dataclass
class Entry:
    """A record to be."""

    log: str
    stream: bytes
    at: int
    kind: str
    event: Message
    kept_back: bool = False


class LogKey:
    """A log's private key."""

    def __init__(self, name: str) -> None:
        self.name = f"room.example/{name}"
        self.private = Ed25519PrivateKey.from_private_bytes(sha256(self.name.encode()))
        self.key = Key(self.name, 1, self.private.public_key().public_bytes_raw())
        encoded = b64encode(bytes([1]) + self.key.public).decode()
        self.text = f"{self.name}+{self.key.id.hex()}+{encoded}"

    def checkpoint(self, size: int | str, root: bytes) -> str:
        """A signed checkpoint."""
        return self.sign(f"{self.name}\n{size}\n{b64encode(root).decode()}\n")

    def sign(self, text: str) -> str:
        """A signed note."""
        made = b64encode(self.key.id + self.private.sign(text.encode())).decode()
        return f"{text}\n\u2014 {self.name} {made}\n"


class WitnessKey:
    """A witness's private key."""

    def __init__(self, name: str) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(sha256(name.encode()))
        self.key = Key(name, WITNESS, self.private.public_key().public_bytes_raw())

    def cosign(self, note: str, time: int) -> str:
        """A note with the witness's line under it."""
        text = note[: note.rindex("\n\n") + 1]
        made = self.private.sign(f"cosignature/v1\ntime {time}\n{text}".encode())
        line = b64encode(self.key.id + time.to_bytes(8, "big") + made).decode()
        return f"{note}\u2014 {self.key.name} {line}\n"


ROOM = {name: LogKey(name) for name in LOGS}
TRUSTED_KEYS = [TrustedKey(ROOM[name].key) for name in LOGS]
TRUSTED = Trust(TRUSTED_KEYS, [])


def prove(span: tuple[int, int], leaves: list[bytes], chosen: list[int]) -> list[bytes]:
    """The hashes that lead from some records to the root."""
    first, end = span
    inside = [at for at in chosen if first <= at < end]
    if not inside:
        made = {at - first: leaf for at, leaf in enumerate(leaves) if first <= at < end}
        return [merkle.proved_root(end - first, made, [])]
    if end == first + 1:
        return []
    middle = first + (1 << (end - first - 1).bit_length() - 1)
    return prove((first, middle), leaves, inside) + prove((middle, end), leaves, inside)


Under = Callable[[str, str], str]


def bundle(hand_id: bytes, entries: list[Entry], under: Under = lambda _, note: note) -> bytes:
    """The file of a hand: logs of its entries and of others' between them, proved and signed.
    `under`: what becomes of a log's checkpoint, by the log's name."""
    logs = [log_of(name, [entry for entry in entries if entry.log == name]) for name in LOGS]
    for log in logs:
        log.checkpoint = under(log.name, log.checkpoint)
    return wrap(encode("BundleContents", Message(format=2, hand_id=hand_id, logs=logs)))


def wrap(contents: bytes) -> bytes:
    """A bundle around contents, with the right SHA-256."""
    return encode("HandBundle", Message(contents=contents, sha256=sha256(contents)))


def log_of(name: str, entries: list[Entry]) -> Message:
    leaves = [merkle.leaf_hash(bytes([at])) for at in range(3)]
    chains: dict[bytes, tuple[int, bytes]] = {}
    records, positions = [], []
    for entry in entries:
        leaves += [merkle.leaf_hash(b"%d" % len(leaves))] * (len(leaves) % 3)
        # A table's stream begins with its first record or in its midst.
        midst = entry.kind in ("HandFinished", "HandCommitted")
        start = (40, sha256(b"before")) if midst else (0, bytes(32))
        version, previous = chains.get(entry.stream, start)
        record = Message(
            position=len(leaves), recorded_at_micros=entry.at, stream=entry.stream,
            version=version + 1, type=TYPES[entry.kind], schema=1, sealed=False,
            payload=encode(entry.kind, entry.event), salt=bytes([len(leaves) % 256]) * 16,
            author_hash=sha256(entry.kind.encode()), previous=previous, payload_hash=b"",
            payload_len=0,
        )
        made = merkle.leaf_record(record)
        chains[entry.stream] = (version + 1, sha256(made))
        if entry.kept_back:
            record.payload_len = len(record.payload)
            record.payload_hash = sha256(record.salt, record.payload)
            record.payload, record.salt = b"", b""
        positions.append(len(leaves))
        leaves.append(merkle.leaf_hash(made))
        records.append(record)
    leaves.append(merkle.leaf_hash(b"another"))
    made_root = merkle.proved_root(len(leaves), dict(enumerate(leaves)), [])
    return Message(
        name=name, key=ROOM[name].text, records=records,
        checkpoint=ROOM[name].checkpoint(len(leaves), made_root),
        proof=prove((0, len(leaves)), leaves, positions),
    )
