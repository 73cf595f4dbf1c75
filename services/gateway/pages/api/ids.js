// Ids of commands, and bytes as JSON has them.

/** @param {Uint8Array} bytes */
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {number} length @returns {Uint8Array<ArrayBuffer>} */
export const random = (length) => crypto.getRandomValues(new Uint8Array(length));

/** A clock that differs by less is right enough: the room takes ids of up to a minute from now. */
const WRONG_CLOCK_MS = 20_000;
/** What this device's clock is behind the room's; null until the room has answered. @type {number | null} */
let behindMs = null;

/** Takes note of the room's time, as its answers have it. @param {string | null} date */
export function noteDate(date) {
  const found = Date.parse(date ?? "") - Date.now();
  if (Number.isFinite(found)) behindMs = Math.abs(found) < WRONG_CLOCK_MS ? 0 : found;
}

/**
 * A new UUIDv7: the milliseconds since 1970 by the room's clock, then chance. Until the room has told its time, a UUIDv4. A
 * command that is repeated keeps its own.
 */
export function requestId() {
  const bytes = random(16);
  let rest = Date.now() + (behindMs ?? 0);
  for (let at = 5; at >= 0 && behindMs !== null; at -= 1) {
    bytes[at] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[6] = (bytes[6] & 0x0f) | (behindMs === null ? 0x40 : 0x70);
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** @param {Uint8Array} bytes */
export const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** @param {string | undefined} text base64, as JSON has it @returns {Uint8Array<ArrayBuffer>} */
export const fromBase64 = (text) => Uint8Array.from(atob(text ?? ""), (letter) => letter.charCodeAt(0));
