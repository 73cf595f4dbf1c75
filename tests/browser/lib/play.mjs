// Knows how a hand is played by the buttons of the table's page.

import assert from "node:assert/strict";
import { until } from "./room.mjs";

/** Moves, the first that is legal being made: those that bring a hand to its end with many cards on the table. */
const ORDER = ["CALL_HAND", "CHECK", "MATCH", "STAND", "KEEP", "SELECT", "ADD", "ALIGN", "DRAW", "DRAW_FROM", "DISCARD", "GAIN"];

/** Sits down at the table that is shown, as a guest of this name. */
export async function sitDown(page, name = "") {
  await page.getByRole("button", { name: "Sit down", exact: true }).click();
  const field = page.getByLabel("Name at the table");
  if (await field.isVisible()) await field.fill(name);
  await page.locator("dialog button[type=submit]").click();
  await seated(page);
}

/** Waits until one has a seat. A busy room gives none for a moment: then whoever asks is told, and asks again. */
export async function seated(page) {
  await until(async () => {
    const refusal = page.locator("dialog[open] .notice:not([hidden])");
    const leave = page.getByRole("button", { name: "Leave", exact: true });
    await leave.or(refusal).first().waitFor();
    if (await leave.isVisible()) return true;
    assert.match(await refusal.innerText(), /busy|behind|moment|again/i);
    await page.locator("dialog[open] button[type=submit]").click();
    return false;
  }, "a seat is given");
}

/** Waits until one is dealt in; gives the number of the hand. */
export async function dealtIn(page) {
  const found = await page.waitForFunction(() => {
    const own = document.querySelector(".own-hand:not([hidden]) sabacc-card");
    return own && /^Hand (\d+)( ·|$)/.exec(document.querySelector(".felt .phase")?.textContent ?? "")?.[1];
  }, null, { timeout: 90_000 });
  return found.jsonValue();
}

/** Waits until there is something to do in the hand, or it is over; gives "move", "form" or "over". */
export async function whatNow(page, handNo) {
  const found = await page.waitForFunction((no) => {
    const last = [...document.querySelectorAll(".last-hands > li")].some((one) => one.querySelector("a, strong")?.textContent === `Hand ${no}`);
    if (last) return "over";
    if (document.querySelector(".composer")) return "form";
    return document.querySelector(".move-area:not([hidden]):not([aria-busy]) .moves:not([hidden]) .button.move") ? "move" : "";
  }, handNo, { timeout: 120_000 });
  return found.jsonValue();
}

/** Fails unless every card of one's own hand has a seal that says it is proved. */
export async function sealsHold(page) {
  await page.waitForFunction(() => {
    const places = [...document.querySelectorAll(".own-cards > li")].filter((one) => one.firstElementChild?.getAttribute("code"));
    return places.length > 0 && places.every((one) => !one.querySelector("sabacc-seal")?.hidden && one.querySelector("sabacc-seal")?.getAttribute("state") === "valid");
  }).catch(async () => {
    const states = await page.locator(".own-cards > li sabacc-seal").evaluateAll((all) => all.map((one) => `${one.getAttribute("name")}: ${one.hidden ? "no seal" : one.getAttribute("state")}`));
    assert.fail(`not every seal is valid: ${states.join(", ")}`);
  });
  assert.equal(await broken(page), 0, "a seal at the table is broken");
}

/** Number of seals at the whole table that say a proof fails. */
function broken(page) {
  return page.evaluate(() => {
    const seats = [...document.querySelectorAll("sabacc-seat")].flatMap((one) => [...(one.shadowRoot?.querySelectorAll("sabacc-seal") ?? [])]);
    return [...document.querySelectorAll("sabacc-seal"), ...seats].filter((one) => one.getAttribute("state") === "invalid").length;
  });
}

/** Makes one move by its button. */
export async function move(page) {
  const kinds = await page.locator(".moves .button.move").evaluateAll((all) => all.map((one) => one.dataset.kind));
  const kind = ORDER.map((one) => `MOVE_KIND_${one}`).find((one) => kinds.includes(one)) ?? kinds[0];
  if (!kind) return;
  const button = await page.locator(`.moves .button.move[data-kind="${kind}"]`).first().elementHandle();
  await button?.click({ timeout: 5000 }).catch(() => {});
  await passed(page, button);
}

/** Waits until a button has had its effect: the turn is over, or a form asks for more. */
async function passed(page, button) {
  const said = await page.waitForFunction((one) => {
    const refusal = document.querySelector(".move-area .notice:not([hidden])");
    return refusal?.textContent || (!one?.isConnected || document.querySelector(".composer") || one.closest("[hidden]") ? "went on" : "");
  }, button);
  assert.equal(await said.jsonValue(), "went on", "a legal move is refused");
}

/** Fills in the form of a move with the first choices, and sends it. */
export async function fillIn(page) {
  const form = await page.locator(".composer").elementHandle({ timeout: 5000 }).catch(() => null);
  if (!form) return;
  await form.evaluate((one) => {
    for (let i = 0; i < 9 && one.isConnected && one.querySelector("[type=submit]").disabled; i += 1) one.querySelector('.option[aria-pressed="false"]')?.click();
    if (one.isConnected) one.requestSubmit();
  });
  await page.waitForFunction((one) => !one.isConnected, form);
}

/** Plays a hand to its end; gives its number. `each` is called before every move. */
export async function playHand(page, { handNo = "", each = async () => {} } = {}) {
  const no = handNo || (await dealtIn(page));
  for (let moves = 0; ; moves += 1) {
    const now = await whatNow(page, no);
    if (now === "over") return no;
    assert.ok(moves < 200, "the hand goes on and on");
    if (now === "form") await fillIn(page);
    else {
      await each();
      await move(page);
    }
  }
}

/** What the panel of the last hands says of a hand. */
export function lastHand(page, handNo) {
  return page.locator(".last-hands > li").filter({ has: page.getByText(`Hand ${handNo}`, { exact: true }) });
}
