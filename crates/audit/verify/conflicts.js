// What a file of evidence proves by itself: texts of one key that contradict each other, and receipts that a signed closing
// leaves out. Whichever hand it is of: a log signs one promise for a number, one closing for a commitment, one receipt for a
// seat, and one for a position. An end of the key (`until N`) does not matter here: who signs two texts has signed them both.

import { equal, hex, same } from "./bytes.js";

const [PROMISES, CLOSINGS, LEFT_OUT, COMMITMENTS, POSITIONS] = [0, 1, 2, 3, 4];
const WORDS = [
  "the dealer promised one number twice",
  "the dealer signed two closings for one number",
  "a receipt was given for a commitment that the closing has not",
  "the table took two commitments of one seat",
  "the table gave receipts for two records at one position of its log",
];
// Which log signs such texts. A player's decision may be signed anew.
const LOG_OF = {
  "dealer-commit-sig": "dealer",
  "closing-sig": "dealer",
  "receipt-sig": "table",
  "reveal-receipt-sig": "table",
  "decision-receipt-sig": "table",
};

// Contradictions in words, with the lines of the file. Texts of trusted logs count, each of a log that signs such texts.
export function conflictsOf({ signed, closings }, keys) {
  const names = new Map(keys.map(({ key, name }) => [hex(key), name]));
  const texts = signed.filter(({ tag, key }) => names.get(hex(key))?.split("/").at(-1) === LOG_OF[tag]);
  const found = [...pairsOf(texts), ...leftOutOf(texts, closings)];
  found.sort((a, b) => a.kind - b.kind || a.line - b.line || a.other - b.other);
  return [...new Set(found.map(({ kind, line, other }) => `lines ${line} and ${other}: ${WORDS[kind]}`))];
}

const keyOf = (...parts) => parts.map((part) => (typeof part === "number" ? part : hex(part))).join(" ");

// Each text that differs from the first of its key on the same subject.
function* pairsOf(texts) {
  const firsts = new Map();
  for (const text of texts) {
    for (const [kind, subject] of subjectsOf(text)) {
      const of = keyOf(text.key, kind, ...subject);
      const first = firsts.get(of);
      if (!first) firsts.set(of, text);
      else if (first.tag !== text.tag || !same(first.fields, text.fields))
        yield { kind, line: first.line, other: text.line };
    }
  }
}

// What a key may sign one text on.
function subjectsOf({ tag, fields }) {
  if (tag === "dealer-commit-sig") return [[PROMISES, fields.slice(0, 3)]];
  if (tag === "closing-sig") return [[CLOSINGS, fields.slice(0, 2)]];
  const position = [POSITIONS, fields.slice(-1)];
  return tag === "receipt-sig" ? [[COMMITMENTS, fields.slice(0, 4)], position] : [position];
}

// Each receipt whose seat and player a closing of its hand has with another commitment or none, where the file opens the
// closing.
function* leftOutOf(texts, closings) {
  const signed = new Map();
  for (const { tag, fields, line } of texts) {
    if (tag !== "closing-sig") continue;
    const of = keyOf(...fields.slice(0, 2));
    if (!signed.has(of)) signed.set(of, []);
    signed.get(of).push({ rows: closings.get(hex(fields[2])) ?? [], line });
  }
  for (const { tag, fields, line } of texts) {
    if (tag !== "receipt-sig") continue;
    const [, , [seat], player, commitment] = fields;
    const differs = (row) => row.seat === seat && equal(row.player, player) && !equal(row.commitment, commitment);
    for (const { rows, line: other } of signed.get(keyOf(...fields.slice(0, 2))) ?? [])
      if (rows.some(differs)) yield { kind: LEFT_OUT, line, other };
  }
}
