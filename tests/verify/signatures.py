"""Check `signatures`: decisions are those of who made them, over the cards and all decided before.

Whoever named a key signs each decision, also to leave or to end a suspended hand, unless the clock
decides. Whoever named none signs nothing, and the decision is the table's word.
"""

from __future__ import annotations

from . import fair, sign
from .case import Case, hold, of_length
from .closing import commitments
from .promise import promise
from .promises import recorded_transcript
from .walk import Line, Walk


def check(case: Case, walked: Walk) -> None:
    """Each signature, along the chain that begins with the transcript."""
    if walked.lines:
        context = promise(case).context
        chain = recorded_transcript(case)
        keys = {seat: read.event.key for seat, read in commitments(case).items()}
        for line in walked.lines:
            chain = fair.decision(chain, line.by_clock, line.line)
            _one(line, keys.get(line.seat, b""), (context, chain))
    walked.verdict("signatures")


def _one(line: Line, key: bytes, over: tuple[bytes, bytes]) -> None:
    where = f"position {line.position}, `{line.line}` of seat {line.seat}"
    if line.by_clock or not key:
        hold(line.signature == b"", f"{where}: signed, and by nobody who has a key to sign it")
        return
    hold(line.signature != b"", f"{where}: its player has a key, and it is not signed")
    of_length("a player's key", key, 32)
    of_length("the signature of a decision", line.signature, 64)
    text = fair.signed_text("decision-sig", key, *over, line.said.encode())
    hold(sign.verify(key, text, line.signature), f"{where}: the signature is not its player's")


def signing(case: Case) -> list[int]:
    """The seats whose players sign."""
    return sorted(seat for seat, read in commitments(case).items() if read.event.key)
