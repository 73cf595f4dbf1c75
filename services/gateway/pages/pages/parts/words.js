// Words for what messages say: credits, times, enums, ids.

export { requestId } from "../../api/ids.js";

/**
 * Credits with their thousands apart.
 *
 * @param {string | number | bigint | undefined} amount
 */
export function credits(amount) {
  const number = BigInt(amount ?? 0);
  const digits = String(number < 0n ? -number : number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return number < 0n ? `\u2212${digits}` : digits;
}

/**
 * Credits with their sign.
 *
 * @param {string | number | bigint | undefined} amount
 */
export function signed(amount) {
  return BigInt(amount ?? 0) > 0n ? `+${credits(amount)}` : credits(amount);
}

/**
 * Number with its thousands apart, and so many digits behind the point.
 *
 * @param {number} value
 * @param {number} [digits]
 */
export function figure(value, digits = 0) {
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/**
 * Day and time of a timestamp, by the clock of whoever reads.
 *
 * @param {string | undefined} timestamp
 */
export function dayTime(timestamp) {
  if (!timestamp) return "\u2013";
  return new Date(timestamp).toLocaleString("en-GB", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}

/**
 * Time of day of a timestamp, to the millisecond.
 *
 * @param {string | undefined} timestamp
 */
export function clockTime(timestamp) {
  if (!timestamp) return "";
  const time = new Date(timestamp);
  return `${time.toLocaleTimeString("en-GB")}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

/**
 * Seconds as hours and minutes.
 *
 * @param {number} seconds
 */
export function span(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${figure(seconds / 3600, 1)} h`;
  return `${figure(seconds / 86400, 1)} days`;
}

/**
 * Microseconds as people read them.
 *
 * @param {string | number | undefined} us
 */
export function micros(us) {
  const value = Number(us ?? 0);
  if (value < 1000) return `${figure(value)} µs`;
  return value < 1e6 ? `${figure(value / 1000, value < 1e4 ? 1 : 0)} ms` : `${figure(value / 1e6, 1)} s`;
}

/**
 * Value of an enum in words: `HAND_OUTCOME_PLAYED` is "played".
 *
 * @param {string | undefined} value
 * @param {string} prefix such as `HAND_OUTCOME_`
 */
export function enumWord(value, prefix) {
  if (!value) return "";
  return (value.startsWith(prefix) ? value.slice(prefix.length) : value).toLowerCase().replaceAll("_", " ");
}

/**
 * First eight digits of an id.
 *
 * @param {string | undefined} id
 */
export function shortId(id) {
  return (id ?? "").slice(0, 8);
}

/**
 * Bytes of base64, and back.
 *
 * @param {string | undefined} text
 */
export function fromBase64(text) {
  return Uint8Array.from(atob((text ?? "").replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Gives bytes or text to the reader as a file.
 *
 * @param {BlobPart | Blob} content
 * @param {string} name
 * @param {string} [type]
 */
export function saveFile(content, name, type = "application/octet-stream") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Parts of the path behind `#/`, decoded.
 */
export function pathParts() {
  return location.hash
    .replace(/^#\/?/, "")
    .split("?")[0]
    .split("/")
    .filter((part) => part !== "")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}
