"""Knows when files contradict each other: one log has one history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import merkle, note
from .bundle import Bundle, Log
from .note import Key


@dataclass(frozen=True)
class Fact:
    """Statement of a proved file about a log, which no other may contradict."""

    key: str
    what: str
    said: bytes


def facts(bundle: Bundle) -> Iterator[Fact]:
    """All facts of a bundle whose keys and inclusion passed."""
    for log in bundle.logs:
        yield from _of_log(log)


def _of_log(log: Log) -> Iterator[Fact]:
    key = Key.parse(log.key)
    checkpoint = note.open_checkpoint(log.checkpoint, key)
    size = f"checkpoints of {checkpoint.size} records with different roots"
    yield Fact(log.key, f"{size}, {key.name}", checkpoint.root)
    for read in log.records:
        record, leaf = read.record, merkle.leaf_record(read.record)
        at = f"records at position {record.position}"
        yield Fact(log.key, f"different {at}, {key.name}", leaf)
        at = f"records of version {record.version} of stream {record.stream.hex()}"
        yield Fact(log.key, f"different {at}, {key.name}", leaf)


def contradictions(proved: dict[str, Bundle]) -> dict[str, str]:
    """By file: how another one contradicts it. Only what its log has signed counts."""
    known: dict[tuple[str, str], tuple[str, bytes]] = {}
    found: dict[str, str] = {}
    for name, bundle in proved.items():
        for fact in facts(bundle):
            other, said = known.setdefault((fact.key, fact.what), (name, fact.said))
            if said != fact.said:
                for one, against in ((name, other), (other, name)):
                    found.setdefault(one, f"{against} contradicts it: {fact.what}")
    return found
