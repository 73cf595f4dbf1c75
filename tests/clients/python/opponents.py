"""Guests for others to play against: `python opponents.py URL GAME…`, until they are stopped.

Two for each game. Each plays as `play.py` does, hand after hand at the same table.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback

import grpc

import bundle
from guest import Guest
from play import PAUSE, fetch
from table import Table


def main() -> None:
    url, games = sys.argv[1], sys.argv[2:]
    keys = bundle.read_keys(fetch(f"{url}/keys.txt").decode())
    for game in games * 2:
        threading.Thread(target=play, args=(url, game, keys)).start()


def visit(guest: Guest, game: str) -> None:
    """Plays at a table until few credits are left there, and leaves it."""
    table = guest.find_table(game)
    seat, stack = guest.sit_down(table), table.max_buy_in_credits
    while stack >= table.min_buy_in_credits:
        Table(guest, table.table_id, seat).play_one_hand()
        stack = sum(one.stack_credits for one in guest.view(table.table_id).seats if one.seat == seat)
    guest.stand_up(table.table_id)
    while any(one.player_id == guest.player_id for one in guest.view(table.table_id).seats):
        time.sleep(PAUSE)


def play(url: str, game: str, keys: dict[str, bytes]) -> None:
    """One guest. Where one fails all end, so that it is seen."""
    try:
        with grpc.insecure_channel(url.removeprefix("http://")) as channel:
            guest = Guest("Opponent", keys, channel)
            while True:
                visit(guest, game)
    except Exception:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main()
