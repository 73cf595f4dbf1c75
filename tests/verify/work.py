"""Knows how much work a file makes: steps taken, bytes hashed or read, signatures checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Work:
    """A count. Steps: messages and fields read, hashes, signatures, moves and uses of chance."""

    steps: int = 0
    bytes: int = 0
    signatures: int = 0


_counts = [Work()]


def begin() -> Work:
    """A count of its own for what follows."""
    _counts[0] = Work()
    return _counts[0]


def now() -> Work:
    """The count so far."""
    return _counts[0]


def step(size: int = 0) -> None:
    """One step over so many bytes."""
    count = _counts[0]
    count.steps += 1
    count.bytes += size


def signature(size: int) -> None:
    """One step in which a signature over so many bytes is checked."""
    step(size)
    _counts[0].signatures += 1
