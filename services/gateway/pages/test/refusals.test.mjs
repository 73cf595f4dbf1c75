// Words for every reason of error.proto, and for no other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Refusal } from "../api/connect.js";
import { WORDS, wordsOf } from "../api/refusals.js";

const proto = readFileSync(new URL("../../../../proto/sabacc/common/v1/error.proto", import.meta.url), "utf8");
const reasons = [...proto.matchAll(/^ {2}ERROR_REASON_(\w+) = [1-9]/gm)].map(([, name]) => name);

test("each reason has words, each of them whole sentences", () => {
  assert.ok(reasons.length > 40);
  assert.deepEqual(Object.keys(WORDS).sort(), [...reasons].sort());
  for (const reason of reasons) {
    const words = wordsOf(new Refusal("as the room said", { code: "internal", reason }));
    assert.match(words, /^[A-Z].*\.$/, reason);
    assert.doesNotMatch(words, /undefined|NaN|null|\.\./, reason);
  }
});

test("facts of a refusal stand in its words", () => {
  const words = (reason, metadata, more) => wordsOf(new Refusal("", { reason, metadata, ...more }));
  assert.match(words("AMOUNT_OUT_OF_RANGE", { min: "10", max: "1490" }), /from 10 credits to 1,490 credits/);
  assert.match(words("INSUFFICIENT_CREDITS", { short: "40" }), /by 40 credits/);
  assert.match(words("WITHHELD", { until: "2040-01-01T00:00:00Z", until_hand_no: "8" }), /after .* from hand 8 on/);
  assert.match(words("OVERLOADED", {}, { retryAfterMs: 61_000 }), /in 61 seconds/);
  assert.match(words("BAD_FIELD", {}, { violations: [{ field: "buy_in_credits", description: "at least 1" }] }), /buy in credits: at least 1/);
});

test("what has no reason has words by its code, or its own", () => {
  assert.match(wordsOf(new Refusal("fetch failed", { code: "unavailable" })), /not reached/);
  assert.equal(wordsOf(new Refusal("something", { code: "unknown", reason: "OF_THE_FUTURE" })), "something");
  assert.equal(wordsOf(new Error("plain")), "plain");
});
