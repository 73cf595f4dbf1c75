// Knows the room under test: where it is, calls to it as its operator, tables of it.

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

/** Address of the room's public port. */
export const ROOM = process.env.SABACC_URL ?? "";
/** Origin of the pages: the room itself, except while the pages are served by something else. */
export const PAGES = process.env.SABACC_PAGES || ROOM;
/** Whether there is time for all eight games. */
export const isLong = process.env.SABACC_LONG === "1";

const TABLES = "sabacc.table.v1.TableService";

/** Token of the operator or the auditor. @param {"operator" | "auditor"} role */
export function tokenOf(role) {
  return fs.readFileSync(path.join(process.env.SABACC_DATA ?? "", "keys", `${role}.token`), "utf8").trim();
}

/** Token of another operator than the first. @param {string} name */
export function tokenOfAnother(name) {
  const asked = ["--data", process.env.SABACC_DATA ?? "", "token", "--role", "operator", "--sub", name];
  return execFileSync(process.env.SABACC_PROGRAM ?? "sabacc", asked, { encoding: "utf8" }).trim();
}

/** One call of the room's API in JSON, made again while the room is busy. @param {string} method @param {object} request @param {string} [token] */
export function call(method, request, token) {
  const headers = { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
  return until(async () => {
    const response = await fetch(`${ROOM}/${method}`, { method: "POST", headers, body: JSON.stringify(request) });
    const answer = await response.json();
    if (response.ok) return answer;
    if (!["unavailable", "resource_exhausted"].includes(answer.code)) throw new Error(`${method}: ${answer.code}: ${answer.message}`);
    return null;
  }, `${method}: the room is not too busy`);
}

/** View of a table, as anybody sees it. @param {string} tableId */
export async function viewOf(tableId) {
  return (await call(`${TABLES}/GetTable`, { tableId })).table;
}

/** Opens a table with patient windows for entropy; gives its id. @param {string} variant @param {object} [config] */
export async function openTable(variant, config = {}) {
  const rules = variant === "kessel" ? { ruleSet: [{ name: "chips", number: "4" }] } : {};
  const patient = { pauseMs: 1500, actionSeconds: 60, commitMs: 5000, revealMs: 10_000 };
  const asked = { name: `Test of ${variant}`, variant, ...patient, ...rules, ...config };
  return (await call(`${TABLES}/CreateTable`, { requestId: randomUUID(), config: asked }, tokenOf("operator"))).tableId;
}

/** Table of a game at which bots of the house play and a seat is free; null: there is none. @param {string} variant */
export async function tableOfBots(variant) {
  const { tables = [] } = await call(`${TABLES}/ListTables`, { filter: { variant } });
  for (const { tableId, seated = 0, seats } of tables) {
    if (seated < seats && (await viewOf(tableId)).seats?.some((one) => one.house)) return tableId;
  }
  return null;
}

/** Asks again and again until something holds, as a room has no word for it. @param {() => Promise<any>} what @param {string} words */
export async function until(what, words, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${words}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}
