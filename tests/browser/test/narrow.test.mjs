// A table on a telephone: what is decided about is in sight with what may be decided.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, sitDown, whatNow } from "../lib/play.mjs";
import { openTable } from "../lib/room.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("at 360 pixels the moves of a turn of Kessel hide nothing of the felt", async () => {
  const id = await openTable("kessel");
  const others = [await opponent(browser, id, "Ahsoka"), await opponent(browser, id, "Chewbacca the Mighty")];
  const person = await Person.with(browser, { viewport: { width: 360, height: 780 } });
  const page = await person.open(`/table/${id}`);
  await page.locator("sabacc-seat").nth(1).waitFor();
  await sitDown(page, "Lando");
  assert.equal(await whatNow(page, await dealtIn(page)), "move");
  const [felt, dock, moves] = await Promise.all([".felt", ".dock", ".moves .button.move"].map((name) => page.locator(name).first().boundingBox()));
  assert.ok(felt.y + felt.height <= dock.y, `the felt ends at ${felt.y + felt.height}, the dock begins at ${dock.y}`);
  assert.ok(moves.height >= 44, "a move is as high as a thumb needs");
  const wide = await page.locator(".moves .label").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right).map((one) => one.textContent));
  assert.deepEqual(wide, [], "a label is wider than its button");
  person.isContent();
  for (const one of [person, ...others]) await one.close();
});
