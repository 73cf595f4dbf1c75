"""Checks `commitment` and `transcript`: what was promised before chance could be known.

Also gives all chance of the hand, from whichever opened seed keeps the promise.
"""

from __future__ import annotations

from . import aborts, entropy, fair, sign
from .case import CLOCK_SKEW, Case, Trouble, hold, missing, of_length
from .fair import Chance
from .promise import Promise, dealer_key, promise
from .proto import Message


def commitment(case: Case) -> None:
    """Before the hand was opened, in both logs, once, for this hand and its rules, signed."""
    opened, noted, _ = (
        case.one(kind) for kind in ("HandOpened", "HandCommitted", "SeedCommitted")
    )
    for kind in ("SeedCommitted", "HandCommitted"):
        hold(len(case.all(kind)) == 1, f"{kind} stands there twice for one hand")
    made = promise(case)
    event = made.event
    same_hand = (event.table_id, event.hand_no) == (opened.event.table_id, opened.event.hand_no)
    hold(same_hand, "the dealer committed to another hand")
    hold(
        fair.hand_id(event.table_id, event.hand_no) == case.hand_id,
        "this hand of this table has another id",
    )
    for read in (opened, noted):
        hold(
            read.event.commitment == event.commitment,
            f"{read.kind} has another commitment than the dealer's",
        )
    hold(
        fair.rules_hash(opened.event.rule_set, opened.event.settings) == event.rules_hash,
        "the dealer committed under other rules or settings than the hand was opened with",
    )
    _in_order(case)
    _signed(case, made)


def _in_order(case: Case) -> None:
    """Before the hand's opening, and before any seat committed."""
    opened, noted, committed = (
        case.one(kind) for kind in ("HandOpened", "HandCommitted", "SeedCommitted")
    )
    hold(noted.position < opened.position, "the commitment was noted after the hand was opened")
    hold(committed.at <= opened.at + CLOCK_SKEW, "the dealer committed after the hand was opened")
    for read in case.all("EntropyCommitted"):
        hold(read.position > noted.position, "a seat committed before the dealer had")


def _signed(case: Case, made: Promise) -> None:
    """By a key of the dealer's log, whose name is the origin."""
    own, event, signed = case.dealer_key, made.event, made.signed
    hold(
        own is None or own.name == signed.origin,
        "the commitment is bound to another log than the dealer's",
    )
    of_length("the signature", signed.signature, 64)
    key = dealer_key(case, signed.key_id, case.one("SeedCommitted").position)
    text = fair.signed_text(
        "dealer-commit-sig", key, signed.origin.encode(), event.table_id,
        fair.number(event.hand_no, 8), event.rules_hash, made.commitment,
    )
    hold(
        sign.verify(key, text, signed.signature),
        "the signature is not the dealer's over this commitment",
    )


def transcript(case: Case) -> None:
    """What the seats revealed is bound as both logs say it, and nothing else is."""
    case.one("HandOpened")
    made = promise(case)
    found = entropy.brought(case, made)
    aborts.grounds(case, found)
    sealed, bound = case.find("HandSealed"), case.find("SeedSealed")
    if case.aborted and sealed is None:
        # The dealer is asked first: it may have bound what the table no longer wanted.
        if bound is not None:
            _bound(bound.event, found, made)
        return
    sealed, bound = case.one("HandSealed"), case.one("SeedSealed")
    hold(sealed.event.rows == bound.event.rows, "the logs have different parts of the seats")
    _bound(bound.event, found, made)
    hold(
        sealed.event.transcript == bound.event.transcript,
        "the table recorded another transcript than the seats' parts give",
    )


def _bound(bound: Message, found: entropy.Brought, made: Promise) -> None:
    hold(bound.beacon == b"", "the transcript holds a beacon, and none is defined")
    found.fits(bound.rows)
    hold(bind(made, bound.rows) == bound.transcript, "the parts give another transcript")


def bind(made: Promise, rows: list[Message]) -> bytes:
    """The transcript that rows give."""
    seats = [row.seat for row in rows]
    hold(seats == sorted(set(seats)), "the rows do not ascend by seat")
    return fair.transcript(
        made.context, made.commitment, [_row(made, row) for row in rows]
    )


def _row(made: Promise, row: Message) -> bytes:
    hold(row.seat <= 255, f"there is no seat {row.seat}")
    lengths = {fair.REVEALED: (32, 32), fair.WITHHELD: (32, 0), fair.ABSENT: (0, 0)}
    hold(row.status in lengths, f"it is not said what became of seat {row.seat}'s entropy")
    wanted = lengths[row.status]
    of_length("a seat's commitment", row.commitment, wanted[0])
    of_length("a seat's entropy", row.entropy, wanted[1])
    player = of_length("a player's id", row.player_id, 16)
    if row.status == fair.REVEALED:
        opens = fair.client_commitment(
            made.context, made.commitment, row.seat, (player, row.entropy)
        )
        hold(opens == row.commitment, f"what seat {row.seat} revealed opens nothing")
    return fair.row(row.seat, player, row.status, (row.commitment, row.entropy))


def recorded_transcript(case: Case) -> bytes:
    """The transcript that recorded parts of the seats give, whichever log has them."""
    made = promise(case)
    bound = [read.event for k in ("SeedSealed", "HandSealed") if (read := case.find(k))]
    recorded = [event.transcript for event in bound]
    for event in bound:
        try:
            computed = bind(made, event.rows)
        except Trouble:
            continue
        if computed in recorded:
            return computed
    raise missing("no recorded parts of the seats give a recorded transcript")


def chance(case: Case) -> Chance:
    """All chance of the hand, from what was opened and bound in either log."""
    made = promise(case)
    seeds = [read.event.seed for k in ("SeedOpened", "HandRevealed") if (read := case.find(k))]
    if not seeds:
        raise missing("the seed is not open yet")
    for one in seeds:
        if len(one) == 64 and fair.dealer_commitment(made.context, one) == made.commitment:
            return Chance(recorded_transcript(case), one)
    raise missing("no seed was opened that the dealer had committed to")
