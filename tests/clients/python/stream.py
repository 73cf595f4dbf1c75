"""A `Play` stream that may break, and is taken up again where it was.

gRPC's bidirectional stream: we send decisions, the room sends updates and answers. Two things make a
break harmless. The last `resume_token` tells the room what we have seen, so that it goes on behind it;
and what was not answered is sent again under the same `request_id`, which counts once.
"""

from __future__ import annotations

import queue
import secrets
import time
import uuid
from collections.abc import Iterator
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from grpc_status import rpc_status

from sabacc.table.v1.table_pb2 import PlayRequest, PlayResponse, WatchTableRequest
from sabacc.table.v1.table_pb2_grpc import TableServiceStub

# Attempts in a row without a message between them.
ATTEMPTS = 10
# A connection that is gone or a server that stops; too much at once; our own drop.
AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.CANCELLED)


def request_id() -> str:
    """A UUIDv7: milliseconds, then random bits. Ids in the order of time are cheap for the room to know
    again. (Python has `uuid.uuid7` from 3.14 on.)"""
    random = 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=time.time_ns() // 1_000_000 << 80 | random))


def retry_delay(error: Any) -> float:
    """The seconds that a refusal says to wait: its RetryInfo. A lost connection says nothing."""
    status = rpc_status.from_call(error)
    for detail in status.details if status else []:
        if detail.Is(RetryInfo.DESCRIPTOR):
            info = RetryInfo()
            detail.Unpack(info)
            return info.retry_delay.ToTimedelta().total_seconds()
    return 0.5


class PlayStream:
    """One table, followed and played at."""

    def __init__(self, tables: TableServiceStub, table_id: str, token: str) -> None:
        self._tables, self._table_id = tables, table_id
        self._metadata = [("authorization", f"Bearer {token}")]
        self._resume_token = b""
        # What was sent and not answered, in order.
        self._unanswered: dict[str, PlayRequest] = {}
        self._dropped = False
        self._open()

    def _open(self) -> None:
        self._outgoing: queue.SimpleQueue[PlayRequest | None] = queue.SimpleQueue()
        watch = WatchTableRequest(table_id=self._table_id, resume_token=self._resume_token)
        self._outgoing.put(PlayRequest(watch=watch))
        for request in self._unanswered.values():
            self._outgoing.put(request)
        self._call = self._tables.Play(iter(self._outgoing.get, None), metadata=self._metadata)

    def send(self, request: PlayRequest, named: str) -> None:
        """Sends a command, now and over each later stream until it is answered."""
        self._unanswered[named] = request
        self._outgoing.put(request)

    def repeat(self, named: str) -> None:
        """Sends a command once more that was not answered yet, as after a doubtful break."""
        self._outgoing.put(self._unanswered[named])

    def answered(self, named: str) -> None:
        self._unanswered.pop(named, None)

    def drop(self) -> None:
        """Breaks the stream off, as a lost connection would."""
        self._dropped = True
        self.close()

    def close(self) -> None:
        self._outgoing.put(None)
        self._call.cancel()

    def messages(self) -> Iterator[PlayResponse]:
        """What the room says, without a gap and without a repeat, over as many streams as it takes."""
        attempts = 0
        while True:
            try:
                for response in self._call:
                    attempts = 0
                    if response.seen.resume_token:
                        self._resume_token = response.seen.resume_token
                    if response.seen.WhichOneof("message") == "ended":
                        break
                    yield response
                    if self._dropped:
                        break
            except grpc.RpcError as error:
                if error.code() not in AGAIN or attempts == ATTEMPTS:
                    raise
                time.sleep(retry_delay(error))
            attempts += 1
            self._dropped = False
            self.close()
            self._open()
