// Bytes: lengths, numbers, ids and hashes, as crates/fairness/SPEC.md section 4 writes them.

export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

export const utf8 = (text: string): Bytes => encoder.encode(text);

export const random = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));

export function concat(...parts: Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export const equal = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// A whole number in so many bytes, the highest first.
export function number(value: number | bigint, width: number): Bytes {
  const bytes = new Uint8Array(width);
  let rest = BigInt(value);
  for (let at = width - 1; at >= 0; at -= 1) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

// An id is text in messages, and 16 bytes where it is hashed or signed.
export const idBytes = (id: string): Bytes =>
  Uint8Array.from(id.replaceAll("-", "").match(/../g) ?? [], (byte) => parseInt(byte, 16));

// LP(a) LP(b) ...: each field behind its length, so that two different lists never look alike.
export const fields = (...parts: Uint8Array[]): Bytes =>
  concat(...parts.flatMap((part) => [number(part.length, 4), part]));

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

// A new UUIDv7: 48 bits of milliseconds, then chance. Ids in the order of time are cheap for the room to know again.
export function requestId(): string {
  const bytes = random(16);
  bytes.set(number(Date.now(), 6));
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
