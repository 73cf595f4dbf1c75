"""Check `streams`: numbers, chains, and which event may follow which."""

from __future__ import annotations

from . import merkle, quota, table_stream
from .bundle import KEPT_BACK, SECRET_AT_DEALER, SECRET_AT_TABLE, Read
from .case import YEAR_10000, Case, hold, missing

RECOVERY = 4
PLAY = ("ChanceUsed", "CardsMoved", "MoveDecided", "ClockResumed")
OPEN = ("opened", "closed", "play", "shown")
"""What a hand is in before it is over."""
# Of each event: what the hand is in when it comes, and from then on (empty: as before).
STEPS: dict[str, tuple[tuple[str, ...], str]] = {
    "HandOpened": (("",), "opened"),
    "EntropyClosed": (("opened",), "closed"),
    "EntropyRevealed": (("closed", "aborted"), ""),
    "HandSealed": (("closed",), "play"),
    **{kind: (("play",), "") for kind in PLAY},
    "CardsShown": (("play", "shown"), "shown"),
    "HandSettled": (("play", "shown"), "settled"),
    "SettlementPosted": (("settled",), ""),
    "HandRevealed": (("settled", "aborted"), ""),
    "SeedRefused": (("settled", "aborted"), ""),
    "HandSuspended": (OPEN, ""),
    "HandContinued": (OPEN, ""),
    "HandAborted": (OPEN, "aborted"),
}
ONCE = ("SettlementPosted", "HandRevealed", "SeedRefused")
WHILE_SUSPENDED = (
    "EntropyRevealed", "MoveDecided", "ClockResumed", "HandContinued", "HandAborted",
)


def check(case: Case) -> None:
    """The streams are whole, and their events in an order that can be."""
    if not case.hand or not case.dealer:
        raise missing("the table's or the dealer's stream of the hand is not there")
    whole("the table's log", case.hand_id, case.hand)
    whole("the dealer's log", case.hand_id, case.dealer)
    table = case.one("HandOpened").event.table_id
    part("the table's log", table, case.table)
    part("the wallet's log", table, case.wallet)
    plausible(case)
    kept_back(case)
    hand_in_order(case)
    dealer_in_order(case)
    table_stream.check(case)
    quota.check(case)


def whole(log: str, stream: bytes, records: list[Read]) -> None:
    """A stream from its first record on, without a gap."""
    part(log, stream, records)
    hold(
        [read.record.version for read in records] == list(range(1, len(records) + 1)),
        f"{log}: the versions of the stream have a gap",
    )
    hold(records[0].record.previous == bytes(32), f"{log}: the first record names one before it")


def part(log: str, stream: bytes, records: list[Read]) -> None:
    """Records of a stream in order; of two neighbours the one names the other."""
    for read in records:
        hold(read.record.stream == stream, f"{log}, {read.position}: of another stream")
    for before, read in zip(records, records[1:]):
        ascends = before.record.version < read.record.version and before.at <= read.at
        hold(ascends and before.position < read.position, f"{log}, {read.position}: out of order")
        if before.record.version + 1 == read.record.version:
            named = read.record.previous == merkle.sha256(merkle.leaf_record(before.record))
            hold(named, f"{log}, {read.position}: does not name the record before it")


def plausible(case: Case) -> None:
    """Every record is of a time before the year 10000."""
    for log in case.bundle.logs:
        for read in log.records:
            hold(
                read.at < YEAR_10000,
                f"the {log.name}'s log, {read.position}: recorded in the year 10000 or later",
            )


def hand_in_order(case: Case) -> None:
    """The hand's stream is that of a hand, played or come to nothing."""
    state, suspended = "", False
    seen: set[str] = set()
    for read in case.hand:
        states, after = STEPS.get(read.kind, ((), ""))
        comes = state in states and not (read.kind in ONCE and read.kind in seen)
        comes = comes and (not suspended or read.kind in WHILE_SUSPENDED)
        if read.kind in ("HandRevealed", "SeedRefused"):
            comes = comes and not seen & {"HandRevealed", "SeedRefused"}
        if read.kind == "HandContinued":
            comes = comes and suspended
        hold(comes, f"the table's log, {read.position}: {read.kind} comes too early or too late")
        state = after or state
        seen.add(read.kind)
        suspended = read.kind == "HandSuspended" or (
            suspended and read.kind not in ("HandContinued", "HandAborted")
        )


def dealer_in_order(case: Case) -> None:
    """The dealer's stream: it commits, closes, seals, works, opens its seed. Then whoever lost its
    memory may still ask again. How often it committed or closed is judged with the promise."""
    seen: set[str] = set()
    for read in case.dealer:
        hold(
            _dealer_may(read, seen),
            f"the dealer's log, {read.position}: {read.kind} comes too early or too late",
        )
        seen.add(read.kind)


def _dealer_may(read: Read, seen: set[str]) -> bool:
    promised, sealed, opened = (
        kind in seen for kind in ("SeedCommitted", "SeedSealed", "SeedOpened")
    )
    if read.kind == "SeedCommitted":
        return not opened and not sealed and "CommitmentsClosed" not in seen
    if read.kind == "CommitmentsClosed":
        return promised and not opened and not sealed
    if read.kind == "SeedSealed":
        return "CommitmentsClosed" in seen and not opened and not sealed
    if read.kind == "OperationPerformed":
        return sealed and not opened
    if read.kind == "CardsOpened":
        opening = read.event.opening
        recovery = opening is not None and opening.reason == RECOVERY
        return sealed and (not opened or recovery)
    if read.kind == "SeedOpened":
        return (sealed or promised and read.event.discarded) and not opened
    return False


def kept_back(case: Case) -> None:
    """Nothing is sealed, since no kind of these streams is. A payload is kept back where it concerns
    one player, in the table's stream, or where it has a secret whose seed is shut."""
    opened = case.find("SeedOpened") or case.find("HandRevealed")
    for records, always, secret in (
        (case.hand, (), SECRET_AT_TABLE), (case.table, KEPT_BACK, ()),
        (case.dealer, (), SECRET_AT_DEALER), (case.wallet, (), ()),
    ):
        may = (*always, *(() if opened else secret))
        for read in records:
            hold(not read.record.sealed, f"position {read.position}: sealed, as no {read.kind} is")
            hold(
                not read.kept_back or read.kind in may,
                f"position {read.position}: {read.kind} is kept back, and holds no secret",
            )
