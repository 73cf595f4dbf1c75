// The seed: the one committed to, the same in both logs, and opened when all was over. A refusal undoes nothing.

import { equal } from "../bytes.js";
import { dealerCommitment } from "../fair.js";
import { scaled } from "../settings.js";
import { CLOCK_SKEW, SECOND, exactly, failed, hold, later, timeText } from "./case.js";
import { promiseOf } from "./promise.js";

export async function checkSeed(records) {
  const { context, commitment } = await promiseOf(records);
  const opens = async (seed) => seed.length === 64 && equal(await dealerCommitment(context, seed), commitment);
  const refused = records.find("SeedRefused");
  if (refused) {
    throw failed(
      (await opens(refused.event.seed))
        ? "the table refused the seed that the dealer had committed to"
        : "the dealer opened another seed than it had committed to, and the table refused it",
    );
  }
  const opened = records.one("SeedOpened");
  const seed = exactly(64, opened.event.seed, "the seed");
  hold(await opens(seed), "the opened seed is not the one that the dealer committed to");
  hold(
    opened.event.discarded === Boolean(records.aborted),
    "the dealer opened the seed for another end of the hand than it had",
  );
  const due = seedDue(records);
  hold(due !== null, "the seed was opened, and no end of the hand is on record before it");
  hold(
    due <= opened.time + CLOCK_SKEW,
    () => `the dealer opened the seed at ${timeText(opened.time)}, and it was to stay shut until ${timeText(due)}`,
  );
  hold(equal(records.one("HandRevealed").event.seed, seed), "the table recorded another seed than the dealer opened");
}

// When the seed is to be opened; null while the hand has no end. That of a burnt number is due at once, any other as the
// settings say.
export function seedDue(records) {
  const end = records.find("HandSettled") ?? records.aborted;
  if (!end) return null;
  if (records.aborted && !records.find("HandSealed")) return end.time;
  return later(end.time, scaled(records.settings, BigInt(records.settings.delay_seconds) * SECOND));
}
