"""What the table's stream and its times must say, forged one statement at a time."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from copy import deepcopy

from .case import YEAR_10000
from .forge_logs import Entry
from .forge_table import SECOND, TABLE, Plan
from .proto import Message
from .report import Report
from .test_forged import entry, played, the
from .test_verdicts import failed, report_on, why

Edit = Callable[[list[Entry]], object]


def unplayed(entries: list[Entry], kind: str) -> int:
    """Where the first record of a kind stands."""
    return next(at for at, one in enumerate(entries) if one.kind == kind)


def voids(entries: list[Entry]) -> list[Entry]:
    """Agreements to end a hand."""
    return [one for one in entries if one.kind == "MoveDecided" and one.event.move.kind == 27]


class Strict(unittest.TestCase):
    """Each edit fails the check that it concerns, and no other."""

    def check(self, plan: Plan, expected: list[str], edit: Edit, seed: int = 4) -> Report:
        hand_id, entries = played(plan, seed)
        entries = deepcopy(entries)
        edit(entries)
        made = report_on(hand_id, entries)
        self.assertEqual(failed(made), expected, made.checks)
        return made

    def test_times(self) -> None:
        def late(at: int) -> Edit:
            def edit(entries: list[Entry]) -> None:
                for one in entries[unplayed(entries, "SeedOpened"):]:
                    one.at = at
            return edit

        plan = Plan("dice", 3, leaves=False, clocks=False)
        self.check(plan, [], late(YEAR_10000 - 1))
        for at in (YEAR_10000, (1 << 64) - 1):
            self.check(plan, ["streams"], late(at))

    def test_suspensions(self) -> None:
        for plan in (
            Plan("dice", 3, silent_after=-1), Plan("dice", 3, silent_after=9, silence="open"),
        ):
            self.check(plan, [], lambda entries: None)
            for name, change in (
                ("until_micros", -11 * SECOND), ("until_micros", 3600 * SECOND),
                ("since_micros", SECOND),
            ):
                def edit(entries: list[Entry], name=name, change=change) -> None:
                    event = the(entries, "HandSuspended")
                    setattr(event, name, getattr(event, name) + change)
                self.check(plan, ["clocks"], edit)

    def test_nobody_is_left_to_agree(self) -> None:
        def all_leave(entries: list[Entry]) -> None:
            for one in voids(entries):
                asked = Message(seat=one.event.seat, why="asked", signature=b"")
                at = entries.index(one)
                entries[at] = Entry("table", TABLE, one.at, "LeaveAsked", asked)

        def first_leaves(entries: list[Entry]) -> None:
            first = voids(entries)[0]
            asked = Message(seat=first.event.seat, why="asked", signature=b"")
            asked_at = Entry("table", TABLE, first.at, "LeaveAsked", asked)
            entries.insert(entries.index(first), asked_at)

        plan = Plan("dice", 3, silent_after=9, silence="agreed", signing=0, leaves=False)
        self.check(plan, [], lambda entries: None)
        self.check(plan, ["decisions"], all_leave)
        self.check(plan, ["decisions"], first_leaves)

    def test_leaves_asked_for_again(self) -> None:
        def again(entries: list[Entry]) -> None:
            at = unplayed(entries, "LeaveAsked")
            entries.insert(at, deepcopy(entries[at]))

        def behind(entries: list[Entry]) -> None:
            asked = deepcopy(entries[unplayed(entries, "LeaveAsked")])
            left = next(
                at for at, one in enumerate(entries)
                if one.kind == "MoveDecided" and one.event.move.kind == 12
            )
            asked.at = entries[left].at
            entries.insert(left + 1, asked)

        plan = Plan(
            "dice", 3, silent_after=9, silence="agreed", everybody_leaves=True, signing=0
        )
        self.check(plan, ["decisions", "signatures"], again)
        self.check(plan, ["decisions", "signatures"], behind)

    def test_exclusions(self) -> None:
        plan = Plan("dice", 3, burnt=4)
        self.check(plan, [], lambda entries: None)
        for name, value in (
            ("step", 0), ("step", 33), ("step", 2), ("burnt_hand_no", 1), ("seat", 9),
            ("player_id", bytes(16)), ("until_hand_no", 1), ("until_micros", 1),
            ("until_micros", (1 << 64) - 1),
        ):
            with self.subTest(name=name, value=value):
                self.check(
                    plan, ["start"],
                    lambda entries, name=name, value=value: setattr(
                        the(entries, "SeatExcluded"), name, value),
                )

        def not_counted(entries: list[Entry]) -> None:
            last = [one for one in entries if one.kind == "SeatExcluded"][-1].event
            self.assertEqual(last.step, 2)
            last.step, last.until_hand_no = 1, last.until_hand_no - 1
            last.until_micros -= 30 * SECOND

        def apart(entries: list[Entry]) -> None:
            at = unplayed(entries, "SeatExcluded")
            between = Message(seat=1)
            entries.insert(at, Entry("table", TABLE, entries[at].at, "SeatRenamed", between))

        def early(entries: list[Entry]) -> None:
            excluded = [one for one in entries if one.kind == "SeatExcluded"][-1]
            for one in entries[entries.index(excluded) + 1 :]:
                one.at -= 20 * SECOND

        for edit in (not_counted, apart, early):
            self.check(plan, ["start"], edit)

    def test_quotas(self) -> None:
        def toggled(count: int) -> Edit:
            def edit(entries: list[Entry]) -> None:
                at = unplayed(entries, "HandFinished") + 1
                seat = the(entries, "HandOpened").roster[0].seat
                changed = Message(seat=seat, sitting_out=True, why="asked")
                made = Entry("table", TABLE, entries[at - 1].at, "SitOutChanged", changed)
                entries[at:at] = [deepcopy(made) for _ in range(count)]
            return edit

        plan = Plan("dice", 3, history="end")
        self.check(plan, [], toggled(63))
        made = self.check(plan, ["streams"], toggled(64))
        self.assertIn("behind 64 records of one player", why(made, "streams"))

        def crowd(count: int) -> Edit:
            def edit(entries: list[Entry]) -> None:
                at = unplayed(entries, "HandFinished") + 1
                time, other = entries[at - 1].at, Message(hand_no=2**40)
                made = [Entry("table", TABLE, time, "HandCommitted", other) for _ in range(count)]
                made.append(Entry("table", TABLE, time, "SeatRenamed", Message(seat=9)))
                entries[at:at] = made
            return edit

        self.check(plan, [], crowd(1024))
        self.check(plan, ["streams"], crowd(1025))

    def test_a_disabled_table_starts_no_hand(self) -> None:
        def told(*kinds: str) -> Edit:
            def edit(entries: list[Entry]) -> None:
                at = unplayed(entries, "HandFinished") + 1
                time, event = entries[at - 1].at, Message(reason="a fault", with_game=False)
                entries[at:at] = [
                    Entry("table", TABLE, time, kind, deepcopy(event)) for kind in kinds
                ]
            return edit

        plan, shut, open_again = Plan("dice", 3, history="end"), "TableDisabled", "TableEnabled"
        self.check(plan, [], told(shut, shut, open_again))
        made = self.check(plan, ["start"], told(shut, open_again, shut))
        self.assertIn("while the table was disabled", why(made, "start"))

    def test_what_a_burnt_number_would_have_been(self) -> None:
        shut = self.check(Plan("dice", 3, entropy="withheld"), [], lambda entries: None)
        self.assertIn("takes the number of seat ", shut.sentences[0])
        self.assertIn(" too, which nobody opened.", shut.sentences[0])
        late = self.check(Plan("dice", 3, entropy="late"), [], lambda entries: None)
        self.assertEqual(late.verdict, "broken_off")
        self.assertIn(". It would have been, up to the first decision: seat ", late.sentences[0])
        agreed = self.check(
            Plan("dice", 3, silent_after=9, silence="agreed"), [], lambda entries: None)
        self.assertIn(". Its seed held, up to the first decision: seat ", agreed.sentences[0])


if __name__ == "__main__":
    unittest.main()
