// The past of the table's log, from its public leaf records: bundles of 256 records at places apart from each other. Positions
// are exact, so that the rate of records between two samples is; the rate of hands is the share of ends among them.

import { call } from "../../api/session.js";
import { fromBase64 } from "../parts/words.js";

const LOG = "sabacc.audit.v1.LogService";
/** Records of a bundle. */
const BUNDLE = 256;
/** Bundles that are read for a span. */
const SAMPLES = 32;
/** Bytes of a leaf record, behind its length of two bytes. */
const RECORD = 149;
/** Type of `HandFinished`. */
const HAND_FINISHED = 20;
/** Time between two reads, in milliseconds: a read costs 4 of the 20 units of a second. */
const EVERY_MS = 350;

/** @typedef {{position: number, time: number, last: number, lastTime: number, hands: number}} Sample */

export class LogSamples {
  constructor() {
    /** @type {Map<number, Sample>} */
    this.known = new Map();
    this.size = 0;
    this.reading = false;
    this.failed = "";
    this.ending = new AbortController();
  }

  end() {
    this.ending.abort();
  }

  /**
   * Reads what is missing of the last so many seconds: first the newest bundle, then back, by steps that are as long as the
   * rate seen so far calls for.
   *
   * @param {number} seconds
   */
  async read(seconds) {
    if (this.reading) return;
    this.reading = true;
    this.failed = "";
    try {
      const { checkpoint } = await call(`${LOG}/GetCheckpoint`, { log: "table" }, { signal: this.ending.signal });
      this.size = Number(checkpoint.split("\n")[1]);
      await this.back(Date.now() - seconds * 1000);
    } catch (/** @type {any} */ error) {
      this.failed = error.message;
    }
    this.reading = false;
  }

  /** @param {number} from time in milliseconds */
  async back(from) {
    const newest = Math.floor((this.size - 1) / BUNDLE);
    let index = newest;
    for (let count = 0; count < SAMPLES && index >= 0; count += 1) {
      const sample = await this.bundle(index);
      if (!sample || sample.time < from) return;
      const spent = Math.max(Date.now() - sample.time, 1);
      const perMs = (this.size - sample.position) / spent;
      const step = Math.max(1, Math.floor((perMs * (Date.now() - from)) / BUNDLE / SAMPLES));
      index = index === 0 ? -1 : Math.max(0, index - step);
    }
  }

  /**
   * @param {number} index
   * @returns {Promise<Sample | undefined>}
   */
  async bundle(index) {
    const kept = this.known.get(index);
    if (kept) return kept;
    const width = Math.min(BUNDLE, this.size - index * BUNDLE);
    await new Promise((done) => setTimeout(done, EVERY_MS));
    const { entries } = await call(`${LOG}/GetEntries`, { log: "table", index: String(index), width: width === BUNDLE ? 0 : width }, { signal: this.ending.signal });
    const sample = sampleOf(fromBase64(entries));
    if (sample && width === BUNDLE) this.known.set(index, sample);
    else if (sample) this.newest = sample;
    return sample;
  }

  /**
   * Rates over time: records a second, or hands a minute.
   *
   * @param {"hands" | "records"} what
   * @param {number} seconds
   * @returns {Array<[number, number]>}
   */
  rates(what, seconds) {
    const from = Date.now() - seconds * 1000;
    const all = [...this.known.values(), ...(this.newest ? [this.newest] : [])].filter((one) => one.lastTime >= from).sort((one, other) => one.position - other.position);
    return all.slice(1).map((sample, at) => {
      const before = all[at];
      const records = sample.position - before.position;
      const ms = Math.max(sample.time - before.time, 1);
      const share = before.hands / Math.max(before.last - before.position + 1, 1);
      return [sample.time, what === "records" ? (records * 1000) / ms : (records * share * 60_000) / ms];
    });
  }

  /** @param {number} seconds */
  words(seconds) {
    if (this.failed) return `The log could not be read: ${this.failed}`;
    if (this.reading) return "Reading the log \u2026";
    const shown = this.rates("records", seconds).length;
    return shown === 0 ? "The log is still too short for a plot." : `From ${shown + 1} samples of the public log.`;
  }
}

/**
 * @param {Uint8Array} entries
 * @returns {Sample | undefined}
 */
function sampleOf(entries) {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  /** @type {Sample | undefined} */
  let sample;
  for (let at = 0; at + 2 + RECORD <= entries.length; at += 2 + RECORD) {
    const position = Number(view.getBigUint64(at + 6));
    const time = Number(view.getBigUint64(at + 14) / 1000n);
    sample ??= { position, time, last: position, lastTime: time, hands: 0 };
    sample.last = position;
    sample.lastTime = time;
    if (view.getUint16(at + 46) === HAND_FINISHED) sample.hands += 1;
  }
  return sample;
}
