// Credits at a table: more of them between hands, and pots for those who have no more.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, lastHand, playHand, seated, sitDown, whatNow } from "../lib/play.mjs";
import { openTable, until } from "../lib/room.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("who tops up in a hand plays it to its end, and has the credits after it", async () => {
  const id = await openTable("spike", { pauseMs: 5000 });
  const person = await Person.with(browser);
  const page = await person.open(`/table/${id}`);
  await sitDown(page, "Thrifty");
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  assert.notEqual(await whatNow(page, handNo), "over");
  await page.getByRole("button", { name: "Top up", exact: true }).click();
  await page.getByRole("dialog", { name: "Top up" }).getByRole("spinbutton", { name: "Credits" }).fill("600");
  await page.locator("dialog button[type=submit]").click();
  await page.getByRole("button", { name: "+600 after this hand" }).waitFor();
  await playHand(page, { handNo });
  await page.getByRole("button", { name: "Top up", exact: true }).waitFor();
  // 160 were brought at first, and a hand without bets costs a few.
  const said = await page.waitForFunction(() => {
    const refusal = document.querySelector(".place-refusal")?.textContent;
    return refusal || (Number(/^(\d+) credits/.exec(document.querySelector(".own-money")?.textContent ?? "")?.[1]) > 650 ? "topped up" : "");
  });
  assert.equal(await said.jsonValue(), "topped up");
  assert.doesNotMatch(await lastHand(page, handNo).innerText(), /burnt|broken off/i);
  person.isContent();
  await person.close();
  await other.close();
});

test("who is all-in is in the main pot alone, and the side pot is shown beside it", async () => {
  const id = await openTable("spike", { pauseMs: 3000 });
  const people = [];
  for (const [name, credits] of [["Poor", 80], ["Middling", 200], ["Rich", 600]]) {
    const person = await Person.with(browser);
    await person.open(`/table/${id}`);
    await sitDownWith(person.page, name, credits);
    people.push(person);
  }
  const [poor, , rich] = people.map(({ page }) => page);
  const pots = await until(async () => {
    for (const { page } of people) await decide(page, page === rich);
    const shown = await poor.locator("sabacc-pot").evaluateAll((all) => all.map((one) => [one.getAttribute("name"), Number(one.getAttribute("amount"))]));
    // Antes into the Sabacc Pot are no part of them.
    const [main, side] = ["Main pot", "Side pot 1"].map((wanted) => shown.find(([name]) => name === wanted)?.[1] ?? 0);
    return main > 3 * 70 && side > 2 * 110 && { main, side };
  }, "a main pot of three and a side pot of two are shown", 120);
  // Hands before this one may have cost, or won, a few antes.
  const [least, second] = [pots.main / 3, pots.main / 3 + pots.side / 2];
  assert.ok(Number.isInteger(least) && Number.isInteger(second), JSON.stringify(pots));
  assert.ok(Math.abs(least - 80) <= 15 && Math.abs(second - 200) <= 15, JSON.stringify(pots));
  for (const person of people) {
    person.isContent();
    await person.close();
  }
});

/** Sits down at the table that is shown, as a guest, with so many credits. */
async function sitDownWith(page, name, credits) {
  await page.getByRole("button", { name: "Sit down", exact: true }).click();
  await page.getByLabel("Name at the table").fill(name);
  await page.getByRole("dialog").getByRole("spinbutton", { name: "Credits" }).fill(String(credits));
  await page.locator("dialog button[type=submit]").click();
  await seated(page);
}

/** Decides where it is one's turn: the rich bet all that they have, the others go along. */
async function decide(page, isRich) {
  const kinds = await page.locator(".move-area:not([hidden]):not([aria-busy]) .moves:not([hidden]) .button.move").evaluateAll((all) => all.map((one) => one.dataset.kind));
  const kind = [isRich && "MOVE_KIND_BET", "MOVE_KIND_MATCH", "MOVE_KIND_CHECK", "MOVE_KIND_STAND"].find((one) => one && kinds.includes(one));
  if (!kind) return;
  const button = await page.locator(`.button.move[data-kind="${kind}"]`).elementHandle();
  await button?.click();
  if (kind === "MOVE_KIND_BET") {
    await page.getByRole("button", { name: /^All in/ }).click();
    await page.locator(".composer [type=submit]").click();
  }
  await page.waitForFunction((one) => !one?.isConnected || one.closest("[hidden]"), button);
}
