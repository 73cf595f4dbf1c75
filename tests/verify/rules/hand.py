"""Knows how a hand is driven: what is due, who may decide, and how it ended.

A hand is given what chance gave and what players decided, in order, and says what comes next. It
refuses what the rules do not allow; after a refusal it cannot go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import work
from ..decks import C62, K44, P42, S76, Deck
from . import coruscant, dice, electronic, eleven, force, kessel, pots, spike, swg
from .core import Core, OneLeft, Pile
from .kinds import (
    Ask, Chance, Deal, Left, Move, Pick, Play, Pulse, Question, Refused, Roll, Sample, Shuffle,
)
from .ruleset import MAX_CREDITS, RuleSet


@dataclass(frozen=True)
class Game:
    """A game as data."""

    play: Callable[[Core], Play]
    deck: Deck
    most: int
    """Seats; two are the least."""
    sabacc_pot: bool = False
    carried_pot: bool = False
    open_discards: bool = False
    piles: int = 1


GAMES = {
    "coruscant": Game(coruscant.play, C62, 6),
    "dice": Game(dice.play, S76, 8, sabacc_pot=True),
    "electronic": Game(electronic.play, S76, 8, sabacc_pot=True),
    "eleven": Game(eleven.play, P42, 7, carried_pot=True),
    "force": Game(force.play, S76, 8, carried_pot=True),
    "kessel": Game(kessel.play, K44, 6, open_discards=True, piles=2),
    "spike": Game(spike.play, C62, 8, sabacc_pot=True, open_discards=True),
    "swg": Game(swg.play, S76, 8, sabacc_pot=True),
}


class Hand:
    """A hand in play. `pots`: the Sabacc Pot and the carried pot before it."""

    def __init__(
        self, rules: RuleSet, seats: list[int], stacks: list[int], pots_before: tuple[int, int]
    ) -> None:
        self.game = GAMES[rules.variant]
        _check_setup(rules, seats, stacks, pots_before)
        self.core = Core(rules, self.game.deck, stacks, pots_before)
        size = len(self.game.deck.codes) // self.game.piles
        self.core.piles = [
            Pile(range(at * size, (at + 1) * size), self.game.open_discards)
            for at in range(self.game.piles)
        ]
        self.due: Question | None = None
        self._play = self.game.play(self.core)
        self._advance(None)

    @property
    def over(self) -> bool:
        """Whether the hand is settled."""
        return self.due is None

    @property
    def chance(self) -> Chance | None:
        """The use of chance that is due."""
        return None if isinstance(self.due, Ask) else self.due

    @property
    def to_act(self) -> int | None:
        """Whose decision is due."""
        return self.due.player if isinstance(self.due, Ask) else None

    @property
    def total(self) -> int:
        """All credits of the hand: the same at any time."""
        core = self.core
        return sum(core.stacks) + sum(core.paid) + core.sabacc_pot + core.carried_pot + core.rake

    def give(self, outcome: Any) -> None:
        """What chance gave."""
        due = self.chance
        if due is None:
            raise Refused("no use of chance is due")
        if isinstance(due, Deal):
            self.core.dealt(due, outcome)
        elif not _fits(due, outcome):
            raise Refused("chance cannot give this")
        self._advance(outcome)

    def decide(self, player: int, move: Move) -> None:
        """A decision of a player."""
        due = self.due
        if not isinstance(due, Ask):
            raise Refused("no decision is due")
        if not 0 <= player < self.core.count or player in self.core.left:
            raise Refused("this player is not in the hand, or has left")
        if move.kind == "leave":
            self.core.left.add(player)
            if due.hears_leaves:
                self._advance(Left(player))
            else:
                self._defaults()
            return
        if player != due.player:
            raise Refused(f"it is p{due.player + 1}'s turn")
        self._advance(move)

    def _advance(self, answer: Any) -> None:
        self._send(answer)
        self._defaults()

    def _send(self, answer: Any) -> None:
        work.step()
        try:
            self.due = self._play.send(answer)
        except StopIteration:
            self.due = None
        except OneLeft:
            pots.one_left(self.core)
            self.due = None

    def _defaults(self) -> None:
        """Whoever left decides by default, at once."""
        while isinstance(self.due, Ask) and self.due.player in self.core.left:
            self._send(self.due.default)


def _check_setup(
    rules: RuleSet, seats: list[int], stacks: list[int], pots_before: tuple[int, int]
) -> None:
    game = GAMES[rules.variant]
    count = len(seats)
    least, most = (rules.exactly,) * 2 if rules.exactly else (2, game.most)
    if not least <= count <= most or len(stacks) != count:
        raise Refused(f"these rules are for {least} to {most} players")
    if sum(one >= other for one, other in zip(seats, seats[1:] + seats[:1])) != 1:
        raise Refused("the seats do not ascend but for one wrap")
    sabacc, carried = pots_before
    if (sabacc and not game.sabacc_pot) or (carried and not game.carried_pot):
        raise Refused("the game has no such pot")
    antes = rules.number("hand_ante") + rules.sabacc_ante_due(sabacc)
    if min(stacks) < max(antes, rules.stake, 1):
        raise Refused("a stack is too small to be dealt in")
    if sum(stacks) + sabacc + carried > MAX_CREDITS:
        raise Refused("there are more credits than there can be")


def _fits(due: Chance, outcome: Any) -> bool:
    """Whether a use of chance can give this."""
    if isinstance(due, Shuffle):
        return outcome is None
    if isinstance(due, Roll):
        return len(outcome) == len(due.sides) and all(
            1 <= face <= sides for face, sides in zip(outcome, due.sides)
        )
    if isinstance(due, Pulse):
        return isinstance(outcome, bool) and outcome in {0: [False], 10**6: [True]}.get(
            due.ppm, [False, True]
        )
    if isinstance(due, Pick):
        return 0 <= outcome < due.n
    assert isinstance(due, Sample)
    return len(set(outcome)) == len(outcome) == due.k and all(0 <= o < due.n for o in outcome)
