// Bytes as they are hashed and signed. Specification: crates/fairness/SPEC.md section 4.

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */

const encoder = new TextEncoder();

/** @param {string} text @returns {Bytes} */
export const utf8 = (text) => new Uint8Array(encoder.encode(text));

/** @param {Uint8Array[]} parts @returns {Bytes} */
export function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @param {Uint8Array} a @param {Uint8Array} b */
export const equal = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {string} text @returns {Bytes} */
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** A whole number in so many bytes, the highest first. @param {number | bigint | string} value @param {number} width */
export function number(value, width) {
  const bytes = new Uint8Array(width);
  let rest = BigInt(value);
  for (let at = width - 1; at >= 0; at -= 1) {
    bytes[at] = Number(rest & 255n);
    rest >>= 8n;
  }
  return bytes;
}

/** An id is text in messages, and 16 bytes where it is hashed. @param {string | undefined} id */
export const idBytes = (id) => fromHex((id ?? "").replaceAll("-", ""));

/** An id as it is written everywhere: whoever spells it otherwise, as in an address, means the same. @param {string} id */
export function canonicalId(id) {
  const digits = id.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits) ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") : id;
}

/** Fields, each behind its length: two different lists never look alike. @param {Uint8Array[]} parts */
export const fields = (...parts) => concat(...parts.flatMap((part) => [number(part.length, 4), part]));

/** @param {Bytes} bytes @returns {Promise<Bytes>} */
export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** HMAC-SHA-512. @param {Bytes} key @param {Bytes} message @returns {Promise<Bytes>} */
export async function hmac(key, message) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-512" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}
