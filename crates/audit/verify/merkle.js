// A log's tree: the record of an event, its leaf, and whether records lead to a root.

import { concat, equal, number, utf8 } from "./bytes.js";
import { sha256 } from "./digest.js";
import { step } from "./work.js";

export const ZEROS32 = new Uint8Array(32);

// The 149 bytes that stand for a record in the tree. Of a payload that is kept back they have its hash.
export async function leafRecord(record) {
  const keptBack = record.payload_hash.length > 0;
  return concat(
    utf8("SLE2"),
    number(record.position, 8),
    number(record.recorded_at_micros, 8),
    record.stream,
    number(record.version, 8),
    number(record.type, 2),
    number(record.schema, 2),
    number(record.sealed ? 1 : 0, 1),
    number(keptBack ? record.payload_len : record.payload.length, 4),
    keptBack ? record.payload_hash : await sha256(record.salt, record.payload),
    record.author_hash,
    record.previous,
  );
}

export const leafHash = (bytes) => sha256(Uint8Array.of(0), bytes);
export const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right);

function widthBelow(count) {
  let width = 1n;
  while (width * 2n < count) width *= 2n;
  return width;
}

// Whether leaves, ascending by position, lead to the root of a tree of so many, with all hashes used up.
export async function leadsToRoot(leaves, { size, root }, hashes) {
  if (leaves.some(([position]) => position >= size)) return false;
  let used = 0;
  const node = async (from, to, inside) => {
    step();
    if (inside.length === 0) {
      used += 1;
      return hashes[used - 1] ?? ZEROS32;
    }
    if (to === from + 1n) return inside[0][1];
    const middle = from + widthBelow(to - from);
    const left = await node(
      from,
      middle,
      inside.filter(([position]) => position < middle),
    );
    const right = await node(
      middle,
      to,
      inside.filter(([position]) => position >= middle),
    );
    return nodeHash(left, right);
  };
  const found = await node(0n, size, leaves);
  return used === hashes.length && equal(found, root);
}

// The root over all leaf hashes.
export async function rootOf(leaves) {
  if (leaves.length === 0) return sha256(new Uint8Array());
  if (leaves.length === 1) return leaves[0];
  const middle = Number(widthBelow(BigInt(leaves.length)));
  return nodeHash(await rootOf(leaves.slice(0, middle)), await rootOf(leaves.slice(middle)));
}
