// More than one at a table, and the operator over them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, fillIn, move, sitDown } from "../lib/play.mjs";
import { openTable } from "../lib/room.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("two browsers play at one table, and both are told when the operator closes it under them", async () => {
  const name = "To be closed";
  const id = await openTable("spike", { name });
  const people = await Promise.all([Person.with(browser), Person.with(browser)]);
  for (const [at, person] of people.entries()) {
    await person.open(`/table/${id}`);
    await sitDown(person.page, `Player ${at + 1}`);
  }
  const hands = await Promise.all(people.map(({ page }) => dealtIn(page)));
  assert.equal(hands[0], hands[1], "both are in the same hand");
  const own = await Promise.all(people.map(({ page }) => page.locator(".own-cards sabacc-card").evaluateAll((all) => all.map((one) => one.getAttribute("code")))));
  assert.notDeepEqual(own[0], own[1], "each sees their own cards");

  const operator = await Person.with(browser);
  await operator.signInAs("operator");
  const { page } = operator;
  await page.getByRole("tab", { name: "Tables" }).click();
  await page.getByRole("button", { name: `Look closer at ${name}` }).click();
  await page.getByLabel(/After the hand in play/).check();
  const closed = page.waitForResponse((response) => response.url().endsWith("/CloseTable") && response.ok());
  await page.getByRole("button", { name: "Close the table" }).click();
  await closed;

  await Promise.all(people.map(({ page }) => playUntilClosed(page)));
  for (const person of people) {
    await person.page.locator(".notices").getByText("The table is closed").waitFor();
    assert.equal(await person.page.getByRole("button", { name: "Sit down", exact: true }).count(), 0, "nobody is asked to sit down");
    person.isContent();
    await person.close();
  }
  await operator.close();
});

/** Plays whatever there is to play until the page says that the table is closed. */
async function playUntilClosed(page) {
  for (let moves = 0; moves < 100; moves += 1) {
    const now = await page.waitForFunction(() => {
      if (document.querySelector(".notices")?.textContent?.includes("The table is closed")) return "closed";
      if (document.querySelector(".composer")) return "form";
      return document.querySelector(".move-area:not([hidden]):not([aria-busy]) .moves:not([hidden]) .button.move") ? "move" : "";
    }, null, { timeout: 90_000 });
    const what = await now.jsonValue();
    if (what === "closed") return;
    if (what === "form") await fillIn(page);
    else await move(page);
  }
  assert.fail("the table is not closed");
}
