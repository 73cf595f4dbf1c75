"""Knows the shift tokens: when each may be played, and what it does at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kessel_ranks import pile_of
from .kinds import Ask, Move, Play, Refused, Roll

if TYPE_CHECKING:
    from .kessel import Kessel

TARGETED = ("target-tariff", "target-audit", "exhaustion", "direct-transaction")
REFUNDS = {"refund": 2, "extra-refund": 3}


def play_token(game: Kessel, player: int, move: Move) -> Play:
    """Plays a token, where it may be; the token is spent."""
    if len(move.names) != 1 or move.names[0] not in game.tokens[player]:
        raise Refused("the player does not have this token")
    (name,) = move.names
    target = move.target
    if (target is not None) != (name in TARGETED):
        raise Refused("a target is missing, or too much")
    _check(game, player, name, target)
    game.tokens[player].remove(name)
    if name == "prime-sabacc":
        dice = yield Roll((6, 6), "prime", player)
        pick = yield from game.ask(Ask(player, Move("prime", value=dice[0]), True))
        if pick.kind != "prime" or pick.value not in dice:
            raise Refused("one of the two dice is to be picked")
        game.fixes.prime = pick.value
    elif name == "exhaustion":
        assert target is not None
        yield from _exhaust(game, target)
    else:
        _at_once(game, player, name, target)


def _check(game: Kessel, player: int, name: str, target: int | None) -> None:
    """Refuses a token that may not be played now."""
    if target is not None:
        if target == player or target not in game.core.live or target in game.immune:
            raise Refused("the target is not another live player who is not immune")
        if name == "target-audit" and target not in game.standing:
            raise Refused("the target is not in stand")
    if name in REFUNDS and game.pot[player] == 0:
        raise Refused("there is nothing to take back")
    if name == "cook-the-books" and game.fixes.cooked:
        raise Refused("the books are cooked already")
    if name == "embargo" and game.next_in_turn(player) is None:
        raise Refused("nobody comes after the last turn of a round")


def _at_once(game: Kessel, player: int, name: str, target: int | None) -> None:
    """What a token does without asking anybody."""
    others = [other for other in game.core.players if other != player]
    touched = [other for other in others if other not in game.immune]
    if name == "free-draw":
        game.free_draw = True
    elif name in REFUNDS:
        back = min(REFUNDS[name], game.pot[player])
        game.pot[player] -= back
        game.stock[player] += back
    elif name == "embezzlement":
        for other in touched:
            if game.pot[other] > 0:
                game.pot[other] -= 1
                game.pot[player] += 1
    elif name == "general-tariff":
        for other in touched:
            game.tax(other, 1)
    elif name == "general-audit":
        for other in touched:
            if other in game.standing:
                game.tax(other, 2)
    elif name in ("target-tariff", "target-audit"):
        assert target is not None
        game.tax(target, 2 if name == "target-tariff" else 3)
    elif name == "markdown":
        game.fixes.markdown = True
    elif name == "cook-the-books":
        game.fixes.cooked = True
    elif name == "major-fraud":
        game.fixes.fraud = True
    elif name == "embargo":
        following = game.next_in_turn(player)
        if following is not None and following not in game.immune:
            game.embargoed.add(following)
    elif name == "immunity":
        game.immune.add(player)
    elif name == "direct-transaction":
        assert target is not None
        cards = game.core.cards
        cards[player], cards[target] = cards[target], cards[player]
    else:
        raise Refused(f"there is no token {name}")


def _exhaust(game: Kessel, target: int) -> Play:
    """The target's cards go on their piles, Sand first, and one of each is dealt."""
    core = game.core
    for card in sorted(core.cards[target], key=pile_of):
        core.discard(pile_of(card), card)
    core.cards[target] = []
    core.cards[target] += yield from core.deal_each(target, "exhaustion")
