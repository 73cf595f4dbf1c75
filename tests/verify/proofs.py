"""Checks `keys` and `inclusion`: whom the reader trusts, and that records are in the logs."""

from __future__ import annotations

from . import merkle, note
from .bundle import Bundle, Log
from .case import Trouble, hold, missing
from .merkle import Unproved
from .note import BadNote, Key


def keys(bundle: Bundle, trusted: list[Key]) -> None:
    """Each log's key is one that the reader was told, and no two logs have the same."""
    if not trusted:
        raise missing("no keys were given to trust")
    for log in bundle.logs:
        try:
            told = Key.parse(log.key) in trusted
        except BadNote:
            told = False
        hold(told, f"the key of the {log.name}'s log is not among the trusted")
    hold(len({log.key for log in bundle.logs}) == 3, "two of the logs have the same key")


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
