// The public keys of the room's logs, from a source that the player trusts: a file with one C2SP verifier key a line,
// `<name>+<hash>+<base64 of 1 and the 32 bytes of an Ed25519 key>`. The name of a log ends in its service's.

import { type Bytes, equal } from "./bytes.js";
import { keyId } from "./fair.js";

export type Signer = "dealer" | "table";

export class RoomKeys {
  readonly #keys: { name: string; id: Bytes; key: CryptoKey }[];

  private constructor(keys: { name: string; id: Bytes; key: CryptoKey }[]) {
    this.#keys = keys;
  }

  static async parse(text: string): Promise<RoomKeys> {
    const keys = [];
    for (const line of text.split("\n")) {
      // A client at play takes no key with an end: ` until N`.
      if (line === "" || line.startsWith("#") || line.includes(" ")) continue;
      const [name, , ...blob] = line.split("+");
      const bytes = Uint8Array.from(atob(blob.join("+")), (letter) => letter.charCodeAt(0));
      if (name === undefined || bytes.length !== 33 || bytes[0] !== 1) continue;
      const raw = bytes.slice(1);
      const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
      keys.push({ name, id: await keyId(raw), key });
    }
    return new RoomKeys(keys);
  }

  // Fails unless the text is signed by a key of that service's log.
  async check(signer: Signer, text: Bytes, signed: { keyId: Uint8Array; signature: Uint8Array }): Promise<void> {
    const found = this.#keys.find(({ name, id }) => name.endsWith(`/${signer}`) && equal(id, signed.keyId));
    if (!found) throw new Error(`a text of the ${signer} is signed by a key that is not known`);
    const signature = new Uint8Array(signed.signature);
    if (!(await crypto.subtle.verify("Ed25519", found.key, signature, text)))
      throw new Error(`a signature of the ${signer} is not good`);
  }

  // The origin that commitments must name: the dealer's log.
  get origin(): string {
    return this.#keys.find(({ name }) => name.endsWith("/dealer"))?.name ?? "";
  }
}
