// Trust of the reader: files of keys, and which log a key may speak for.

import { hex, textOf } from "./bytes.js";
import { BadNote, parseKey } from "./note.js";

export const MAX_UNTIL = (1n << 64n) - 1n;

// The keys of a file's text, each with its end or null; or BadNote for the whole of it.
export async function readKeys(text) {
  if (text.startsWith("\ufeff")) throw new BadNote("a file of keys has no byte order mark");
  const lines = text.split("\n");
  const keys = [];
  for (const [at, ended] of lines.entries()) {
    const line = at + 1 < lines.length ? ended.replace(/\r$/, "") : ended;
    if (line === "" || line.startsWith("#")) continue;
    try {
      keys.push(await readLine(line));
    } catch (error) {
      if (!(error instanceof BadNote)) throw error;
      throw new BadNote(`line ${at + 1} of the keys: ${error.message}`);
    }
  }
  const names = new Map();
  for (const { name, key } of keys) {
    const bytes = hex(key);
    if ((names.get(bytes) ?? name) !== name) throw new BadNote(`${name} has the public key of ${names.get(bytes)}`);
    names.set(bytes, name);
  }
  return keys;
}

export async function readWitnesses(text) {
  const keys = await readKeys(text);
  const log = keys.find(({ isLog }) => isLog);
  if (log) throw new BadNote(`${log.name} is a log, not a witness`);
  return keys;
}

// The text of a file of keys.
export function keysText(bytes) {
  const text = textOf(bytes);
  if (text === null) throw new BadNote("a file of keys is UTF-8");
  return text;
}

async function readLine(line) {
  const at = line.indexOf(" ");
  const key = await parseKey(at < 0 ? line : line.slice(0, at));
  if (at < 0) return { ...key, until: null };
  const number = /^until (0|[1-9][0-9]{0,19})$/.exec(line.slice(at + 1));
  if (!number || BigInt(number[1]) > MAX_UNTIL)
    throw new BadNote("after a key stands nothing, or ` until N`");
  return { ...key, until: BigInt(number[1]) };
}

// The room of a log called `ROOM/table`, or of a shard `ROOM/3/table`; null for another log.
export function roomOf(name, log) {
  if (!name.endsWith(`/${log}`) || name.length === log.length + 1) return null;
  return name.slice(0, -log.length - 1).replace(/(.)\/(0|[1-9][0-9]*)$/, "$1");
}

// Number of witnesses by name: one may have several keys.
export const witnessCount = ({ witnesses }) => new Set(witnesses.map(({ name }) => name)).size;
