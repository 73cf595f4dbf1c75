"""Knows what a hand that came to nothing held: what seed and numbers give up to the first decision.

Of a number that was burnt before its antes that takes every number that its closing names: of one
that was never opened nobody can say what it would have been.
"""

from __future__ import annotations

from . import entropy, fair, promises
from .case import Case, Trouble
from .dealing import Dealing, outcome_of
from .entropy import Brought
from .fair import Chance
from .places import Misplaced
from .promise import promise
from .proto import Message
from .rules.kinds import Deal, Pick, Pulse, Refused, Roll, Shuffle
from .walk import set_up

MOST = 100
"""Uses of chance that are told."""


def told(case: Case) -> str:
    """In words, with what comes before them; nothing where the records do not say."""
    try:
        return _sealed(case) if case.find("HandSealed") is not None else _unsealed(case)
    except (Trouble, Misplaced, Refused):
        return ""


def _sealed(case: Case) -> str:
    return f"Its seed held, up to the first decision: {_dealt(case, promises.chance(case))}"


def _unsealed(case: Case) -> str:
    made = promise(case)
    if case.find("EntropyClosed") is None:
        return ""
    found = entropy.brought(case, made)
    shut = [seat for seat in found.silent if seat not in found.late]
    if shut:
        whose = " and ".join(f"seat {seat}" for seat in shut)
        return f"What it would have been takes the number of {whose} too, which nobody opened"
    rows = [_row(found, place) for place in case.roster]
    chance = Chance(promises.bind(made, rows), case.one("SeedOpened").event.seed)
    return f"It would have been, up to the first decision: {_dealt(case, chance)}"


def _row(found: Brought, place: Message) -> Message:
    """A seat's row, as if it had revealed in time."""
    closed = found.rows.get(place.seat)
    shown = found.revealed.get(place.seat) or found.late.get(place.seat)
    if closed is None or shown is None:
        given = Message(status=fair.ABSENT, commitment=b"", entropy=b"")
    else:
        given = Message(
            status=fair.REVEALED, commitment=closed.commitment, entropy=shown.entropy
        )
    return Message(seat=place.seat, player_id=place.player_id, **vars(given))


def _dealt(case: Case, chance: Chance) -> str:
    opened = case.one("HandOpened").event
    seats = [seat.seat for seat in opened.roster]
    dealing = Dealing(set_up(opened), chance, seats)
    found: list[str] = []
    while (due := dealing.hand.chance) is not None and len(found) < MOST:
        if isinstance(due, Deal):
            dealing.foresee_deal(due)
            places, _ = dealing.dealt_ahead[-1]
            codes = dealing.hand.core.deck.codes
            where = "on the table" if due.player is None else f"seat {seats[due.player]}"
            found.append(f"{where}: {' '.join(codes[dealing.face(place)] for place in places)}")
            continue
        values = dealing.foresee(dealing.places.ask(due))
        dealing.hand.give(outcome_of(due, values))
        found += [] if isinstance(due, Shuffle) else [_words(due, values)]
    return "; ".join(found) or "nothing"


def _words(due: object, values: list[int]) -> str:
    if isinstance(due, Pulse):
        return "a pulse" if values == [1] else "no pulse"
    what = "dice" if isinstance(due, Roll) else "pick" if isinstance(due, Pick) else "sample"
    return f"{what}: {' '.join(map(str, values))}"
