// Turns, deadlines and time banks, as a table must keep them. A decision is judged when it comes and recorded when the
// log has taken it: one that a player made and that is recorded behind its deadline may have come in time.

import { scaled } from "../settings.js";
import { CLOCK_SKEW, SECOND, hold, later, timeText } from "./case.js";

// What a clock that is resumed twice can gain.
const SLACK = 10n * SECOND;
// How long the dealer is silent before a hand is suspended.
const SILENCE = 10n * SECOND;
const HOUR = 3600n * SECOND;
const atLeastZero = (span) => (span < 0n ? 0n : span);

// Each suspension began after a silence and ends in time, whether or not the hand can be played again; and before the seal no
// decision is due.
export function checkSuspensions(records) {
  for (const { event, time } of records.all("HandSuspended")) {
    const { since_micros: since, until_micros: until } = event;
    hold(
      later(since, SILENCE) <= time,
      () => `the hand was suspended at ${timeText(time)}, and the dealer was asked at ${timeText(since)} only`,
    );
    const span = scaled(records.settings, BigInt(records.settings.suspend_hours) * HOUR);
    hold(
      later(since, span) <= until && until <= later(time, span, CLOCK_SKEW),
      () => `the hand is suspended until ${timeText(until)}, another time than the settings say`,
    );
  }
  const sealed = records.find("HandSealed");
  for (const { event, position } of records.all("HandContinued")) {
    const before = !sealed || position < sealed.position;
    const none = event.deadline_micros === 0n;
    hold(!before || none, "a hand goes on before its antes with a deadline for a decision");
  }
}

export class Clock {
  // `missed`: clocks missed in a row before the hand by each player, null where the records do not say.
  constructor(settings, missed, at) {
    this.turn = 0;
    this.action = scaled(settings, BigInt(settings.action_seconds) * SECOND);
    this.banks = missed.map(() => scaled(settings, BigInt(settings.bank_seconds) * SECOND));
    this.dueAt = at;
    this.resumed = null;
    // `known`: that is all of them, since the player has decided something since, or the records say what was before.
    this.misses = missed.map((before) => ({ missed: before ?? 0, known: before !== null }));
    // Since when the hand is suspended.
    this.stoodAt = null;
    this.notes = [];
  }

  // An input of the rules came; a decision may be due after it.
  movedOn(decision, at) {
    this.dueAt = at;
    this.resumed = null;
    if (decision) this.turn += 1;
  }

  deadline(player) {
    return this.resumed ?? later(this.dueAt, this.action, this.banks[player]);
  }

  // What is wrong with a decision's times, or null.
  decided(player, verb, { seat, turn, by_clock: byClock, bank_used_ms: usedMs }, at) {
    const [deadline, bank] = [this.deadline(player), this.banks[player]];
    const taken = BigInt(usedMs) * 1000n;
    this.banks[player] = atLeastZero(bank - taken);
    const own = this.misses[player];
    if (byClock) own.missed += 1;
    else Object.assign(own, { missed: 0, known: true });
    if (byClock && this.stoodAt !== null)
      return `turn ${turn}: the clock decided for seat ${seat} while the hand was suspended`;
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
    const most = later(at, this.action, this.banks[player], SLACK);
    return deadline > most ? `turn ${turn}: the resumed clock has more time than a whole one` : null;
  }

  // The hand is suspended, and clocks stand.
  suspend(at) {
    this.stoodAt = at;
  }

  // The dealer is back. What is wrong with the deadline of the decision that is due, or null.
  goOn({ deadline_micros: deadline }, player, at) {
    const stoodAt = this.stoodAt ?? at;
    this.stoodAt = null;
    if (player === null) return deadline === 0n ? null : "the hand goes on with a deadline, and no decision is due";
    const left = atLeastZero(this.deadline(player) - stoodAt);
    this.resumed = deadline;
    if (later(deadline, SLACK) < later(at, left))
      return "the hand goes on with less time for a decision than was left";
    const most = later(at, this.action, this.banks[player], SLACK);
    return deadline > most ? "the hand goes on with more time for a decision than a whole clock" : null;
  }

  // Whether the table may go on with these numbers of clocks missed in a row.
  missed(recorded) {
    const fits = ({ missed, known }, at) => (known ? recorded[at] === missed : recorded[at] >= missed);
    return recorded.length === this.misses.length && this.misses.every(fits);
  }
}
