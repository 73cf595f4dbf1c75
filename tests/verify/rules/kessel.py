"""Knows `kessel`: a whole game of rounds, played with chips and shift tokens.

A player who leaves forfeits at once, whoever's decision is due. So every decision is asked for
through `ask`, which takes notice of who leaves on the way.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import product
from typing import Any

from . import pots
from .core import Core
from .kessel_ranks import Fixes, Worth, is_impostor, pile_of, worth_of
from .kessel_tokens import play_token
from .kinds import STAND, TOKENS, Ask, Left, Move, Pick, Play, Refused, Roll, Sample
from .pots import Layer

LAPS = 3
SOURCES = ("sand", "blood", "sand-discard", "blood-discard")
CHOSEN = frozenset({"impostor"})
DRAFTED = frozenset({"choose"})


class _GameOver(Exception):
    """One player is left because the others left the table."""


class _TurnOver(Exception):
    """The player whose decision was due has left."""


class Kessel:
    """One game. Players who are eliminated or gone are no longer live."""

    def __init__(self, core: Core) -> None:
        chips = core.rules.number("chips")
        self.core = core
        self.stock = [chips] * core.count
        self.pot = [0] * core.count
        self.tokens: list[list[str]] = [[] for _ in range(core.count)]
        self.starter = 0
        self.round = 0
        self.lap = 1
        self.free_draw = False
        self.new_round()

    def new_round(self) -> None:
        """What tokens and turns changed is over."""
        self.round += 1
        self.fixes = Fixes()
        self.immune: set[int] = set()
        self.embargoed: set[int] = set()
        self.standing: set[int] = set()

    def play(self) -> Play:
        """Tokens, starter, rounds."""
        core = self.core
        for player in range(core.count):
            core.put_in(player, core.rules.stake)
        try:
            yield from self.deal_tokens()
            self.starter = core.players[(yield Pick(len(core.live)))]
            for pile in (0, 1):
                yield from core.fresh(pile)
            while True:
                yield from self.deal_round()
                yield from self.turns()
                winners = yield from self.reveal()
                if self.settle_round(winners):
                    return
                yield from self.gather()
        except _GameOver:
            self.pay(core.players, contested=False)

    def ask(self, ask: Ask) -> Generator[Any, Any, Move]:
        """Asks for a decision, again where somebody else leaves first."""
        while True:
            answer = yield ask
            if not isinstance(answer, Left):
                return answer
            self.leaves(answer.player)
            if answer.player == ask.player:
                raise _TurnOver

    def leaves(self, player: int) -> None:
        """Out of the game, with chips and cards."""
        core = self.core
        if player not in core.live:
            return
        core.live.discard(player)
        core.ranks[player] = "left"
        if len(core.live) == 1:
            raise _GameOver

    def tax(self, player: int, chips: int) -> None:
        """Chips from stock that are lost for good."""
        self.stock[player] -= min(chips, self.stock[player])

    # The start.

    def deal_tokens(self) -> Play:
        """Three different kinds each: by chance, chosen, or assigned."""
        core = self.core
        how = core.rules.word("tokens")
        for player in range(core.count):
            if how == "random":
                kinds = yield Sample(len(TOKENS), 3, player)
                self.tokens[player] = [TOKENS[kind] for kind in kinds]
            elif how == "assigned":
                self.tokens[player] = list(core.rules.tokens_of(player))
            elif player in core.live:
                yield from self.draft(player)

    def draft(self, player: int) -> Play:
        """A player chooses his kinds."""
        default = Move("choose", names=TOKENS[:3])
        try:
            move = yield from self.ask(Ask(player, default, True, DRAFTED))
        except _TurnOver:
            return
        names = move.names
        if move.kind != "choose" or len(set(names)) != 3 or not set(names) <= set(TOKENS):
            raise Refused("three different tokens are to be chosen")
        self.tokens[player] = list(names)

    def deal_round(self) -> Play:
        """One card of each family starts its discards, then one of each for everybody."""
        core = self.core
        for card in (yield from core.deal_each(None, "flip")):
            core.discard(pile_of(card), card)
        for player in core.players:
            core.cards[player] += yield from core.deal_each(player, "opening")

    def gather(self) -> Play:
        """All cards go back for the next round, which the next one still in starts."""
        core = self.core
        self.new_round()
        self.starter = self.clockwise(self.starter)[0]
        for number, pile in enumerate(core.piles):
            back, pile.discards = pile.discards, []
            for hand in core.cards:
                back += [card for card in hand if pile_of(card) == number]
            yield from core.shuffle(number, back)
            core.cards = [[c for c in hand if pile_of(c) != number] for hand in core.cards]
        core.shown = set()
        for player in core.live:
            core.ranks[player] = None

    # Turns.

    def clockwise(self, player: int) -> list[int]:
        """Those still in who come after a player, the next one first, himself last."""
        count = self.core.count
        order = ((player + step) % count for step in range(1, count + 1))
        return [other for other in order if other in self.core.live]

    def lap_order(self) -> list[int]:
        """Those still in, from the starter or whoever comes first after him."""
        count = self.core.count
        order = ((self.starter + step) % count for step in range(count))
        return [player for player in order if player in self.core.live]

    def following(self, player: int) -> int | None:
        """Whose turn is next in this lap; nobody's after the last."""
        count = self.core.count
        for place in range((player - self.starter) % count + 1, count):
            other = (self.starter + place) % count
            if other in self.core.live:
                return other
        return None

    def next_in_turn(self, player: int) -> int | None:
        """Whose turn is next in this round."""
        following = self.following(player)
        if following is None and self.lap < LAPS:
            return self.lap_order()[0]
        return following

    def turns(self) -> Play:
        """Three laps, fewer where all stand in the same one."""
        for self.lap in range(1, LAPS + 1):
            stood: set[int] = set()
            player: int | None = self.lap_order()[0]
            while player is not None:
                try:
                    if (yield from self.turn(player)):
                        stood.add(player)
                except _TurnOver:
                    pass
                self.embargoed.discard(player)
                player = self.following(player)
            if self.core.live <= stood:
                return

    def turn(self, player: int) -> Generator[Any, Any, bool]:
        """Perhaps a token, then an action; whether it was to stand."""
        self.free_draw = False
        move: Move = yield from self.ask(Ask(player, STAND, True))
        if move.kind == "token":
            yield from play_token(self, player, move)
            move = yield from self.ask(Ask(player, STAND, True))
        if move.kind == "stand":
            self.standing.add(player)
            return True
        if move.kind != "draw-from" or player in self.embargoed:
            raise Refused(f"{move.kind} is no action here")
        yield from self.draw(player, move.names)
        self.standing.discard(player)
        return False

    def draw(self, player: int, names: tuple[str, ...]) -> Play:
        """A card for a chip, and another one of its family off."""
        core = self.core
        if len(names) != 1 or names[0] not in SOURCES:
            raise Refused("there is no such pile")
        source = SOURCES.index(names[0])
        pile = core.piles[source % 2]
        if not (pile.discards if source >= 2 else pile.available):
            raise Refused("the pile is empty")
        if not self.free_draw:
            if self.stock[player] == 0:
                raise Refused("there is no chip to draw for")
            self.stock[player] -= 1
            self.pot[player] += 1
        if source >= 2:
            drawn = pile.discards.pop()
        else:
            (drawn,) = yield from core.deal(player, source % 2, 1, "draw")
        core.cards[player].append(drawn)
        move = yield from self.ask(Ask(player, Move("discard", cards=(drawn,)), True))
        if move.kind != "discard":
            raise Refused("a card is to be discarded")
        family = [card for card in core.cards[player] if pile_of(card) == source % 2]
        (card,) = core.named(move.cards, family)
        core.cards[player].remove(card)
        core.discard(source % 2, card)

    # The reveal.

    def reveal(self) -> Generator[Any, Any, list[int]]:
        """Impostors roll, then get their values; gives the winners of the round."""
        core = self.core
        core.shown = set(core.live)
        dice: dict[int, tuple[int, ...]] = {}
        owners: dict[int, int] = {}
        for player in core.players if not self.fixes.fraud else ():
            for card in sorted(filter(is_impostor, core.cards[player]), key=pile_of):
                dice[card] = tuple((yield Roll((6, 6), "impostor", player, card)))
                owners[card] = player
        chosen: dict[int, int] = {}
        for card, player in owners.items():
            if player in core.live:
                yield from self.choose_value(player, card, (dice, chosen, owners))
        worth = {player: self.worth(player, chosen) for player in core.players}
        for player, value in worth.items():
            core.ranks[player] = value.name()
        most = max(value.strength(self.fixes.cooked) for value in worth.values())
        self.round_worth = worth
        return [p for p in worth if worth[p].strength(self.fixes.cooked) == most]

    def choose_value(self, player: int, card: int, table: tuple[dict, dict, dict]) -> Play:
        """One Impostor takes the value of one of its dice, hidden until all have."""
        dice, chosen, owners = table

        def still_open() -> bool:
            waiting = [c for c in owners if c not in chosen and owners[c] in self.core.live]
            return len(waiting) > 1

        default = Move("impostor", (card,), value=self.best_die(player, card, dice, chosen))
        while True:
            secret = CHOSEN if still_open() else frozenset()
            answer = yield Ask(player, default, True, secret)
            if not isinstance(answer, Left):
                break
            self.leaves(answer.player)
            if answer.player == player:
                return
        if answer.kind != "impostor" or answer.value not in dice[card]:
            raise Refused("the Impostor takes one of its two dice")
        self.core.named(answer.cards, [card])
        chosen[card] = answer.value

    def best_die(self, player: int, card: int, dice: dict, chosen: dict[int, int]) -> int:
        """The die that serves the hand best, with what its other Impostor has or can have."""
        hand = self.core.cards[player]
        other = [one for one in hand if one in dice and one != card and one not in chosen]

        def best(value: int) -> tuple[int, int, int]:
            return max(
                worth_of(
                    hand, {**chosen, card: value, **dict(zip(other, values))}, self.fixes
                ).strength(self.fixes.cooked)
                for values in product(*(dice[one] for one in other))
            )

        first, second = dice[card]
        return second if best(second) > best(first) else first

    def worth(self, player: int, chosen: dict[int, int]) -> Worth:
        """What a player shows."""
        return worth_of(self.core.cards[player], chosen, self.fixes)

    # Settlement.

    def settle_round(self, winners: list[int]) -> bool:
        """Hand pots, payments, eliminations; whether the game is over."""
        core = self.core
        for player in core.players:
            if player in winners:
                self.stock[player] += self.pot[player]
            else:
                self.tax(player, self.round_worth[player].costs)
        self.pot = [0] * core.count
        for player in core.players:
            if self.stock[player] == 0:
                core.live.discard(player)
                core.line(f"p{player + 1} eliminated")
        if not core.live:
            self.pay(winners, contested=True)
        elif len(core.live) == 1:
            self.pay(core.players, contested=True)
        elif self.round >= core.rules.number("max_rounds"):
            most = max(self.stock[player] for player in core.live)
            self.pay([p for p in core.players if self.stock[p] == most], contested=True)
        else:
            return False
        return True

    def pay(self, winners: list[int], contested: bool) -> None:
        """The credits go to the winners, and the game is over."""
        core = self.core
        layer = Layer("credits", sum(core.paid), winners)
        core.paid = [0] * core.count
        rake = pots.raked(core, layer.amount) if contested else 0
        core.split(layer.amount - rake, winners, layer.name)
        core.winners = sorted(winners)
        pots.close(core)


def play(core: Core) -> Play:
    """One game."""
    return Kessel(core).play()
