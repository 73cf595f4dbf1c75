// A followed table: its stream, which goes on where it broke, and what a player needs to know of it.

import { ConnectError } from "@connectrpc/connect";
import type { LegalMove } from "../gen/sabacc/common/v1/game_pb.js";
import {
  EndReason,
  type HandSeat,
  type HeldCard,
  type SeatView,
  type TableUpdate,
  type TableView,
  type Turn,
  type WatchTableResponse,
} from "../gen/sabacc/table/v1/table_pb.js";
import { isPassing, type Room, sleep } from "./room.js";

// Wait before a broken stream is opened again.
const REOPEN_MS = 200;

export type TableEvent = { view: TableView } | { update: TableUpdate };

// Follows a table: a view first, then every update, each once and in order, over as many streams as it takes.
export class Follower {
  readonly #room: Room;
  readonly #tableId: string;
  #resumeToken = new Uint8Array();
  #sequence = 0n;
  #stream = new AbortController();
  // Streams that were opened, those of them that went on from the token, and views that came.
  readonly counts = { streams: 0, resumed: 0, views: 0 };

  constructor(room: Room, tableId: string) {
    this.#room = room;
    this.#tableId = tableId;
  }

  // Drops the stream, as a lost network would. The next one goes on from the last resume token.
  drop(): void {
    this.#stream.abort();
  }

  async *events(stop: AbortSignal): AsyncGenerator<TableEvent> {
    while (!stop.aborted) {
      this.#stream = new AbortController();
      const signal = AbortSignal.any([stop, this.#stream.signal]);
      const request = { tableId: this.#tableId, resumeToken: this.#resumeToken };
      this.counts.streams += 1;
      let isFirst = true;
      try {
        for await (const seen of this.#room.tables.watchTable(request, { signal })) {
          if (seen.message.case === "ended" && seen.message.value.reason === EndReason.TABLE_CLOSED) return;
          const event = this.#take(seen);
          if (!event) continue;
          if (isFirst && "update" in event) this.counts.resumed += 1;
          isFirst = false;
          yield event;
        }
      } catch (error) {
        if (!signal.aborted && !isPassing(error)) throw ConnectError.from(error);
        if (!signal.aborted) await sleep(REOPEN_MS);
      }
    }
  }

  // Keeps the place in the stream. Updates are numbered without gaps, so a missing or repeated one shows.
  #take({ message, resumeToken }: WatchTableResponse): TableEvent | undefined {
    if (resumeToken.length > 0) this.#resumeToken = new Uint8Array(resumeToken);
    if (message.case === "snapshot") {
      this.counts.views += 1;
      this.#sequence = message.value.sequence;
      return { view: message.value };
    }
    if (message.case !== "update") return undefined;
    this.#sequence += 1n;
    if (message.value.sequence !== this.#sequence)
      throw new Error(`update ${message.value.sequence} came in place of ${this.#sequence}`);
    return { update: message.value };
  }
}

// What a player needs to know of a hand in play.
export interface HandState {
  handNo: bigint;
  // The seats dealt in: p1 first.
  order: number[];
  cards: HeldCard[];
  turn: Turn | undefined;
}

// What a player needs to know of a table: who sits where, and the hand in play.
export class TableState {
  readonly #playerId: string;
  #seats = new Map<number, SeatView>();
  hand: HandState | undefined;
  // The number of the hand in play, or the last one.
  handNo = 0n;

  constructor(playerId: string) {
    this.#playerId = playerId;
  }

  // The player's own seat, while they have one.
  get mySeat(): SeatView | undefined {
    return [...this.#seats.values()].find(({ playerId }) => playerId === this.#playerId);
  }

  // The moves that the player may make now: none where it is not their turn.
  get legal(): LegalMove[] {
    return this.hand?.turn?.legal ?? [];
  }

  apply(event: TableEvent): void {
    if ("view" in event) this.#show(event.view);
    else this.#update(event.update.what);
  }

  #show({ seats, hand, handNo }: TableView): void {
    this.#seats = new Map(seats.map((seat) => [seat.seat, seat]));
    this.handNo = handNo;
    this.hand = undefined;
    if (hand && hand.settlement.length === 0) this.#begin(hand.handNo, hand.seats, hand.turn);
  }

  #update(what: TableUpdate["what"]): void {
    switch (what.case) {
      case "seat":
        if (what.value.vacated) this.#seats.delete(what.value.seat?.seat ?? 0);
        else if (what.value.seat) this.#seats.set(what.value.seat.seat, what.value.seat);
        break;
      case "handStarted":
        this.#begin(what.value.handNo, what.value.seats, what.value.turn);
        break;
      case "action":
        if (!this.hand) break;
        // What an update does not carry is as it was; the decision that is due is always told.
        this.hand.turn = what.value.turn;
        this.#hold(what.value.hands);
        break;
      case "suspension":
        if (this.hand) this.hand.turn = what.value.turn;
        break;
      case "handEnded":
      case "voided":
        this.hand = undefined;
        break;
    }
  }

  #begin(handNo: bigint, seats: HandSeat[], turn: Turn | undefined): void {
    this.handNo = handNo;
    this.hand = { handNo, order: seats.map(({ seat }) => seat), cards: [], turn };
    this.#hold(seats);
  }

  #hold(hands: HandSeat[]): void {
    const mine = hands.find(({ seat }) => seat === this.mySeat?.seat);
    if (this.hand && mine) this.hand.cards = mine.cards;
  }
}
