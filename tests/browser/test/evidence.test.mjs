// Evidence that the browser keeps, as its owner may forget it.

import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, sitDown } from "../lib/play.mjs";
import { openTable } from "../lib/room.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("neither the evidence of the hand in play nor its player is forgotten, and words say why", async () => {
  const id = await openTable("spike");
  const person = await Person.with(browser);
  // In small letters everywhere else: an address that is spelt otherwise names the same table.
  const page = await person.open(`/table/${id.toUpperCase()}`);
  await sitDown(page, "Careful");
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  await page.getByRole("link", { name: "Me", exact: true }).click();
  const forget = page.getByRole("button", { name: `Forget the evidence of hand ${handNo}`, exact: true });
  await forget.click();
  await page.getByText("Forget for good?").waitFor();
  await forget.click();
  await page.getByText(`Hand ${handNo} is not over`).waitFor();
  await forget.waitFor();
  await page.getByLabel("I have left all tables").check();
  await page.getByRole("button", { name: "Erase me here" }).click();
  await page.getByText("You have a seat at Test of spike").waitFor();
  await page.getByText("Careful").first().waitFor();
  person.isContent();
  await person.close();
  await other.close();
});
