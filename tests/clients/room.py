"""Knows how a room is started for clients, and how what they bring back is judged."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
# The game of the room's own bots, and that of a table with the opponents in `opponents.py`.
GAMES = ("dice", "spike")
# Seconds until a room must serve.
START = 60


@contextmanager
def running(program: Path, folder: Path, log: Path) -> Iterator[str]:
    """A room with bots; gives the address of its public port."""
    with log.open("wb") as written:
        room = subprocess.Popen(
            [program, "--data", folder, "up", "--listen", "127.0.0.1:0", "--game", GAMES[0], "--thinking", "50"],
            stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
        )
        try:
            yield address(room, folder)
        except BaseException:
            print(log.read_text(errors="replace"), file=sys.stderr)
            raise
        finally:
            room.terminate()
            try:
                room.wait(30)
            except subprocess.TimeoutExpired:
                room.kill()
                room.wait()


def address(room: subprocess.Popen[bytes], folder: Path) -> str:
    """Waits until the room serves."""
    until = time.monotonic() + START
    while time.monotonic() < until:
        if room.poll() is not None:
            raise RuntimeError(f"the room ended with {room.returncode}")
        try:
            return json.loads((folder / "room.json").read_text())["address"]
        except (OSError, ValueError):
            time.sleep(0.1)
    raise RuntimeError(f"the room did not serve within {START} s")


def judge(bundle: Path, seat: Path, keys: Path) -> str | None:
    """Verifies a bundle by the verifier in Python; gives why it does not count, if it does not."""
    if not bundle.is_file() or not seat.is_file():
        return "no bundle or no seat was written"
    done = subprocess.run(
        [sys.executable, "-m", "verify", bundle, "--keys", keys, "--json"],
        cwd=TESTS, capture_output=True, text=True, timeout=60, check=False,
    )
    if done.returncode != 0:
        return f"verify: exit {done.returncode}: {done.stdout}{done.stderr}"
    return None
