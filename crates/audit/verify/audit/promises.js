// What was promised before chance could be known: the dealer's commitment, the seats' entropy, and the seed.

import { equal, same, utf8 } from "../bytes.js";
import { sha256, verifyEd25519 } from "../digest.js";
import {
  ABSENT,
  REVEALED,
  WITHHELD,
  clientCommitment,
  contextOf,
  dealerCommitment,
  handIdOf,
  handKeys,
  signedCommitment,
  transcriptOf,
} from "../fair.js";
import { ZEROS32 } from "../merkle.js";
import { CLOCK_SKEW, SECOND, Trouble, exactly, hold, missing, timeText } from "./case.js";
import { checkGrounds, checkRow, entropyOf } from "./entropy.js";

// The dealer's commitment and the context it is made in.
async function promiseOf({ event }) {
  const { table_id: table, hand_no: handNo, rule_set_hash: rulesHash, commitment: signed } = event;
  hold(signed, "the commitment is missing");
  exactly(16, table, "the commitment's table");
  exactly(32, rulesHash, "the rule set's hash");
  exactly(32, signed.commitment, "the commitment");
  const context = await contextOf(signed.origin, table, handNo, rulesHash);
  return { table, handNo, rulesHash, signed, commitment: signed.commitment, context };
}

export async function checkCommitment(records) {
  const opened = records.one("HandOpened");
  const noted = records.one("HandCommitted");
  const committed = records.one("SeedCommitted");
  hold(records.all("SeedCommitted").length === 1, "the dealer committed to a second seed for this hand number");
  hold(records.all("HandCommitted").length === 1, "the table noted a second commitment of the dealer");
  const { table, handNo, rulesHash, signed, commitment } = await promiseOf(committed);
  hold(equal(table, opened.event.table_id) && handNo === opened.event.hand_no, "the dealer committed to another hand");
  hold(equal(await handIdOf(table, handNo), records.handId), "the hand has another id than its table and number give");
  hold(same(opened.event.commitment, signed), "the hand was opened with another commitment than the dealer's");
  hold(same(noted.event.commitment, signed), "the table noted another commitment than the dealer's");
  hold(
    equal(await sha256(utf8(opened.event.rule_set)), rulesHash),
    "the dealer committed under another rule set than the hand was opened with",
  );
  hold(noted.position < opened.position, "the table noted the commitment after it had opened the hand");
  hold(
    committed.time <= opened.time + CLOCK_SKEW,
    () => `the dealer committed at ${timeText(committed.time)}, the hand was opened at ${timeText(opened.time)}`,
  );
  const early = records.table.some(({ name, position }) => name === "EntropyCommitted" && position < noted.position);
  hold(!early, "a seat committed to entropy before the dealer's commitment was on the table's record");
  const { dealerKey } = records;
  hold(
    !dealerKey || dealerKey.name === signed.origin,
    () => `the commitment is bound to ${signed.origin}, which is not the dealer's log`,
  );
  exactly(64, signed.signature, "the signature");
  if (!dealerKey) throw missing("the dealer's key cannot be read, so its signature cannot be checked");
  const named = equal((await sha256(dealerKey.key)).subarray(0, 8), signed.key_id);
  hold(named, "the commitment is signed with another key than the dealer's");
  const message = signedCommitment(table, handNo, rulesHash, commitment, signed.key_id);
  hold(
    await verifyEd25519(dealerKey.key, message, signed.signature),
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

export async function checkTranscript(records) {
  const opened = records.one("HandOpened").event;
  const promise = await promiseOf(records.one("SeedCommitted"));
  const brought = await entropyOf(records, promise);
  checkGrounds(records, brought);
  if (records.aborted && !records.find("HandSealed")) {
    // The dealer is asked first: it may have bound what the table no longer wanted.
    const bound = records.find("SeedSealed");
    if (bound) await checkBound(opened, bound.event, brought, promise);
    return;
  }
  const sealed = records.one("HandSealed").event;
  const bound = records.one("SeedSealed").event;
  hold(same(sealed.rows, bound.rows), "the table and the dealer recorded different contributions of the seats");
  await checkBound(opened, bound, brought, promise);
  hold(equal(sealed.transcript, bound.transcript), "the table recorded another transcript than the contributions give");
}

async function checkBound(opened, bound, brought, promise) {
  const roster = [...opened.roster].sort((a, b) => a.seat - b.seat);
  const fits =
    roster.length === bound.rows.length &&
    roster.every((place, at) => place.seat === bound.rows[at].seat && equal(place.player_id, bound.rows[at].player_id));
  hold(fits, "the contributions are not one of each player dealt in, by seat");
  hold(
    bound.rows.every(({ status }) => status !== WITHHELD),
    "a player withheld what he had committed to: this hand must not be played",
  );
  hold(
    bound.beacon.length === 0,
    "the transcript holds a beacon: none is defined, so nobody can check that it was not chosen",
  );
  bound.rows.forEach((row) => checkRow(brought, row));
  hold(
    equal(await bind(promise, bound.rows), bound.transcript),
    "the dealer recorded another transcript than the contributions give",
  );
}

export async function checkSeed(records) {
  const opened = records.one("SeedOpened");
  const { context, commitment } = await promiseOf(records.one("SeedCommitted"));
  const seed = exactly(64, opened.event.seed, "the seed");
  hold(
    equal(await dealerCommitment(context, seed), commitment),
    "the opened seed is not the one that the dealer committed to",
  );
  hold(
    // A settled hand may come to nothing after the dealer was asked for its seed.
    opened.event.discarded === Boolean(records.aborted && !records.find("HandSettled")),
    "the dealer opened the seed for another end of the hand than it had",
  );
  seedInTime(records, opened.time);
  hold(equal(records.one("HandRevealed").event.seed, seed), "the table recorded another seed than the dealer opened");
}

function seedInTime(records, seen) {
  const early = (end) => `the dealer opened the seed at ${timeText(seen)}, and ${end}`;
  const settled = records.find("HandSettled");
  if (records.aborted && !settled) {
    hold(records.aborted.time <= seen + CLOCK_SKEW, () =>
      early(`the hand was aborted at ${timeText(records.aborted.time)}`),
    );
    return;
  }
  hold(settled, "the seed was opened, and no end of the hand is on record before it");
  const delay = BigInt(records.one("HandOpened").event.reveal_delay_seconds) * SECOND;
  hold(settled.time + delay <= seen + CLOCK_SKEW, () =>
    early(`the hand was settled at ${timeText(settled.time)}, the seed to stay hidden for ${delay / SECOND} seconds`),
  );
  const posted = records.find("SettlementPosted");
  if (delay > 0n || !records.hasEntropy || !posted) return;
  hold(seen <= posted.time + CLOCK_SKEW, () =>
    early(`the settlement was posted at ${timeText(posted.time)}, before it`),
  );
}

// The keys of all chance: of whichever opened seed keeps the promise and whichever contributions give a recorded
// transcript.
export async function keysOf(records) {
  const promise = await promiseOf(records.one("SeedCommitted"));
  const seeds = ["SeedOpened", "HandRevealed"].map((name) => records.find(name)?.event.seed).filter(Boolean);
  if (seeds.length === 0) throw missing("the seed is not open yet");
  let seed = null;
  for (const one of seeds) {
    if (!seed && one.length === 64 && equal(await dealerCommitment(promise.context, one), promise.commitment))
      seed = one;
  }
  if (!seed) throw missing("no seed was opened that the dealer had committed to");
  const sealings = ["SeedSealed", "HandSealed"].map((name) => records.find(name)?.event).filter(Boolean);
  for (const { rows } of sealings) {
    let computed;
    try {
      computed = await bind(promise, rows);
    } catch (error) {
      if (error instanceof Trouble) continue;
      throw error;
    }
    if (sealings.some(({ transcript }) => equal(transcript, computed))) return handKeys(computed, seed);
  }
  throw missing("no recorded contributions of the seats give a recorded transcript");
}
