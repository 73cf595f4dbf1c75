// Measures the first paint of the lobby, each time in a fresh browser context: `run PROGRAM --measure paint [TIMES]`.

import { launch, Person } from "../lib/people.mjs";
import { judge, print, quantile } from "./figures.mjs";

/** Milliseconds until something is painted, for one in twenty at the most to be beyond. */
const MOST_MS = 300;
const times = Number(process.argv[2] ?? 20);

const browser = await launch();
/** @type {number[]} */
const paints = [];
/** @type {number[]} */
const tables = [];
// The first is not counted: the browser itself has just begun.
for (let at = 0; at <= times; at += 1) {
  const person = await Person.with(browser);
  const page = await person.open("/");
  await page.locator(".seat-card, .games > .notice").first().waitFor();
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  const [paint, table] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN, performance.now()]);
  if (at > 0) {
    paints.push(paint);
    tables.push(table);
  }
  await person.close();
}
await browser.close();
print("first contentful paint", paints);
print("until the test sees the list of tables", tables);
judge(quantile(paints, 0.95) < MOST_MS, `the lobby is painted first within ${MOST_MS} ms (p95)`);
