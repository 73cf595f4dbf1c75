"""Knows the cards and the chance of a hand under way: the rules' side, the seed's, the records'.

Everything here comes from the seed and the rules; what is on record is for others to compare.
"""

from __future__ import annotations

from .fair import Chance
from .places import Misplaced, Place, Places
from .proto import Message
from .rules.hand import Hand
from .rules.kinds import Deal, Pick, Pulse, Refused, Roll, Sample

POSITIONS = 1 << 16
Named = tuple[int, int, str]
"""Shuffle, position, and the code where everybody sees the card."""


class Dealing:
    """A hand in play, its chance, and where its cards lie."""

    def __init__(self, hand: Hand, chance: Chance, seats: list[int]) -> None:
        self.hand = hand
        self.chance = chance
        self.seats = seats
        self.places = Places()
        self.ahead: list[tuple[Message, Message]] = []
        """Operations and results that were due when the hand came to nothing."""
        self.dealt_ahead: list[tuple[list[Place], int]] = []
        """Cards that were due then, and the seat that may see them; 0: everybody."""

    def perform(self, operation: Message) -> tuple[list[int], bytes]:
        """What the seed gives: the public numbers, and of a shuffle the root."""
        index, chance = operation.index, self.chance
        if operation.shuffle is not None:
            content = operation.shuffle
            if content.cards:
                cards = [self.face((ref.op, ref.position)) for ref in content.cards]
            else:
                cards = list(range(content.first_fresh, content.first_fresh + content.fresh))
            chance.shuffle(index, content.pile, cards)
            return [len(cards)], chance.root(index)
        if operation.roll is not None:
            return chance.roll(index, operation.roll.sides), b""
        if operation.pulse is not None:
            return [chance.pulse(index, operation.pulse.ppm)], b""
        if operation.pick is not None:
            return [chance.pick(index, operation.pick.n)], b""
        sample = operation.sample
        return chance.sample(index, sample.n, sample.k), b""

    def face(self, place: Place) -> int:
        """The card that the seed put there."""
        card = self.chance.card(*place)
        if card is None:
            raise Misplaced("no shuffle put a card there")
        return card

    def ref(self, card: int, public: bool) -> Named:
        """A card as a record names it."""
        op, position = self.places.of[card]
        return op, position, self.hand.core.deck.codes[card] if public else ""

    def is_salted(self, ref: Message) -> bool:
        """The salt of a card whose face is on record is the seed's; no other card's is there."""
        named = ref.card != "" and ref.position < POSITIONS
        return ref.salt == (self.chance.salt(ref.op, ref.position) if named else b"")

    # What was due when the hand came to nothing.

    def look_ahead(self, most: int) -> None:
        """The dealer is asked before the table writes down what it answered: it may have performed
        and opened what the rules called for next, up to the next decision. `most`: operations that
        it has performed; what would come of more is nobody's business, and may be much."""
        try:
            while (due := self.hand.chance) is not None:
                if len(self.ahead) >= most and not isinstance(due, Deal):
                    return
                if isinstance(due, Deal):
                    self.foresee_deal(due)
                else:
                    self.hand.give(outcome_of(due, self.foresee(self.places.ask(due))))
        except (Misplaced, Refused):
            return

    def foresee(self, operation: Message) -> list[int]:
        """An operation with what the seed gives."""
        values, root = self.perform(operation)
        result = Message(index=operation.index, values=values, root=root)
        self.ahead.append((operation, result))
        return values

    def foresee_deal(self, due: Deal) -> None:
        """A deal with the restocks on its way."""
        (first, *_) = due.parts
        if first.until is not None:
            places = [self.places.take(first.pile)]
            while self.face(places[-1]) not in first.until:
                places.append(self.places.take(first.pile))
        else:
            if self.places.layout is None:
                self.places.lay_out(due)
            while self.places.restocks:
                self.foresee(self.places.restocks.pop(0))
            places = self.places.places_of(due, 0)
        cards = [self.face(place) for place in places]
        self.hand.give(cards)
        for place, card in zip(places, cards):
            self.places.learn(place, card)
        audience = 0 if due.shown or due.player is None else self.seats[due.player]
        self.dealt_ahead.append((places, audience))


def named(ref: Message) -> Named:
    """A card of a record without its salt."""
    return ref.op, ref.position, ref.card


def outcome_of(due: object, values: list[int]) -> object:
    """What the public numbers mean to the rules."""
    if isinstance(due, (Roll, Sample)):
        return values
    if isinstance(due, Pulse):
        return values == [1]
    return values[0] if isinstance(due, Pick) else None
