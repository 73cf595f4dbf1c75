// Who is not dealt in for a while, having withheld a number: what the records of it must say. An exclusion stands right behind
// the end of the number that it is for. Its k-th step lasts until number h + 1 + 2^(k-1) and 30 s * 2^(k-1) after the burnt
// number h. Steps go up by one; twenty numbers revealed in take one back.

import { equal, hex } from "../bytes.js";
import { CLOCK_SKEW, SECOND, hold, later } from "./case.js";

// Least time of the first step.
const FIRST = 30n * SECOND;
// From when the table burns a number to the record.
const WRITTEN_WITHIN = 10n * SECOND;
// The time of the last of them is two thousand years.
const MOST_STEPS = 32;
const REVEALED_FOR_A_STEP = 20n;

// Every exclusion in the table's stream, and that nobody is dealt in before its time.
export function checkExclusions(records) {
  const seen = new Seen();
  for (const record of records.table) seen.take(record);
  const { event, time } = records.one("HandOpened");
  seen.dealtIn(event.roster, time);
}

class Seen {
  constructor() {
    this.startedAt = null;
    // The end that the next record may exclude seats for.
    this.ended = null;
    // Exclusions by player, of each the last.
    this.last = new Map();
  }

  take(record) {
    const { name, event, time, keptBack } = record;
    if (keptBack) this.ended = null;
    else if (name === "SeatExcluded") this.excluded(record);
    else if (name === "HandStarted") [this.startedAt, this.ended] = [time, null];
    else if (name === "HandFinished") {
      if (event.aborted && this.startedAt !== null) this.dealtIn(event.seats, this.startedAt);
      [this.startedAt, this.ended] = [null, event.aborted ? event : null];
    } else if (name !== "SitOutChanged" || event.why !== "excluded") this.ended = null;
  }

  // A hand was opened: the exclusions of its players were over.
  dealtIn(roster, time) {
    for (const { seat, player_id: player } of roster) {
      const before = this.last.get(hex(player));
      hold(!before || time >= before.until_micros, () => `seat ${seat} is dealt in before its exclusion was over`);
    }
  }

  excluded({ position, event, time }) {
    const { seat, player_id: player, step, until_hand_no: untilNo, until_micros: until, burnt_hand_no: burnt } = event;
    const where = `the table's log, position ${position}: the exclusion of seat ${seat}`;
    const ended = this.ended?.hand_no === burnt ? this.ended : null;
    hold(ended, `${where} does not stand behind the number that it is for`);
    const there = ended.seats.some((one) => one.seat === seat && equal(one.player_id, player));
    hold(there, `${where} is for a number that its player was not in`);
    hold(step >= 1 && step <= MOST_STEPS, `${where} is of step ${step}`);
    const missed = 1n << BigInt(step - 1);
    hold(untilNo === burnt + 1n + missed, `${where} is for another number of hands than its step`);
    const span = FIRST * missed;
    const inTime = later(until, WRITTEN_WITHIN) >= later(time, span) && until <= later(time, span, CLOCK_SKEW);
    hold(inTime, `${where} is for another time than its step`);
    this.checkStep(where, event);
    this.last.set(hex(player), event);
  }

  // Its step follows the one before.
  checkStep(where, { player_id: player, step, burnt_hand_no: burnt }) {
    const before = this.last.get(hex(player));
    if (!before) return;
    const between = burnt - before.burnt_hand_no - 1n;
    hold(between >= 0n, `${where} is the second for one number`);
    const back = BigInt(before.step) - between / REVEALED_FOR_A_STEP;
    const least = (back > 0n ? back : 0n) + 1n;
    hold(least <= BigInt(step) && step <= before.step + 1, `${where} is of step ${step}`);
  }
}
