"""Knows the messages of bundles and records: fields by number, and event types by number.

A message a line: `Name: number type name; …`. Types are those of protobuf, or another message;
before a type, `*` says repeated, `?` present or not, `|` one of several.
"""

from __future__ import annotations

from dataclasses import dataclass

MESSAGES = """
HandBundle: 1 bytes contents; 2 bytes sha256
BundleContents: 1 uint32 format; 2 bytes hand_id; 3 *BundleLog logs
BundleLog: 1 string name; 2 string key; 3 string checkpoint; 4 *LogRecord records; 5 *bytes
    proof
LogRecord: 1 uint64 position; 2 uint64 recorded_at_micros; 3 bytes stream; 4 uint64 version; 5
    uint32 type; 6 uint32 schema; 7 bool sealed; 8 bytes payload; 9 bytes salt; 10 bytes
    author_hash; 11 bytes previous; 12 bytes payload_hash; 13 uint32 payload_len
AbsentPaid: 1 bytes player_id
AccountClosed: 1 bytes player_id; 2 string reason
AccountFrozen: 1 bytes player_id; 2 string reason
AccountOpened: 1 string account
AccountUnfrozen: 1 bytes player_id; 2 string reason
AdjustmentProposed: 1 bytes adjustment_id; 2 string account; 3 sint64 amount; 4 string reason; 5
    string proposed_by
AdjustmentRejected: 1 bytes adjustment_id; 2 string account; 3 string reason
BiasFound: 1 OutcomeSubject subject; 2 enum look; 3 uint64 look_no; 4 uint64 trials; 5 double
    statistic; 6 uint32 degrees; 7 double p_value; 8 double adjusted_p; 9 double level
Build: 1 string version; 2 bytes sha256
CardRef: 1 uint32 op; 2 uint32 position; 3 string card; 4 bytes salt
CardsMoved: 1 uint32 seat; 2 *CardRef cards
CardsOpened: 1 Opening opening; 2 string caller
CardsShown: 1 uint32 seat; 2 *CardRef cards
CashOutDue: 1 uint32 seat; 2 uint64 amount; 3 bytes transfer_id
ChanceUsed: 1 Operation operation; 2 OperationResult result; 3 bool restock
ClockResumed: 1 uint32 turn; 2 uint64 deadline_micros
ClockStepped: 1 sint64 step_micros; 2 uint64 before_micros; 3 uint64 after_micros; 4 uint64 steps
CloseAsked:
Closing: 1 bytes closing; 2 *ClosingRow rows; 3 bytes key_id; 4 bytes signature
ClosingRow: 1 uint32 seat; 2 bytes player_id; 3 bytes commitment
Commitment: 1 bytes commitment; 2 bytes key_id; 3 bytes signature; 4 string origin
CommitmentsClosed: 1 Closing closing
DeckSubject: 1 uint32 first; 2 uint32 count
DisputeAnswered: 1 enum verdict
DisputeOpened: 1 bytes player_id; 2 bytes table_id; 3 uint64 hand_no; 4 bytes hand_id; 5 bytes
    evidence_sha256; 6 bytes bundle_sha256
Effect: 1 enum kind; 2 uint64 hand_no; 3 uint32 seat; 4 bytes player_id; 5 uint64 version
EffectResumed: 1 Effect effect; 2 enum resolution; 3 string reason; 4 bytes transfer_id; 5 bytes
    padding
EffectStopped: 1 Effect effect; 2 string why; 3 string reason; 4 bytes padding
EntropyClosed: 1 Closing closing
EntropyCommitted: 1 uint64 hand_no; 2 uint32 seat; 3 bytes player_id; 4 bytes commitment; 5 bytes
    key
EntropyFailed: 1 enum generator; 2 enum fault
EntropyRevealed: 1 uint32 seat; 2 bytes entropy
EntropyRow: 1 uint32 seat; 2 bytes player_id; 3 enum status; 4 bytes commitment; 5 bytes entropy
GameDisabled: 1 string variant; 2 string reason
GameEnabled: 1 string variant; 2 string reason
GuestSignedIn: 1 bytes refresh_sha256
HandAborted: 1 enum at_fault; 2 *uint32 seats; 3 string evidence; 4 enum cause
HandCommitted: 1 uint64 hand_no; 2 Commitment commitment
HandContinued: 1 uint64 deadline_micros
HandFinished: 1 uint64 hand_no; 2 bytes hand_id; 3 *RosterSeat seats; 4 uint64 sabacc_pot; 5
    uint64 carried_pot; 6 *uint64 sabacc_paid; 7 bool sabacc_won; 8 *uint32 misses; 9 bool
    aborted
HandOpened: 1 bytes table_id; 2 uint64 hand_no; 3 Commitment commitment; 4 string rule_set; 5
    *RosterSeat roster; 6 uint64 sabacc_pot; 7 uint64 carried_pot; 8 string settings; 9
    Build build
HandRevealed: 1 bytes seed
HandSealed: 1 bytes transcript; 2 *EntropyRow rows
HandSettled: 1 *SettlementLine lines; 2 *uint64 finishing_stacks; 3 uint64 finishing_sabacc_pot;
    4 uint64 finishing_carried_pot; 5 uint64 rake; 6 *uint64 sabacc_paid; 7 bool sabacc_won
HandStarted: 1 uint64 hand_no; 2 bytes hand_id
HandSuspended: 1 uint64 since_micros; 2 uint64 until_micros
Handle: 1 uint32 op; 2 uint32 position
HoldExpired: 1 bytes hold_id; 2 string from; 3 string to; 4 uint64 amount
HoldPlaced: 1 bytes hold_id; 2 string from; 3 string to; 4 uint64 amount; 5 uint64
    expires_micros
HoldReleased: 1 bytes hold_id; 2 string from; 3 string to; 4 uint64 amount
LeaveAsked: 1 uint32 seat; 2 string why; 3 bytes signature
Leg: 1 string account; 2 sint64 amount
LimitMark: 1 enum measure; 2 enum window; 3 uint64 limit; 4 uint64 left
LimitsSet: 1 bytes player_id; 2 enum by; 3 WindowLimits now; 4 WindowLimits later; 5 uint64
    later_micros; 6 enum measure
Move: 1 enum kind; 2 *string cards; 3 uint64 amount_credits; 4 *string names; 5 uint32 target_seat; 6
    uint32 value
MoveDecided: 1 uint32 seat; 2 Move move; 3 *CardRef cards; 4 bool by_clock; 5 uint32
    bank_used_ms; 6 uint32 turn; 7 bytes signature; 8 bytes padding
Opening: 1 *Handle cards; 2 uint32 audience_seat; 3 enum reason
Operation: 1 uint32 index; 2 |Shuffle shuffle; 3 |Roll roll; 4 |Pulse pulse; 5 |Pick pick; 6
    |Sample sample
OperationPerformed: 1 Operation operation; 2 OperationResult result
OperationResult: 1 uint32 index; 2 *uint32 values; 3 bytes root
OutcomeCounts: 1 OutcomeSubject subject; 2 uint64 trials; 3 *uint64 cells
OutcomeSubject: 1 bytes rules_hash; 2 |DeckSubject deck; 3 |uint32 die; 4 |uint32 pulse; 5 |uint32
    pick; 6 |SampleSubject sample
OutcomesTested: 1 uint64 hands; 2 enum look; 3 uint64 looks_at_all; 4 uint64 looks_at_newest; 5
    uint32 tests; 6 uint64 counted_to; 7 uint64 read_from; 8 *OutcomeCounts all; 9 *OutcomeCounts
    newest; 10 *OutcomeSubject found
Pick: 1 uint32 n
PlayerErased: 1 string reason; 2 bytes padding
PlayerExcluded: 1 bytes player_id; 2 ?uint64 until_micros
PlayerMarked: 1 bool bot
PotRefundDue: 1 bytes transfer_id; 2 *RosterSeat shares
PotRefunded:
Promise: 1 bytes rules_hash; 2 Commitment commitment
PromisesLost: 1 bytes table_id; 2 uint64 hand_no; 3 Promise promise
Pulse: 1 uint32 ppm
RefreshTokenUsed: 1 uint64 generation; 2 bytes refresh_sha256; 3 bytes request_id
Roll: 1 *uint32 sides
RoomSnapshotTaken: 1 uint64 size; 2 bytes sha256
RosterSeat: 1 uint32 seat; 2 bytes player_id; 3 uint64 stack; 4 bool house
Sample: 1 uint32 n; 2 uint32 k
SeatExcluded: 1 uint32 seat; 2 bytes player_id; 3 uint32 step; 4 uint64 until_hand_no; 5 uint64
    until_micros; 6 uint64 burnt_hand_no
SampleSubject: 1 uint32 of; 2 uint32 take
SeatFunded: 1 uint32 seat
SeatRefused: 1 uint32 seat; 2 string reason; 3 bytes padding; 10 string text
SeatRenamed: 1 uint32 seat
SeatTaken: 1 uint32 seat; 2 bytes player_id; 3 uint64 buy_in; 4 bytes transfer_id; 5 bool house
SeatVacated: 1 uint32 seat
SeedCommitted: 1 bytes table_id; 2 uint64 hand_no; 3 bytes rules_hash; 4 Commitment
    commitment; 5 Build build
SeedOpened: 1 bytes seed; 2 bool discarded
SeedRefused: 1 bytes seed
SeedSealed: 1 bytes transcript; 2 bytes beacon; 3 *EntropyRow rows
SettlementLine: 1 string text
SettlementPosted: 1 uint64 position
Shuffle: 1 uint32 pile; 2 uint32 fresh; 3 uint32 first_fresh; 4 *Handle cards
SnapshotTaken: 1 bytes sha256
StandingFound: 1 uint32 seat; 2 enum kind; 3 uint64 until_micros; 4 LimitMark limit; 5
    *LimitMark nearly; 6 bytes padding
SitOutChanged: 1 uint32 seat; 2 bool sitting_out; 3 string why
TableClosed:
TableDisabled: 1 string reason; 2 bool with_game
TableEnabled: 1 string reason; 2 bool with_game
TableCreated: 1 string name; 2 string rule_set; 3 uint32 seats; 4 uint64 min_buy_in; 5 uint64
    max_buy_in; 6 string settings; 8 uint32 pause_ms; 11 uint32 idle_seconds
TokensRevoked: 1 |string token_id; 2 |string subject; 3 uint64 issued_until_micros; 4 uint64
    forget_micros; 5 enum cause; 6 string reason; 7 bytes padding
TransferPosted: 1 bytes transfer_id; 2 enum kind; 3 *Leg legs; 4 bytes table_id; 5 bytes
    hand_id; 6 string reason; 7 bytes hold_id; 8 bool keep_rest; 9 bytes adjustment_id; 10
    string approved_by
WindowLimits: 1 ?uint64 day; 2 ?uint64 week; 3 ?uint64 month
"""

EVENTS = {
    1: "TableCreated", 2: "SeatTaken", 3: "SeatFunded", 4: "SeatRefused", 5: "LeaveAsked",
    6: "CashOutDue", 7: "SeatVacated", 8: "SitOutChanged", 9: "HandCommitted", 10: "HandOpened",
    11: "HandSealed", 12: "ChanceUsed", 13: "CardsMoved", 14: "MoveDecided", 15: "HandSettled",
    16: "SettlementPosted", 17: "HandRevealed", 18: "ClockResumed", 19: "HandStarted",
    20: "HandFinished", 21: "CloseAsked", 22: "PotRefundDue", 23: "PotRefunded",
    24: "TableClosed", 25: "CardsShown", 26: "AbsentPaid", 27: "EntropyCommitted",
    28: "EntropyClosed", 29: "EntropyRevealed", 30: "HandAborted", 32: "SeedRefused",
    33: "PlayerNamed", 34: "PlayerErased", 35: "DisputeOpened", 36: "DisputeStated",
    37: "DisputeAnswered", 38: "DisputeReasoned", 39: "SeatRenamed", 45: "EffectStopped",
    46: "EffectResumed", 47: "StandingFound", 48: "SeatExcluded", 49: "HandSuspended",
    50: "HandContinued", 51: "TableDisabled", 52: "TableEnabled", 60: "GuestSignedIn",
    61: "RefreshTokenUsed", 62: "TokensRevoked", 63: "GameDisabled", 64: "GameEnabled",
    65: "PlayerMarked", 66: "RoomSnapshotTaken",
    100: "SeedCommitted", 101: "SeedSealed", 102: "OperationPerformed",
    103: "CardsOpened", 104: "SeedOpened", 105: "CommitmentsClosed", 106: "EntropyFailed",
    107: "OutcomesTested", 108: "BiasFound", 109: "PromisesLost", 200: "AccountOpened",
    201: "TransferPosted", 202: "AccountFrozen", 203: "AccountUnfrozen", 204: "AccountClosed",
    205: "HoldPlaced", 206: "HoldReleased", 207: "HoldExpired", 208: "LimitsSet",
    209: "PlayerExcluded", 210: "AdjustmentProposed", 211: "AdjustmentRejected",
    215: "SnapshotTaken", 300: "ClockStepped",
}


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    name: str
    type: str
    mark: str
    """`*` repeated, `?` or `|` with presence of its own, else empty."""


def _read(text: str) -> dict[str, dict[int, Field]]:
    messages: dict[str, dict[int, Field]] = {}
    for line in text.strip().replace("\n    ", " ").splitlines():
        name, _, fields = line.partition(":")
        messages[name] = {}
        for field in filter(None, fields.strip().split("; ")):
            number, kind, label = field.split(" ")
            mark = kind[0] if kind[0] in "*?|" else ""
            messages[name][int(number)] = Field(label, kind[len(mark):], mark)
    return messages


SCHEMA = _read(MESSAGES)
