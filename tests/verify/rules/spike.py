"""Knows `spike`: three rounds of gaining and swapping cards, and dice that may take all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

from ..decks import C62
from . import betting, pots
from .core import Core
from .kinds import STAND, Ask, Move, Play, Refused, Roll

ROUNDS = 3
MOST_CARDS = 5
BLIND_CARDS = 3
VALUES = tuple(0 if code == "Y" else int(code[1:]) for code in C62.codes)
LADDER = (
    "pure", "full", "fleet", "yee-haa", "rhylet", "squadron", "gee-whiz", "straight-khyron",
    "banthas-wild", "rule-of-two", "sabacc-pair", "sabacc", "nulrhek",
)
Worth = tuple[int, tuple[int, ...]]
"""How high on the ladder, and what decides among hands of the same name; more is better."""


def play(core: Core) -> Play:
    """One hand."""
    core.take_antes()
    yield from core.fresh(0)
    for player in core.players:
        yield from core.deal_hand(player, 2, "opening")
    for card in (yield from core.deal(None, 0, 1, "flip")):
        core.discard(0, card)
    for _ in range(ROUNDS):
        for player in core.players:
            move = yield Ask(player, STAND)
            yield from _action(core, player, move)
            core.end_if_one_left()
        first, second = yield Roll((6, 6), "shift")
        if first == second:
            yield from _redraw(core)
        if core.rules.word("preset") == "casino":
            yield from betting.betting_round(core)
    yield from _showdown(core)


def _action(core: Core, player: int, move: Move) -> Play:
    pile, hand = core.piles[0], core.cards[player]
    if move.kind == "junk":
        core.fold(player)
    elif move.kind == "gain":
        if pile.available == 0 or (not move.cards and len(hand) >= MOST_CARDS):
            raise Refused("no card can be gained")
        for card in core.named(move.cards, hand):
            hand.remove(card)
            core.discard(0, card)
        yield from core.deal_hand(player, 1, "draw")
    elif move.kind == "swap":
        (card,) = core.named(move.cards, hand)
        if not pile.discards:
            raise Refused("there is no discard to swap for")
        hand.remove(card)
        hand.append(pile.discards.pop())
        core.discard(0, card)
    elif move.kind != "stand":
        raise Refused(f"{move.kind} is no action here")


def _redraw(core: Core) -> Play:
    """Whole hands go under the discards, then everybody gets as many new cards."""
    counts = {player: len(core.cards[player]) for player in core.players}
    for player in core.players:
        core.bury(0, core.cards[player])
        core.cards[player] = []
    for player, count in counts.items():
        yield from core.deal_hand(player, count, "shift")


def _showdown(core: Core) -> Play:
    core.shown = set(core.live)
    worth = {player: worth_of([C62.codes[c] for c in core.cards[player]]) for player in core.live}
    for player in core.players:
        core.ranks[player] = LADDER[-worth[player][0]]
    layers = pots.layers(core)
    sabacc: list[int] = []
    for layer in layers:
        most = max(worth[player] for player in layer.players)
        tied = [player for player in layer.players if worth[player] == most]
        winners = yield from _blind(core, tied)
        pots.win(core, layer, winners)
        if layer.name == "main":
            zero = sum(VALUES[card] for card in core.cards[winners[0]]) == 0
            sabacc = winners if zero else []
    if sabacc:
        pots.win_sabacc(core, sabacc)
    pots.close(core)


def _blind(core: Core, tied: list[int]) -> Generator[Any, Any, list[int]]:
    """One blind card each, compared alone; those still equal draw again, three times at most."""
    for at in range(BLIND_CARDS):
        if len(tied) < 2:
            break
        need = [player for player in tied if len(core.extra[player]) <= at]
        if core.piles[0].available < len(need):
            break
        for player in need:
            core.extra[player] += yield from core.deal(player, 0, 1, "tie")
        values = {player: VALUES[core.extra[player][at]] for player in tied}
        best = max(_near_zero(value) for value in values.values())
        tied = [player for player in tied if _near_zero(values[player]) == best]
    return tied


def _near_zero(value: int) -> tuple[int, bool]:
    """Closer to 0, then positive."""
    return (-abs(value), value > 0)


def worth_of(codes: list[str]) -> Worth:
    """The highest place on the ladder that the hand fits."""
    values = [0 if code == "Y" else int(code[1:]) for code in codes]
    if sum(values) != 0:
        return (-LADDER.index("nulrhek"), (*_near_zero(sum(values)), *_plain(values)))
    sylops = codes.count("Y")
    rest = [value for value in values if value != 0]
    counts = Counter(abs(value) for value in rest)
    name, ties = _with_sylops(sylops, len(codes), counts) or _without(rest, len(codes), counts)
    if name in ("sabacc-pair", "sabacc"):
        ties = (*ties, *_plain(values))
    return (-LADDER.index(name), ties)


def _plain(values: list[int]) -> tuple[int, ...]:
    """More cards, then the higher sum of positives, then the higher single positive."""
    positive = [value for value in values if value > 0]
    return (len(values), sum(positive), max(positive, default=0))


def _with_sylops(
    sylops: int, size: int, counts: Counter[int]
) -> tuple[str, tuple[int, ...]] | None:
    """The four hands in which a Sylop is more than a plain 0."""
    if (sylops, size) == (2, 2):
        return "pure", ()
    if sylops != 1:
        return None
    if counts == {10: 4}:
        return "full", ()
    if len(counts) == 1 and size in (3, 5):
        ((value, count),) = counts.items()
        if count == size - 1:
            return ("fleet" if size == 5 else "yee-haa"), (-value,)
    return None


def _without(
    rest: list[int], size: int, counts: Counter[int]
) -> tuple[str, tuple[int, ...]]:
    """The hands in which no Sylop counts; all of them sum to 0."""
    signed = Counter(rest)
    threes = [value for value, count in signed.items() if count == 3]
    if size == 5 and len(signed) == 2 and threes:
        (three,) = threes
        (other,) = (value for value in signed if value != three)
        if three * other < 0:
            return "rhylet", (-abs(three),)
    if size == 4 and len(counts) == 1 and len(rest) == 4:
        return "squadron", (-abs(rest[0]),)
    if sorted(rest) in ([-10, 1, 2, 3, 4], [-4, -3, -2, -1, 10]):
        return "gee-whiz", ()
    run = sorted(counts)
    if size == 4 and len(run) == 4 and run[3] - run[0] == 3:
        return "straight-khyron", (-run[0],)
    three_alike = [value for value, count in counts.items() if count >= 3]
    if three_alike:
        return "banthas-wild", (-min(three_alike),)
    pairs = sorted(value for value, count in counts.items() if count >= 2)
    if len(pairs) >= 2:
        return "rule-of-two", (-pairs[0], -pairs[1])
    if pairs:
        return "sabacc-pair", (-pairs[0],)
    return "sabacc", ()
