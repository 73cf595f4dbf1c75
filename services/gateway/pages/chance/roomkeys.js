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
    const keys = [];
    for (const line of text.split("\n")) {
      if (line === "" || line.startsWith("#") || line.includes(" ")) continue;
      const [name = "", , ...blob] = line.trimEnd().split("+");
      const bytes = fromBase64(blob.join("+"));
      if (bytes.length !== 33 || bytes[0] !== 1) continue;
      const raw = bytes.slice(1);
      const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
      keys.push({ name, id: await keyIdOf(raw), raw, key });
    }
    return new RoomKeys(keys);
  }

  /** The name of the dealer's log, which commitments must name. */
  get origin() {
    return this.keys.find(({ name }) => name.endsWith("/dealer"))?.name ?? "";
  }

  /**
   * The line of evidence for a signed text.
   * @param {"dealer" | "table"} log whose key must have signed
   * @param {string | undefined} handNo
   * @param {Bytes} text
   * @param {{keyId?: string, signature?: string}} signed
   */
  async check(log, handNo, text, { keyId, signature }) {
    const found = this.keys.find(({ name, id }) => name.endsWith(`/${log}`) && equal(id, fromBase64(keyId)));
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
  const told = answer?.ok ? await answer.text() : (pinned ?? "");
  const kept = await update("pinned", address, (/** @type {string | undefined} */ first) => first || told || undefined);
  return { keys: await RoomKeys.parse(kept ?? ""), isOther: kept !== told };
}
