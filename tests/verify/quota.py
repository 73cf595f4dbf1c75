"""Knows how many records a table's stream takes between two ends of hands that were played: 64 of a
player and 1,024 in all, then only leaving.

A record is its player's where it is of their command or their seat. What the table itself writes
counts too, and is never refused. Seats whose player the records do not name count by themselves.
"""

from __future__ import annotations

from collections import Counter

from .bundle import Read
from .case import Case, hold

OF_A_PLAYER = 64
IN_ALL = 1024
OF_A_SEAT = (
    "SeatFunded", "LeaveAsked", "CashOutDue", "SeatVacated", "SitOutChanged", "SeatRenamed",
    "SeatExcluded",
)


def check(case: Case) -> None:
    """No player's command is taken over the limits."""
    counts = _Counts()
    for read in case.table:
        counts.take(read)


class _Counts:
    """Records since the last end of a hand that was played. By player, or by seat."""

    def __init__(self) -> None:
        self.all = 0
        self.own: Counter[bytes | int] = Counter()
        self.players: dict[int, bytes] = {}

    def take(self, read: Read) -> None:
        """The next record."""
        event = read.event
        if not read.kept_back and read.kind == "HandFinished" and not event.aborted:
            self.all = 0
            self.own.clear()
            self.players.update((place.seat, place.player_id) for place in event.seats)
            return
        owner = None if read.kept_back else self.owner(read)
        if owner is not None:
            self.hold(read, owner)
            self.own[owner] += 1
        self.all += 1
        if read.kept_back:
            return
        if read.kind == "HandFinished":
            # Who burns numbers uses nobody's records up. Who was at fault is not seen.
            for place in event.seats:
                self.own[place.player_id] = max(self.own[place.player_id] - 1, 0)
        elif read.kind == "SeatTaken":
            self.players[event.seat] = event.player_id
        elif read.kind == "SeatVacated":
            self.players.pop(event.seat, None)

    def owner(self, read: Read) -> bytes | int | None:
        """Whose record it is."""
        if read.kind in ("SeatTaken", "EntropyCommitted"):
            return read.event.player_id
        if read.kind in OF_A_SEAT:
            return self.players.get(read.event.seat, read.event.seat)
        return None

    def hold(self, read: Read, owner: bytes | int) -> None:
        """Whether the table may take it. Whoever has records left may take part in chance all the
        same: without that no hand could be played."""
        asked = read.kind in ("SeatTaken", "SeatRenamed") or (
            read.kind == "SitOutChanged" and read.event.why == "asked"
        )
        where = f"the table's log, {read.position}: {read.kind} behind"
        if asked or read.kind == "EntropyCommitted":
            hold(self.own[owner] < OF_A_PLAYER, f"{where} {OF_A_PLAYER} records of one player")
        if asked:
            hold(self.all <= IN_ALL, f"{where} {IN_ALL} records")
