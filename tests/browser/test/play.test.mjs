// A hand from the lobby to its end, by the buttons that everybody has.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, fillIn, lastHand, move, playHand, sealsHold, sitDown, whatNow } from "../lib/play.mjs";
import { isLong, openTable, tableOfBots } from "../lib/room.mjs";

const GAMES = isLong ? ["coruscant", "dice", "electronic", "eleven", "force", "kessel", "spike", "swg"] : ["dice", "spike"];

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** Table of a game with others who play: bots of the house, or a guest of ours. */
async function tableOf(game) {
  const bots = await tableOfBots(game);
  if (bots) return { id: bots, end: async () => {} };
  const id = await openTable(game);
  const other = await opponent(browser, id);
  return { id, end: () => other.close() };
}

for (const game of GAMES) {
  test(`a guest joins in the lobby, sits down and plays a hand of ${game}, every seal valid`, async () => {
    const table = await tableOf(game);
    const person = await Person.with(browser);
    const page = await person.open("/");
    await page.getByLabel("Your name, if you like").fill("Lando");
    await page.locator(".join").getByRole("button", { name: "Join as guest" }).click();
    await page.getByRole("heading", { name: "Welcome, Lando" }).waitFor();
    await page.locator(`a[data-table="${table.id}"]`).click();
    await sitDown(page);
    const handNo = await playHand(page, { each: () => sealsHold(page) });
    assert.doesNotMatch(await lastHand(page, handNo).innerText(), /burnt|broken off/i);
    person.isContent();
    await person.close();
    await table.end();
  });
}

test("a page that is loaded again in mid-hand goes on with the same hand and the same cards", async () => {
  const id = await openTable("spike");
  const person = await Person.with(browser);
  const page = await person.open(`/table/${id}`);
  await sitDown(page, "Reloader");
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  assert.notEqual(await whatNow(page, handNo), "over");
  await sealsHold(page);
  const before = await cardsOf(page);
  await page.reload();
  assert.equal(await dealtIn(page), handNo);
  await sealsHold(page);
  assert.deepEqual(await cardsOf(page), before);
  const now = await whatNow(page, handNo);
  if (now === "form") await fillIn(page);
  if (now === "move") await move(page);
  await playHand(page, { handNo });
  assert.doesNotMatch(await lastHand(page, handNo).innerText(), /burnt|broken off/i);
  person.isContent();
  await person.close();
  await other.close();
});

/** Codes of one's own cards. */
function cardsOf(page) {
  return page.locator(".own-cards sabacc-card").evaluateAll((all) => all.map((one) => one.getAttribute("code")));
}
