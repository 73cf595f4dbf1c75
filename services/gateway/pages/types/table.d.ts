// Messages of sabacc.table.v1 in protobuf's JSON: 64-bit numbers, bytes and times are text, and what stands at its
// default is left out.

import type {
  AbortCause, AtFault, CardProof, Closing, Commitment, DeckRoot, EffectKind, EntropyRow, ErrorReason, LegalMove, Move,
  MoveArgument, MoveKind, PlayStanding, Resolution, RuleSetField
} from "./common.js";

export type CoruscantSuit = "CORUSCANT_SUIT_CIRCLE" | "CORUSCANT_SUIT_TRIANGLE" | "CORUSCANT_SUIT_SQUARE";
export type ForceSide = "FORCE_SIDE_LIGHT" | "FORCE_SIDE_DARK";
export type ShiftToken =
  "SHIFT_TOKEN_FREE_DRAW" | "SHIFT_TOKEN_REFUND" | "SHIFT_TOKEN_EXTRA_REFUND" | "SHIFT_TOKEN_EMBEZZLEMENT"
  | "SHIFT_TOKEN_GENERAL_TARIFF" | "SHIFT_TOKEN_TARGET_TARIFF" | "SHIFT_TOKEN_GENERAL_AUDIT"
  | "SHIFT_TOKEN_TARGET_AUDIT" | "SHIFT_TOKEN_PRIME_SABACC" | "SHIFT_TOKEN_MARKDOWN" | "SHIFT_TOKEN_COOK_THE_BOOKS"
  | "SHIFT_TOKEN_MAJOR_FRAUD" | "SHIFT_TOKEN_EMBARGO" | "SHIFT_TOKEN_IMMUNITY" | "SHIFT_TOKEN_EXHAUSTION"
  | "SHIFT_TOKEN_DIRECT_TRANSACTION";
export type HandPhase =
  "HAND_PHASE_DEAL" | "HAND_PHASE_DRAFT" | "HAND_PHASE_ALIGNMENT" | "HAND_PHASE_PLAY" | "HAND_PHASE_ACTION"
  | "HAND_PHASE_DRAW" | "HAND_PHASE_TURNS" | "HAND_PHASE_SELECT" | "HAND_PHASE_DICE" | "HAND_PHASE_BETTING"
  | "HAND_PHASE_REDRAW" | "HAND_PHASE_ADD" | "HAND_PHASE_SHOWDOWN" | "HAND_PHASE_SCORING" | "HAND_PHASE_REVEAL"
  | "HAND_PHASE_OVER";
export type SeatStatus = "SEAT_STATUS_LIVE" | "SEAT_STATUS_ALL_IN" | "SEAT_STATUS_LEAVING" | "SEAT_STATUS_OUT";
export type RankKind =
  "RANK_KIND_FOLDED" | "RANK_KIND_LEFT" | "RANK_KIND_IDIOTS_ARRAY" | "RANK_KIND_PURE" | "RANK_KIND_TOTAL"
  | "RANK_KIND_BOMBED" | "RANK_KIND_NATURAL" | "RANK_KIND_LIGHT" | "RANK_KIND_DARK" | "RANK_KIND_KESSEL_PURE"
  | "RANK_KIND_PRIME" | "RANK_KIND_PAIR" | "RANK_KIND_DIFFERENCE" | "RANK_KIND_ELEVEN" | "RANK_KIND_OVER"
  | "RANK_KIND_CORUSCANT" | "RANK_KIND_SPIKE_NULRHEK" | "RANK_KIND_SPIKE_SABACC" | "RANK_KIND_SPIKE_SABACC_PAIR"
  | "RANK_KIND_SPIKE_RULE_OF_TWO" | "RANK_KIND_SPIKE_BANTHAS_WILD" | "RANK_KIND_SPIKE_STRAIGHT_KHYRON"
  | "RANK_KIND_SPIKE_GEE_WHIZ" | "RANK_KIND_SPIKE_SQUADRON" | "RANK_KIND_SPIKE_RHYLET" | "RANK_KIND_SPIKE_YEE_HAA"
  | "RANK_KIND_SPIKE_FLEET" | "RANK_KIND_SPIKE_FULL" | "RANK_KIND_SPIKE_PURE";
export type SettlementKind =
  "SETTLEMENT_KIND_RETURNED" | "SETTLEMENT_KIND_PAYS_SABACC" | "SETTLEMENT_KIND_ELIMINATED" | "SETTLEMENT_KIND_WINS"
  | "SETTLEMENT_KIND_MOVES_TO_SABACC" | "SETTLEMENT_KIND_CARRIES" | "SETTLEMENT_KIND_RAKE";
export type PotLayer = "POT_LAYER_MAIN" | "POT_LAYER_SIDE" | "POT_LAYER_CREDITS" | "POT_LAYER_SABACC";
export type ChanceKind =
  "CHANCE_KIND_SHUFFLE" | "CHANCE_KIND_DEAL" | "CHANCE_KIND_FLIP" | "CHANCE_KIND_ROLL" | "CHANCE_KIND_PULSE"
  | "CHANCE_KIND_STARTER" | "CHANCE_KIND_TOKENS" | "CHANCE_KIND_ANNOUNCE";
export type DelistReason = "DELIST_REASON_CLOSED" | "DELIST_REASON_FILTERED";
export type EndReason =
  "END_REASON_SERVER_STOPPING" | "END_REASON_TABLE_CLOSED" | "END_REASON_TOO_SLOW" | "END_REASON_TOKEN_EXPIRED";
export type SeatState = "SEAT_STATE_BUYING_IN" | "SEAT_STATE_PLAYING" | "SEAT_STATE_SITTING_OUT" | "SEAT_STATE_LEAVING";
export type ActivityKind =
  "ACTIVITY_KIND_HANDS_STARTED" | "ACTIVITY_KIND_HANDS_PLAYED" | "ACTIVITY_KIND_HANDS_BURNT"
  | "ACTIVITY_KIND_HANDS_BROKEN_OFF" | "ACTIVITY_KIND_HANDS_SUSPENDED" | "ACTIVITY_KIND_DECISIONS"
  | "ACTIVITY_KIND_RECORDS" | "ACTIVITY_KIND_CALLS" | "ACTIVITY_KIND_REFUSALS" | "ACTIVITY_KIND_STREAMS";
export type LatencyStep =
  "LATENCY_STEP_FORWARD" | "LATENCY_STEP_QUEUE" | "LATENCY_STEP_APPEND" | "LATENCY_STEP_DEALER" | "LATENCY_STEP_WALLET";
export type RuleSetFieldType =
  "RULE_SET_FIELD_TYPE_NUMBER" | "RULE_SET_FIELD_TYPE_CREDITS" | "RULE_SET_FIELD_TYPE_TEXT" | "RULE_SET_FIELD_TYPE_FLAG"
  | "RULE_SET_FIELD_TYPE_LIST";
export interface SignInAsGuestRequest { requestId?: string; name?: string; signInSecret?: string }
export interface SignInAsGuestResponse { playerId?: string; name?: string; tokens?: Tokens; startingCredits?: string }
export interface Tokens {
  accessToken?: string; accessExpireTime?: string; refreshToken?: string; refreshExpireTime?: string;
}
export interface RefreshRequest { requestId?: string; refreshToken?: string }
export interface RefreshResponse { tokens?: Tokens }
export interface SignOutRequest { requestId?: string }
export interface SignOutResponse {}
export interface RevokeTokensRequest { requestId?: string; tokenId?: string; subject?: string; reason?: string }
export interface RevokeTokensResponse {}
export interface SetNameRequest { requestId?: string; name?: string }
export interface SetNameResponse { name?: string }
export interface GetPlayerRequest { playerId?: string }
export interface GetPlayerResponse { playerId?: string; name?: string; erased?: boolean; bot?: boolean }
export interface MarkPlayerRequest { requestId?: string; playerId?: string; bot?: boolean }
export interface MarkPlayerResponse {}
export interface ErasePlayerRequest { requestId?: string; playerId?: string; reason?: string }
export interface ErasePlayerResponse {}
export interface GameState {
  coruscant?: CoruscantState; dice?: DiceState; electronic?: ElectronicState; eleven?: ElevenState; force?: ForceState;
  kessel?: KesselState; spike?: SpikeState; swg?: SwgState;
}
export interface CoruscantState { target?: CoruscantTarget; selections?: CoruscantSelection[] }
export interface CoruscantTarget { total?: number; suit?: CoruscantSuit }
export interface CoruscantSelection { seat?: number; count?: number; cards?: string[] }
export interface DiceState { declaredTotals?: DeclaredTotal[] }
export interface ElectronicState { declaredTotals?: DeclaredTotal[] }
export interface DeclaredTotal { seat?: number; total?: number }
export interface ElevenState { wild?: string; clone?: string; stoodSeats?: number[] }
export interface ForceState { alignments?: ForceAlignment[] }
export interface ForceAlignment { seat?: number; side?: ForceSide }
export interface KesselState {
  starterSeat?: number; lap?: number; sandDiscard?: string; bloodDiscard?: string; prime?: number; primeDice?: number[];
  markdown?: boolean; cookTheBooks?: boolean; majorFraud?: boolean; seats?: KesselSeat[];
}
export interface KesselSeat {
  seat?: number; stockChips?: number; handPotChips?: number; tokensLeft?: number; tokens?: ShiftToken[];
  playedTokens?: ShiftToken[]; standing?: boolean; immune?: boolean; embargoed?: boolean; impostors?: KesselImpostor[];
  revealed?: RevealedHand;
}
export interface KesselImpostor { card?: string; dice?: number[]; value?: number }
export interface RevealedHand { cards?: string[]; rank?: HandRank }
export interface SpikeState { topDiscard?: string }
export interface SwgState { endsAtSeat?: number }
export interface HandRank {
  kind?: RankKind; total?: number; value?: number; difference?: number; sum?: number; cards?: number;
  offTarget?: number; suited?: number; high?: number; text?: string;
}
export interface SettlementItem {
  seat?: number; kind?: SettlementKind; layer?: PotLayer; side?: number; amountCredits?: string; shortCredits?: string;
  text?: string;
}
export interface TableConfig {
  name?: string; variant?: string; ruleSet?: RuleSetField[]; minBuyInCredits?: string; maxBuyInCredits?: string;
  actionSeconds?: number; bankSeconds?: number; pauseMs?: number; seats?: number; revealDelayed?: boolean;
  commitMs?: number; revealMs?: number; contributorsMin?: number; suspendHours?: number; idleSeconds?: number;
}
export interface CreateTableRequest { requestId?: string; config?: TableConfig }
export interface CreateTableResponse { tableId?: string }
export interface ListTablesRequest { pageSize?: number; pageToken?: string; filter?: LobbyFilter }
export interface LobbyFilter {
  variant?: string; minAnteCredits?: string; maxAnteCredits?: string; minBuyInCredits?: string;
  maxBuyInCredits?: string; minFreeSeats?: number; mine?: boolean;
}
export interface ListTablesResponse { tables?: TableSummary[]; nextPageToken?: string }
export interface TableSummary {
  tableId?: string; name?: string; variant?: string; seats?: number; seated?: number; handNo?: string;
  anteCredits?: string; minBuyInCredits?: string; maxBuyInCredits?: string; disabled?: Disabled; bots?: number;
}
export interface ListSeatsRequest { playerId?: string; pageSize?: number; pageToken?: string }
export interface ListSeatsResponse { seats?: PlayerSeat[]; nextPageToken?: string }
export interface PlayerSeat {
  tableId?: string; tableName?: string; variant?: string; seat?: number; stackCredits?: string; state?: SeatState;
  handNo?: string;
}
export interface WatchLobbyRequest { filter?: LobbyFilter; resumeToken?: string }
export interface WatchLobbyResponse {
  started?: LobbyStarted; table?: TableSummary; delisted?: TableDelisted; caughtUp?: CaughtUp; heartbeat?: Heartbeat;
  ended?: StreamEnded; resumeToken?: string;
}
export interface LobbyStarted {}
export interface TableDelisted { tableId?: string; reason?: DelistReason }
export interface GetTableRequest { tableId?: string }
export interface GetTableResponse { table?: TableView }
export interface SitDownRequest { requestId?: string; tableId?: string; seat?: number; buyInCredits?: string }
export interface SitDownResponse { seat?: number }
export interface StandUpRequest { requestId?: string; tableId?: string; signature?: string }
export interface StandUpResponse { afterHand?: boolean; receipt?: DecisionReceipt }
export interface SitOutRequest { requestId?: string; tableId?: string; sitOut?: boolean }
export interface SitOutResponse {}
export interface ActRequest {
  requestId?: string; tableId?: string; handNo?: string; turn?: number; decision?: Move; signature?: string;
}
export interface ActResponse { sequence?: string; receipt?: DecisionReceipt }
export interface DecisionReceipt { chain?: string; position?: string; keyId?: string; signature?: string }
export interface CommitEntropyRequest {
  requestId?: string; tableId?: string; handNo?: string; commitment?: string; key?: string;
}
export interface CommitEntropyResponse { receipt?: EntropyReceipt }
export interface EntropyReceipt {
  tableId?: string; handNo?: string; seat?: number; playerId?: string; commitment?: string; position?: string;
  keyId?: string; signature?: string; playerKey?: string; context?: string; dealerCommitment?: string;
}
export interface RevealReceipt {
  context?: string; dealerCommitment?: string; seat?: number; playerId?: string; entropy?: string; position?: string;
  keyId?: string; signature?: string;
}
export interface RevealEntropyRequest { requestId?: string; tableId?: string; handNo?: string; entropy?: string }
export interface RevealEntropyResponse { receipt?: RevealReceipt }
export interface CloseTableRequest { requestId?: string; tableId?: string }
export interface CloseTableResponse {}
export interface WatchTableRequest { tableId?: string; resumeToken?: string }
export interface WatchTableResponse {
  snapshot?: TableView; update?: TableUpdate; caughtUp?: CaughtUp; heartbeat?: Heartbeat; ended?: StreamEnded;
  resumeToken?: string;
}
export interface PlayRequest {
  watch?: WatchTableRequest; act?: ActRequest; commitEntropy?: CommitEntropyRequest;
  revealEntropy?: RevealEntropyRequest; accessToken?: string;
}
export interface PlayResponse { seen?: WatchTableResponse; acted?: Acted; entropy?: EntropyTaken }
export interface EntropyTaken {
  requestId?: string; receipt?: EntropyReceipt; revealed?: RevealEntropyResponse; refused?: ActRefused;
}
export interface Acted { requestId?: string; done?: ActResponse; refused?: ActRefused }
export interface ActRefused {
  reason?: ErrorReason; text?: string; metadata?: { [key: string]: string }; code?: number; doc?: string;
  traceId?: string; retryDelay?: string;
}
export interface CaughtUp {}
export interface Heartbeat { serverTime?: string }
export interface StreamEnded { reason?: EndReason; text?: string; doc?: string; traceId?: string }
export interface TableView {
  tableId?: string; name?: string; variant?: string; ruleSet?: string; sequence?: string; seats?: SeatView[];
  sabaccPotCredits?: string; carriedPotCredits?: string; handNo?: string; hand?: HandView; yourSeat?: number;
  minBuyInCredits?: string; maxBuyInCredits?: string; settings?: string; seatCount?: number; nextHand?: NextHand;
  entropy?: Entropy; idleSeconds?: number; stopped?: StoppedEffect[]; closed?: boolean; yourStanding?: PlayStanding;
  disabled?: Disabled;
}
export interface Disabled { reason?: string; disableTime?: string; withGame?: boolean }
export interface DisabledChanged { disabled?: Disabled }
export interface Effect { kind?: EffectKind; handNo?: string; seat?: number; playerId?: string; version?: string }
export interface StoppedEffect {
  effect?: Effect; what?: string; stopTime?: string; why?: string; payableToSuspense?: boolean;
}
export interface StoppedChanged { stopped?: StoppedEffect[] }
export interface ResumeTableRequest { requestId?: string; tableId?: string; reason?: string; resolution?: Resolution }
export interface ResumeTableResponse { resumed?: Effect[]; stillStopped?: Effect[] }
export interface NextHand {
  handNo?: string; commitment?: Commitment; seats?: number[]; ruleSet?: string; settings?: string;
}
export interface Entropy {
  handNo?: string; handId?: string; commitment?: Commitment; roster?: number[]; seats?: number[]; closed?: boolean;
  deadline?: string; closing?: Closing; ruleSet?: string; settings?: string; suspension?: Suspension;
}
export interface Suspension { startTime?: string; endTime?: string; agreed?: number[] }
export interface SeatView {
  seat?: number; playerId?: string; stackCredits?: string; state?: SeatState; name?: string; exclusion?: Exclusion;
  house?: boolean; bot?: boolean;
}
export interface Exclusion { step?: number; untilHandNo?: string; endTime?: string; burntHandNo?: string }
export interface HandView {
  handNo?: string; handId?: string; seats?: HandSeat[]; standing?: Standing; turn?: Turn; round?: number;
  phase?: HandPhase; phaseText?: string; gameState?: GameState; commitment?: string; settlement?: SettlementItem[];
  calledBy?: number; dealer?: Commitment; rows?: EntropyRow[]; transcript?: string; roots?: DeckRoot[]; chain?: string;
  suspension?: Suspension; ruleSet?: string; settings?: string;
}
export interface HandSeat { seat?: number; playerId?: string; cards?: HeldCard[]; rank?: HandRank }
export interface HeldCard { code?: string; locked?: boolean; proof?: CardProof }
export interface Standing {
  handPotCredits?: string; sabaccPotCredits?: string; toMatchCredits?: string; seats?: SeatStanding[];
  carriedPotCredits?: string;
}
export interface SeatStanding {
  seat?: number; stackCredits?: string; inRoundCredits?: string; inHandCredits?: string; status?: SeatStatus;
  statusText?: string;
}
export interface Turn {
  seat?: number; turn?: number; deadline?: string; bankMs?: number; legal?: LegalMove[]; defaultMove?: Move;
}
export interface TableUpdate {
  sequence?: string; recordTime?: string; seat?: SeatChanged; handStarted?: HandStarted; action?: HandAction;
  handEnded?: HandEnded; closed?: TableClosed; nextHand?: NextHand; entropy?: Entropy; voided?: HandVoided;
  seed?: SeedPublished; stopped?: StoppedChanged; suspension?: SuspensionChanged; disabled?: DisabledChanged;
}
export interface HandVoided {
  handNo?: string; handId?: string; atFault?: AtFault; seats?: number[]; evidence?: string; cause?: AbortCause;
}
export interface SuspensionChanged { handNo?: string; handId?: string; suspension?: Suspension; turn?: Turn }
export interface SeedPublished { handNo?: string; handId?: string; seed?: string; refused?: boolean }
export interface SeatChanged { seat?: SeatView; vacated?: boolean; yourStanding?: PlayStanding }
export interface HandStarted {
  handNo?: string; handId?: string; seats?: HandSeat[]; commitment?: string; standing?: Standing; rows?: EntropyRow[];
  transcript?: string; round?: number; phase?: HandPhase; phaseText?: string; gameState?: GameState; turn?: Turn;
  yourStanding?: PlayStanding;
}
export interface HandAction {
  handNo?: string; line?: string; seat?: number; decision?: Move; byClock?: boolean; cards?: string[];
  values?: number[]; standing?: Standing; turn?: Turn; round?: number; hands?: HandSeat[]; phase?: HandPhase;
  phaseText?: string; gameState?: GameState; calledBy?: number; chance?: ChanceKind; proofs?: CardProof[];
  root?: DeckRoot; padding?: string; chainLine?: string; chain?: string;
}
export interface HandEnded {
  handNo?: string; settlement?: SettlementItem[]; hands?: HandSeat[]; standing?: Standing; rakeCredits?: string;
}
export interface TableClosed {}
export interface GetRoomRequest {}
export interface GetRoomResponse { room?: Room }
export interface WatchRoomRequest {}
export interface WatchRoomResponse { room?: Room }
export interface Room {
  readTime?: string; builds?: ServiceBuild[]; games?: GameStatus[]; limits?: PortLimits; logKeys?: LogKeys[];
  silent?: string[]; activity?: RoomActivity;
}
export interface ServiceBuild { service?: string; version?: string; commit?: string; programSha256?: string }
export interface GameStatus { variant?: string; title?: string; disabled?: Disabled }
export interface PortLimits {
  messageBytes?: string; headerBytes?: number; unaryDeadlineMs?: string; playerUnits?: number; playerOpen?: string;
  playerStreams?: string; addressUnits?: number; addressConnections?: string; addressStreams?: string;
  addressAnonymousStreams?: string; anonymousStreams?: string; wrongTokens?: number; connections?: string;
  connectionStreams?: number; connectionCalls?: string; connectionAgeMs?: string; streamStallMs?: string;
}
export interface LogKeys { log?: string; key?: string; witnessKeys?: string[] }
export interface RoomActivity {
  table?: ServiceActivity; gateway?: ServiceActivity; openTables?: string; handsInPlay?: string; openStreams?: string;
  logs?: LogActivity[];
}
export interface ServiceActivity { sinceTime?: string; windows?: ActivityWindow[] }
export interface ActivityWindow {
  seconds?: number; coveredMs?: string; counts?: ActivityCount[]; steps?: StepLatency[];
}
export interface ActivityCount { kind?: ActivityKind; count?: string; perHour?: string }
export interface StepLatency {
  step?: LatencyStep; count?: string; meanUs?: string; p50Us?: string; p95Us?: string; p99Us?: string;
}
export interface LogActivity { log?: string; size?: string; checkpoint?: string; cosignedBy?: string[] }
export interface DisableTableRequest { requestId?: string; tableId?: string; reason?: string }
export interface DisableTableResponse { handInPlay?: string }
export interface EnableTableRequest { requestId?: string; tableId?: string; reason?: string }
export interface EnableTableResponse {}
export interface DisableGameRequest { requestId?: string; variant?: string; reason?: string }
export interface DisableGameResponse {}
export interface EnableGameRequest { requestId?: string; variant?: string; reason?: string }
export interface EnableGameResponse {}
export interface ListVariantsRequest {}
export interface ListVariantsResponse { variants?: VariantSummary[]; moves?: MoveDescription[] }
export interface VariantSummary {
  variant?: string; title?: string; source?: string; minPlayers?: number; maxPlayers?: number; deck?: string;
  deckCards?: number; hasBetting?: boolean; hasSabaccPot?: boolean; hasCarriedPot?: boolean;
}
export interface MoveDescription { kind?: MoveKind; verb?: string; moveArguments?: MoveArgument[] }
export interface GetVariantRequest { variant?: string }
export interface GetVariantResponse {
  summary?: VariantSummary; fields?: RuleSetFieldDescription[]; cards?: DeckCard[]; piles?: CardPile[];
  ranks?: RulesItem[];
}
export interface RuleSetFieldDescription {
  name?: string; text?: string; valueType?: RuleSetFieldType; min?: string; max?: string; choices?: string[];
  defaultField?: RuleSetField;
}
export interface DeckCard { cardId?: number; code?: string; value?: number }
export interface CardPile { name?: string; firstCard?: number; cards?: number; openDiscards?: boolean }
export interface ExplainRulesRequest { tableId?: string; proposed?: ProposedRules }
export interface ProposedRules {
  variant?: string; ruleSet?: RuleSetField[]; actionSeconds?: number; bankSeconds?: number;
}
export interface ExplainRulesResponse { variant?: string; title?: string; sections?: RulesSection[]; text?: string }
export interface RulesSection { heading?: string; paragraphs?: string[]; items?: RulesItem[] }
export interface RulesItem { name?: string; text?: string; exampleCards?: string[]; exampleRank?: HandRank }
