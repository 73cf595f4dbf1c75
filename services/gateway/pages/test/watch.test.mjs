// Who only looks on: what their browser loads, and that it checks all that is shown.

import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { Chance } from "../chance/chance.js";
import { Fault } from "../chance/fault.js";
import { House } from "./house.mjs";

const PAGES = new URL("../", import.meta.url);

/** Modules that are loaded with some. @param {string[]} first */
function loadedWith(...first) {
  const found = new Set();
  const add = (url) => {
    if (found.has(url.href)) return;
    found.add(url.href);
    const text = fs.readFileSync(url, "utf8");
    for (const [, name] of text.matchAll(/^(?:import|export)\s[^;]*?"(\.[^"]+)";/gm)) add(new URL(name, url));
  };
  for (const name of first) add(new URL(name, PAGES));
  return [...found].map((href) => href.slice(PAGES.href.length)).sort();
}

test("who looks on loads nothing that only a seat of one's own needs, and a seat all of it", () => {
  const own = ["contribution", "evidence", "lines", "own", "player", "presence", "seat", "sitting", "statements"].map((name) => `chance/${name}.js`);
  const watching = loadedWith("app.js", "pages/table.js", "chance/watch.js");
  assert.deepEqual(watching.filter((name) => own.includes(name)), []);
  const checks = fs.readdirSync(new URL("chance/", PAGES)).map((name) => `chance/${name}`).filter((name) => !own.includes(name));
  assert.deepEqual(checks.filter((name) => !watching.includes(name)), []);
  assert.deepEqual([...own, ...checks].filter((name) => !loadedWith("chance/seat.js").includes(name)), []);
});

/** A viewer without a seat, up to a hand that is dealt, or before it. */
async function watched(isDealt = true) {
  const house = await House.open();
  house.view = { ...house.view, yourSeat: undefined };
  const chance = new Chance(house.table, { keys: house.keys }, house.view);
  await chance.begin(house.view);
  const take = (what) => chance.take(...house.tell(what));
  await take({ nextHand: await house.promise("1") });
  await take({ entropy: await house.open("1") });
  if (isDealt) await take({ entropy: await house.closed("1") });
  if (isDealt) await take({ handStarted: await house.started("1") });
  return { house, chance, take };
}

const fault = (words) => (error) => error instanceof Fault && words.test(error.message);

test("a hand is checked from its promise to its seed, and nothing is sent or kept for it", async () => {
  const { house, chance, take } = await watched();
  await take({ action: await house.action("1", 2, "check") });
  await take({ handEnded: { handNo: "1" } });
  await take({ seed: await house.seed("1") });
  assert.deepEqual([house.sent, chance.evidence, chance.hand.isSigned], [[], null, false]);
});

test("what a player would not be deceived by does not deceive who looks on", async () => {
  const closed = await watched(false);
  const { closing, ...rest } = await closed.house.closed("1");
  const forged = { ...rest, closing: { ...closing, signature: btoa("?".repeat(64)) } };
  await assert.rejects(closed.take({ entropy: forged }), fault(/not signed/));
  const changed = await watched(false);
  await changed.take({ entropy: await changed.house.closed("1") });
  const other = await changed.house.own("1", 4);
  await assert.rejects(changed.take({ handStarted: await changed.house.started("1", ([one, two]) => [one, { ...two, ...other }]) }), fault(/not dealt from what was closed/));
  const { house, take } = await watched();
  const proof = { op: 0, position: 0, cardId: 0, salt: btoa("s".repeat(32)), path: "" };
  const root = { op: 0, cards: 1, root: btoa("r".repeat(32)) };
  await take({ action: { handNo: "1", root, phase: "HAND_PHASE_BETTING" } });
  await assert.rejects(take({ action: { handNo: "1", cards: ["S1"], proofs: [proof], phase: "HAND_PHASE_BETTING" } }), fault(/not the card that was committed to/));
  await assert.rejects(take({ action: { ...(await house.action("1", 2, "fold")), chain: btoa("c".repeat(32)) } }), fault(/does not go on/));
  await take({ handEnded: { handNo: "1" } });
  await assert.rejects(take({ seed: { handNo: "1", seed: (await house.seed("2")).seed } }), fault(/not the one that was promised/));
});
