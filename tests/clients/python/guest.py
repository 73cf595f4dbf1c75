"""A guest of a room: signs in, finds a table, sits down, stands up. One call each."""

from __future__ import annotations

import secrets
import time
from typing import Any

import grpc

from hand import check
from sabacc.table.v1.people_pb2_grpc import PeopleServiceStub
from sabacc.table.v1.sign_in_pb2 import RefreshRequest, SignInAsGuestRequest
from sabacc.table.v1.table_pb2 import (
    GetTableRequest,
    ListTablesRequest,
    SitDownRequest,
    StandUpRequest,
    TableView,
)
from sabacc.table.v1.table_pb2_grpc import TableServiceStub
from stream import request_id, retry_delay

ATTEMPTS = 10
AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED)


def call(method: grpc.UnaryUnaryMultiCallable, request: Any, token: str = "") -> Any:
    """Makes a call, and makes it again where it was refused for the moment or nobody knows what came of it.
    That is safe: a command has a request_id, and the same one counts once."""
    metadata = [("authorization", f"Bearer {token}")] if token else []
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return method(request, timeout=10, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() not in AGAIN or attempt == ATTEMPTS:
                raise
            time.sleep(retry_delay(error))
    raise AssertionError("the last attempt returns or raises")


class Guest:
    """A player of a room, with a token to call with."""

    def __init__(self, name: str, keys: dict[str, bytes], channel: grpc.Channel) -> None:
        self.keys = keys
        self.tables = TableServiceStub(channel)
        people = PeopleServiceStub(channel)
        # No token is needed to become a player. The same call again gives the same player: the secret shows that
        # it comes from the same caller.
        secret = secrets.token_bytes(32)
        sign_in = SignInAsGuestRequest(request_id=request_id(), name=name, sign_in_secret=secret)
        signed_in = call(people.SignInAsGuest, sign_in)
        again = call(people.SignInAsGuest, sign_in)
        check(again.player_id == signed_in.player_id, "a repeated call made another player")
        self.player_id = signed_in.player_id
        # Access tokens are good for 15 minutes; the refresh token gives the next pair, once. Whoever keeps
        # on playing writes each new refresh token to disk before using anything of it.
        refresh = RefreshRequest(request_id=request_id(), refresh_token=again.tokens.refresh_token)
        self.token = call(people.Refresh, refresh).tokens.access_token

    def find_table(self, game: str) -> TableView:
        """A table of a game with a free seat. Looking needs no token."""
        page = ""
        while True:
            found = call(self.tables.ListTables, ListTablesRequest(page_token=page))
            for table in found.tables:
                if table.variant == game and table.seated < table.seats:
                    return call(self.tables.GetTable, GetTableRequest(table_id=table.table_id)).table
            page = found.next_page_token
            if not page:
                raise LookupError(f"no table of {game} has a free seat")

    def sit_down(self, table: TableView) -> int:
        """Takes any free seat, with the most credits that it takes."""
        sit = SitDownRequest(
            request_id=request_id(), table_id=table.table_id, buy_in_credits=table.max_buy_in_credits
        )
        seat = call(self.tables.SitDown, sit, self.token).seat
        # The same command again: nothing happens, and the answer is the same.
        check(call(self.tables.SitDown, sit, self.token).seat == seat, "a repeated call took another seat")
        return seat

    def view(self, table_id: str) -> TableView:
        """The table as we may see it."""
        return call(self.tables.GetTable, GetTableRequest(table_id=table_id), self.token).table

    def stand_up(self, table_id: str) -> None:
        """Leaves: the stack goes back to the account, where a hand is in play when it ends."""
        call(self.tables.StandUp, StandUpRequest(request_id=request_id(), table_id=table_id), self.token)
