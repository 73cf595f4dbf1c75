// Files of evidence: signed texts that a player keeps, and what hashes in them were taken of. Nothing in such a file is
// believed but what a key has signed, and what hashes to something known.

import { equal, fromBase64, hex, textOf, utf8 } from "./bytes.js";
import { sha256, verifyEd25519 } from "./digest.js";
import { keyIdOf } from "./fair.js";

export class BadEvidence extends Error {}

const HEADER = "sabacc-evidence 1";
const MAX_LINE = 32 * 1024;
export const MAX_EVIDENCE = 16 * 1024 * 1024;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// Fields that have no length of their own: UTF-8; 32 bytes, or none where there is no key.
const [TEXT, KEY] = [-1, -2];
// Of each signed text how long its fields are.
const FIELDS = {
  "dealer-commit-sig": [TEXT, 16, 8, 32, 32],
  "receipt-sig": [32, 32, 1, 16, 32, KEY, 8],
  "closing-sig": [32, 32, 32],
  "reveal-receipt-sig": [32, 32, 1, 16, 32, 8],
  "decision-sig": [32, 32, TEXT],
  "decision-receipt-sig": [32, 32, 8],
};
const NUMBER = utf8("sabacc/fair/v1/client-commit");
const CLOSING = utf8("sabacc/fair/v1/closing");
// How many rows a closing can say that it has.
const MOST_ROWS = 255;

// {signed: [{tag, fields, key, line}], numbers: [{context, dealer, seat, player, entropy, commitment}], closings: of each
// opened closing's hash, in hex, its rows [{seat, player, commitment}]}. Signed texts that are not their key's count for
// nothing.
export async function readEvidence(bytes) {
  if (bytes.length > MAX_EVIDENCE) throw new BadEvidence(`it is larger than ${MAX_EVIDENCE} bytes`);
  const evidence = { signed: [], numbers: [], closings: new Map() };
  let [from, at] = [0, 0];
  while (from < bytes.length || at === 0) {
    const end = bytes.indexOf(10, from);
    at += 1;
    try {
      if (end < 0) throw new BadEvidence("every line ends in LF");
      await takeLine(evidence, at, lineOf(bytes.subarray(from, end)));
    } catch (error) {
      if (!(error instanceof BadEvidence)) throw error;
      throw new BadEvidence(`line ${at} of the evidence: ${error.message}`);
    }
    from = end + 1;
  }
  return evidence;
}

function lineOf(bytes) {
  if (bytes.length >= MAX_LINE) throw new BadEvidence(`a line has ${MAX_LINE} bytes at most`);
  const text = textOf(bytes);
  if (text === null) throw new BadEvidence("it is not UTF-8");
  if (CONTROL.test(text)) throw new BadEvidence("it has a control character");
  return text;
}

async function takeLine(evidence, at, text) {
  if (at === 1) {
    if (text !== HEADER) throw new BadEvidence(`the first line is \u201c${HEADER}\u201d`);
    return;
  }
  const space = text.indexOf(" ");
  const [kind, rest] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  if (kind === "signed") {
    const signed = await signedOf(rest.split(" "));
    if (signed) evidence.signed.push({ ...signed, line: at });
  } else if (kind === "open") {
    const bytes = bytesOf(rest);
    const [number, rows] = [await numberOf(bytes), rowsOf(bytes)];
    if (number) evidence.numbers.push(number);
    if (rows) evidence.closings.set(hex(await sha256(bytes)), rows);
  } else if (kind === "note") checkNote(rest);
  else throw new BadEvidence("a line begins with signed, open or note");
}

// The word of whoever wrote it, its time too.
function checkNote(text) {
  const space = text.indexOf(" ");
  if (space < 1 || space + 1 === text.length) throw new BadEvidence("a note is a time, and words");
}

function bytesOf(text) {
  const bytes = fromBase64(text);
  if (!bytes || bytes.length === 0) throw new BadEvidence("this is no base64, or there is nothing in it");
  return bytes;
}

// A signed text, where it is one of the protocol and its key's.
async function signedOf(parts) {
  if (parts.length !== 3) throw new BadEvidence("it is a message, a signature and a key");
  const [message, signature, key] = parts.map(bytesOf);
  if (signature.length !== 64 || key.length !== 32) throw new BadEvidence("a signature has 64 bytes, and a key 32");
  const [tag, ...fields] = fieldsOf(message) ?? [];
  const keyId = fields.pop();
  if (!keyId || !equal(keyId, await keyIdOf(key))) return null;
  const name = textOf(tag);
  if (!Object.hasOwn(FIELDS, name ?? "") || !fits(fields, FIELDS[name])) return null;
  return (await verifyEd25519(key, message, signature)) ? { tag: name, fields, key } : null;
}

// What a client's commitment was taken of.
async function numberOf(bytes) {
  const [tag, ...fields] = fieldsOf(bytes) ?? [];
  if (!tag || !equal(tag, NUMBER) || !fits(fields, [32, 32, 1, 16, 32])) return null;
  const [context, dealer, [seat], player, entropy] = fields;
  return { context, dealer, seat, player, entropy, commitment: await sha256(bytes) };
}

// The rows that a closing was taken of; a commitment is empty where the seat has made none.
function rowsOf(bytes) {
  const [tag, ...fields] = fieldsOf(bytes) ?? [];
  if (!tag || !equal(tag, CLOSING) || !fits(fields.slice(0, 3), [32, 32, 1])) return null;
  const [, , [count], ...packed] = fields;
  if (count !== Math.min(packed.length, MOST_ROWS) || !packed.every(isRow)) return null;
  return packed.map((row) => ({
    seat: row[0],
    player: row.slice(1, 17),
    commitment: row[17] === 1 ? row.slice(18) : new Uint8Array(),
  }));
}

const isRow = (row) => row.length === 50 && (row[17] === 1 || row.subarray(17).every((byte) => byte === 0));

const fits = (fields, lengths) =>
  fields.length === lengths.length && fields.every((bytes, at) => isOf(bytes, lengths[at]));

function isOf(bytes, length) {
  if (length === KEY) return bytes.length === 0 || bytes.length === 32;
  return length === TEXT ? textOf(bytes) !== null : bytes.length === length;
}

// Fields, each behind its length; null where they are none.
function fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return null;
    const end = at + 4 + view.getUint32(at);
    if (end > bytes.length) return null;
    found.push(bytes.slice(at + 4, end));
    at = end;
  }
  return found;
}

// A big-endian number.
export const numberIn = (bytes) => BigInt(`0x${hex(bytes)}`);
