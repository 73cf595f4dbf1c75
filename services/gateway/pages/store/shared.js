// One stream for all tabs of a browser that follow the same thing: browsers open six connections to an origin, no more.
//
// The tab that holds the browser's lock leads: it reads the stream and tells the others every message, in order. The others
// ask it for the state as it stands when they come, and one of them leads when it is gone. Where there are no locks, as
// without a secure context, each tab has its own stream.

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
