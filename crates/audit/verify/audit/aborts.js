// Causes for which a hand may come to nothing. There are three: seats withheld, all live players agreed, the hand was
// suspended for too long. Whether all have agreed is judged where the hand is played again.

import { scaled } from "../settings.js";
import { MILLISECOND, failed, hold, later, timeText } from "./case.js";
import { silentOf } from "./entropy.js";

const [SEAT, DEALER] = [1, 2];
export const WITHHELD = 1;
export const AGREED = 2;
export const SUSPENDED = 3;

export function checkGrounds(records, brought) {
  const { aborted } = records;
  if (!aborted) return;
  const { cause, at_fault: fault, seats } = aborted.event;
  hold([WITHHELD, AGREED, SUSPENDED].includes(cause), "the hand came to nothing, and no cause is on record");
  hold(
    fault === (cause === WITHHELD ? SEAT : DEALER),
    "the hand came to nothing, and another is named at fault than its cause has",
  );
  if (cause === WITHHELD) {
    checkBurnt(records, brought);
    return;
  }
  hold(seats.length === 0, "the dealer is at fault, and seats are named");
  const since = suspensionOf(records);
  if (!since) throw failed("the hand was ended as a suspended one, and it was not suspended");
  const sealed = records.find("HandSealed");
  if (cause === AGREED) {
    hold(sealed, "a hand that was never sealed was ended by agreement");
    return;
  }
  const { until_micros: until } = since.event;
  hold(
    aborted.time >= until || (!sealed && hasLeft(records)),
    () => `the suspended hand was ended at ${timeText(aborted.time)}, and had until ${timeText(until)}`,
  );
}

function checkBurnt(records, brought) {
  const { time, event } = records.aborted;
  const silent = silentOf(brought);
  hold(
    silent.length > 0 && silent.join() === event.seats.join(),
    () =>
      `the hand was burnt for the seats ${event.seats.join(", ")}, those that withheld are ${silent.join(", ") || "none"}`,
  );
  hold(!records.find("HandSealed"), "the hand was burnt after everybody's entropy was bound");
  const window = scaled(records.settings, BigInt(records.settings.reveal_ms) * MILLISECOND);
  const until = later(records.one("EntropyClosed").time, window);
  hold(
    time >= until,
    () => `the hand was burnt at ${timeText(time)}, and seats had until ${timeText(until)} to reveal`,
  );
}

// The suspension that the records end with, where the dealer has not come back since; else null.
export function suspensionOf(records) {
  const last = records.hand.filter(({ name }) => name === "HandSuspended" || name === "HandContinued").at(-1);
  return last?.name === "HandSuspended" && !last.keptBack ? last : null;
}

// Whether somebody of the hand left or sat out while it was open.
function hasLeft(records) {
  const opened = records.one("HandOpened");
  const seats = new Set(opened.event.roster.map(({ seat }) => seat));
  return records.table.some(({ name, position, event, keptBack }) => {
    if (keptBack || position <= opened.position || position >= records.aborted.position) return false;
    const leaves = name === "LeaveAsked" || (name === "SitOutChanged" && event.sitting_out);
    return leaves && seats.has(event.seat);
  });
}
