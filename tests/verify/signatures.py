"""Check `signatures`: decisions are those of who made them, over the cards and all decided before.

Whoever named a key signs each decision, also to leave or to end a suspended hand, unless the clock
decides. Whoever named none signs nothing, and the decision is the table's word. A leave is signed
when it is asked for, over the chain as it stands then with the leaves that are pending; the rules
take it later, or the hand ends before. A void is signed over the lines on record alone, and a
signed leave that is pending then lapses.
"""

from __future__ import annotations

from . import fair, leaves, sign, work
from .case import Case, Trouble, hold, of_length
from .closing import commitments
from .leaves import Leave
from .promise import promise
from .promises import recorded_transcript
from .walk import Line, Walk


def check(case: Case, walked: Walk) -> None:
    """Each signature, along the chain that begins with the transcript."""
    for seat, read in commitments(case).items():
        if read.event.key:
            work.signature(0)
            hold(sign.is_key(read.event.key), f"the key of seat {seat} can be none")
    asked = leaves.asked(case)
    if walked.lines or asked:
        signed = _Signed(case, walked.chain)
        for line in walked.lines:
            while asked and asked[0].position < line.position:
                signed.ask(asked.pop(0))
            signed.decide(line)
        for leave in asked if walked.whole else ():
            signed.ask(leave)
    walked.verdict("signatures")


class _Signed:
    """The chain under way. `chains`: takes what each decision and leave is signed over, by
    position, whoever has signed it."""

    def __init__(self, case: Case, chains: dict[int, bytes]) -> None:
        self.chains = chains
        self.context = promise(case).context
        self.chain = recorded_transcript(case)
        self.keys = {seat: read.event.key for seat, read in commitments(case).items()}
        self.pending: dict[int, Leave] = {}
        """Leaves that were asked for and not taken yet, by seat, in order."""
        self.left: set[int] = set()
        """Seats whose players have left."""

    def ask(self, leave: Leave) -> None:
        """A leave is signed where it is asked for, and asked for again only once it has lapsed."""
        where = f"position {leave.position}, `{leave.line}`"
        again = leave.seat in self.pending or leave.seat in self.left
        hold(not again, f"{where}: its player had asked to leave before")
        chain = self.chain
        for one in (*self.pending.values(), leave):
            chain = fair.decision(chain, False, one.line)
        self.chains[leave.position] = chain
        self.one(where, (leave.seat, leave.line, leave.signature), chain)
        self.pending[leave.seat] = leave

    def decide(self, line: Line) -> None:
        """A decision adds its line; a leave is one that was asked for."""
        self.chain = fair.decision(self.chain, line.by_clock, line.line)
        self.chains[line.position] = self.chain
        where = f"position {line.position}, `{line.line}`"
        if line.by_clock:
            hold(line.signature == b"", f"{where}: the clock decided, and it is signed")
        elif line.leaves:
            asked = self.pending.pop(line.seat, None)
            if asked is None:
                raise Trouble(f"{where}: its player has not asked to leave")
            hold(
                asked.signature == line.signature,
                f"{where}: it has another signature than its player asked to leave with",
            )
            self.left.add(line.seat)
        else:
            self.one(where, (line.seat, line.said, line.signature), self.chain)
        if line.voids:
            self.pending = {s: one for s, one in self.pending.items() if not one.signature}

    def one(self, where: str, what: tuple[int, str, bytes], chain: bytes) -> None:
        """Of whoever has a key, a signature; of whoever has none, none."""
        seat, said, signature = what
        key = self.keys.get(seat, b"")
        if not key:
            hold(signature == b"", f"{where}: it is signed, and its player has no key")
            return
        hold(signature != b"", f"{where}: its player has a key, and it is not signed")
        of_length("a player's key", key, 32)
        of_length("the signature of a decision", signature, 64)
        text = fair.signed_text("decision-sig", key, self.context, chain, said.encode())
        hold(sign.verify(key, text, signature), f"{where}: the signature is not its player's")


def signing(case: Case) -> list[int]:
    """The seats of which a decision or a leave is signed. Where this check passes, each was
    checked."""
    decided = {read.event.seat for read in case.all("MoveDecided") if read.event.signature}
    return sorted(decided | {leave.seat for leave in leaves.asked(case) if leave.signature})
