// Messages of sabacc.wallet.v1 in protobuf's JSON: 64-bit numbers, bytes and times are text, and what stands at its
// default is left out.

import type { PlayStanding } from "./common.js";

export type Refusal =
  "REFUSAL_TOO_FEW_LEGS" | "REFUSAL_TOO_MANY_LEGS" | "REFUSAL_ZERO_LEG" | "REFUSAL_DUPLICATE_ACCOUNT"
  | "REFUSAL_NOT_BALANCED" | "REFUSAL_WRONG_ACCOUNT" | "REFUSAL_REASON_MISSING" | "REFUSAL_REASON_TOO_LONG"
  | "REFUSAL_TIME_PASSED" | "REFUSAL_ACCOUNT_EXISTS" | "REFUSAL_ACCOUNT_UNKNOWN" | "REFUSAL_ACCOUNT_CLOSED"
  | "REFUSAL_ACCOUNT_FROZEN" | "REFUSAL_ACCOUNT_NOT_FROZEN" | "REFUSAL_ACCOUNT_NOT_EMPTY" | "REFUSAL_HOLD_NOT_PENDING"
  | "REFUSAL_ADJUSTMENT_NOT_PENDING" | "REFUSAL_SAME_OPERATOR" | "REFUSAL_EXCLUDED" | "REFUSAL_EXCLUSION_SHORTER"
  | "REFUSAL_LIMIT_REACHED" | "REFUSAL_HOLD_TOO_SMALL" | "REFUSAL_INSUFFICIENT_CREDITS" | "REFUSAL_BALANCE_OUT_OF_RANGE"
  | "REFUSAL_LINKED_REFUSED" | "REFUSAL_SHARE_IN_POT";
export type TransferKind =
  "TRANSFER_KIND_ISSUE" | "TRANSFER_KIND_REDEEM" | "TRANSFER_KIND_BUY_IN" | "TRANSFER_KIND_CASH_OUT"
  | "TRANSFER_KIND_SETTLEMENT" | "TRANSFER_KIND_POT_REFUND" | "TRANSFER_KIND_ADJUSTMENT" | "TRANSFER_KIND_CAPTURE";
export type StatementFormat = "STATEMENT_FORMAT_CSV" | "STATEMENT_FORMAT_JSON";
export interface OpenAccountRequest { requestId?: string; playerId?: string }
export interface OpenAccountResponse { account?: string }
export interface OpenAccountsRequest { requestId?: string; playerIds?: string[] }
export interface OpenAccountsResponse { opened?: number }
export interface GetAccountRequest { playerId?: string }
export interface GetAccountResponse {
  account?: string; balanceCredits?: string; seats?: SeatBalance[]; heldCredits?: string; frozen?: boolean;
  closed?: boolean; exclusionEndTime?: string;
}
export interface FreezeAccountRequest { requestId?: string; playerId?: string; reason?: string }
export interface FreezeAccountResponse { position?: string }
export interface UnfreezeAccountRequest { requestId?: string; playerId?: string; reason?: string }
export interface UnfreezeAccountResponse { position?: string }
export interface CloseAccountRequest { requestId?: string; playerId?: string; reason?: string }
export interface CloseAccountResponse { position?: string }
export interface SeatBalance { tableId?: string; balanceCredits?: string }
export interface ListEntriesRequest {
  playerId?: string; pageSize?: number; pageToken?: string; startTime?: string; endTime?: string;
}
export interface ListEntriesResponse {
  entries?: Entry[]; nextPageToken?: string; openingBalanceCredits?: string; openingTotalCredits?: string;
}
export interface Entry {
  transferId?: string; recordTime?: string; kind?: TransferKind; amountCredits?: string; balanceCredits?: string;
  handId?: string; tableId?: string; reason?: string; position?: string; atTableCredits?: string; totalCredits?: string;
}
export interface ExportStatementRequest {
  playerId?: string; startTime?: string; endTime?: string; format?: StatementFormat;
}
export interface ExportStatementResponse { chunk?: string }
export interface Limits { day?: string; week?: string; month?: string }
export interface SetLimitsRequest {
  requestId?: string; playerId?: string; limits?: Limits; loss?: Limits; time?: Limits;
}
export interface SetLimitsResponse {
  now?: Limits; later?: Limits; laterTime?: string; loss?: LimitTerms; time?: LimitTerms;
}
export interface LimitTerms { now?: Limits; later?: Limits; laterTime?: string }
export interface GetLimitsRequest { playerId?: string }
export interface GetLimitsResponse {
  ownLimits?: SetLimitsResponse; operatorLimits?: SetLimitsResponse; used?: Limits; lost?: Limits; seconds?: Limits;
  left?: Limits; leftToLose?: Limits; leftSeconds?: Limits; standing?: PlayStanding;
}
export interface ExcludeRequest { requestId?: string; playerId?: string; endTime?: string }
export interface ExcludeResponse { endTime?: string }
export interface ProposeAdjustmentRequest {
  requestId?: string; account?: string; amountCredits?: string; reason?: string;
}
export interface ProposeAdjustmentResponse { adjustmentId?: string }
export interface ApproveAdjustmentRequest { requestId?: string; adjustmentId?: string }
export interface ApproveAdjustmentResponse { position?: string }
export interface RejectAdjustmentRequest { requestId?: string; adjustmentId?: string; reason?: string }
export interface RejectAdjustmentResponse { position?: string }
export interface ListAdjustmentsRequest { pageSize?: number; pageToken?: string }
export interface ListAdjustmentsResponse { adjustments?: Adjustment[]; nextPageToken?: string }
export interface Adjustment {
  adjustmentId?: string; account?: string; amountCredits?: string; reason?: string; proposedBy?: string;
  proposeTime?: string;
}
export interface IssueRequest { requestId?: string; playerId?: string; amountCredits?: string; reason?: string }
export interface IssueResponse { balanceCredits?: string; position?: string }
export interface RedeemRequest { requestId?: string; playerId?: string; amountCredits?: string; reason?: string }
export interface RedeemResponse { balanceCredits?: string; position?: string }
