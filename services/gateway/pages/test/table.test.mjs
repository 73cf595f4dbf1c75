// A followed table whose stream breaks: it goes on from the last token, and says how old it is meanwhile.

import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { setRoom } from "../api/connect.js";
import { followTable } from "../store/table.js";

const frame = (message) => {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, text]);
};
const update = (sequence, what = { seed: {} }) => ({ update: { sequence: String(sequence), recordTime: "2026-11-27T22:00:00Z", ...what }, resumeToken: `t${sequence}` });
const snapshot = (sequence, more = {}) => ({ snapshot: { tableId: "t", sequence: String(sequence), ...more } });
const LIVE = { caughtUp: {}, resumeToken: "t1" };

// A room that says each list of messages to one stream after the other; those but the last break.
async function room(streams) {
  const tokens = [];
  const server = http.createServer(async (request, answer) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    tokens.push(JSON.parse(Buffer.concat(parts).subarray(5).toString()).resumeToken);
    answer.writeHead(200, { "content-type": "application/connect+json" });
    for (const message of streams[tokens.length - 1] ?? []) answer.write(frame(message));
    if (tokens.length < streams.length) setTimeout(() => answer.destroy(), 50);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  setRoom(`http://127.0.0.1:${server.address().port}`);
  return { tokens, close: () => (server.closeAllConnections(), server.close()) };
}

/** Follows until a test holds. */
const until = (table, holds) =>
  new Promise((done) => {
    const look = () => holds() && done();
    for (const name of ["change", "connection"]) table.addEventListener(name, look);
    look();
  });

test("a broken stream goes on from its token, and nothing is missed or repeated", async () => {
  const { tokens, close } = await room([
    [snapshot(1), LIVE, update(2)],
    [update(3), { ...LIVE, resumeToken: "t3" }],
  ]);
  const table = followTable("a");
  const [connections, seen] = [[], []];
  table.addEventListener("connection", () => connections.push([table.connection, table.staleSince !== null]));
  table.addEventListener("change", (event) => seen.push(event.detail.update?.sequence ?? "snapshot"));
  await until(table, () => table.view?.sequence === "3" && table.connection === "live");
  table.close();
  close();
  assert.deepEqual(tokens, ["", "t2"]);
  assert.deepEqual(seen, ["snapshot", "2", "3"]);
  assert.deepEqual(connections, [["live", false], ["stale", true], ["catching up", false], ["live", false]]);
});

test("a stream that ends with its token goes on at once, and nobody is told", async () => {
  const { tokens, close } = await room([
    [snapshot(1), LIVE, { ended: { reason: "END_REASON_TOKEN_EXPIRED" } }],
    [update(2), { ...LIVE, resumeToken: "t2" }],
  ]);
  const table = followTable("d");
  const connections = [];
  table.addEventListener("connection", () => connections.push(table.connection));
  await until(table, () => table.view?.sequence === "2" && table.connection === "live");
  table.close();
  close();
  assert.deepEqual(tokens, ["", "t1"]);
  assert.ok(!connections.includes("stale"));
});

test("a missing update is no place to go on from: the table is shown anew", async () => {
  const { tokens, close } = await room([[snapshot(1), LIVE, update(3)], [snapshot(7), LIVE]]);
  const table = followTable("b");
  await until(table, () => table.view?.sequence === "7");
  table.close();
  close();
  assert.deepEqual(tokens, ["", ""]);
});

test("hands that are over are remembered, the newest first", async () => {
  const hand = (handNo) => ({ handNo, settlement: [{ seat: 1, kind: "SETTLEMENT_KIND_WINS" }], phase: "HAND_PHASE_OVER" });
  const { close } = await room([
    [
      snapshot(1, { handNo: "4", hand: hand("4") }),
      LIVE,
      update(2, { entropy: { handNo: "5" } }),
      update(3, { voided: { handNo: "5", cause: "ABORT_CAUSE_WITHHELD" } }),
      update(4, { handStarted: { handNo: "6", seats: [{ seat: 1 }] } }),
      update(5, { handEnded: { handNo: "6", settlement: [], rakeCredits: "3" } }),
    ],
  ]);
  const table = followTable("c");
  await until(table, () => table.view?.sequence === "5");
  table.close();
  close();
  const last = table.lastHands.map(({ handNo, voided, rakeCredits, endMs }) => [handNo, voided !== null, rakeCredits, endMs !== null]);
  assert.deepEqual(last, [["6", false, "3", true], ["5", true, "0", true], ["4", false, "0", false]]);
});

test("a table is not shown as it was before what was seen already: the stream is stale until it is as new", async () => {
  const { tokens, close } = await room([[snapshot(5), LIVE, update(7)], [snapshot(3), LIVE], [snapshot(8), LIVE]]);
  const table = followTable("e");
  const [seen, connections] = [[], []];
  table.addEventListener("change", () => seen.push(table.view.sequence));
  table.addEventListener("connection", () => connections.push(table.connection));
  await until(table, () => table.view?.sequence === "8" && table.connection === "live");
  table.close();
  close();
  assert.deepEqual([seen, tokens], [["5", "8"], ["", "", ""]]);
  assert.deepEqual(connections.slice(0, 3), ["live", "stale", "catching up"]);
});

test("what cannot be taken in makes the stream stale, and it begins anew", async (t) => {
  t.mock.method(console, "error", () => {});
  const { tokens, close } = await room([[snapshot(1), LIVE, update(2, { handEnded: { standing: { seats: 5 } } })], [snapshot(7), LIVE]]);
  const table = followTable("f");
  const connections = [];
  table.addEventListener("connection", () => connections.push(table.connection));
  await until(table, () => table.view?.sequence === "7" && table.connection === "live");
  table.close();
  close();
  assert.deepEqual(tokens, ["", ""]);
  assert.deepEqual(connections, ["live", "stale", "catching up", "live"]);
});
