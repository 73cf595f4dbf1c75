// What was promised before chance could be known: the dealer's commitment, and the seats' entropy.

import { equal, number, same, utf8 } from "../bytes.js";
import { verifyEd25519 } from "../digest.js";
import {
  ABSENT,
  REVEALED,
  WITHHELD,
  clientCommitment,
  dealerCommitment,
  handIdOf,
  handKeys,
  rulesHash,
  signedText,
  transcriptOf,
} from "../fair.js";
import { ZEROS32 } from "../merkle.js";
import { checkGrounds } from "./aborts.js";
import { CLOCK_SKEW, Trouble, exactly, hold, missing, timeText } from "./case.js";
import { checkSealedRows, entropyOf } from "./entropy.js";
import { dealerKeyOf, promiseOf } from "./promise.js";

// In both logs before the hand was opened, once, for this hand, its rules and settings, and signed.
export async function checkCommitment(records) {
  const opened = records.one("HandOpened");
  const noted = records.one("HandCommitted");
  records.one("SeedCommitted");
  hold(records.all("SeedCommitted").length === 1, "the dealer committed to a second seed for this hand number");
  hold(records.all("HandCommitted").length === 1, "the table noted a second commitment of the dealer");
  const promise = await promiseOf(records);
  const { table, handNo, rules, signed } = promise;
  hold(equal(table, opened.event.table_id) && handNo === opened.event.hand_no, "the dealer committed to another hand");
  hold(equal(await handIdOf(table, handNo), records.handId), "the hand has another id than its table and number give");
  hold(same(opened.event.commitment, signed), "the hand was opened with another commitment than the dealer's");
  hold(same(noted.event.commitment, signed), "the table noted another commitment than the dealer's");
  hold(
    equal(await rulesHash(opened.event.rule_set, opened.event.settings), rules),
    "the dealer committed under other rules or settings than the hand was opened with",
  );
  checkOrder(records);
  await checkSignature(records, promise);
}

function checkOrder(records) {
  const opened = records.one("HandOpened");
  const noted = records.one("HandCommitted");
  const committed = records.one("SeedCommitted");
  hold(noted.position < opened.position, "the table noted the commitment after it had opened the hand");
  hold(
    committed.time <= opened.time + CLOCK_SKEW,
    () => `the dealer committed at ${timeText(committed.time)}, the hand was opened at ${timeText(opened.time)}`,
  );
  const early = records.all("EntropyCommitted").some(({ position }) => position < noted.position);
  hold(!early, "a seat committed to entropy before the dealer's commitment was on the table's record");
}

// By a key of the dealer's log, whose name is the origin.
async function checkSignature(records, { table, handNo, rules, signed, commitment }) {
  const { dealerKey } = records;
  hold(
    !dealerKey || dealerKey.name === signed.origin,
    () => `the commitment is bound to ${signed.origin}, which is not the dealer's log`,
  );
  exactly(64, signed.signature, "the signature");
  const key = await dealerKeyOf(records, signed.key_id, records.one("SeedCommitted").position);
  const fields = [utf8(signed.origin), table, number(handNo, 8), rules, commitment];
  hold(
    await verifyEd25519(key, signedText("dealer-commit-sig", signed.key_id, ...fields), signed.signature),
    "the signature under the commitment is not the dealer's",
  );
}

// A recorded row as it is bound: its status says what it must have.
function boundRow(row) {
  const { seat, player_id: player, status, commitment, entropy } = row;
  hold(seat <= 255, () => `there is no seat ${seat}`);
  hold([REVEALED, WITHHELD, ABSENT].includes(status), () => `it is not said what became of seat ${seat}'s entropy`);
  const part = (bytes, has, what) => {
    if (has) return exactly(32, bytes, `seat ${seat}'s ${what}`);
    hold(bytes.length === 0, () => `seat ${seat} has a ${what} that its status does not have`);
    return ZEROS32;
  };
  return {
    seat,
    player: exactly(16, player, "a player's id"),
    status,
    commitment: part(commitment, status !== ABSENT, "commitment"),
    entropy: part(entropy, status === REVEALED, "entropy"),
  };
}

async function bind({ context, commitment }, rows) {
  const bound = rows.map(boundRow);
  hold(
    bound.every(({ seat }, at) => at === 0 || bound[at - 1].seat < seat),
    "the seats do not ascend",
  );
  for (const { seat, player, status, commitment: own, entropy } of bound) {
    const opens = status !== REVEALED || equal(await clientCommitment(context, commitment, seat, player, entropy), own);
    hold(opens, () => `seat ${seat}'s entropy does not open its commitment`);
  }
  return transcriptOf(context, commitment, bound);
}

// What the seats revealed is bound as both logs say it, and nothing else is; and why a hand came to nothing.
export async function checkTranscript(records) {
  records.one("HandOpened");
  const promise = await promiseOf(records);
  const brought = await entropyOf(records, promise);
  checkGrounds(records, brought);
  if (records.aborted && !records.find("HandSealed")) {
    // The dealer is asked first: it may have bound what the table no longer wanted.
    const bound = records.find("SeedSealed");
    if (bound) await checkBound(bound.event, brought, promise);
    return;
  }
  const sealed = records.one("HandSealed").event;
  const bound = records.one("SeedSealed").event;
  hold(same(sealed.rows, bound.rows), "the table and the dealer recorded different contributions of the seats");
  await checkBound(bound, brought, promise);
  hold(equal(sealed.transcript, bound.transcript), "the table recorded another transcript than the contributions give");
}

async function checkBound(bound, brought, promise) {
  hold(
    bound.beacon.length === 0,
    "the transcript holds a beacon: none is defined, so nobody can check that it was not chosen",
  );
  checkSealedRows(brought, bound.rows);
  hold(
    equal(await bind(promise, bound.rows), bound.transcript),
    "the dealer recorded another transcript than the contributions give",
  );
}

// The transcript that recorded contributions give, whichever log has them.
export async function recordedTranscript(records) {
  const promise = await promiseOf(records);
  const sealings = ["SeedSealed", "HandSealed"].map((name) => records.find(name)?.event).filter(Boolean);
  for (const { rows } of sealings) {
    let computed;
    try {
      computed = await bind(promise, rows);
    } catch (error) {
      if (error instanceof Trouble) continue;
      throw error;
    }
    if (sealings.some(({ transcript }) => equal(transcript, computed))) return computed;
  }
  throw missing("no recorded contributions of the seats give a recorded transcript");
}

// The keys of all chance that these rows would have given.
export const chanceOfRows = async (promise, rows, seed) => handKeys(await bind(promise, rows), seed);

// The keys of all chance: of whichever opened seed keeps the promise.
export async function keysOf(records) {
  const { context, commitment } = await promiseOf(records);
  const seeds = ["SeedOpened", "HandRevealed"].map((name) => records.find(name)?.event.seed).filter(Boolean);
  if (seeds.length === 0) throw missing("the seed is not open yet");
  for (const seed of seeds) {
    if (seed.length === 64 && equal(await dealerCommitment(context, seed), commitment))
      return handKeys(await recordedTranscript(records), seed);
  }
  throw missing("no seed was opened that the dealer had committed to");
}
