// Every hostile file of the corpus gets the outcome that the list says, within its bound of work.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { modules, reportOn, trusted } from "./built.mjs";

const { textOf } = modules["bytes.js"];
const { BadEvidence, readEvidence } = modules["evidence.js"];
const { BadNote, openCheckpoint, parseNote } = modules["note.js"];
const { keysText, readKeys, readWitnesses } = modules["trust.js"];
const { soFar, workSince } = modules["work.js"];

// The corpus, or a sweep in its place.
const SWEEP = process.env.SABACC_SWEEP;
const FOLDER = SWEEP
  ? pathToFileURL(`${SWEEP}/`)
  : new URL("../../../../tests/golden/hostile/", import.meta.url);
// Work of each byte of a file, and work that any file may make.
const EACH = { steps: 2, bytes: 40, signatures: 1 / 32 };
const ALWAYS = { steps: 20000, bytes: 100000, signatures: 16 };

const listed = JSON.parse(readFileSync(new URL("expected.json", FOLDER), "utf8"));

// The bytes of a file; of one in short, those that its lines stand for: `TIMES HEX`, or `= FROM LENGTH` of the honest
// bundle.
function contentOf(name) {
  const data = readFileSync(new URL(name, FOLDER));
  if (!name.endsWith(".short")) return new Uint8Array(data);
  const honest = readFileSync(new URL("bundles/honest.sabacc", FOLDER));
  const pieces = data
    .toString("ascii")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [first, second, third] = line.split(" ");
      if (first === "=") return honest.subarray(Number(second), Number(second) + Number(third));
      const piece = Buffer.from(second, "hex");
      return Buffer.alloc(Number(first) * piece.length, piece);
    });
  return new Uint8Array(Buffer.concat(pieces));
}

function noteText(bytes) {
  const text = textOf(bytes);
  if (text === null) throw new BadNote("a note is UTF-8");
  return text;
}

const READERS = {
  keys: async (bytes) => readKeys(keysText(bytes)),
  witness_keys: async (bytes) => readWitnesses(keysText(bytes)),
  note: async (bytes) => parseNote(noteText(bytes)),
  checkpoint: async (bytes) => openCheckpoint(noteText(bytes), (await trusted()).keys[0]),
  evidence: readEvidence,
};

async function judged(bytes) {
  const before = soFar();
  const report = await reportOn(bytes, await trusted());
  const made = workSince(before);
  for (const what of ["steps", "bytes", "signatures"]) {
    const most = ALWAYS[what] + EACH[what] * bytes.length;
    assert.ok(made[what] <= most, `${made[what]} ${what}, and ${most} are the most`);
  }
  if (report === null) return { verdict: "refused" };
  const of = (wanted) => report.checks.filter(({ verdict }) => verdict === wanted).map(({ check }) => check);
  return { verdict: report.verdict, failed: of("failed"), not_possible: of("not_possible") };
}

async function outcomeOf(kind, bytes) {
  if (kind === "bundle") return judged(bytes);
  try {
    await READERS[kind](bytes);
  } catch (error) {
    if (!(error instanceof BadNote || error instanceof BadEvidence)) throw error;
    return { verdict: "refused" };
  }
  return { verdict: "accepted" };
}

test("the corpus is there, and nothing else", () => {
  assert.ok(listed.length > 100);
  const there = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  assert.deepEqual(
    there.map(({ name }) => name).filter((name) => name !== "expected.json").sort(),
    listed.map(({ file }) => file.split("/").at(-1)).sort(),
  );
});

for (const { file, kind, ...expected } of listed) {
  test(file, { timeout: 60000 }, async () => {
    assert.deepEqual(await outcomeOf(kind, contentOf(file)), expected);
  });
}
