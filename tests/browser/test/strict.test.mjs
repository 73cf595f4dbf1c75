// What the pages may load, show and know: a strict policy, text that is text, and no card before it is shown.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { opponent } from "../lib/opponent.mjs";
import { launch, Person } from "../lib/people.mjs";
import { dealtIn, sitDown, whatNow } from "../lib/play.mjs";
import { openTable, PAGES } from "../lib/room.mjs";

const MARKUP = '<img src="x" onerror="window.planted=1">';
/** Every page, with what it shows when it is drawn. */
const ROUTES = [["/", ".seat-card"], ["/rules/kessel", ".rules, main h2"], ["/me", "main h1, main h2"], ["/room", ".tabs"], ["/api", ".methods"], ["/hand", "form"]];

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("pages run under a policy without inline code or other origins, and no page complains", async () => {
  const policy = (await fetch(`${PAGES}/`)).headers.get("content-security-policy") ?? "";
  assert.match(policy, /script-src 'self'/);
  assert.match(policy, /connect-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:|data:|blob:/);
  const person = await Person.with(browser);
  const elsewhere = [];
  person.page.on("request", (request) => new URL(request.url()).origin !== PAGES && elsewhere.push(request.url()));
  const table = await openTable("dice");
  for (const [route, drawn] of [...ROUTES, [`/table/${table}`, ".felt .place"], [`/rules?table=${table}`, "main h2"]]) {
    await person.open(route);
    await person.page.locator(drawn).first().waitFor();
    await person.page.waitForFunction(() => !/Loading|Waiting for the list/.test(document.querySelector("main")?.textContent ?? ""));
  }
  assert.deepEqual(elsewhere.filter((url) => !url.startsWith("blob:")), []);
  person.isContent();
  await person.close();
});

test("a name with markup is shown as text, wherever it is shown", async () => {
  const name = `Table <b id="planted">bold</b> ${MARKUP}`.slice(0, 60);
  const table = await openTable("spike", { name }).catch((error) => assert.match(error.message, /INVALID|invalid/));
  const person = await Person.with(browser);
  const page = await person.open("/");
  if (table) await page.locator(`a[data-table="${table}"]`).getByText(name).waitFor();
  await page.getByLabel("Your name, if you like").fill("<b id=planted>L</b>");
  await page.locator(".join").getByRole("button", { name: "Join as guest" }).click();
  // The room takes no such name; whoever is refused reads why, and one that is taken is text.
  await page.locator(".join [role=alert]").or(page.getByRole("heading", { name: "Welcome, <b id=planted>L</b>" })).first().waitFor();
  if (table) {
    await person.open(`/table/${table}`);
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await person.open(`/rules?table=${table}`);
    await page.locator("main h2").first().waitFor();
    await person.open("/room?tab=tables");
    await page.getByText(name).first().waitFor();
  }
  assert.equal(await page.evaluate(() => document.querySelectorAll("#planted, main img").length + Number(window.planted ?? 0)), 0);
  await person.close();
});

test("no card of another seat is in the page's memory before it is shown", async () => {
  const id = await openTable("spike");
  const person = await Person.with(browser);
  const page = await person.open(`/table/${id}`);
  await sitDown(page, "Curious");
  const other = await opponent(browser, id);
  const handNo = await dealtIn(page);
  assert.equal(handNo, "1", "nothing was ever shown at this table");
  assert.equal(await whatNow(page, handNo), "move");
  const drawn = await page.evaluate(() => {
    const codes = (root) => [...root.querySelectorAll("sabacc-card")].map((one) => one.getAttribute("code") ?? "").filter(Boolean);
    return { own: codes(document.querySelector(".own-cards")), seats: [...document.querySelectorAll("sabacc-seat")].flatMap((one) => codes(one.shadowRoot)), middle: codes(document.querySelector(".centre")) };
  });
  assert.ok(drawn.own.length > 0);
  assert.deepEqual(drawn.seats, [], "other seats show backs alone");
  const public_ = new Set([...drawn.own, ...drawn.middle, "??", ""]);
  const held = await cardsInHeap(person);
  assert.ok(held.some((code) => drawn.own.includes(code)), "the search finds one's own cards");
  assert.deepEqual(held.filter((code) => !public_.has(code)), [], "codes of cards that nobody has shown");
  await person.close();
  await other.close();
});

/** Codes of the cards among all objects. Runs in the page. */
function codesOf() {
  const isCard = (one) => {
    const code = Object.getOwnPropertyDescriptor(one, "code")?.value;
    return typeof code === "string" && (Object.hasOwn(one, "proof") || Object.hasOwn(one, "locked"));
  };
  return [...new Set(this.filter(isCard).map(({ code }) => code))];
}

/** Codes of all cards that any object or any text of the page's heap holds, as the room's messages have them. */
async function cardsInHeap({ context, page }) {
  const cdp = await context.newCDPSession(page);
  const evaluate = async (expression) => (await cdp.send("Runtime.evaluate", { expression })).result.objectId;
  const { objects } = await cdp.send("Runtime.queryObjects", { prototypeObjectId: await evaluate("Object.prototype") });
  const { result } = await cdp.send("Runtime.callFunctionOn", {
    objectId: objects.objectId,
    returnByValue: true,
    functionDeclaration: `${codesOf}`,
  });
  const parts = [];
  cdp.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => parts.push(chunk));
  await cdp.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  const { strings } = JSON.parse(parts.join(""));
  const texts = strings.filter((text) => text.includes('"proof":{')).flatMap((text) => [...text.matchAll(/"code":"([^"]*)"/g)].map(([, code]) => code));
  return [...new Set([...result.value, ...texts])];
}
