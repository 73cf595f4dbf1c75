"""What a hand's chance is made of, and what is signed: bytes in, bytes out.

Each function is one paragraph of "What is hashed and signed" in `proto/README.md`. Ids of tables and
players go in as their 16 bytes.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

REVEALED, ABSENT = 1, 3


def u8(number: int) -> bytes:
    return number.to_bytes(1, "big")


def u16(number: int) -> bytes:
    return number.to_bytes(2, "big")


def u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


def lp(*fields: bytes) -> bytes:
    """Each field behind its length. No two lists of fields give the same bytes."""
    return b"".join(u32(len(field)) + field for field in fields)


def tagged(tag: str, *fields: bytes) -> bytes:
    """The hash of the protocol. The tag keeps hashes of different things apart."""
    return hashlib.sha256(lp(b"sabacc/fair/v1/" + tag.encode(), *fields)).digest()


# Who brings what to a hand.


def rules_hash(rule_set: str, settings: str) -> bytes:
    """Of the texts of rule set and settings, exactly as they were sent."""
    return hashlib.sha256(lp(rule_set.encode(), settings.encode())).digest()


def context(origin: str, table: bytes, hand_no: int, rules: bytes) -> bytes:
    """The hand: everything else is bound to it, so that nothing can be used for another hand."""
    return tagged("ctx", origin.encode(), table, u64(hand_no), rules)


def dealer_commitment(ctx: bytes, seed: bytes) -> bytes:
    """What the dealer publishes before anybody else does anything."""
    return tagged("dealer-commit", ctx, seed)


def client_commitment(ctx: bytes, dealer: bytes, seat: int, player: bytes, entropy: bytes) -> bytes:
    """What a player publishes then. It has the dealer's in it, so it was made later."""
    return tagged("client-commit", ctx, dealer, u8(seat), player, entropy)


def closing_row(seat: int, player: bytes, commitment: bytes) -> bytes:
    """50 bytes for a seat; zeros where it has committed to nothing."""
    return u8(seat) + player + u8(1 if commitment else 0) + (commitment or bytes(32))


def closing(ctx: bytes, dealer: bytes, rows: Iterable[bytes]) -> bytes:
    """All that the hand will be made of. The dealer signs it before anybody reveals."""
    rows = list(rows)
    return tagged("closing", ctx, dealer, u8(len(rows)), *rows)


def transcript_row(seat: int, player: bytes, status: int, commitment: bytes, entropy: bytes) -> bytes:
    """82 bytes for a seat; zeros where it brought nothing."""
    return u8(seat) + player + u8(status) + (commitment or bytes(32)) + (entropy or bytes(32))


def transcript(ctx: bytes, dealer: bytes, rows: Iterable[bytes]) -> bytes:
    """All that was brought. The empty field is the place of a public beacon; none is defined."""
    rows = list(rows)
    return tagged("transcript", ctx, dealer, b"", u8(len(rows)), *rows)


def next_chain(chain: bytes, by_clock: bool, line: str) -> bytes:
    """The chain of decisions with one more in it. It begins with the transcript."""
    return tagged("decision", chain, u8(by_clock), line.encode())


# Signatures.


def key_id(key: bytes) -> bytes:
    """How a signed text names the key it is signed with."""
    return hashlib.sha256(key).digest()[:8]


def signed_text(tag: str, key: bytes, *fields: bytes) -> bytes:
    """What is signed: a tag, the fields, and the id of the key. No prefix here."""
    return lp(tag.encode(), *fields, key_id(key))


def is_signed(key: bytes, text: bytes, signature: bytes) -> bool:
    """Whether the signature is the key's over this text."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


# Chance, once the seed is known.


def mac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-512."""
    return hmac.digest(key, message, "sha512")


class Chance:
    """All chance of one hand, from the transcript and the dealer's seed."""

    def __init__(self, transcript_: bytes, seed: bytes) -> None:
        # HKDF-SHA-512 with the transcript as salt and the seed as input, one block of output each.
        extracted = mac(transcript_, seed)
        self.hand_key = mac(extracted, lp(b"sabacc/fair/v1/hand-key") + b"\x01")
        self.salt_key = mac(extracted, lp(b"sabacc/fair/v1/salt-key") + b"\x01")

    def numbers(self, op: int, kind: str, params: bytes, bounds: Iterable[int]) -> list[int]:
        """The random numbers of one operation: one for each bound, below it, all equally likely."""
        key = mac(self.hand_key, lp(b"sabacc/fair/v1/op", u32(op), kind.encode(), params))
        words = _words(key)
        found = []
        for bound in bounds:
            # The words below the greatest multiple of the bound count; others would favour some.
            limit = 2**64 - 2**64 % bound
            found.append(next(word for word in words if word < limit) % bound)
        return found

    def shuffle(self, op: int, pile: int, cards: list[int]) -> list[int]:
        """The cards of a pile after a shuffle, from the top."""
        cards = list(cards)
        places = range(len(cards) - 1, 0, -1)
        others = self.numbers(op, "shuffle", u8(pile) + bytes(cards), [at + 1 for at in places])
        for at, other in zip(places, others):
            cards[at], cards[other] = cards[other], cards[at]
        return cards

    def roll(self, op: int, sides: list[int]) -> list[int]:
        """Dice: the side that lies up, counted from 1."""
        return [1 + number for number in self.numbers(op, "roll", bytes(sides), sides)]

    def pulse(self, op: int, ppm: int) -> list[int]:
        """1 with so many parts in a million, else 0."""
        return [int(self.numbers(op, "pulse", u32(ppm), [1_000_000])[0] < ppm)]

    def pick(self, op: int, n: int) -> list[int]:
        """One of n."""
        return self.numbers(op, "pick", u32(n), [n])

    def sample(self, op: int, n: int, k: int) -> list[int]:
        """k different ones of n, in the order drawn."""
        all_, offsets = list(range(n)), self.numbers(op, "sample", u32(n) + u32(k), range(n, n - k, -1))
        for at, offset in enumerate(offsets):
            all_[at], all_[at + offset] = all_[at + offset], all_[at]
        return all_[:k]

    def card_record(self, op: int, position: int, card: int) -> bytes:
        """62 bytes that stand for a card in its pile's tree."""
        return card_record(op, position, card, self.salt(op, position))

    def salt(self, op: int, position: int) -> bytes:
        """What hides a card until it is shown: 32 bytes of its own."""
        return mac(self.salt_key, lp(b"sabacc/fair/v1/card-salt", u32(op), u16(position)))[:32]


def _words(key: bytes) -> Iterable[int]:
    """An operation's random words, 64 bits each, without an end."""
    block = 0
    while True:
        given = mac(key, u32(block))
        yield from (int.from_bytes(given[at : at + 8], "big") for at in range(0, 64, 8))
        block += 1


# Trees of RFC 6962: of cards, and of a log's records.


def card_record(op: int, position: int, card: int, salt: bytes) -> bytes:
    return lp(b"sabacc/fair/v1/card") + u32(op) + u16(position) + u8(card) + salt


def leaf(record: bytes) -> bytes:
    return hashlib.sha256(b"\0" + record).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def split(size: int) -> int:
    """Where a list is split: at the greatest power of two below its length."""
    return 1 << (size - 1).bit_length() - 1


def root(leaves: list[bytes]) -> bytes:
    """The root over leaf hashes."""
    if len(leaves) == 1:
        return leaves[0]
    at = split(len(leaves))
    return node(root(leaves[:at]), root(leaves[at:]))


def root_from_path(leaf_: bytes, position: int, size: int, path: list[bytes]) -> bytes | None:
    """The root that a leaf's path leads to; None where the path has a wrong length."""
    if size == 1:
        return leaf_ if not path else None
    if not path:
        return None
    at, below, beside = split(size), path[:-1], path[-1]
    if position < at:
        inner = root_from_path(leaf_, position, at, below)
        return None if inner is None else node(inner, beside)
    inner = root_from_path(leaf_, position - at, size - at, below)
    return None if inner is None else node(beside, inner)
