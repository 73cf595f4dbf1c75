"""Knows when files contradict each other: one log has one history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import merkle, note
from .bundle import Bundle, Log
from .note import BadNote, Checkpoint, Key
from .trust import TrustedKey


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
    yield _of_checkpoint(key, note.open_checkpoint(log.checkpoint, key))
    yield from _of_dealer(log, key)
    for read in log.records:
        record, leaf = read.record, merkle.leaf_record(read.record)
        at = f"records at position {record.position}"
        yield Fact(log.key, f"different {at}, {key.name}", leaf)
        at = f"records of version {record.version} of stream {record.stream.hex()}"
        yield Fact(log.key, f"different {at}, {key.name}", leaf)


def _of_checkpoint(key: Key, checkpoint: Checkpoint) -> Fact:
    size = f"checkpoints of {checkpoint.size} records with different roots"
    return Fact(key.text, f"{size}, {key.name}", checkpoint.root)


def _of_dealer(log: Log, key: Key) -> Iterator[Fact]:
    """One promise for a number, one closing for a promise."""
    for read in log.records:
        if log.name != "dealer" or read.kept_back:
            continue
        if read.kind == "SeedCommitted" and read.event.commitment is not None:
            number = f"{read.event.hand_no} of table {read.event.table_id.hex()}"
            what = f"different promises for hand {number}, {key.name}"
            yield Fact(log.key, what, read.event.commitment.commitment)
        elif read.kind == "CommitmentsClosed" and read.event.closing is not None:
            what = f"different closings of hand {read.record.stream.hex()}, {key.name}"
            yield Fact(log.key, what, read.event.closing.closing)


def remembered(notes: tuple[str, ...], keys: list[TrustedKey]) -> Iterator[Fact]:
    """Facts of checkpoints that the reader remembers: what no trusted key has signed is none."""
    for text in notes:
        for one in keys:
            try:
                checkpoint = note.open_checkpoint(text, one.key)
            except BadNote:
                continue
            yield _of_checkpoint(one.key, checkpoint)


def contradictions(proved: dict[str, Bundle], seen: Iterable[Fact] = ()) -> dict[str, str]:
    """By file: how another one, or a checkpoint that the reader has seen, contradicts it. Only what
    its log has signed counts."""
    known = {(fact.key, fact.what): ("a checkpoint you have seen", fact.said) for fact in seen}
    found: dict[str, str] = {}
    for name, bundle in proved.items():
        for fact in facts(bundle):
            other, said = known.setdefault((fact.key, fact.what), (name, fact.said))
            if said != fact.said:
                for one, against in ((name, other), (other, name)):
                    found.setdefault(one, f"{against} contradicts it: {fact.what}")
    return found
