// Credits of a hand, step by step: what each line of a story does to stacks and pots, and that every worked hand of every game
// ends with what its history says.

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { antesOf, creditsOf } from "../pages/hand/pots.js";
import { changeWords, potsAt } from "../pages/hand/potlines.js";

const GOLDEN = new URL("../../../../tests/golden/", import.meta.url);

/** Antes of the games at their defaults: hand, Sabacc Pot. */
const ANTES = { coruscant: [5], dice: [5, 5], electronic: [5, 5], eleven: [10], force: [10], kessel: [], spike: [2, 2], swg: [100, 1000] };

const defaultsOf = (variant) => {
  const [hand, sabacc] = ANTES[variant];
  return [
    { name: "hand_ante", number: String(hand ?? 0) }, { name: "sabacc_ante", number: String(sabacc ?? 0) },
    { name: "sabacc_ante_when", text: variant === "swg" ? "when_empty" : "every_hand" },
    { name: "chips", number: "8" }, { name: "stakes", text: "lay" },
  ];
};

/** Steps of a story such as `1 bets 10`; what begins with no seat is the table's. */
const stepsOf = (lines) =>
  ["takes the antes", ...lines].map((line) => {
    const [, seat, what] = /^(\d) (.*)$/.exec(line) ?? [];
    return { line: { log: "table", who: seat ? `seat ${seat} (0198f0c2)` : "the table", what: what ?? line } };
  });

/** Credits of a hand of Corellian Spike, with an ante of 2 into each pot. */
const spike = (stacks, lines, more = {}) =>
  creditsOf(stepsOf(lines), { variant: "spike", seats: stacks.map((_, at) => String(at + 1)), startingStacks: stacks.map(String), ...more }, { hand: 2, sabacc: 2 });

/** Pots that have something in them. */
const pots = (now) => Object.fromEntries(now.pots.filter((one) => one.credits).map(({ key, credits }) => [key, credits]));

test("antes, bets and matches come into the hand pot, and go out of it line by line", () => {
  const { credits, sure } = spike(
    [100, 100, 100],
    ["1 bets 10", "2 raises to 30", "3 folds", "1 matches the bet", "settles the hand", "1 wins 66 from the hand pot", "1 wins 6 from the Sabacc Pot"],
    { finishingStacks: { amounts: ["138", "66", "96"] } },
  );
  assert.equal(sure, true);
  assert.deepEqual(credits.map(pots), [
    { main: 6, sabacc: 6 }, { main: 16, sabacc: 6 }, { main: 46, sabacc: 6 }, { main: 46, sabacc: 6 }, { main: 66, sabacc: 6 },
    { main: 66, sabacc: 6 }, { sabacc: 6 }, {},
  ]);
  assert.deepEqual(credits.map(({ seats }) => seats.get(1).stack), [96, 86, 86, 86, 66, 66, 132, 138]);
  assert.equal(changeWords(credits[1], "spike"), "Hand pot 16 (+10)");
  assert.equal(changeWords(credits[3], "spike"), "");
});

test("who is all-in makes a side pot, which is paid on its own", () => {
  const { credits, sure } = spike(
    [14, 34, 100],
    ["1 bets 10", "2 raises to 30", "3 matches the bet", "settles the hand", "1 wins 36 from the hand pot", "3 wins 40 from side pot 1"],
    { finishingStacks: { amounts: ["36", "0", "106"] }, finishingSabaccPot: "6" },
  );
  assert.equal(sure, true);
  assert.deepEqual(credits.map(pots).slice(1), [
    { main: 16, sabacc: 6 }, { main: 26, "side-1": 20, sabacc: 6 }, { main: 36, "side-1": 40, sabacc: 6 }, { main: 36, "side-1": 40, sabacc: 6 },
    { "side-1": 40, sabacc: 6 }, { sabacc: 6 },
  ]);
  assert.deepEqual(potsAt(credits[4], "spike").map(({ name }) => name), ["Main pot", "Side pot 1", "Sabacc Pot"]);
});

test("what a fold costs is in the Sabacc Pot from the fold on, and is not taken twice", () => {
  const { credits, sure } = spike(
    [100, 100],
    ["1 folds (the clock ran out)", "settles the hand", "1 pays 4 into the Sabacc Pot", "2 wins 4 from the hand pot"],
    { finishingStacks: { amounts: ["92", "100"] }, finishingSabaccPot: "8" },
  );
  assert.equal(sure, true);
  assert.deepEqual(credits.map(pots).map(({ sabacc }) => sabacc), [4, 8, 8, 8, 8]);
});

test("who left folds at their turn without a line, and a round ends without them", () => {
  const { credits, sure } = spike(
    [100, 100, 100],
    ["1 bets 10", "3 leaves the table", "2 matches the bet", "1 bets 5", "2 matches the bet", "settles the hand", "2 wins 36 from the hand pot"],
    { finishingStacks: { amounts: ["81", "117", "96"] }, finishingSabaccPot: "6" },
  );
  assert.equal(sure, true);
  assert.equal(credits.at(-3).pots[0].credits, 36);
});

test("a carried pot is in the main pot when it is paid out, and what nobody won is carried on", () => {
  const { credits, sure } = spike(
    [100, 100],
    ["settles the hand", "1 wins 5 from the hand pot", "carries 8 over to the next hand", "takes 1 for the house"],
    { carriedPot: "10", finishingStacks: { amounts: ["101", "96"] }, finishingSabaccPot: "4", finishingCarriedPot: "8" },
  );
  assert.equal(sure, true);
  assert.deepEqual(credits.map(pots).slice(1), [
    { main: 4, sabacc: 4, carried: 10 }, { main: 9, sabacc: 4 }, { main: 1, sabacc: 4, carried: 8 }, { sabacc: 4, carried: 8 },
  ]);
});

test("a hand that came to nothing gives everything back", () => {
  const { credits } = spike([100, 100], ["1 bets 10", "aborts the hand. The hand came to nothing"], { sabaccPot: "7" });
  assert.deepEqual(pots(credits.at(-1)), { sabacc: 7 });
  assert.equal(credits.at(-1).seats.get(1).stack, 100);
});

test("where the end is another than the history's, the pots are not told", () => {
  const { sure } = spike([100, 100], ["settles the hand", "1 wins 4 from the hand pot"], { finishingStacks: { amounts: ["101", "96"] }, finishingSabaccPot: "4" });
  assert.equal(sure, false);
});

const VERBS = { bet: "bets", raise: "raises to", match: "matches the bet", check: "checks", fold: "folds", junk: "junks the hand", leave: "leaves the table", "call-hand": "calls the hand", stand: "stands" };
const POTS = (name) => (name === "main" ? "the hand pot" : name === "credits" ? "the credits pot" : name === "sabacc" ? "the Sabacc Pot" : `side pot ${name.slice(5)}`);
/** Lines of a settlement, as a story has them. */
const SETTLED = [
  [/^returned (\d+)$/, (_, n) => `gets back ${n} that nobody matched`],
  [/^pays sabacc (\d+)( short \d+)?$/, (_, n) => `pays ${n} into the Sabacc Pot`],
  [/^wins (\S+) (\d+)$/, (_, pot, n) => `wins ${n} from ${POTS(pot)}`],
  [/^(\S+) moves sabacc (\d+)$/, (_, pot, n) => `moves ${n} from ${POTS(pot)}, which nobody won, to the Sabacc Pot`],
  [/^pot carries (\d+)$/, (_, n) => `carries ${n} over to the next hand`],
  [/^rake (\d+)$/, (_, n) => `takes ${n} for the house`],
  [/^eliminated$/, () => "is eliminated"],
];

/** Reads a worked hand: the subset of TOML that they are written in. */
function handOf(text) {
  const found = { ruleset: {} };
  const bare = text.split("\n").map((line) => /^((?:[^"#]|"[^"]*")*)/.exec(line)?.[1] ?? "").join(" ").replace(/(\d)_(?=\d)/g, "$1");
  for (const [, key, value] of bare.matchAll(/(?:^|\s)([a-z_.]+) = (\[[^\]]*\]|\{[^}]*\}|"[^"]*"|\w+)/g)) {
    const read = JSON.parse(value.replace(/([{,] *)([a-z_]+) = /g, '$1"$2": ').replace(/,(\s*[\]}])/g, "$1"));
    if (key.startsWith("ruleset.")) found.ruleset[key.slice(8)] = read;
    else found[key] = read;
  }
  return found;
}

test("every worked hand ends with what its history says, and no credit comes from nowhere", () => {
  let hands = 0;
  for (const variant of Object.keys(ANTES)) {
    for (const file of fs.readdirSync(new URL(`${variant}/`, GOLDEN))) {
      const hand = handOf(fs.readFileSync(new URL(`${variant}/${file}`, GOLDEN), "utf8"));
      const seat = (player) => hand.seats[Number(player) - 1];
      const story = hand.actions.flatMap((action) => {
        const [, player, verb, rest] = /^p(\d+) (\S+) ?(.*?)( # clock)?$/.exec(action) ?? [];
        return VERBS[verb] ? [`${seat(player)} ${VERBS[verb]}${/^(bet|raise)$/.test(verb) ? ` ${rest}` : ""}`] : [];
      });
      const settled = hand.settlement.map((line) => {
        const [, player, rest = line] = /^p(\d+) (.*)$/.exec(line) ?? [];
        const [form, words] = SETTLED.find(([one]) => one.test(rest)) ?? assert.fail(`${file}: ${line}`);
        return `${player ? `${seat(player)} ` : ""}${words(...form.exec(rest))}`;
      });
      const given = Object.entries(hand.ruleset).map(([name, value]) => ({ name, [typeof value === "number" ? "number" : "text"]: String(value) }));
      const history = {
        variant, seats: hand.seats.map(String), startingStacks: hand.starting_stacks.map(String), sabaccPot: String(hand.sabacc_pot ?? 0), carriedPot: String(hand.carried_pot ?? 0),
        finishingStacks: { amounts: hand.finishing_stacks.map(String) }, finishingSabaccPot: String(hand.finishing_sabacc_pot ?? 0), finishingCarriedPot: String(hand.finishing_carried_pot ?? 0),
      };
      const { credits, sure } = creditsOf(stepsOf([...story, "settles the hand", ...settled]), history, antesOf(variant, given, defaultsOf(variant), hand.sabacc_pot ?? 0));
      assert.equal(sure, true, `${variant}/${file}: ${JSON.stringify(credits.at(-1).pots)} ${JSON.stringify([...credits.at(-1).seats.values()])} ${JSON.stringify(hand)}`);
      const before = [...hand.starting_stacks, hand.sabacc_pot ?? 0, hand.carried_pot ?? 0].reduce((sum, one) => sum + one, 0);
      const house = Number(/^rake (\d+)$/.exec(hand.settlement.at(-1) ?? "")?.[1] ?? 0);
      credits.forEach((now, at) => {
        const parts = [...now.pots.map((one) => one.credits), ...[...now.seats.values()].map((one) => one.stack)];
        assert.ok(parts.every((one) => one >= 0), `${variant}/${file} at ${at}: ${parts}`);
        const sum = parts.reduce((all, one) => all + one, 0);
        assert.equal(sum, before - (house && at === credits.length - 1 ? house : 0), `${variant}/${file} at ${at}`);
      });
      hands += 1;
    }
  }
  assert.ok(hands > 180, String(hands));
});
