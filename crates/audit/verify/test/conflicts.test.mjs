// What a file of evidence proves by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { modules } from "./built.mjs";
import { ROOM, TRUST, forged, logKey } from "./forge.mjs";
import { HEADER, ZEROS, against, committed, decided, known, line, revealed, signedLine, told } from "./keeper.mjs";

const { concat, lp, number, utf8 } = modules["bytes.js"];
const { readEvidence } = modules["evidence.js"];
const { closingOf } = modules["fair.js"];
const ONES = new Uint8Array(32).fill(1);
const FAR = 1000000n;
const SEAT = "lines 2 and 3: the table took two commitments of one seat";
const PLACE = "lines 2 and 3: the table gave receipts for two records at one position of its log";

// A hand, and evidence of another one.
async function elsewhere() {
  const one = await known();
  return { one: { ...one, bound: [ZEROS, ZEROS] }, bytes: await forged(one.hand) };
}

const closed = (made, key = ROOM.dealer) => signedLine(key, "closing-sig", ZEROS, ZEROS, made);

test("two closings", async () => {
  const { one, bytes } = await elsewhere();
  const lines = [await closed(ZEROS), await closed(ONES)];
  const words = "lines 2 and 3: the dealer signed two closings for one number";
  assert.deepEqual(await against(bytes, lines), [words]);
  const report = await told(one, lines);
  assert.equal(report.verdict, "failed");
  assert.ok(report.sentences[0].includes(words));
  assert.equal((await told(one, [lines[0], lines[0]])).verdict, "proved");
  assert.deepEqual(await against(bytes, [lines[0], lines[0], lines[1]]), [words.replace("3", "4")]);
});

test("whose texts count", async () => {
  const { bytes } = await elsewhere();
  const other = { ...(await logKey("elsewhere/dealer")), until: 0n };
  const stranger = await logKey("specimen.example/stranger");
  for (const key of [stranger, ROOM.table, ROOM.wallet, other])
    assert.deepEqual(await against(bytes, [await closed(ZEROS, key), await closed(ONES, key)]), []);
  const trust = { ...TRUST, keys: [...TRUST.keys, other] };
  const two = [await closed(ZEROS, other), await closed(ONES, other)];
  assert.equal((await against(bytes, two, trust)).length, 1);
  assert.deepEqual(await against(bytes, [two[0], await closed(ONES)], trust), []);
});

test("two promises", async () => {
  const { bytes } = await elsewhere();
  const promised = (rules, made, handNo = 9) => {
    const fields = [utf8("elsewhere"), new Uint8Array(16), number(handNo, 8), rules, made];
    return signedLine(ROOM.dealer, "dealer-commit-sig", ...fields);
  };
  const first = await promised(ZEROS, ZEROS);
  const words = "lines 2 and 3: the dealer promised one number twice";
  for (const [other, expected] of [
    [await promised(ZEROS, ONES), [words]],
    [await promised(ONES, ZEROS), [words]],
    [await promised(ZEROS, ONES, 10), []],
    [first, []],
  ])
    assert.deepEqual(await against(bytes, [first, other]), expected);
});

test("two receipts", async () => {
  const { one, bytes } = await elsewhere();
  const first = await committed(one, FAR);
  const { event } = one.given;
  const of = (fields) => ({ ...one, given: { event: { ...event, ...fields } } });
  for (const [other, expected] of [
    [first, []],
    [await committed(one, FAR, { commitment: ONES }), [SEAT, PLACE]],
    [await committed(one, FAR, { key: new Uint8Array() }), [SEAT, PLACE]],
    [await committed(one, FAR + 1n), [SEAT]],
    [await committed(of({ seat: 9 }), FAR), [PLACE]],
    [await committed(of({ player_id: new Uint8Array(16) }), FAR + 1n), []],
    [await revealed(one, FAR), [PLACE]],
    [await decided(one, FAR), [PLACE]],
  ])
    assert.deepEqual(await against(bytes, [first, other]), expected);
});

test("a receipt that a closing leaves out", async () => {
  const { one, bytes } = await elsewhere();
  const { seat, player_id: player, commitment } = one.given.event;
  const words = "lines 2 and 3: a receipt was given for a commitment that the closing has not";
  const empty = new Uint8Array();
  const opening = (count, row) =>
    line("open", concat(...[utf8("sabacc/fair/v1/closing"), ZEROS, ZEROS, count, row].map(lp)));
  const rowOf = ({ seat: of, player: who, commitment: given }) =>
    concat(number(of, 1), who, number(given.length ? 1 : 0, 1), concat(given, ZEROS).slice(0, 32));
  for (const [row, expected] of [
    [{ seat, player, commitment }, []],
    [{ seat, player, commitment: empty }, [words]],
    [{ seat, player, commitment: ONES }, [words]],
    [{ seat: seat + 1, player, commitment: empty }, []],
    [{ seat, player: new Uint8Array(16), commitment: empty }, []],
  ]) {
    const made = await closingOf(ZEROS, ZEROS, [row]);
    const lines = [await committed(one, FAR), await closed(made)];
    assert.deepEqual(await against(bytes, [...lines, opening(number(1, 1), rowOf(row))]), expected);
    assert.deepEqual(await against(bytes, lines), []);
  }
  // Other bytes than a closing was taken of open nothing.
  const row = rowOf({ seat, player, commitment });
  const [two, none] = [Uint8Array.from(row), rowOf({ seat, player, commitment: empty })];
  [two[17], none[49]] = [2, 1];
  const count = number(1, 1);
  for (const [told, bad] of [
    [count, two],
    [count, none],
    [count, row.slice(1)],
    [count, concat(row, count)],
    [number(2, 1), row],
    [empty, row],
  ])
    assert.equal((await readEvidence(utf8(HEADER + opening(told, bad)))).closings.size, 0);
});

test("records that are not proved contradict nothing", async () => {
  const { bytes } = await elsewhere();
  const { bound } = await known();
  const lines = [await closed(ZEROS), await closed(ONES), await signedLine(ROOM.dealer, "closing-sig", ...bound, ZEROS)];
  assert.equal((await against(bytes, lines)).length, 2);
  const keys = [{ ...ROOM.table, until: 1n }, ROOM.dealer, ROOM.wallet];
  assert.equal((await against(bytes, lines, { ...TRUST, keys })).length, 1);
});
