// A room of our own: takes a golden bundle apart and writes it anew under keys that are known here, bent as a test says.

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

import { bytesOf, modules } from "./built.mjs";

const { decode } = modules["proto.js"];
const { EVENT_NAMES, MESSAGES } = modules["schema.js"];
const { leafRecord } = modules["merkle.js"];
const { keyText, parseKey } = modules["note.js"];
const { contextOf, keyIdOf, signedText } = modules["fair.js"];
const { concat, hex, number, utf8 } = modules["bytes.js"];

const hash = (...parts) => new Uint8Array(createHash("sha256").update(concat(...parts)).digest());
const base64 = (bytes) => Buffer.from(bytes).toString("base64");

// ---- Protobuf ----------------------------------------------------------------------------------------------------

export function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.of(...bytes, Number(rest));
}

const joined = (parts) => Uint8Array.from(Buffer.concat(parts));
const long = (tag, bytes) => concat(varint((tag << 3) | 2), varint(bytes.length), bytes);
const scalar = (type, value) =>
  varint(type === "s64" ? BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n)) : value);

function field({ type, number: tag, list, optional, group }, value) {
  if (value === null || (list && value.length === 0)) return new Uint8Array();
  const isNumber = ["u32", "u64", "s64", "enum", "bool"].includes(type);
  if (list && isNumber) return long(tag, joined(value.map((item) => scalar(type, item))));
  if (list) return joined(value.map((item) => long(tag, contentOf(type, item))));
  if (isNumber) {
    if (!value && !optional) return new Uint8Array();
    return concat(varint(tag << 3), scalar(type, value));
  }
  const bytes = contentOf(type, value);
  return bytes.length === 0 && !MESSAGES.has(type) && !group ? bytes : long(tag, bytes);
}

function contentOf(type, value) {
  if (type === "string") return utf8(value);
  return type === "bytes" ? value : encode(type, value);
}

export const encode = (name, message) =>
  concat(
    ...[...MESSAGES.get(name)]
      .sort((a, b) => a.number - b.number)
      .map((one) => field(one, message[one.name] ?? null)),
  );

// ---- Keys and notes ----------------------------------------------------------------------------------------------

const secretOf = (seed) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), hash(utf8(seed))]),
    format: "der",
    type: "pkcs8",
  });
const publicOf = (secret) =>
  new Uint8Array(createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32));

// A log's key. `seed` makes the secret.
export async function logKey(name, seed = name) {
  const secret = secretOf(seed);
  const text = await keyText(name, publicOf(secret));
  return { ...(await parseKey(text)), secret, until: null };
}

export async function witnessKey(name, seed = name) {
  const secret = secretOf(seed);
  const bytes = concat(Uint8Array.of(4), publicOf(secret));
  const id = hash(utf8(name), Uint8Array.of(10), bytes).subarray(0, 4);
  return { ...(await parseKey(`${name}+${hex(id)}+${base64(bytes)}`)), secret, until: null };
}

const lineOf = ({ name, id }, bytes) => `\u2014 ${name} ${base64(concat(id, bytes))}\n`;

export const signed = (text, key) => `${text}\n${lineOf(key, new Uint8Array(sign(null, utf8(text), key.secret)))}`;

export function cosigned(note, key, time) {
  const text = note.slice(0, note.lastIndexOf("\n\n") + 1);
  const made = new Uint8Array(sign(null, utf8(`cosignature/v1\ntime ${time}\n${text}`), key.secret));
  const stamp = new Uint8Array(8);
  new DataView(stamp.buffer).setBigUint64(0, BigInt(time));
  return note + lineOf(key, concat(stamp, made));
}

// ---- Bundles -----------------------------------------------------------------------------------------------------

export const ROOM = {};
for (const name of ["table", "dealer", "wallet"]) ROOM[name] = await logKey(`specimen.example/${name}`);
export const TRUST = { keys: Object.values(ROOM), witnesses: [], wanted: 0 };

// A golden hand with its events read: {handId, logs}, each log {name, records}.
export function opened(name) {
  const { hand_id: handId, logs } = decode(
    "BundleContents",
    decode("HandBundle", bytesOf(`${name}.sabacc`)).contents,
  );
  for (const { records } of logs) {
    for (const record of records) {
      record.kind = EVENT_NAMES.get(record.type);
      record.event = record.payload_hash.length > 0 ? null : decode(record.kind, record.payload);
    }
  }
  return { handId, logs };
}

export const recordsOf = ({ logs }, kind) => logs.flatMap(({ records }) => records.filter((one) => one.kind === kind));
export const drop = ({ logs }, ...kinds) =>
  logs.forEach((log) => Object.assign(log, { records: log.records.filter(({ kind }) => !kinds.includes(kind)) }));

export const wrap = (contents) => encode("HandBundle", { contents, sha256: hash(contents) });

// The file: every commitment signed, every record chained, proved and signed anew. `under`: what becomes of a log's
// checkpoint.
export async function forged({ handId, logs }, { room = ROOM, under = (_, note) => note } = {}) {
  await recommit({ logs }, room.dealer);
  const made = [];
  for (const { name, records } of logs) {
    const heads = new Map();
    const leaves = new Map();
    for (const record of records) {
      const stream = hex(record.stream);
      if (record.event) record.payload = encode(record.kind, record.event);
      const head = heads.get(stream);
      if (head && head.version + 1n === record.version) record.previous = head.hash;
      const leaf = await leafRecord(record);
      heads.set(stream, { version: record.version, hash: hash(leaf) });
      leaves.set(Number(record.position), hash(Uint8Array.of(0), leaf));
    }
    const size = Math.max(-1, ...leaves.keys()) + 2;
    const proof = [];
    const root = rootOf(0, size, leaves, proof);
    const checkpoint = under(name, signed(`${room[name].name}\n${size}\n${base64(root)}\n`, room[name]));
    made.push({ name, key: room[name].text, checkpoint, records, proof });
  }
  return wrap(encode("BundleContents", { format: 2, hand_id: handId, logs: made }));
}

// Records of others stand wherever none is known.
function rootOf(from, to, leaves, proof) {
  const known = [...leaves.keys()].some((at) => at >= from && at < to);
  const hide = (found) => {
    if (!known && proof) proof.push(found);
    return found;
  };
  if (to === from + 1) return hide(leaves.get(from) ?? hash(utf8(`other ${from}`)));
  let width = 1;
  while (width * 2 < to - from) width *= 2;
  const inside = known ? proof : null;
  const left = rootOf(from, from + width, leaves, inside);
  const right = rootOf(from + width, to, leaves, inside);
  return hide(hash(Uint8Array.of(1), left, right));
}

// Signs again what the dealer had signed.
async function recommit(bundle, dealer) {
  const [committed] = recordsOf(bundle, "SeedCommitted");
  if (!committed) return;
  const { table_id: table, hand_no: handNo, rules_hash: rules, commitment } = committed.event;
  const keyId = await keyIdOf(dealer.key);
  const signing = (...fields) => new Uint8Array(sign(null, signedText(...fields), dealer.secret));
  const { commitment: made, origin } = commitment;
  const fields = [utf8(origin), table, number(handNo, 8), rules, made];
  const signature = signing("dealer-commit-sig", keyId, ...fields);
  const noted = recordsOf(bundle, "HandCommitted").filter(({ event }) => event.hand_no === handNo);
  for (const { event } of [committed, ...noted, ...recordsOf(bundle, "HandOpened")])
    event.commitment = { ...event.commitment, key_id: keyId, signature };
  const context = await contextOf(origin, table, handNo, rules);
  for (const kind of ["CommitmentsClosed", "EntropyClosed"]) {
    for (const { event } of recordsOf(bundle, kind)) {
      const { closing } = event.closing;
      event.closing.key_id = keyId;
      event.closing.signature = signing("closing-sig", keyId, context, made, closing);
    }
  }
}
