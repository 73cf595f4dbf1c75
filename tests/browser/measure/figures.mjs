// Knows how figures are told: quantiles, and whether what was promised holds.

/** Value below which a part of all values lies. @param {number[]} values @param {number} part */
export function quantile(values, part) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? NaN;
}

/** Prints p50, p95, p99 and the most. @param {string} name @param {number[]} values in milliseconds */
export function print(name, values) {
  const told = [0.5, 0.95, 0.99, 1].map((part) => quantile(values, part).toFixed(1));
  console.log(`${name}: p50 ${told[0]} ms, p95 ${told[1]} ms, p99 ${told[2]} ms, most ${told[3]} ms, of ${values.length}`);
}

/** Prints the verdict; the exit code follows it. @param {boolean} holds @param {string} words */
export function judge(holds, words) {
  console.log(`${holds ? "PASS" : "FAIL"}: ${words}`);
  if (!holds) process.exitCode = 1;
}
