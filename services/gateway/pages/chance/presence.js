// Whether somebody looks at the table, in this tab or another of the browser.

const AWAY_MS = 10_000;

/** Event `change` when `isAway` does: after ten seconds in which no tab of the table was in sight, and at once when one is. */
export class Presence extends EventTarget {
  isAway = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {AbortController | undefined} */
  #shown;
  #hasLeft = false;
  #look = () => this.#looked();
  #channel = typeof BroadcastChannel === "function" && globalThis.document ? new BroadcastChannel("sabacc-presence") : undefined;

  /** @param {string} name of what is looked at */
  constructor(name) {
    super();
    this.name = `sabacc-shown/${name}`;
    globalThis.document?.addEventListener("visibilitychange", this.#look);
    if (this.#channel) this.#channel.onmessage = () => this.#heard();
    this.#looked();
  }

  /** The table is looked at no more in this tab, though it may be in sight. */
  leave() {
    this.#hasLeft = true;
    this.#looked();
  }

  close() {
    globalThis.document?.removeEventListener("visibilitychange", this.#look);
    clearTimeout(this.#timer);
    this.#shown?.abort();
    this.#channel?.close();
  }

  #looked() {
    if (!this.#isShown) this.#shown?.abort();
    else this.#show();
    this.#channel?.postMessage("changed");
    this.#weigh();
  }

  /** Holds a shared lock while the page is in sight: the browser lets it go whatever becomes of the tab. */
  #show() {
    const shown = new AbortController();
    this.#shown?.abort();
    this.#shown = shown;
    const until = new Promise((done) => shown.signal.addEventListener("abort", () => done(undefined), { once: true }));
    globalThis.navigator?.locks?.request(this.name, { mode: "shared" }, () => until).catch(() => undefined);
  }

  get #isShown() {
    return !this.#hasLeft && globalThis.document?.visibilityState !== "hidden";
  }

  /** Another tab was shown or hidden. */
  async #heard() {
    if (this.isAway && (await isHeld(this.name))) this.#set(false);
  }

  #weigh() {
    clearTimeout(this.#timer);
    if (this.#isShown) return this.#set(false);
    this.#timer = setTimeout(async () => {
      const isAway = !(await isHeld(this.name));
      if (this.#isShown) return;
      this.#set(isAway);
      this.#weigh();
    }, AWAY_MS);
  }

  /** @param {boolean} isAway */
  #set(isAway) {
    if (isAway === this.isAway) return;
    this.isAway = isAway;
    this.dispatchEvent(new Event("change"));
  }
}

/** @param {string} name of a lock */
async function isHeld(name) {
  const { held = [] } = (await globalThis.navigator?.locks?.query()) ?? {};
  return held.some((lock) => lock.name === name);
}
