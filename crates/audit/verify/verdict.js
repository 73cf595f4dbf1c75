// The classes of verdicts, and which one the checks of a hand give.

import { SECOND } from "./audit/case.js";
import { LOGS } from "./bundle.js";

// Microseconds after which a seed that is owed makes a hand fail.
const GRACE = 3600n * SECOND;

// A class, and why where that is no check: `nobody` brought a number, a `seed` is owed since `due`, `witnesses` are
// missing.
export function classOf(records, checks, { wanted }, seen) {
  if (checks.some(({ verdict }) => verdict === "failed")) return { kind: "failed" };
  if (checks.every(({ verdict }) => verdict === "passed")) {
    if (!records.aborted && records.revealed.length === 0) return { kind: "failed", reason: "nobody" };
    if (seen.names.length < wanted) return { kind: "not_finished", reason: "witnesses" };
    return { kind: records.aborted ? "broken_off" : "proved" };
  }
  const due = records.find("SeedOpened") ? null : seedDue(records);
  if (due === null) return { kind: "failed" };
  const late = newest(records, seen) > due + GRACE;
  return { kind: late ? "failed" : "not_finished", reason: "seed", due };
}

// Time at which the dealer was to open its seed; null while the hand has no end.
function seedDue(records) {
  const { opened, aborted } = records;
  const settled = records.find("HandSettled");
  if (!opened) return null;
  return settled ? settled.time + BigInt(opened.reveal_delay_seconds) * SECOND : (aborted?.time ?? null);
}

// The newest time in the file: of a record, or of a trusted witness.
function newest({ bundle }, seen) {
  let most = seen.newest;
  for (const name of LOGS) for (const { time } of bundle[name].records) most = time > most ? time : most;
  return most;
}
