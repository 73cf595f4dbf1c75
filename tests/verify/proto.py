"""Knows protobuf's wire format, and reads it strictly: of each message only its one encoding.

Refused is what a canonical writer does not write: unknown fields, fields twice or out of order,
varints longer than needed, defaults written out, lists of numbers one by one, bytes that are left.
"""

from __future__ import annotations

import struct
from functools import cache
from types import SimpleNamespace
from typing import Any

from . import work
from .schema import SCHEMA, Field

MASK = (1 << 64) - 1
MAX_VARINT = 10
MAX_PARTS = 1_000_000
"""Messages and items of lists that are read of one file: an empty one takes two bytes of the file
and hundreds of memory."""
LIMIT = {"uint32": 1 << 32, "uint64": 1 << 64, "sint64": 1 << 64, "bool": 2, "enum": 1 << 64}
Message = SimpleNamespace


class Malformed(Exception):
    """The bytes are not the one encoding of such a message."""


class _Reader:
    """Bytes with a place."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.end = len(data)

    @property
    def more(self) -> bool:
        return self.at < self.end

    def varint(self) -> int:
        # Most numbers are of one byte.
        if self.more and (byte := self.data[self.at]) < 128:
            self.at += 1
            return byte
        value = 0
        for at in range(MAX_VARINT):
            if not self.more:
                raise Malformed("a number is cut off")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << 7 * at
            if byte < 128:
                if (byte == 0 and at > 0) or value > MASK:
                    raise Malformed("a number is longer than needed, or too large")
                return value
        raise Malformed("a number is longer than ten bytes")

    def bytes(self, length: int | None = None) -> bytes:
        length = self.varint() if length is None else length
        piece = self.data[self.at : self.at + length]
        if len(piece) < length:
            raise Malformed("a field is cut off")
        self.at += length
        return piece


class Budget:
    """Number of parts that may still be read."""

    def __init__(self, parts: int = MAX_PARTS) -> None:
        self.parts = parts

    def take(self) -> None:
        """One more."""
        work.step()
        self.parts -= 1
        if self.parts < 0:
            raise Malformed("there are too many parts in it")


def decode(name: str, data: bytes, budget: Budget | None = None) -> Message:
    """Reads a message. Fields that are not there have their default, messages None."""
    budget = Budget() if budget is None else budget
    budget.take()
    fields = _fields(name)
    found = {field.name: [] if field.mark == "*" else default for field, default, _, _ in fields.values()}
    reader, before, chosen = _Reader(data), 0, False
    while reader.more:
        work.step()
        key = reader.varint()
        number, wire = key >> 3, key & 7
        if number not in fields:
            raise Malformed(f"{name} has no field {number}")
        field, default, listed, own_wire = fields[number]
        if number < before or (number == before and not listed):
            raise Malformed(f"{name}.{field.name} is out of order or there twice")
        if field.mark == "|" and chosen:
            raise Malformed(f"{name} has two of which there can be one")
        before, chosen = number, chosen or field.mark == "|"
        if wire != own_wire:
            raise Malformed(f"{name}.{field.name} is of another wire type")
        value = _value(field, reader, budget)
        if listed:
            budget.take()
            found[field.name].append(value)
        elif field.mark in ("", "*") and value == default and value is not None:
            raise Malformed(f"{name}.{field.name} is written out, and is the default")
        else:
            found[field.name] = value
    return Message(**found)


@cache
def _fields(name: str) -> dict[int, tuple[Field, Any, bool, int]]:
    """Gives each field of a message with its default, whether it is a list of pieces, and its wire type."""
    pieces = ("bytes", "string", *SCHEMA)
    return {
        number: (field, _default(field), field.mark == "*" and field.type in pieces, _wire(field))
        for number, field in SCHEMA[name].items()
    }


def _wire(field: Field) -> int:
    if field.type == "double":
        return 1
    return 0 if field.type in LIMIT and field.mark != "*" else 2


def first_number(data: bytes) -> int | None:
    """The first field of a message, where it is number 1 and a varint."""
    reader = _Reader(data)
    return reader.varint() if reader.more and reader.varint() == 1 << 3 else None


def _default(field: Field) -> Any:
    if field.mark == "*":
        return []
    if field.mark or field.type in SCHEMA:
        return None
    return {"bytes": b"", "string": "", "bool": False, "double": 0.0}.get(field.type, 0)


def _value(field: Field, reader: _Reader, budget: Budget) -> Any:
    if field.type in LIMIT:
        if field.mark != "*":
            return _number(field.type, reader.varint())
        packed = _Reader(reader.bytes())
        numbers = []
        while packed.more:
            budget.take()
            numbers.append(_number(field.type, packed.varint()))
        return numbers
    if field.type == "double":
        return struct.unpack("<d", reader.bytes(8))[0]
    piece = reader.bytes()
    if field.type == "bytes":
        return piece
    if field.type == "string":
        try:
            return piece.decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed(f"{field.name} is no text") from None
    return decode(field.type, piece, budget)


def _number(kind: str, value: int) -> int | bool:
    if value >= LIMIT[kind]:
        raise Malformed("a number is too large for its field")
    if kind == "bool":
        return value == 1
    if kind == "sint64":
        return (value >> 1) ^ -(value & 1)
    if kind == "enum":
        signed = value - (1 << 64) if value >> 63 else value
        if not -(1 << 31) <= signed < 1 << 31:
            raise Malformed("a number is too large for its field")
        return signed
    return value
