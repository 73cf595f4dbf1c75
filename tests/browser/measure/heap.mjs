// Measures whether a page that watches many hands grows: `run PROGRAM --measure heap [EARLY LATE]`, 300 and 3,000 hands by default.

import { launch, Person } from "../lib/people.mjs";
import { tableOfBots, until } from "../lib/room.mjs";
import { judge } from "./figures.mjs";

/** Part by which two collections of one and the same page differ. */
const NOISE = 0.02;
const [early, late] = [Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 3000)];

const tableId = await until(async () => (await tableOfBots("dice")) ?? (await tableOfBots("spike")), "a table of bots");
const browser = await launch();
const person = await Person.with(browser);
const page = await person.open(`/table/${tableId}`);
const cdp = await person.context.newCDPSession(page);
await cdp.send("Performance.enable");
await page.locator(".connection.live").waitFor();
const first = await handNo();
const begun = Date.now();
const before = await used(early);
const after = await used(late);
person.isContent();
await browser.close();
console.log(`${((late / (Date.now() - begun)) * 1000).toFixed(2)} hands a second`);
judge(after.bytes <= before.bytes * (1 + NOISE), `${late} hands leave no more heap than ${early} did, to ${NOISE * 100} %`);

/** Number of the hand that is shown. */
async function handNo() {
  const found = await page.waitForFunction(() => Number(/Hand (\d+)/.exec(document.querySelector(".felt .phase")?.textContent ?? "")?.[1] ?? 0), null, { timeout: 60_000 });
  return found.jsonValue();
}

/** What is in use after so many hands, once all that nobody holds is collected. @param {number} hands */
async function used(hands) {
  await page.waitForFunction((no) => Number(/Hand (\d+)/.exec(document.querySelector(".felt .phase")?.textContent ?? "")?.[1] ?? 0) >= no, first + hands, { timeout: 3_600_000, polling: 250 });
  const sizes = [];
  for (let times = 0; times < 5; times += 1) {
    await cdp.send("HeapProfiler.collectGarbage");
    sizes.push((await cdp.send("Runtime.getHeapUsage")).usedSize);
  }
  const { metrics } = await cdp.send("Performance.getMetrics");
  const metric = (name) => metrics.find((one) => one.name === name)?.value ?? NaN;
  const bytes = Math.min(...sizes);
  const seconds = (Date.now() - begun) / 1000;
  console.log(`after ${hands} hands and ${seconds.toFixed(0)} s: ${(bytes / 1024).toFixed(0)} KiB of heap, ${metric("Nodes")} nodes, ${metric("JSEventListeners")} listeners`);
  return { bytes };
}
