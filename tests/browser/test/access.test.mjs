// The pages as axe-core judges them: nothing that keeps somebody out.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { axeSource, launch, Person } from "../lib/people.mjs";
import { dealtIn, lastHand, playHand, sitDown, whatNow } from "../lib/play.mjs";
import { isLong, openTable } from "../lib/room.mjs";

let browser;
let person;
let other;
let table;
/** Address of a hand's page, after the `#`. */
let hand = "";

before(async () => {
  browser = await launch();
  table = await openTable("spike");
  other = await opponent(browser, table);
  person = await Person.with(browser);
  await person.open(`/table/${table}`);
  await sitDown(person.page, "Reader");
  const handNo = await playHand(person.page);
  hand = ((await lastHand(person.page, handNo).getByRole("link").getAttribute("href")) ?? "").slice(1);
});
after(() => browser.close());

/** Pages, with what shows that they are drawn. @type {[string, () => string, string][]} */
const PAGES_OF = [
  ["lobby", () => "/", ".seat-card"],
  ["hand", () => hand, ".checks"],
  ["me", () => "/me", "text=Results by game"],
  ["rules", () => "/rules/spike", "main h2"],
  ["room", () => "/room", ".tabs"],
  ["api", () => "/api?method=sabacc.table.v1.TableService/CreateTable", ".methods"],
];

test("axe-core finds nothing grave at the table, with a decision to make", async () => {
  await whatNow(person.page, await dealtIn(person.page));
  await judge("table");
});

for (const [name, route, drawn] of PAGES_OF) {
  test(`axe-core finds nothing grave on the page ${name}`, async () => {
    await person.open(route());
    await person.page.locator(drawn).first().waitFor({ state: "attached" });
    await person.page.waitForFunction(() => !/Loading|Reading the hand|Waiting for the list/.test(document.querySelector("main")?.textContent ?? ""));
    await person.page.evaluate(() => { for (const one of document.querySelectorAll("details")) one.open = true; });
    await judge(name);
  });
}

/** Fails where the page has a serious or critical finding. */
async function judge(name) {
  for (const colorScheme of isLong ? ["light", "dark"] : ["dark"]) {
    await person.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await person.page.evaluate(axeSource());
    const { violations } = await person.page.evaluate(() => window.axe.run());
    const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(grave.map(({ id, nodes }) => `${id}: ${nodes.map((one) => one.html.slice(0, 120)).slice(0, 3).join(" ")}`), [], `${name}, ${colorScheme}`);
  }
}
