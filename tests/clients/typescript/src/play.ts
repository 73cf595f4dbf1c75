// A player who signs in as a guest, sits down at a table of a game, and plays one hand there to its end.

import type { MoveKind } from "../gen/sabacc/common/v1/game_pb.js";
import {
  ActResponseSchema,
  SitDownResponseSchema,
  type TableSummary,
  type TableView,
} from "../gen/sabacc/table/v1/table_pb.js";
import { requestId } from "./bytes.js";
import { Chance } from "./chance.js";
import type { RoomKeys } from "./keys.js";
import { pick, randomly } from "./moves.js";
import { twice } from "./repeat.js";
import { isPassing, reasonOf, type Room, sleep } from "./room.js";
import { Follower, type TableEvent, TableState } from "./table.js";

// Attempts to get a bundle in which nothing is owed any more, and the wait between them.
const BUNDLE_ATTEMPTS = 50;
const BUNDLE_WAIT_MS = 200;

export interface PlayedHand {
  tableId: string;
  handNo: bigint;
  seat: number;
  // Decisions that this player has made.
  decisions: number;
  streams: number;
}

// The first table of a game with a free seat, over as many pages as it takes.
export async function findTable(room: Room, game: string): Promise<TableSummary> {
  let pageToken = "";
  do {
    const page = await room.tables.listTables({ pageToken });
    const found = page.tables.find(({ variant, seated, seats }) => variant === game && seated < seats);
    if (found) return found;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  throw new Error(`no table of ${game} has a free seat`);
}

// Sits down at a table, plays the first hand that this player's number is in, and leaves.
export class HandPlayer {
  readonly #room: Room;
  readonly #tableId: string;
  readonly #verbs: Map<MoveKind, string>;
  readonly #state: TableState;
  readonly #chance: Chance;
  readonly #follower: Follower;
  // Hand and turn of the last decision.
  #decided = "";
  #made = 0;
  #hasEnded = false;

  constructor(room: Room, playerId: string, tableId: string, keys: RoomKeys, verbs: Map<MoveKind, string>) {
    this.#room = room;
    this.#tableId = tableId;
    this.#verbs = verbs;
    this.#state = new TableState(playerId);
    this.#chance = new Chance(room, tableId, playerId, keys);
    this.#follower = new Follower(room, tableId);
  }

  async play(): Promise<PlayedHand> {
    const stop = new AbortController();
    for await (const event of this.#follower.events(stop.signal)) {
      this.#state.apply(event);
      await this.#chance.apply(event, this.#state.mySeat);
      if ("view" in event && !this.#state.mySeat) await this.#sitDown(event.view);
      const { decisions } = this.#chance;
      if (!decisions) {
        await this.#giveWay();
        continue;
      }
      // One hand is all: no further one is committed to.
      this.#chance.goesOn = false;
      await this.#decide();
      if (this.#isOver(event, decisions.handNo)) break;
    }
    stop.abort();
    const { decisions } = this.#chance;
    if (!decisions || !this.#hasEnded) throw new Error("the table was closed before the hand had ended");
    const seat = this.#state.mySeat?.seat ?? 0;
    await this.#standUp();
    this.#checkResumed(decisions.seen);
    const { streams } = this.#follower.counts;
    return { tableId: this.#tableId, handNo: decisions.handNo, seat, decisions: this.#made, streams };
  }

  // Takes a seat for the least credits; that is sent twice, and then with other content, which is refused.
  async #sitDown({ minBuyInCredits }: TableView): Promise<void> {
    const request = { requestId: requestId(), tableId: this.#tableId, seat: 0, buyInCredits: minBuyInCredits };
    await twice(SitDownResponseSchema, () => this.#room.tables.sitDown(request));
    const other = { ...request, buyInCredits: minBuyInCredits + 1n };
    const reason = await this.#room.tables.sitDown(other).then(() => "", reasonOf);
    if (reason !== "REQUEST_ID_REUSED") throw new Error(`an id with other content was not refused: ${reason}`);
  }

  // Plays a hand that this player's number is not in as the clock would, so that nobody waits for it. Without a key for
  // the hand nothing is signed.
  async #giveWay(): Promise<void> {
    const { hand, mySeat } = this.#state;
    const turn = hand?.turn;
    if (!turn?.defaultMove || turn.seat !== mySeat?.seat || this.#decided === `${hand?.handNo}/${turn.turn}`) return;
    const { handNo } = hand!;
    this.#decided = `${handNo}/${turn.turn}`;
    const request = { requestId: requestId(), tableId: this.#tableId, handNo, turn: turn.turn };
    const reason = await this.#room.tables.act({ ...request, decision: turn.defaultMove }).then(() => "", reasonOf);
    if (!["", "NOT_YOUR_TURN"].includes(reason)) throw new Error(`the default was refused: ${reason}`);
  }

  async #decide(): Promise<void> {
    const { hand, mySeat } = this.#state;
    const { decisions } = this.#chance;
    const turn = hand?.turn;
    if (!decisions || !turn || !mySeat || hand.handNo !== decisions.handNo || turn.seat !== mySeat.seat) return;
    const due = `${hand.handNo}/${turn.turn}`;
    if (this.#decided === due) return;
    this.#decided = due;
    const decision = pick(turn.legal, randomly);
    const legal = turn.legal.find(({ kind }) => kind === decision.kind);
    const verb = this.#verbs.get(decision.kind);
    if (!legal || !verb) throw new Error(`no word for the move ${decision.kind}`);
    const signature = await decisions.sign(decision, legal, verb, hand);
    const ids = { requestId: requestId(), tableId: this.#tableId, handNo: hand.handNo, turn: turn.turn };
    try {
      const act = () => this.#room.tables.act({ ...ids, decision, signature });
      const { receipt } = await twice(ActResponseSchema, act);
      await decisions.accept(receipt);
      this.#made += 1;
    } catch (error) {
      // The clock was quicker, or somebody has left meanwhile: the next update shows how the hand stands now.
      if (reasonOf(error) === "SIGNATURE_INVALID") this.#decided = "";
      else if (reasonOf(error) !== "NOT_YOUR_TURN") throw error;
    }
    // Once in the hand the stream is lost, with this player's own decision on its way.
    if (this.#made === 1 && this.#follower.counts.streams === 1) this.#follower.drop();
  }

  // Whether the hand is over and its seed open: from then on it can be proved.
  #isOver(event: TableEvent, handNo: bigint): boolean {
    if ("view" in event) {
      // What came meanwhile is in the bundle.
      const { hand, handNo: last } = event.view;
      this.#hasEnded ||= last > handNo || (hand !== undefined && hand.settlement.length > 0);
      return this.#hasEnded;
    }
    const { what } = event.update;
    if (what.case === "voided" && what.value.handNo === handNo)
      throw new Error(`hand ${handNo} came to nothing: ${what.value.evidence}`);
    if (what.case === "handEnded" && what.value.handNo === handNo) this.#hasEnded = true;
    return this.#hasEnded && what.case === "seed" && what.value.handNo === handNo;
  }

  async #standUp(): Promise<void> {
    await this.#room.tables.standUp({ requestId: requestId(), tableId: this.#tableId });
  }

  // The stream was lost and went on from its token; every decision of this player's came in it, unless a view took the
  // place of updates later, as it does where a token is too old.
  #checkResumed(seen: number): void {
    const { streams, resumed, views } = this.#follower.counts;
    if (this.#made === 0) throw new Error("the hand was over before this player had decided anything");
    if (resumed === 0) throw new Error(`none of ${streams} streams went on from its token`);
    if (views === 1 && seen !== this.#made) throw new Error(`${this.#made} decisions were made, ${seen} came back`);
  }
}

// Fetches a hand's bundle, again while `isWhole` says that something in it is owed: the seed is opened and the credits
// are moved in their own time.
export async function fetchBundle(
  room: Room,
  { tableId, handNo }: PlayedHand,
  isWhole: (bundle: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { bundle } = await room.audit.getHandBundle({ tableId, handNo });
      if (await isWhole(bundle)) return bundle;
    } catch (error) {
      if (reasonOf(error) !== "HAND_IN_PLAY" && !isPassing(error)) throw error;
    }
    if (attempt === BUNDLE_ATTEMPTS) throw new Error(`hand ${handNo} was not finished in time`);
    await sleep(BUNDLE_WAIT_MS);
  }
}
