"""Writes down what a table's stream holds before a hand: who sits down with what, the end of the
last hand that was played, numbers that came to nothing. Only the tests use it.
"""

from __future__ import annotations

import random
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from . import fair, settings
from .forge_logs import Entry
from .proto import Message, decode
from .rules.ruleset import RuleSet
from .settings import Settings

SECOND = 1_000_000
TABLE = bytes(range(16))


@dataclass
class Plan:
    """What is to be played, and how it ends."""

    variant: str
    players: int = 3
    ruleset: dict = field(default_factory=dict)
    entropy: str = "all"
    """`all` bring it, `some` do, `none` does, `withheld`: one commits and is silent; `late`: and
    opens it when the number is burnt."""
    silent_after: int | None = None
    """The dealer is silent after so many records of play; -1: before the hand is sealed."""
    silence: str = "late"
    """What comes of it: `back`, all `agreed` to end it, too `late`, or it lasts (`open`)."""
    history: str = "played"
    """Before the hand: a hand `played`, the dealer's commitment before its `end`, or nothing at a
    `new` table."""
    burnt: int = 0
    """Numbers that came to nothing since."""
    delayed: bool = False
    clocks: bool = True
    leaves: bool = True
    signing: int = 8
    """Seats up to this one have a key, and sign."""
    everybody_leaves: bool = False
    """At the first decision after three records of play."""
    zero_legs: bool = True
    """Whoever won and lost nothing has a leg in the transfer; earlier tables wrote none."""

    @property
    def settings(self) -> Settings:
        """The table's."""
        least = 0 if self.entropy == "none" else 1
        reveal = "delayed" if self.delayed else "at_once"
        return Settings(20, 30, 2000, least, reveal, 2000, 2)


class Table:
    """A table before a hand."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        self.random = random.Random(seed)
        self.rules = RuleSet(plan.variant, plan.ruleset)
        self.settings = settings.write(plan.settings)
        self.no = 1 + plan.burnt if plan.history == "new" else seed % 1000 + 2 + plan.burnt
        self.hand_id = fair.hand_id(TABLE, self.no)
        self.now = 1_700_000_000 * SECOND
        self.entries: list[Entry] = []
        self.turn = 0
        self.cause = 0
        self.steps: Counter[int] = Counter()
        """Numbers that each seat has withheld in."""
        self.over = True
        """The hand has an end."""

    def write(self, log: str, kind: str, /, on_table: bool = False, **event: Any) -> Entry:
        """A record."""
        self.now += self.random.randrange(1, 2000)
        stream = TABLE if on_table or log == "wallet" else self.hand_id
        made = decode(kind, b"")
        vars(made).update(event)
        self.entries.append(Entry(log, stream, self.now, kind, made))
        return self.entries[-1]

    def sit_down(self) -> None:
        """Who plays, with what, and what is in the pots."""
        count, fresh = self.plan.players, self.plan.history == "new"
        seats = sorted(self.random.sample(range(1, 9), count))
        turned = 1 if fresh else self.random.randrange(count)
        self.seats = seats[turned:] + seats[:turned]
        self.ids = [self.random.randbytes(16) for _ in self.seats]
        self.keys = [
            Ed25519PrivateKey.from_private_bytes(self.random.randbytes(32))
            if seat <= self.plan.signing else None
            for seat in self.seats
        ]
        least = max(
            self.rules.number("hand_ante") + self.rules.number("sabacc_ante"), self.rules.stake, 1
        )
        self.stacks = [least + self.random.randrange(200) for _ in self.seats]
        has_sabacc = self.plan.variant in ("dice", "electronic", "spike", "swg")
        has_carried = self.plan.variant in ("force", "eleven")
        pots = (self.random.randrange(90) * has_sabacc, self.random.randrange(9) * has_carried)
        self.pots = (0, 0) if fresh else pots
        self.roster = self.placed(self.stacks)
        if fresh:
            self.write(
                "table", "TableCreated", on_table=True, name="table", seats=8, min_buy_in=1,
                rule_set=self.rules.canonical(), max_buy_in=10**6, settings=self.settings,
            )
            for place in sorted(self.roster, key=lambda one: one.seat):
                self.write(
                    "table", "SeatTaken", on_table=True, seat=place.seat, buy_in=place.stack,
                    player_id=place.player_id, transfer_id=self.random.randbytes(16),
                )
                self.write("table", "SeatFunded", on_table=True, seat=place.seat)

    def placed(self, stacks: list[int]) -> list[Message]:
        """The roster, with these stacks."""
        return [
            Message(seat=seat, player_id=who, stack=stack)
            for seat, who, stack in zip(self.seats, self.ids, stacks)
        ]

    def before(self) -> None:
        """The end of the hand before, and numbers that came to nothing."""
        first, fresh = self.no - 1 - self.plan.burnt, self.plan.history == "new"
        committed = self.entries.pop()
        if self.plan.history == "end":
            self.entries.append(committed)
        if not fresh:
            # The button was one seat back.
            turned = self.roster[-1:] + self.roster[:-1]
            self.finish(first, turned, [0] * len(turned), aborted=False)
        for number in range(first + 1, self.no):
            if number == self.no - 1 and self.plan.history != "end":
                self.entries.append(committed)
                committed.at = self.now
            self.burn(number)
        if self.plan.history != "end" and committed not in self.entries:
            committed.at = self.now
            self.entries.append(committed)

    def burn(self, number: int) -> None:
        """A number that one player withheld in, who is waited for."""
        hand = fair.hand_id(TABLE, number)
        self.write("table", "HandStarted", on_table=True, hand_no=number, hand_id=hand)
        self.finish(number, self.roster, [0] * len(self.roster), aborted=True)
        place = self.roster[number % len(self.roster)]
        self.steps[place.seat] += 1
        missed = 1 << (self.steps[place.seat] - 1)
        self.write(
            "table", "SeatExcluded", on_table=True, seat=place.seat, player_id=place.player_id,
            step=self.steps[place.seat], until_hand_no=number + 1 + missed,
            until_micros=self.now + 30 * SECOND * missed, burnt_hand_no=number,
        )
        self.now += 31 * SECOND * missed

    def finish(self, number: int, seats: list, misses: list[int], aborted: bool) -> None:
        """The end of another hand."""
        self.write(
            "table", "HandFinished", on_table=True, hand_no=number,
            hand_id=fair.hand_id(TABLE, number), seats=deepcopy(seats), sabacc_pot=self.pots[0],
            carried_pot=self.pots[1], misses=misses, sabacc_paid=[0] * len(seats),
            aborted=aborted,
        )
