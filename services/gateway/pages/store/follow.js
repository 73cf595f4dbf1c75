// A stream that goes on where it broke, for as long as somebody wants it; and one stream for all tabs of a browser that follow the same
// thing, since browsers open six connections to an origin and no more.
//
// The tab that holds the browser's lock leads: it reads the stream and tells the others every message, in order. The others
// ask it for the state as it stands when they come, and one of them leads when it is gone. Where there are no locks, as
// without a secure context, each tab has its own stream.

import { Refusal, sleep } from "../api/connect.js";
import { session } from "../api/session.js";

// The room says something every 15 s at the least.
const SILENCE_MS = 35_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
const LONGEST_ASKED_MS = 60_000;
const ENDS_FOR_GOOD = ["END_REASON_TABLE_CLOSED"];
/** The next stream is opened with a new token, at once. A token lives for many times as long as this. */
const TOKEN_OVER = "END_REASON_TOKEN_EXPIRED";
const TOKEN_LIVES_MS = 60_000;
/** Refusals of a resume token are answered by beginning anew. */
const BEGIN_ANEW = "BAD_FIELD";

/**
 * @typedef {object} Followed
 * @property {string} method
 * @property {() => object} request Of the next stream, with the newest resume token.
 * @property {(message: any) => void} seen
 * @property {(connection: "catching up" | "stale") => void} connection
 * @property {() => void} forget The resume token was refused, or what came after it could not be taken in.
 * @property {AbortSignal} stop
 */

/**
 * Follows until it is stopped, or the room has nothing more to say. Whatever else breaks it, it is begun again. Gives the refusal that
 * ended it, or null.
 * @param {Followed} followed
 * @returns {Promise<Refusal | null>}
 */
export async function follow({ method, request, seen, connection, forget, stop }) {
  for (let [failures, renewedMs] = [0, -Infinity]; !stop.aborted; ) {
    connection("catching up");
    let asked = 0;
    let endedBy = "";
    try {
      for await (const message of session.stream(method, request(), { signal: stop, silenceMs: SILENCE_MS })) {
        if (stop.aborted) return null;
        seen(message);
        failures = 0;
        endedBy = message.ended?.reason ?? "";
        if (ENDS_FOR_GOOD.includes(endedBy)) return null;
      }
    } catch (error) {
      if (stop.aborted) return null;
      if (!(error instanceof Refusal)) {
        // What could not be taken in once would not be the second time: it begins anew.
        console.error(error);
        forget();
      } else {
        if (error.reason === BEGIN_ANEW && failures === 0) forget();
        else if (!isWorthAgain(error)) return error;
        asked = Math.min(error.retryAfterMs ?? 0, LONGEST_ASKED_MS);
      }
    }
    if (stop.aborted) return null;
    if (endedBy === TOKEN_OVER && performance.now() - renewedMs > TOKEN_LIVES_MS) {
      renewedMs = performance.now();
      continue;
    }
    connection("stale");
    failures += 1;
    await sleep(Math.max(waitAfter(failures), asked), stop);
  }
  return null;
}

/** A refused token is renewed, or its sign-in has ended and nobody in particular looks on. @param {Refusal} refusal */
const isWorthAgain = ({ isPassing, code, reason }) =>
  isPassing || code === "unauthenticated" || reason === "RECORDS_SPENT";

/** Doubled each time, and different in each tab, so that not all come back at once. @param {number} failures */
const waitAfter = (failures) =>
  Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS) * (0.75 + Math.random() / 2);

// ---- Tabs that share a stream ----

/**
 * @typedef {object} Shared
 * @property {(message: any) => void} tell Tells the other tabs a message of the leader's.
 * @property {() => void} ask Asks the leader for its state.
 * @property {() => void} close
 */

/**
 * @typedef {object} SharedOptions
 * @property {string} name The same in all tabs that share it.
 * @property {(stop: AbortSignal) => Promise<void>} lead Reads the stream until it is stopped.
 * @property {() => any} state The leader's state, for a tab that asks; undefined: there is none yet.
 * @property {(message: any) => void} told A message of the leader's, or its state as `{state}`.
 */

/** @param {SharedOptions} options @returns {Shared} */
export function share({ name, lead, state, told }) {
  const stop = new AbortController();
  const locks = globalThis.navigator?.locks;
  if (!locks || typeof BroadcastChannel !== "function") {
    void Promise.resolve().then(() => lead(stop.signal));
    return { tell() {}, ask() {}, close: () => stop.abort() };
  }
  let leads = false;
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => {
    if (data.ask && leads) answer(channel, state());
    else if (!data.ask && !leads) told(data);
  };
  locks
    .request(name, { signal: stop.signal }, async () => {
      leads = true;
      if (!stop.signal.aborted) await lead(stop.signal);
    })
    .catch(() => {
      // It was closed while it waited.
    });
  channel.postMessage({ ask: true });
  return {
    tell: (message) => leads && !stop.signal.aborted && channel.postMessage(message),
    ask: () => !stop.signal.aborted && channel.postMessage({ ask: true }),
    close() {
      stop.abort();
      channel.close();
    },
  };
}

/** @param {BroadcastChannel} channel @param {any} state */
const answer = (channel, state) => state !== undefined && channel.postMessage({ state });
