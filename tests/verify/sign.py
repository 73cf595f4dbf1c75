"""Knows Ed25519, strictly: the only module that needs a package outside the standard library."""

from __future__ import annotations

from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from . import work

P = 2**255 - 19
_D = -121665 * pow(121666, -1, P) % P


def _small_order() -> frozenset[int]:
    """The y of the points whose order divides 8: those of order 1, 2, 4, and of order 8."""
    root = pow(2, (P - 1) // 4, P)

    def square_root(square: int) -> int | None:
        found = pow(square, (P + 3) // 8, P)
        if found * found % P != square:
            found = found * root % P
        return found if found * found % P == square else None

    # Doubling such a point gives one with y = 0, which asks for d y^4 + 2 y^2 - 1 = 0.
    inner = square_root((1 + _D) % P)
    assert inner is not None
    found = {0, 1, P - 1}
    for sign in (1, -1):
        y = square_root((-1 + sign * inner) * pow(_D, -1, P) % P)
        if y is not None:
            found |= {y, P - y}
    return frozenset(found)


SMALL_ORDER = _small_order()


def is_key(key: bytes) -> bool:
    """Whether these bytes can be a public key: 32, the one spelling of a point, of large order."""
    y = int.from_bytes(key, "little") & (1 << 255) - 1
    return len(key) == 32 and y < P and y not in SMALL_ORDER and _on_curve(y)


@lru_cache(maxsize=1024)
def _on_curve(y: int) -> bool:
    """Whether a point has this y: (y^2 - 1) / (d y^2 + 1) is a square."""
    square = (y * y - 1) * pow(_D * y * y + 1, -1, P) % P
    return pow(square, (P - 1) // 2, P) == 1


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is the key's over the message."""
    work.signature(len(message))
    if len(signature) != 64 or not is_key(key) or not is_key(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
