// Messages of sabacc.history.v1 in protobuf's JSON: 64-bit numbers, bytes and times are text, and what stands at its
// default is left out.

import type { RuleSetField } from "./common.js";

export interface HandHistory {
  variant?: string; ruleset?: RuleSetField[]; id?: string; table?: string; startedAt?: string; engine?: string;
  commitment?: string; reveal?: string; seats?: string[]; players?: string[]; startingStacks?: string[];
  sabaccPot?: string; carriedPot?: string; actions?: string[]; settlement?: Settlement; finishingStacks?: Stacks;
  finishingSabaccPot?: string; finishingCarriedPot?: string;
}
export interface Settlement { lines?: string[] }
export interface Stacks { amounts?: string[] }
