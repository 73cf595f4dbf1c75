// Records that a table's stream takes between two ends of hands that were played: 64 of a player and 1,024 in all, then only
// leaving. A record is its player's where it is of their command or their seat. What the table itself writes counts too, and is
// never refused. Seats whose player the records do not name count by themselves.

import { hex } from "../bytes.js";
import { hold } from "./case.js";

const OF_A_PLAYER = 64;
const IN_ALL = 1024;
const OF_A_SEAT = new Set(
  "SeatFunded LeaveAsked CashOutDue SeatVacated SitOutChanged SeatRenamed SeatExcluded".split(" "),
);

// No player's command is taken over the limits.
export function checkQuota({ table }) {
  const counts = new Counts();
  for (const record of table) counts.take(record);
}

class Counts {
  constructor() {
    this.all = 0;
    this.own = new Map();
    // Players by seat.
    this.players = new Map();
  }

  take({ name, position, event, keptBack }) {
    if (!keptBack && name === "HandFinished" && !event.aborted) {
      this.startAnew(event);
      return;
    }
    const owner = keptBack ? null : this.ownerOf(name, event);
    if (owner !== null) {
      this.check(name, position, event, owner);
      this.own.set(owner, (this.own.get(owner) ?? 0) + 1);
    }
    this.all += 1;
    if (keptBack) return;
    // Who burns numbers uses nobody's records up. Who was at fault is not seen.
    if (name === "HandFinished")
      for (const player of event.seats.map((place) => hex(place.player_id)))
        this.own.set(player, Math.max((this.own.get(player) ?? 0) - 1, 0));
    else if (name === "SeatTaken") this.players.set(event.seat, hex(event.player_id));
    else if (name === "SeatVacated") this.players.delete(event.seat);
  }

  startAnew({ seats }) {
    this.all = 0;
    this.own.clear();
    for (const { seat, player_id: player } of seats) this.players.set(seat, hex(player));
  }

  ownerOf(name, { seat, player_id: player }) {
    if (name === "SeatTaken" || name === "EntropyCommitted") return hex(player);
    return OF_A_SEAT.has(name) ? (this.players.get(seat) ?? seat) : null;
  }

  // Whoever has records left may take part in chance all the same: without that no hand could be played.
  check(name, position, { why }, owner) {
    const asked = ["SeatTaken", "SeatRenamed"].includes(name) || (name === "SitOutChanged" && why === "asked");
    const told = (most) => () => `the table's log, position ${position}: ${name} behind ${most}`;
    if (asked || name === "EntropyCommitted")
      hold((this.own.get(owner) ?? 0) < OF_A_PLAYER, told(`${OF_A_PLAYER} records of one player`));
    if (asked) hold(this.all <= IN_ALL, told(`${IN_ALL} records`));
  }
}
