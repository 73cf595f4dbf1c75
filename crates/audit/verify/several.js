// Contradictions between files: one log has one history.

import { hex } from "./bytes.js";
import { LOGS } from "./bundle.js";
import { openCheckpoint, parseKey } from "./note.js";

// Statements about a log of a file whose keys and inclusion passed: no other may contradict them.
async function factsOf({ key, checkpoint, records }) {
  const parsed = await parseKey(key);
  const { size, root } = await openCheckpoint(checkpoint, parsed);
  const facts = [[`checkpoints of ${size} records with different roots, ${parsed.name}`, hex(root)]];
  for (const { position, stream, version, leaf, name, event } of records) {
    const said = hex(leaf);
    facts.push([`different records at position ${position}, ${parsed.name}`, said]);
    if (name === "SeedCommitted" && event?.commitment) {
      const number = `${event.hand_no} of table ${hex(event.table_id)}`;
      facts.push([`different promises for hand ${number}, ${parsed.name}`, hex(event.commitment.commitment)]);
    }
    if (name === "CommitmentsClosed" && event?.closing)
      facts.push([`different closings of hand ${hex(stream)}, ${parsed.name}`, hex(event.closing.closing)]);
    facts.push([`different records of version ${version} of stream ${hex(stream)}, ${parsed.name}`, said]);
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
        const id = `${bundle[log].key} ${what}`;
        if (!known.has(id)) known.set(id, { name, bundle, said });
        const other = known.get(id);
        if (other.said === said) continue;
        note(bundle, other.name, what);
        note(other.bundle, name, what);
      }
    }
  }
  return found;
}
