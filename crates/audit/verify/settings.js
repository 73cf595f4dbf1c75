// Settings of a table: their one spelling, and their bounds.

const BOUNDS = [
  ["action_seconds", 1, 600],
  ["bank_seconds", 0, 600],
  ["commit_ms", 500, 10000],
  ["contributors_min", 0, 8],
  ["reveal", "at_once", "delayed"],
  ["reveal_ms", 500, 10000],
  ["suspend_hours", 1, 168],
];
const DAY = 86400;
const MOST = 1000;

export class BadSettings extends Error {}

// Settings from their text: each on its line, ascending by name.
export function readSettings(text) {
  const lines = text.length <= MOST ? text.split("\n") : [];
  if (lines.length !== BOUNDS.length + 1 || lines.at(-1) !== "")
    throw new BadSettings(`a line for each of ${BOUNDS.length} settings stands there, and no more`);
  const settings = Object.fromEntries(BOUNDS.map((bounds, at) => [bounds[0], valueOf(lines[at], bounds)]));
  // Seconds from a settlement to the opening of the seed.
  return { ...settings, delay_seconds: settings.reveal === "delayed" ? DAY : 0 };
}

function valueOf(line, [name, least, most]) {
  const found = /^([a-z_]{1,20}) = (?:"([a-z_]{1,20})"|(0|[1-9][0-9]{0,9}))$/.exec(line);
  if (found?.[1] !== name) throw new BadSettings(`where ${name} belongs stands another line`);
  const [, , word, digits] = found;
  const value = digits === undefined ? word : Number(digits);
  const within = typeof least === "string" ? value === least || value === most : value >= least && value <= most;
  if (!within || typeof value !== typeof least) throw new BadSettings(`${name} is out of its bounds`);
  return value;
}
