// Settings of a table: their one spelling, and their bounds.

const BOUNDS = [
  ["action_seconds", 1, 600],
  ["bank_seconds", 0, 600],
  ["commit_ms", 500, 10000],
  ["contributors_min", 0, 8],
  ["insecure_fixed_seed", 1, 1],
  ["reveal", "at_once", "delayed"],
  ["reveal_ms", 500, 10000],
  ["suspend_hours", 1, 168],
  ["time_scale", 2, 100],
];
// Settings of rooms for developers: they stand there only where they are not these.
const OPTIONAL = { insecure_fixed_seed: 0, time_scale: 1 };
const DAY = 86400;
const MOST = 1000;

export class BadSettings extends Error {}

// Settings from their text: each on its line, ascending by name.
export function readSettings(text) {
  const lines = text.length <= MOST ? text.split("\n") : [];
  const there = new Set(lines.map((line) => line.split(" ")[0]));
  const bounds = BOUNDS.filter(([name]) => !(name in OPTIONAL) || there.has(name));
  if (lines.length !== bounds.length + 1 || lines.at(-1) !== "")
    throw new BadSettings(`a line for each of ${bounds.length} settings stands there, and no more`);
  const settings = Object.fromEntries(bounds.map((one, at) => [one[0], valueOf(lines[at], one)]));
  // Seconds from a settlement to the opening of the seed.
  return { ...OPTIONAL, ...settings, delay_seconds: settings.reveal === "delayed" ? DAY : 0 };
}

// Microseconds of a span as it passes at the table, in whole milliseconds.
export const scaled = ({ time_scale }, micros) => (micros / 1000n / BigInt(time_scale)) * 1000n;

function valueOf(line, [name, least, most]) {
  const found = /^([a-z_]{1,20}) = (?:"([a-z_]{1,20})"|(0|[1-9][0-9]{0,9}))$/.exec(line);
  if (found?.[1] !== name) throw new BadSettings(`where ${name} belongs stands another line`);
  const [, , word, digits] = found;
  const value = digits === undefined ? word : Number(digits);
  const within = typeof least === "string" ? value === least || value === most : value >= least && value <= most;
  if (!within || typeof value !== typeof least) throw new BadSettings(`${name} is out of its bounds`);
  return value;
}
