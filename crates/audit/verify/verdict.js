// The classes of verdicts, and which one the checks of a hand give.

import { SUSPENDED, suspensionOf } from "./audit/aborts.js";
import { SECOND, Trouble } from "./audit/case.js";
import { seedDue } from "./audit/seed.js";
import { LOGS } from "./bundle.js";

// Microseconds after which what is owed makes a hand fail.
const GRACE = 3600n * SECOND;

// A class, and why where that is no check: `nobody` brought a number, the dealer let the hand `die`, `witnesses` are missing,
// or what is owed: a `seed`, the end of a `suspended` hand, the `transfer`, or the end of a hand in `play`; `due`: since or
// until when.
export function classOf(records, checks, { wanted }, seen) {
  const proved = checks.every(({ check, verdict }) => verdict === "passed" || !["keys", "inclusion"].includes(check));
  if (!proved || checks.some(({ verdict }) => verdict === "failed")) return { kind: "failed" };
  if (records.aborted?.event.cause === SUSPENDED && records.find("HandSealed")) return { kind: "failed", reason: "die" };
  if (checks.some(({ verdict }) => verdict !== "passed")) return unfinished(records, seen);
  if (seen.times.size < wanted) return { kind: "not_finished", reason: "witnesses" };
  if (records.aborted) return { kind: "broken_off" };
  return records.revealed.length > 0 ? { kind: "proved" } : { kind: "failed", reason: "nobody" };
}

// A hand some of whose checks could not be made: something is owed, or it is failed.
function unfinished(records, seen) {
  const owed = owedOf(records);
  if (!owed) return { kind: "failed" };
  const late = newest(records, seen) > owed.due + GRACE;
  return { kind: late ? "failed" : "not_finished", ...owed };
}

function owedOf(records) {
  const settled = records.find("HandSettled");
  const ended = Boolean(settled || records.aborted);
  if (ended && !records.find("SeedOpened") && !records.find("SeedRefused")) return owedSeed(records);
  if (settled && !records.aborted) {
    const whole = records.find("SettlementPosted") && records.find("HandFinished");
    return whole ? null : { reason: "transfer", due: settled.time };
  }
  if (ended) return null;
  const since = suspensionOf(records);
  if (since) return { reason: "suspended", due: since.event.until_micros };
  const last = records.hand.filter(({ keptBack }) => !keptBack).at(-1);
  return last ? { reason: "play", due: last.time } : null;
}

function owedSeed(records) {
  try {
    return { reason: "seed", due: seedDue(records) };
  } catch (error) {
    if (error instanceof Trouble) return null;
    throw error;
  }
}

// The newest time in the file: of a record, or of a trusted witness.
function newest({ bundle }, seen) {
  let most = seen.newest;
  for (const name of LOGS) for (const { time } of bundle[name].records) most = time > most ? time : most;
  return most;
}
