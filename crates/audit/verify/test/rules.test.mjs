// Every golden hand, replayed: settlement, stacks, pots, winners and ranks.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { Hand } from "../rules/hand.js";
import { makeMove, sameMove } from "../rules/moves.js";
import { BadRules, TOKENS, VARIANTS, canonicalText, makeRules, readRules, seatsOf } from "../rules/ruleset.js";
import { replay } from "./shh.mjs";
import { parseToml } from "./toml.mjs";

const API = { Hand, makeMove, sameMove, makeRules, TOKENS };
const GOLDEN = new URL("../../../../tests/golden/", import.meta.url);

export function checkHand(file) {
  const hand = replay(API, file);
  assert.ok(hand.settlement, "the hand is not over");
  const { settlement } = hand;
  assert.deepEqual(settlement.text, file.settlement);
  assert.deepEqual(settlement.stacks, file.finishing_stacks);
  assert.equal(settlement.sabaccPot, file.finishing_sabacc_pot ?? 0);
  assert.equal(settlement.carriedPot, file.finishing_carried_pot ?? 0);
  if (file._winners)
    assert.deepEqual(
      settlement.winners.map((player) => `p${player + 1}`),
      file._winners,
    );
  if (file._ranks)
    assert.deepEqual(
      settlement.hands.map(({ rank }) => rank ?? "null"),
      file._ranks,
    );
}

const filesOf = (variant) =>
  readdirSync(new URL(`${variant}/`, GOLDEN))
    .filter((name) => name.endsWith(".shh"))
    .sort();

let files = 0;
for (const variant of Object.keys(VARIANTS)) {
  for (const name of filesOf(variant)) {
    files += 1;
    test(`${variant}/${name}`, () => checkHand(parseToml(readFileSync(new URL(`${variant}/${name}`, GOLDEN), "utf8"))));
  }
}

test("there are golden hands of every game", () => assert.ok(files >= 184, `${files} files`));

test("every rule set is its canonical text", () => {
  for (const id of Object.keys(VARIANTS)) {
    const rules = makeRules(id, {});
    assert.equal(canonicalText(readRules(canonicalText(rules))), canonicalText(rules));
    assert.throws(() => readRules(`${canonicalText(rules)}\n`));
    assert.throws(() => readRules(canonicalText(rules).replace(/= (\d+)/, "= 0$1")));
  }
});

const CAPS = JSON.parse(readFileSync(new URL("caps.json", GOLDEN), "utf8"));

test("rule sets are accepted and refused as listed", () => {
  for (const { variant, ruleset, players } of CAPS.valid) {
    const rules = makeRules(variant, ruleset);
    assert.equal(canonicalText(readRules(canonicalText(rules))), canonicalText(rules));
    if (players) assert.deepEqual(seatsOf(rules), players);
  }
  for (const { variant, ruleset } of CAPS.invalid) {
    assert.throws(() => makeRules(variant, ruleset), { constructor: BadRules }, JSON.stringify(ruleset));
  }
});

for (const { name, actions, legal, illegal, ...rest } of CAPS.cases) {
  test(name, () => {
    const file = { sabacc_pot: 0, carried_pot: 0, seats: rest.starting_stacks.map((_, at) => at + 1), ...rest };
    replay(API, { ...file, actions });
    for (const line of legal) replay(API, { ...file, actions: [...actions, line] });
    for (const line of illegal) assert.throws(() => replay(API, { ...file, actions: [...actions, line] }), line);
  });
}
