"""Knows a betting round: who may do what, whose turn it is, and when it is over."""

from __future__ import annotations

from .core import Core
from .kinds import CHECK, FOLD, Ask, Move, Play, Refused


def held(core: Core) -> bool:
    """Whether a betting round would start now: at least two can still bet."""
    return sum(core.able(player) for player in core.live) >= 2


class Bets:
    """One betting round."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.high = 0
        """The highest total of the round."""
        self.size = core.rules.least_bet
        """The least size of a full bet or raise."""
        self.paid = [0] * core.count
        self.acted = [False] * core.count
        self.may_lift = [True] * core.count
        self.next_place = 0

    def turn(self) -> int | None:
        """Whose turn it is; nobody's once the round is over."""
        count = self.core.count
        for step in range(count):
            player = (self.next_place + step) % count
            behind = not self.acted[player] or self.paid[player] < self.high
            if self.core.able(player) and behind:
                return player
        return None

    def reopen(self, caller: int) -> None:
        """Everybody acts again, from the caller; bets made so far and the least size stand."""
        self.acted = [False] * self.core.count
        self.may_lift = [True] * self.core.count
        self.next_place = caller

    def default(self, player: int) -> Move:
        """What the clock takes."""
        return CHECK if self.paid[player] == self.high else FOLD

    def act(self, player: int, move: Move) -> bool:
        """Makes a betting action; whether it lifted what is to be matched."""
        before = self.high
        due = self.high - self.paid[player]
        if move.kind == "fold":
            self.core.fold(player)
        elif move.kind == "check" and due == 0:
            pass
        elif move.kind == "match" and due > 0:
            self._pay(player, min(due, self.core.stacks[player]))
        elif move.kind == "bet" and due == 0:
            self._lift(player, move.amount)
        elif move.kind == "raise" and due > 0:
            self._lift(player, move.amount - self.high)
        else:
            raise Refused(f"{move.kind} is no betting action here")
        self.acted[player] = True
        self.may_lift[player] = False
        self.next_place = player + 1
        return self.high > before

    def _lift(self, player: int, size: int) -> None:
        core, rules = self.core, self.core.rules
        total = self.high + size
        costs = total - self.paid[player]
        if size < 1 or costs > core.stacks[player]:
            raise Refused("the bet is more than the stack, or nothing")
        if not self.may_lift[player]:
            raise Refused("nobody has made a full bet or raise since this player acted")
        if not any(core.able(other) for other in core.live - {player}):
            raise Refused("there is nobody else who could match")
        if size < self.size and costs != core.stacks[player]:
            raise Refused(f"the least size is {self.size}")
        if 0 < rules.number("max_raise") < size:
            raise Refused("the size is above the cap")
        if 0 < rules.number("max_round_total") < total:
            raise Refused("the round's total is above the cap")
        bets = core.paid[player] - rules.number("hand_ante") + costs
        if 0 < rules.number("max_hand_total") < bets:
            raise Refused("the hand's total is above the cap")
        if 0 < rules.number("max_pot") < sum(core.paid) + core.carried_pot + costs:
            raise Refused("the pot would be above the cap")
        self._pay(player, costs)
        self.high = total
        if size >= self.size:
            self.size = size
            self.may_lift = [True] * core.count

    def _pay(self, player: int, amount: int) -> None:
        self.core.put_in(player, amount)
        self.paid[player] += amount


def betting_round(core: Core) -> Play:
    """A whole round without declarations, where one can be held."""
    if not held(core):
        return
    bets = Bets(core)
    while (player := bets.turn()) is not None:
        move = yield Ask(player, bets.default(player))
        bets.act(player, move)
        core.end_if_one_left()
    core.return_uncalled()
