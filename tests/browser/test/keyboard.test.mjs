// A hand by the keyboard alone. What is done follows from what a screen reader would say of the focus, and from nothing else.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, lastHand, seated, whatNow } from "../lib/play.mjs";
import { openTable } from "../lib/room.mjs";

/** Labels of moves, the first being made that is there. */
const ORDER = [/^Call the hand/, /^Check/, /^Match/, /^Stand/, /^Keep/];

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("a whole hand is played by the keyboard alone, by what its labels say", async () => {
  const id = await openTable("spike");
  const person = await Person.with(browser);
  const page = await person.open(`/table/${id}`);
  await page.getByRole("button", { name: "Sit down", exact: true }).waitFor();
  await tabTo(page, /^Sit down$/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Sit down" }).waitFor();
  await tabTo(page, /^Name at the table/);
  await page.keyboard.type("Keys");
  await tabTo(page, /^Join and sit down/);
  await page.keyboard.press("Enter");
  await seated(page);
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  let heard = "";
  for (let moves = 0; moves < 100; moves += 1) {
    if ((await whatNow(page, handNo)) === "over") break;
    heard = await told(page);
    await tabTo(page, (await wanted(page)) ?? assert.fail("no move has a label"));
    const before = await page.evaluateHandle(() => document.querySelector(".moves .button.move"));
    await page.keyboard.press("Enter");
    await page.waitForFunction((one) => !one?.isConnected || document.querySelector(".composer"), before);
    if (await page.locator(".composer").count()) await compose(page);
  }
  assert.match(heard, /Your turn\. Your hand: .+ You may: /s, "the hand is told in words");
  assert.equal(await lastHand(page, handNo).count(), 1);
  person.isContent();
  await person.close();
  await other.close();
});

/** Label of the move to make. */
async function wanted(page) {
  const labels = await page.getByRole("group", { name: "Your moves" }).getByRole("button").evaluateAll((all) => all.map((one) => one.textContent ?? ""));
  const found = ORDER.find((one) => labels.some((label) => one.test(label)));
  return found ?? (labels[0] && new RegExp(`^${labels[0].replace(/[^\w ]/g, ".")}`));
}

/** Fills in the form of a move: Enter on each choice until it can be sent. */
async function compose(page) {
  const form = await page.evaluateHandle(() => document.querySelector(".composer"));
  for (let presses = 0; presses < 40 && (await form.evaluate((one) => one?.isConnected)); presses += 1) {
    const ready = await form.evaluate((one) => !one.querySelector("[type=submit]").disabled);
    const at = await focused(page);
    if (!ready ? at.pressed === "false" : at.type === "submit") await page.keyboard.press("Enter");
    else await page.keyboard.press("Tab");
  }
  assert.equal(await form.evaluate((one) => one?.isConnected), false, "the form cannot be sent by keys");
}

/** Presses Tab until what has the focus is called so. */
async function tabTo(page, name) {
  const seen = [];
  for (let presses = 0; presses < 80; presses += 1) {
    const at = await focused(page);
    if (name.test(at.name)) return;
    seen.push(at.name);
    await page.keyboard.press("Tab");
  }
  assert.fail(`no ${name} among what Tab comes to: ${seen.join(" | ")}`);
}

/** Name of what has the focus, as it is read out. */
function focused(page) {
  return page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const name = at?.getAttribute("aria-label") ?? at?.labels?.[0]?.textContent ?? at?.textContent ?? "";
    return { name: at === document.body ? "" : name.trim(), type: at?.type ?? "", pressed: at?.getAttribute("aria-pressed") ?? "" };
  });
}

/** What was told to screen readers. */
function told(page) {
  return page.locator("[aria-live=polite]").allTextContents().then((all) => all.join("\n"));
}
