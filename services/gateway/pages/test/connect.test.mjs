// Calls and streams over a server of the test's own, which says what the room would.

import assert from "node:assert/strict";
import http from "node:http";
import test, { after, before } from "node:test";
import { call, envelopes, Refusal, setRoom, stream } from "../api/connect.js";
import { requestId } from "../api/ids.js";

const frame = (message, flags = 0) => {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, text]);
};

const REFUSED = {
  code: "failed_precondition",
  message: "the account has fewer credits",
  details: [
    { type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason: "INSUFFICIENT_CREDITS", metadata: { short: "40" } } },
    { type: "google.rpc.BadRequest", debug: { fieldViolations: [{ field: "buy_in_credits", description: "too many" }] } },
    { type: "google.rpc.RetryInfo", debug: { retryDelay: "1.500s" } },
    { type: "google.rpc.RequestInfo", debug: { requestId: "trace" } },
  ],
};
const BUSY = { code: "unavailable", message: "away", details: [{ type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason: "UNAVAILABLE" } }] };

let server;
const requests = [];
const answers = {};

before(async () => {
  server = http.createServer(async (request, answer) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    requests.push({ path: request.url, headers: request.headers, body: Buffer.concat(parts) });
    answers[request.url](answer);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  setRoom(`http://127.0.0.1:${server.address().port}`);
});
after(() => (server.closeAllConnections(), server.close()));

const json = (status, body) => (answer) => {
  answer.writeHead(status, { "content-type": "application/json" });
  answer.end(JSON.stringify(body));
};
const streamed = (write) => (answer) => {
  answer.writeHead(200, { "content-type": "application/connect+json" });
  write(answer);
};

test("a call carries its token and gives the answer", async () => {
  answers["/s.S/Get"] = json(200, { name: "Lando" });
  assert.deepEqual(await call("s.S/Get", { id: "1" }, { token: "t" }), { name: "Lando" });
  const { headers, body } = requests.at(-1);
  assert.equal(headers.authorization, "Bearer t");
  assert.equal(headers["content-type"], "application/json");
  assert.equal(body.toString(), '{"id":"1"}');
});

test("a refusal says everything that the room said", async () => {
  answers["/s.S/Sit"] = json(400, REFUSED);
  const refusal = await call("s.S/Sit", {}).catch((error) => error);
  assert.ok(refusal instanceof Refusal);
  const { code, reason, metadata, retryAfterMs, violations, traceId, message } = refusal;
  assert.deepEqual(
    { code, reason, metadata, retryAfterMs, violations, traceId, message },
    {
      code: "failed_precondition",
      reason: "INSUFFICIENT_CREDITS",
      metadata: { short: "40" },
      retryAfterMs: 1500,
      violations: [{ field: "buy_in_credits", description: "too many" }],
      traceId: "trace",
      message: "the account has fewer credits",
    },
  );
});

test("a call is made again, the same to the byte, while the room is away", async () => {
  let left = 2;
  answers["/s.S/Act"] = (answer) => (left-- > 0 ? json(503, BUSY)(answer) : json(200, { done: true })(answer));
  const first = requests.length;
  assert.deepEqual(await call("s.S/Act", { requestId: "x" }), { done: true });
  const sent = requests.slice(first).map(({ body }) => body.toString());
  assert.deepEqual(sent, ['{"requestId":"x"}', '{"requestId":"x"}', '{"requestId":"x"}']);
});

test("a long wait is the caller's matter", async () => {
  const long = { ...BUSY, code: "resource_exhausted", details: [...BUSY.details, { type: "google.rpc.RetryInfo", debug: { retryDelay: "60s" } }] };
  answers["/s.S/Slow"] = json(429, long);
  const first = requests.length;
  const refusal = await call("s.S/Slow", {}).catch((error) => error);
  assert.equal(refusal.retryAfterMs, 60_000);
  assert.equal(requests.length, first + 1);
});

test("what does not reach the room is unavailable", async () => {
  answers["/s.S/Cut"] = (answer) => answer.destroy();
  const refusal = await call("s.S/Cut", {}, { attempts: 1 }).catch((error) => error);
  assert.deepEqual([refusal.code, refusal.reason, refusal.isPassing], ["unavailable", "", true]);
  answers["/s.S/Html"] = (answer) => (answer.writeHead(502), answer.end("<html>"));
  assert.equal((await call("s.S/Html", {}, { attempts: 1 }).catch((error) => error)).code, "unavailable");
});

test("a stream is cut anywhere and read as it was sent", async () => {
  const bytes = Buffer.concat([frame({ a: "é" }), frame({}), frame({ error: undefined }, 2)]);
  for (let at = 0; at <= bytes.length; at += 1) {
    const parts = [bytes.subarray(0, at), bytes.subarray(at)];
    const reader = { read: async () => (parts.length > 0 ? { done: false, value: parts.shift() } : { done: true }) };
    const read = [];
    for await (const { flags, message } of envelopes(reader)) read.push([flags, message]);
    assert.deepEqual(read, [[0, { a: "é" }], [0, {}], [2, {}]]);
  }
});

test("a stream gives its messages, and the refusal that it ends with", async () => {
  answers["/s.S/Watch"] = streamed((answer) => answer.end(Buffer.concat([frame({ n: 1 }), frame({ n: 2 }), frame({ error: REFUSED }, 2)])));
  const seen = [];
  const reading = (async () => {
    for await (const message of stream("s.S/Watch", { tableId: "t" })) seen.push(message);
  })();
  await assert.rejects(reading, (error) => error instanceof Refusal && error.reason === "INSUFFICIENT_CREDITS");
  assert.deepEqual(seen, [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(requests.at(-1).body, frame({ tableId: "t" }));
});

test("a stream that breaks is unavailable, and so is one that is silent", async () => {
  answers["/s.S/Broken"] = streamed((answer) => (answer.write(frame({ n: 1 }).subarray(0, 7)), setTimeout(() => answer.destroy(), 20)));
  answers["/s.S/Silent"] = streamed((answer) => answer.write(frame({ n: 1 })));
  for (const method of ["s.S/Broken", "s.S/Silent"]) {
    const reading = (async () => {
      for await (const _ of stream(method, {}, { silenceMs: 100 }));
    })();
    await assert.rejects(reading, (error) => error instanceof Refusal && error.code === "unavailable", method);
  }
});

test("whoever stops reading closes the stream", async () => {
  let closed;
  const isClosed = new Promise((done) => (closed = done));
  answers["/s.S/Endless"] = streamed((answer) => (answer.on("close", closed), answer.write(frame({ n: 1 }))));
  for await (const _ of stream("s.S/Endless", {})) break;
  await isClosed;
});

test("ids of commands are of the room's time, where this device's clock is wrong", async () => {
  const timeOf = (id) => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  for (const ahead of [3_600_000, -3_600_000, 0]) {
    answers["/s.S/Date"] = (answer) => (answer.setHeader("date", new Date(Date.now() + ahead).toUTCString()), json(200, {})(answer));
    await call("s.S/Date", {});
    assert.ok(Math.abs(timeOf(requestId()) - Date.now() - ahead) < 2000);
  }
});
