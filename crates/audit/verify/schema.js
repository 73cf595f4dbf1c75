// The messages of a bundle and of the events in it: `name:type=number`. `*` after a type is a list, `?` a field that
// may be absent as well as zero, `|name` one of several of that name.

const SCHEMA = `
HandBundle contents:bytes=1 sha256:bytes=2
BundleContents format:u32=1 hand_id:bytes=2 logs:BundleLog*=3
BundleLog name:string=1 key:string=2 checkpoint:string=3 records:LogRecord*=4 proof:bytes*=5
LogRecord position:u64=1 recorded_at_micros:u64=2 stream:bytes=3 version:u64=4 type:u32=5 schema:u32=6 sealed:bool=7 payload:bytes=8 salt:bytes=9 author_hash:bytes=10 previous:bytes=11 payload_hash:bytes=12 payload_len:u32=13

Move kind:enum=1 cards:string*=2 amount:u64=3 names:string*=4 target_seat:u32=5 value:u32=6
CardRef op:u32=1 position:u32=2 card:string=3 salt:bytes=4
SettlementLine text:string=1
Commitment commitment:bytes=1 key_id:bytes=2 signature:bytes=3 origin:string=4
Closing closing:bytes=1 rows:ClosingRow*=2 key_id:bytes=3 signature:bytes=4
ClosingRow seat:u32=1 player_id:bytes=2 commitment:bytes=3
Build version:string=1 sha256:bytes=2
EntropyRow seat:u32=1 player_id:bytes=2 status:enum=3 commitment:bytes=4 entropy:bytes=5
Operation index:u32=1 shuffle:Shuffle|kind=2 roll:Roll|kind=3 pulse:Pulse|kind=4 pick:Pick|kind=5 sample:Sample|kind=6
Shuffle pile:u32=1 fresh:u32=2 first_fresh:u32=3 cards:Handle*=4
Handle op:u32=1 position:u32=2
Roll sides:u32*=1
Pulse ppm:u32=1
Pick n:u32=1
Sample n:u32=1 k:u32=2
Opening cards:Handle*=1 audience_seat:u32=2 reason:enum=3
OperationResult index:u32=1 values:u32*=2 root:bytes=3
Leg account:string=1 amount:s64=2
LimitMark measure:enum=1 window:enum=2 limit:u64=3 left:u64=4
Effect kind:enum=1 hand_no:u64=2 seat:u32=3 player_id:bytes=4 version:u64=5
RosterSeat seat:u32=1 player_id:bytes=2 stack:u64=3 house:bool=4
WindowLimits day:u64?=1 week:u64?=2 month:u64?=3

TableCreated name:string=1 rule_set:string=2 seats:u32=3 min_buy_in:u64=4 max_buy_in:u64=5 settings:string=6 pause_ms:u32=8 idle_seconds:u32=11
SeatTaken seat:u32=1 player_id:bytes=2 buy_in:u64=3 transfer_id:bytes=4 house:bool=5
SeatFunded seat:u32=1
SeatRefused seat:u32=1 reason:string=2 padding:bytes=3 text:string=10
LeaveAsked seat:u32=1 why:string=2 signature:bytes=3
CashOutDue seat:u32=1 amount:u64=2 transfer_id:bytes=3
SeatVacated seat:u32=1
SitOutChanged seat:u32=1 sitting_out:bool=2 why:string=3
SeatRenamed seat:u32=1
SeatExcluded seat:u32=1 player_id:bytes=2 step:u32=3 until_hand_no:u64=4 until_micros:u64=5 burnt_hand_no:u64=6
HandCommitted hand_no:u64=1 commitment:Commitment=2
HandStarted hand_no:u64=1 hand_id:bytes=2
HandOpened table_id:bytes=1 hand_no:u64=2 commitment:Commitment=3 rule_set:string=4 roster:RosterSeat*=5 sabacc_pot:u64=6 carried_pot:u64=7 settings:string=8 build:Build=9
EntropyCommitted hand_no:u64=1 seat:u32=2 player_id:bytes=3 commitment:bytes=4 key:bytes=5
EntropyClosed closing:Closing=1
EntropyRevealed seat:u32=1 entropy:bytes=2
HandAborted at_fault:enum=1 seats:u32*=2 evidence:string=3 cause:enum=4
HandSuspended since_micros:u64=1 until_micros:u64=2
HandContinued deadline_micros:u64=1
StandingFound seat:u32=1 kind:enum=2 until_micros:u64=3 limit:LimitMark=4 nearly:LimitMark*=5 padding:bytes=6
SnapshotTaken sha256:bytes=1
ClockStepped step_micros:s64=1 before_micros:u64=2 after_micros:u64=3 steps:u64=4
EffectStopped effect:Effect=1 why:string=2 reason:string=3 padding:bytes=4
EffectResumed effect:Effect=1 resolution:enum=2 reason:string=3 transfer_id:bytes=4 padding:bytes=5
SeedRefused seed:bytes=1
HandSealed transcript:bytes=1 rows:EntropyRow*=2
ChanceUsed operation:Operation=1 result:OperationResult=2 restock:bool=3
CardsMoved seat:u32=1 cards:CardRef*=2
MoveDecided seat:u32=1 move:Move=2 cards:CardRef*=3 by_clock:bool=4 bank_used_ms:u32=5 turn:u32=6 signature:bytes=7 padding:bytes=8
ClockResumed turn:u32=1 deadline_micros:u64=2
CardsShown seat:u32=1 cards:CardRef*=2
HandSettled lines:SettlementLine*=1 finishing_stacks:u64*=2 finishing_sabacc_pot:u64=3 finishing_carried_pot:u64=4 rake:u64=5 sabacc_paid:u64*=6 sabacc_won:bool=7
HandFinished hand_no:u64=1 hand_id:bytes=2 seats:RosterSeat*=3 sabacc_pot:u64=4 carried_pot:u64=5 sabacc_paid:u64*=6 sabacc_won:bool=7 misses:u32*=8 aborted:bool=9
SettlementPosted position:u64=1
HandRevealed seed:bytes=1
CloseAsked
TableDisabled reason:string=1 with_game:bool=2
TableEnabled reason:string=1 with_game:bool=2
PotRefundDue transfer_id:bytes=1 shares:RosterSeat*=2
PotRefunded
AbsentPaid player_id:bytes=1
TableClosed

SeedCommitted table_id:bytes=1 hand_no:u64=2 rules_hash:bytes=3 commitment:Commitment=4 build:Build=5
CommitmentsClosed closing:Closing=1
SeedSealed transcript:bytes=1 beacon:bytes=2 rows:EntropyRow*=3
OperationPerformed operation:Operation=1 result:OperationResult=2
CardsOpened opening:Opening=1 caller:string=2
SeedOpened seed:bytes=1 discarded:bool=2

DeckSubject first:u32=1 count:u32=2
SampleSubject of:u32=1 take:u32=2
OutcomeSubject rules_hash:bytes=1 deck:DeckSubject|operation=2 die:u32|operation=3 pulse:u32|operation=4 pick:u32|operation=5 sample:SampleSubject|operation=6
OutcomeCounts subject:OutcomeSubject=1 trials:u64=2 cells:u64*=3
EntropyFailed generator:enum=1 fault:enum=2
OutcomesTested hands:u64=1 look:enum=2 looks_at_all:u64=3 looks_at_newest:u64=4 tests:u32=5 counted_to:u64=6 read_from:u64=7 all:OutcomeCounts*=8 newest:OutcomeCounts*=9 found:OutcomeSubject*=10
BiasFound subject:OutcomeSubject=1 look:enum=2 look_no:u64=3 trials:u64=4 statistic:double=5 degrees:u32=6 p_value:double=7 adjusted_p:double=8 level:double=9
Promise rules_hash:bytes=1 commitment:Commitment=2
PromisesLost table_id:bytes=1 hand_no:u64=2 promise:Promise=3

PlayerErased reason:string=1 padding:bytes=2
PlayerMarked bot:bool=1
GuestSignedIn refresh_sha256:bytes=1
RefreshTokenUsed generation:u64=1 refresh_sha256:bytes=2 request_id:bytes=3
TokensRevoked token_id:string|tokens=1 subject:string|tokens=2 issued_until_micros:u64=3 forget_micros:u64=4 cause:enum=5 reason:string=6 padding:bytes=7
GameDisabled variant:string=1 reason:string=2
GameEnabled variant:string=1 reason:string=2
RoomSnapshotTaken size:u64=1 sha256:bytes=2
DisputeOpened player_id:bytes=1 table_id:bytes=2 hand_no:u64=3 hand_id:bytes=4 evidence_sha256:bytes=5 bundle_sha256:bytes=6
DisputeAnswered verdict:enum=1

AccountOpened account:string=1
TransferPosted transfer_id:bytes=1 kind:enum=2 legs:Leg*=3 table_id:bytes=4 hand_id:bytes=5 reason:string=6 hold_id:bytes=7 keep_rest:bool=8 adjustment_id:bytes=9 approved_by:string=10
AccountFrozen player_id:bytes=1 reason:string=2
AccountUnfrozen player_id:bytes=1 reason:string=2
AccountClosed player_id:bytes=1 reason:string=2
HoldPlaced hold_id:bytes=1 from:string=2 to:string=3 amount:u64=4 expires_micros:u64=5
HoldReleased hold_id:bytes=1 from:string=2 to:string=3 amount:u64=4
HoldExpired hold_id:bytes=1 from:string=2 to:string=3 amount:u64=4
LimitsSet player_id:bytes=1 by:enum=2 now:WindowLimits=3 later:WindowLimits=4 later_micros:u64=5 measure:enum=6
PlayerExcluded player_id:bytes=1 until_micros:u64?=2
AdjustmentProposed adjustment_id:bytes=1 account:string=2 amount:s64=3 reason:string=4 proposed_by:string=5
AdjustmentRejected adjustment_id:bytes=1 account:string=2 reason:string=3
`;

// The numbers by which logs name their events.
const TYPES = `
1 TableCreated SeatTaken SeatFunded SeatRefused LeaveAsked CashOutDue SeatVacated SitOutChanged HandCommitted HandOpened HandSealed
ChanceUsed CardsMoved MoveDecided HandSettled SettlementPosted HandRevealed ClockResumed HandStarted HandFinished CloseAsked
PotRefundDue PotRefunded TableClosed CardsShown AbsentPaid EntropyCommitted EntropyClosed EntropyRevealed HandAborted
32 SeedRefused PlayerNamed PlayerErased DisputeOpened DisputeStated DisputeAnswered DisputeReasoned SeatRenamed
45 EffectStopped EffectResumed StandingFound SeatExcluded HandSuspended HandContinued
TableDisabled TableEnabled
60 GuestSignedIn RefreshTokenUsed TokensRevoked GameDisabled GameEnabled PlayerMarked RoomSnapshotTaken
100 SeedCommitted SeedSealed OperationPerformed CardsOpened SeedOpened CommitmentsClosed EntropyFailed OutcomesTested BiasFound PromisesLost
200 AccountOpened TransferPosted AccountFrozen AccountUnfrozen AccountClosed HoldPlaced HoldReleased HoldExpired LimitsSet PlayerExcluded
AdjustmentProposed AdjustmentRejected
215 SnapshotTaken
300 ClockStepped
`;

function field(text) {
  const [, name, type, mark, group, number] = /^(\w+):(\w+)([*?]?)(?:\|(\w+))?=(\d+)$/.exec(text);
  return { name, type, list: mark === "*", optional: mark === "?", group: group ?? null, number: Number(number) };
}

export const MESSAGES = new Map(
  SCHEMA.trim()
    .split(/\n+/)
    .map((line) => {
      const [name, ...fields] = line.split(" ");
      return [name, fields.map(field)];
    }),
);

export const EVENT_NAMES = new Map();
for (const word of TYPES.trim().split(/\s+/)) {
  const next = EVENT_NAMES.size === 0 ? 0 : Math.max(...EVENT_NAMES.keys()) + 1;
  if (/^\d+$/.test(word)) EVENT_NAMES.set(Number(word), null);
  else EVENT_NAMES.set(EVENT_NAMES.get(next - 1) === null ? next - 1 : next, word);
}

export const MOVE_KINDS = [
  null,
  "draw",
  "trade",
  "stand",
  "lock",
  "unlock",
  "check",
  "bet",
  "match",
  "raise",
  "fold",
  "call-hand",
  "leave",
  "align",
  "keep",
  "drop",
  "choose",
  "token",
  "prime",
  "draw-from",
  "discard",
  "impostor",
  "gain",
  "swap",
  "junk",
  "select",
  "add",
  "void",
];
