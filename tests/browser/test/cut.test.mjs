// A page that is cut off from the room, and goes on.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, lastHand, playHand, sealsHold, sitDown, whatNow } from "../lib/play.mjs";
import { Wire } from "../lib/proxy.mjs";
import { openTable, PAGES, until, viewOf } from "../lib/room.mjs";

/** Updates that pass while the page is cut off. */
const MISSED = 20;

let browser;
let wire;
before(async () => {
  browser = await launch();
  wire = await Wire.to(PAGES);
});
after(async () => {
  await browser.close();
  await wire.close();
});

test("who watches is cut off until twenty updates have passed, is told so, and goes on where the stream broke", async () => {
  const id = await openTable("spike", { pauseMs: 500, commitMs: 3000 });
  const players = [await opponent(browser, id, "One"), await opponent(browser, id, "Two")];
  const person = await Person.with(browser, { origin: wire.origin });
  const page = await person.open(`/table/${id}`);
  await page.locator(".connection.live").waitFor();
  await page.locator(".felt .phase").filter({ hasText: /^Hand \d+/ }).waitFor();
  wire.cut();
  const from = await sequenceOf(id);
  await page.locator(".connection").filter({ hasText: /^Stale since \d/ }).waitFor();
  const to = await until(async () => {
    const now = await sequenceOf(id);
    return now >= from + BigInt(MISSED) && now;
  }, `${MISSED} updates`, 120);
  assert.ok(to - from >= BigInt(MISSED));
  const { handNo } = await viewOf(id);
  const resumed = page.waitForRequest((request) => request.url().endsWith("/WatchTable") && /"resumeToken":"[^"]+"/.test(request.postData() ?? ""));
  wire.mend();
  await resumed;
  await page.locator(".connection.live").waitFor({ timeout: 60_000 });
  await page.waitForFunction((no) => Number(/^Hand (\d+)/.exec(document.querySelector(".felt .phase")?.textContent ?? "")?.[1]) >= no, Number(handNo));
  await Promise.all([person, ...players].map((one) => one.close()));
});

test("who plays is cut off while it is their turn, and makes their move when the wire is mended", async () => {
  const id = await openTable("spike");
  const person = await Person.with(browser, { origin: wire.origin });
  const page = await person.open(`/table/${id}`);
  await sitDown(page, "Cut off");
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  assert.notEqual(await whatNow(page, handNo), "over");
  wire.cut();
  await page.locator(".connection.stale").waitFor();
  wire.mend();
  await page.locator(".connection.live").waitFor({ timeout: 60_000 });
  await playHand(page, { handNo, each: () => sealsHold(page) });
  assert.doesNotMatch(await lastHand(page, handNo).innerText(), /burnt|broken off/i);
  await person.close();
  await other.close();
});

/** Number of a table's last update. */
async function sequenceOf(id) {
  return BigInt((await viewOf(id)).sequence ?? 0);
}
