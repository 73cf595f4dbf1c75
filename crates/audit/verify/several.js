// Contradictions between files: one log has one history.

import { hex } from "./bytes.js";
import { LOGS } from "./bundle.js";
import { openCheckpoint, parseKey } from "./note.js";

// Statements about a log of a file whose keys and inclusion passed: no other may contradict them.
async function factsOf({ key, checkpoint, records }) {
  const parsed = await parseKey(key);
  const { size, root } = await openCheckpoint(checkpoint, parsed);
  const of = `, ${parsed.name}`;
  const facts = [[`checkpoints of ${size} records with different roots${of}`, hex(root)]];
  for (const { position, stream, version, leaf } of records) {
    const said = hex(leaf);
    facts.push([`different records at position ${position}${of}`, said]);
    facts.push([`different records of version ${version} of stream ${hex(stream)}${of}`, said]);
  }
  return facts;
}

// By bundle, of those given as [name, bundle]: how another one contradicts it. Only what its log has signed counts.
export async function contradictionsOf(proved) {
  const known = new Map();
  const found = new Map();
  const note = (bundle, by, what) => {
    if (!found.has(bundle)) found.set(bundle, `${by} contradicts it: ${what}`);
  };
  for (const [name, bundle] of proved) {
    for (const log of LOGS) {
      for (const [what, said] of await factsOf(bundle[log])) {
        // Every file that says it, for each of them is contradicted by whatever says something else.
        const told = known.get(what) ?? [];
        known.set(what, told);
        for (const other of told) {
          if (other.said === said) continue;
          note(bundle, other.name, what);
          note(other.bundle, name, what);
        }
        told.push({ name, bundle, said });
      }
    }
  }
  return found;
}
