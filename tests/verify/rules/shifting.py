"""Knows the games whose cards shift, `electronic` and `dice`: what both have in common."""

from __future__ import annotations

from . import betting
from .betting import Bets
from .core import Core
from .kinds import STAND, Ask, Move, Play, Pulse, Refused, Roll
from .s76 import Showdown


class Shifting:
    """One hand. `reopens`: after the hand is called everybody acts again."""

    def __init__(self, core: Core, reopens: bool) -> None:
        self.core = core
        self.reopens = reopens
        self.round = 1
        self.called = False

    def play(self) -> Play:
        """Antes, two cards each, cycles, reveal."""
        core, rules = self.core, self.core.rules
        core.take_antes()
        yield from core.fresh(0)
        for player in core.players:
            yield from core.deal_hand(player, 2, "opening")
        while True:
            for player in core.players:
                yield from self.turn(player)
                yield from self.perhaps_shift()
            if betting.held(core):
                yield from self.betting_round()
                yield from self.perhaps_shift()
            elif self.may_be_called:
                break
            if self.called or self.round >= rules.number("max_rounds"):
                break
            if core.nobody_decides and rules.word("shift") == "none":
                break
            self.round += 1
        yield from Showdown(core, closest=False).run()

    @property
    def may_be_called(self) -> bool:
        """Whether the pot has been built for long enough."""
        return self.round > self.core.rules.number("pot_building_rounds")

    def turn(self, player: int) -> Play:
        """Perhaps into the field and out of it, then one action."""
        core = self.core
        locked: int | None = None
        unlocked: int | None = None
        while True:
            move: Move = yield Ask(player, STAND, secret=frozenset({"trade"}))
            cards, field = core.cards[player], core.open[player]
            loose = [card for card in cards if card not in field]
            if move.kind == "lock" and core.rules.flag("field") and locked is None:
                (locked,) = core.named(move.cards, [one for one in loose if one != unlocked])
                field.add(locked)
            elif move.kind == "unlock" and unlocked is None:
                (unlocked,) = core.named(move.cards, [c for c in cards if c in field - {locked}])
                field.remove(unlocked)
            elif move.kind in ("draw", "trade", "stand"):
                yield from action(core, player, move, loose)
                return
            else:
                raise Refused(f"{move.kind} is no action here")

    def betting_round(self) -> Play:
        """A betting round in which the hand may be called."""
        core = self.core
        bets = Bets(core)
        while (player := bets.turn()) is not None:
            move = yield Ask(player, bets.default(player))
            if move.kind == "call-hand":
                if self.called or not self.may_be_called:
                    raise Refused("the hand cannot be called now")
                self.called = True
                if self.reopens:
                    bets.reopen(player)
                continue
            bets.act(player, move)
            core.end_if_one_left()
        core.return_uncalled()

    def perhaps_shift(self) -> Play:
        """Dice or a pulse say whether the cards shift."""
        shift = self.core.rules.word("shift")
        if shift == "none":
            return
        if shift == "pulse":
            shifts = yield Pulse(self.ppm())
        else:
            count, sides = (int(number) for number in shift.split("d"))
            faces = yield Roll((sides,) * count, "shift")
            number = self.core.rules.number("shift_number")
            shifts = faces[0] == (faces[1] if count == 2 else number)
        if shifts:
            yield from self.shift()

    def ppm(self) -> int:
        """The probability of a shift: given, or one in a hand of the shortest length."""
        rules = self.core.rules
        points = (rules.number("pot_building_rounds") + 1) * (self.core.count + 1)
        return rules.number("pulse_ppm") or 1_000_000 // points

    def shift(self) -> Play:
        """The unlocked cards of everybody live are exchanged."""
        core = self.core
        taken: list[int] = []
        counts: dict[int, int] = {}
        for player in core.players:
            loose = [card for card in core.cards[player] if card not in core.open[player]]
            core.cards[player] = [c for c in core.cards[player] if c in core.open[player]]
            counts[player] = len(loose)
            taken += loose
        if taken or core.piles[0].draw:
            yield from core.shuffle(0, taken)
        for player, count in counts.items():
            yield from core.deal_hand(player, count, "shift")


def action(core: Core, player: int, move: Move, loose: list[int]) -> Play:
    """Draw, trade or stand."""
    if move.kind == "stand":
        return
    if core.piles[0].available == 0:
        raise Refused("there is no card left to draw")
    if move.kind == "draw":
        yield from core.deal_hand(player, 1, "draw")
    elif move.kind == "trade":
        (card,) = core.named(move.cards, loose)
        core.cards[player].remove(card)
        core.discard(0, card)
        yield from core.deal_hand(player, 1, "trade")
    else:
        raise Refused(f"{move.kind} is no action here")
