// Photographs the pages: `node screens.mjs DIR`, at three widths, light and dark. `run --screens DIR` calls it.

import fs from "node:fs";
import path from "node:path";
import { opponent } from "./opponent.mjs";
import { launch, Person } from "./people.mjs";
import { dealtIn, lastHand, playHand, sitDown, whatNow } from "./play.mjs";
import { isLong, openTable } from "./room.mjs";

const WIDTHS = [360, 768, 1440];
const GAMES = isLong ? ["coruscant", "dice", "electronic", "eleven", "force", "kessel", "spike", "swg"] : ["spike"];
const into = process.argv[2] ?? "screens";

fs.mkdirSync(into, { recursive: true });
const browser = await launch();
const person = await Person.with(browser);
/** Address of a finished hand's page. */
let hand = "";
await playFull("dice");
for (const game of GAMES) hand = await play(game);

/** Pages, with what shows that they are drawn. */
const PAGES_OF = [["lobby", "/", ".seat-card"], ["hand", hand, ".checks"], ["me", "/me", "text=Results by game"], ["rules", "/rules/spike", "main h2"], ["api", "/api", ".methods"]];
for (const [name, route, drawn] of PAGES_OF) {
  await person.open(route);
  await person.page.locator(drawn).first().waitFor({ state: "attached" });
  await photograph(person, name);
}
const operator = await Person.with(browser);
await operator.signInAs("operator");
await operator.page.locator(".figures").first().waitFor();
await photograph(operator, "room");
for (const tab of ["Tables", "Disputes", "Accounts"]) {
  await operator.page.getByRole("tab", { name: tab }).click();
  await operator.page.waitForFunction(() => !/Loading/.test(document.querySelector("main")?.textContent ?? ""));
  await photograph(operator, `room-${tab.toLowerCase()}`);
}
await browser.close();

/** Photographs a table before one sits down, with a decision to make, and when a hand is over; gives the address of that hand. */
async function play(game) {
  const table = await openTable(game, { name: `The ${game} table`, pauseMs: 20_000, actionSeconds: 120 });
  const others = [await opponent(browser, table, "Ahsoka"), await opponent(browser, table, "Chewbacca the Mighty")];
  const { page } = person;
  await person.open(`/table/${table}`);
  await page.locator("sabacc-seat sabacc-card").first().waitFor({ timeout: 90_000 });
  await photograph(person, `${game}-1-watching`);
  await sitDown(page, "Lando");
  await whatNow(page, await dealtIn(page));
  await photograph(person, `${game}-2-turn`);
  const handNo = await playHand(page);
  await photograph(person, `${game}-3-over`);
  const found = await lastHand(page, handNo).getByRole("link").getAttribute("href");
  for (const other of others) await other.close();
  return (found ?? "").slice(1);
}

/** Photographs a table of eight, all of whom say something, in a hand and when it is over. */
async function playFull(game) {
  const table = await openTable(game, { name: `A table of eight at ${game}`, pauseMs: 20_000, actionSeconds: 120, seats: 8 });
  const names = ["Ahsoka", "Chewbacca the Mighty", "Bo", "Grand Admiral Thrawn", "Qi'ra", "Cassian Jeron Andor", "L3-37"];
  const guest = await Person.with(browser);
  const { page } = guest;
  await guest.open(`/table/${table}`);
  const others = [];
  for (const name of names) others.push(await opponent(browser, table, name));
  await sitDown(page, "Lando Calrissian");
  const handNo = await dealtIn(page);
  await whatNow(page, handNo);
  await photograph(guest, "full-1-turn");
  await photograph(guest, "full-2-says", () => {
    const deeds = ["raises to 1,250", "calls the hand", "locks a card in the field"];
    document.querySelectorAll("sabacc-seat").forEach((seat, at) => seat.say(deeds[at % deeds.length]));
  });
  await playHand(page, { handNo });
  await photograph(guest, "full-3-over");
  for (const other of others) await other.close();
  await guest.close();
}

/** Takes a page at every width, light and dark. */
async function photograph({ page }, name, before = () => {}) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: width < 500 ? 780 : 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      // Colours that are inherited follow the scheme by the next frame.
      await page.evaluate(async (name) => {
        document.documentElement.dataset.scheme = name;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      }, colorScheme);
      await page.evaluate(before);
      await page.screenshot({ path: path.join(into, `${name}-${width}-${colorScheme}.png`), fullPage: !/-[123]-/.test(name) });
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) console.log(`${name} at ${width}: wider than the screen by ${wide}`);
  }
}
