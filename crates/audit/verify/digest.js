// The browser's own cryptography: SHA-256, HMAC-SHA-512, and Ed25519 with the strictness that it leaves open.

import { concat, fromHex } from "./bytes.js";
import { signatureStep, step } from "./work.js";

// Browsers have cryptography for pages from disk, over HTTPS and from this very machine.
const PLAIN =
  "this page came over plain HTTP, and browsers have no cryptography (WebCrypto) for such a page: " +
  "save it as HTML alone, and open the saved file from disk";
const NONE = "this browser has no cryptography (WebCrypto) for this page: open it in another one";

const subtle = () => {
  if (!globalThis.crypto?.subtle) throw new NoCrypto(globalThis.location?.protocol === "http:" ? PLAIN : NONE);
  return globalThis.crypto.subtle;
};

// The browser lacks what a check needs.
export class NoCrypto extends Error {}

export async function sha256(...parts) {
  const bytes = parts.length === 1 ? parts[0] : concat(...parts);
  step(bytes.length);
  return new Uint8Array(await subtle().digest("SHA-256", bytes));
}

export const hmacKey = (key) => subtle().importKey("raw", key, { name: "HMAC", hash: "SHA-512" }, false, ["sign"]);

export async function mac(key, message) {
  step(message.length);
  return new Uint8Array(await subtle().sign("HMAC", key, message));
}

// A key's bytes are handed over once, however often it is used.
const handedOver = new WeakMap();

export async function hmac(key, message) {
  if (!handedOver.has(key)) handedOver.set(key, hmacKey(key));
  return mac(await handedOver.get(key), message);
}

// ---- Ed25519 ---------------------------------------------------------------------------------------------------

const P = (1n << 255n) - 19n;
const ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;

function littleEndian(bytes) {
  let value = 0n;
  for (let at = bytes.length - 1; at >= 0; at -= 1) value = (value << 8n) | BigInt(bytes[at]);
  return value;
}

function power(base, exponent) {
  let [result, factor, rest] = [1n, base % P, exponent];
  while (rest > 0n) {
    if (rest & 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
    rest >>= 1n;
  }
  return result;
}

const mod = (value) => ((value % P) + P) % P;
const D = mod(-121665n * power(121666n, P - 2n));

// The y of the eight points of small order.
const SMALL_ORDER = [
  0n,
  1n,
  P - 1n,
  littleEndian(fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")) & ((1n << 255n) - 1n),
  littleEndian(fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")) & ((1n << 255n) - 1n),
];

// A point's only spelling, on the curve and not of small order.
export function isGoodPoint(bytes) {
  const y = littleEndian(bytes) & ((1n << 255n) - 1n);
  if (bytes.length !== 32 || y >= P || SMALL_ORDER.includes(y)) return false;
  const square = mod((y * y - 1n) * power(mod(D * y * y + 1n), P - 2n));
  return power(square, (P - 1n) / 2n) === 1n;
}

export async function verifyEd25519(key, message, signature) {
  signatureStep(message.length);
  if (signature.length !== 64 || !isGoodPoint(key) || !isGoodPoint(signature.subarray(0, 32))) return false;
  if (littleEndian(signature.subarray(32)) >= ORDER) return false;
  let imported;
  try {
    imported = await subtle().importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error instanceof NoCrypto) throw error;
    throw new NoCrypto("this browser cannot check Ed25519 signatures; a current version of any large browser can");
  }
  return subtle().verify({ name: "Ed25519" }, imported, signature, message);
}
