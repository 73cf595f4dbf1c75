// The fold of recorded streams, against the snapshots that the room gave meanwhile. A recording has a line for each message: the
// player's `snapshot`, each `update`, and `seen`, what GetTable said at that time. Long hashes are cut short, paddings left out.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fold, isInPlay, isNext } from "../store/fold.js";

const recorded = (game) =>
  readFileSync(new URL(`recorded/${game}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

// A message without what stands at its default. No update tells that somebody has committed to the next hand, or that the wait
// for commitments has a deadline now.
function canonical(value, key = "") {
  if (Array.isArray(value)) return value.length > 0 ? value.map((item) => canonical(item) ?? {}) : undefined;
  if (value === null || typeof value !== "object") return [0, "", "0", false, undefined].includes(value) ? undefined : value;
  const untold = { nextHand: ["seats"], entropy: ["seats", "deadline"] }[key] ?? [];
  const fields = Object.entries(value).map(([name, field]) => [name, untold.includes(name) ? undefined : canonical(field, name)]);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined).sort());
}

// The views after each update by their numbers, with the player's own id where it is known.
function foldAll(lines) {
  const [{ snapshot }] = lines;
  const own = lines.map(({ seen }) => seen?.seats?.find(({ seat }) => seat === seen.yourSeat)?.playerId).find(Boolean);
  let view = snapshot;
  const views = new Map([[view.sequence, view]]);
  for (const { update } of lines) {
    if (!update) continue;
    assert.ok(isNext(view, update), `update ${update.sequence} after ${view.sequence}`);
    view = fold(view, update, own);
    views.set(view.sequence, view);
  }
  return views;
}

for (const game of ["dice", "kessel"])
  test(`a game of ${game}: the fold is what a snapshot shows`, () => {
    const lines = recorded(game);
    const views = foldAll(lines);
    const compared = lines.filter(({ seen }) => seen && views.has(seen.sequence));
    assert.ok(compared.length > 20);
    for (const { seen } of compared)
      assert.deepEqual(canonical(views.get(seen.sequence)), canonical(seen), `view ${seen.sequence}`);
  });

test("what was there stays as it was", () => {
  const lines = recorded("dice");
  const freeze = (value) => {
    if (value !== null && typeof value === "object") Object.values(Object.freeze(value)).forEach(freeze);
  };
  lines.forEach(freeze);
  assert.ok(foldAll(lines).size > 50);
});

test("a seat that is taken after the snapshot is the viewer's own", () => {
  const taken = { sequence: "5", seat: { seat: { seat: 3, playerId: "me", state: "SEAT_STATE_PLAYING" } } };
  const view = fold({ sequence: "4", seats: [{ seat: 4, playerId: "other" }] }, taken, "me");
  assert.equal(view.yourSeat, 3);
  assert.deepEqual(view.seats.map(({ seat }) => seat), [3, 4]);
  const left = fold(view, { sequence: "6", seat: { seat: { seat: 3, playerId: "me" }, vacated: true } }, "me");
  assert.equal(left.yourSeat, undefined);
  assert.deepEqual(left.seats.map(({ seat }) => seat), [4]);
});

test("a hand that stands still shows who has agreed to end it", () => {
  const hand = { handNo: "9", seats: [{ seat: 1 }, { seat: 3 }] };
  const still = fold({ sequence: "1", hand }, { sequence: "2", suspension: { handNo: "9", suspension: { startTime: "t" } } });
  const agree = (view, seat, sequence) =>
    fold(view, { sequence, action: { handNo: "9", seat, decision: { kind: "MOVE_KIND_VOID" } } });
  const both = agree(agree(still, 3, "3"), 1, "4");
  assert.deepEqual(both.hand.suspension.agreed, [1, 3]);
  const gone = fold(both, { sequence: "5", voided: { handNo: "9" } });
  assert.equal(isInPlay(gone), false);
});

test("what a newer room tells changes nothing but the number", () => {
  assert.deepEqual(fold({ sequence: "1", name: "a" }, { sequence: "2", future: {} }), { sequence: "2", name: "a" });
});
