"""A player's part in one hand: entropy for its chance, and signed decisions.

Nobody can choose how the cards lie, because nobody knows all of what they are made from in time:

1. The dealer publishes the hash of a seed.
2. We publish the hash of 32 random bytes, our entropy.
3. The dealer signs the list of all that was published: the closing. Now nothing can be exchanged.
4. We reveal our entropy. The hand is dealt from the seed and the entropy of all.
5. When the hand is over the dealer opens the seed, and anybody can deal the hand again.

Decisions are signed with a key of our own, so that the room cannot say that we made others.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import fair
import moves
from sabacc.common.v1.chance_pb2 import Closing
from sabacc.common.v1.game_pb2 import LegalMove, Move
from sabacc.table.v1.table_pb2 import (
    DecisionReceipt,
    Entropy,
    EntropyReceipt,
    HandAction,
    HandSeat,
    HandStarted,
    HandView,
    NextHand,
    RevealReceipt,
)


class Broken(Exception):
    """The room said something that an honest room does not say."""


def check(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(what)


class Part:
    """What we bring to one hand, and what the room has said of it."""

    def __init__(
        self, told: NextHand | Entropy, table_id: str, player_id: str, seat: int, keys: Mapping[str, bytes]
    ) -> None:
        """`keys` are the public keys of the logs "table" and "dealer"."""
        self.hand_no, self.seat, self.keys = told.hand_no, seat, keys
        self.player_id, self.player = player_id, uuid.UUID(player_id).bytes
        table = uuid.UUID(table_id).bytes
        promise = told.commitment
        rules = fair.rules_hash(told.rule_set, told.settings)
        self.context = fair.context(promise.origin, table, told.hand_no, rules)
        self.dealer = promise.commitment
        signed = fair.signed_text(
            "dealer-commit-sig", keys["dealer"],
            promise.origin.encode(), table, fair.u64(told.hand_no), rules, self.dealer,
        )
        check(fair.is_signed(keys["dealer"], signed, promise.signature), "the dealer's commitment is not signed")
        # A program that runs for longer writes both to disk before it commits: whoever has committed
        # and does not reveal burns the hand, and is not dealt in for a while.
        self.entropy = secrets.token_bytes(32)
        self.key = Ed25519PrivateKey.generate()
        self.public_key = self.key.public_key().public_bytes_raw()
        self.commitment = fair.client_commitment(self.context, self.dealer, seat, self.player, self.entropy)
        self.transcript = self.chain = b""
        self.order: list[int] = []
        self.held: list = []
        self.leaving: list[int] = []
        # Our signatures, each with the chain that it is over.
        self.signatures: dict[bytes, bytes] = {}

    # 1. Our commitment is on record.

    def check_receipt(self, receipt: EntropyReceipt) -> None:
        """Keep the receipt: a log that has something else there convicts the table."""
        signed = fair.signed_text(
            "receipt-sig", self.keys["table"], self.context, self.dealer, fair.u8(self.seat), self.player,
            self.commitment, self.public_key, fair.u64(receipt.position),
        )
        check(fair.is_signed(self.keys["table"], signed, receipt.signature), "the receipt is not signed")

    # 2. All that was committed to is fixed. Who reveals before this check can be cheated.

    def check_closing(self, closing: Closing, roster: Sequence[int]) -> None:
        """The hand is made of what its seats have committed to, ours among them."""
        check([row.seat for row in closing.rows] == sorted(roster), "the closing has other seats than the hand")
        own = [(row.player_id, row.commitment) for row in closing.rows if row.seat == self.seat]
        check(own == [(self.player_id, self.commitment)], "the closing does not have what we committed to")
        rows = [
            fair.closing_row(row.seat, uuid.UUID(row.player_id).bytes, row.commitment) for row in closing.rows
        ]
        made = fair.closing(self.context, self.dealer, rows)
        check(made == closing.closing, "the closing is not the hash of its rows")
        signed = fair.signed_text("closing-sig", self.keys["dealer"], self.context, self.dealer, made)
        check(fair.is_signed(self.keys["dealer"], signed, closing.signature), "the closing is not signed")
        self.closing = closing

    def check_reveal_receipt(self, receipt: RevealReceipt) -> None:
        """Whoever has this receipt cannot be said to have withheld."""
        signed = fair.signed_text(
            "reveal-receipt-sig", self.keys["table"], self.context, self.dealer, fair.u8(self.seat),
            self.player, self.entropy, fair.u64(receipt.position),
        )
        check(fair.is_signed(self.keys["table"], signed, receipt.signature), "the receipt is not signed")

    # 3. The hand starts.

    def start(self, told: HandStarted | HandView) -> None:
        """The transcript binds what everybody brought, as it stands in the closing."""
        rows = []
        for row, closed in zip(told.rows, self.closing.rows, strict=True):
            check((row.seat, row.player_id, row.commitment) == (closed.seat, closed.player_id, closed.commitment),
                  "the hand is made of something else than the closing says")
            player = uuid.UUID(row.player_id).bytes
            if row.commitment:
                made = fair.client_commitment(self.context, self.dealer, row.seat, player, row.entropy)
                check(made == row.commitment, "entropy that does not open its commitment")
            rows.append(fair.transcript_row(row.seat, player, row.status, row.commitment, row.entropy))
        check(any(row.entropy == self.entropy for row in told.rows), "our entropy is not in the hand")
        self.transcript = fair.transcript(self.context, self.dealer, rows)
        check(self.transcript == told.transcript, "another transcript than the rows give")
        # A snapshot comes with the chain as it stands; a hand that starts has no decisions yet.
        self.chain = getattr(told, "chain", b"") or self.transcript
        self.order = [seat.seat for seat in told.seats]
        self.hold(told.seats)

    def hold(self, hands: Sequence[HandSeat]) -> None:
        """Our cards with the places where they lie, whenever an update shows all hands."""
        for hand in hands:
            if hand.seat == self.seat:
                self.held = list(hand.cards)

    # 4. Decisions.

    def follow(self, action: HandAction) -> None:
        """Something happened. Each decision stands in the chain behind all that were made before."""
        if action.chain_line:
            self.chain = fair.next_chain(self.chain, action.by_clock, action.chain_line)
            check(self.chain == action.chain, "a decision is missing, or was made up")
            if action.chain_line.endswith(" leave") and action.seat in self.leaving:
                self.leaving.remove(action.seat)
        self.hold(action.hands)

    def leave_asked(self, seat: int) -> None:
        """A player leaves the hand. Their line comes into the chain before the next decision."""
        if seat in self.order and seat not in self.leaving:
            self.leaving.append(seat)

    def sign(self, legal: LegalMove, move: Move, chain: bytes | None = None) -> bytes:
        """Signs a decision for its place: behind all decisions so far."""
        line, said = moves.lines(move, legal.secret, self.order, self.seat, self.held)
        with_it = fair.next_chain(chain or self.chain, False, line)
        text = fair.signed_text("decision-sig", self.public_key, self.context, with_it, said.encode())
        signature = self.key.sign(text)
        self.signatures[signature] = with_it
        return signature

    def chain_with_leaves(self, hint: str) -> bytes | None:
        """The chain that a refused signature should have been over: players have left meanwhile."""
        chain = self.chain
        for seat in self.leaving:
            chain = fair.next_chain(chain, False, f"p{self.order.index(seat) + 1} leave")
            if chain.hex() == hint:
                return chain
        return None

    def check_decision_receipt(self, signature: bytes, receipt: DecisionReceipt) -> None:
        """Keep this receipt too: it shows that the decision was taken, and where it stands."""
        signed = fair.signed_text(
            "decision-receipt-sig", self.keys["table"], self.context, receipt.chain, fair.u64(receipt.position)
        )
        check(receipt.chain == self.signatures[signature], "a receipt for another decision")
        check(fair.is_signed(self.keys["table"], signed, receipt.signature), "the receipt is not signed")

    # 5. The hand is over.

    def check_seed(self, seed: bytes) -> None:
        """The seed is what the dealer had committed to; `bundle.py` deals the hand again with it."""
        check(fair.dealer_commitment(self.context, seed) == self.dealer, "another seed than was committed to")
