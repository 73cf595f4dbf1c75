// A bundle file, read strictly: what is not exactly one is refused and gets no verdicts.

import { equal } from "./bytes.js";
import { sha256 } from "./digest.js";
import { leafRecord } from "./merkle.js";
import { Budget, Malformed, decode, firstNumber } from "./proto.js";
import { EVENT_NAMES } from "./schema.js";
import { soFar, workSince } from "./work.js";

export class NotABundle extends Error {}

const FORMAT = 2;
// Every format that was released is read.
const FIRST_FORMAT = 2;
// Bytes of the largest file that is read.
export const MAX_FILE = 16 * 1024 * 1024;
// Records and hashes of all logs; the hand's id and each log count as one too.
const MAX_RECORDS = 500000;
export const LOGS = ["table", "dealer", "wallet"];
const SCHEMA = 1;
// Of these there is only the encrypted payload.
const SEALED = ["PlayerNamed", "DisputeStated", "DisputeReasoned"];
// Concerns one player, and those who run the room: in the table's stream, its payload in no bundle.
export const KEPT_BACK = ["SeatRefused", "StandingFound", "EffectStopped", "EffectResumed"];
// May hold a secret of a hand in its stream of a log, until its seed is open.
export const SECRET_AT_TABLE = ["MoveDecided", "ChanceUsed"];
export const SECRET_AT_DEALER = ["OperationPerformed"];

function read(name, bytes, what, budget, by = decode) {
  try {
    return by(name, bytes, budget);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new NotABundle(`${what}: ${error.message}`);
  }
}

function exactly(length, bytes, what) {
  if (bytes.length !== length) throw new NotABundle(`${what} has ${bytes.length} bytes, not ${length}`);
}

export async function parseBundle(bytes) {
  if (bytes.length > MAX_FILE) throw new NotABundle(`the file is larger than ${MAX_FILE} bytes`);
  const before = soFar();
  const budget = new Budget();
  const { contents, sha256: hash } = read("HandBundle", bytes, "this is no bundle", budget);
  exactly(32, hash, "the bundle's SHA-256");
  if (!equal(await sha256(contents), hash))
    throw new NotABundle("the file is damaged: its contents are not what their SHA-256 says");
  // A newer room may write fields that are not known here.
  const what = "the bundle's contents";
  const first = read("BundleContents", contents, what, budget, (_, inside) => firstNumber(inside));
  if (first > BigInt(FORMAT)) throw new NotABundle("written by a newer room: take its verify.html");
  const { format, hand_id: handId, logs } = read("BundleContents", contents, what, budget);
  const parts = logs.reduce((sum, { records, proof }) => sum + 1 + records.length + proof.length, 1);
  if (parts > MAX_RECORDS) throw new NotABundle(`a bundle has at most ${MAX_RECORDS} records and hashes`);
  if (format < FIRST_FORMAT || format > FORMAT)
    throw new NotABundle(`this is a bundle of format ${format}; this page reads formats ${FIRST_FORMAT} to ${FORMAT}`);
  exactly(16, handId, "the hand's id");
  if (logs.length !== LOGS.length || logs.some((log, at) => log.name !== LOGS[at])) {
    throw new NotABundle("a bundle has three logs: table, dealer, wallet, in this order");
  }
  const bundle = { handId };
  for (const log of logs) bundle[log.name] = await readLog(log, budget);
  return { ...bundle, work: workSince(before) };
}

async function readLog({ name, key, checkpoint, records, proof }, budget) {
  proof.forEach((hash) => exactly(32, hash, "a hash of a proof"));
  const events = [];
  for (const record of records) {
    const what = `position ${record.position} of the ${name}'s log`;
    exactly(16, record.stream, `${what}: the stream`);
    exactly(32, record.author_hash, `${what}: the hash of its author`);
    exactly(32, record.previous, `${what}: the hash of the record before`);
    if (events.length > 0 && events.at(-1).position >= record.position)
      throw new NotABundle(`${what} does not stand after the one before it`);
    const type = EVENT_NAMES.get(record.type);
    if (!type || record.schema !== SCHEMA) throw new NotABundle(`${what} is of a kind that this page does not know`);
    const keptBack = record.payload_hash.length > 0;
    checkPayload(record, type, what);
    const event = keptBack ? null : read(type, record.payload, `${what}, ${type}`, budget);
    const leaf = await leafRecord(record);
    events.push({
      log: name,
      ...record,
      name: type,
      event,
      keptBack,
      leaf,
      chain: await sha256(leaf),
      time: record.recorded_at_micros,
    });
  }
  return { key, checkpoint, records: events, proof };
}

// A payload that can be read, or its hash in its place.
function checkPayload({ payload, salt, payload_hash: hash, payload_len: length, sealed }, type, what) {
  if (hash.length > 0) {
    exactly(32, hash, `${what}: the hash of its payload`);
    if (payload.length + salt.length > 0) throw new NotABundle(`${what} has a payload, and its hash in its place`);
    return;
  }
  exactly(16, salt, `${what}: the salt`);
  if (length > 0 || sealed || SEALED.includes(type)) throw new NotABundle(`${what} has a payload that nobody can read`);
}
