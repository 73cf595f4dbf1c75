// A login that moves from one browser to another in a file.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, Person } from "../lib/people.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("a login that is saved is kept until its owner says that they have the file, and goes on elsewhere", async () => {
  const person = await Person.with(browser);
  const page = await person.open("/me");
  await page.getByLabel("Your name, if you like").fill("Lando");
  await page.locator("main").getByRole("button", { name: "Join as guest" }).click();
  const forget = page.getByRole("button", { name: "Forget the login here" });
  const save = page.getByRole("button", { name: "Save the login" });
  await save.waitFor();
  assert.ok(!(await forget.isVisible()));
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  const file = await download.path();
  await page.reload();
  await page.getByRole("heading", { name: "Lando" }).waitFor();
  const [again] = await Promise.all([page.waitForEvent("download"), save.click()]);
  await page.getByLabel("I have the file, and have seen that it is there.").check();
  await forget.click();
  await page.getByRole("heading", { name: "Join as guest" }).waitFor();
  assert.ok(file && (await again.path()));
  const other = await Person.with(browser);
  const there = await other.open("/me");
  await there.getByLabel("File of a login").setInputFiles(await again.path());
  await there.getByRole("button", { name: "Load a login" }).click();
  await there.getByRole("heading", { name: "Lando" }).waitFor();
  for (const one of [person, other]) {
    one.isContent();
    await one.close();
  }
});
