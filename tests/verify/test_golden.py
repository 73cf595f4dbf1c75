"""Replays every golden hand, and compares how it ended with what its file says."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from . import shh
from .rules.hand import GAMES, Hand
from .rules.kinds import Refused
from .rules.ruleset import RuleSet

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


class Golden(unittest.TestCase):
    """One test a game, one part of it a file."""

    def one_game(self, variant: str) -> None:
        files = sorted((GOLDEN / variant).glob("*.shh"))
        self.assertGreater(len(files), 8, f"the golden hands of {variant} are not there")
        for path in files:
            for story in shh.read(path):
                with self.subTest(file=path.name):
                    before = sum(story.data["starting_stacks"])
                    before += story.data.get("sabacc_pot", 0) + story.data.get("carried_pot", 0)
                    hand = story.replay()
                    self.assertEqual(hand.total, before, "credits were made or lost")
                    self.assertTrue(hand.over, "the hand is not over")
                    self.compare(hand, story.data)

    def compare(self, hand: Hand, data: dict) -> None:
        core = hand.core
        ended = {
            "settlement": core.lines,
            "finishing_stacks": core.stacks,
            "finishing_sabacc_pot": core.sabacc_pot,
            "finishing_carried_pot": core.carried_pot,
            "_winners": [f"p{player + 1}" for player in core.winners],
            "_ranks": [rank or "null" for rank in core.ranks],
        }
        data["settlement"] = [line.split(" #")[0].rstrip() for line in data["settlement"]]
        for key, value in ended.items():
            if key in data:
                self.assertEqual(value, data[key], key)


class Caps(unittest.TestCase):
    """Rule sets and lines that `caps.json` lists, accepted and refused."""

    def setUp(self) -> None:
        self.vectors = json.loads((GOLDEN / "caps.json").read_text())

    def test_rule_sets(self) -> None:
        for case in self.vectors["valid"]:
            rules = RuleSet(case["variant"], case["ruleset"])
            self.assertEqual(RuleSet.from_canonical(rules.canonical()).values, rules.values)
            if "players" in case:
                exactly = rules.exactly
                players = [exactly, exactly] if exactly else [2, GAMES[rules.variant].most]
                self.assertEqual(players, case["players"])
        for case in self.vectors["invalid"]:
            with self.subTest(case=case), self.assertRaises(Refused):
                RuleSet(case["variant"], case["ruleset"])

    def test_lines(self) -> None:
        for case in self.vectors["cases"]:
            seats = list(range(1, len(case["starting_stacks"]) + 1))

            def then(*line: str) -> None:
                shh.Story({**case, "seats": seats, "actions": [*case["actions"], *line]}).replay()

            then()
            for line in case["legal"]:
                then(line)
            for line in case["illegal"]:
                with self.subTest(case=case["name"], line=line), self.assertRaises(Refused):
                    then(line)


def _test(variant: str):
    return lambda self: self.one_game(variant)


for name in GAMES:
    setattr(Golden, f"test_{name}", _test(name))


if __name__ == "__main__":
    unittest.main()
