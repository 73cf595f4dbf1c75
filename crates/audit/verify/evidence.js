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
// Of each signed text how long its fields are, where that is fixed.
const FIELDS = {
  "dealer-commit-sig": [null, 16, 8, 32, 32],
  "receipt-sig": [32, 32, 1, 16, 32, null, 8],
  "closing-sig": [32, 32, 32],
  "reveal-receipt-sig": [32, 32, 1, 16, 32, 8],
  "decision-sig": [32, 32, null],
  "decision-receipt-sig": [32, 32, 8],
};
const NUMBER = "sabacc/fair/v1/client-commit";

// {signed: [{tag, fields, key}], numbers: [{context, dealer, seat, player, entropy, commitment}]}. Signed texts that are not
// their key's count for nothing.
export async function readEvidence(bytes) {
  if (bytes.length > MAX_EVIDENCE) throw new BadEvidence(`it is larger than ${MAX_EVIDENCE} bytes`);
  const evidence = { signed: [], numbers: [] };
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
    if (signed) evidence.signed.push(signed);
  } else if (kind === "open") {
    const number = await numberOf(bytesOf(rest));
    if (number) evidence.numbers.push(number);
  } else if (kind === "note") checkNote(rest);
  else throw new BadEvidence("a line begins with signed, open or note");
}

function checkNote(text) {
  const found = /^(0|[1-9][0-9]{0,19}) ./u.exec(text);
  if (!found || BigInt(found[1]) >= 1n << 64n) throw new BadEvidence("a note is microseconds since 1970, and words");
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
  if (!tag || !equal(tag, utf8(NUMBER)) || !fits(fields, [32, 32, 1, 16, 32])) return null;
  const [context, dealer, [seat], player, entropy] = fields;
  return { context, dealer, seat, player, entropy, commitment: await sha256(bytes) };
}

const fits = (fields, lengths) =>
  fields.length === lengths.length && fields.every(({ length }, at) => (lengths[at] ?? length) === length);

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
