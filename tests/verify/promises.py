"""Checks `commitment`, `transcript` and `seed`: what was promised before chance could be known.

Also gives all chance of the hand, from whichever opened seed keeps the promise.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import entropy, fair, sign
from .case import CLOCK_SKEW, SECOND, Case, Trouble, hold, missing, of_length
from .entropy import Brought
from .fair import Chance
from .merkle import sha256
from .proto import Message


@dataclass(frozen=True)
class Promise:
    """The dealer's commitment, and the context it is made in."""

    event: Message
    signed: Message
    commitment: bytes
    context: bytes


def promise(case: Case) -> Promise:
    """The commitment in the dealer's log."""
    event = case.one("SeedCommitted").event
    signed = event.commitment
    if signed is None:
        raise Trouble("the commitment is missing")
    table = of_length("the commitment's table", event.table_id, 16)
    rules = of_length("the rule set's hash", event.rule_set_hash, 32)
    made = of_length("the commitment", signed.commitment, 32)
    return Promise(event, signed, made, fair.context(signed.origin, table, event.hand_no, rules))


def commitment(case: Case) -> None:
    """Before the hand was opened, in both logs, once, for this hand and these rules, signed."""
    opened, noted, committed = (
        case.one(kind) for kind in ("HandOpened", "HandCommitted", "SeedCommitted")
    )
    for kind in ("SeedCommitted", "HandCommitted"):
        hold(len(list(case.all(kind))) == 1, f"{kind} stands there twice for one hand")
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
        sha256(opened.event.rule_set.encode()) == event.rule_set_hash,
        "the dealer committed under another rule set than the hand was opened with",
    )
    hold(noted.position < opened.position, "the commitment was noted after the hand was opened")
    hold(committed.at <= opened.at + CLOCK_SKEW, "the dealer committed after the hand was opened")
    for read in case.all("EntropyCommitted"):
        hold(read.position > noted.position, "a seat committed before the dealer had")
    _signed(case, made)


def _signed(case: Case, made: Promise) -> None:
    """By the key of the dealer's log, whose name is the origin."""
    key, signed = case.dealer_key, made.signed
    hold(
        key is None or key.name == signed.origin,
        "the commitment is bound to another log than the dealer's",
    )
    of_length("the signature", signed.signature, 64)
    if key is None:
        raise missing("there is no key of the dealer to check its signature with")
    hold(sha256(key.public)[:8] == signed.key_id, "the commitment is signed with another key")
    message = fair.commitment_message(
        (
            made.event.table_id,
            fair.number(made.event.hand_no, 8),
            made.event.rule_set_hash,
            made.commitment,
            signed.key_id,
        )
    )
    hold(
        sign.verify(key.public, message, signed.signature),
        "the signature is not the dealer's over this commitment",
    )


def transcript(case: Case) -> None:
    """What the seats brought is bound as both logs say it, and nothing else is."""
    case.one("HandOpened")
    made = promise(case)
    found = entropy.brought(case, made.context, made.commitment)
    entropy.grounds(case, found)
    sealed, bound = case.find("HandSealed"), case.find("SeedSealed")
    if case.aborted and sealed is None:
        # The dealer is asked first: it may have bound what the table no longer wanted.
        if bound is not None:
            _bound(case, bound.event, (found, made))
        return
    sealed, bound = case.one("HandSealed"), case.one("SeedSealed")
    hold(sealed.event.rows == bound.event.rows, "the logs have different parts of the seats")
    _bound(case, bound.event, (found, made))
    hold(
        sealed.event.transcript == bound.event.transcript,
        "the table recorded another transcript than the seats' parts give",
    )


def _bound(case: Case, bound: Message, given: tuple[Brought, Promise]) -> None:
    found, made = given
    roster = sorted((seat.seat, seat.player_id) for seat in case.one("HandOpened").event.roster)
    hold(
        [(row.seat, row.player_id) for row in bound.rows] == roster,
        "the parts are not one of each player dealt in, by seat",
    )
    withheld = any(row.status == fair.WITHHELD for row in bound.rows)
    hold(not withheld, "a player withheld what he had committed to")
    hold(bound.beacon == b"", "the transcript holds a beacon, and none is defined")
    for row in bound.rows:
        found.is_row(row)
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


def seed(case: Case) -> None:
    """The one committed to, the same in both logs, and opened when all was over."""
    opened = case.one("SeedOpened")
    made = promise(case)
    of_length("the seed", opened.event.seed, 64)
    hold(
        fair.dealer_commitment(made.context, opened.event.seed) == made.commitment,
        "the opened seed is not the one that the dealer committed to",
    )
    # A settled hand may come to nothing after the dealer was asked for its seed.
    hold(
        opened.event.discarded == (case.aborted and case.find("HandSettled") is None),
        "the seed was opened for a hand of another end than this one's",
    )
    _in_time(case, opened.at)
    revealed = case.one("HandRevealed")
    hold(revealed.event.seed == opened.event.seed, "the table recorded another seed")


def _in_time(case: Case, seen: int) -> None:
    known = seen + CLOCK_SKEW
    aborted, settled = case.find("HandAborted"), case.find("HandSettled")
    if aborted is not None and settled is None:
        hold(aborted.at <= known, "the dealer opened the seed before the hand was aborted")
        return
    if settled is None:
        raise Trouble("the seed was opened, and no end of the hand is on record")
    delay = case.one("HandOpened").event.reveal_delay_seconds * SECOND
    hold(settled.at + delay <= known, "the dealer opened the seed before its time")
    posted = case.find("SettlementPosted")
    if delay == 0 and case.has_entropy and posted is not None:
        hold(seen <= posted.at + CLOCK_SKEW, "credits had moved before the seed was open")


def chance(case: Case) -> Chance:
    """All chance of the hand, from what was opened and bound in either log."""
    made = promise(case)
    seeds = [read.event.seed for k in ("SeedOpened", "HandRevealed") if (read := case.find(k))]
    if not seeds:
        raise missing("the seed is not open yet")
    kept = [
        one for one in seeds
        if len(one) == 64 and fair.dealer_commitment(made.context, one) == made.commitment
    ]
    if not kept:
        raise missing("no seed was opened that the dealer had committed to")
    bound = [read.event for k in ("SeedSealed", "HandSealed") if (read := case.find(k))]
    recorded = [event.transcript for event in bound]
    for event in bound:
        try:
            computed = bind(made, event.rows)
        except Trouble:
            continue
        if computed in recorded:
            return Chance(computed, kept[0])
    raise missing("no recorded parts of the seats give a recorded transcript")
