// The public keys of the room's logs. They are kept as they were first seen: a room that shows others later is not believed.

import { base64, fromBase64 } from "../api/ids.js";
import { load, update } from "../keep/database.js";
import { equal } from "./bytes.js";
import { Fault } from "./fault.js";
import { keyIdOf } from "./fair.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {{name: string, id: Bytes, raw: Bytes, key: CryptoKey}} LogKey */

export class RoomKeys {
  /** @param {LogKey[]} keys */
  constructor(keys) {
    this.keys = keys;
  }

  /** Keys of a C2SP keys file. One with an end (` until N`) is no key of a log that goes on. @param {string} text */
  static async parse(text) {
    /** @type {LogKey[]} */
    const keys = [];
    for (const line of text.split("\n")) {
      if (line === "" || line.startsWith("#") || line.includes(" ")) continue;
      const [name = "", , ...blob] = line.trimEnd().split("+");
      const bytes = fromBase64(blob.join("+"));
      if (bytes.length !== 33 || bytes[0] !== 1) continue;
      const raw = bytes.slice(1);
      // Whose word a signature is must be one log's.
      if (keys.some((known) => known.name !== name && equal(known.raw, raw)))
        throw new Error("The room's keys are refused: one of them stands under two names.");
      const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
      keys.push({ name, id: await keyIdOf(raw), raw, key });
    }
    return new RoomKeys(keys);
  }

  /** Whether a log of a kind is known. Without the dealer's nothing is revealed. @param {"dealer" | "table"} log */
  has(log) {
    return this.keys.some(({ name }) => name.endsWith(`/${log}`));
  }

  /**
   * The line of evidence for a signed text.
   * @param {"dealer" | "table"} log whose key must have signed
   * @param {string | undefined} handNo
   * @param {Bytes} text
   * @param {{keyId?: string, signature?: string}} signed
   * @param {string} [origin] the very log whose key it must be
   */
  async check(log, handNo, text, { keyId, signature }, origin) {
    const isOf = (/** @type {string} */ name) => name.endsWith(`/${log}`) && (origin === undefined || name === origin);
    const found = this.keys.find(({ name, id }) => isOf(name) && equal(id, fromBase64(keyId)));
    const bytes = fromBase64(signature);
    if (!found || !(await crypto.subtle.verify("Ed25519", found.key, bytes, text)))
      throw new Fault(log, handNo, "a text is not signed with the key that the room had when you first came");
    return `signed ${base64(text)} ${base64(bytes)} ${base64(found.raw)}`;
  }
}

/**
 * The keys of a room, which the first page pins.
 * @param {string} address the room's
 * @returns {Promise<{keys: RoomKeys, isOther: boolean}>} `isOther`: the room shows others now
 */
export async function roomKeys(address) {
  const pinned = /** @type {string | undefined} */ (await load("pinned", address));
  const answer = await fetch(`${address}/keys.txt`, { cache: "no-store" }).catch(() => undefined);
  const told = answer?.ok ? await answer.text() : undefined;
  if (pinned) return { keys: await usable(pinned), isOther: told !== undefined && told !== pinned };
  if (told === undefined) throw new Error("The room's keys could not be fetched. Without them nothing can be checked.");
  // What cannot be used is not kept for ever.
  await usable(told);
  const kept = await update("pinned", address, (/** @type {string | undefined} */ first) => first || told);
  return { keys: await usable(kept ?? ""), isOther: kept !== told };
}

/** @param {string} text */
async function usable(text) {
  const keys = await RoomKeys.parse(text);
  if (!keys.has("dealer") || !keys.has("table")) throw new Error("The room shows no keys of its dealer and table. Without them nothing can be checked.");
  return keys;
}
