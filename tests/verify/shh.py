"""Knows the text form of hands, and how a hand is replayed from it. Only the tests read it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .decks import Deck
from .rules.coruscant import GOLD, SILVER
from .rules.hand import Hand
from .rules.kinds import (
    Ask, Deal, Move, Pick, Pulse, Refused, Roll, Sample, Shuffle, TOKENS,
)
from .rules.ruleset import RuleSet

WITH_CARDS = ("trade", "lock", "unlock", "drop", "discard", "gain", "swap", "select", "add")


@dataclass
class Story:
    """One hand of a file."""

    data: dict[str, Any]
    hand: Hand = field(init=False)

    def replay(self) -> Hand:
        """Plays every line."""
        data = self.data
        rules = RuleSet(data["variant"], data.get("ruleset", {}))
        pots = (data.get("sabacc_pot", 0), data.get("carried_pot", 0))
        self.hand = Hand(rules, data["seats"], list(data["starting_stacks"]), pots)
        for at, line in enumerate(data["actions"], 1):
            try:
                self._shuffles()
                self._line(line.split(" #")[0].split(" "))
            except Refused as refused:
                raise Refused(f"action {at}, {line}: {refused}") from refused
        self._shuffles()
        return self.hand

    def _shuffles(self) -> None:
        while isinstance(self.hand.due, Shuffle):
            self.hand.give(None)

    def _line(self, words: list[str]) -> None:
        actor, verb, *rest = words
        if actor == "d":
            self._chance(verb, rest)
        else:
            player = int(actor[1:]) - 1
            self.hand.decide(player, self._move(player, verb, rest))

    def _chance(self, verb: str, words: list[str]) -> None:
        due = self.hand.due
        deck = self.hand.core.deck
        if isinstance(due, Deal) and verb in ("deal", "flip"):
            if due.player is not None and words.pop(0) != f"p{due.player + 1}":
                raise Refused("another player is dealt to")
            self.hand.give(self._cards(due, words))
        elif isinstance(due, Roll) and verb == "roll":
            self.hand.give(_dice(due, words, deck))
        elif isinstance(due, Pulse) and verb == "pulse":
            self.hand.give(words == ["1"])
        elif isinstance(due, Pick) and verb == "starter":
            self.hand.give(self.hand.core.players.index(int(words[0][1:]) - 1))
        elif isinstance(due, Sample) and verb == "tokens":
            self.hand.give([TOKENS.index(name) for name in words[1:]])
        elif isinstance(due, Sample) and verb == "announce":
            faces = deck.faces()
            self.hand.give([faces.index(words[1]), faces.index(words[3])])
        else:
            raise Refused(f"due is {due}")

    def _cards(self, due: Deal, codes: list[str]) -> list[int]:
        """Of copies that are alike, any that is still in the pile."""
        core = self.hand.core
        there = set()
        for part in due.parts:
            there |= core.piles[part.pile].draw
            there |= set(part.restock.cards) if part.restock else set()
        found: list[int] = []
        for code in codes:
            alike = [c for c in core.deck.alike(code) if c in there and c not in found]
            if not alike:
                raise Refused(f"{code} is not in the pile")
            found.append(alike[0])
        return found

    def _move(self, player: int, verb: str, words: list[str]) -> Move:
        deck = self.hand.core.deck
        if verb in ("bet", "raise"):
            return Move(verb, amount=int(words[0]))
        if verb == "draw" and words:
            return Move("draw-from", names=tuple(words))
        if verb in WITH_CARDS:
            return Move(verb, cards=tuple(_any(deck, code) for code in words))
        if verb == "impostor":
            return Move(verb, cards=(_any(deck, words[0]),), value=int(words[1]))
        if verb == "prime":
            return Move(verb, value=int(words[0]))
        if verb == "token":
            target = int(words[1][1:]) - 1 if len(words) > 1 else None
            return Move(verb, names=(words[0],), target=target)
        return Move(verb, names=tuple(words))


def _any(deck: Deck, code: str) -> int:
    alike = deck.alike(code)
    if not alike:
        raise Refused(f"there is no card {code}")
    return alike[0]


def _dice(due: Roll, words: list[str], deck: Deck) -> list[int]:
    if due.why == "target":
        return [GOLD.index(int(words[0])) + 1, SILVER.index(words[1][0]) + 1]
    if due.why == "impostor":
        assert due.player is not None and due.card is not None
        if words[:2] != [f"p{due.player + 1}", deck.codes[due.card]]:
            raise Refused("another Impostor rolls")
        words = words[2:]
    return [int(word) for word in words]


def read(path: Path) -> list[Story]:
    """The hands of a file."""
    data = tomllib.loads(path.read_text("utf-8"))
    hands = data["hand"] if "hand" in data else [data]
    return [Story(hand) for hand in hands]


def waits_for(hand: Hand) -> str:
    """What a hand that is not over waits for, for messages."""
    due = hand.due
    return f"p{due.player + 1}" if isinstance(due, Ask) else type(due).__name__
