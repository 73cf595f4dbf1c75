"""Knows the settings of a table: their one spelling, and their bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass

BOUNDS = {
    "action_seconds": range(1, 601),
    "bank_seconds": range(0, 601),
    "commit_ms": range(500, 10_001),
    "contributors_min": range(0, 9),
    "insecure_fixed_seed": range(1, 2),
    "reveal": ("at_once", "delayed"),
    "reveal_ms": range(500, 10_001),
    "suspend_hours": range(1, 169),
    "time_scale": range(2, 101),
}
OPTIONAL = {"insecure_fixed_seed": 0, "time_scale": 1}
"""Settings of rooms for developers: they stand there only where they are not these."""
DAY = 86_400
MAX_TEXT = 1000
_LINE = re.compile(r'([a-z_]{1,20}) = (?:"([a-z_]{1,20})"|(0|[1-9][0-9]{0,9}))', re.ASCII)


class BadSettings(Exception):
    """The text is none of settings, or one of them is out of its bounds."""


@dataclass(frozen=True)
class Settings:
    """What a hand's windows and clocks are."""

    action_seconds: int
    bank_seconds: int
    commit_ms: int
    contributors_min: int
    reveal: str
    reveal_ms: int
    suspend_hours: int
    insecure_fixed_seed: int = OPTIONAL["insecure_fixed_seed"]
    time_scale: int = OPTIONAL["time_scale"]

    @property
    def delay_seconds(self) -> int:
        """From a settlement to the opening of the seed."""
        return DAY if self.reveal == "delayed" else 0

    def scaled(self, micros: int) -> int:
        """A span of time as it passes at the table, in whole milliseconds."""
        return micros // 1000 // self.time_scale * 1000


def read(text: str) -> Settings:
    """Settings from their text: each on its line, ascending by name."""
    *lines, rest = text.split("\n") if len(text) <= MAX_TEXT else [""]
    there = {line.split(" ")[0] for line in lines}
    names = [name for name in BOUNDS if name not in OPTIONAL or name in there]
    if rest or len(lines) != len(names):
        raise BadSettings(f"a line for each of {len(names)} settings stands there, and no more")
    return Settings(**{name: _value(name, line) for name, line in zip(names, lines)})


def _value(name: str, line: str) -> int | str:
    found = _LINE.fullmatch(line)
    if found is None or found[1] != name:
        raise BadSettings(f"where {name} belongs stands another line")
    value = int(found[3]) if found[2] is None else found[2]
    if value not in BOUNDS[name]:
        raise BadSettings(f"{name} is out of its bounds")
    return value


def write(settings: Settings) -> str:
    """The text."""
    pairs = ((name, getattr(settings, name)) for name in BOUNDS)
    values = ((name, value) for name, value in pairs if value != OPTIONAL.get(name))
    return "".join(
        f'{name} = "{value}"\n' if isinstance(value, str) else f"{name} = {value}\n"
        for name, value in values
    )
