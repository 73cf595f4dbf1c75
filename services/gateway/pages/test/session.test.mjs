// Who is signed in, through everything that may come between: files of others, other tabs, ends of a sign-in.

import assert from "node:assert/strict";
import http from "node:http";
import test, { after, before, beforeEach } from "node:test";
import { setRoom } from "../api/connect.js";
import { session } from "../api/session.js";
import { load, save } from "../keep/database.js";

const ANNA = "0198f0c2-7a3e-4000-8000-00000000000a";
const BODO = "0198f0c2-7a3e-4000-8000-00000000000b";
let server;
let address = "";
let answer = {};
const asked = [];

const tokenOf = (sub, role = "player", life = 900) => `x.${btoa(JSON.stringify({ sub, role, iat: 0, exp: life }))}.${Math.random()}`;
const endless = (sub, role) => `x.${btoa(JSON.stringify({ sub, role, iat: 0, exp: 9e9 }))}.y`;
const guest = (playerId, refreshToken, more = {}) => ({ server: address, playerId, name: "", roles: ["player"], refreshToken, accessToken: "", accessEndMs: 0, ...more });
const file = (fields) => new Blob([JSON.stringify({ format: "sabacc-login/1", server: address, name: "", ...fields })]);
const refusal = (reason) => ({ status: 401, body: { code: "unauthenticated", message: reason, details: [{ type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason } }] } });

before(async () => {
  server = http.createServer(async (request, reply) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const method = request.url.split("/").at(-1);
    asked.push({ method, bearer: request.headers.authorization, body: JSON.parse(Buffer.concat(parts).toString()) });
    const told = await answer[method](asked.at(-1));
    reply.writeHead(told.status ?? 200, { "content-type": "application/json" });
    reply.end(JSON.stringify(told.body ?? told));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}`;
  setRoom(address);
});
after(() => (server.closeAllConnections(), server.close()));

/** What another tab has kept, and told of. */
async function keptElsewhere(login) {
  await save("login", "login", login);
  const tab = new BroadcastChannel("sabacc-login");
  const heard = new Promise((done) => setTimeout(done, 30));
  tab.postMessage("changed");
  await heard;
  tab.close();
}

beforeEach(async () => {
  await save("login", "guest", undefined);
  await keptElsewhere(undefined);
  asked.length = 0;
  answer = {
    Refresh: ({ body }) => ({ tokens: { accessToken: tokenOf(body.refreshToken.split("-")[0] === "bodo" ? BODO : ANNA), refreshToken: `${body.refreshToken}+` } }),
    SignOut: () => ({}),
    ListTables: () => ({}),
    GetPlayer: () => ({ name: "Lando" }),
  };
});

test("a file that names one player and holds the token of another is nobody's login", async () => {
  await assert.rejects(session.loadLogin(file({ player_id: ANNA, refresh_token: "bodo-1" })), /does not take this login/);
  assert.equal(session.player, null);
  assert.equal(await load("login", "login"), undefined);
});

test("a login that has ended is not said to be loaded", async () => {
  answer.Refresh = () => refusal("TOKEN_REVOKED");
  await assert.rejects(session.loadLogin(file({ player_id: ANNA, refresh_token: "anna-1" })), /does not take this login/);
  assert.equal(session.endedBy, "TOKEN_REVOKED");
});

test("a guest of another tab is not lost for one that was made meanwhile", async () => {
  answer.SignInAsGuest = async () => {
    await save("login", "login", guest(BODO, "bodo-1"));
    return { playerId: ANNA, tokens: { accessToken: tokenOf(ANNA), refreshToken: "anna-1" } };
  };
  await assert.rejects(session.signInAsGuest(""), /Another tab/);
  assert.equal((await load("login", "login")).playerId, BODO);
});

test("the guest from before is there again when a token has ended, by itself or by hand", async () => {
  for (const end of [() => session.signOut(), () => session.call("s.S/Get", {}).catch(() => undefined)]) {
    await keptElsewhere(guest(ANNA, "anna-1"));
    await session.signInWithToken(endless("olga", "operator"));
    assert.deepEqual([session.roles, (await load("login", "guest")).playerId], [["operator"], ANNA]);
    answer.Get = () => refusal("TOKEN_REVOKED");
    await end();
    assert.equal(session.player?.id, ANNA);
    assert.equal(await load("login", "guest"), undefined);
  }
});

test("a token that another tab has put in the guest's place does not put it aside", async () => {
  await keptElsewhere(guest(ANNA, "anna-1"));
  await session.signInWithToken(endless("olga", "operator"));
  await session.signInWithToken(endless("otto", "operator"));
  assert.equal((await load("login", "guest")).refreshToken, "anna-1");
});

test("what one player has asked for is not done as another", async () => {
  await keptElsewhere(guest(ANNA, "anna-1", { accessToken: "good", accessEndMs: Date.now() + 9e6 }));
  answer.SitDown = async () => {
    await keptElsewhere(guest(BODO, "bodo-1", { accessToken: "bodos", accessEndMs: Date.now() + 9e6 }));
    return refusal("TOKEN_EXPIRED");
  };
  await assert.rejects(session.call("s.S/SitDown", {}), /TOKEN_EXPIRED/);
  assert.deepEqual(asked.filter(({ method }) => method === "SitDown").map(({ bearer }) => bearer), ["Bearer good"]);
});

test("a refresh that was broken off is repeated under the id that was written down", async () => {
  await keptElsewhere(guest(ANNA, "anna-1"));
  let left = 1;
  const { Refresh } = answer;
  answer.Refresh = (call) => (left-- > 0 ? { status: 500, body: { code: "internal", message: "" } } : Refresh(call));
  await assert.rejects(session.token());
  assert.ok(await session.token());
  const ids = asked.filter(({ method }) => method === "Refresh").map(({ body }) => body.requestId);
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
});

test("a login that is saved is kept here until its owner has the file, and not forgotten for a file that is no good", async () => {
  await keptElsewhere(guest(ANNA, "anna-1", { accessToken: "good", accessEndMs: Date.now() + 9e6 }));
  const saved = JSON.parse(await (await session.loginFile()).text());
  assert.equal(saved.refresh_token, "anna-1");
  assert.deepEqual([session.player?.id, (await load("login", "login")).refreshToken], [ANNA, "anna-1"]);
  await session.token("good");
  await assert.rejects(session.forgetLogin(), /Save it again/);
  assert.equal((await load("login", "login")).refreshToken, "anna-1+");
  await session.loginFile();
  await session.forgetLogin();
  assert.deepEqual([session.player, await load("login", "login")], [null, undefined]);
  await assert.rejects(session.forgetLogin(), /in no file/);
});

test("a refresh under an id that the room refuses is made under another, and no other refusal is answered so", async () => {
  const badField = (field) => ({
    status: 400,
    body: { code: "invalid_argument", message: field, details: [
      { type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason: "BAD_FIELD" } },
      { type: "google.rpc.BadRequest", debug: { fieldViolations: [{ field, description: "more than a minute ahead" }] } },
    ] },
  });
  const { Refresh } = answer;
  for (const [field, count] of [["request_id", 2], ["refresh_token", 1]]) {
    await keptElsewhere(guest(ANNA, "anna-1", { refreshRequestId: "0198f0c2-7a3e-7000-8000-00000000000f" }));
    asked.length = 0;
    answer.Refresh = (call) => (asked.length === 1 ? badField(field) : Refresh(call));
    if (count === 2) assert.ok(await session.token());
    else await assert.rejects(session.token(), /refresh_token/);
    const ids = asked.map(({ body }) => body.requestId);
    assert.deepEqual([ids.length, new Set(ids).size], [count, count]);
  }
  assert.equal((await load("login", "login")).refreshRequestId, "0198f0c2-7a3e-7000-8000-00000000000f");
});
