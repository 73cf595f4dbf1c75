"""Knows where every card of a hand lies, by shuffle and position, as the logs name cards.

Gives the operation of chance that stands for what the rules ask for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .proto import Message
from .rules.kinds import Chance, Deal, Pick, Pulse, Roll, Sample, Shuffle

Place = tuple[int, int]
"""The index of the shuffle, and the position in the pile as it left it; 0 is the top."""
KINDS = ("shuffle", "roll", "pulse", "pick", "sample")


class Misplaced(Exception):
    """The records and the rules disagree about where cards are."""


@dataclass
class _Pile:
    """A pile as its last shuffle left it, `next` cards of it dealt."""

    op: int = 0
    next: int = 0
    size: int = 0


class Places:
    """The dictionary of one hand."""

    def __init__(self) -> None:
        self.piles: dict[int, _Pile] = {}
        self.of: dict[int, Place] = {}
        self.at: dict[Place, int] = {}
        self.next_op = 0
        self.restocks: list[Message] = []
        """Shuffles that the deal which is due still needs on its way."""
        self.layout: list[Place] | None = None
        """Where the cards of that deal come from, once it is known."""

    def operation(self, kind: str, content: Message) -> Message:
        """The next operation."""
        index, self.next_op = self.next_op, self.next_op + 1
        return Message(**{"index": index, **dict.fromkeys(KINDS), kind: content})

    def ask(self, due: Chance) -> Message:
        """The operation for what is due; a deal is none."""
        if isinstance(due, Shuffle):
            return self.shuffle(due.pile, due.add)
        if isinstance(due, Roll):
            return self.operation("roll", Message(sides=list(due.sides)))
        if isinstance(due, Pulse):
            return self.operation("pulse", Message(ppm=due.ppm))
        if isinstance(due, Pick):
            return self.operation("pick", Message(n=due.n))
        if isinstance(due, Sample):
            return self.operation("sample", Message(n=due.n, k=due.k))
        raise Misplaced("a deal is no operation of chance")

    def shuffle(self, number: int, add: tuple[int, ...]) -> Message:
        """What remains of a pile, top to bottom, and then `add`, into that pile."""
        pile = self.piles.get(number, _Pile())
        rest = [(pile.op, at) for at in range(pile.next, pile.size)]
        content = Message(pile=number, fresh=0, first_fresh=0, cards=[])
        if add and not rest and not any(card in self.of for card in add):
            content.fresh, content.first_fresh, size = len(add), add[0], len(add)
        else:
            for card in add:
                place = self.of.pop(card, None)
                if place is None:
                    raise Misplaced("a card is shuffled that has no known place")
                del self.at[place]
                rest.append(place)
            content.cards = [Message(op=op, position=position) for op, position in rest]
            size = len(rest)
        made = self.operation("shuffle", content)
        self.piles[number] = _Pile(made.index, 0, size)
        return made

    def restock(self, due: Chance | None) -> Message:
        """The next shuffle that the deal which is due needs on its way."""
        if not isinstance(due, Deal):
            raise Misplaced("a restock where no deal is due")
        if self.layout is None:
            self.lay_out(due)
        if not self.restocks:
            raise Misplaced("a restock of a pile that does not run out")
        return self.restocks.pop(0)

    def lay_out(self, deal: Deal) -> None:
        """Takes the places of a deal of a known size off the piles, restocks included."""
        self.layout = []
        for part in deal.parts:
            if part.until is not None:
                raise Misplaced("a deal of unknown size needs no restock")
            for taken in range(part.count):
                if part.restock is not None and part.restock.after == taken:
                    self.restocks.append(self.shuffle(part.pile, part.restock.cards))
                self.layout.append(self.take(part.pile))

    def places_of(self, deal: Deal, count: int) -> list[Place]:
        """Where the cards of a deal come from; its restocks must be on record before."""
        if len(deal.parts) == 1 and deal.parts[0].until is not None:
            return [self.take(deal.parts[0].pile) for _ in range(count)]
        if self.layout is None:
            self.lay_out(deal)
        if self.restocks:
            raise Misplaced("cards before the restock they need")
        places, self.layout = self.layout, None
        assert places is not None
        return places

    def take(self, number: int) -> Place:
        """The top card's place."""
        pile = self.piles.get(number, _Pile())
        if pile.next >= pile.size:
            raise Misplaced("more cards leave a pile than it has")
        pile.next += 1
        return (pile.op, pile.next - 1)

    def learn(self, place: Place, card: int) -> None:
        """Which card lies there."""
        self.of[card] = place
        self.at[place] = card

    def card(self, ref: Any) -> int:
        """The card that a record names by its place."""
        found = self.at.get((ref.op, ref.position))
        if found is None:
            raise Misplaced("a card is named that has no known place")
        return found
