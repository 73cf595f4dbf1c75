"""Check `seed`: the one committed to, the same in both logs, and opened when all was over."""

from __future__ import annotations

from . import fair
from .case import CLOCK_SKEW, SECOND, Case, Trouble, hold, later, of_length
from .promise import Promise, promise


def check(case: Case) -> None:
    """The seed opens the commitment, and none was refused: a refusal undoes nothing."""
    made = promise(case)
    refused = case.find("SeedRefused")
    if refused is not None:
        right = _opens(made, refused.event.seed)
        raise Trouble(
            "the table refused the seed that the dealer had committed to" if right
            else "the dealer opened another seed than it had committed to, and the table refused it"
        )
    opened = case.one("SeedOpened")
    of_length("the seed", opened.event.seed, 64)
    hold(
        _opens(made, opened.event.seed),
        "the opened seed is not the one that the dealer committed to",
    )
    hold(
        opened.event.discarded == case.aborted,
        "the seed was opened for a hand of another end than this one's",
    )
    due = due_at(case)
    if due is None:
        raise Trouble("the seed was opened, and no end of the hand is on record")
    hold(due <= opened.at + CLOCK_SKEW, "the dealer opened the seed before its time")
    revealed = case.one("HandRevealed")
    hold(revealed.event.seed == opened.event.seed, "the table recorded another seed")


def _opens(made: Promise, seed: bytes) -> bool:
    return len(seed) == 64 and fair.dealer_commitment(made.context, seed) == made.commitment


def due_at(case: Case) -> int | None:
    """When the seed is to be opened; None while the hand has no end. That of a burnt number is due
    at once, any other as the settings say."""
    end = case.find("HandSettled") or case.find("HandAborted")
    if end is None:
        return None
    if case.aborted and case.find("HandSealed") is None:
        return end.at
    return later(end.at, case.settings.scaled(case.settings.delay_seconds * SECOND))
