"""Knows whom the reader trusts: files of keys, and which log a key may speak for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .evidence import Evidence
from .note import LOG, BadNote, Key

MAX_UNTIL = 2**64 - 1
_END = re.compile(r"until (0|[1-9][0-9]{0,19})", re.ASCII)
_SHARD = re.compile(r"(.+)/(0|[1-9][0-9]*)", re.ASCII)


@dataclass(frozen=True)
class TrustedKey:
    """A key of a file, and how many records its checkpoints have at most, where it has an end."""

    key: Key
    until: int | None = None


@dataclass(frozen=True)
class Trust:
    """Keys of logs, keys of witnesses, how many witnesses must have signed, and the reader's own
    evidence."""

    keys: list[TrustedKey]
    witnesses: list[TrustedKey]
    wanted: int = 0
    evidence: Evidence | None = None
    seen: tuple[str, ...] = ()
    """Checkpoints of logs that the reader remembers, signed notes."""

    @property
    def witness_names(self) -> set[str]:
        """The witnesses by name: one may have several keys."""
        return {one.key.name for one in self.witnesses}


def read(data: bytes) -> list[TrustedKey]:
    """The keys of a file, or `BadNote` for the whole of it."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise BadNote("a file of keys has no byte order mark")
    try:
        *whole, last = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadNote("a file of keys is UTF-8") from None
    keys: list[TrustedKey] = []
    for at, line in enumerate([*(line.removesuffix("\r") for line in whole), last], 1):
        if line and not line.startswith("#"):
            try:
                keys.append(_line(line))
            except BadNote as problem:
                raise BadNote(f"line {at} of the keys: {problem}") from None
    names: dict[bytes, str] = {}
    for one in keys:
        if names.setdefault(one.key.public, one.key.name) != one.key.name:
            raise BadNote(f"{one.key.name} has the public key of {names[one.key.public]}")
    return keys


def read_witnesses(data: bytes) -> list[TrustedKey]:
    """The keys of a file of witnesses' keys."""
    keys = read(data)
    for one in keys:
        if one.key.kind == LOG:
            raise BadNote(f"{one.key.name} is a log, not a witness")
    return keys


def _line(line: str) -> TrustedKey:
    text, space, end = line.partition(" ")
    key = Key.parse(text)
    if not space:
        return TrustedKey(key)
    number = _END.fullmatch(end)
    if number is None or int(number[1]) > MAX_UNTIL:
        raise BadNote("after a key stands nothing, or ` until N`")
    return TrustedKey(key, int(number[1]))


def room_of(name: str, log: str) -> str | None:
    """The room of a log called `ROOM/table`, or of a shard `ROOM/3/table`; None for another log."""
    room = name.removesuffix(f"/{log}")
    if room in ("", name):
        return None
    shard = _SHARD.fullmatch(room)
    return shard[1] if shard else room
