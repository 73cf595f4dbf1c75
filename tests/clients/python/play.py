"""Plays one hand at a table of each game that is named: `python play.py URL GAME… [--out DIR]`.

Signs in as a guest, finds a table with a free seat, sits down, takes part in the hand's chance, plays the
hand to its end with signed decisions, fetches its bundle and checks it. Reads `LegalMove` and nothing of
any game. `README.md` says in which order to read the files.
"""

from __future__ import annotations

import argparse
import time
import urllib.request
from pathlib import Path

import grpc

import bundle
from guest import Guest
from hand import Part
from table import Table

# Attempts to fetch a bundle whose last records are not written yet, and seconds between them.
ATTEMPTS, PAUSE = 40, 0.25


def main() -> None:
    parser = argparse.ArgumentParser(description="Plays one hand of each game.")
    parser.add_argument("url", help="the room's public port, such as http://127.0.0.1:7400")
    parser.add_argument("games", nargs="+", help="such as dice")
    parser.add_argument("--keys", type=Path, help="the public keys of the room's logs; else its own word")
    parser.add_argument("--out", type=Path, default=Path("."), help="where the hands' bundles go")
    options = parser.parse_args()
    # Whoever knows the keys from elsewhere need not believe the room.
    text = options.keys.read_bytes() if options.keys else fetch(f"{options.url}/keys.txt")
    keys = bundle.read_keys(text.decode())
    with grpc.insecure_channel(options.url.removeprefix("http://")) as channel:
        guest = Guest("Python", keys, channel)
        for game in options.games:
            table = guest.find_table(game)
            seat = guest.sit_down(table)
            part = Table(guest, table.table_id, seat).play_one_hand()
            guest.stand_up(table.table_id)
            print(f"{game}: hand {part.hand_no} of {table.name} is over; we had seat {seat}")
            found = fetch_bundle(options.url, table.table_id, part)
            (options.out / f"{game}.sabacc").write_bytes(found)
            (options.out / f"{game}.seat").write_text(str(seat))
            for line in bundle.check_hand(found, keys, part):
                print(f"{game}: {line}")


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def fetch_bundle(url: str, table_id: str, part: Part) -> bytes:
    """The hand's records with their proofs, once the last of them is there."""
    for _ in range(ATTEMPTS):
        found = fetch(f"{url}/hands/{table_id}/{part.hand_no}.sabacc")
        if bundle.is_whole(found):
            return found
        time.sleep(PAUSE)
    raise TimeoutError("the hand's last records did not come")


if __name__ == "__main__":
    main()
