// Rule set and settings as the table showed them when its player came: a hand with others is none of theirs.

import { Fault } from "./fault.js";

const HOUR_MS = 3_600_000;

/** A line's value of a canonical text. @param {string} text @param {string} name */
const valueOf = (text, name) => text.split("\n").find((line) => line.startsWith(`${name} = `))?.slice(name.length + 3) ?? "";

export class Agreement {
  /** @param {{ruleSet?: string, settings?: string}} shown */
  constructor({ ruleSet = "", settings = "" }) {
    this.ruleSet = ruleSet;
    this.settings = settings;
    /** The game by its rule set, whatever else a table says of itself. */
    this.variant = valueOf(ruleSet, "variant").replaceAll('"', "");
    // A developer's room lets its time pass faster.
    const scale = Math.max(1, Number(valueOf(settings, "time_scale")) || 1);
    const isDelayed = valueOf(settings, "reveal") === '"delayed"';
    /** How long a seed may stay shut after its hand. */
    this.seedDelayMs = (isDelayed ? 24 * HOUR_MS : 0) / scale;
    /** How long a hand is suspended for before it may end without an agreement. */
    this.suspendMs = ((Number(valueOf(settings, "suspend_hours")) || 0) * HOUR_MS) / scale;
  }

  /** @param {string | undefined} handNo @param {{ruleSet?: string, settings?: string}} told */
  check(handNo, { ruleSet = "", settings = "" }) {
    if (ruleSet !== this.ruleSet || settings !== this.settings)
      throw new Fault("table", handNo, "it has another rule set or other settings than the table showed you");
  }
}
