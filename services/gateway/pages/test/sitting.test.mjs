// Whether a seat is dealt in, through pages that are left, loaded again and looked at.

import assert from "node:assert/strict";
import test from "node:test";
import { Sitting } from "../chance/sitting.js";

const kept = new Map();
Object.defineProperty(globalThis, "localStorage", {
  configurable: true,
  value: { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => void kept.set(name, text), removeItem: (name) => void kept.delete(name) },
});
const view = (state) => ({ yourSeat: 1, seats: [{ seat: 1, state: `SEAT_STATE_${state}` }] });

/** A sitting of a new page, and what it has sent. @param {string} table */
function sitting(table) {
  const sent = [];
  return { sent, seat: new Sitting(table, "anna", async (_method, { sitOut }) => void sent.push(sitOut)) };
}

test("who loads the page again is dealt in, also where the room hears late that it was left", async () => {
  const before = sitting("a");
  before.seat.leave();
  assert.deepEqual(before.sent, [true]);
  const { seat, sent } = sitting("a");
  await seat.follow(view("PLAYING"), false, false);
  await seat.follow(view("SITTING_OUT"), false, false);
  assert.deepEqual(sent, [false]);
  await seat.follow(view("PLAYING"), false, false);
});

test("a page that is shown again after it was left is dealt in again", async () => {
  const { seat, sent } = sitting("b");
  await seat.follow(view("PLAYING"), false, false);
  seat.leave();
  await seat.follow(view("PLAYING"), false, false);
  await seat.follow(view("SITTING_OUT"), false, false);
  assert.deepEqual(sent, [true, false]);
});

test("whom the room sits out long after, and who wants it, is not brought back", async (t) => {
  sitting("c").seat.leave();
  const late = sitting("c");
  const now = Date.now();
  t.mock.method(Date, "now", () => now + 20_000);
  await late.seat.follow(view("PLAYING"), false, false);
  await late.seat.follow(view("SITTING_OUT"), false, false);
  assert.deepEqual(late.sent, []);
  sitting("d").seat.leave();
  const wanted = sitting("d");
  await wanted.seat.follow(view("PLAYING"), false, false);
  await wanted.seat.want(true);
  await wanted.seat.follow(view("SITTING_OUT"), false, false);
  assert.deepEqual(wanted.sent, [true]);
});
