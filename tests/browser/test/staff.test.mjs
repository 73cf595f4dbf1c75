// What operators do to credits and people, on the page of the room.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, Person } from "../lib/people.mjs";
import { sitDown } from "../lib/play.mjs";
import { openTable, tokenOfAnother } from "../lib/room.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** A guest, with the id that the page Me tells them. */
async function guest(name) {
  const person = await Person.with(browser);
  const page = await person.open("/");
  await page.getByLabel("Your name, if you like").fill(name);
  await page.locator(".join").getByRole("button", { name: "Join as guest" }).click();
  await page.getByRole("heading", { name: `Welcome, ${name}` }).waitFor();
  await person.open("/me");
  const id = await page.getByText(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/).first().innerText();
  return { person, page, id };
}

/** An operator at a tab of the page Room. */
async function operator(tab, token) {
  const person = await Person.with(browser);
  await person.signInAs("operator", token);
  await person.page.getByRole("tab", { name: tab }).click();
  return person;
}

test("an adjustment that one operator proposes is approved by another, and not by the first", async () => {
  const { person, id } = await guest("Adjusted");
  const first = await operator("Adjustments");
  const { page } = first;
  await page.getByLabel("Account (needed)").fill(`player/${id}`);
  await page.getByLabel(/^Credits; negative takes them away/).fill("-250");
  await page.getByLabel(/^Reason, for the record/).fill("a test of two operators");
  await page.getByRole("button", { name: "Propose it" }).click();
  await page.getByText("It waits for another operator.").waitFor();
  const row = (of) => of.getByRole("row").filter({ hasText: id });
  await row(page).getByRole("button", { name: /^Approve/ }).click();
  await page.getByText(/who proposed it cannot approve it/).waitFor();
  const second = await operator("Adjustments", tokenOfAnother("second"));
  await row(second.page).getByRole("button", { name: /^Approve/ }).click();
  await second.page.getByText("None waits.").waitFor();
  await person.open("/me?again");
  await person.page.locator(".figures").getByText(/^99.750$/).first().waitFor();
  // The refusal is an answer of 400 to the browser, and meant.
  first.faults = first.faults.filter((fault) => !/ApproveAdjustment/.test(fault));
  for (const one of [person, first, second]) {
    one.isContent();
    await one.close();
  }
});

test("a player who has left is erased by an operator, and is nobody any more", async () => {
  const { person, page, id } = await guest("Forgotten");
  const table = await openTable("spike");
  await person.open(`/table/${table}`);
  await sitDown(page);
  await page.getByRole("button", { name: "Leave", exact: true }).click();
  await page.getByRole("dialog", { name: "Leave the table" }).getByRole("button", { name: "Leave", exact: true }).click();
  await page.getByRole("button", { name: "Sit down", exact: true }).waitFor();
  const staff = await operator("Accounts");
  await staff.page.getByLabel("Player's id").fill(id);
  await staff.page.getByRole("button", { name: "Look up" }).click();
  await staff.page.getByRole("heading", { name: "Forgotten" }).waitFor();
  const form = staff.page.locator("details").filter({ hasText: "Erase the player" });
  await form.locator("summary").click();
  await form.getByLabel(/^Reason, for the record/).fill("asked to be");
  await form.getByRole("checkbox").check();
  await form.getByRole("button", { name: "Erase the player" }).click();
  await form.getByText("The player is erased.").or(staff.page.getByText("erased", { exact: true })).first().waitFor();
  await staff.page.getByText("erased", { exact: true }).waitFor();
  assert.equal(await staff.page.getByRole("heading", { name: "Forgotten" }).count(), 0, "the name is gone");
  staff.isContent();
  await staff.close();
  await person.close();
});
