"""A finished hand, checked from its bundle: records of three logs, and what proves them.

Checks what a player needs to know that nobody chose the cards: the records stand in logs that the room has
signed; the dealer and every seat committed before anything was revealed; from what was revealed come every
shuffle, die and card on record; our decisions are there with our signatures. It does not know the games'
rules and does not count credits: `tests/verify` and the room's page `/verify.html` check everything.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
from collections.abc import Iterator

import fair
from hand import Part, check
from sabacc.audit.v1.bundle_pb2 import BundleContents, BundleLog, HandBundle, LogRecord
from sabacc.event.v1.table_pb2 import HandFinished
from sabacc.event.v1.type_pb2 import EventType

EVENTS = [importlib.import_module(f"sabacc.event.v1.{file}_pb2") for file in ("table", "dealer", "wallet")]


def read_keys(text: str) -> dict[str, bytes]:
    """The keys file: a C2SP verifier key a line, ORIGIN+HASH+KEY. Gives the keys of the logs "table",
    "dealer" and "wallet". A key that has ended (` until N`) is for old records only."""
    keys = {}
    for line in text.splitlines():
        if line and not line.startswith("#") and " " not in line:
            origin, _, encoded = line.split("+", 2)
            keys[origin.rsplit("/", 1)[1]] = base64.b64decode(encoded)[1:]
    return keys


def open_bundle(data: bytes) -> BundleContents:
    bundle = HandBundle.FromString(data)
    check(hashlib.sha256(bundle.contents).digest() == bundle.sha256, "the file is damaged")
    contents = BundleContents.FromString(bundle.contents)
    check(contents.format == 2, "this program reads format 2")
    return contents


def is_whole(data: bytes) -> bool:
    """Whether nothing of the hand is to come: its settlement is posted, and its seed is open."""
    contents = open_bundle(data)
    table = contents.logs[0]
    # The table's stream begins with the end of the hand before, and ends with that of this one.
    ends = [HandFinished.FromString(record.payload) for record in table.records
            if record.type == EventType.EVENT_TYPE_HAND_FINISHED]
    kinds = {record.type for record in table.records}
    return EventType.EVENT_TYPE_HAND_REVEALED in kinds and any(end.hand_id == contents.hand_id for end in ends)


# The logs.


def check_log(log: BundleLog, key: bytes) -> None:
    """All records stand in the tree whose root the log has signed."""
    text, signatures = log.checkpoint.split("\n\n")
    text += "\n"
    origin, size, root = text.splitlines()[:3]
    check(origin.endswith(f"/{log.name}"), "the checkpoint is of another log")
    # A line is: dash, name, base64 of four bytes of the key's hash and 64 of signature. Others are of witnesses.
    ours = [line.split(" ")[2] for line in signatures.splitlines() if line.split(" ")[1] == origin]
    signed = [fair.is_signed(key, text.encode(), base64.b64decode(line)[4:]) for line in ours]
    check(bool(signed) and all(signed), "the checkpoint is not signed by the log's key")
    leaves = {record.position: fair.leaf(leaf_record(record)) for record in log.records}
    hashes = iter(log.proof)
    check(node(0, int(size), leaves, hashes) == base64.b64decode(root), "the records do not stand in the log")
    check(next(hashes, None) is None, "a hash is left over")


def node(first: int, end: int, leaves: dict[int, bytes], hashes: Iterator[bytes]) -> bytes:
    """The hash over the records from `first` to before `end`."""
    if not any(first <= position < end for position in leaves):
        return next(hashes)
    if end == first + 1:
        return leaves[first]
    middle = first + fair.split(end - first)
    left = node(first, middle, leaves, hashes)
    return fair.node(left, node(middle, end, leaves, hashes))


def leaf_record(record: LogRecord) -> bytes:
    """149 bytes that stand for a record in its log's tree."""
    payload_hash = record.payload_hash or hashlib.sha256(record.salt + record.payload).digest()
    length = record.payload_len if record.payload_hash else len(record.payload)
    return (
        b"SLE2" + fair.u64(record.position) + fair.u64(record.recorded_at_micros) + record.stream
        + fair.u64(record.version) + fair.u16(record.type) + fair.u16(record.schema) + fair.u8(record.sealed)
        + fair.u32(length) + payload_hash + record.author_hash + record.previous
    )


def events(log: BundleLog, stream: bytes) -> list:
    """The events of one stream of a log, in order. What is kept back has no payload."""
    found = []
    for record in log.records:
        if record.stream == stream and not record.payload_hash:
            name = EventType.Name(record.type).removeprefix("EVENT_TYPE_").title().replace("_", "")
            message = next(getattr(file, name) for file in EVENTS if hasattr(file, name))
            found.append(message.FromString(record.payload))
    return found


# The hand.


class Records:
    """The events of a hand, by kind."""

    def __init__(self, hand: list, dealer: list) -> None:
        self.hand, self.dealer = hand, dealer

    def all(self, kind: str) -> list:
        return [event for event in self.hand + self.dealer if type(event).__name__ == kind]

    def one(self, kind: str):
        found = self.all(kind)
        check(len(found) == 1, f"{len(found)} of {kind}")
        return found[0]


def check_hand(data: bytes, keys: dict[str, bytes], part: Part) -> Iterator[str]:
    """Checks a bundle against what we know of the hand; gives a line for each thing that holds."""
    contents = open_bundle(data)
    table, dealer, wallet = contents.logs
    for log in (table, dealer, wallet):
        check_log(log, keys[log.name])
    yield "the records stand in three logs that the room has signed"
    records = Records(events(table, contents.hand_id), events(dealer, contents.hand_id))
    opened = records.one("HandOpened")
    rules = fair.rules_hash(opened.rule_set, opened.settings)
    ctx = fair.context(opened.commitment.origin, opened.table_id, opened.hand_no, rules)
    check((ctx, opened.commitment.commitment) == (part.context, part.dealer), "this is another hand")
    closing = records.one("EntropyClosed").closing
    check(closing.closing == part.closing.closing, "another closing than we were sent")
    rows = [
        fair.transcript_row(row.seat, row.player_id, row.status, row.commitment, row.entropy)
        for row in records.one("HandSealed").rows
    ]
    transcript = fair.transcript(ctx, part.dealer, rows)
    check(transcript == part.transcript, "another transcript than ours")
    seed = records.one("SeedOpened").seed
    check(fair.dealer_commitment(ctx, seed) == part.dealer, "the seed is not the one committed to")
    yield "it was made of the dealer's seed and the seats' entropy, ours too, all fixed before any was known"
    dealt = Deal(fair.Chance(transcript, seed))
    operations = records.all("OperationPerformed")
    for number, done in enumerate(operations):
        check(done.operation.index == number, "an operation is missing")
        dealt.perform(done.operation, done.result)
    cards = [
        card for kind in ("CardsMoved", "CardsShown", "MoveDecided")
        for event in records.all(kind) for card in event.cards
    ]
    shown = [dealt.check_card(card, opened.rule_set) for card in cards if card.card]
    yield f"all {len(operations)} uses of chance and {len(shown)} open cards come from them"
    yield f"{own_decisions(records, part)} decisions of ours are signed by us"


class Deal:
    """The hand, dealt again: the cards of each shuffle, by the operation's number."""

    def __init__(self, chance: fair.Chance) -> None:
        self.chance, self.piles = chance, {}

    def perform(self, operation, result) -> None:
        """Does what the dealer did, and compares."""
        kind = operation.WhichOneof("kind")
        asked = getattr(operation, kind)
        op = operation.index
        if kind == "shuffle":
            self.shuffle(op, asked, result)
            return
        made = {
            "roll": lambda: self.chance.roll(op, list(asked.sides)),
            "pulse": lambda: self.chance.pulse(op, asked.ppm),
            "pick": lambda: self.chance.pick(op, asked.n),
            "sample": lambda: self.chance.sample(op, asked.n, asked.k),
        }[kind]()
        check(made == list(result.values), f"operation {op} gives {made}")

    def shuffle(self, op: int, asked, result) -> None:
        """Fresh cards, or cards that lay somewhere; the root commits to how they lie now."""
        if asked.fresh:
            cards = list(range(asked.first_fresh, asked.first_fresh + asked.fresh))
        else:
            cards = [self.piles[card.op][card.position] for card in asked.cards]
        self.piles[op] = cards = self.chance.shuffle(op, asked.pile, cards)
        leaves = [fair.leaf(self.chance.card_record(op, at, card)) for at, card in enumerate(cards)]
        check(list(result.values) == [len(cards)], f"shuffle {op} has another number of cards")
        check(result.root == fair.root(leaves), f"shuffle {op} has another root")

    def check_card(self, card, rule_set: str) -> str:
        """A card that was shown is the one that the shuffle put there."""
        deck = DECKS[variant(rule_set)]
        check(deck[self.piles[card.op][card.position]] == card.card, f"another card at {card.op}.{card.position}")
        check(card.salt == self.chance.salt(card.op, card.position), "another salt")
        return card.card


def own_decisions(records: Records, part: Part) -> int:
    """How many of our decisions are on record; each must have the signature that we made."""
    made = [event for event in records.all("MoveDecided") if event.seat == part.seat and not event.by_clock]
    check(all(event.signature in part.signatures for event in made), "a decision that we never made")
    return len(made)


# The packs of cards: chance names a card by its index here.


def variant(rule_set: str) -> str:
    """The game, which the rule set's text names."""
    return next(line.split('"')[1] for line in rule_set.splitlines() if line.startswith("variant = "))


S76 = [f"{suit}{number}" for suit in "SFCT" for number in range(1, 16)] + [
    f"{face}{copy}"
    for face in ("Star", "Evil", "Moderation", "Demise", "Balance", "Endurance", "Queen", "Idiot")
    for copy in "AB"
]
K44 = [
    f"{family}{face}"
    for family in "sb"
    for face in [*"111222333444555666", "I", "I", "I", "Y"]
]
P42 = [f"{rank}{suit}" for rank in "12345" for suit in "SHDC" for _ in range(2)] + ["6S", "6S"]
C62 = [f"{suit}{sign}{number}" for suit in "cts" for sign in "+-" for number in range(1, 11)] + ["Y", "Y"]
DECKS = {
    "electronic": S76, "dice": S76, "swg": S76, "force": S76,
    "kessel": K44, "eleven": P42, "spike": C62, "coruscant": C62,
}
