"""Check `closing`: what all seats had committed to, signed by the dealer before anybody revealed,
and not before the seats' time was over. Times are those of the table's log.
"""

from __future__ import annotations

from . import fair, sign
from .bundle import Read
from .case import CLOCK_SKEW, MILLISECOND, Case, Trouble, hold, later, missing, of_length
from .proto import Message
from .promise import Promise, dealer_key, promise


def check(case: Case) -> None:
    """The closing of both logs is that of what the seats committed to."""
    case.one("HandOpened")
    _once(case)
    counted = commitments(case)
    if case.aborted and case.find("EntropyClosed") is None:
        return
    closed = case.one("EntropyClosed")
    signed = _signed(case)
    closing = signed.event.closing
    if closing is None:
        raise Trouble("the dealer's closing has no content")
    hold(closed.event.closing == closing, "the table has another closing than the dealer signed")
    _rows(case, closing, counted)
    _signature(case, signed, closing)
    _order(case, (closed, signed), counted)
    _window(case, closed, counted)


def commitments(case: Case) -> dict[int, Read]:
    """By seat: what its player of the roster committed to first."""
    players = {seat.seat: seat.player_id for seat in case.one("HandOpened").event.roster}
    found: dict[int, Read] = {}
    for read in case.all("EntropyCommitted"):
        seat = read.event.seat
        if players.get(seat) == read.event.player_id:
            found.setdefault(seat, read)
    return found


def _once(case: Case) -> None:
    """No player committed twice in a seat."""
    seen: set[tuple[int, bytes]] = set()
    for read in case.all("EntropyCommitted"):
        who = (read.event.seat, read.event.player_id)
        hold(who not in seen, f"seat {who[0]} committed twice")
        seen.add(who)


def _signed(case: Case) -> Read:
    every = case.all("CommitmentsClosed")
    hold(len(every) <= 1, "the dealer signed a second closing")
    if not every:
        raise Trouble("the closing is in the table's log and not in the dealer's")
    return every[0]


def _rows(case: Case, closing: Message, counted: dict[int, Read]) -> None:
    """A row for each seat dealt in, with what it committed to."""
    hold(
        [(row.seat, row.player_id) for row in closing.rows]
        == [(seat.seat, seat.player_id) for seat in case.roster],
        "the closing has not one row for each player dealt in, by seat",
    )
    for row in closing.rows:
        given = counted.get(row.seat)
        hold(
            row.commitment == (b"" if given is None else given.event.commitment),
            f"the closing has another row than what seat {row.seat} committed to",
        )


def digest(made: Promise, rows: list[Message]) -> bytes:
    """The hash of rows: each seat once, ascending, each of another player."""
    seats = [row.seat for row in rows]
    hold(
        seats != [] and seats == sorted(set(seats)) and seats[-1] < 255,
        "the seats of the closing do not ascend",
    )
    hold(len({row.player_id for row in rows}) == len(rows), "one player has two seats of the hand")
    for row in rows:
        of_length("a player's id", row.player_id, 16)
        hold(len(row.commitment) in (0, 32), f"seat {row.seat}'s commitment is no hash")
    packed = [fair.closing_row(row.seat, row.player_id, row.commitment) for row in rows]
    return fair.closing(made.context, made.commitment, packed)


def _signature(case: Case, signed: Read, closing: Message) -> None:
    made = promise(case)
    found = digest(made, closing.rows)
    hold(found == closing.closing, "the hash of the closing is not that of its rows")
    key = dealer_key(case, closing.key_id, signed.position)
    text = fair.signed_text("closing-sig", key, made.context, made.commitment, found)
    of_length("the signature of the closing", closing.signature, 64)
    hold(
        sign.verify(key, text, closing.signature), "the closing is not signed by the dealer's key"
    )


def _order(case: Case, closings: tuple[Read, Read], counted: dict[int, Read]) -> None:
    """After all commitments; the dealer's before the table's."""
    closed, signed = closings
    for read in case.all("EntropyCommitted"):
        hold(
            read.position < closed.position,
            f"seat {read.event.seat} committed after the commitments were closed",
        )
    hold(signed.at <= closed.at + CLOCK_SKEW, "the table closed before the dealer had signed it")
    last = max((read.at for read in counted.values()), default=0)
    hold(last <= signed.at + CLOCK_SKEW, "the dealer signed before a seat had committed")


def _window(case: Case, closed: Read, counted: dict[int, Read]) -> None:
    """The seats had their time, and enough of them committed."""
    settings, roster = case.settings, case.roster
    hold(
        len(counted) >= settings.contributors_min,
        f"closed with {len(counted)} numbers, of {settings.contributors_min} at least",
    )
    if len(counted) == len(roster):
        return
    if case.find("HandCommitted") is None:
        raise missing("the dealer's commitment in the table's stream is not among the records")
    players = {(seat.seat, seat.player_id) for seat in roster}
    since = [case.one("HandCommitted").at] + [
        read.at
        for read in case.table
        if read.kind == "SeatTaken" and not read.kept_back
        and (read.event.seat, read.event.player_id) in players
    ]
    hold(
        closed.at >= later(max(since), settings.scaled(settings.commit_ms * MILLISECOND)),
        "the commitments were closed before the seats' time was over",
    )
