// Photographs the pages: `node screens.mjs DIR`, at three widths, light and dark. `run --screens DIR` calls it.

import fs from "node:fs";
import path from "node:path";
import { opponent } from "./opponent.mjs";
import { launch, Person } from "./people.mjs";
import { dealtIn, lastHand, playHand, sitDown, whatNow } from "./play.mjs";
import { openTable } from "./room.mjs";

const WIDTHS = [360, 768, 1440];
const into = process.argv[2] ?? "screens";

fs.mkdirSync(into, { recursive: true });
const browser = await launch();
const table = await openTable("spike", { actionSeconds: 600 });
const other = await opponent(browser, table, "Ahsoka");
const person = await Person.with(browser);
await person.open(`/table/${table}`);
await sitDown(person.page, "Lando");
const handNo = await playHand(person.page);
const hand = ((await lastHand(person.page, handNo).getByRole("link").getAttribute("href")) ?? "").slice(1);
await whatNow(person.page, await dealtIn(person.page));
await photograph(person, "table");

/** Pages, with what shows that they are drawn. */
const PAGES_OF = [["lobby", "/", ".seat-card"], ["hand", hand, ".checks"], ["me", "/me", "text=Results by game"], ["rules", "/rules/spike", "main h2"]];
for (const [name, route, drawn] of PAGES_OF) {
  await person.open(route);
  await person.page.locator(drawn).first().waitFor({ state: "attached" });
  await photograph(person, name);
}
const operator = await Person.with(browser);
await operator.signInAs("operator");
await operator.page.locator(".figures").first().waitFor();
await photograph(operator, "room");
await other.close();
await browser.close();

/** Takes a page at every width, light and dark. */
async function photograph({ page }, name) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: width < 500 ? 780 : 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.screenshot({ path: path.join(into, `${name}-${width}-${colorScheme}.png`), fullPage: name !== "table" });
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) console.log(`${name} at ${width}: wider than the screen by ${wide}`);
  }
}
