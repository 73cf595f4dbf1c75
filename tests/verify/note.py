"""Knows C2SP: keys as text, signed notes, checkpoints. Everything has one spelling."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from . import sign
from .merkle import sha256

LOG, WITNESS = 1, 4
MAX_NUMBER = 2**63 - 1
MAX_NOTE = 1_000_000
MAX_SIGNATURES = 100


class BadNote(Exception):
    """No key, no note, or one that is not to be believed."""


def from_base64(text: str) -> bytes:
    """Standard base64, with padding whose bits are zero."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadNote("this is no base64") from None
    if base64.b64encode(data).decode() != text:
        raise BadNote("this is not how base64 is written")
    return data


@dataclass(frozen=True)
class Key:
    """A public key that is known by name."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes, by which a note names the key."""
        return sha256(self.name.encode(), b"\n", bytes([self.kind]), self.public)[:4]

    @property
    def text(self) -> str:
        """As `parse` reads it."""
        encoded = base64.b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{encoded}"

    @staticmethod
    def parse(text: str) -> Key:
        """Reads `<name>+<id>+<base64 of the kind and 32 bytes>`."""
        parts = text.split("+", 2)
        if len(parts) != 3:
            raise BadNote("a key has a name, an id and bytes")
        name, key_id, encoded = parts
        data = from_base64(encoded)
        _check_name(name)
        if data[:1] not in (bytes([LOG]), bytes([WITNESS])) or not sign.is_key(data[1:]):
            raise BadNote("the key is of no known kind, or no Ed25519 key")
        key = Key(name, data[0], data[1:])
        if key.id.hex() != key_id:
            raise BadNote("the key's id is not that of its name and bytes")
        return key


def _check_name(name: str) -> None:
    if not name or "+" in name or any(c.isspace() or c < " " or c == "\x7f" for c in name):
        raise BadNote("a name is not empty, without white space and +")


@dataclass(frozen=True)
class Checkpoint:
    """What a log says of itself."""

    size: int
    root: bytes


def open_checkpoint(note: str, key: Key) -> Checkpoint:
    """Reads a checkpoint that the log's key has signed."""
    text, signatures = parse(note)
    ours = [made for name, key_id, made in signatures if (name, key_id) == (key.name, key.id)]
    if key.kind != LOG or not ours:
        raise BadNote("the checkpoint is not signed by its log")
    if not all(sign.verify(key.public, text.encode(), made) for made in ours):
        raise BadNote("the signature is not the log's over this checkpoint")
    if text.split("\n", 1)[0] != key.name:
        raise BadNote("the checkpoint is of another log")
    return read_checkpoint(text)


def read_checkpoint(text: str) -> Checkpoint:
    """Reads the text of a checkpoint, whoever signed it."""
    lines = text[:-1].split("\n")
    if len(lines) < 3 or not all(lines):
        raise BadNote("a checkpoint is origin, size, root and what else is said")
    _, size, root = lines[:3]
    if re.fullmatch("0|[1-9][0-9]{0,19}", size) is None:
        raise BadNote("the size is no plain number")
    hashed = from_base64(root)
    if int(size) > MAX_NUMBER or len(hashed) != 32:
        raise BadNote("the size is too large, or the root no hash")
    if size == "0" and hashed != sha256():
        raise BadNote("a log without records has another root")
    return Checkpoint(int(size), hashed)


def parse(note: str) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """The text of a note, and name, key id and bytes of each signature."""
    if len(note.encode()) > MAX_NOTE or any(c != "\n" and (c < " " or c == "\x7f") for c in note):
        raise BadNote("the note is too long, or has control characters")
    at = note.rfind("\n\n")
    if at < 0 or not note.endswith("\n") or len(note) == at + 2:
        raise BadNote("the note has no signature")
    lines = note[at + 2 : -1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise BadNote("the note has too many signatures")
    return note[: at + 1], [_signature(line) for line in lines]


def _signature(line: str) -> tuple[str, bytes, bytes]:
    dash, _, rest = line.partition(" ")
    name, _, encoded = rest.partition(" ")
    _check_name(name)
    data = from_base64(encoded)
    if dash != "\u2014" or len(data) < 5:
        raise BadNote("a line under the note is no signature")
    return name, data[:4], data[4:]
