// Turns, deadlines and time banks, as a table must keep them. A decision is judged when it comes and recorded when the
// log has taken it: one that a player made and that is recorded behind its deadline may have come in time.

import { SECOND, timeText } from "./case.js";

// What a clock that is resumed twice can gain.
const SLACK = 10n * SECOND;
const LAST = (1n << 64n) - 1n;
const plus = (time, span) => (time + span > LAST ? LAST : time + span);
const atLeastZero = (span) => (span < 0n ? 0n : span);

export class Clock {
  constructor(opened, at) {
    this.turn = 0;
    this.action = BigInt(opened.action_seconds) * SECOND;
    this.banks = opened.roster.map(() => BigInt(opened.bank_seconds) * SECOND);
    this.dueAt = at;
    this.resumed = null;
    this.misses = opened.roster.map(() => ({ missed: 0, decided: false }));
    this.notes = [];
  }

  // An input of the rules came; a decision may be due after it.
  movedOn(decision, at) {
    this.dueAt = at;
    this.resumed = null;
    if (decision) this.turn += 1;
  }

  deadline(player) {
    return this.resumed ?? plus(plus(this.dueAt, this.action), this.banks[player]);
  }

  // What is wrong with a decision's times, or null.
  decided(player, verb, { seat, turn, by_clock: byClock, bank_used_ms: usedMs }, at) {
    const [deadline, bank] = [this.deadline(player), this.banks[player]];
    const taken = BigInt(usedMs) * 1000n;
    this.banks[player] = atLeastZero(bank - taken);
    const own = this.misses[player];
    if (byClock) own.missed += 1;
    else Object.assign(own, { missed: 0, decided: true });
    const used = verb === "leave" ? 0n : atLeastZero(bank - atLeastZero(deadline - at));
    if (byClock && at < deadline)
      return `turn ${turn}: the clock decided for seat ${seat} at ${timeText(at)}, before the deadline ${timeText(deadline)}`;
    if (byClock && taken !== bank) return `turn ${turn}: the clock ran out and the time bank did not`;
    if (!byClock && verb !== "leave" && at > deadline) {
      this.notes.push(
        `Turn ${turn}: the decision of seat ${seat} is recorded at ${timeText(at)}, behind its deadline ${timeText(deadline)}.`,
      );
    }
    if (taken > used)
      return `turn ${turn}: ${usedMs} ms of seat ${seat}'s time bank were taken, ${used / 1000n} ms were used`;
    return null;
  }

  // What is wrong with an interruption's end, or null.
  resume({ turn, deadline_micros: deadline }, player, at) {
    if (player === null || turn !== this.turn) return `the clock of turn ${turn} is resumed, and is not running`;
    const before = this.deadline(player);
    this.resumed = deadline;
    if (deadline < before)
      return `turn ${turn}: the deadline ${timeText(before)} is moved forward to ${timeText(deadline)}`;
    const most = plus(plus(plus(at, this.action), this.banks[player]), SLACK);
    return deadline > most ? `turn ${turn}: the resumed clock has more time than a whole one` : null;
  }

  // Whether the table may go on with these numbers of clocks missed in a row. Those before the hand count on for
  // whoever has not decided anything himself.
  missed(recorded) {
    const fits = ({ missed, decided }, at) => (decided ? recorded[at] === missed : recorded[at] >= missed);
    return recorded.length === this.misses.length && this.misses.every(fits);
  }
}
