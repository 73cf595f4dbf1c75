"""Knows files of evidence: signed texts that a player keeps, and what hashes in them were taken of.

Nothing in such a file is believed but what a key has signed, and what hashes to something known.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from . import fair, sign
from .merkle import sha256
from .note import BadNote, from_base64

HEADER = "sabacc-evidence 1"
MAX_LINE = 32 * 1024
MAX_FILE = 16 * 1024 * 1024
TEXT, KEY = -1, -2
"""Fields that have no length of their own: UTF-8; 32 bytes, or none where there is no key."""
FIELDS = {
    "dealer-commit-sig": (TEXT, 16, 8, 32, 32),
    "receipt-sig": (32, 32, 1, 16, 32, KEY, 8),
    "closing-sig": (32, 32, 32),
    "reveal-receipt-sig": (32, 32, 1, 16, 32, 8),
    "decision-sig": (32, 32, TEXT),
    "decision-receipt-sig": (32, 32, 8),
}
"""Of each signed text how long its fields are."""
MOST_ROWS = 255
"""How many rows a closing can say that it has."""


class BadEvidence(Exception):
    """The bytes are no file of evidence."""


@dataclass(frozen=True)
class Signed:
    """A text that is its key's: its tag, its fields without the key's id, and its line of the
    file."""

    tag: str
    fields: tuple[bytes, ...]
    key: bytes
    line: int


@dataclass(frozen=True)
class Number:
    """A number that somebody brought to a hand: what its commitment was taken of."""

    context: bytes
    dealer: bytes
    seat: int
    player: bytes
    entropy: bytes
    commitment: bytes


@dataclass(frozen=True)
class Row:
    """A row of a closing; `commitment`: empty where the seat has made none."""

    seat: int
    player: bytes
    commitment: bytes


@dataclass(frozen=True)
class Evidence:
    """What a file holds and is of use to check a hand. `closings`: the rows of those that it opens,
    by their hash."""

    signed: list[Signed] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    closings: dict[bytes, list[Row]] = field(default_factory=dict)


def read(data: bytes) -> Evidence:
    """The evidence in a file; signed texts that are not their key's count for nothing."""
    if len(data) > MAX_FILE:
        raise BadEvidence(f"it is larger than {MAX_FILE} bytes")
    found = Evidence()
    for at, line in enumerate(_lines(data), 1):
        try:
            _take(at, line, found)
        except (BadEvidence, BadNote) as problem:
            raise BadEvidence(f"line {at} of the evidence: {problem}") from None
    return found


def _lines(data: bytes) -> list[bytes]:
    *lines, rest = data.split(b"\n")
    if rest or not lines:
        raise BadEvidence("every line of evidence ends in LF")
    return lines


def _take(at: int, line: bytes, found: Evidence) -> None:
    text = _text(line)
    if at == 1:
        if text != HEADER:
            raise BadEvidence(f"the first line is {HEADER!r}")
        return
    kind, _, rest = text.partition(" ")
    if kind == "signed":
        made = _signed(at, rest.split(" "))
        if made is not None:
            found.signed.append(made)
    elif kind == "open":
        _open(_bytes(rest), found)
    elif kind == "note":
        _note(rest)
    else:
        raise BadEvidence("a line begins with signed, open or note")


def _text(line: bytes) -> str:
    if len(line) >= MAX_LINE:
        raise BadEvidence(f"a line has {MAX_LINE} bytes at most")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise BadEvidence("it is not UTF-8") from None
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        raise BadEvidence("it has a control character")
    return text


def _note(rest: str) -> None:
    """The word of whoever wrote it, its time too."""
    time, _, words = rest.partition(" ")
    if not time or not words:
        raise BadEvidence("a note is a time, and words")


def _bytes(text: str) -> bytes:
    data = from_base64(text)
    if not data:
        raise BadEvidence("there is nothing in it")
    return data


def _signed(line: int, parts: list[str]) -> Signed | None:
    """A signed text, where it is one of the protocol and its key's."""
    if len(parts) != 3:
        raise BadEvidence("it is a message, a signature and a key")
    message, signature, key = map(_bytes, parts)
    if len(signature) != 64 or len(key) != 32:
        raise BadEvidence("a signature has 64 bytes, and a key 32")
    fields = _fields(message)
    if fields is None or len(fields) < 2 or fields[-1] != fair.key_id(key):
        return None
    tag, *inner = fields[:-1]
    known = {name.encode(): name for name in FIELDS}.get(tag)
    if known is None or not _fits(inner, FIELDS[known]) or not sign.verify(key, message, signature):
        return None
    return Signed(known, tuple(inner), key, line)


def _fits(fields: list[bytes], lengths: tuple[int, ...]) -> bool:
    return len(fields) == len(lengths) and all(map(_is_of, fields, lengths))


def _is_of(data: bytes, length: int) -> bool:
    if length == KEY:
        return len(data) in (0, 32)
    return len(data) == length if length != TEXT else _is_text(data)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _open(data: bytes, found: Evidence) -> None:
    """What a hash was taken of, where it is of use."""
    number, rows = _number(data), _closing(data)
    if number is not None:
        found.numbers.append(number)
    if rows is not None:
        found.closings[sha256(data)] = rows


def _number(data: bytes) -> Number | None:
    """What a client's commitment was taken of."""
    fields = _fields(data)
    tag = (fair.PREFIX + b"client-commit",)
    if fields is None or tuple(fields[:1]) != tag or not _fits(fields[1:], (32, 32, 1, 16, 32)):
        return None
    context, dealer, seat, player, entropy = fields[1:]
    return Number(context, dealer, seat[0], player, entropy, sha256(data))


def _closing(data: bytes) -> list[Row] | None:
    """The rows that a closing was taken of."""
    fields = _fields(data)
    tag = [fair.PREFIX + b"closing"]
    if fields is None or fields[:1] != tag or not _fits(fields[1:4], (32, 32, 1)):
        return None
    count, packed = fields[3], fields[4:]
    rows = [
        Row(one[0], one[1:17], one[18:] if one[17] else b"") for one in packed if len(one) == 50
    ]
    written = [fair.closing_row(row.seat, row.player, row.commitment) for row in rows]
    known = written == packed and count == bytes([min(len(rows), MOST_ROWS)])
    return rows if known else None


def _fields(data: bytes) -> list[bytes] | None:
    """Fields, each behind its length."""
    found, at = [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        piece = data[at + 4 : at + 4 + length]
        if at + 4 > len(data) or len(piece) != length:
            return None
        found.append(piece)
        at += 4 + length
    return found
