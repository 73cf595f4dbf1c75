"""Knows cosignatures of witnesses, C2SP tlog-cosignature/v1, and which trusted ones signed."""

from __future__ import annotations

from dataclasses import dataclass

from . import note, sign
from .bundle import Bundle, Log
from .case import LAST, SECOND
from .note import WITNESS, BadNote
from .trust import TrustedKey, Trust

TIME = 8


@dataclass(frozen=True)
class Seen:
    """The witnesses that signed the checkpoints of table and dealer, by name, with the time at
    which they had signed both, and the newest time of a good cosignature in the file; 0 without
    one. In microseconds."""

    times: dict[str, int]
    newest: int


def seen(bundle: Bundle, trust: Trust) -> Seen:
    """Looks for the trusted witnesses. What is not theirs, or wrong, counts for nothing."""
    signed = {log.name: _signed(log, trust.witnesses) for log in bundle.logs}
    times = [time for found in signed.values() for time in found.values()]
    table, dealer = signed["table"], signed["dealer"]
    both = {name: max(table[name], dealer[name]) for name in sorted(set(table) & set(dealer))}
    return Seen(both, max(times, default=0))


def _signed(log: Log, keys: list[TrustedKey]) -> dict[str, int]:
    """Under one checkpoint: the newest time by the witness's name."""
    try:
        text, signatures = note.parse(log.checkpoint)
        size = note.read_checkpoint(text).size
    except BadNote:
        return {}
    found: dict[str, int] = {}
    for one in keys:
        if one.key.kind != WITNESS or (one.until is not None and size > one.until):
            continue
        for name, key_id, made in signatures:
            if (name, key_id) != (one.key.name, one.key.id):
                continue
            time = _time(one, text, made)
            if time is not None:
                found[name] = max(found.get(name, 0), min(time * SECOND, LAST))
    return found


def _time(trusted: TrustedKey, text: str, made: bytes) -> int | None:
    """Unix seconds of a signature; None where it is not the key's."""
    time = int.from_bytes(made[:TIME], "big")
    message = f"cosignature/v1\ntime {time}\n{text}".encode()
    good = time <= note.MAX_NUMBER and sign.verify(trusted.key.public, message, made[TIME:])
    return time if good else None
