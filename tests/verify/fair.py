"""Knows how chance is made from the dealer's seed and the seats' entropy: `sabacc/fair/v1`."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from . import work
from .merkle import sha256, tree_root

PREFIX = b"sabacc/fair/v1/"
REVEALED, WITHHELD, ABSENT = 1, 2, 3
WORDS = 1 << 64

def number(value: int, width: int) -> bytes:
    """Big-endian, so many bytes."""
    return value.to_bytes(width, "big")

def lp(data: bytes) -> bytes:
    """Behind its length."""
    return number(len(data), 4) + data

def encode(tag: str, *fields: bytes) -> bytes:
    """A tag of the protocol and fields, so that no two lists of fields look alike."""
    return lp(PREFIX + tag.encode()) + b"".join(map(lp, fields))

def digest(tag: str, *fields: bytes) -> bytes:
    """H of the protocol."""
    return sha256(encode(tag, *fields))

def mac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-512."""
    work.step(len(message))
    return hmac.digest(key, message, "sha512")

def rules_hash(rule_set: str, settings: str) -> bytes:
    """Of the texts of rule set and settings, as they are stored."""
    return sha256(lp(rule_set.encode()) + lp(settings.encode()))

def context(origin: str, table: bytes, hand_no: int, rules: bytes) -> bytes:
    """What everything about a hand is bound to."""
    return digest("ctx", origin.encode(), table, number(hand_no, 8), rules)

def dealer_commitment(ctx: bytes, seed: bytes) -> bytes:
    """What the dealer commits to."""
    return digest("dealer-commit", ctx, seed)

def client_commitment(ctx: bytes, dealer: bytes, seat: int, rest: tuple[bytes, bytes]) -> bytes:
    """What a seat commits to; `rest`: the player's id and the entropy."""
    return digest("client-commit", ctx, dealer, number(seat, 1), *rest)

def row(seat: int, player: bytes, status: int, given: tuple[bytes, bytes]) -> bytes:
    """A seat's part of the transcript: 82 bytes, zeros for what is missing."""
    commitment, entropy = given
    return (
        number(seat, 1)
        + player
        + number(status, 1)
        + (commitment if status != ABSENT else bytes(32))
        + (entropy if status == REVEALED else bytes(32))
    )

def transcript(ctx: bytes, dealer: bytes, rows: Sequence[bytes]) -> bytes:
    """What all seats brought, without a beacon."""
    return digest("transcript", ctx, dealer, b"", number(len(rows), 1), *rows)

def closing_row(seat: int, player: bytes, commitment: bytes) -> bytes:
    """A seat's part of the closing: 50 bytes, zeros where it has not committed."""
    return number(seat, 1) + player + number(bool(commitment), 1) + (commitment or bytes(32))

def closing(ctx: bytes, dealer: bytes, rows: Sequence[bytes]) -> bytes:
    """What all seats committed to, which the dealer signs."""
    return digest("closing", ctx, dealer, number(len(rows), 1), *rows)

def decision(chain: bytes, by_clock: bool, line: str) -> bytes:
    """The chain with one more decision; it begins with the transcript."""
    return digest("decision", chain, number(by_clock, 1), line.encode())

def hand_id(table: bytes, hand_no: int) -> bytes:
    """A hand's id, with the bits of a UUIDv8."""
    text = lp(b"sabacc/hand-id/v1") + lp(table) + lp(number(hand_no, 8))
    made = bytearray(sha256(text)[:16])
    made[6] = made[6] & 0x0F | 0x80
    made[8] = made[8] & 0x3F | 0x80
    return bytes(made)

def key_id(key: bytes) -> bytes:
    """By which a signed text names its key."""
    return sha256(key)[:8]

def signed_text(tag: str, key: bytes, *fields: bytes) -> bytes:
    """What is signed by a key: a tag, fields, and the key's id."""
    return lp(tag.encode()) + b"".join(map(lp, (*fields, key_id(key))))

class Words:
    """The random words of one operation."""

    def __init__(self, hand_key: bytes, index: int, kind: str, params: bytes) -> None:
        tag = encode("op", number(index, 4), kind.encode(), params)
        self.key = mac(hand_key, tag)
        self.block = 0
        self.bytes = b""

    def word(self) -> int:
        """The next u64."""
        if not self.bytes:
            self.bytes = mac(self.key, number(self.block, 4))
            self.block += 1
        word, self.bytes = self.bytes[:8], self.bytes[8:]
        return int.from_bytes(word, "big")

    def uniform(self, bound: int) -> int:
        """Below the bound, each equally likely: words above its last multiple are thrown away."""
        limit = WORDS - WORDS % bound
        while True:
            word = self.word()
            if word < limit:
                return word % bound

class Chance:
    """All chance of a hand: its operations by their index, and its cards by where they lie."""

    def __init__(self, transcript_: bytes, seed: bytes) -> None:
        extracted = mac(transcript_, seed)
        self.hand_key, self.salt_key = (
            mac(extracted, lp(PREFIX + name) + b"\x01") for name in (b"hand-key", b"salt-key")
        )
        self.decks: dict[int, list[int]] = {}

    def shuffle(self, index: int, pile: int, cards: Sequence[int]) -> list[int]:
        """The pile after the shuffle, its top first."""
        words = Words(self.hand_key, index, "shuffle", number(pile, 1) + bytes(cards))
        deck = list(cards)
        for at in range(len(deck) - 1, 0, -1):
            other = words.uniform(at + 1)
            deck[at], deck[other] = deck[other], deck[at]
        self.decks[index] = deck
        return deck

    def roll(self, index: int, sides: Sequence[int]) -> list[int]:
        """Faces from 1."""
        words = Words(self.hand_key, index, "roll", bytes(sides))
        return [1 + words.uniform(side) for side in sides]

    def pulse(self, index: int, ppm: int) -> int:
        """1 with a probability in parts per million."""
        words = Words(self.hand_key, index, "pulse", number(ppm, 4))
        return int(words.uniform(1_000_000) < ppm)

    def pick(self, index: int, bound: int) -> int:
        """One number below the bound."""
        return Words(self.hand_key, index, "pick", number(bound, 4)).uniform(bound)

    def sample(self, index: int, bound: int, count: int) -> list[int]:
        """Different numbers below the bound, in the order drawn."""
        params = number(bound, 4) + number(count, 4)
        words = Words(self.hand_key, index, "sample", params)
        numbers = list(range(bound))
        for at in range(count):
            other = at + words.uniform(bound - at)
            numbers[at], numbers[other] = numbers[other], numbers[at]
        return numbers[:count]

    def salt(self, index: int, position: int) -> bytes:
        """What hides a card of a shuffled pile."""
        tag = encode("card-salt", number(index, 4), number(position, 2))
        return mac(self.salt_key, tag)[:32]

    def root(self, index: int) -> bytes:
        """The commitment to a pile as its shuffle left it."""
        return tree_root(
            [
                encode("card") + number(index, 4) + number(at, 2) + number(card, 1)
                + self.salt(index, at)
                for at, card in enumerate(self.decks[index])
            ]
        )

    def card(self, index: int, position: int) -> int | None:
        """Which card a shuffle put there."""
        deck = self.decks.get(index, [])
        return deck[position] if 0 <= position < len(deck) else None
