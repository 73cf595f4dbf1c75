"""Connect's own client for Python, PyPI's `connectrpc`, against a room: a call, a stream and a refusal in each protocol."""

from __future__ import annotations

import sys

from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType
from google.rpc.error_details_pb2 import ErrorInfo
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport
from sabacc.table.v1.table_connect import TableServiceClientSync
from sabacc.table.v1.table_pb2 import GetTableRequest, ListTablesRequest, WatchTableRequest

# Requests are sent as they are: the room takes no compressed ones, which are this client's default.
PLAIN = {"send_compression": None}


def main() -> None:
    """Calls the room at the address in the first argument."""
    for protocol in ProtocolType:
        version = HTTPVersion.HTTP2 if protocol == ProtocolType.GRPC else HTTPVersion.HTTP1
        http_client = SyncClient(SyncHTTPTransport(http_version=version))
        room = TableServiceClientSync(sys.argv[1], protocol=protocol, http_client=http_client, **PLAIN)
        table = room.list_tables(ListTablesRequest()).tables[0]
        first = next(iter(room.watch_table(WatchTableRequest(table_id=table.table_id))))
        assert first.snapshot.table_id == table.table_id, first
        assert first.snapshot.name == table.name, first
        refused(room)
        print(f"connectrpc for Python, {protocol.name}: a call, a stream, a refusal")


def refused(room: TableServiceClientSync) -> None:
    """A refusal has its code and its reason."""
    try:
        room.get_table(GetTableRequest(table_id="0198f0c2-7a3e-7000-8000-000000000001"))
    except ConnectError as error:
        infos = [detail for detail in error.details if detail.type_name == "google.rpc.ErrorInfo"]
        reasons = [ErrorInfo.FromString(info.message_bytes).reason for info in infos]
        assert (error.code, reasons) == (Code.NOT_FOUND, ["TABLE_UNKNOWN"]), (error.code, reasons)
    else:
        raise AssertionError("a table that is none was found")


main()
