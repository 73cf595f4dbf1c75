"""Checks `keys` and `inclusion`: whom the reader trusts, and that records are in the logs."""

from __future__ import annotations

from . import merkle, note, trust
from .bundle import Bundle, Log
from .case import Trouble, hold, missing
from .merkle import Unproved
from .note import BadNote, Key
from .trust import MAX_UNTIL, TrustedKey


def keys(bundle: Bundle, trusted: list[TrustedKey]) -> None:
    """Each log's key is one that the reader was told for this log, all are of one room, no two logs
    have the same, and none had ended."""
    if not trusted:
        raise missing("no keys were given to trust")
    found = {log.name: _trusted_key(log, trusted) for log in bundle.logs}
    rooms = {trust.room_of(one.key.name, name) for name, one in found.items()}
    hold(len(rooms) == 1, "the logs are of different rooms: " + ", ".join(
        one.key.name for one in found.values()))
    hold(len({log.key for log in bundle.logs}) == 3, "two of the logs have the same key")
    for log in bundle.logs:
        _not_ended(log, found[log.name])


def _trusted_key(log: Log, trusted: list[TrustedKey]) -> TrustedKey:
    """The trusted key that is the log's; of one that is given twice the lesser end."""
    found = [one for one in trusted if one.key.text == log.key]
    hold(found != [], f"the key of the {log.name}'s log is not among the trusted")
    name = found[0].key.name
    hold(
        trust.room_of(name, log.name) is not None,
        f"the key of the {log.name}'s log is called {name}, not ROOM/{log.name}",
    )
    return min(found, key=lambda one: MAX_UNTIL if one.until is None else one.until)


def _not_ended(log: Log, trusted: TrustedKey) -> None:
    """The checkpoint, and of the dealer each signed commitment, is of the key's time."""
    if trusted.until is None:
        return
    ended = f"the key of the {log.name}'s log speaks for {trusted.until} records"
    for read in log.records:
        signed = read.kind == "SeedCommitted" and log.name == "dealer"
        hold(
            not signed or read.position < trusted.until,
            f"{ended}, and a commitment stands at {read.position}",
        )
    try:
        size = note.open_checkpoint(log.checkpoint, trusted.key).size
    except BadNote as problem:
        raise missing(f"{ended}, and the checkpoint cannot be read: {problem}") from None
    hold(size <= trusted.until, f"{ended}, and the checkpoint has {size}")


def inclusion(bundle: Bundle) -> None:
    """The records of each log are in the tree that the log's key has signed."""
    for log in bundle.logs:
        try:
            _included(log)
        except (BadNote, Unproved) as problem:
            raise Trouble(f"the {log.name}'s log: {problem}") from None


def _included(log: Log) -> None:
    checkpoint = note.open_checkpoint(log.checkpoint, Key.parse(log.key))
    leaves = {
        read.position: merkle.leaf_hash(merkle.leaf_record(read.record)) for read in log.records
    }
    if merkle.proved_root(checkpoint.size, leaves, log.proof) != checkpoint.root:
        raise Unproved("the records are not in the tree that was signed")
