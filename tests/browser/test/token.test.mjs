// An access token that runs out in mid-hand: whoever plays is not told, and plays on.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, fillIn, lastHand, move, playHand, sealsHold, sitDown, whatNow } from "../lib/play.mjs";
import { openTable } from "../lib/room.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** Milliseconds beyond the fifteen minutes of an access token. */
const LATER_MS = 16 * 60_000;

test("a token that runs out by the clock is refreshed, and the next move is sent with the new one, without a word", async () => {
  await inMidHand("Patient", async ({ page }) => {
    const refreshed = answerOf(page, "Refresh");
    // The room has no setting for a shorter life of tokens: the page's clock is put on instead, while it asks for its token.
    await page.evaluate(async (ms) => {
      const { call, session } = await import("/api/session.js");
      const { now } = Date;
      Date.now = () => now.call(Date) + ms;
      // An answer tells the page how wrong its clock is: ids of commands are of the room's time.
      await call("sabacc.table.v1.TableService/ListTables", { pageSize: 1 }, { token: null });
      await session.token();
      Date.now = now;
    }, LATER_MS);
    return refreshed;
  });
});

test("a token that the room takes no more is refreshed, and the same move is sent with the new one", async () => {
  await inMidHand("Surprised", async ({ page, context }) => {
    const refreshed = answerOf(page, "Refresh");
    let refused = "";
    await context.route("**/sabacc.table.v1.TableService/Act", async (route) => {
      const { authorization } = route.request().headers();
      refused ||= authorization;
      if (authorization !== refused) return route.continue();
      const details = [{ type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason: "TOKEN_EXPIRED" } }];
      await route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ code: "unauthenticated", message: "the token has expired", details }) });
    });
    return refreshed;
  }, /status of 401/);
});

/** Plays a hand in which a token runs out before a decision. @param {RegExp} [expected] what the browser itself says in its console */
async function inMidHand(name, expire, expected) {
  const id = await openTable("spike");
  const person = await Person.with(browser);
  const page = await person.open(`/table/${id}`);
  await sitDown(page, name);
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  const tokens = tokensOf(page);
  const now = await whatNow(page, handNo);
  assert.notEqual(now, "over");
  const expiry = expire(person);
  if (now === "form") await fillIn(page);
  else await move(page);
  const { tokens: fresh } = await (await (await expiry)).json();
  await playHand(page, { handNo, each: () => sealsHold(page) });
  assert.equal(tokens.at(-1), `Bearer ${fresh.accessToken}`, "later calls carry the new token");
  assert.doesNotMatch(await lastHand(page, handNo).innerText(), /burnt|broken off/i);
  assert.equal(await page.locator(".notices > *, .place-refusal:not(:empty), .move-area .notice:not([hidden])").count(), 0, "nothing is said of it");
  assert.equal(await page.locator("#who").innerText(), name, "they are signed in as before");
  if (expected) person.faults = person.faults.filter((fault) => !expected.test(fault));
  person.isContent();
  await person.close();
  await other.close();
}

/** The room's next good answer to a method. */
function answerOf(page, method) {
  return page.waitForResponse((response) => response.url().endsWith(`/${method}`) && response.ok());
}

/** Tokens of the page's calls, as they are sent. */
function tokensOf(page) {
  const tokens = [];
  page.on("request", (request) => {
    const { authorization } = request.headers();
    if (authorization && request.method() === "POST") tokens.push(authorization);
  });
  return tokens;
}
