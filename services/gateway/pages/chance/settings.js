// Settings of a table, as their text has them: what a hand's client may demand, and until when.

const HOUR_MS = 3_600_000;
/** Names, ascending, with the least and the most. @type {[string, number, number][]} */
const BOUNDS = [
  ["action_seconds", 1, 600],
  ["bank_seconds", 0, 600],
  ["commit_ms", 500, 10_000],
  ["contributors_min", 0, 8],
  ["insecure_fixed_seed", 1, 1],
  ["reveal", 0, 0],
  ["reveal_ms", 500, 10_000],
  ["suspend_hours", 1, 168],
  ["time_scale", 2, 100],
];
/** Settings of rooms for developers, which stand there only where they are not the usual ones. */
const OPTIONAL = ["insecure_fixed_seed", "time_scale"];
const REVEALS = ['"at_once"', '"delayed"'];

/**
 * Times of a table by its settings; null if they cannot be read, or lie outside their bounds.
 * @param {string} text
 * @returns {{seedDelayMs: number, suspendMs: number} | null}
 */
export function timesOf(text) {
  const lines = text.split("\n");
  if (lines.pop() !== "") return null;
  /** @type {Map<string, string>} */
  const values = new Map();
  for (const [name, least, most] of BOUNDS) {
    const line = lines[0] ?? "";
    if (!line.startsWith(`${name} = `)) {
      if (OPTIONAL.includes(name)) continue;
      return null;
    }
    const value = line.slice(name.length + 3);
    const isWithin = name === "reveal" ? REVEALS.includes(value) : /^(0|[1-9][0-9]{0,9})$/.test(value) && Number(value) >= least && Number(value) <= most;
    if (!isWithin) return null;
    values.set(name, value);
    lines.shift();
  }
  if (lines.length) return null;
  // A developer's room lets its time pass faster.
  const scale = Number(values.get("time_scale") ?? 1);
  return {
    seedDelayMs: values.get("reveal") === '"delayed"' ? (24 * HOUR_MS) / scale : 0,
    suspendMs: (Number(values.get("suspend_hours")) * HOUR_MS) / scale,
  };
}
