// Cosignatures of witnesses, C2SP tlog-cosignature/v1, and which trusted ones signed.

import { concat, equal, utf8 } from "./bytes.js";
import { LAST, SECOND } from "./audit/case.js";
import { LOGS } from "./bundle.js";
import { NoCrypto, verifyEd25519 } from "./digest.js";
import { BadNote, LARGEST, parseNote, readCheckpoint } from "./note.js";

const TIME = 8;

// The witnesses that signed the checkpoints of table and dealer, by name, with the time at which they had signed both, and
// the newest time of a good cosignature in the file; 0 without one. In microseconds. What is not theirs, or wrong, counts
// for nothing.
export async function witnessesOf(bundle, { witnesses }) {
  const signed = {};
  for (const name of LOGS) signed[name] = await signedBy(bundle[name].checkpoint, witnesses);
  const times = LOGS.flatMap((name) => [...signed[name].values()]);
  const both = [...signed.table.keys()].filter((name) => signed.dealer.has(name)).sort();
  const later = (a, b) => (a > b ? a : b);
  return {
    times: new Map(both.map((name) => [name, later(signed.table.get(name), signed.dealer.get(name))])),
    newest: times.reduce((most, time) => (time > most ? time : most), 0n),
  };
}

// Under one checkpoint: the newest time by the witness's name.
async function signedBy(checkpoint, witnesses) {
  const found = new Map();
  try {
    const { text, signatures } = parseNote(checkpoint);
    const { size } = await readCheckpoint(text);
    for (const key of witnesses.filter(({ isLog, until }) => !isLog && (until === null || size <= until))) {
      for (const { name, id, bytes } of signatures) {
        if (name !== key.name || !equal(id, key.id)) continue;
        const time = await timeOf(key, text, bytes);
        if (time === null) continue;
        const micros = time * SECOND > LAST ? LAST : time * SECOND;
        if (micros > (found.get(name) ?? -1n)) found.set(name, micros);
      }
    }
  } catch (error) {
    if (!(error instanceof BadNote) && !(error instanceof NoCrypto)) throw error;
  }
  return found;
}

// Unix seconds of a signature; null where it is not the key's.
async function timeOf({ key }, text, bytes) {
  if (bytes.length < TIME) return null;
  const time = bytes.subarray(0, TIME).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const message = concat(utf8(`cosignature/v1\ntime ${time}\n`), utf8(text));
  return time <= LARGEST && (await verifyEd25519(key, message, bytes.slice(TIME))) ? time : null;
}
