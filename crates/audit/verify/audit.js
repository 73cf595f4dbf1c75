// One hand, proved from its bundle by somebody who trusts nobody but the keys he was told. A check that could not be made
// says so, and is no pass.

import { uuid } from "./bytes.js";
import { Case, Trouble, failed, hold, missing } from "./audit/case.js";
import { chanceOfBoth } from "./audit/chance.js";
import { checkConserved, checkSettlement, checkTransfer } from "./audit/credits.js";
import { checkOpenings } from "./audit/openings.js";
import { checkCommitment, checkSeed, checkTranscript } from "./audit/promises.js";
import { checkStreams } from "./audit/streams.js";
import { Walk } from "./audit/walk.js";
import { LOGS } from "./bundle.js";
import { NoCrypto } from "./digest.js";
import { leadsToRoot, leafHash } from "./merkle.js";
import { BadNote, openCheckpoint, parseKey } from "./note.js";

// In the order they are told in, with what each says where it passes.
export const CHECKS = [
  ["keys", "The logs' keys are ones that you trust, each log with its own."],
  ["inclusion", "Every record stands in the log that its service has signed, just as it is here."],
  ["streams", "The hand's streams are unbroken: every record is there, in its place, chained to the one before it."],
  ["commitment", "The dealer had committed to its seed, signed and for these rules, before the hand was opened."],
  ["transcript", "What the seats brought to chance is bound seat by seat, all of it and in time, as both logs say it."],
  ["seed", "The seed that was opened is the one committed to, and was opened when all was over."],
  ["operations", "Chance was used exactly as the rules call for, and gave what the seed gives."],
  ["cards", "Every card on record is the one the seed put there, and no hidden card was written down."],
  ["openings", "The dealer opened the cards that the rules open, to whom they open them, and no others."],
  ["decisions", "Every decision was legal, in turn, and the clock took nothing but the default."],
  ["clocks", "No clock ran out early, and no time bank was charged with more than was used."],
  ["settlement", "The settlement is what the rules make of this hand."],
  ["transfer", "The wallet moved what the settlement says: once, whole, and nothing else."],
  ["conserved", "No credit was made or lost, and the table goes on with what the hand left."],
];

// Each log's key is one that the reader was told, and no two logs have the same.
function checkKeys(bundle, trusted) {
  if (trusted.length === 0) throw missing("no keys were given to trust");
  const told = new Set(trusted.map(({ text }) => text));
  for (const name of LOGS)
    hold(
      told.has(bundle[name].key),
      () => `the key of the ${name}'s log, ${bundle[name].key}, is not among the trusted`,
    );
  hold(new Set(LOGS.map((name) => bundle[name].key)).size === LOGS.length, "two of the logs have the same key");
}

async function checkInclusion(bundle) {
  for (const name of LOGS) {
    const { key, checkpoint, records, proof } = bundle[name];
    try {
      const parsed = await parseKey(key);
      if (!parsed.isLog) throw new BadNote("its key is a witness's");
      const head = await openCheckpoint(checkpoint, parsed);
      const leaves = await Promise.all(records.map(async ({ position, leaf }) => [position, await leafHash(leaf)]));
      if (!(await leadsToRoot(leaves, head, proof))) throw new BadNote("its records are not in its tree");
    } catch (error) {
      if (!(error instanceof BadNote)) throw error;
      throw failed(`the ${name}'s log: ${error.message}`);
    }
  }
}

async function dealerKeyOf(bundle) {
  try {
    return await parseKey(bundle.dealer.key);
  } catch (error) {
    if (error instanceof BadNote) return null;
    throw error;
  }
}

// The report on a bundle that was read, with the walk for whoever tells its story.
export async function audit(bundle, trusted) {
  const records = new Case(bundle);
  records.dealerKey = await dealerKeyOf(bundle);
  const walk = await Walk.of(records);
  const notes = [...walk.notes];
  const makers = {
    keys: () => checkKeys(bundle, trusted),
    inclusion: () => checkInclusion(bundle),
    streams: () => checkStreams(records),
    commitment: () => checkCommitment(records),
    transcript: () => checkTranscript(records),
    seed: () => checkSeed(records),
    operations: () => chanceOfBoth(records, walk),
    cards: () => walk.judge("cards"),
    openings: () => checkOpenings(records, walk, notes),
    decisions: () => walk.judge("decisions"),
    clocks: () => walk.judge("clocks"),
    settlement: () => checkSettlement(records, walk),
    transfer: () => checkTransfer(records, walk),
    conserved: () => checkConserved(records),
  };
  const checks = [];
  for (const [check] of CHECKS) checks.push({ check, ...(await verdictOf(makers[check])) });
  const passed = checks.every(({ verdict }) => verdict === "passed");
  return { report: { hand_id: uuid(bundle.handId), passed, checks }, records, walk, notes };
}

async function verdictOf(make) {
  try {
    await make();
    return { verdict: "passed" };
  } catch (error) {
    if (error instanceof Trouble) return { verdict: error.verdict, why: error.message };
    if (error instanceof NoCrypto) return { verdict: "not_possible", why: error.message };
    throw error;
  }
}
