// Calls to a room: its services as typed clients over one transport, with a token, and with patience where it is
// advised.

import { type Client, Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { AuditService } from "../gen/sabacc/audit/v1/audit_pb.js";
import { PeopleService } from "../gen/sabacc/table/v1/people_pb.js";
import { RulesService } from "../gen/sabacc/table/v1/rules_pb.js";
import type { SignInAsGuestResponse, Tokens } from "../gen/sabacc/table/v1/sign_in_pb.js";
import { TableService } from "../gen/sabacc/table/v1/table_pb.js";
import { type Bytes, requestId } from "./bytes.js";

// Attempts of a call, and the first wait between them, as proto/service_config.json advises.
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 100;
// Time before the end of an access token at which the next one is fetched.
const REFRESH_BEFORE_MS = 60_000;

// Makes a transport of any protocol, with these interceptors.
export type MakeTransport = (interceptors: Interceptor[]) => Transport;

export class Room {
  readonly people: Client<typeof PeopleService>;
  readonly tables: Client<typeof TableService>;
  readonly rules: Client<typeof RulesService>;
  readonly audit: Client<typeof AuditService>;
  // Signing in and refreshing need no token, and must not wait for one.
  readonly #door: Client<typeof PeopleService>;
  #tokens: Tokens | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(transport: MakeTransport) {
    const inside = transport([retry, (next) => (call) => this.#withToken(next, call)]);
    this.people = createClient(PeopleService, inside);
    this.tables = createClient(TableService, inside);
    this.rules = createClient(RulesService, inside);
    this.audit = createClient(AuditService, inside);
    this.#door = createClient(PeopleService, transport([retry]));
  }

  // Becomes a new player of the room. Id and secret are kept until there is an answer: repeated, they are the same player.
  async signInAsGuest(name: string, id: string, signInSecret: Bytes): Promise<SignInAsGuestResponse> {
    const guest = await this.#door.signInAsGuest({ requestId: id, name, signInSecret });
    this.#tokens = guest.tokens;
    return guest;
  }

  // Gets new tokens for the refresh token, which is used up. A client that lives on after its program writes the new
  // one to disk before it uses the access token.
  refresh(): Promise<void> {
    const refreshToken = this.#tokens?.refreshToken ?? "";
    this.#refreshing ??= this.#door
      .refresh({ requestId: requestId(), refreshToken })
      .then(({ tokens }) => void (this.#tokens = tokens))
      .finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #withToken(next: Parameters<Interceptor>[0], call: Parameters<ReturnType<Interceptor>>[0]) {
    const ends = Number(this.#tokens?.accessExpireTime?.seconds ?? 0n) * 1000;
    if (this.#tokens && ends - Date.now() < REFRESH_BEFORE_MS) await this.refresh();
    if (this.#tokens) call.header.set("authorization", `Bearer ${this.#tokens.accessToken}`);
    return next(call);
  }
}

// Repeats a call that may be repeated: it is the same message, so its request_id is the same, and it counts once.
export const retry: Interceptor = (next) => async (call) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await next(call);
    } catch (error) {
      if (call.stream || attempt === ATTEMPTS || !isPassing(error)) throw error;
      await sleep(waitOf(error, attempt));
    }
  }
};

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

// Whether an error says that the same call may succeed later: the room is busy or away, or the connection broke.
export function isPassing(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  return code === Code.Unavailable || code === Code.ResourceExhausted || cause instanceof TypeError;
}

function waitOf(error: unknown, attempt: number): number {
  const [advised] = ConnectError.from(error).findDetails(RetryInfoSchema);
  const { seconds = 0n, nanos = 0 } = advised?.retryDelay ?? {};
  return Math.max(Number(seconds) * 1000 + nanos / 1e6, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

// The reason of a refusal, as in sabacc.common.v1.ErrorReason without the prefix; empty where an error is none.
export const reasonOf = (error: unknown): string => infoOf(error)?.reason ?? "";

// A fact that a refusal comes with, as listed at its reason.
export const factOf = (error: unknown, name: string): string => infoOf(error)?.metadata[name] ?? "";

function infoOf(error: unknown) {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return info?.domain === "sabacc" ? info : undefined;
}
