"""Knows which rule set fields each game has, their defaults, and their canonical text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .kinds import TOKENS, Refused

MAX_CREDITS = 2**53 - 1
CREDITS = range(0, MAX_CREDITS + 1)
Value = int | str | bool | list[str]


@dataclass(frozen=True)
class Field:
    """What a field may be, and what it is where nothing is said."""

    default: Value
    allowed: range | tuple[str, ...] | None = None

    def check(self, name: str, value: Value) -> None:
        """Refuses a value that the field cannot have."""
        if type(value) is not type(self.default):
            raise Refused(f"{name} is of another kind")
        if self.allowed is not None and value not in self.allowed:
            raise Refused(f"{name} cannot be {value}")


def _credits(default: int) -> Field:
    return Field(default, CREDITS)


def _words(*words: str) -> Field:
    return Field(words[0], words)


_RAKE = {"rake_bps": Field(0, range(0, 10_001)), "rake_cap": _credits(0)}
_BETS = {
    name: _credits(0)
    for name in ("min_bet", "max_raise", "max_round_total", "max_hand_total", "max_pot")
}
_BOMB = {"bomb_out": _words("match_pot", "fixed", "none"), "bomb_out_amount": _credits(0)}
_EVERY = {"sabacc_ante_when": _words("every_hand", "when_empty")}
_ROUNDS = range(1, 1001)


def _shifting(pot_building: int, declare: bool) -> dict[str, Field]:
    return {
        **_RAKE, **_BETS, **_BOMB, **_EVERY,
        "hand_ante": _credits(5),
        "sabacc_ante": _credits(5),
        "ranking": _words("signed", "absolute"),
        "pot_building_rounds": Field(pot_building, range(0, 1001)),
        "max_rounds": Field(12, _ROUNDS),
        "field": Field(True),
        "holdem": Field(False),
        "declare_totals": Field(declare),
        "fold_penalty": _credits(0),
    }


FIELDS: dict[str, dict[str, Field]] = {
    "electronic": {
        **_shifting(4, False),
        "shift": _words("pulse", "none"),
        "pulse_ppm": Field(0, range(0, 1_000_001)),
    },
    "dice": {
        **_shifting(3, True),
        "shift": _words("2d6", "2d10", "2d12", "1d6", "1d10", "1d12", "none"),
        "shift_number": Field(1, CREDITS),
    },
    "swg": {
        **_RAKE, **_BETS, **_BOMB,
        "sabacc_ante_when": _words("when_empty", "every_hand"),
        "hand_ante": _credits(100),
        "sabacc_ante": _credits(1000),
        "ranking": _words("absolute", "signed"),
        "fold_penalty": _credits(200),
        "draw_phase": Field(True),
    },
    "force": {
        **_RAKE, **_BETS,
        "hand_ante": _credits(10),
        "max_rounds": Field(8, _ROUNDS),
        "alignment": _words("choose", "naboo"),
    },
    "kessel": {
        **_RAKE,
        "max_rounds": Field(100, _ROUNDS),
        "stakes": _words("lay", "pro", "tournament"),
        "chips": Field(8, range(4, 9)),
        "tokens": _words("random", "chosen", "assigned"),
        "assigned_tokens": Field([]),
    },
    "eleven": {**_RAKE, **_BETS, "hand_ante": _credits(10)},
    "spike": {
        **_RAKE, **_BETS, **_EVERY,
        "hand_ante": _credits(2),
        "sabacc_ante": _credits(2),
        "preset": _words("casino", "black-spire"),
    },
    "coruscant": {**_RAKE, **_BETS, "hand_ante": _credits(5)},
}


class RuleSet:
    """The rules of one hand: the game, and every field it has."""

    def __init__(self, variant: str, given: dict[str, Value]) -> None:
        if variant not in FIELDS:
            raise Refused(f"there is no game {variant}")
        fields = FIELDS[variant]
        self.variant = variant
        self.values: dict[str, Value] = {name: fields[name].default for name in sorted(fields)}
        if given.get("preset") == "black-spire":
            self.values.update(hand_ante=0, sabacc_ante=0)
        for name, value in given.items():
            if name not in fields:
                raise Refused(f"{variant} has no field {name}")
            fields[name].check(name, value)
            self.values[name] = value
        self._together()

    def number(self, name: str) -> int:
        """A number; 0 where the game does not have the field."""
        value = self.values.get(name, 0)
        assert isinstance(value, int)
        return value

    def word(self, name: str) -> str:
        """A word; empty where the game does not have the field."""
        value = self.values.get(name, "")
        assert isinstance(value, str)
        return value

    def flag(self, name: str) -> bool:
        """Whether it is set; not where the game does not have the field."""
        return self.values.get(name, False) is True

    @property
    def token_sets(self) -> list[list[str]]:
        """The assigned tokens in threes: one set for everybody, or one for each player in turn."""
        names = self.values.get("assigned_tokens", [])
        assert isinstance(names, list)
        return [names[at : at + 3] for at in range(0, len(names), 3)]

    def tokens_of(self, player: int) -> list[str]:
        """What a player is given where tokens are assigned."""
        sets = self.token_sets
        return sets[player] if len(sets) > 1 else sets[0]

    @property
    def exactly(self) -> int | None:
        """How many players a hand must have, where tokens are assigned to each."""
        sets = self.token_sets if self.word("tokens") == "assigned" else []
        return len(sets) if len(sets) > 1 else None

    @property
    def least_bet(self) -> int:
        """The least size of a first bet."""
        return max(self.number("min_bet") or self.number("hand_ante"), 1)

    def sabacc_ante_due(self, sabacc_pot: int) -> int:
        """What everybody pays into a Sabacc Pot that stands so."""
        if self.word("sabacc_ante_when") == "when_empty" and sabacc_pot > 0:
            return 0
        return self.number("sabacc_ante")

    @property
    def stake(self) -> int:
        """What a player of Kessel brings; 0 elsewhere."""
        rate = {"lay": 15, "pro": 25, "tournament": 125}.get(self.word("stakes"), 0)
        return self.number("chips") * rate

    def _together(self) -> None:
        """What single fields cannot see."""
        for cap in ("max_raise", "max_round_total", "max_hand_total"):
            if 0 < self.number(cap) < self.least_bet:
                raise Refused(f"{cap} is below the least bet")
        if 0 < self.number("max_pot") < 2 * self.number("hand_ante") + self.least_bet:
            raise Refused("max_pot is below two hand antes and the least bet")
        if self.number("hand_ante") + self.number("sabacc_ante") > MAX_CREDITS:
            raise Refused("the antes are too large together")
        shift = self.word("shift")
        if shift.startswith("1d") and not 1 <= self.number("shift_number") <= int(shift[2:]):
            raise Refused("no die shows the shift_number")
        sets = self.token_sets
        if len(sets) > 6 or any(len(set(kinds) & set(TOKENS)) != 3 for kinds in sets):
            raise Refused("assigned_tokens are not three different ones, or three for each player")
        if self.word("tokens") == "assigned" and not sets:
            raise Refused("assigned_tokens are missing")

    def canonical(self) -> str:
        """The text that is stored and hashed."""
        lines = [f'variant = "{self.variant}"']
        lines += [f"{name} = {_written(value)}" for name, value in self.values.items()]
        return "".join(line + "\n" for line in lines)

    @staticmethod
    def from_canonical(text: str) -> RuleSet:
        """Reads canonical text, and nothing else."""
        given: dict[str, Value] = {}
        for line in text.split("\n")[:-1]:
            name, equals, value = line.partition(" = ")
            if not equals or name in given:
                raise Refused("a line of the rule set is no `name = value`, or there twice")
            given[name] = _read(value)
        variant = given.pop("variant", None)
        if not isinstance(variant, str):
            raise Refused("the rule set names no variant")
        rules = RuleSet(variant, given)
        if rules.canonical() != text:
            raise Refused("the rule set's text is not the canonical one")
        return rules


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    return "[" + ", ".join(f'"{word}"' for word in value) + "]"


def _read(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch("[0-9]{1,20}", text):
        return int(text)
    if re.fullmatch(r'"[^"\\]*"', text):
        return text[1:-1]
    if text == "[]":
        return []
    if re.fullmatch(r'\["[^"\\]*"(, "[^"\\]*")*\]', text):
        return re.findall(r'"([^"\\]*)"', text)
    raise Refused("a value of the rule set is no number, word, flag or list")
