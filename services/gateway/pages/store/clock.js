// The server's time, from what its messages say and when they came.

// Samples older than this do not count: the two clocks drift apart.
const WINDOW_MS = 10 * 60_000;

export class ServerClock {
  /** @type {{at: number, ahead: number}[]} by when they came; none is ahead less than a later one */
  #samples = [];

  /** A message of this server time has just come. @param {number} serverMs */
  tell(serverMs) {
    if (!Number.isFinite(serverMs)) return;
    const sample = { at: performance.now(), ahead: serverMs - performance.now() };
    const inWindow = this.#samples.filter(({ at }) => at > sample.at - WINDOW_MS);
    // The message that was on its way for the shortest time says the most; old ones, told again, say less.
    this.#samples = [...inWindow.filter(({ ahead }) => ahead > sample.ahead), sample];
  }

  /** Milliseconds since 1970 at the server; this device's own before the server has said anything. */
  now() {
    const best = this.#samples[0];
    return best ? performance.now() + best.ahead : Date.now();
  }
}
