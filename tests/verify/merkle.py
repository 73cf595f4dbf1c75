"""Knows the log's leaf records, and how many of them are proved to lead to one root."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from . import work
from .proto import Message

RECORD_LEN = 149


class Unproved(Exception):
    """The hashes do not lead from the records to the root."""


def sha256(*parts: bytes) -> bytes:
    """Of all parts, one after the other."""
    whole = b"".join(parts)
    work.step(len(whole))
    return hashlib.sha256(whole).digest()


def leaf_hash(record: bytes) -> bytes:
    """Of a leaf of an RFC 6962 tree."""
    return sha256(b"\0", record)


def leaf_record(record: Message) -> bytes:
    """The 149 bytes that stand for a record in the tree and in its stream's chain."""
    return b"".join(
        (
            b"SLE2",
            record.position.to_bytes(8, "big"),
            record.recorded_at_micros.to_bytes(8, "big"),
            record.stream,
            record.version.to_bytes(8, "big"),
            record.type.to_bytes(2, "big"),
            record.schema.to_bytes(2, "big"),
            bytes([record.sealed]),
            (record.payload_len or len(record.payload)).to_bytes(4, "big"),
            record.payload_hash or sha256(record.salt, record.payload),
            record.author_hash,
            record.previous,
        )
    )


def tree_root(leaves: list[bytes]) -> bytes:
    """The root of RFC 6962 over records."""
    if not leaves:
        return sha256()
    hashes = {at: leaf_hash(leaf) for at, leaf in enumerate(leaves)}
    return proved_root(len(leaves), hashes, [])


def proved_root(size: int, leaves: dict[int, bytes], proof: list[bytes]) -> bytes:
    """The root of a tree of `size` records, from some leaf hashes by position and a proof."""
    positions = sorted(leaves)
    if positions and positions[-1] >= size:
        raise Unproved("a record is beyond the size of the log")
    hashes = iter(proof)
    root = _node((0, size), positions, (leaves, hashes))
    if next(hashes, None) is not None:
        raise Unproved("a hash is left over")
    return root


def _node(
    span: tuple[int, int], inside: list[int], given: tuple[dict[int, bytes], Iterator[bytes]]
) -> bytes:
    leaves, hashes = given
    first, end = span
    work.step()
    if not inside:
        found = next(hashes, None)
        if found is None:
            raise Unproved("a hash is missing")
        return found
    if end == first + 1:
        return leaves[first]
    middle = first + (1 << (end - first - 1).bit_length() - 1)
    left = _node((first, middle), [at for at in inside if at < middle], given)
    right = _node((middle, end), [at for at in inside if at >= middle], given)
    return sha256(b"\1", left, right)
