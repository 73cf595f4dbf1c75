"""Writes random hands, most of them bent somewhere, for other verifiers to compare themselves with.

`python3 -m verify.scatter FOLDER [--hands N] [--seed S]`: bundles `N.sabacc` with this verifier's
report `N.json` beside each, and `keys.txt`. The same arguments write the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from . import bundle
from .audit import audit, refused
from .bundle import NotABundle
from .forge import Player
from .forge_logs import ROOM, TRUSTED, Entry, bundle as written
from .forge_table import SECOND, Plan
from .proto import Message
from .rules.hand import GAMES
from .rules.kinds import Refused
from .schema import SCHEMA, Field

TOKENS = ["immunity", "markdown", "general-tariff"]
RULES: dict[str, list[dict]] = {
    "dice": [
        {}, {"holdem": True}, {"max_rounds": 2, "shift": "1d6"}, {"rake_bps": 500},
        {"max_hand_total": 15, "max_pot": 60},
    ],
    "electronic": [{}, {"pot_building_rounds": 0}, {"pulse_ppm": 400_000, "max_rounds": 3}],
    "swg": [{"hand_ante": 5, "sabacc_ante": 10}, {"fold_penalty": 0, "draw_phase": False}],
    "force": [{"max_rounds": 2}, {"alignment": "naboo", "max_rounds": 3}],
    "kessel": [{"tokens": "assigned", "assigned_tokens": TOKENS, "chips": 4}, {"max_rounds": 3}],
    "eleven": [{}, {"rake_bps": 300}, {"max_pot": 40}],
    "spike": [{}, {"preset": "black-spire"}],
    "coruscant": [{}, {"hand_ante": 0}],
}


def plan(source: random.Random) -> Plan:
    """Something to play."""
    variant = source.choice(sorted(GAMES))
    entropy = source.choice(["all", "all", "all", "some", "none", "withheld", "late"])
    return Plan(
        variant, source.randrange(2, 6), source.choice(RULES[variant]), entropy,
        silent_after=source.choice([None, None, None, source.randrange(-1, 30)]),
        silence=source.choice(["back", "agreed", "late", "open"]),
        history=source.choice(["played", "played", "end", "new"]),
        burnt=source.choice([0, 0, 0, 1, 2]), delayed=source.random() < 0.2,
        signing=source.choice([0, 4, 8, 8]), everybody_leaves=source.random() < 0.1,
    )


def parts(kind: str, message: Message) -> Iterator[tuple[Message, Field]]:
    """Every field of a message and of the messages in it."""
    for one in SCHEMA[kind].values():
        value = getattr(message, one.name)
        yield message, one
        inside = value if one.mark == "*" else [value]
        if one.type in SCHEMA:
            for part in inside:
                if part is not None:
                    yield from parts(one.type, part)


def bend(source: random.Random, entries: list[Entry]) -> None:
    """Changes one thing."""
    at = source.randrange(len(entries))
    one, how = entries[at], source.random()
    if how < 0.03:
        one.kept_back = True
    elif how < 0.06:
        del entries[at]
    elif how < 0.12:
        entries.insert(source.randrange(at, len(entries)), deepcopy(one))
    elif how < 0.18:
        entries.insert(source.randrange(len(entries)), entries.pop(at))
    elif how < 0.26:
        spans = [1, 200_000, 300_000, 60 * SECOND, 7200 * SECOND]
        by = source.choice([-1, 1]) * source.choice(spans)
        for later in entries[at : source.choice([at + 1, len(entries)])]:
            if later.log == one.log:
                later.at += by
    else:
        fields = list(parts(one.kind, one.event))
        if fields:
            message, which = source.choice(fields)
            setattr(message, which.name, other(source, which, getattr(message, which.name)))


def owe(source: random.Random, entries: list[Entry]) -> None:
    """The dealer does not open its seed, and the table goes on, in time or long after."""
    late = source.choice([0, 3599, 3600, 3700]) * SECOND
    for one in list(entries):
        if one.kind in ("SeedOpened", "HandRevealed", "SettlementPosted", "TransferPosted"):
            entries.remove(one)
        elif one.kind == "HandFinished" and one is entries[-1]:
            one.at += late


def other(source: random.Random, which: Field, value: object) -> object:
    """Another value of a field."""
    if which.mark == "*":
        assert isinstance(value, list)
        return source.choice([[], value[:-1], value + deepcopy(value[:1]), value[::-1]])
    if which.type in SCHEMA:
        return None if source.random() < 0.5 else value
    if which.type == "bool":
        return not value
    if which.type == "bytes":
        assert isinstance(value, bytes)
        flipped = bytes([value[0] ^ 1]) + value[1:] if value else b"x"
        return source.choice([b"", value[:-1], value + b"x", flipped, flipped, bytes(len(value))])
    if which.type == "string":
        assert isinstance(value, str)
        return source.choice(["", value + "x", value[:-1], "S1", "Y", value.replace("1", "2")])
    assert isinstance(value, int)
    least = -(1 << 31) if which.type == "sint64" else 0
    return source.choice([0, value + 1, max(value - 1, least), source.randrange(300), 2**31 - 1])


def hand(source: random.Random) -> tuple[bytes, list[Entry]]:
    """An honest hand."""
    while True:
        player = Player(plan(source), source.randrange(10**6))
        try:
            return player.hand_id, player.entries_of_a_hand()
        except Refused:
            continue


def main(arguments: list[str]) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="verify.scatter")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hands", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    keys = "".join(f"{key.text}\n" for key in ROOM.values())
    (options.folder / "keys.txt").write_text(keys, "utf-8")
    source = random.Random(options.seed)
    for at in range(options.hands):
        hand_id, entries = hand(source)
        owed = source.random() < 0.15
        if owed:
            owe(source, entries)
        for _ in range(source.choice([0, 1]) if owed else source.choice([0, 1, 1, 1, 1, 1, 2])):
            bend(source, entries)
        data = written(hand_id, entries)
        path = options.folder / f"{at}.sabacc"
        path.write_bytes(data)
        try:
            report = audit(bundle.read(data), TRUSTED).as_json()
        except NotABundle as problem:
            report = refused(str(problem)).as_json()
        path.with_suffix(".json").write_text(json.dumps(report, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
