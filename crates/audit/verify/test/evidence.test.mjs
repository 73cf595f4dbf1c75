// What a reader's own evidence says to a hand, and the work that a file makes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { audit, judge, modules, parseBundle, readFile } from "./built.mjs";
import { fileOf, newDocument } from "./dom.mjs";
import { ROOM, TRUST, encode, forged, logKey, opened, recordsOf, varint, wrap } from "./forge.mjs";
import { HAND, HEADER, ZEROS, at, known, line, receiptOf, signedLine, told } from "./keeper.mjs";

const { concat, lp, number, utf8 } = modules["bytes.js"];
const { decisionOf } = modules["fair.js"];
const { BadEvidence, readEvidence } = modules["evidence.js"];

test("evidence that fits says where the reader's number is", async () => {
  const one = await known();
  const { bound, given, revealed, closing } = one;
  const [seat, player] = [number(given.event.seat, 1), given.event.player_id];
  const { entropy } = revealed.event;
  const opening = concat(...["sabacc/fair/v1/client-commit"].map(utf8).concat(bound, [seat, player, entropy]).map(lp));
  const report = await told(one, [
    await signedLine(ROOM.dealer, "closing-sig", ...bound, closing),
    await signedLine(ROOM.table, "receipt-sig", ...receiptOf(one)),
    await signedLine(ROOM.table, "reveal-receipt-sig", ...bound, seat, player, entropy, at(revealed)),
    line("open", opening),
  ]);
  assert.equal(report.verdict, "proved", report.sentences[0]);
  assert.equal(
    report.sentences[2],
    `Your part: your number of seat ${given.event.seat} is in the closing, in the transcript and in every card; ` +
      "the closing that you were sent is the one on record.",
  );
  assert.match((await told(one, [])).sentences[2], /nothing of yours is in it/);
});

test("what convicts", async () => {
  const one = await known();
  const { hand, bound, given, handNo, table, rules, context } = one;
  const [opening] = recordsOf(hand, "HandOpened");
  const [decided] = recordsOf(hand, "MoveDecided");
  const seat = number(given.event.seat, 1);
  const numbered = [utf8(ROOM.dealer.name), table, number(handNo, 8)];
  for (const [what, key, tag, ...fields] of [
    [/another closing/, ROOM.dealer, "closing-sig", ...bound, ZEROS],
    [/promised another seed/, ROOM.dealer, "dealer-commit-sig", ...numbered, rules, ZEROS],
    [/the closing leaves out/, ROOM.table, "receipt-sig", ...receiptOf(one, { commitment: ZEROS })],
    [/holds something else/, ROOM.table, "receipt-sig", ...receiptOf(one, { place: at(opening) })],
    [/holds something else/, ROOM.table, "receipt-sig", ...receiptOf(one, { key: ZEROS })],
    [/for no record/, ROOM.table, "reveal-receipt-sig", ...bound, seat, given.event.player_id, ZEROS, at(opening)],
    [/the chain of decisions/, ROOM.table, "decision-receipt-sig", context, ZEROS, at(decided)],
    [/holds something else/, ROOM.table, "decision-receipt-sig", context, ZEROS, at(opening)],
  ]) {
    const report = await told(one, [await signedLine(key, tag, ...fields)]);
    assert.equal(report.verdict, "failed", `${what}`);
    assert.match(report.sentences[0], /your evidence contradicts it: /);
    assert.match(report.sentences[0], what);
  }
});

test("what convicts nobody", async () => {
  const one = await known();
  const stranger = await logKey("specimen.example/stranger");
  for (const [key, tag, ...fields] of [
    [stranger, "closing-sig", ...one.bound, ZEROS],
    [ROOM.table, "closing-sig", ...one.bound, ZEROS],
    [ROOM.dealer, "closing-sig", ZEROS, one.bound[1], ZEROS],
    [ROOM.dealer, "receipt-sig", ...receiptOf(one, { commitment: ZEROS })],
    [ROOM.table, "decision-sig", one.context, ZEROS, utf8("p1 fold")],
  ])
    assert.equal((await told(one, [await signedLine(key, tag, ...fields)])).verdict, "proved");
});

test("files of evidence have one spelling", async () => {
  for (const bad of [
    ...["", "sabacc-evidence 2\n", HEADER.slice(0, -1), `${HEADER}open AA==`, `${HEADER}open \n`, `${HEADER}open A\n`],
    ...[`${HEADER}open AB==\n`, `${HEADER}seen AA==\n`, `${HEADER}note 1\n`, `${HEADER}note  a\n`],
    ...[`${HEADER}note 1 \n`, `${HEADER}note 1 a\x1b\n`, `${HEADER}\n`],
    ...[`${HEADER}note 1 \u0085\n`, `${HEADER}signed AA== AA==\n`, `\ufeff${HEADER}`],
    HEADER + line("signed", utf8("x"), new Uint8Array(63), ZEROS),
    HEADER + line("signed", utf8("x"), new Uint8Array(64), new Uint8Array(31)),
    `${HEADER}note 1 ${"x".repeat(32768)}\n`,
  ])
    await assert.rejects(readEvidence(utf8(bad)), BadEvidence, JSON.stringify(bad.slice(0, 60)));
  await assert.rejects(readEvidence(concat(utf8(`${HEADER}note 1 `), Uint8Array.of(255, 10))), BadEvidence);
  const nothing = { signed: [], numbers: [], closings: new Map() };
  assert.deepEqual(await readEvidence(utf8(HEADER)), nothing);
  for (const time of ["2026-05-01T10:00:00Z", "07", "-1", "18446744073709551616"])
    assert.deepEqual(await readEvidence(utf8(`${HEADER}note ${time} a b\nnote ${time} \u2028\n`)), nothing);
  const cut = concat(number(5, 4), utf8("shor"));
  assert.deepEqual((await readEvidence(utf8(HEADER + line("open", cut)))).numbers, []);
});

test("the page takes evidence, and checks nothing where it is refused", async () => {
  const document = newDocument();
  await modules["page.js"].start();
  const byId = (id) => document.getElementById(id);
  const choose = async (id, ...files) => {
    byId(id).files = files;
    await byId(id).listeners.change();
  };
  const one = await known();
  const keys = utf8(Object.values(ROOM).map(({ text }) => `${text}\n`).join(""));
  await choose("keys-file", fileOf("room.txt", keys));
  await choose("hands-file", fileOf("a.sabacc", await forged(one.hand)));
  assert.match(byId("results").textContent, /only you can know/);
  await choose("evidence-file", fileOf("mine", utf8(HEADER)));
  assert.match(byId("results").textContent, /your evidence has no number for this hand/);
  const contradicts = await signedLine(ROOM.dealer, "closing-sig", ...one.bound, ZEROS);
  await choose("evidence-file", fileOf("mine", utf8(HEADER + contradicts)));
  assert.equal(byId("state").textContent, "1 failed.");
  assert.match(byId("results").textContent, /your evidence contradicts it/);
  await choose("evidence-file", fileOf("mine", utf8("nonsense")));
  assert.match(byId("evidence-state").textContent, /^Refused: /);
  assert.equal(byId("state").textContent, "1 refused.");
});

// Of each byte of a file; and whatever the file, since a rule set's rounds are at most 1,000.
const [STEPS, BYTES, ALWAYS] = [2, 40, { steps: 20000, bytes: 100000 }];

test("the work that a file makes is bounded by its size", async () => {
  const { soFar, workSince } = modules["work.js"];
  const check = async (bytes, what) => {
    const before = soFar();
    await judge([await readFile(fileOf("a.sabacc", bytes))], TRUST);
    const { steps, bytes: hashed } = workSince(before);
    assert.ok(steps <= ALWAYS.steps + STEPS * bytes.length, `${what}: ${steps} steps of ${bytes.length} bytes`);
    assert.ok(hashed <= ALWAYS.bytes + BYTES * bytes.length, `${what}: ${hashed} bytes of ${bytes.length}`);
  };
  for (const game of ["coruscant", "dice", "electronic", "eleven", "force", "kessel", "spike", "swg"])
    await check(await forged(opened(`${game}-long`)), game);
  const open = opened("agreed");
  for (const { event } of recordsOf(open, "HandOpened"))
    event.rule_set = event.rule_set.replace(/max_rounds = \d+/, "max_rounds = 9007199254740991");
  await check(await forged(open), "rounds without end");
  for (const [what, bytes] of [
    ["a number without end", new Uint8Array(2000000).fill(255)],
    ["empty logs", wrap(concat(Uint8Array.of(8, 2), Uint8Array.from({ length: 1000000 }, (_, i) => (i % 2 ? 0 : 0x1a))))],
    ["a long field", encode("HandBundle", { contents: new Uint8Array(1000000), sha256: ZEROS })],
    ["a long number", concat(Uint8Array.of(10), varint(1n << 63n))],
  ])
    await check(bytes, what);
  const { report } = await audit(await parseBundle(await forged(opened(HAND))), TRUST);
  assert.ok(report.work.steps > 100 && report.work.bytes > 1000);
  assert.notDeepEqual(await decisionOf(ZEROS, true, "p1 fold"), await decisionOf(ZEROS, false, "p1 fold"));
});
