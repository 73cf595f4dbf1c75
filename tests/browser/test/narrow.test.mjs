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

test("at a table of eight no seat lies over another, and what is said stays at its seat", async () => {
  const id = await openTable("dice", { seats: 8, pauseMs: 3000 });
  const names = ["Ahsoka", "Chewbacca the Mighty", "Bo", "Grand Admiral Thrawn", "Qi'ra", "Cassian Jeron Andor", "L3-37"];
  const others = [];
  for (const name of names) others.push(await opponent(browser, id, name));
  const person = await Person.with(browser, { viewport: { width: 360, height: 780 } });
  const page = await person.open(`/table/${id}`);
  await page.waitForFunction(() => document.querySelectorAll("sabacc-seat").length === 7);
  await sitDown(page, "Lando Calrissian");
  assert.equal(await whatNow(page, await dealtIn(page)), "move");
  const [pots, dock] = await Promise.all([".pots", ".dock"].map((name) => page.locator(name).boundingBox()));
  assert.ok(pots.y + pots.height <= dock.y, `the pots end at ${pots.y + pots.height}, the dock begins at ${dock.y}`);
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: width === 360 ? 780 : 900 });
    const found = await page.evaluate(faultsOfSeats);
    assert.deepEqual(found, [], `at ${width} pixels`);
  }
  person.isContent();
  for (const one of [person, ...others]) await one.close();
});

/** Plates and words of seats that lie over one another, over the page's head, or beyond the window. Runs in the page. */
async function faultsOfSeats() {
  const seats = [...document.querySelectorAll("sabacc-seat")].filter((seat) => seat.getBoundingClientRect().width > 0);
  for (const seat of seats) seat.say("Locks a card in the field");
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const parts = seats.flatMap((seat) => [".plate", ".says"].map((name) => ({
    seat, name: `${name} of ${seat.shadowRoot.querySelector(".name").textContent}`, box: seat.shadowRoot.querySelector(name).getBoundingClientRect(),
  })));
  const head = Math.max(...[...document.querySelectorAll(".titles > *, .table-tools")].map((one) => one.getBoundingClientRect().bottom));
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const over = parts.flatMap((one, at) => parts.slice(at + 1).filter((other) => other.seat !== one.seat && meet(one.box, other.box)).map((other) => `${one.name} and ${other.name}`));
  const beyond = parts.filter(({ box }) => box.left < 0 || box.right > innerWidth || box.top < head).map(({ name, box }) => `${name} is at ${box.left}, ${box.top}, up to ${box.right}`);
  const wide = document.documentElement.scrollWidth - innerWidth;
  return [...over, ...beyond, ...(wide > 0 ? [`the page is wider than the window by ${wide}`] : [])];
}
