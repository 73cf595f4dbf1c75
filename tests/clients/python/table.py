"""Play at one table, over one stream: what the room says comes in, and what is due goes out."""

from __future__ import annotations

import random

import moves
from guest import Guest
from hand import Broken, Part, check
from sabacc.common.v1.error_pb2 import ErrorReason
from sabacc.table.v1.table_pb2 import (
    Acted,
    ActRefused,
    ActRequest,
    CommitEntropyRequest,
    Entropy,
    EntropyTaken,
    HandStarted,
    NextHand,
    PlayRequest,
    RevealEntropyRequest,
    SeatState,
    TableUpdate,
    TableView,
    Turn,
    WatchTableResponse,
)
from stream import PlayStream, request_id


class Table:
    """A seat at a table, until one hand that we took part in is over and its seed is open."""

    def __init__(self, guest: Guest, table_id: str, seat: int) -> None:
        self.guest, self.table_id, self.seat = guest, table_id, seat
        self.stream = PlayStream(guest.tables, table_id, guest.token)
        self.random = random.Random()
        self.sequence = self.hand_no = 0
        # The hand to come, as the room has announced it.
        self.next_hand: NextHand | None = None
        # Our part in a hand to come, or in the one in play.
        self.part: Part | None = None
        self.in_hand = self.revealed = self.ended = False
        # Decisions without an answer, by request_id, and the first answer to each.
        self.acts: dict[str, tuple[ActRequest, Turn]] = {}
        self.answers: dict[str, bytes] = {}
        self.decided = (0, 0)
        self.dropped = False

    def play_one_hand(self) -> Part:
        """Follows the table and plays; gives our part in the hand once it is over."""
        for response in self.stream.messages():
            which = response.WhichOneof("message")
            if which == "seen":
                self.see(response.seen)
            elif which == "acted":
                self.acted(response.acted)
            elif which == "entropy":
                self.entropy_taken(response.entropy)
            if self.ended:
                break
        self.stream.close()
        assert self.part is not None
        return self.part

    def see(self, seen: WatchTableResponse) -> None:
        """A snapshot comes first, and again where a resume token is too old; updates follow."""
        which = seen.WhichOneof("message")
        if which == "snapshot":
            self.snapshot(seen.snapshot)
        elif which == "update":
            check(seen.update.sequence == self.sequence + 1, "an update is missing, or came twice")
            self.sequence = seen.update.sequence
            self.update(seen.update)

    def snapshot(self, table: TableView) -> None:
        self.sequence, self.hand_no = table.sequence, table.hand_no
        if table.HasField("next_hand"):
            self.announced(table.next_hand)
        if table.HasField("entropy"):
            self.entropy(table.entropy)
        if table.HasField("hand"):
            if self.part is not None and table.hand.hand_no == self.part.hand_no:
                self.in_hand = True
                self.part.start(table.hand)
            self.turn(table.hand.turn)

    def update(self, update: TableUpdate) -> None:
        """One thing that happened. Those that are not here change nothing for us."""
        which = update.WhichOneof("what")
        if which == "next_hand":
            self.announced(update.next_hand)
        elif which == "entropy":
            self.entropy(update.entropy)
        elif which == "hand_started":
            self.started(update.hand_started)
        elif which == "action":
            if self.in_hand:
                self.part.follow(update.action)
            self.turn(update.action.turn)
        elif which == "suspension":
            self.turn(update.suspension.turn)
        elif which == "seat":
            if self.in_hand and update.seat.seat.state == SeatState.SEAT_STATE_LEAVING:
                self.part.leave_asked(update.seat.seat.seat)
        elif which == "voided" and update.voided.hand_no == self.hand_no:
            # The hand came to nothing: somebody withheld entropy, or the dealer was away.
            self.take_next()
        elif which == "seed" and self.in_hand and update.seed.hand_no == self.part.hand_no:
            self.part.check_seed(update.seed.seed)
            self.ended = True

    def started(self, started: HandStarted) -> None:
        self.hand_no = started.hand_no
        if self.part is not None and started.hand_no == self.part.hand_no:
            self.in_hand = True
            self.part.start(started)
        self.turn(started.turn)

    # Chance.

    def announced(self, told: NextHand) -> None:
        """The dealer has committed to a hand to come. We do too, unless we have a part in one already."""
        self.next_hand = told
        if self.part is None:
            self.take_next()

    def take_next(self) -> None:
        """Commits to entropy for the hand to come."""
        self.part, self.in_hand, self.revealed = None, False, False
        told = self.next_hand
        if told is None or told.hand_no <= self.hand_no:
            return  # It will be announced.
        self.part = Part(told, self.table_id, self.guest.player_id, self.seat, self.guest.keys)
        named = request_id()
        commit = CommitEntropyRequest(
            request_id=named, table_id=self.table_id, hand_no=told.hand_no,
            commitment=self.part.commitment, key=self.part.public_key,
        )
        self.stream.send(PlayRequest(commit_entropy=commit), named)

    def entropy(self, told: Entropy) -> None:
        """A hand is open. Once its commitments are closed, checks the closing and reveals."""
        self.hand_no = told.hand_no
        part = self.part
        if part is None or part.hand_no != told.hand_no or self.revealed or not told.closed:
            return
        if self.seat not in told.roster:
            # We had sat down too late for this number, and are dealt in from a later one on.
            self.take_next()
            return
        part.check_closing(told.closing, told.roster)
        self.revealed = True
        named = request_id()
        reveal = RevealEntropyRequest(
            request_id=named, table_id=self.table_id, hand_no=part.hand_no, entropy=part.entropy
        )
        self.stream.send(PlayRequest(reveal_entropy=reveal), named)

    def entropy_taken(self, taken: EntropyTaken) -> None:
        """The answer to a commitment or a reveal: a receipt, or why not."""
        self.stream.answered(taken.request_id)
        which = taken.WhichOneof("outcome")
        if which == "receipt":
            self.part.check_receipt(taken.receipt)
        elif which == "revealed":
            self.part.check_reveal_receipt(taken.revealed.receipt)
        elif self.revealed:
            raise Broken(f"what we committed to is not taken: {taken.refused.text}")
        else:
            self.part = None  # Too late for this number. The next one will be announced.

    # Decisions.

    def turn(self, turn: Turn) -> None:
        """Decides, if the decision that is due is ours."""
        due = (self.hand_no, turn.turn)
        if turn.seat != self.seat or not turn.legal or due == self.decided:
            return
        legal, move = moves.choose(turn.legal, self.random)
        self.decide(turn, ActRequest(
            request_id=request_id(), table_id=self.table_id, turn=turn.turn, decision=move,
            hand_no=self.hand_no, signature=self.part.sign(legal, move) if self.in_hand else b"",
        ))

    def decide(self, turn: Turn, act: ActRequest) -> None:
        first = self.decided == (0, 0)
        self.decided = (self.hand_no, turn.turn)
        self.acts[act.request_id] = (act, turn)
        self.stream.send(PlayRequest(act=act), act.request_id)
        if first:
            # As after a break when it is not known what arrived: the same decision, sent twice under one
            # request_id, counts once and has one answer.
            self.stream.repeat(act.request_id)

    def acted(self, acted: Acted) -> None:
        """The answer to a decision."""
        named = acted.request_id
        self.stream.answered(named)
        first = self.answers.setdefault(named, acted.SerializeToString())
        check(first == acted.SerializeToString(), "a repeated command got another answer")
        known = self.acts.pop(named, None)
        if known is None:
            return
        if acted.WhichOneof("outcome") == "refused":
            self.refused(known, acted.refused)
        elif known[0].signature:
            self.part.check_decision_receipt(known[0].signature, acted.done.receipt)
        if self.in_hand and not self.dropped:
            # Once, to show it: the stream breaks, and goes on behind the last message.
            self.dropped = True
            self.stream.drop()

    def refused(self, known: tuple[ActRequest, Turn], why: ActRefused) -> None:
        act, turn = known
        if why.reason == ErrorReason.ERROR_REASON_NOT_YOUR_TURN:
            return  # The clock was faster, or the hand has moved on. The next update says what is due.
        chain = None
        if why.reason == ErrorReason.ERROR_REASON_SIGNATURE_INVALID:
            # Somebody's leave has come between. Sign anew, over the chain with it.
            chain = self.part.chain_with_leaves(why.metadata["chain"])
        if chain is None:
            raise Broken(f"a legal decision was refused: {ErrorReason.Name(why.reason)}: {why.text}")
        legal = next(one for one in turn.legal if one.kind == act.decision.kind)
        again = ActRequest()
        again.CopyFrom(act)
        again.request_id = request_id()
        again.signature = self.part.sign(legal, act.decision, chain)
        self.decide(turn, again)
