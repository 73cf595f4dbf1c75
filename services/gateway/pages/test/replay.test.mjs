// The replay of a hand: what each line of a story does to the hands, and what others heard of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heard, replay } from "../pages/hand/replay.js";
import { chanceOf, partsOf } from "../pages/hand/bundle.js";

/** Story of lines such as "1 trades S5 for the top card"; a line without a seat is the dealer's. */
const story = (...lines) =>
  ["the table takes the antes", ...lines].map((line) => {
    const [, seat, what] = /^(\d) (.*)$/.exec(line) ?? [];
    if (line.startsWith("the table ")) return { log: "table", who: "the table", what: line.slice(10) };
    return { log: "table", who: seat ? `seat ${seat} (0198f0c2)` : "the dealer", what: what ?? line };
  });

/** Hands at the end, by seat. */
const hands = ({ steps }) =>
  Object.fromEntries(steps.at(-1).seats.map(({ seat, cards }) => [seat, cards.map(({ code }) => code).join(" ")]));

test("a shift leaves what is locked", () => {
  const found = replay(
    story("deals S5 F2 to seat 1 (0198f0c2)", "deals T9 C4 to seat 2 (0198f0c2)", "1 locks S5 in the field", "rolls 3 3", "shuffles 3 cards into pile 0", "deals F7 to seat 1 (0198f0c2)", "deals C1 C2 to seat 2 (0198f0c2)"),
    [1, 2],
    "dice",
  );
  assert.deepEqual(hands(found), { 1: "S5 F7", 2: "C1 C2" });
});

test("a swap takes the top discard, and a pair redraws every hand", () => {
  const swapped = story("deals c+1 c+2 to seat 1 (0198f0c2)", "turns up s-4", "1 swaps c+1 for the top discard");
  assert.deepEqual(hands(replay(swapped, [1], "spike")), { 1: "c+2 s-4" });
  assert.deepEqual(hands(replay([...swapped, ...story("rolls 2 2").slice(1)], [1], "spike")), { 1: "" });
});

test("a new round of Kessel begins with empty hands, a pile that ran out does not", () => {
  const round = ["shuffles 22 cards into pile 0", "shuffles 22 cards into pile 1", "turns up s1 b1", "deals s2 b2 to seat 1 (0198f0c2)"];
  const ranOut = [...round, "1 draws from sand", "shuffles 4 cards into pile 0", "deals s6 to seat 1 (0198f0c2)"];
  assert.deepEqual(hands(replay(story(...ranOut), [1], "kessel")), { 1: "s2 b2 s6" });
  assert.deepEqual(hands(replay(story(...round, "1 stands", "shuffles 3 cards into pile 0"), [1], "kessel")), { 1: "" });
});

test("what is shown corrects the hands, and is told", () => {
  const right = story("deals S5 F2 to seat 1 (0198f0c2)", "1 shows S5 F2");
  assert.equal(replay(right, [1], "swg").sure, true);
  const wrong = replay(story("deals S5 F2 to seat 1 (0198f0c2)", "1 shows S5 F3"), [1], "swg");
  assert.equal(wrong.sure, false);
  assert.deepEqual(hands(wrong), { 1: "S5 F3" });
});

test("others hear no card that they did not see", () => {
  const { steps } = replay(story("deals S5 F2 to seat 1 (0198f0c2)", "1 trades S5 for the top card", "1 locks F2 in the field"), [1, 2], "dice");
  const last = steps.slice(-3);
  assert.deepEqual(last.map((step) => heard(step, 2)), ["deals 2 cards to seat 1 (0198f0c2)", "trades a card for the top card", "locks F2 in the field"]);
  assert.deepEqual(last.map((step) => heard(step, 0)), last.map((step) => heard(step, 2)));
  assert.deepEqual(last.map((step) => heard(step, 1)), last.map((step) => step.line.what));
});

test("a bundle that is cut off is said to be", () => {
  assert.throws(() => partsOf(new Uint8Array([0x0a, 5, 1])), /cut off/);
  assert.deepEqual(chanceOf(new Uint8Array()).operations, []);
});
