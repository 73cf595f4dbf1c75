#!/usr/bin/env python3
"""Makes and checks the test vectors of sabacc/fair/v1.

    make.py REFERENCE.py --write FILE     writes the vectors that the reference gives
    make.py REFERENCE.py --check FILE     fails unless FILE is those vectors, byte for byte

REFERENCE.py is an implementation of the scheme in Python that shares no code with this crate; the
crate's tests read FILE. Inputs come from SHA-256 in counter mode, so they are the same everywhere.
Numbers of 64 bits are decimal strings, bytes are hexadecimal. A shuffle keeps its first twelve
cards, the SHA-256 of all of them, the deck root, and one card's record.
"""
import argparse
import hashlib
import importlib.util
import json
import sys

SEQUENCES = 1000
EDGES = [0, 1, 2**32, 2**63, 2**64 - 1]
ORIGINS = ["sabacc.example/room1", "cards.example.org/table/3", "", "kasino.example/räume"]


class Draw:
    """A repeatable source of inputs. It only has to be varied: bias is of no account here."""

    def __init__(self, name):
        self.name, self.counter, self.buffer = name.encode(), 0, b""

    def bytes(self, count):
        while len(self.buffer) < count:
            block = self.name + self.counter.to_bytes(8, "big")
            self.buffer += hashlib.sha256(block).digest()
            self.counter += 1
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def below(self, n):
        return int.from_bytes(self.bytes(8), "big") % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def one_of(self, things):
        return things[self.below(len(things))]

    def some_of(self, things, count):
        rest, taken = list(things), []
        for _ in range(count):
            taken.append(rest.pop(self.below(len(rest))))
        return taken

    def number(self, bits):
        """Often an edge, otherwise anything."""
        if self.below(8) == 0:
            return min(self.one_of(EDGES), 2**bits - 1)
        return self.below(2 ** self.between(1, bits))


def rows_of(ref, draw, ctx, dc):
    """The rows as the reference takes them, and as the file tells them."""
    seats = sorted(draw.some_of(range(1, 9) if draw.below(10) else range(256), draw.between(0, 4)))
    rows, told = [], []
    for seat in seats:
        player, status, entropy = draw.bytes(16), draw.one_of([1, 1, 2, 3]), draw.bytes(32)
        commitment = ref.client_commit(ctx, dc, seat, player, entropy)
        row = {"seat": seat, "player": player.hex(), "status": status}
        if status < 3:
            row["commitment"] = commitment.hex()
        if status == 1:
            row["entropy"] = entropy.hex()
        rows.append((seat, player, status, commitment, entropy))
        told.append(row)
    return rows, told


def shuffled(ref, draw, keys, index):
    pile = draw.below(4) if draw.below(10) else draw.below(256)
    told = {"kind": "shuffle", "pile": pile}
    if draw.below(4):
        first, count = draw.one_of([(0, 76), (0, 62), (0, 22), (22, 22), (0, 44), (1, 255), (9, 1)])
        cards = list(range(first, first + count))
        told["range"] = [first, count]
    else:
        cards = draw.some_of(range(76), draw.between(1, 40))
        told["cards"] = bytes(cards).hex()
    k_hand, k_salt = keys
    result = ref.shuffle(k_hand, index, pile, cards)
    position = draw.below(len(result))
    record, leaf = ref.card_leaf(k_salt, index, position, result[position])
    told["first"] = bytes(result[:12]).hex()
    told["all"] = hashlib.sha256(bytes(result)).hexdigest()
    told["root"] = ref.deck_root(k_salt, index, result).hex()
    told["leaf"] = {"position": position, "record": record.hex(), "hash": leaf.hex()}
    return told


def operation_of(ref, draw, keys, index):
    kind = draw.one_of(["shuffle", "shuffle", "roll", "pulse", "pick", "sample"])
    k_hand = keys[0]
    if kind == "shuffle":
        return shuffled(ref, draw, keys, index)
    if kind == "roll":
        sides = [draw.one_of([1, 2, 6, 6, 10, 12, 20, 255]) for _ in range(draw.between(1, 5))]
        return {"kind": kind, "sides": sides, "result": ref.roll(k_hand, index, sides)}
    if kind == "pulse":
        ppm = draw.one_of([0, 1, 55555, 100000, 500000, 999999, 1000000, draw.below(1000001)])
        return {"kind": kind, "ppm": ppm, "result": ref.pulse(k_hand, index, ppm)}
    if kind == "pick":
        n = draw.one_of([1, 2, 3, 4, 8, 76, 2**31 + 1, 2**32 - 1, 1 + draw.below(2**32 - 1)])
        return {"kind": kind, "n": n, "result": ref.pick(k_hand, index, n)}
    n = draw.between(1, 300)
    k = draw.between(1, min(n, 12))
    return {"kind": kind, "n": n, "k": k, "result": ref.sample(k_hand, index, n, k)}


def sequence(ref, number):
    draw = Draw(f"sabacc vectors {number} ")
    origin, table, hand_no = draw.one_of(ORIGINS), draw.bytes(16), draw.number(64)
    rules, seed = draw.bytes(32), draw.bytes(64)
    ctx = ref.ctx(origin.encode(), table, hand_no, rules)
    dc = ref.dealer_commit(ctx, seed)
    rows, told_rows = rows_of(ref, draw, ctx, dc)
    beacon, told_beacon = b"", None
    if draw.below(4) == 0:
        kind, round_no, value = draw.below(256), draw.number(64), draw.bytes(32)
        beacon = bytes([kind]) + round_no.to_bytes(8, "big") + value
        told_beacon = {"kind": kind, "round": str(round_no), "value": value.hex()}
    tr = ref.transcript(ctx, dc, beacon, rows)
    keys = ref.hand_keys(tr, seed)
    operations = []
    for nth in range(draw.between(1, 5)):
        index = nth if draw.below(8) else draw.number(32)
        operations.append({"index": index} | operation_of(ref, draw, keys, index))
    return {
        "origin": origin, "table": table.hex(), "hand_no": str(hand_no), "rules": rules.hex(),
        "seed": seed.hex(), "beacon": told_beacon, "rows": told_rows, "ctx": ctx.hex(),
        "dc": dc.hex(), "tr": tr.hex(), "keys": hashlib.sha256(b"".join(keys)).hexdigest(),
        "operations": operations,
    }


def published(ref):
    """The one hand whose figures are published with the scheme, in full."""
    rules, seed = hashlib.sha256(b"rules").digest(), bytes(range(64))
    ctx = ref.ctx(b"sabacc.example/room1", bytes(range(16)), 7, rules)
    dc = ref.dealer_commit(ctx, seed)
    seats = [(1, b"\xa1", 1, b"\x11"), (3, b"\xa2", 1, b"\x22"), (4, b"\xa3", 2, b"\x33")]
    rows = [
        (seat, p * 16, status, ref.client_commit(ctx, dc, seat, p * 16, e * 32), e * 32)
        for seat, p, status, e in seats
    ]
    tr = ref.transcript(ctx, dc, b"", rows)
    k_hand, k_salt = ref.hand_keys(tr, seed)
    deck = ref.shuffle(k_hand, 0, 0, range(76))
    return {
        "ctx": ctx.hex(), "dc": dc.hex(), "tr": tr.hex(), "k_hand": k_hand.hex(),
        "k_salt": k_salt.hex(), "shuffle": bytes(deck).hex(),
        "root": ref.deck_root(k_salt, 0, deck).hex(), "roll": ref.roll(k_hand, 1, [6, 6]),
        "pulse": ref.pulse(k_hand, 2, 100000), "pick": ref.pick(k_hand, 3, 4),
        "sample": ref.sample(k_hand, 4, 16, 3),
    }


def text(ref):
    line = lambda value: json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    sequences = ",\n".join(line(sequence(ref, number)) for number in range(SEQUENCES))
    return f'{{"scheme":"sabacc/fair/v1","published":{line(published(ref))},\n"sequences":[\n{sequences}\n]}}\n'


def load(path):
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description="Makes and checks the vectors of sabacc/fair/v1.")
    parser.add_argument("reference", help="the reference implementation, a Python file")
    todo = parser.add_mutually_exclusive_group(required=True)
    todo.add_argument("--write", metavar="FILE")
    todo.add_argument("--check", metavar="FILE")
    asked = parser.parse_args()
    made = text(load(asked.reference)).encode()
    if asked.write:
        with open(asked.write, "wb") as file:
            file.write(made)
        return 0
    with open(asked.check, "rb") as file:
        kept = file.read()
    if kept == made:
        print(f"{asked.check}: {SEQUENCES} sequences as the reference gives them")
        return 0
    pairs = zip(kept.splitlines(), made.splitlines())
    line = next((nth for nth, (a, b) in enumerate(pairs, 1) if a != b), "the shorter one's last")
    print(f"{asked.check} differs from what the reference gives, first at line {line}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
