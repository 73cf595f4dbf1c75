// A seat over a room of the test's own: what is sent in its player's name, and when.

import assert from "node:assert/strict";
import http from "node:http";
import test, { after, before } from "node:test";
import { setRoom } from "../api/connect.js";
import { session } from "../api/session.js";
import { hands } from "../chance/evidence.js";
import { Seat } from "../chance/seat.js";
import { load, save } from "../keep/database.js";
import { House } from "./house.mjs";

let server;
let address = "";
let house;
let hasKeys = true;

before(async () => {
  server = http.createServer(async (request, reply) => {
    if (request.url === "/keys.txt") return reply.writeHead(hasKeys ? 200 : 503).end(hasKeys ? house.keysFile : "");
    const parts = [];
    for await (const part of request) parts.push(part);
    const told = await house.call(request.url, JSON.parse(Buffer.concat(parts).toString()));
    reply.writeHead(told.status ?? 200, { "content-type": "application/json" });
    reply.end(JSON.stringify(told.body ?? told));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}`;
  setRoom(address);
});
after(() => (server.closeAllConnections(), server.close()));

const refused = (reason, metadata = {}) => ({
  status: 400,
  body: { code: "failed_precondition", message: reason, details: [{ type: "google.rpc.ErrorInfo", debug: { domain: "sabacc", reason, metadata } }] },
});

class Followed extends EventTarget {
  connection = "live";
  hold = () => () => {};
  get view() {
    return house.view;
  }
  constructor(spelt) {
    super();
    this.tableId = spelt(house.table);
  }
  tell(what) {
    const [, update] = house.tell(what);
    this.dispatchEvent(new CustomEvent("change", { detail: { update } }));
  }
}

async function signIn(playerId) {
  const login = { server: address, playerId, name: "", roles: ["player"], refreshToken: "", accessToken: "t", accessEndMs: Date.now() + 9e6 };
  await save("login", "login", login);
  const tab = new BroadcastChannel("sabacc-login");
  tab.postMessage("changed");
  for (let left = 100; session.player?.id !== playerId && left > 0; left -= 1) await new Promise((done) => setTimeout(done, 5));
  tab.close();
}

/** What was sent of a kind, once so many have been, or a second is over. */
async function sent(method, count = 1) {
  const found = () => house.sent.filter((one) => one.method === method).map(({ request }) => request);
  for (let left = 100; found().length < count && left > 0; left -= 1) await new Promise((done) => setTimeout(done, 10));
  return found();
}

/** Until a test holds, or a second is over. */
async function until(holds) {
  for (let left = 100; !holds() && left > 0; left -= 1) await new Promise((done) => setTimeout(done, 10));
  assert.ok(holds());
}

async function seated(prepare = () => {}, spelt = (id) => id) {
  house = await House.open();
  hasKeys = true;
  prepare();
  await save("pinned", address, undefined);
  await signIn(house.player);
  const table = new Followed(spelt);
  const seat = new Seat(table);
  const told = [];
  seat.addEventListener("notice", (event) => told.push(event.detail.text));
  return { table, seat, told };
}

/** Closes a seat that nobody waits for. @param {Seat} seat */
function end(seat) {
  house.view = { ...house.view, seats: [], entropy: undefined };
  seat.close();
}

const MATCH = { kind: "MOVE_KIND_MATCH" };
const turn = (number) => ({ seat: 1, turn: number, legal: [{ kind: "MOVE_KIND_MATCH", text: "match" }, { kind: "MOVE_KIND_FOLD", text: "fold" }] });

async function dealt(prepare) {
  const all = await seated(prepare);
  const { table } = all;
  table.tell({ nextHand: await house.promise("1") });
  await sent("CommitEntropy");
  table.tell({ entropy: await house.open("1") });
  table.tell({ entropy: await house.closed("1") });
  await sent("RevealEntropy");
  table.tell({ handStarted: { ...(await house.started("1")), turn: turn(1) } });
  return all;
}

test("a decision is signed over what its player has seen, and over no more than a leave", async () => {
  const { table, seat } = await dealt();
  house.answers.Act = async () => {
    table.tell({ action: await house.action("1", 2, "raise 1000", { turn: turn(1) }) });
    return refused("SIGNATURE_INVALID", {});
  };
  await assert.rejects(seat.act(MATCH), /others have decided since/);
  assert.equal((await sent("Act")).length, 1, "it is not said of a raise that came later");
  house.sent.length = 0;
  let left = 1;
  house.answers.Act = async ({ signature }) => {
    if (left-- <= 0) return { receipt: await house.decisionReceipt("1", signedChain) };
    const leave = await house.action("1", 2, "leave", { turn: turn(1) });
    table.tell({ action: leave });
    signedChain = (await house.action("1", 1, "match")).chain;
    return signature ? refused("SIGNATURE_INVALID", {}) : {};
  };
  let signedChain = "";
  await seat.act(MATCH);
  assert.equal((await sent("Act")).length, 2);
  assert.equal(seat.fault, null);
  end(seat);
});

test("nothing is sent without a signature because the room says that others have come between", async () => {
  const { seat } = await dealt();
  house.answers.Act = () => refused("SIGNATURE_INVALID", { chain: "00".repeat(32) });
  await assert.rejects(seat.act(MATCH), /SIGNATURE_INVALID|has not shown/);
  const acts = await sent("Act");
  assert.ok(acts.length > 1 && acts.every(({ signature }) => signature));
  end(seat);
});

test("nothing is decided in a hand that could not be checked", async () => {
  const { table, seat } = await seated();
  const { transcript, ...started } = await house.started("1");
  table.tell({ handStarted: { ...started, turn: turn(1) } });
  await assert.rejects(seat.act(MATCH), /cannot be trusted/);
  assert.deepEqual(await sent("Act", 0), []);
  assert.equal(seat.fault.party, "table");
  end(seat);
});

test("a hand that the player's number is not in is folded, and they sit out", async () => {
  const { told, seat } = await dealt(() => (house.answers.CommitEntropy = () => refused("CHANCE_REFUSED")));
  const [act] = await sent("Act");
  assert.deepEqual([act.decision.kind, act.signature], ["MOVE_KIND_FOLD", ""]);
  assert.deepEqual((await sent("SitOut")).map(({ sitOut }) => sitOut), [true]);
  assert.deepEqual(await sent("RevealEntropy", 0), []);
  assert.ok(told.some((text) => text.includes("you sit out")));
  end(seat);
});

test("a number that did not get through is revealed with the next update", async () => {
  const { table, seat } = await dealt(() => (house.answers.RevealEntropy = () => refused("UNKNOWN")));
  assert.equal((await sent("RevealEntropy")).length, 1);
  end(seat);
  const again = await seated(() => (house.answers.RevealEntropy = () => refused("UNKNOWN")));
  again.table.tell({ nextHand: await house.promise("1") });
  await sent("CommitEntropy");
  again.table.tell({ entropy: await house.closed("1") });
  await sent("RevealEntropy");
  delete house.answers.RevealEntropy;
  again.table.tell({ seat: { seat: house.seat(2) } });
  assert.equal((await sent("RevealEntropy", 2)).length, 2);
  assert.equal(new Set((await sent("RevealEntropy")).map(({ requestId }) => requestId)).size, 1);
  end(again.seat);
});

test("without the room's keys nobody sits down, and the room is not blamed for them", async () => {
  const { table, seat, told } = await seated(() => (hasKeys = false));
  await until(() => told.some((text) => text.includes("could not be fetched")));
  await assert.rejects(seat.sitDown({ buyIn: 100 }), /could not be fetched/);
  assert.deepEqual([seat.fault, await load("pinned", address)], [null, undefined]);
  hasKeys = true;
  table.tell({ nextHand: await house.promise("1") });
  assert.equal((await sent("CommitEntropy")).length, 1);
  assert.equal(await load("pinned", address), house.keysFile);
  end(seat);
});

test("what is shown while the stream catches up has passed: nothing is sent for it", async () => {
  const { table, seat } = await seated();
  table.connection = "catching up";
  table.tell({ nextHand: await house.promise("1") });
  table.tell({ entropy: await house.open("1") });
  table.tell({ entropy: await house.closed("1") });
  table.tell({ voided: { handNo: "1", cause: "ABORT_CAUSE_WITHHELD", seats: [2] } });
  table.tell({ nextHand: await house.promise("2") });
  await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual(house.sent, []);
  table.connection = "live";
  table.dispatchEvent(new Event("connection"));
  assert.deepEqual((await sent("CommitEntropy")).map(({ handNo }) => handNo), ["2"]);
  assert.equal(seat.fault, null);
  end(seat);
});

test("a table that an address spells otherwise is the same table", async () => {
  const { table, seat } = await seated(undefined, (id) => id.replaceAll("-", "").toUpperCase());
  table.tell({ nextHand: await house.promise("1") });
  assert.equal((await sent("CommitEntropy"))[0].tableId, house.table);
  assert.deepEqual(await hands(house.player, house.table), ["1"]);
  end(seat);
});

test("a table that is shown as it was before is not played at", async () => {
  const { table, seat } = await dealt();
  await until(() => seat.isSigned);
  house.sent.length = 0;
  house.view = { ...house.view, sequence: "1", hand: undefined, handNo: "0", nextHand: await house.promise("1", 3) };
  table.dispatchEvent(new CustomEvent("change", { detail: { update: null } }));
  await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual([house.sent, seat.fault], [[], null]);
  end(seat);
});

test("a seat acts for its own player, and for nobody who has signed in since", async () => {
  const { seat } = await dealt();
  await signIn(house.other);
  await assert.rejects(seat.act(MATCH), /somebody else/);
  await assert.rejects(seat.standUp(), /somebody else/);
  assert.deepEqual(await sent("Act", 0), []);
  end(seat);
});

test("who leaves while credits are on their way to the seat has left", async () => {
  const { table, seat } = await seated();
  await sent("none", 0);
  const more = seat.topUp(50);
  await sent("StandUp");
  await seat.standUp();
  table.tell({ seat: { seat: house.seat(1), vacated: true } });
  await assert.rejects(more, /have left/);
  assert.deepEqual(await sent("SitDown", 0), []);
  end(seat);
});

test("a top-up brings what was left at the seat too, however soon that is free", async () => {
  const { table, seat } = await seated();
  house.view = { ...house.view, maxBuyInCredits: "1000", seats: [house.seat(1, { stackCredits: "140" }), house.seat(2)] };
  house.answers.StandUp = () => {
    table.tell({ seat: { seat: house.seat(1, { stackCredits: "138", state: "SEAT_STATE_LEAVING" }), vacated: true } });
    return {};
  };
  await seat.topUp(600);
  assert.deepEqual((await sent("SitDown")).map(({ seat: place, buyInCredits }) => [place, buyInCredits]), [[1, "738"]]);
  end(seat);
});
