// What a first look costs: bytes over the wire.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { openTable, PAGES } from "../lib/room.mjs";

/** Most bytes of a first load. */
const MOST = 150 * 1024;
/** Most bytes until a card is proved: what checks it is loaded when the table stands, and words for refusals where the room is busy. */
const MOST_PROVED = 160 * 1024;

let browser;
let isPacked;
/** Who plays at the table that is weighed. */
const others = [];
before(async () => {
  browser = await launch();
  isPacked = (await fetch(`${PAGES}/app.js`, { headers: { "accept-encoding": "gzip" } })).headers.has("content-encoding");
});
after(() => browser.close());

for (const [name, route, drawn, most = MOST] of [
  ["the lobby", async () => (await openTable("spike")) && "/", ".games .seat-card"],
  ["a table", async () => `/table/${await openTable("dice")}`, ".felt .place"],
  // Whoever looks on checks each card, and needs what proves it.
  ["a table in play", async () => `/table/${await tableInPlay()}`, 'sabacc-seal[state="valid"]', MOST_PROVED],
]) {
  test(`the first load of ${name} is less than ${most / 1024} KB over the wire`, async (t) => {
    if (!isPacked) return t.skip("the server sends no content-encoding");
    const person = await Person.with(browser);
    const path = await route();
    const bytes = await weigh(person, async (isLive) => {
      await person.open(path);
      await person.page.locator(".connection.live, .games .seat-card").first().waitFor();
      isLive();
      await person.page.locator(drawn).first().waitFor({ timeout: 90_000 });
    });
    t.diagnostic(`${bytes} bytes`);
    assert.ok(bytes > 0 && bytes < most, `${bytes} bytes`);
    await person.close();
    await Promise.all(others.splice(0).map((one) => one.close()));
  });
}

/** Opens a table at which two guests play hand after hand; gives its id. */
async function tableInPlay() {
  const id = await openTable("dice");
  for (const name of ["Ackmena", "Greez"]) others.push(await opponent(browser, id, name));
  return id;
}

/**
 * Bytes that come while something is done, with their headers. Of streams it is what has come until `isLive` is called: a table goes
 * on telling for as long as somebody looks.
 */
async function weigh({ context, page }, what) {
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  const [bytes, streams] = [new Map(), new Set()];
  let live = false;
  cdp.on("Network.requestWillBeSent", ({ requestId, request }) => /Service\/Watch/.test(request.url) && streams.add(requestId));
  cdp.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    if (!live || !streams.has(requestId)) bytes.set(requestId, (bytes.get(requestId) ?? 0) + encodedDataLength);
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => streams.has(requestId) || bytes.set(requestId, encodedDataLength));
  await what(() => (live = true));
  return [...bytes.values()].reduce((sum, one) => sum + one, 0);
}
