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
    """Statement of a proved file about a log, by its name, which no other may contradict."""

    log: str
    what: str
    said: bytes


def facts(bundle: Bundle) -> Iterator[Fact]:
    """All facts of a bundle whose keys and inclusion passed."""
    for log in bundle.logs:
        yield from _of_log(log)


def _of_log(log: Log) -> Iterator[Fact]:
    key = Key.parse(log.key)
    yield _of_checkpoint(key, note.open_checkpoint(log.checkpoint, key))
    for read in log.records:
        record, leaf = read.record, merkle.leaf_record(read.record)
        yield Fact(key.name, f"different records at position {record.position}", leaf)
        at = f"version {record.version} of stream {record.stream.hex()}"
        yield Fact(key.name, f"different records of {at}", leaf)


def _of_checkpoint(key: Key, checkpoint: Checkpoint) -> Fact:
    what = f"checkpoints of {checkpoint.size} records with different roots"
    return Fact(key.name, what, checkpoint.root)


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
    known: dict[tuple[str, str], list[tuple[str, bytes]]] = {}
    for fact in seen:
        known.setdefault((fact.log, fact.what), []).append(
            ("a checkpoint you have seen", fact.said))
    found: dict[str, str] = {}
    for name, bundle in proved.items():
        for fact in facts(bundle):
            told = known.setdefault((fact.log, fact.what), [])
            for other, said in told:
                if said != fact.said:
                    for one, against in ((name, other), (other, name)):
                        found.setdefault(one, f"{against} contradicts it: {fact.what}, {fact.log}")
            told.append((name, fact.said))
    return found
