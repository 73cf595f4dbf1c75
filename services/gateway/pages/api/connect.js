// Calls and server streams of Connect's protocol in JSON, over fetch. Specification: https://connectrpc.com/docs/protocol

import { noteDate } from "./ids.js";

const DEADLINE_MS = 10_000;
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 100;
// A longer wait than this is the caller's matter: a person should be told.
const LONGEST_WAIT_MS = 2_000;
const END_OF_STREAM = 2;
const COMPRESSED = 1;
// A message of a stream that is longer than this is not the room's.
const LONGEST_MESSAGE = 16 * 1024 * 1024;

/** @typedef {{field: string, description: string}} Violation */

/**
 * @typedef {object} RefusalParts
 * @property {string} [code] Connect's word for the canonical code, such as `failed_precondition`.
 * @property {string} [reason] `ErrorReason` without its prefix; empty where there is none.
 * @property {Record<string, string>} [metadata]
 * @property {number | null} [retryAfterMs]
 * @property {Violation[]} [violations]
 * @property {string} [traceId] Names the call to the room's operator.
 */

/** A call that was refused, or that did not reach the room: then `code` is `unavailable` and `reason` empty. */
export class Refusal extends Error {
  /** @param {string} message @param {RefusalParts} parts */
  constructor(message, parts = {}) {
    super(message);
    this.name = "Refusal";
    this.code = parts.code ?? "unknown";
    this.reason = parts.reason ?? "";
    this.metadata = parts.metadata ?? {};
    this.retryAfterMs = parts.retryAfterMs ?? null;
    this.violations = parts.violations ?? [];
    this.traceId = parts.traceId ?? "";
  }

  /** Whether the same call may succeed in a moment. */
  get isPassing() {
    return ["unavailable", "resource_exhausted", "deadline_exceeded"].includes(this.code) && this.reason !== "RECORDS_SPENT";
  }
}

let base = globalThis.location?.origin ?? "";

/** Address of the room, where it is not the page's own origin. @param {string} url */
export function setRoom(url) {
  base = url.replace(/\/$/, "");
}

export const roomAddress = () => base;

/**
 * @typedef {object} CallOptions
 * @property {string | null} [token] An access token; none: nobody in particular calls.
 * @property {AbortSignal} [signal]
 * @property {number} [deadlineMs] Of a call: time for each attempt.
 * @property {number} [attempts] Of a call: how often it is made where the room is busy or away.
 * @property {boolean} [keepalive] Of a call: it is sent even if the page is just being left.
 * @property {number} [silenceMs] Of a stream: it is given up after so long without a message.
 */

/**
 * Makes a unary call. It is repeated, with the same request and so the same request id, while the room is busy or away.
 * @param {string} method such as `sabacc.table.v1.TableService/ListTables`
 * @param {object} request
 * @param {CallOptions} [options]
 * @returns {Promise<any>}
 */
export async function call(method, request, options = {}) {
  const attempts = options.attempts ?? ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptCall(method, request, options);
    } catch (error) {
      const wait = waitBefore(error, attempt);
      if (wait === null || attempt >= attempts || options.signal?.aborted) throw error;
      await sleep(wait, options.signal);
    }
  }
}

/** @param {string} method @param {object} request @param {CallOptions} options */
async function attemptCall(method, request, options) {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const late = AbortSignal.timeout(deadlineMs);
  const headers = headersOf("application/json", options.token);
  headers.set("connect-timeout-ms", String(deadlineMs));
  const answer = await send(method, headers, JSON.stringify(request), either(options.signal, late), options.keepalive);
  const text = await orUnreachable(() => answer.text());
  const body = parse(text);
  if (!answer.ok) throw refusalOf(body, answer);
  if (body === undefined) throw new Refusal("the answer is not JSON", { code: "internal" });
  return body;
}

/** Milliseconds until a call may be repeated; null: it would be refused again, or a person should decide.
 * @param {unknown} error @param {number} attempt */
function waitBefore(error, attempt) {
  if (!(error instanceof Refusal) || !error.isPassing) return null;
  const wait = Math.max(error.retryAfterMs ?? 0, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return wait > LONGEST_WAIT_MS ? null : wait;
}

/**
 * Messages of a server stream.
 * @param {string} method
 * @param {object} request
 * @param {CallOptions} [options]
 * @returns {AsyncGenerator<any, void, void>}
 */
export async function* stream(method, request, options = {}) {
  const stop = new AbortController();
  const headers = headersOf("application/connect+json", options.token);
  let timer = restart(undefined, options.silenceMs, stop);
  try {
    const answer = await send(method, headers, envelope(request), either(options.signal, stop.signal));
    if (!answer.ok || !answer.body) {
      const text = await orUnreachable(() => answer.text());
      throw refusalOf(parse(text), answer);
    }
    for await (const { flags, message } of envelopes(answer.body.getReader())) {
      timer = restart(timer, options.silenceMs, stop);
      if (flags & COMPRESSED) throw new Refusal("a compressed message was not asked for", { code: "internal" });
      if (flags & END_OF_STREAM) {
        if (message?.error) throw refusalOf(message.error, answer);
        return;
      }
      yield message;
    }
    throw unreachable("the stream broke");
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** @param {ReturnType<typeof setTimeout> | undefined} timer @param {number | undefined} ms @param {AbortController} stop */
function restart(timer, ms, stop) {
  clearTimeout(timer);
  return ms === undefined ? undefined : setTimeout(() => stop.abort(), ms);
}

/** @param {object} request */
function envelope(request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const bytes = new Uint8Array(5 + text.length);
  new DataView(bytes.buffer).setUint32(1, text.length);
  bytes.set(text, 5);
  return bytes;
}

/**
 * Envelopes of a stream: a byte of flags, four of length, and a message, cut anywhere by the network.
 * @param {{read(): Promise<{done: boolean, value?: Uint8Array}>}} reader
 * @returns {AsyncGenerator<{flags: number, message: any}, void, void>}
 */
export async function* envelopes(reader) {
  let held = new Uint8Array();
  for (;;) {
    const { done, value } = await orUnreachable(() => reader.read());
    if (done) {
      if (held.length > 0) throw unreachable("the stream broke within a message");
      return;
    }
    held = joined(held, value ?? new Uint8Array());
    let at = 0;
    while (held.length - at >= 5) {
      const length = new DataView(held.buffer, held.byteOffset + at).getUint32(1);
      if (length > LONGEST_MESSAGE) throw new Refusal("a message is too long", { code: "internal" });
      if (held.length - at < 5 + length) break;
      const text = new TextDecoder().decode(held.subarray(at + 5, at + 5 + length));
      const message = parse(text);
      if (message === undefined) throw new Refusal("a message is not JSON", { code: "internal" });
      yield { flags: held[at] ?? 0, message };
      at += 5 + length;
    }
    held = held.slice(at);
  }
}

/** @param {Uint8Array} a @param {Uint8Array} b */
function joined(a, b) {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/** @param {string} type @param {string | null | undefined} token */
function headersOf(type, token) {
  const headers = new Headers({ "content-type": type, "connect-protocol-version": "1" });
  if (token) headers.set("authorization", `Bearer ${token}`);
  return headers;
}

/** @param {string} method @param {Headers} headers @param {BodyInit} body @param {AbortSignal} signal @param {boolean} [keepalive] */
async function send(method, headers, body, signal, keepalive = false) {
  const answer = await orUnreachable(() => fetch(`${base}/${method}`, { method: "POST", headers, body, signal, keepalive, cache: "no-store" }));
  noteDate(answer.headers.get("date"));
  return answer;
}

/** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
async function orUnreachable(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    throw unreachable(isLate ? "the room did not answer in time" : "the room was not reached");
  }
}

/** @param {string} message */
const unreachable = (message) => new Refusal(message, { code: "unavailable" });

/** @param {AbortSignal | undefined} given @param {AbortSignal} own */
const either = (given, own) => (given ? AbortSignal.any([given, own]) : own);

/** @param {string} text @returns {any} undefined where it is no JSON */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a refused call says, from its body. @param {any} body @param {Response} answer */
function refusalOf(body, answer) {
  const details = new Map();
  for (const detail of Array.isArray(body?.details) ? body.details : [])
    details.set(String(detail?.type).replace("google.rpc.", ""), detail?.debug ?? {});
  const info = details.get("ErrorInfo");
  const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
  const delay = durationMs(details.get("RetryInfo")?.retryDelay) ?? (Number.isNaN(seconds) ? null : seconds * 1000);
  return new Refusal(body?.message || `the room answered ${answer.status}`, {
    code: body?.code ?? codeOf(answer.status),
    reason: info?.domain === "sabacc" ? info.reason : "",
    metadata: info?.metadata ?? {},
    retryAfterMs: delay,
    violations: (details.get("BadRequest")?.fieldViolations ?? []).map(
      (/** @type {Partial<Violation>} */ { field = "", description = "" }) => ({ field, description }),
    ),
    traceId: details.get("RequestInfo")?.requestId ?? answer.headers.get("trace-id") ?? "",
  });
}

/** Connect's code where an answer has no body of its own, such as a proxy's. @param {number} status */
const codeOf = (status) =>
  ({ 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented", 429: "unavailable" })[status] ??
  (status >= 500 ? "unavailable" : "unknown");

/** @param {string | undefined} text such as `1.5s` */
const durationMs = (text) => (text === undefined ? null : Math.ceil(Number.parseFloat(text) * 1000));

/** @param {number} ms @param {AbortSignal} [signal] @returns {Promise<void>} */
export const sleep = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
