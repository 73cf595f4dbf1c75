// Keys and checkpoints as the log's operator publishes them: C2SP verifier keys and signed notes, each in its one
// spelling.

import { base64, concat, equal, fromBase64, hex, utf8 } from "./bytes.js";
import { isGoodPoint, sha256, verifyEd25519 } from "./digest.js";

export class BadNote extends Error {}

const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f]/;
const LOG = 1;
const WITNESS = 4;
const DASH = "\u2014 ";
export const LARGEST = (1n << 63n) - 1n;

const isName = (name) => name !== "" && !SPACE.test(name) && !CONTROL.test(name) && !name.includes("+");

const keyHash = async (name, kind, key) => (await sha256(utf8(name), Uint8Array.of(10, kind), key)).subarray(0, 4);

// `<name>+<id>+<base64 of a kind and 32 bytes>`.
export async function parseKey(text) {
  const [name, id, ...rest] = text.split("+");
  const blob = rest.length === 0 ? null : fromBase64(rest.join("+"));
  if (!blob || blob.length !== 33 || !isName(name))
    throw new BadNote("this is no key: <name>+<id>+<base64 of its kind and 32 bytes>");
  const [kind, key] = [blob[0], blob.slice(1)];
  if (kind !== LOG && kind !== WITNESS) throw new BadNote(`the kind of a key is 1 or 4, this is ${kind}`);
  if (!isGoodPoint(key)) throw new BadNote("the key's bytes are no Ed25519 public key, or one of small order");
  const hash = await keyHash(name, kind, key);
  if (hex(hash) !== id) throw new BadNote("the key's id is not that of its name and bytes");
  return { text, name, kind, id: hash, key, isLog: kind === LOG };
}

function signatureOf(line) {
  if (!line.startsWith(DASH)) return null;
  const at = line.indexOf(" ", DASH.length);
  const name = at < 0 ? "" : line.slice(DASH.length, at);
  const blob = at < 0 ? null : fromBase64(line.slice(at + 1));
  if (!blob || blob.length < 5 || !isName(name)) return null;
  return { name, id: blob.slice(0, 4), bytes: blob.slice(4) };
}

export function parseNote(note) {
  if (utf8(note).length > 1000000) throw new BadNote("the checkpoint is too long");
  if (CONTROL.test(note)) throw new BadNote("the checkpoint holds control characters");
  const blank = note.lastIndexOf("\n\n");
  if (blank < 0 || !note.endsWith("\n") || blank + 2 >= note.length) throw new BadNote("the checkpoint is not signed");
  const signatures = note
    .slice(blank + 2, -1)
    .split("\n")
    .map(signatureOf);
  if (signatures.length > 100 || signatures.includes(null))
    throw new BadNote("what stands under the checkpoint is no signature");
  return { text: note.slice(0, blank + 1), signatures };
}

// The size and the root of a log, signed by its key.
export async function openCheckpoint(note, key) {
  const { text, signatures } = parseNote(note);
  const own = signatures.filter((one) => one.name === key.name && equal(one.id, key.id));
  if (own.length === 0) throw new BadNote("the checkpoint is not signed by its log");
  for (const { bytes } of own) {
    if (!(await verifyEd25519(key.key, utf8(text), bytes)))
      throw new BadNote("the checkpoint's signature is not its log's");
  }
  const [origin] = text.split("\n", 1);
  if (origin !== key.name) throw new BadNote(`this is a checkpoint of ${origin}, not of ${key.name}`);
  return readCheckpoint(text);
}

// The text of a checkpoint, whoever signed it.
export async function readCheckpoint(text) {
  const lines = text.slice(0, -1).split("\n");
  const [, size, root] = lines;
  if (lines.length < 3 || lines.includes(""))
    throw new BadNote("a checkpoint is origin, size, root and more lines, none of them empty");
  if (!/^(0|[1-9][0-9]{0,19})$/.test(size) || BigInt(size) > LARGEST)
    throw new BadNote("the checkpoint's size is no number");
  const hash = fromBase64(root);
  if (hash?.length !== 32) throw new BadNote("the checkpoint's root is not 32 bytes");
  if (size === "0" && !equal(hash, await sha256(new Uint8Array())))
    throw new BadNote("a log without records has another root");
  return { size: BigInt(size), root: hash };
}

// For tests: what a key with these bytes is called.
export async function keyText(name, key) {
  return `${name}+${hex(await keyHash(name, LOG, key))}+${base64(concat(Uint8Array.of(LOG), key))}`;
}
