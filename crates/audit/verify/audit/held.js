// What a hand that came to nothing held: what seed and numbers give up to the first decision. Of a number that was burnt before
// its antes that takes every number that its closing names: of one that was never opened nobody can say what it would have
// been.

import { ABSENT, REVEALED } from "../fair.js";
import { Refused } from "../rules/hand.js";
import { BadRules } from "../rules/ruleset.js";
import { Trouble } from "./case.js";
import { entropyOf, silentOf } from "./entropy.js";
import { promiseOf } from "./promise.js";
import { chanceOfRows, keysOf } from "./promises.js";
import { Shoe } from "./shoe.js";
import { Stop, Walk } from "./walk.js";

// Uses of chance that are told.
const MOST = 100;
const EMPTY = new Uint8Array();

// In words, with what comes before them; nothing where the records do not say.
export async function heldBy(records) {
  try {
    return await (records.find("HandSealed") ? sealed(records) : unsealed(records));
  } catch (error) {
    if ([Trouble, Stop, Refused, BadRules].some((kind) => error instanceof kind)) return "";
    throw error;
  }
}

async function sealed(records) {
  return `Its seed held, up to the first decision: ${await dealt(records, await keysOf(records))}`;
}

async function unsealed(records) {
  if (!records.find("EntropyClosed")) return "";
  const promise = await promiseOf(records);
  const brought = await entropyOf(records, promise);
  const shut = silentOf(brought).filter((seat) => !brought.late.has(seat));
  const whose = shut.map((seat) => `seat ${seat}`).join(" and ");
  if (whose) return `What it would have been takes the number of ${whose} too, which nobody opened`;
  const rows = records.roster.map((place) => rowOf(brought, place));
  const keys = await chanceOfRows(promise, rows, records.one("SeedOpened").event.seed);
  return `It would have been, up to the first decision: ${await dealt(records, keys)}`;
}

// A seat's row, as if it had revealed in time.
function rowOf({ rows, revealed, late }, { seat, player_id: player }) {
  const entropy = revealed.get(seat) ?? late.get(seat);
  return entropy
    ? { seat, player_id: player, status: REVEALED, commitment: rows.get(seat).commitment, entropy }
    : { seat, player_id: player, status: ABSENT, commitment: EMPTY, entropy: EMPTY };
}

async function dealt(records, keys) {
  const walk = new Walk(records);
  walk.open(records.one("HandOpened"));
  walk.shoe = new Shoe(keys);
  const told = [];
  for (let { due } = walk.hand; due && told.length < MOST; { due } = walk.hand) {
    const words = await walk.foresee(due);
    if (words) told.push(words);
  }
  return told.join("; ") || "nothing";
}
