// One hand, proved from its bundle by somebody who trusts nobody but the keys he was told. A check that could not be made
// says so, and is no pass.

import { uuid } from "./bytes.js";
import { Case, Trouble, failed } from "./audit/case.js";
import { chanceOfBoth } from "./audit/chance.js";
import { checkSuspensions } from "./audit/clock.js";
import { checkConserved, checkSettlement, checkTransfer } from "./audit/credits.js";
import { heldBy } from "./audit/held.js";
import { keptOf } from "./audit/kept.js";
import { checkOpenings } from "./audit/openings.js";
import { checkClosing } from "./audit/closing.js";
import { keysOfLog } from "./audit/promise.js";
import { checkCommitment, checkTranscript } from "./audit/promises.js";
import { checkSeed } from "./audit/seed.js";
import { checkSignatures } from "./audit/signatures.js";
import { checkStart } from "./audit/start.js";
import { checkStreams } from "./audit/streams.js";
import { Walk } from "./audit/walk.js";
import { checkKeys } from "./audit/trusted.js";
import { LOGS } from "./bundle.js";
import { NoCrypto } from "./digest.js";
import { leadsToRoot, leafHash } from "./merkle.js";
import { BadNote, openCheckpoint, parseKey } from "./note.js";
import { refusedSentences, sentencesOf } from "./sentences.js";
import { classOf } from "./verdict.js";
import { witnessesOf } from "./witness.js";
import { NO_WORK, soFar, workSince } from "./work.js";

// Letters of the longest reason that is told.
const MAX_WHY = 2000;
export const NO_KEYS = "no keys were given to trust";

// In the order they are told in, with what each says where it passes.
export const CHECKS = [
  ["keys", "The logs' keys are ones that you trust, each log with its own."],
  ["inclusion", "Every record stands in the log that its service has signed, just as it is here."],
  ["streams", "The hand's streams are whole, and the table's since the last hand that was played: every record is there, in its place, chained to the one before it."],
  ["commitment", "The dealer had committed to one seed, signed and for these rules and settings, before any seat committed and before the hand was opened."],
  ["closing", "The dealer signed what every seat had committed to, all of it, not before its time and before anybody revealed."],
  ["transcript", "What the seats revealed opens what they had committed to, and is bound seat by seat, as both logs say it."],
  ["seed", "The seed that was opened is the one committed to, and was opened when all was over."],
  ["operations", "Chance was used exactly as the rules call for, and gave what the seed gives."],
  ["cards", "Every card on record is the one the seed put there, and no hidden card was written down."],
  ["openings", "The dealer opened the cards that the rules open, to whom they open them, and no others."],
  ["decisions", "Every decision was legal, in turn, and the clock took nothing but the default."],
  ["signatures", "Every decision of a player with a key is signed by it, over the cards and all decided before, or is the clock's."],
  ["clocks", "No clock ran out early, and no time bank was charged with more than was used."],
  ["settlement", "The settlement is what the rules make of this hand."],
  ["transfer", "The wallet moved what the settlement says: once, whole, and nothing else."],
  ["conserved", "No credit was made or lost, and the table goes on with what the hand left."],
  ["start", "The hand began with what the last one that was played had left, but for what the table's stream says in between."],
];

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

async function ownKeyOf({ key }) {
  try {
    return await parseKey(key);
  } catch (error) {
    if (error instanceof BadNote) return null;
    throw error;
  }
}

// Every check of a bundle, with the walk for whoever tells its story.
export async function examine(bundle, trust) {
  const before = soFar();
  const records = new Case(bundle);
  records.dealerKey = await ownKeyOf(bundle.dealer);
  records.dealerKeys = keysOfLog(records.dealerKey, trust.keys);
  records.tableKeys = keysOfLog(await ownKeyOf(bundle.table), trust.keys);
  const walk = await Walk.of(records);
  const notes = [...walk.notes];
  const makers = {
    keys: () => checkKeys(bundle, trust.keys),
    inclusion: () => checkInclusion(bundle),
    streams: () => checkStreams(records),
    commitment: () => checkCommitment(records),
    closing: () => checkClosing(records),
    transcript: () => checkTranscript(records),
    seed: () => checkSeed(records),
    operations: () => chanceOfBoth(records, walk),
    cards: () => walk.judge("cards"),
    openings: () => checkOpenings(records, walk, notes),
    decisions: () => walk.judge("decisions"),
    signatures: () => checkSignatures(records, walk),
    clocks: () => {
      checkSuspensions(records);
      walk.judge("clocks");
    },
    settlement: () => checkSettlement(records, walk),
    transfer: () => checkTransfer(records, walk),
    conserved: () => checkConserved(records),
    start: () => checkStart(records),
  };
  const checks = [];
  for (const [check] of CHECKS) checks.push({ check, ...(await verdictOf(makers[check])) });
  if (records.aborted) records.held = await heldOf(records);
  const kept = trust.evidence ? await keptOf(records, walk, trust, isProved({ checks })) : null;
  return { bundle, trust, checks, records, walk, notes, kept, work: add(bundle.work, workSince(before)) };
}

// What a hand that came to nothing held; nothing of records that nobody foresaw.
async function heldOf(records) {
  try {
    return await heldBy(records);
  } catch {
    return "";
  }
}

const add = (one, other) => Object.fromEntries(Object.entries(one).map(([what, count]) => [what, count + other[what]]));

// True if the records are those of logs that the reader trusts.
export const isProved = ({ checks }) =>
  checks.every(({ check, verdict }) => verdict === "passed" || !["keys", "inclusion"].includes(check));

// The same with its report. `against`: how another file contradicts this one.
export async function withReport(found, against) {
  const checks = found.checks.map((one) =>
    one.check === "inclusion" && against ? { check: one.check, verdict: "failed", why: against } : one,
  );
  const seen = await witnessesOf(found.bundle, found.trust);
  const own = classOf(found.records, checks, found.trust, seen);
  const verdict = found.kept?.against.length > 0 ? { kind: "failed", reason: "evidence" } : own;
  const sentences = sentencesOf(found.records, verdict, checks, found.trust, seen, found.kept);
  const report = { hand_id: uuid(found.bundle.handId), verdict: verdict.kind, sentences, checks };
  return { ...found, report: { ...report, work: found.work } };
}

export function refusal(why, handId = null) {
  const sentences = refusedSentences(why);
  return { hand_id: handId && uuid(handId), verdict: "refused", sentences, checks: [], work: { ...NO_WORK } };
}

// One file by itself.
export async function audit(bundle, trust) {
  if (trust.keys.length === 0) return { report: refusal(NO_KEYS, bundle.handId) };
  return withReport(await examine(bundle, trust));
}

// A reason may quote what stands in the file, as much as it is.
const short = (why) => (why.length <= MAX_WHY ? why : `${why.slice(0, MAX_WHY)}\u2026`);

async function verdictOf(make) {
  try {
    await make();
    return { verdict: "passed" };
  } catch (error) {
    if (error instanceof Trouble) return { verdict: error.verdict, why: short(error.message) };
    if (error instanceof NoCrypto) return { verdict: "not_possible", why: error.message };
    // Records that nobody foresaw fail the check, not the page.
    return { verdict: "failed", why: short(`the check cannot deal with these records: ${error}`) };
  }
}
