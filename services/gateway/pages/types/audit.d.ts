// Messages of sabacc.audit.v1 in protobuf's JSON: 64-bit numbers, bytes and times are text, and what stands at its
// default is left out.

import type { HandHistory } from "./history.js";
import type { DisputeVerdict } from "./common.js";

export type HandVerdict =
  "HAND_VERDICT_PROVED" | "HAND_VERDICT_BROKEN_OFF" | "HAND_VERDICT_NOT_FINISHED" | "HAND_VERDICT_FAILED"
  | "HAND_VERDICT_REFUSED";
export type CheckVerdict = "CHECK_VERDICT_PASSED" | "CHECK_VERDICT_FAILED" | "CHECK_VERDICT_NOT_POSSIBLE";
export type DisputeState = "DISPUTE_STATE_OPEN" | "DISPUTE_STATE_ANSWERED";
export type HandOutcome =
  "HAND_OUTCOME_IN_PLAY" | "HAND_OUTCOME_PLAYED" | "HAND_OUTCOME_BURNT" | "HAND_OUTCOME_AGREED"
  | "HAND_OUTCOME_SUSPENDED_TOO_LONG" | "HAND_OUTCOME_MISSING";
export type SeedState = "SEED_STATE_OWED" | "SEED_STATE_OPENED" | "SEED_STATE_REFUSED";
export type HandResult = "HAND_RESULT_WON" | "HAND_RESULT_LOST" | "HAND_RESULT_EVEN";
export interface SubscribeRequest { log?: string; fromPosition?: string }
export interface SubscribeResponse {
  position?: string; leafRecords?: string[]; nextPosition?: string; checkpoint?: string;
}
export interface GetHandBundleRequest { tableId?: string; handNo?: string }
export interface GetHandBundleResponse { bundle?: string; uncosigned?: string[] }
export interface GetHandRequest {
  tableId?: string; handNo?: string; handId?: string; publicView?: boolean; withBundle?: boolean;
}
export interface GetHandResponse {
  tableId?: string; handNo?: string; handId?: string; viewerSeat?: number; history?: HandHistory; text?: string;
  bundle?: string;
}
export interface AuditHandRequest { tableId?: string; handNo?: string }
export interface AuditHandResponse {
  handId?: string; passed?: boolean; checks?: HandCheck[]; story?: StoryLine[]; notes?: string[]; verdict?: HandVerdict;
  sentences?: string[];
}
export interface HandCheck { check?: string; sentence?: string; verdict?: CheckVerdict; why?: string }
export interface StoryLine { recordTime?: string; who?: string; what?: string; log?: string; position?: string }
export interface HandBundle { contents?: string; sha256?: string }
export interface BundleContents { format?: number; handId?: string; logs?: BundleLog[] }
export interface BundleLog { name?: string; key?: string; checkpoint?: string; records?: LogRecord[]; proof?: string[] }
export interface LogRecord {
  position?: string; recordedAtMicros?: string; stream?: string; version?: string; type?: number; schema?: number;
  sealed?: boolean; payload?: string; salt?: string; authorHash?: string; previous?: string; payloadHash?: string;
  payloadLen?: number;
}
export interface OpenDisputeRequest {
  requestId?: string; tableId?: string; handNo?: string; text?: string; evidence?: string;
}
export interface OpenDisputeResponse {
  disputeId?: string; number?: string; evidenceSha256?: string; bundleSha256?: string; bundle?: string;
}
export interface ListDisputesRequest { state?: DisputeState; pageSize?: number; pageToken?: string; own?: boolean }
export interface ListDisputesResponse { disputes?: Dispute[]; nextPageToken?: string }
export interface GetDisputeRequest { disputeId?: string }
export interface GetDisputeResponse { dispute?: Dispute }
export interface Dispute {
  disputeId?: string; playerId?: string; tableId?: string; handNo?: string; handId?: string; state?: DisputeState;
  createTime?: string; answerTime?: string; verdict?: DisputeVerdict; erased?: boolean; text?: string; answer?: string;
  number?: string; evidence?: string; evidenceSha256?: string; bundleSha256?: string;
}
export interface AnswerDisputeRequest {
  requestId?: string; disputeId?: string; verdict?: DisputeVerdict; text?: string;
}
export interface AnswerDisputeResponse {}
export interface ListHandsRequest { tableId?: string; playerId?: string; pageSize?: number; pageToken?: string }
export interface ListHandsResponse {
  hands?: HandRow[]; nextPageToken?: string; counts?: HandCounts; seats?: SeatCounts[]; logSize?: string;
}
export interface HandRow {
  tableId?: string; firstHandNo?: string; lastHandNo?: string; outcome?: HandOutcome; seed?: SeedState;
  suspended?: boolean; wasSuspended?: boolean; withheld?: WithheldEntropy[]; position?: string; endTime?: string;
}
export interface WithheldEntropy { seat?: number; playerId?: string; opened?: boolean; bot?: boolean }
export interface HandCounts {
  numbers?: string; played?: string; burnt?: string; agreed?: string; suspendedTooLong?: string; missing?: string;
  inPlay?: string; wereSuspended?: string; seedsOpened?: string; seedsOwed?: string; seedsRefused?: string;
  withheld?: string; withheldOpened?: string; burntPpm?: number; notPlayedPpm?: number; withheldPpm?: number;
}
export interface SeatCounts { seat?: number; counts?: HandCounts }
export interface ListPlayerHandsRequest {
  playerId?: string; tableId?: string; variant?: string; result?: HandResult; startTime?: string; endTime?: string;
  pageSize?: number; pageToken?: string;
}
export interface ListPlayerHandsResponse { hands?: PlayerHand[]; nextPageToken?: string; logSize?: string }
export interface PlayerHand {
  tableId?: string; tableName?: string; variant?: string; handNo?: string; handId?: string; seat?: number;
  netCredits?: string; result?: HandResult; outcome?: HandOutcome; startTime?: string; endTime?: string;
}
export interface GetCheckpointRequest { log?: string }
export interface GetCheckpointResponse { checkpoint?: string; key?: string; witnessKeys?: string[] }
export interface GetTileRequest { log?: string; level?: number; index?: string; width?: number }
export interface GetTileResponse { hashes?: string }
export interface GetEntriesRequest { log?: string; index?: string; width?: number }
export interface GetEntriesResponse { entries?: string }
export interface ProveInclusionRequest { log?: string; position?: string; size?: string }
export interface ProveInclusionResponse { size?: string; proof?: string[]; checkpoint?: string }
export interface ProveConsistencyRequest { log?: string; oldSize?: string; newSize?: string }
export interface ProveConsistencyResponse { newSize?: string; proof?: string[]; checkpoint?: string }
export interface ReadRecordsRequest { log?: string; selections?: RecordSelection[]; cosigned?: boolean }
export interface RecordSelection { stream?: StreamSelection; positions?: PositionSelection; request?: RequestSelection }
export interface RequestSelection { requestId?: string; actor?: string }
export interface StreamSelection { streamId?: string; fromVersion?: string; limit?: number; beforePosition?: string }
export interface PositionSelection { first?: string; count?: number }
export interface ReadRecordsResponse { log?: BundleLog; uncosigned?: boolean }
