"""Checks `settlement`, `transfer` and `conserved`: credits by the rules, the table, the wallet."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from .bundle import Read
from .case import CLOCK_SKEW, Case, Trouble, hold, missing, of_length
from .proto import Message
from .walk import Walk

SETTLEMENT = 5


@dataclass(frozen=True)
class After:
    """What is where after a hand."""

    stacks: list[int]
    sabacc_pot: int
    carried_pot: int
    rake: int


def _recorded(settled: Message) -> After:
    return After(
        settled.finishing_stacks,
        settled.finishing_sabacc_pot,
        settled.finishing_carried_pot,
        settled.rake,
    )


def _ruled(walk: Walk) -> After | None:
    if walk.end is None or walk.hand is None:
        return None
    core = walk.hand.core
    return After(core.stacks, core.sabacc_pot, core.carried_pot, core.rake)


def settlement(case: Case, walk: Walk) -> None:
    """The table recorded what the rules make of the hand, line by line."""
    if case.aborted:
        return
    walk.verdict("settlement")
    settled = case.one("HandSettled").event
    ruled = _ruled(walk)
    if ruled is None or walk.hand is None:
        raise missing("the hand is not over")
    core = walk.hand.core
    lines = [line.text for line in settled.lines]
    hold(lines == core.lines, f"on record is {lines}, the rules say {core.lines}")
    hold(_recorded(settled) == ruled, "stacks, pots or rake: the record and the rules differ")
    # What a winner took is nobody's any more.
    paid = [0] * core.count if core.sabacc_won else core.sabacc_paid
    hold(
        (settled.sabacc_paid, settled.sabacc_won) == (paid, core.sabacc_won),
        "who paid into the Sabacc Pot, or whether it was won: the record and the rules differ",
    )


def transfer(case: Case, walk: Walk) -> None:
    """One transfer, of the right name and kind, with a leg for each account that the hand moved.

    Seats that it did not move have legs of 0 credits all together or none of them: earlier tables
    wrote none, so such legs are not demanded.
    """
    opened = case.one("HandOpened").event
    if case.aborted:
        quiet = not case.wallet and case.find("SettlementPosted") is None
        hold(quiet, "credits moved in a hand that came to nothing")
        return
    settled = case.one("HandSettled")
    expected = legs(opened, _ruled(walk) or _recorded(settled.event))
    transfers = list(case.all("TransferPosted"))
    if not transfers:
        raise missing("the wallet's transfer is not among the records")
    hold(len(transfers) == 1, "the wallet posted more than one transfer")
    (posted,) = transfers
    _named(case, posted.event, opened.table_id)
    moved = [(leg.account, leg.amount) for leg in posted.event.legs]
    hold(len(dict(moved)) == len(moved), "an account has two legs")
    if all(amount for _, amount in moved):
        expected = {account: amount for account, amount in expected.items() if amount}
    hold(dict(moved) == expected, f"the wallet moved {dict(moved)}, the hand {expected}")
    hold(settled.at <= posted.at + CLOCK_SKEW, "posted before the hand was settled")
    noted = case.one("SettlementPosted").event
    hold(noted.position == posted.position, "the table names another position of the transfer")


def _named(case: Case, event: Message, table: bytes) -> None:
    """The transfer is this hand's settlement and nothing else."""
    of_length("the transfer's id", event.transfer_id, 16)
    rest = (event.hold_id, event.keep_rest, event.adjustment_id, event.approved_by)
    hold(
        event.transfer_id == case.hand_id and event.hand_id == case.hand_id,
        "the transfer is not called by the hand's id",
    )
    hold(
        event.kind == SETTLEMENT and event.table_id == table,
        "the transfer is not this table's settlement",
    )
    hold(rest == (b"", False, b"", ""), "the transfer says what no settlement says")


def legs(opened: Message, after: After) -> dict[str, int]:
    """What each account gained or lost; pots and the house are left out where they did neither."""
    table = uuid.UUID(bytes=of_length("the table's id", opened.table_id, 16))
    hold(len(opened.roster) == len(after.stacks), "there is not one stack a player")
    seats: dict[str, int] = {}
    for seat, stack in zip(opened.roster, after.stacks):
        player = uuid.UUID(bytes=of_length("a player's id", seat.player_id, 16))
        seats[f"seat/{table}/{player}"] = stack - seat.stack
    others = {
        f"pot/{table}/sabacc": after.sabacc_pot - opened.sabacc_pot,
        f"pot/{table}/carried": after.carried_pot - opened.carried_pot,
        "house/rake": after.rake,
    }
    return seats | {account: amount for account, amount in others.items() if amount}


def conserved(case: Case) -> None:
    """Before = after + rake, and the table goes on with what the hand left."""
    opened = case.one("HandOpened").event
    if case.aborted:
        _nothing_happened(opened, case.one("HandFinished"))
        return
    settled = case.one("HandSettled").event
    after = _recorded(settled)
    before = sum(seat.stack for seat in opened.roster) + opened.sabacc_pot + opened.carried_pot
    total = sum(after.stacks) + after.sabacc_pot + after.carried_pot + after.rake
    hold(before == total, f"{before} credits came into the hand, {total} came out of it")
    for read in case.all("TransferPosted"):
        balance = sum(leg.amount for leg in read.event.legs)
        hold(balance == 0, f"the legs of the transfer sum to {balance} credits")
    finished = case.one("HandFinished").event
    left = [
        (seat.seat, seat.player_id, stack, seat.house)
        for seat, stack in zip(opened.roster, after.stacks)
    ]
    goes_on = (
        [(seat.seat, seat.player_id, seat.stack, seat.house) for seat in finished.seats] == left
        and (finished.sabacc_pot, finished.carried_pot) == (after.sabacc_pot, after.carried_pot)
        and (finished.sabacc_paid, finished.sabacc_won)
        == (settled.sabacc_paid, settled.sabacc_won)
        and not finished.aborted
    )
    hold(goes_on, "the table goes on with other credits than the settlement says")


def _nothing_happened(opened: Message, finished: Read) -> None:
    """The hand was aborted: stacks and pots are what they were."""
    event = finished.event
    same = (
        event.aborted
        and event.seats == opened.roster
        and (event.sabacc_pot, event.carried_pot) == (opened.sabacc_pot, opened.carried_pot)
        and not any(event.sabacc_paid)
        and not event.sabacc_won
    )
    if not same:
        raise Trouble("the table goes on with other credits than before the aborted hand")
