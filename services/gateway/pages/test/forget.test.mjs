// What may be forgotten of the evidence that is kept, and when.

import assert from "node:assert/strict";
import http from "node:http";
import test, { after, before } from "node:test";
import { setRoom } from "../api/connect.js";
import { session } from "../api/session.js";
import { endedLine, handKey } from "../chance/evidence.js";
import { load, save } from "../keep/database.js";
import { forgetEvidence } from "../pages/parts/evidence.js";

const PLAYER = "0198f0c2-7a3e-4000-8000-00000000000c";
const TABLE = "0198f0c2-7a3e-7000-8000-00000000000d";
let server;
/** What the room answers of the table. */
let answer = {};

before(async () => {
  server = http.createServer((_request, reply) => {
    reply.writeHead(answer.status ?? 200, { "content-type": "application/json" });
    reply.end(JSON.stringify(answer.body ?? { table: answer }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}`;
  setRoom(address);
  await save("login", "login", { server: address, playerId: PLAYER, name: "", roles: ["player"], refreshToken: "", accessToken: "t", accessEndMs: Date.now() + 9e6 });
  const tab = new BroadcastChannel("sabacc-login");
  tab.postMessage("changed");
  for (let left = 100; session.player?.id !== PLAYER && left > 0; left -= 1) await new Promise((done) => setTimeout(done, 5));
  tab.close();
});
after(() => (server.closeAllConnections(), server.close()));

const refusal = (code, reason) => ({ status: 400, body: { code, message: reason, details: [{ type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason } }] } });

/** Whether evidence of hand 7 with these lines is there still after somebody has pressed Forget, and what they are told. */
async function pressed(lines, table) {
  answer = table;
  await save("evidence", handKey(PLAYER, TABLE, "7"), lines);
  const told = await forgetEvidence({ tableId: TABLE, handNo: "7" }).then(() => "", ({ message }) => message);
  return [(await load("evidence", handKey(PLAYER, TABLE, "7"))) !== undefined, told];
}

test("evidence of a hand that is promised, open or played is not forgotten, and words say why", async () => {
  for (const table of [
    { handNo: "6" },
    { handNo: "7", entropy: { handNo: "7" } },
    { handNo: "7", hand: { handNo: "7", phase: "HAND_PHASE_BETTING" } },
  ]) {
    const [isKept, told] = await pressed(["note 1 a word"], table);
    assert.ok(isKept);
    assert.match(told, /Hand 7 is not over/);
  }
  const [isKept] = await pressed(["note 1 a word"], refusal("permission_denied", "ROLE_NOT_ALLOWED"));
  assert.ok(isKept, "where the room does not say, nothing is forgotten");
});

test("evidence of a hand that is over is forgotten, also where its end was not seen", async () => {
  const ended = [endedLine(new Uint8Array(32))];
  for (const [lines, table] of [
    [ended, { handNo: "6" }],
    [["note 1 a word"], { handNo: "7", hand: { handNo: "7", phase: "HAND_PHASE_OVER" } }],
    [["note 1 a word"], { handNo: "9", hand: { handNo: "9", phase: "HAND_PHASE_BETTING" } }],
    [["note 1 a word"], refusal("not_found", "TABLE_UNKNOWN")],
  ])
    assert.deepEqual(await pressed(lines, table), [false, ""]);
});
