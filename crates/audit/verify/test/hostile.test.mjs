// Files of whoever means harm: refused or failed, and nothing of an earlier file stays on the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bytesOf, judge, modules, parseBundle, readFile, reportOn, trusted } from "./built.mjs";
import { fileOf, newDocument } from "./dom.mjs";
import { ROOM, TRUST, cosigned, forged, opened, recordsOf, signed, varint, witnessKey, wrap } from "./forge.mjs";

const { concat, shown, utf8 } = modules["bytes.js"];
const { decode } = modules["proto.js"];
const { openCheckpoint, parseKey, keyText } = modules["note.js"];
const { readRules, canonicalText, makeRules } = modules["rules/ruleset.js"];
const { MAX_FILE } = modules["bundle.js"];

const HAND = "everybody-reveals";
const failedOf = ({ checks }) => checks.filter(({ verdict }) => verdict === "failed").map(({ check }) => check);
const contentsOf = (bytes) => decode("HandBundle", bytes).contents;

test("nothing in a text is unseen", () => {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const letter = String.fromCodePoint(code);
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(letter)) assert.equal(shown(letter), `\\u{${code.toString(16)}}`);
  }
  assert.equal(shown("Seat 1 \u2212 \u201ca\u201d \u{1f0a1}"), "Seat 1 \u2212 \u201ca\u201d \u{1f0a1}");
});

test("a crowd of hashes is refused", async () => {
  const log = (name, count) => concat([10, name.length], utf8(name), new Uint8Array(2 * count).map((_, at) => (at % 2 ? 0 : 42)));
  const logs = ["table", "dealer", "wallet"].map((name, at) => log(name, at === 0 ? 500000 : 0));
  const listed = logs.map((bytes) => concat([26], varint(bytes.length), bytes));
  const contents = concat([8, 2, 18, 16], new Uint8Array(16), ...listed);
  await assert.rejects(parseBundle(await wrap(contents)), /at most 500000 records and hashes/);
});

test("a large file is refused before it is read", async () => {
  let read = false;
  const file = { name: "a.sabacc", size: MAX_FILE + 1, arrayBuffer: () => (read = true) };
  assert.match((await readFile(file)).why, /larger than/);
  assert.equal(read, false);
  await assert.rejects(parseBundle(new Uint8Array(MAX_FILE + 1)), /larger than/);
});

test("a newer room is told from a damaged file", async () => {
  const contents = contentsOf(bytesOf(`${HAND}.sabacc`));
  const newer = /^written by a newer room: take its verify\.html$/;
  for (const made of [concat(Uint8Array.of(8, 3), contents.subarray(2)), Uint8Array.of(8, 0x80, 1, 255, 255)])
    await assert.rejects(parseBundle(wrap(made)), ({ message }) => newer.test(message));
  await assert.rejects(parseBundle(wrap(contents.subarray(2))), /format 0/);
  for (const cut of [[], [8], [8, ...Array(11).fill(255)]])
    await assert.rejects(parseBundle(wrap(Uint8Array.from(cut))), modules["bundle.js"].NotABundle);
});

test("a number has ten bytes and 64 bits at most", () => {
  const most = concat(Uint8Array.of(8), varint((1n << 64n) - 1n));
  assert.equal(decode("LogRecord", most).position, (1n << 64n) - 1n);
  for (const bytes of [
    [...Array(9).fill(255), 2],
    [...Array(10).fill(128), 1],
    [...Array(1000).fill(255), 1],
  ])
    assert.throws(() => decode("LogRecord", Uint8Array.of(8, ...bytes)));
});

test("there are not too many parts", async () => {
  const { Budget } = modules["proto.js"];
  const many = new Uint8Array(2000000).map((_, at) => (at % 2 === 0 ? 0x12 : 0));
  assert.throws(() => decode("CardsMoved", many), /too many parts/);
  assert.throws(() => decode("OperationResult", Uint8Array.of(0x12, 4, 1, 1, 1, 1), new Budget(3)), /too many parts/);
  const hand = opened(HAND);
  const card = { op: 0, position: 0, card: "", salt: new Uint8Array() };
  for (const { event } of recordsOf(hand, "CardsMoved").slice(0, 2)) event.cards = Array(250000).fill(card);
  await assert.rejects(parseBundle(await forged(hand)), /too many parts/);
});

test("a reason is not as long as what it quotes", async () => {
  const hand = opened(HAND);
  recordsOf(hand, "HandSettled")[0].event.lines[0].text = "x".repeat(100000);
  const made = await reportOn(await forged(hand), TRUST);
  assert.deepEqual(failedOf(made), ["settlement"]);
  assert.ok(made.checks.every(({ why = "" }) => why.length < 2100));
});

test("a checkpoint's size and letters have bounds", async () => {
  const root = Buffer.alloc(32).toString("base64");
  const key = ROOM.table;
  const of = (size, more = "") => openCheckpoint(signed(`${key.name}\n${size}\n${root}\n${more}`, key), key);
  for (const size of ["9".repeat(20), "9".repeat(21), "9".repeat(1000000), String(2n ** 63n), "01", "", "-1", "\u0661", "0"])
    await assert.rejects(of(size), size.slice(0, 30));
  assert.equal((await of(2n ** 63n - 1n)).size, 2n ** 63n - 1n);
  for (const control of ["\0", "\t", "\r", "\u001f", "\u007f"]) await assert.rejects(of(7, `more${control}\n`));
  assert.equal((await of(7, "more\u0080\u2028\n")).size, 7n);
  await assert.rejects(parseKey(await keyText("a\u007fb", key.key)));
  const under = (name, note) => (name === "table" ? signed(`${key.name}\n${"9".repeat(5000)}\n${root}\n`, key) : note);
  const made = await reportOn(await forged(opened(HAND), { under }), TRUST);
  assert.deepEqual([made.verdict, failedOf(made)], ["failed", ["inclusion"]]);
});

test("rules of too many rounds are refused", async () => {
  const text = canonicalText(makeRules("dice", {}));
  for (const list of ['"a"', "[[]]", '["a",]', "[".repeat(100000)])
    assert.throws(() => readRules(canonicalText(makeRules("kessel", {})).replace("[]", list)), list.slice(0, 9));
  for (const rounds of ["1001", "9".repeat(20), "9".repeat(1000), "0"])
    assert.throws(() => readRules(text.replace("max_rounds = 12", `max_rounds = ${rounds}`)), rounds);
  const hand = opened("dice-short");
  const { event } = recordsOf(hand, "HandOpened")[0];
  event.rule_set = event.rule_set.replace(/max_rounds = \d+/, "max_rounds = 1000000000");
  assert.deepEqual(failedOf(await reportOn(await forged(hand), TRUST)), ["commitment", "decisions", "start"]);
});

// Events as no service writes them, straight into the checks: nothing may come out but a report.
test("a check that breaks down fails", async () => {
  for (const [kind, break_] of [
    ["HandOpened", ({ event }) => (event.roster = null)],
    ["CardsOpened", ({ event }) => (event.opening = { cards: 7 })],
    ["TransferPosted", ({ event }) => (event.legs = undefined)],
    ["SeedSealed", ({ event }) => (event.rows = [null])],
    ["MoveDecided", (record) => (record.event = null)],
    ["HandSettled", ({ event }) => (event.lines = [null])],
  ]) {
    const bundle = await parseBundle(bytesOf(`${HAND}.sabacc`));
    for (const log of ["table", "dealer", "wallet"]) bundle[log].records.filter(({ name }) => name === kind).forEach(break_);
    const [{ report }] = await judge([{ name: "a", bundle }], await trusted());
    assert.equal(report.verdict, "failed", kind);
    assert.equal(report.sentences.length, 3);
  }
  const [{ report }] = await judge([{ name: "a", bundle: { handId: new Uint8Array(16) } }], await trusted());
  assert.equal(report.verdict, "failed");
  assert.equal((await readFile({ name: "a", size: 1, arrayBuffer: async () => null.length })).why !== undefined, true);
});

// ---- The page ----------------------------------------------------------------------------------------------------

async function page() {
  const document = newDocument();
  await modules["page.js"].start();
  const at = (id) => document.getElementById(id);
  const choose = async (id, ...files) => {
    at(id).files = files;
    await at(id).listeners.change();
  };
  return { document, results: at("results"), at, choose };
}

const KEYS = fileOf("keys.txt", bytesOf("keys.txt"));
const GOOD = fileOf("good.sabacc", bytesOf(`${HAND}.sabacc`));

test("the page says the three sentences first", async () => {
  const { results, at, choose } = await page();
  await choose("hands-file", GOOD);
  assert.match(results.textContent, /This file is refused.*Nothing is proved: no keys were given to trust\./);
  assert.doesNotMatch(results.textContent, /passed|checks out/);
  await choose("hands-file", KEYS);
  assert.match(at("keys-state").textContent, /^3 keys: specimen\.example\/table/);
  const text = results.textContent;
  const [title, first, check] = ["All of this hand checks out", "was played to its end", "The seventeen checks"];
  assert.ok(text.indexOf(title) >= 0 && text.indexOf(title) < text.indexOf(first));
  assert.ok(text.indexOf(first) < text.indexOf(check));
  assert.equal(at("state").textContent, "1 proved.");
});

// Over plain HTTP from another machine a browser has no `crypto.subtle`.
test("a page that came over plain HTTP says: save it and open it from disk", async () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  const without = async (location) => {
    Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
    Object.assign(globalThis, { location });
    try {
      const { results, at, choose } = await page();
      const atFirst = at("state").textContent;
      await choose("keys-file", KEYS);
      await choose("hands-file", GOOD);
      assert.doesNotMatch(results.textContent, /passed|checks out/);
      return [atFirst, at("keys-state").textContent, results.textContent];
    } finally {
      Object.defineProperty(globalThis, "crypto", own);
      delete globalThis.location;
    }
  };
  const [atFirst, ...later] = await without({ protocol: "http:" });
  assert.match(atFirst, /^This page came over plain HTTP, .*save it as HTML alone, and open the saved file from disk\.$/);
  for (const text of later) assert.match(text, /efused.*open the saved file from disk/);
  assert.match((await without({ protocol: "file:" }))[0], /^This browser has no cryptography .*another one\.$/);
});

test("nothing of an earlier file stays on the page", async () => {
  const { document, results, at, choose } = await page();
  await choose("keys-file", KEYS);
  const show = async () => {
    await choose("hands-file", GOOD);
    assert.match(results.textContent, /checks out/);
  };
  await show();
  let during;
  await choose("hands-file", {
    name: "good.sabacc",
    size: 10,
    arrayBuffer: async () => {
      during = results.textContent;
      throw new Error("the disk is gone");
    },
  });
  assert.equal(during, "");
  assert.match(results.textContent, /This file is refused.*the disk is gone/);
  assert.doesNotMatch(results.textContent, /checks out/);
  await show();
  const { createElement } = document;
  document.createElement = (name) => {
    if (name === "table") throw new Error("no tables");
    return createElement(name);
  };
  await choose("keys-file", KEYS);
  assert.match(results.textContent, /This hand is not proved.*no tables/);
  document.createElement = createElement;
  await show();
  document.createElement = (name) => {
    if (name === "article") throw new Error("no articles");
    return createElement(name);
  };
  await choose("keys-file", KEYS);
  assert.equal(results.textContent, "");
  assert.match(at("state").textContent, /^Failed, and nothing is proved/);
});

test("refused keys are said so and used for nothing", async () => {
  const { results, at, choose } = await page();
  await choose("keys-file", KEYS);
  await choose("hands-file", GOOD);
  assert.match(results.textContent, /checks out/);
  // A field makes line ends of these; the file is judged as it is.
  const text = new TextDecoder().decode(bytesOf("keys.txt")).replace(/^#.*\n/, "");
  for (const bad of [utf8(text.replaceAll("\n", "\r")), concat(utf8(text), Uint8Array.of(255)), utf8(`\ufeff${text}`)]) {
    await choose("keys-file", fileOf("keys.txt", bad));
    assert.match(at("keys-state").textContent, /^Refused: .*None of these keys is used\.$/);
    assert.match(results.textContent, /Nothing is proved: no keys were given/);
    await choose("keys-file", KEYS);
    assert.match(results.textContent, /checks out/);
  }
});

test("the page asks for a witness where it has witnesses' keys", async () => {
  const { results, at, choose } = await page();
  const one = await witnessKey("one.example");
  const keys = fileOf("room.txt", utf8(Object.values(ROOM).map(({ text }) => `${text}\n`).join("")));
  const under = (_, note) => cosigned(note, one, 5);
  const seen = fileOf("seen.sabacc", await forged(opened(HAND), { under }));
  const unseen = fileOf("unseen.sabacc", await forged(opened(HAND)));
  const watchers = fileOf("watchers.txt", utf8(`${one.text}\n`));
  await choose("hands-file", keys, watchers, seen);
  assert.match(at("witness-keys-state").textContent, /^One key: one\.example/);
  assert.match(results.textContent, /; 1 of 1 trusted witnesses signed the checkpoints/);
  assert.match(results.textContent, /checks out/);
  const other = await page();
  await other.choose("keys-file", keys);
  await other.choose("witness-keys-file", watchers);
  await other.choose("hands-file", unseen);
  assert.match(other.results.textContent, /This hand is not finished/);
  await other.choose("witness-keys-file", fileOf("w", Uint8Array.of(255)));
  assert.match(other.results.textContent, /This hand is not finished/);
});

test("files that are dropped together are judged together", async () => {
  const { document, results, at, choose } = await page();
  await choose("keys-file", fileOf("room.txt", utf8(Object.values(ROOM).map(({ text }) => `${text}\n`).join(""))));
  const fork = opened(HAND);
  recordsOf(fork, "HandFinished")[0].recorded_at_micros += 1n;
  const files = [fileOf("a.sabacc", await forged(opened(HAND))), fileOf("b.sabacc", await forged(fork))];
  document.listeners.drop({ dataTransfer: { types: ["Files"], files }, preventDefault() {} });
  while (!/\.$/.test(at("state").textContent)) await new Promise((done) => setTimeout(done, 20));
  assert.equal(at("state").textContent, "2 failed.");
  assert.match(results.textContent, /a\.sabacc contradicts it/);
  assert.match(results.textContent, /b\.sabacc contradicts it/);
});
