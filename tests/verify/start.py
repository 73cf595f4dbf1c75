"""Check `start`: the hand began with what the last one that was played had left, but for what the
table's stream says in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import exclusions, settings
from .bundle import Read
from .case import Case, Trouble, hold, missing
from .proto import Message
from .settings import BadSettings
from .table_stream import is_first


@dataclass
class Seat:
    """A seat that is taken, as far as the records say."""

    player: bytes
    stack: int
    missed: int = 0
    funded: bool = True
    house: bool = False


@dataclass
class Before:
    """The table before the hand, as far as the records say."""

    whole: bool
    """They go back to the table's first one: a seat of which they say nothing is free."""
    pots: tuple[int, int] | None
    seats: dict[int, Seat] = field(default_factory=dict)
    button: int | None = None
    burnt: list[int] = field(default_factory=list)
    """Numbers that came to nothing since."""
    refunded: bool = False
    disabled: bool = False

    def missed(self, roster: list[Message]) -> list[int | None]:
        """Clocks missed in a row by each player; None where the records do not say."""
        found = (self.seats.get(place.seat) for place in roster)
        return [None if seat is None else seat.missed for seat in found]


def before(case: Case) -> Before:
    """What the table's stream says up to the hand's opening."""
    opened = case.one("HandOpened")
    whole = bool(case.table) and is_first(case.table[0])
    table = Before(whole, (0, 0) if whole else None)
    for read in case.table:
        if read.position < opened.position and not read.kept_back:
            _take(table, read)
    return table


def _take(table: Before, read: Read) -> None:
    event, seats = read.event, table.seats
    if read.kind == "SeatTaken":
        seats[event.seat] = Seat(
            event.player_id, event.buy_in, funded=False, house=event.house
        )
    elif read.kind in ("SeatVacated", "SeatRefused"):
        seats.pop(event.seat, None)
    elif read.kind == "HandStarted":
        hold(not table.refunded, "a hand started after the pots had been paid back")
        hold(not table.disabled, "a hand started while the table was disabled")
    elif read.kind == "HandFinished":
        (_burnt if event.aborted else _played)(table, event)
    elif read.kind == "PotRefundDue":
        table.refunded = True
    elif read.kind in ("TableDisabled", "TableEnabled"):
        table.disabled = read.kind == "TableDisabled"
    elif read.kind in ("SeatFunded", "CashOutDue", "SitOutChanged") and event.seat in seats:
        seat = seats[event.seat]
        if read.kind == "SitOutChanged":
            # A burnt number changes no missed clocks, nor does what follows from it.
            seat.missed = seat.missed if event.why == "excluded" else 0
        else:
            seat.funded = read.kind == "SeatFunded"


def _played(table: Before, event: Message) -> None:
    """The end of a hand that was played."""
    for at, place in enumerate(event.seats):
        missed = event.misses[at] if at < len(event.misses) else 0
        table.seats[place.seat] = Seat(place.player_id, place.stack, missed, house=place.house)
    table.pots = (event.sabacc_pot, event.carried_pot)
    table.button = event.seats[-1].seat if event.seats else None
    table.burnt = []


def _burnt(table: Before, event: Message) -> None:
    """The end of a hand that came to nothing changes nothing."""
    table.burnt.append(event.hand_no)
    same = table.pots in (None, (event.sabacc_pot, event.carried_pot))
    for place, missed in zip(event.seats, event.misses):
        seat = table.seats.get(place.seat)
        known = (place.player_id, place.stack, missed)
        same = same and (seat is None or (seat.player, seat.stack, seat.missed) == known)
    hold(same, f"hand {event.hand_no} came to nothing, and changed stacks, pots or missed clocks")


def check(case: Case) -> None:
    """Settings, exclusions, pots, stacks, button and missed clocks."""
    opened = case.one("HandOpened").event
    _settings(case, opened)
    exclusions.check(case)
    _counts_of_misses(case)
    table = before(case)
    if table.pots is None:
        raise missing("the end of the last hand that was played is not among the records")
    hold(
        table.pots == (opened.sabacc_pot, opened.carried_pot),
        "the hand began with other pots than the last one had left",
    )
    for place in opened.roster:
        _seat(table, place)
    _button(table, [place.seat for place in opened.roster])
    finished = case.find("HandFinished")
    if finished is None or not case.aborted:
        return
    found, known = finished.event.misses, table.missed(opened.roster)
    same = len(found) == len(known) and all(
        missed in (None, recorded) for missed, recorded in zip(known, found)
    )
    hold(same, "the hand came to nothing, and clocks count as missed in it")


def _counts_of_misses(case: Case) -> None:
    """Each end of a hand before this one has one number of missed clocks for each seat."""
    opened = case.one("HandOpened")
    for read in case.table:
        if read.kind == "HandFinished" and read.position < opened.position and not read.kept_back:
            hold(
                len(read.event.misses) == len(read.event.seats),
                f"the end of hand {read.event.hand_no} has not one number of misses a seat",
            )


def _settings(case: Case, opened: Message) -> None:
    """Within their bounds, and those that the table was made with."""
    try:
        settings.read(opened.settings)
    except BadSettings as problem:
        raise Trouble(f"the settings: {problem}") from None
    for read in case.table:
        if read.kind == "TableCreated" and not read.kept_back:
            made = (read.event.rule_set, read.event.settings)
            hold(
                made == (opened.rule_set, opened.settings),
                "the hand has other rules or settings than its table",
            )
            return


def _seat(table: Before, place: Message) -> None:
    seat = table.seats.get(place.seat)
    if seat is None:
        # Whoever sat out the last hand took the seat before the first of these records.
        hold(not table.whole, f"seat {place.seat} is dealt in, and is free")
        return
    hold(seat.player == place.player_id, f"seat {place.seat}: another player sits there")
    hold(seat.house == place.house, f"seat {place.seat} is dealt in with another house mark")
    hold(seat.funded, f"seat {place.seat} is dealt in, and its credits are not there")
    hold(
        seat.stack == place.stack,
        f"seat {place.seat} began with {place.stack} credits, and had {seat.stack}",
    )


def _button(table: Before, dealt: list[int]) -> None:
    """The last has the button, which goes on to the next of the seats dealt in; at first the lowest
    has it."""
    seats = sorted(dealt)
    later = [seat for seat in seats if table.button is not None and seat > table.button]
    button = (later or seats or [0])[0]
    expected = [seat for seat in seats if seat > button] + [s for s in seats if s <= button]
    hold(expected == dealt, f"the seats are dealt in as {dealt}, the button makes it {expected}")
