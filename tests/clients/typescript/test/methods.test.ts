// Every public method by every official client from npm: one outcome in all. Variables: tests/clients/README.md.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Role } from "../gen/sabacc/common/v1/access_pb.js";
import { ErrorReasonSchema } from "../gen/sabacc/common/v1/error_pb.js";
import { DealerService } from "../gen/sabacc/dealer/v1/dealer_pb.js";
import { PeopleService } from "../gen/sabacc/table/v1/people_pb.js";
import { RevocationService } from "../gen/sabacc/table/v1/revocation_pb.js";
import { TableService } from "../gen/sabacc/table/v1/table_pb.js";
import { SettlementService } from "../gen/sabacc/wallet/v1/settlement_pb.js";
import { random, requestId } from "../src/bytes.js";
import { retry, sleep } from "../src/room.js";
import { chromiumCallers, type NamedCaller, nodeCallers } from "./callers.js";
import { describe, isCommand, isPublic, pathOf, requestOf, roleOf, type Samples } from "./methods.js";
import type { Outcome } from "./outcome.js";
import { serve } from "./server.js";
import { Issuer } from "./token.js";

const { SABACC_URL = "", SABACC_ORIGIN = "", SABACC_KEYS = "", SABACC_DATA = "" } = process.env;
// A game that nobody plays here: its table stays as it is.
const QUIET_GAME = "electronic";
const ATTEMPTS = 20;
const WAIT_MS = 250;

const issuer = new Issuer(SABACC_DATA);
const server = await serve(SABACC_ORIGIN, readFileSync(SABACC_KEYS, "utf8"));
const chromium = await chromiumCallers(SABACC_ORIGIN, SABACC_URL);
const callers = [...nodeCallers(SABACC_URL), ...chromium.callers];
const reference = callers[0]!;
const methods = await describe(SABACC_URL);
const asOperator: Interceptor = (next) => (call) => {
  call.header.set("authorization", `Bearer ${issuer.token(Role.OPERATOR, "methods")}`);
  return next(call);
};
const patiently = (...more: Interceptor[]) =>
  createGrpcTransport({ baseUrl: SABACC_URL, interceptors: [retry, ...more] });
const operator = createClient(TableService, patiently(asOperator));
const people = createClient(PeopleService, patiently());
// A player with an account, who looks at it.
const guest = { requestId: requestId(), name: "Methods", signInSecret: random(32) };
const { playerId: player } = await people.signInAsGuest(guest);

const config = { name: "Methods", variant: QUIET_GAME };
const { tableId } = await operator.createTable({ requestId: requestId(), config });

after(async () => {
  await operator.closeTable({ requestId: requestId(), tableId });
  await chromium.page.close();
  server.close();
});

// What is read is there. What a command names is not, so that none does harm to the room.
function samplesOf(method: DescMethod): Samples {
  const ids = isCommand(method)
    ? { table_id: randomUUID(), player_id: randomUUID() }
    : { table_id: tableId, player_id: player };
  return { ...ids, request_id: requestId(), hand_no: 1n, log: "table", variant: isCommand(method) ? "" : QUIET_GAME };
}

// Who calls: a player who looks at what is theirs, and for each command somebody new.
function subjectOf(method: DescMethod, role: Role): string {
  if (role !== Role.PLAYER) return "methods";
  return isCommand(method) ? randomUUID() : player;
}

// Calls as advised: later, where the room is busy, under the same request id.
async function outcomeOf(
  { name, call }: NamedCaller,
  method: DescMethod,
  request: Message,
  token: string,
): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await call(method, request, token);
    if (!["OVERLOADED", "UNAVAILABLE"].includes(outcome.reason) || attempt === ATTEMPTS) {
      const known = ErrorReasonSchema.values.some((value) => value.name === `ERROR_REASON_${outcome.reason}`);
      assert.ok(outcome.code === "ok" || known, `${name}: ${outcome.code} "${outcome.reason}" is not documented`);
      return outcome;
    }
    await sleep(WAIT_MS);
  }
}

// Without the bytes of the answer.
const brief = ({ code, reason }: Outcome): string => `${code} ${reason}`;

// Asks all clients, as one caller, for the same thing. What the first client is told before and after all others tells
// what may differ: nothing; what changes with time; or, where a command ends its own caller, whatever a second call
// would get, so that each client calls as a caller of its own.
async function compare(method: DescMethod, newToken: () => string): Promise<Outcome> {
  const able = callers.filter(({ can }) => can(method));
  const request = requestOf(method, samplesOf(method));
  const token = newToken();
  const first = await outcomeOf(reference, method, request, token);
  const others: Outcome[] = [];
  for (const caller of able.slice(1)) others.push(await outcomeOf(caller, method, request, token));
  const last = await outcomeOf(reference, method, request, token);
  if (brief(first) !== brief(last)) {
    for (const caller of able.slice(1)) {
      const own = await outcomeOf(caller, method, requestOf(method, samplesOf(method)), newToken());
      assert.equal(brief(own), brief(first), caller.name);
    }
    return first;
  }
  const told = first.answer === last.answer ? (outcome: Outcome) => `${brief(outcome)} ${outcome.answer}` : brief;
  for (const [at, outcome] of others.entries()) assert.equal(told(outcome), told(first), able[at + 1]!.name);
  return first;
}

test("the room describes its public services, and no other", () => {
  const services = new Set(methods.map(({ parent }) => parent.typeName));
  assert.ok(services.has(TableService.typeName) && methods.length > 20, [...services].join());
  for (const method of methods) assert.ok(isPublic(method), `${pathOf(method)} is for the room's own services`);
  for (const { typeName } of [DealerService, RevocationService, SettlementService]) assert.ok(!services.has(typeName));
});

let reached = 0;

for (const method of methods) {
  test(`${pathOf(method)} has one outcome for every client`, async () => {
    const role = roleOf(method);
    const outcomes = [await compare(method, () => "")];
    if (role) outcomes.push(await compare(method, () => issuer.token(role, subjectOf(method, role))));
    reached += outcomes.some(({ code }) => code === "ok") ? 1 : 0;
  });
}

test("many of them were answered", () => assert.ok(reached > methods.length / 3, `${reached} of ${methods.length}`));
