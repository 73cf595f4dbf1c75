// Bytes: their spellings, their comparisons, their big-endian numbers.

const encoder = new TextEncoder();

export const utf8 = (text) => encoder.encode(text);

// Text of bytes, or null where they are not UTF-8.
export function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

// Control characters, separators of lines and paragraphs, and all of Unicode's category Cf: what could turn a text around, or
// hide in it.
const UNSEEN =
  /[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]/gu;

// A text as it is shown: what would not be seen is escaped.
export const shown = (text) => text.replace(UNSEEN, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);

export function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export const equal = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));

// An id as people write it: 8-4-4-4-12.
export const uuid = (bytes) => hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

// A whole number in so many bytes.
export function number(value, width) {
  const bytes = new Uint8Array(width);
  let rest = BigInt(value);
  for (let at = width - 1; at >= 0; at -= 1) {
    bytes[at] = Number(rest & 255n);
    rest >>= 8n;
  }
  return bytes;
}

// A length before the bytes it is the length of.
export const lp = (bytes) => concat(number(bytes.length, 4), bytes);

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const group = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const four = [18, 12, 6, 0].map((shift) => LETTERS[(group >> shift) & 63]);
    const count = Math.min(bytes.length - at, 3) + 1;
    text += four.slice(0, count).join("").padEnd(4, "=");
  }
  return text;
}

// Only what `base64` writes; else null.
export function fromBase64(text) {
  const body = text.replace(/={1,2}$/, "");
  const bytes = [];
  let [bits, held] = [0, 0];
  for (const letter of body) {
    const value = LETTERS.indexOf(letter);
    if (value < 0) return null;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 255);
    }
  }
  const found = Uint8Array.from(bytes);
  return base64(found) === text ? found : null;
}

// Whether two decoded messages say the same.
export function same(a, b) {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return equal(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const [left, right] = [Object.keys(a), Object.keys(b)];
  return left.length === right.length && left.every((key) => same(a[key], b[key]));
}
