"""Knows what a file of evidence proves by itself: texts of one key that contradict each other, and
receipts that a signed closing leaves out.

Whichever hand it is of: a log signs one promise for a number, one closing for a commitment, one
receipt for a seat, and one for a position. An end of the key (`until N`) does not matter here: one
who signs two texts has signed them both.
"""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence, Signed
from .trust import TrustedKey

PROMISES, CLOSINGS, LEFT_OUT, COMMITMENTS, POSITIONS = range(5)
WORDS = (
    "the dealer promised one number twice",
    "the dealer signed two closings for one number",
    "a receipt was given for a commitment that the closing has not",
    "the table took two commitments of one seat",
    "the table gave receipts for two records at one position of its log",
)
LOGS = {
    "dealer-commit-sig": "dealer",
    "closing-sig": "dealer",
    "receipt-sig": "table",
    "reveal-receipt-sig": "table",
    "decision-receipt-sig": "table",
}
"""Which log signs such texts. A player's decision may be signed anew."""


def conflicts(evidence: Evidence, keys: list[TrustedKey]) -> list[str]:
    """Contradictions in words, with the lines of the file. Texts of trusted logs count, each of a
    log that signs such texts."""
    names = {one.key.public: one.key.name for one in keys}
    texts = [one for one in evidence.signed if _is_of_its_log(one, names)]
    found = {*_pairs(texts), *_left_out(texts, evidence)}
    return [f"lines {one} and {other}: {WORDS[kind]}" for kind, one, other in sorted(found)]


def _is_of_its_log(one: Signed, names: dict[bytes, str]) -> bool:
    name = names.get(one.key)
    return name is not None and name.rsplit("/", 1)[-1] == LOGS.get(one.tag)


def _pairs(texts: list[Signed]) -> Iterator[tuple[int, int, int]]:
    """Each text that differs from the first of its key on the same subject."""
    firsts: dict[tuple[bytes, int, tuple[bytes, ...]], Signed] = {}
    for one in texts:
        for kind, subject in _subjects(one):
            first = firsts.setdefault((one.key, kind, subject), one)
            if (first.tag, first.fields) != (one.tag, one.fields):
                yield kind, first.line, one.line


def _subjects(one: Signed) -> Iterator[tuple[int, tuple[bytes, ...]]]:
    """What a key may sign one text on."""
    if one.tag == "dealer-commit-sig":
        yield PROMISES, one.fields[:3]
    elif one.tag == "closing-sig":
        yield CLOSINGS, one.fields[:2]
    else:
        if one.tag == "receipt-sig":
            yield COMMITMENTS, one.fields[:4]
        yield POSITIONS, one.fields[-1:]


def _left_out(texts: list[Signed], evidence: Evidence) -> Iterator[tuple[int, int, int]]:
    """Each receipt whose seat and player a closing of its hand has with another commitment or
    none, where the file opens the closing."""
    closings: dict[tuple[bytes, ...], list[Signed]] = {}
    for one in texts:
        if one.tag == "closing-sig":
            closings.setdefault(one.fields[:2], []).append(one)
    for receipt in texts:
        if receipt.tag != "receipt-sig":
            continue
        _, _, seat, player, commitment, _, _ = receipt.fields
        for closing in closings.get(receipt.fields[:2], ()):
            for row in evidence.closings.get(closing.fields[2], ()):
                same = (row.seat, row.player) == (seat[0], player)
                if same and row.commitment != commitment:
                    yield LEFT_OUT, receipt.line, closing.line
