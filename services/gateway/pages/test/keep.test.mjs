// What is kept: evidence as the room's verifier reads it, and a login as a file.

import assert from "node:assert/strict";
import test from "node:test";
import { readEvidence } from "../../../../crates/audit/verify/evidence.js";
import { base64, requestId } from "../api/ids.js";
import { fileOf, loginOf } from "../api/login.js";
import { claimsOf } from "../api/session.js";
import { endedLine, Evidence, evidenceCopy, evidenceFile, hands, noteLine, openLine } from "../chance/evidence.js";
import { closingText, commitmentInput, decisionText, keyIdOf } from "../chance/fair.js";

const PLAYER = "0198f0c2-7a3e-4000-8000-000000000001";
const TABLE = "0198f0c2-7a3e-7000-8000-000000000003";
const binding = { context: new Uint8Array(32).fill(1), dealer: new Uint8Array(32).fill(2) };
const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

async function signed(textOf) {
  const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  const key = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const text = textOf(await keyIdOf(key));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, text));
  return `signed ${base64(text)} ${base64(signature)} ${base64(key)}`;
}

test("the verifier reads the evidence of a hand; a copy hides what is not over", async () => {
  const evidence = new Evidence(PLAYER, TABLE);
  await evidence.keep("8", noteLine("looking on"));
  evidence.isKept = true;
  const number = openLine(commitmentInput(binding, { seat: 3, playerId: PLAYER }, new Uint8Array(32).fill(7)));
  const closing = await signed((keyId) => closingText(binding, { closing: base64(new Uint8Array(32)), keyId: base64(keyId) }));
  const decision = await signed((keyId) => decisionText(binding.context, new Uint8Array(32), "p1 bet 20", keyId));
  await evidence.keep("12", number, closing);
  await evidence.keep("12", decision, number, noteLine("a word"));
  await evidence.keep("9", closing);
  assert.deepEqual(await hands(PLAYER, TABLE), ["9", "12"]);
  const read = async (blob) => readEvidence(await bytesOf(blob));
  const whole = await read(await evidenceFile(PLAYER, TABLE, "12"));
  assert.deepEqual(whole.signed.map(({ tag }) => tag), ["closing-sig", "decision-sig"]);
  assert.equal(whole.numbers.length, 1);
  const early = await read(await evidenceCopy(PLAYER, TABLE, "12"));
  assert.deepEqual([early.signed.length, early.numbers.length], [1, 0]);
  await evidence.keep("12", endedLine(binding.context));
  const late = await read(await evidenceCopy(PLAYER, TABLE, "12"));
  assert.deepEqual([late.signed.length, late.numbers.length], [2, 1]);
});

test("what was told before its player sat down is kept with the first line after, and not given up before it is", async () => {
  const evidence = new Evidence(PLAYER, TABLE);
  await evidence.keep("20", noteLine("a promise"));
  evidence.isKept = true;
  await assert.rejects(evidence.keep("20", ...Array.from({ length: 9000 }, (_, at) => `note ${at} more`)), /more evidence/);
  await evidence.keep("20", noteLine("a number"), noteLine("a number"));
  const lines = (await (await evidenceFile(PLAYER, TABLE, "20")).text()).split("\n");
  assert.deepEqual(lines.map((line) => line.replace(/^note \d+ /, "")), ["sabacc-evidence 1", "a promise", "a number", ""]);
});

const LOGIN = {
  server: "https://room.example",
  playerId: PLAYER,
  name: "Lando",
  roles: ["player"],
  refreshToken: "sabacc_refresh_0a",
  accessToken: "",
  accessEndMs: 0,
};

test("a login is read as it was written, in the form of proto/README.md", async () => {
  const text = await fileOf(LOGIN).text();
  assert.deepEqual(JSON.parse(text), {
    format: "sabacc-login/1",
    server: "https://room.example",
    player_id: PLAYER,
    name: "Lando",
    refresh_token: "sabacc_refresh_0a",
  });
  const open = { ...LOGIN, refreshRequestId: requestId() };
  assert.deepEqual(await loginOf(fileOf(open), LOGIN.server), open);
});

test("no other file is taken for a login of this room", async () => {
  const load = (text, server = LOGIN.server) => loginOf(new Blob([text]), server);
  await assert.rejects(load("{}"), /no login/);
  await assert.rejects(load("x".repeat(5000)), /too long/);
  await assert.rejects(load(await fileOf(LOGIN).text(), "https://other.example"), /is for https:\/\/room.example/);
  await assert.rejects(load((await fileOf(LOGIN).text()).replace(PLAYER, "somebody")), /damaged/);
  await assert.rejects(load((await fileOf(LOGIN).text()).replace(`"${LOGIN.refreshToken}"`, `["${LOGIN.refreshToken}"]`)), /damaged/);
});

test("a token says whose it is", () => {
  const body = btoa(JSON.stringify({ sub: "anna", role: "operator", iat: 1000, exp: 1900 }));
  assert.deepEqual(claimsOf(`x.${body}.y`), { subject: "anna", role: "operator", lifeMs: 900_000, endMs: 1_900_000 });
  assert.throws(() => claimsOf("nonsense"), /no token/);
});
