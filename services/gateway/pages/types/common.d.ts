// Messages of sabacc.common.v1 in protobuf's JSON: 64-bit numbers, bytes and times are text, and what stands at its
// default is left out.

export type Role = "ROLE_PLAYER" | "ROLE_OPERATOR" | "ROLE_AUDITOR" | "ROLE_SERVICE" | "ROLE_ANYBODY";
export type MoveKind =
  "MOVE_KIND_DRAW" | "MOVE_KIND_TRADE" | "MOVE_KIND_STAND" | "MOVE_KIND_LOCK" | "MOVE_KIND_UNLOCK" | "MOVE_KIND_CHECK"
  | "MOVE_KIND_BET" | "MOVE_KIND_MATCH" | "MOVE_KIND_RAISE" | "MOVE_KIND_FOLD" | "MOVE_KIND_CALL_HAND"
  | "MOVE_KIND_LEAVE" | "MOVE_KIND_ALIGN" | "MOVE_KIND_KEEP" | "MOVE_KIND_DROP" | "MOVE_KIND_CHOOSE" | "MOVE_KIND_TOKEN"
  | "MOVE_KIND_PRIME" | "MOVE_KIND_DRAW_FROM" | "MOVE_KIND_DISCARD" | "MOVE_KIND_IMPOSTOR" | "MOVE_KIND_GAIN"
  | "MOVE_KIND_SWAP" | "MOVE_KIND_JUNK" | "MOVE_KIND_SELECT" | "MOVE_KIND_ADD" | "MOVE_KIND_VOID";
export type MoveArgument =
  "MOVE_ARGUMENT_CARDS" | "MOVE_ARGUMENT_AMOUNT" | "MOVE_ARGUMENT_SIDE" | "MOVE_ARGUMENT_PILE" | "MOVE_ARGUMENT_TOKENS"
  | "MOVE_ARGUMENT_SEAT" | "MOVE_ARGUMENT_VALUE";
export type AtFault = "AT_FAULT_SEAT" | "AT_FAULT_DEALER";
export type AbortCause = "ABORT_CAUSE_WITHHELD" | "ABORT_CAUSE_AGREED" | "ABORT_CAUSE_SUSPENDED";
export type EffectKind =
  "EFFECT_KIND_COMMIT" | "EFFECT_KIND_FUND" | "EFFECT_KIND_CASH_OUT" | "EFFECT_KIND_START" | "EFFECT_KIND_CLOSE_ENTROPY"
  | "EFFECT_KIND_BURN" | "EFFECT_KIND_SEAL" | "EFFECT_KIND_CHANCE" | "EFFECT_KIND_LEAVE" | "EFFECT_KIND_SETTLE"
  | "EFFECT_KIND_SUSPEND" | "EFFECT_KIND_POST" | "EFFECT_KIND_REVEAL" | "EFFECT_KIND_PAY_OUT" | "EFFECT_KIND_SHARE"
  | "EFFECT_KIND_REFUND" | "EFFECT_KIND_PAY_ABSENT" | "EFFECT_KIND_CLOSE" | "EFFECT_KIND_REMOVE_IDLE"
  | "EFFECT_KIND_CHECK_STANDING" | "EFFECT_KIND_END_SUSPENDED" | "EFFECT_KIND_RETURN" | "EFFECT_KIND_RECOVER_CARDS"
  | "EFFECT_KIND_CLOSE_SPENT" | "EFFECT_KIND_FOLLOW_GAME";
export type Resolution = "RESOLUTION_RETRY" | "RESOLUTION_PAY_TO_SUSPENSE";
export type DisputeVerdict = "DISPUTE_VERDICT_UPHELD" | "DISPUTE_VERDICT_REJECTED" | "DISPUTE_VERDICT_UNDECIDED";
export type EntropyStatus = "ENTROPY_STATUS_REVEALED" | "ENTROPY_STATUS_WITHHELD" | "ENTROPY_STATUS_ABSENT";
export type ErrorReason =
  "ERROR_REASON_BAD_FIELD" | "ERROR_REASON_TOKEN_MISSING" | "ERROR_REASON_TOKEN_MALFORMED"
  | "ERROR_REASON_TOKEN_EXPIRED" | "ERROR_REASON_TOKEN_FORGED" | "ERROR_REASON_ROLE_NOT_ALLOWED"
  | "ERROR_REASON_TABLE_UNKNOWN" | "ERROR_REASON_ACCOUNT_UNKNOWN" | "ERROR_REASON_HAND_UNKNOWN"
  | "ERROR_REASON_NOT_YOUR_TURN" | "ERROR_REASON_ILLEGAL_MOVE" | "ERROR_REASON_AMOUNT_OUT_OF_RANGE"
  | "ERROR_REASON_NOT_YOUR_SEAT" | "ERROR_REASON_SEAT_TAKEN" | "ERROR_REASON_ALREADY_SEATED"
  | "ERROR_REASON_INSUFFICIENT_CREDITS" | "ERROR_REASON_BUY_IN_OUT_OF_RANGE" | "ERROR_REASON_REQUEST_ID_REUSED"
  | "ERROR_REASON_ALREADY_EXISTS" | "ERROR_REASON_OVERLOADED" | "ERROR_REASON_UNAVAILABLE" | "ERROR_REASON_CORRUPT"
  | "ERROR_REASON_TRANSFER_REFUSED" | "ERROR_REASON_CHANCE_REFUSED" | "ERROR_REASON_RULE_SET_INVALID"
  | "ERROR_REASON_TABLE_CLOSED" | "ERROR_REASON_DEADLINE" | "ERROR_REASON_NO_SUCH_METHOD" | "ERROR_REASON_HOLD_UNKNOWN"
  | "ERROR_REASON_NOT_IN_LOG" | "ERROR_REASON_NOT_SIGNED" | "ERROR_REASON_HAND_IN_PLAY" | "ERROR_REASON_SEED_NOT_OPEN"
  | "ERROR_REASON_DISPUTE_UNKNOWN" | "ERROR_REASON_DISPUTE_ANSWERED" | "ERROR_REASON_DISPUTES_OPEN"
  | "ERROR_REASON_PLAYER_ERASED" | "ERROR_REASON_PLAYER_SEATED" | "ERROR_REASON_NOT_YOUR_HAND"
  | "ERROR_REASON_NOTHING_STOPPED" | "ERROR_REASON_RECORDS_SPENT" | "ERROR_REASON_BARRED_FROM_PLAY"
  | "ERROR_REASON_WITHHELD" | "ERROR_REASON_SAT_IDLE" | "ERROR_REASON_SIGNATURE_NEEDED"
  | "ERROR_REASON_SIGNATURE_INVALID" | "ERROR_REASON_HAND_SUSPENDED" | "ERROR_REASON_TABLE_DISABLED"
  | "ERROR_REASON_GAME_DISABLED" | "ERROR_REASON_TOKEN_REVOKED" | "ERROR_REASON_MESSAGE_TOO_LONG";
export type StandingKind =
  "STANDING_KIND_MAY_PLAY" | "STANDING_KIND_EXCLUDED" | "STANDING_KIND_FROZEN" | "STANDING_KIND_CLOSED"
  | "STANDING_KIND_LIMIT_REACHED";
export type LimitMeasure = "LIMIT_MEASURE_BUY_IN" | "LIMIT_MEASURE_LOSS" | "LIMIT_MEASURE_TIME";
export type LimitWindow = "LIMIT_WINDOW_DAY" | "LIMIT_WINDOW_WEEK" | "LIMIT_WINDOW_MONTH";
export interface Access { roles?: Role[]; services?: string[] }
export interface MethodLimits { cost?: number; requestBytes?: number; waitMs?: number; tokenField?: number }
export interface Move {
  kind?: MoveKind; cards?: string[]; amountCredits?: string; names?: string[]; targetSeat?: number; value?: number;
}
export interface LegalMove {
  kind?: MoveKind; moveArguments?: MoveArgument[]; cards?: string[]; minCards?: number; maxCards?: number;
  minCredits?: string; maxCredits?: string; names?: string[]; namesCount?: number; targetSeats?: number[];
  values?: number[]; text?: string; secret?: boolean;
}
export interface CardRef { op?: number; position?: number; card?: string; salt?: string }
export interface CardProof { op?: number; position?: number; cardId?: number; salt?: string; path?: string }
export interface DeckRoot { op?: number; cards?: number; root?: string }
export interface RuleSetField { name?: string; number?: string; text?: string; flag?: boolean; list?: WordList }
export interface WordList { words?: string[] }
export interface SettlementLine { text?: string }
export interface Commitment { commitment?: string; keyId?: string; signature?: string; origin?: string }
export interface ClosingRow { seat?: number; playerId?: string; commitment?: string }
export interface Closing { closing?: string; rows?: ClosingRow[]; keyId?: string; signature?: string }
export interface EntropyRow {
  seat?: number; playerId?: string; status?: EntropyStatus; commitment?: string; entropy?: string;
}
export interface PlayStanding { kind?: StandingKind; endTime?: string; limit?: LimitMark; nearly?: LimitMark[] }
export interface LimitMark { measure?: LimitMeasure; window?: LimitWindow; limit?: string; left?: string }
