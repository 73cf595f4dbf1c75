"""A guest of a room: signs in, finds a table, sits down, stands up. One call each."""

from __future__ import annotations

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
from stream import request_id


class Guest:
    """A player of a room, with a token to call with."""

    def __init__(self, name: str, keys: dict[str, bytes], channel: grpc.Channel) -> None:
        self.keys = keys
        self.tables = TableServiceStub(channel)
        people = PeopleServiceStub(channel)
        # No token is needed to become a player. The same call again gives the same player: where no answer
        # comes, repeat it.
        sign_in = SignInAsGuestRequest(request_id=request_id(), name=name)
        signed_in = people.SignInAsGuest(sign_in)
        check(people.SignInAsGuest(sign_in).player_id == signed_in.player_id, "a repeated call made another player")
        self.player_id = signed_in.player_id
        # Access tokens are good for 15 minutes; the refresh token gives the next pair, once. Whoever keeps
        # on playing writes each new refresh token to disk before using anything of it.
        refreshed = people.Refresh(RefreshRequest(request_id=request_id(), refresh_token=signed_in.tokens.refresh_token))
        self.token = refreshed.tokens.access_token

    @property
    def metadata(self) -> list[tuple[str, str]]:
        """What goes with every call that is made as this player."""
        return [("authorization", f"Bearer {self.token}")]

    def find_table(self, game: str) -> TableView:
        """A table of a game with a free seat. Looking needs no token."""
        page = ""
        while True:
            found = self.tables.ListTables(ListTablesRequest(page_token=page))
            for table in found.tables:
                if table.variant == game and table.seated < table.seats:
                    return self.tables.GetTable(GetTableRequest(table_id=table.table_id)).table
            page = found.next_page_token
            if not page:
                raise LookupError(f"no table of {game} has a free seat")

    def sit_down(self, table: TableView) -> int:
        """Takes any free seat, with the least credits that it takes."""
        sit = SitDownRequest(
            request_id=request_id(), table_id=table.table_id, buy_in_credits=table.min_buy_in_credits
        )
        seat = self.tables.SitDown(sit, metadata=self.metadata).seat
        # The same command again: nothing happens, and the answer is the same.
        check(self.tables.SitDown(sit, metadata=self.metadata).seat == seat, "a repeated call took another seat")
        return seat

    def stand_up(self, table_id: str) -> None:
        """Leaves: the stack goes back to the account, where a hand is in play when it ends."""
        self.tables.StandUp(StandUpRequest(request_id=request_id(), table_id=table_id), metadata=self.metadata)
