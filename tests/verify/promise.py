"""Knows what the dealer promised for a hand, and the keys that its signed texts may have."""

from __future__ import annotations

from dataclasses import dataclass

from . import fair
from .case import Case, Trouble, hold, missing, of_length
from .proto import Message


@dataclass(frozen=True)
class Promise:
    """The dealer's commitment, and the context it is made in."""

    event: Message
    signed: Message
    commitment: bytes
    context: bytes


def promise(case: Case) -> Promise:
    """The commitment in the dealer's log."""
    event = case.one("SeedCommitted").event
    signed = event.commitment
    if signed is None:
        raise Trouble("the commitment is missing")
    table = of_length("the commitment's table", event.table_id, 16)
    rules = of_length("the hash of the rules", event.rules_hash, 32)
    made = of_length("the commitment", signed.commitment, 32)
    return Promise(event, signed, made, fair.context(signed.origin, table, event.hand_no, rules))


def dealer_key(case: Case, key_id: bytes, position: int) -> bytes:
    """The dealer's key of this id, for a text whose record stands at this position."""
    if not case.dealer_keys:
        raise missing("there is no key of the dealer to check its signatures with")
    found = [one for one in case.dealer_keys if fair.key_id(one.key.public) == key_id]
    hold(found != [], "a text of the dealer is signed with a key that is not the dealer's")
    ends = [one.until for one in found if one.until is not None]
    hold(
        all(position < end for end in ends),
        f"position {position} of the dealer's log is signed with a key that had ended",
    )
    return found[0].key.public
