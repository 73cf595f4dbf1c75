// Every golden bundle gives exactly its verdicts, and no byte of a bundle can be another.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { build } from "../build.mjs";
import { BUNDLES, CHECKS, PAGE, audit, bytesOf, parseBundle, reportOn, storyOf, trusted } from "./built.mjs";

const names = readdirSync(BUNDLES)
  .filter((name) => name.endsWith(".sabacc"))
  .sort();
const verdicts = ({ hand_id: handId, verdict: own, checks }) => ({
  handId,
  own,
  checks: checks.map(({ check, verdict }) => `${check} ${verdict}`),
});
const expectedOf = (name) => JSON.parse(readFileSync(new URL(name.replace(/sabacc$/, "json"), BUNDLES), "utf8"));
const passes = (report) => ["proved", "broken_off"].includes(report?.verdict);
// Those that pass, the smallest first.
const good = names.filter((name) => passes(expectedOf(name))).sort((a, b) => bytesOf(a).length - bytesOf(b).length);

test("the page is what its sources make", () => assert.equal(readFileSync(PAGE, "utf8"), build()));

test("there are golden bundles of every game, and of every check a broken one", () => {
  for (const game of ["coruscant", "dice", "electronic", "eleven", "force", "kessel", "spike", "swg"]) {
    assert.ok(
      names.some((name) => name.startsWith(game)),
      game,
    );
  }
  for (const [check] of CHECKS)
    assert.ok(
      names.some((name) => name.startsWith(`${check}-`)),
      check,
    );
});

// Every line has somebody who does something, and of a good hand none is lost.
function checkStory(lines, passed) {
  for (const { who, words } of lines) {
    assert.ok((typeof who === "number" || ["table", "dealer", "wallet"].includes(who)) && words.length > 0);
    assert.ok(!passed || !words.some((word) => typeof word === "string" && word.includes("could not be replayed")));
  }
}

for (const name of names) {
  test(name, async () => {
    const { records, walk, report } = await audit(await parseBundle(bytesOf(name)), await trusted());
    assert.deepEqual(verdicts(report), verdicts(expectedOf(name)));
    for (const { verdict, why } of report.checks) assert.equal(verdict === "passed", why === undefined);
    const lines = storyOf(records, walk);
    assert.ok(lines.length >= records.hand.length + records.dealer.length);
    checkStory(lines, passes(report));
    for (const [what, count] of Object.entries(report.work)) assert.ok(count > 3, `${count} ${what}`);
  });
}

test("every format that was released is read", async () => {
  const kept = readdirSync(new URL("formats/", BUNDLES));
  assert.ok(kept.length > 0);
  for (const name of kept) {
    const { report } = await audit(await parseBundle(bytesOf(`formats/${name}`)), await trusted());
    assert.equal(report.verdict, "proved", name);
  }
});

test("without keys nothing is checked, and with others nothing passes", async () => {
  const trust = await trusted();
  const told = await reportOn(bytesOf(good[0]), { ...trust, keys: [] });
  assert.equal(told.verdict, "refused");
  assert.deepEqual(told.checks, []);
  const partly = await reportOn(bytesOf(good[0]), { ...trust, keys: trust.keys.slice(0, 2) });
  assert.equal(partly.verdict, "failed");
  assert.deepEqual(
    partly.checks.filter(({ verdict }) => verdict !== "passed").map(({ check, verdict }) => `${check} ${verdict}`),
    ["keys failed"],
  );
});

// Of one small bundle that passes, every byte changed twice.
test("no byte of a bundle can be another", { timeout: 600000 }, async () => {
  const keys = await trusted();
  const bytes = bytesOf(good[0]);
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bits of [1, 0x80]) {
      bytes[at] ^= bits;
      const report = await reportOn(bytes, keys);
      assert.ok(!passes(report), `byte ${at} of ${bytes.length}, bits ${bits}`);
      bytes[at] ^= bits;
    }
  }
  assert.ok(passes(await reportOn(bytes, keys)));
});

// The sum over the contents is right again: what is found then is found by what the contents say.
test("no byte of the contents can be another, with the sum made right", { timeout: 600000 }, async () => {
  const keys = await trusted();
  const name = good.find((one) => one.endsWith("-short.sabacc"));
  const bytes = bytesOf(name);
  // The outer message: tag, length of two or three bytes, contents, tag, length, sum.
  const from = 1 + bytes.slice(1).findIndex((byte) => byte < 128) + 1;
  const to = bytes.length - 34;
  assert.ok(passes(await reportOn(bytes, keys)));
  for (let at = from; at < to; at += 7) {
    const changed = bytes.slice();
    changed[at] ^= 1;
    changed.set(new Uint8Array(await crypto.subtle.digest("SHA-256", changed.slice(from, to))), bytes.length - 32);
    const report = await reportOn(changed, keys);
    assert.ok(!passes(report), `byte ${at} of ${name}`);
  }
});
