"""Knows how a room is started for clients, and how what they bring back is judged."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The games, each at a table of its own.
GAMES = ("dice", "spike")
# Milliseconds for what takes none where everybody is quick: a machine may be slow.
TABLE = ["--pause-ms", "250", "--commit-ms", "5000", "--reveal-ms", "10000"]
# Seconds until a room must serve.
START = 60


@contextmanager
def running(program: Path, folder: Path, tools: Path, origin: str) -> Iterator[str]:
    """A room with a table of each game, at which guests play (`python/opponents.py`), and which pages of that
    origin may call; gives the address of its public port. What it and the guests write is shown where
    something fails."""
    log = folder.with_suffix(".log")
    with log.open("wb") as written:
        started = []

        def start(command: list[object], **environment: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [str(part) for part in command], env=os.environ | environment,
                stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
            )
            started.append(process)
            return process

        try:
            room = start(
                [program, "--data", folder, "up", "--listen", "127.0.0.1:0", "--no-bots"],
                SABACC_CORS_ORIGINS=origin,
            )
            url = address(room, folder)
            for game in GAMES:
                opening = ["--data", folder, "table", "open", game, "--name", game, *TABLE]
                subprocess.run([program, *opening], check=True, timeout=30, stdout=written)
            start(
                [HERE / "python" / "run", "opponents", *GAMES],
                SABACC_URL=url, SABACC_TOOLS=str(tools / "python"),
            )
            yield url
            ended = [process.args for process in started if process.poll() is not None]
            if ended:
                raise RuntimeError(f"{ended} ended")
        except BaseException:
            print(log.read_text(errors="replace"), file=sys.stderr)
            raise
        finally:
            for process in reversed(started):
                stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, in order where it takes the time."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def free_origin() -> str:
    """An origin at a port that is free, for a page that a client serves."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def address(room: subprocess.Popen[bytes], folder: Path) -> str:
    """Waits until the room serves."""
    until = time.monotonic() + START
    while time.monotonic() < until:
        if room.poll() is not None:
            raise RuntimeError(f"the room ended with {room.returncode}")
        try:
            url = json.loads((folder / "room.json").read_text())["address"]
            with urllib.request.urlopen(f"{url}/readyz", timeout=5):
                return url
        except (OSError, ValueError):
            time.sleep(0.1)
    raise RuntimeError(f"the room did not serve within {START} s")


def judge(bundle: Path, seat: Path, keys: Path, tools: Path) -> str | None:
    """Has the verifier in Python judge a bundle; gives why it does not count, if it does not."""
    if not bundle.is_file() or not seat.is_file():
        return "no bundle or no seat was written"
    done = subprocess.run(
        [tools / "python" / "venv" / "bin" / "python", "-m", "verify", bundle, "--keys", keys, "--json"],
        cwd=HERE.parent, capture_output=True, text=True, timeout=60, check=False,
    )
    if done.returncode != 0:
        return f"verify: exit {done.returncode}: {done.stdout}{done.stderr}"
    said = " ".join(json.loads(done.stdout)["sentences"])
    own = int(seat.read_text())
    if own not in named(r"the numbers? of (seats? [^;]*?) (?:is|are) in it", said):
        return f"the entropy of seat {own} is not in the hand: {said}"
    if own not in named(r"those decisions of (seats? [^;]*?) which", said):
        return f"seat {own} has signed no decision: {said}"
    return None


def named(pattern: str, said: str) -> list[int]:
    """The seats that a sentence names, such as `seats 1, 3 and 5`."""
    found = re.search(pattern, said)
    return [] if found is None else [int(number) for number in re.findall("[0-9]+", found[1])]
