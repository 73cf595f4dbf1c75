"""Check `openings`: every card that the dealer opened, to whom, why and when.

Each card that is dealt is opened once, to the seat it is dealt to, or to everybody where it lies
face up; a hand that is shown is opened once more. A table that lost its memory may ask again for
what was dealt already, for the same eyes. Anything else is a card that somebody looked at. Of a
hand that came to nothing the dealer may have opened what was due next or to be shown, and need not.
"""

from __future__ import annotations

from dataclasses import dataclass

from .bundle import Read
from .case import CLOCK_SKEW, Case, Trouble, hold, missing
from .places import Place
from .walk import Walk

DEAL, RULE, SHOW, RECOVERY = 1, 2, 3, 4


@dataclass
class Called:
    """A card that the rules deal."""

    audience: int
    since: int
    certain: bool
    """It is on the table's record."""
    opened: bool = False
    to_show: bool = False
    shown: bool = False


def check(case: Case, walk: Walk) -> None:
    """The dealer opened what the rules open, and nothing else."""
    walk.verdict("openings")
    if walk.end is None and not case.aborted:
        raise missing("the hand is not over")
    shown = walk.end.shown if walk.end is not None else {}
    at_end = {place for places in shown.values() for place in places}
    called = {
        place: Called(dealt.audience, dealt.since, dealt.certain, to_show=place in at_end)
        for dealt in walk.deals
        for place in dealt.places
    }
    for read in case.dealer:
        if read.kind == "CardsOpened" and not read.kept_back:
            _one(read, called, walk)
    for place, card in called.items():
        dealt = card.opened or not card.certain
        shown_too = card.shown or not card.to_show or case.aborted
        hold(dealt and shown_too, f"{place} was dealt or shown, and never opened for it")


def _one(read: Read, called: dict[Place, Called], walk: Walk) -> None:
    """One opening against what the rules call for."""
    opening = read.event.opening
    if opening is None:
        raise Trouble("an opening without content")
    audience, reason = opening.audience_seat, opening.reason
    where = f"position {read.position} of the dealer's log: opened "
    for ref in opening.cards:
        card = called.get((ref.op, ref.position))
        if card is None:
            raise Trouble(where + "which the rules do not deal")
        if reason in (DEAL, RULE):
            right = card.audience == audience and (reason == RULE) == (audience == 0)
            hold(right, where + "to other eyes than the rules deal it to")
            hold(not card.opened, where + "a second time")
            card.opened = True
            hold(read.at + CLOCK_SKEW >= card.since, where + "before the hand came so far")
        elif reason == SHOW:
            hold(card.to_show and audience == 0, where + "which the rules do not show")
            hold(not card.shown, where + "a second time")
            card.shown = True
            in_time = walk.end is not None and read.at + CLOCK_SKEW >= walk.end.at
            hold(in_time, where + "before the hand came so far")
        elif reason == RECOVERY:
            hold(card.audience in (audience, 0), where + "to other eyes than the rules deal it to")
            hold(card.opened, where + "again, and it had not been opened before")
        else:
            raise Trouble(where + "for no reason")
