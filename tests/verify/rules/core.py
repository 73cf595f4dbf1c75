"""Knows what all games share: stacks, pots, piles, hands, and the lines of a settlement.

Cards that are dealt lie in a hand (`cards`, newest last; those in `open` face up in the field) or
beside it (`extra`). What was folded stays in `cards` for whoever wants to look at it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ..decks import Deck
from .kinds import Deal, Part, Refused, Restock, Shuffle
from .ruleset import RuleSet

FACE_UP = ("tie", "flip", "extra", "alignment")


class OneLeft(Exception):
    """Everybody but one has folded: the hand is over at once."""


class Pile:
    """A draw pile, of which only the content is known, and its discards, top last."""

    def __init__(self, ids: range, open_discards: bool) -> None:
        self.ids = ids
        self.open_discards = open_discards
        self.draw: set[int] = set()
        self.discards: list[int] = []

    @property
    def available(self) -> int:
        """How many cards can still be dealt."""
        staying = 1 if self.open_discards else 0
        return len(self.draw) + max(len(self.discards) - staying, 0)

    def plan(self, number: int, count: int) -> Part:
        """A deal of so many cards, or of as many as there are, restocked on the way."""
        count = min(count, self.available)
        have = len(self.draw)
        if count <= have:
            return Part(number, count)
        at = len(self.discards) - (1 if self.open_discards else 0)
        under, self.discards = self.discards[:at], self.discards[at:]
        return Part(number, count, Restock(have, tuple(under)))


class Core:
    """A hand's table. Players count from 0: p1 is player 0."""

    def __init__(
        self, rules: RuleSet, deck: Deck, stacks: list[int], pots: tuple[int, int]
    ) -> None:
        count = len(stacks)
        self.rules = rules
        self.deck = deck
        self.count = count
        self.stacks = list(stacks)
        self.sabacc_pot, self.carried_pot = pots
        self.paid = [0] * count
        """Into the Hand Pot."""
        self.rake = 0
        self.live = set(range(count))
        self.left: set[int] = set()
        self.cards: list[list[int]] = [[] for _ in range(count)]
        self.open: list[set[int]] = [set() for _ in range(count)]
        self.extra: list[list[int]] = [[] for _ in range(count)]
        self.piles: list[Pile] = []
        self.lines: list[str] = []
        self.shown: set[int] = set()
        self.sabacc_paid = [0] * count
        self.sabacc_won = False
        self.winners: list[int] = []
        """Of the main layer."""
        self.ranks: list[str | None] = [None] * count
        self.named_cards: list[int] = []
        """What moves have named, each as the copy that is meant."""

    # Players.

    @property
    def players(self) -> list[int]:
        """Those who are live, p1 first."""
        return sorted(self.live)

    @property
    def nobody_decides(self) -> bool:
        """Everybody live has left: without chance nothing changes, however long it goes on."""
        return self.live <= self.left

    def able(self, player: int) -> bool:
        """Live and not all-in."""
        return player in self.live and self.stacks[player] > 0

    def fold(self, player: int) -> None:
        """Out of the hand; the cards go face down to the discards, and folding may cost."""
        self.live.discard(player)
        self.ranks[player] = "folded"
        self.bury(0, self.cards[player])
        self.pay_sabacc(player, self.rules.number("fold_penalty"))

    def end_if_one_left(self) -> None:
        """Ends the hand where everybody else has folded."""
        if len(self.live) == 1:
            raise OneLeft

    # Credits.

    def take_antes(self) -> None:
        """From everybody, as the rule set has them."""
        sabacc = self.rules.sabacc_ante_due(self.sabacc_pot)
        for player in range(self.count):
            self.put_in(player, self.rules.number("hand_ante"))
            self.stacks[player] -= sabacc
            self.sabacc_pot += sabacc
            self.sabacc_paid[player] += sabacc

    def put_in(self, player: int, amount: int) -> None:
        """From a stack into the Hand Pot."""
        self.stacks[player] -= amount
        self.paid[player] += amount

    def pay_sabacc(self, player: int, due: int) -> None:
        """From a stack into the Sabacc Pot, up to the stack."""
        if due == 0:
            return
        paid = min(due, self.stacks[player])
        self.stacks[player] -= paid
        self.sabacc_pot += paid
        self.sabacc_paid[player] += paid
        short = f" short {due - paid}" if due > paid else ""
        self.line(f"p{player + 1} pays sabacc {paid}{short}")

    def return_uncalled(self) -> None:
        """What the highest contribution exceeds the second highest by goes back."""
        order = sorted(range(self.count), key=lambda player: self.paid[player])
        most = order[-1]
        surplus = self.paid[most] - self.paid[order[-2]]
        if surplus > 0:
            self.put_in(most, -surplus)
            self.line(f"p{most + 1} returned {surplus}")

    def split(self, amount: int, winners: Iterable[int], pot: str) -> None:
        """Pays a pot out in equal shares; odd credits go one each, p1 first."""
        ordered = sorted(winners)
        share, odd = divmod(amount, len(ordered))
        for at, player in enumerate(ordered):
            won = share + (1 if at < odd else 0)
            self.stacks[player] += won
            if won > 0:
                self.line(f"p{player + 1} wins {pot} {won}")

    def line(self, text: str) -> None:
        """The next line of the settlement."""
        self.lines.append(text)

    # Cards.

    def discard(self, pile: int, card: int) -> None:
        """On top of the discards."""
        self.piles[pile].discards.append(card)

    def bury(self, pile: int, cards: Iterable[int]) -> None:
        """A whole hand, face down: under discards whose top lies open."""
        discards = self.piles[pile].discards
        at = 0 if self.piles[pile].open_discards else len(discards)
        discards[at:at] = list(cards)

    def named(self, cards: tuple[int, ...], held: Iterable[int]) -> list[int]:
        """The cards a move names, each once; of copies that are alike the one held longest."""
        rest = list(held)
        found = []
        for card in cards:
            code = self.deck.codes[card]
            alike = next((one for one in rest if self.deck.codes[one] == code), None)
            if alike is None:
                raise Refused(f"{code} cannot be named here")
            rest.remove(alike)
            found.append(alike)
        self.named_cards += found
        return found

    def fresh(self, pile: int) -> Generator[Any, Any, None]:
        """The first shuffle of a pile, of all its cards."""
        yield from self.shuffle(pile, self.piles[pile].ids)

    def shuffle(self, pile: int, add: Iterable[int]) -> Generator[Any, Any, None]:
        """Cards that lie nowhere else go into the draw pile, which is shuffled."""
        cards = tuple(add)
        self.piles[pile].draw |= set(cards)
        yield Shuffle(pile, cards)

    def deal(self, player: int | None, pile: int, count: int, why: str) -> Any:
        """Deals from one pile, fewer cards where there are fewer; gives the cards."""
        part = self.piles[pile].plan(pile, count)
        if part.count == 0:
            return []
        shown = player is None or why in FACE_UP
        return (yield Deal(player, (part,), shown, why))

    def deal_hand(self, player: int, count: int, why: str) -> Any:
        """Deals into a player's hand."""
        self.cards[player] += yield from self.deal(player, 0, count, why)

    def deal_each(self, player: int | None, why: str) -> Any:
        """One card from each pile, as one deal."""
        parts = [pile.plan(number, 1) for number, pile in enumerate(self.piles)]
        there = tuple(part for part in parts if part.count > 0)
        if not there:
            return []
        return (yield Deal(player, there, player is None, why))

    def dealt(self, deal: Deal, cards: list[int]) -> None:
        """Takes the cards of a deal off the piles, where they can be what it gives."""
        rest = list(cards)
        for part in deal.parts:
            draw = self.piles[part.pile].draw
            taken = 0
            while taken < part.count if part.until is None else True:
                if part.restock is not None and part.restock.after == taken:
                    draw |= set(part.restock.cards)
                if not rest or rest[0] not in draw:
                    raise Refused("a card is dealt that is not in the pile, or too few are")
                card = rest.pop(0)
                draw.remove(card)
                taken += 1
                if part.until is not None and card in part.until:
                    break
        if rest:
            raise Refused("more cards are dealt than are due")
