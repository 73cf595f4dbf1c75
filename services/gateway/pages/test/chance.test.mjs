// Chance, against the vectors of crates/fairness and the worked example of FAIRNESS.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { base64 } from "../api/ids.js";
import { concat, fromHex, hex, sha256, utf8 } from "../chance/bytes.js";
import { DECKS, proveCard } from "../chance/cards.js";
import { chainWith, Decisions } from "../chance/decisions.js";
import * as fair from "../chance/fair.js";
import { linesOf } from "../chance/lines.js";
import { rootOfShuffle } from "../chance/order.js";

const vectors = JSON.parse(readFileSync(new URL("../../../../crates/fairness/vectors/v1.json", import.meta.url), "utf8"));
const STATUSES = ["", "ENTROPY_STATUS_REVEALED", "ENTROPY_STATUS_WITHHELD", "ENTROPY_STATUS_ABSENT"];
const uuid = (text) => text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
const b64 = (text) => base64(fromHex(text));
const digest = async (bytes) => hex(await sha256(bytes));

// The worked example of crates/fairness/SPEC.md section 11.
const TABLE = uuid("000102030405060708090a0b0c0d0e0f");
const SEED = Uint8Array.from({ length: 64 }, (_, at) => at);
const PLAYERS = { 1: uuid("a1".repeat(16)), 3: uuid("a2".repeat(16)), 4: uuid("a3".repeat(16)) };
const example = async () => {
  const rules = await sha256(utf8("rules"));
  const context = await sha256(fair.contextInput("sabacc.example/room1", TABLE, "7", rules));
  return { rules, binding: { context, dealer: await sha256(fair.seedInput(context, SEED)) } };
};
const numberOf = (binding, seat, byte) =>
  sha256(fair.commitmentInput(binding, { seat, playerId: PLAYERS[seat] }, new Uint8Array(32).fill(byte)));

test("context, dealer's commitment and transcript are those of the vectors", async () => {
  const sequences = vectors.sequences.filter(({ beacon }) => beacon === null).slice(0, 200);
  assert.ok(sequences.length > 50);
  for (const { origin, table, hand_no, rules, seed, rows, ctx, dc, tr } of sequences) {
    const context = await sha256(fair.contextInput(origin, uuid(table), hand_no, fromHex(rules)));
    const dealer = await sha256(fair.seedInput(context, fromHex(seed)));
    const told = rows.map(({ seat, player, status, commitment, entropy }) => ({
      seat,
      playerId: uuid(player),
      status: STATUSES[status],
      commitment: b64(commitment ?? ""),
      entropy: b64(entropy ?? ""),
    }));
    assert.equal(hex(context), ctx);
    assert.equal(hex(dealer), dc);
    assert.equal(await digest(fair.transcriptInput({ context, dealer }, told)), tr);
  }
});

test("commitments and closings are those of the worked example", async () => {
  const { binding } = await example();
  assert.equal(hex(binding.context), vectors.published.ctx);
  assert.equal(hex(binding.dealer), vectors.published.dc);
  assert.equal(hex(await numberOf(binding, 1, 0x11)), "7a07de15eb3a9a962f85709ff77027dd235694898d7ecc7808031bfdf1460f21");
  const row = async (seat, byte) => ({ seat, playerId: PLAYERS[seat], commitment: base64(await numberOf(binding, seat, byte)) });
  const rows = [await row(1, 0x11), await row(3, 0x22), await row(4, 0x33)];
  assert.equal(await digest(fair.closingInput(binding, rows)), "110d669db6a927afc762325011f2f5e3510654b22e8705d5181203beedbcdae3");
  rows[2] = { seat: 4, playerId: PLAYERS[4] };
  assert.equal(await digest(fair.closingInput(binding, rows)), "ff9f3aedcafc5b8ea3880983a29a9141cebe4d0c08819feb491f0756045d7a23");
  assert.equal(hex(await fair.rulesHash("rules", "settings")), "a797b917abf11a2503d4d5f63396bf5777b0944505a76d914128606d4756fb38");
});

test("signed texts are those of the worked example", async () => {
  const { rules, binding } = await example();
  const signed = { keyId: b64("07".repeat(8)) };
  const commitment = base64(await numberOf(binding, 1, 0x11));
  const place = { seat: 1, playerId: PLAYERS[1] };
  const chain = await chainWith(fromHex(vectors.published.tr), "p1 bet 20");
  const key = Uint8Array.from({ length: 32 }, (_, at) => at);
  const closing = base64(fromHex("110d669db6a927afc762325011f2f5e3510654b22e8705d5181203beedbcdae3"));
  const texts = [
    fair.promiseText(TABLE, "7", rules, { ...signed, origin: "sabacc.example/room1", commitment: base64(binding.dealer) }),
    fair.commitReceiptText(binding, { ...signed, ...place, commitment, playerKey: base64(key), position: "5" }),
    fair.closingText(binding, { ...signed, closing }),
    fair.revealReceiptText(binding, { ...signed, ...place, entropy: b64("11".repeat(32)), position: "6" }),
    fair.decisionText(binding.context, chain, "p1 bet 20", fromHex("07".repeat(8))),
    fair.decisionReceiptText(binding.context, { ...signed, chain: base64(chain), position: "9" }),
  ];
  const hashes = await Promise.all(texts.map(digest));
  assert.deepEqual(hashes, [
    "0929b2833989b665b34957fa219356e6f42b86cd0cf8f98b2f94f5c30e5fed41",
    "a19a3b2007dbc9208926fbfb1085c6323ca271eb9424249b9be5b9c3bd45586c",
    "740b421b6f788b717fd1236858cf3a745498d4b9b08a6f79cca821208573aa20",
    "eb3eb00ba830805d8c224c0b6c04a22e1de30f97564cd456698b40e45ac3fa10",
    "fcca444da27388a097ba9cb04a94385b4c906c5f889ba40e8a761847df6dc3d9",
    "55391d9e21ac90a1e90e0573f71aa60ca4742f210da552f0238b75b275cbe693",
  ]);
});

test("decisions go on from each other, by the clock or not, and leaves explain a chain", async () => {
  const decisions = new Decisions("7", [1, 3], fromHex(vectors.published.tr));
  const first = await chainWith(decisions.chain, "p1 bet 20");
  await decisions.follow({ seat: 1, decision: {}, chainLine: "p1 bet 20", chain: base64(first) });
  assert.equal(hex(decisions.chain), "8e8b112aa4528d6f97b8c40d37c7146ea5a7d876af9eca2b836ad4d9287de267");
  const second = "b79629080170a4c1551c455aeb47b0554a700c2ffbce370b7ca27b6260672569";
  const wrong = { seat: 3, decision: {}, chainLine: "p2 fold", chain: b64(second) };
  await assert.rejects(decisions.follow(wrong), /does not go on/);
  await decisions.follow({ ...wrong, byClock: true });
  decisions.leaveAsked(3);
  const withLeave = await chainWith(decisions.chain, "p2 leave");
  assert.equal(hex(await decisions.base(1, hex(withLeave))), hex(withLeave));
  assert.equal(hex(await decisions.leaveBase(1)), hex(withLeave));
  assert.equal(await decisions.base(1, "00".repeat(32)), null);
});

test("every card of piles of any size leads to the root, and no other card does", async () => {
  const key = fromHex(vectors.published.k_salt);
  const order = fromHex(vectors.published.shuffle);
  for (const count of [1, 2, 3, 5, 8, 13, 76]) {
    const pile = await pileOf(key, order.slice(0, count));
    if (count === 76) assert.equal(hex(pile.root), vectors.published.root);
    const root = { op: 0, cards: count, root: base64(pile.root) };
    for (let position = 0; position < count; position += 1) {
      const cardId = order[position];
      const proof = { op: 0, position, cardId, salt: base64(pile.salts[position]), path: base64(pathOf(pile, position)) };
      const proved = await proveCard("dice", DECKS.dice[cardId], proof, root);
      assert.ok(proved.valid && proved.steps.length >= 3, `${position} of ${count}`);
      const others = [
        { ...proof, cardId: (cardId + 1) % 76 },
        { ...proof, position: (position + 1) % 100 },
        { ...proof, path: base64(concat(pathOf(pile, position), new Uint8Array(32))) },
      ];
      for (const other of others) assert.equal((await proveCard("dice", DECKS.dice[other.cardId], other, root)).valid, false);
      assert.equal((await proveCard("dice", DECKS.dice[(cardId + 1) % 76], proof, root)).valid, false);
    }
  }
});

const node = (left, right) => sha256(concat(Uint8Array.of(1), left, right));

// A pile as RFC 6962 has it: the list is split at the greatest power of two below its length.
async function pileOf(key, cards) {
  const salts = await Promise.all([...cards].map((_, position) => fair.saltOf(key, 0, position)));
  const record = (card, position) => fair.cardRecord({ op: 0, position, card, salt: salts[position] });
  const leaves = await Promise.all([...cards].map((card, position) => sha256(concat(Uint8Array.of(0), record(card, position)))));
  return { salts, ...(await treeOf(leaves)) };
}

async function treeOf(leaves) {
  if (leaves.length === 1) return { root: leaves[0], size: 1 };
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [await treeOf(leaves.slice(0, split)), await treeOf(leaves.slice(split))];
  return { root: await node(left.root, right.root), size: leaves.length, left, right };
}

function pathOf({ left, right }, position) {
  if (!left) return new Uint8Array();
  const isRight = position >= left.size;
  const below = isRight ? pathOf(right, position - left.size) : pathOf(left, position);
  return concat(below, isRight ? left.root : right.root);
}

test("the order of a pile follows from the seed, as in the vectors", async () => {
  const transcript = fromHex(vectors.published.tr);
  const cards = Array.from({ length: 76 }, (_, at) => at);
  assert.equal(hex(await fair.handKey(transcript, SEED)), vectors.published.k_hand);
  assert.equal(hex(await rootOfShuffle(transcript, SEED, 0, 0, cards)), vectors.published.root);
  let count = 0;
  for (const { seed, tr, operations } of vectors.sequences.filter(({ beacon }) => beacon === null).slice(0, 60))
    for (const { index, kind, pile, range, cards: listed, root } of operations) {
      if (kind !== "shuffle") continue;
      const from = listed ? [...fromHex(listed)] : Array.from({ length: range[1] }, (_, at) => range[0] + at);
      assert.equal(hex(await rootOfShuffle(fromHex(tr), fromHex(seed), index, pile, from)), root);
      count += 1;
    }
  assert.ok(count > 20);
});

test("packs have as many cards as their games", () => {
  const sizes = Object.fromEntries(Object.entries(DECKS).map(([game, deck]) => [game, deck.length]));
  assert.deepEqual(sizes, { coruscant: 62, dice: 76, electronic: 76, eleven: 42, force: 76, kessel: 44, spike: 62, swg: 76 });
});

test("lines name cards by where they lie, and hide what is secret", () => {
  const card = (code, op, position) => ({ code, proof: { op, position } });
  const own = { order: [5, 2], seat: 2, cards: [card("bI", 0, 3), card("bI", 4, 9), { code: "s1", proof: {} }] };
  const line = (move, legal) => Object.values(linesOf(move, legal, own)).join(" | ");
  assert.equal(line({ kind: "MOVE_KIND_BET", amountCredits: "20" }), "p2 bet 20 | p2 bet 20");
  assert.equal(line({ kind: "MOVE_KIND_CALL_HAND" }), "p2 call-hand | p2 call-hand");
  assert.equal(line({ kind: "MOVE_KIND_DRAW_FROM", names: ["sand"] }), "p2 draw sand | p2 draw sand");
  assert.equal(line({ kind: "MOVE_KIND_SELECT", cards: ["bI", "s1", "bI"] }), "p2 select 0.3 0.0 4.9 | p2 select 0.3 0.0 4.9");
  assert.equal(line({ kind: "MOVE_KIND_TOKEN", names: ["target-audit"], targetSeat: 5 }), "p2 token target-audit p1 | p2 token target-audit p1");
  assert.equal(line({ kind: "MOVE_KIND_CHOOSE", names: ["refund", "embargo", "markdown"] }, { secret: true }), "p2 choose ?? ?? ?? | p2 choose refund embargo markdown");
  assert.equal(line({ kind: "MOVE_KIND_IMPOSTOR", cards: ["bI"], value: 4 }, { secret: true }), "p2 impostor 0.3 ?? | p2 impostor 0.3 4");
  assert.throws(() => line({ kind: "MOVE_KIND_TRADE", cards: ["T4"] }), /do not hold/);
});
