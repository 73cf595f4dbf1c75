// The published figures of how chance is made, and strict signatures.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fromHex, hex, number, utf8, uuid } from "../bytes.js";
import { isGoodPoint, sha256, verifyEd25519 } from "../digest.js";
import * as fair from "../fair.js";
import { BadSettings, readSettings, scaled } from "../settings.js";

const bytes = (count, value) => new Uint8Array(count).fill(value);
const range = (count) => Uint8Array.from({ length: count }, (_, at) => at);
const TABLE = range(16);
const SEED = range(64);

async function hand() {
  const context = await fair.contextOf("sabacc.example/room1", TABLE, 7, await sha256(utf8("rules")));
  const dealer = await fair.dealerCommitment(context, SEED);
  const rows = [];
  for (const [seat, player, entropy, status] of [
    [1, 0xa1, 0x11, 1],
    [3, 0xa2, 0x22, 1],
    [4, 0xa3, 0x33, 2],
  ]) {
    const commitment = await fair.clientCommitment(context, dealer, seat, bytes(16, player), bytes(32, entropy));
    rows.push({
      seat,
      player: bytes(16, player),
      status,
      commitment,
      entropy: status === 1 ? bytes(32, entropy) : bytes(32, 0),
    });
  }
  const transcript = await fair.transcriptOf(context, dealer, rows);
  return { context, dealer, transcript, keys: await fair.handKeys(transcript, SEED) };
}

test("commitments, transcript and keys are the published ones", async () => {
  const { context, dealer, transcript, keys } = await hand();
  assert.equal(hex(context), "9d9aeb6be9e330227590a61d02bbb8c483f4f1d7c779cc7d462329a443d2403f");
  assert.equal(hex(dealer), "d56d4c8460dd1b4824c86abe4b2cc4cb8c7686d84e1532f6b9788c5d68031c17");
  assert.equal(hex(transcript), "e1db4a15128673ea790269da500033052752d3f9bc8575e28447445d1d91a101");
  assert.equal(
    hex(keys.hand),
    "7d2d37eda17ec07f0112222ce4a05318351a6535a0b5d2ff480caa9dcbc51ab5f5da0033e15221619a82edb49c3a8e16ac6081e84dae6c5743827866a86184a9",
  );
  assert.equal(
    hex(keys.salt),
    "d1d7d16a25454766a36ea39f862f4d885bfa23a4389802542f9abc68f6482f630f1acd779d26e90bf3c580ad8d1893506e247dbd6817be28b621ef3233530ce2",
  );
});

test("closing, rules and decisions are the published ones", async () => {
  const { context, dealer, transcript } = await hand();
  const row = async (seat, player, entropy) => ({
    seat,
    player: bytes(16, player),
    commitment: await fair.clientCommitment(context, dealer, seat, bytes(16, player), bytes(32, entropy)),
  });
  const rows = [await row(1, 0xa1, 0x11), await row(3, 0xa2, 0x22), await row(4, 0xa3, 0x33)];
  const closing = await fair.closingOf(context, dealer, rows);
  assert.equal(hex(closing), "110d669db6a927afc762325011f2f5e3510654b22e8705d5181203beedbcdae3");
  rows[2].commitment = new Uint8Array();
  assert.equal(
    hex(await fair.closingOf(context, dealer, rows)),
    "ff9f3aedcafc5b8ea3880983a29a9141cebe4d0c08819feb491f0756045d7a23",
  );
  assert.equal(
    hex(await fair.rulesHash("rules", "settings")),
    "a797b917abf11a2503d4d5f63396bf5777b0944505a76d914128606d4756fb38",
  );
  const bet = await fair.decisionOf(transcript, false, "p1 bet 20");
  assert.equal(hex(bet), "8e8b112aa4528d6f97b8c40d37c7146ea5a7d876af9eca2b836ad4d9287de267");
  assert.equal(
    hex(await fair.decisionOf(bet, true, "p2 fold")),
    "b79629080170a4c1551c455aeb47b0554a700c2ffbce370b7ca27b6260672569",
  );
  const player = bytes(16, 0xa1);
  for (const [text, tag, ...fields] of [
    [
      "0929b2833989b665b34957fa219356e6f42b86cd0cf8f98b2f94f5c30e5fed41",
      "dealer-commit-sig",
      ...[utf8("sabacc.example/room1"), TABLE, number(7, 8), await sha256(utf8("rules")), dealer],
    ],
    [
      "a19a3b2007dbc9208926fbfb1085c6323ca271eb9424249b9be5b9c3bd45586c",
      "receipt-sig",
      ...[context, dealer, number(1, 1), player, rows[0].commitment, range(32), number(5, 8)],
    ],
    ["740b421b6f788b717fd1236858cf3a745498d4b9b08a6f79cca821208573aa20", "closing-sig", context, dealer, closing],
    [
      "eb3eb00ba830805d8c224c0b6c04a22e1de30f97564cd456698b40e45ac3fa10",
      "reveal-receipt-sig",
      ...[context, dealer, number(1, 1), player, bytes(32, 0x11), number(6, 8)],
    ],
    [
      "fcca444da27388a097ba9cb04a94385b4c906c5f889ba40e8a761847df6dc3d9",
      "decision-sig",
      ...[context, bet, utf8("p1 bet 20")],
    ],
    [
      "55391d9e21ac90a1e90e0573f71aa60ca4742f210da552f0238b75b275cbe693",
      "decision-receipt-sig",
      ...[context, bet, number(9, 8)],
    ],
  ])
    assert.equal(hex(await sha256(fair.signedText(tag, bytes(8, 7), ...fields))), text, tag);
});

test("settings have one spelling, and bounds", () => {
  const text =
    "action_seconds = 20\nbank_seconds = 30\ncommit_ms = 2000\ncontributors_min = 1\n" +
    'reveal = "at_once"\nreveal_ms = 2000\nsuspend_hours = 2\n';
  assert.equal(readSettings(text).delay_seconds, 0);
  assert.equal(readSettings(text.replace("at_once", "delayed")).delay_seconds, 86400);
  // Of rooms for developers.
  const fixed = text.replace("reveal = ", "insecure_fixed_seed = 1\nreveal = ");
  for (const [marked, seed, scale] of [[text, 0, 1], [fixed, 1, 1], [`${fixed}time_scale = 20\n`, 1, 20]]) {
    const read = readSettings(marked);
    assert.deepEqual([read.insecure_fixed_seed, read.time_scale], [seed, scale]);
    assert.equal(scaled(read, 1030000n), (1030n / BigInt(scale)) * 1000n);
  }
  for (const line of ["time_scale = 1", "time_scale = 101", "time_scale = 020"])
    assert.throws(() => readSettings(`${text}${line}\n`), BadSettings, line);
  assert.throws(() => readSettings(fixed.replace("seed = 1", "seed = 0")), BadSettings);
  for (const [from, to] of [
    ...[["= 20\n", "= 020\n"], ["= 20\n", "= +20\n"], ["= 20\n", "=20\n"], ["= 20\n", "= 20\r\n"], ["at_once", "later"]],
    ...[["commit_ms = 2000\n", ""], ["= 2\n", "= 2"], ["= 2\n", "= 2\n\n"], ["= 20\n", "= 0\n"], ["= 20\n", "= 601\n"]],
    ...[["= 30", "= 601"], ["commit_ms = 2000", "commit_ms = 499"], ["\nreveal_ms = 2000", "\nreveal_ms = 10001"]],
    ...[["= 1\n", "= 9\n"], ["= 2\n", "= 0\n"], ["= 2\n", "= 169\n"], ["= 20\n", '= "20"\n'], ['"at_once"', "at_once"]],
    ...[["= 20\n", "= \u0662\n"], ["= 20\n", `= ${"9".repeat(900)}\n`], ["= 20\n", "= -1\n"], ["= 20\n", "= 20"]],
  ]) {
    assert.notEqual(text.replace(from, to), text);
    assert.throws(() => readSettings(text.replace(from, to)), BadSettings, `${from} ${to}`);
  }
});

test("operations are the published ones", async () => {
  const { keys } = await hand();
  const cards = await fair.shuffle(keys, 0, 0, [...range(76)]);
  assert.deepEqual(cards.slice(0, 12), [44, 19, 58, 60, 70, 56, 33, 55, 30, 49, 73, 68]);
  assert.equal(
    hex((await fair.deckOf(keys, 0, cards)).root),
    "e5ac9fb5845ab6e4f2f65fdafaf2ea28ad7105e6fd0c822404eff59b169a6ae6",
  );
  assert.deepEqual(await fair.roll(keys, 1, [6, 6]), [5, 3]);
  assert.equal(await fair.pulse(keys, 2, 100000), 0);
  assert.equal(await fair.pick(keys, 3, 4), 3);
  assert.deepEqual(await fair.sample(keys, 4, 16, 3), [8, 10, 3]);
});

test("a hand has its id", async () => {
  assert.equal(uuid(await fair.handIdOf(TABLE, 7)), "0b2caa25-49c2-8deb-a510-3393a082dc33");
});

test("signatures are checked strictly", async () => {
  const pair = await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]);
  const key = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const message = utf8("what is signed");
  const signature = new Uint8Array(await crypto.subtle.sign({ name: "Ed25519" }, pair.privateKey, message));
  assert.equal(await verifyEd25519(key, message, signature), true);
  for (const [at, bit] of [
    [0, 1],
    [31, 128],
    [32, 1],
    [63, 16],
  ]) {
    const wrong = signature.slice();
    wrong[at] ^= bit;
    assert.equal(await verifyEd25519(key, message, wrong), false, `byte ${at}`);
  }
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  let s = 0n;
  for (let at = 63; at >= 32; at -= 1) s = (s << 8n) | BigInt(signature[at]);
  const second = signature.slice();
  for (let at = 32, rest = s + order; at < 64; at += 1, rest >>= 8n) second[at] = Number(rest & 255n);
  assert.equal(await verifyEd25519(key, message, second), false, "S + L is a second spelling");
  const neutral = bytes(32, 0);
  neutral[0] = 1;
  const nothing = bytes(64, 0);
  nothing[0] = 1;
  assert.equal(await verifyEd25519(neutral, message, nothing), false, "a key of small order signs nothing");
});

test("points have one spelling", () => {
  assert.equal(isGoodPoint(fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")), true);
  for (const bad of ["ed", "ee", "f0"]) assert.equal(isGoodPoint(fromHex(bad + "ff".repeat(30) + "7f")), false, bad);
  const small = ["00".repeat(32), "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"];
  for (const point of small) assert.equal(isGoodPoint(fromHex(point)), false, point);
});
