// A finished hand: its checks, its bundle, what becomes of a changed one, and a dispute.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { lastHand, playHand, sitDown } from "../lib/play.mjs";
import { openTable, PAGES, ROOM } from "../lib/room.mjs";

let browser;
let person;
let page;
/** Bundle of the hand, as it was downloaded. */
let bundle;

before(async () => {
  browser = await launch();
  const id = await openTable("spike");
  const other = await opponent(browser, id);
  person = await Person.with(browser);
  page = await person.open(`/table/${id}`);
  await sitDown(page, "Doubter");
  const handNo = await playHand(page);
  await lastHand(page, handNo).getByRole("link").click();
  await page.getByRole("heading", { name: `Hand ${handNo}`, exact: true }).waitFor();
  await other.close();
});
after(() => browser.close());

test("a finished hand's page tells what happened and shows that every check passed", async () => {
  await page.getByRole("heading", { name: "What happened" }).waitFor();
  await page.getByRole("heading", { name: "All of this hand checks out" }).waitFor();
  const [, passed, all] = /(\d+) of (\d+) checks/.exec(await page.getByText(/\d+ of \d+ checks passed/).innerText()) ?? [];
  assert.equal(passed, all);
  assert.equal(all, "17");
});

test("the pots grow and are paid line by line, as far as the step that is shown", async () => {
  const lines = page.getByRole("region", { name: "Pots, line by line" });
  const rows = lines.locator("tbody tr:visible");
  const all = await rows.count();
  assert.ok(all >= 2, "antes and a win at least");
  assert.match(await rows.last().innerText(), /wins \d+ from/);
  await page.getByRole("button", { name: "First step" }).click();
  assert.equal(await rows.count(), 1);
  assert.match(await rows.innerText(), /takes the antes/);
  const pot = page.locator('.replay sabacc-pot[name="Hand pot"]');
  assert.equal(await pot.getAttribute("amount"), "4", "two antes of 2");
  await page.getByRole("button", { name: "Last step" }).click();
  assert.equal(await rows.count(), all);
  assert.equal(await pot.getAttribute("amount"), "0");
});

test("its bundle is downloaded, and the verifier finds it proved", async () => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Bundle (.sabacc)" }).click()]);
  bundle = fs.readFileSync(await download.path());
  const { title, state } = await verified("hand.sabacc", bundle);
  assert.equal(state, "1 proved.");
  assert.match(title, /All of this hand checks out/);
});

test("a bundle of which one byte was changed is not proved", async () => {
  // Bytes of all parts: the head, the records of each log, the proofs at the end.
  for (const at of [0.1, 0.5, 0.9].map((part) => Math.floor(bundle.length * part))) {
    const changed = Buffer.from(bundle);
    changed[at] ^= 1;
    const { title, state } = await verified("changed.sabacc", changed);
    assert.doesNotMatch(state, /proved/, `byte ${at} was changed`);
    assert.match(title, /refused|not proved/i);
  }
});

test("the hand is disputed by whoever played it, with evidence, and an auditor reads what they wrote", async () => {
  const text = "I did not see <b>my</b> card.";
  await page.getByLabel("What is wrong with this hand?").fill(text);
  await page.waitForFunction(() => document.querySelector('input[name="kept"]')?.checked);
  await page.getByRole("button", { name: "Open the dispute" }).click();
  await page.getByText(/Your dispute has the public number \d+/).waitFor();
  await page.getByText("SHA-256 of the evidence on record").waitFor();
  person.isContent();
  const auditor = await Person.with(browser);
  await auditor.signInAs("auditor");
  await auditor.page.getByRole("tab", { name: "Disputes" }).click();
  await auditor.page.getByRole("button", { name: /Read dispute/ }).first().click();
  await auditor.page.getByText(text).waitFor();
  auditor.isContent();
});

/** What the verifier says of a file. */
async function verified(name, buffer) {
  const checker = await person.context.newPage();
  await checker.goto(`${PAGES}/verify.html`);
  await checker.locator("#keys").fill(await (await fetch(`${ROOM}/keys.txt`)).text());
  await checker.locator("#keys-state").getByText(/keys:/).waitFor();
  await checker.locator("#hands-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
  await checker.locator("#state").getByText(/^\d+ .*\.$/).waitFor();
  const found = { state: await checker.locator("#state").innerText(), title: await checker.locator("#results h2").first().innerText() };
  await checker.close();
  return found;
}
