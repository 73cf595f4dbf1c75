// A player's credits: what they have, how that came about, and the statement as a file.

import { call, stream } from "../../api/session.js";
import { button, dataTable, el, figures, panel, plot, refill } from "../parts/dom.js";
import { loadInto } from "../parts/forms.js";
import { refused } from "../parts/refused.js";
import { credits, dayTime, enumWord, fromBase64, saveFile, signed } from "../parts/words.js";

const WALLET = "sabacc.wallet.v1.WalletService";
/** Most pages of entries that are read for the plot. */
const PAGES = 10;
/** Entries that are listed. */
const LISTED = 30;

/**
 * @param {AbortSignal} signal
 * @param {string} [playerId] another player, for operators and auditors
 */
export function moneyPanel(signal, playerId = "") {
  const into = el("div", { class: "stack" });
  loadInto(into, () => load(signal, playerId));
  return panel("Credits", into);
}

/**
 * @param {AbortSignal} signal
 * @param {string} playerId
 */
async function load(signal, playerId) {
  const [account, entries] = await Promise.all([
    call(`${WALLET}/GetAccount`, { playerId }, { signal }),
    allEntries(signal, playerId),
  ]);
  const seats = account.seats ?? [];
  const seated = seats.reduce((/** @type {bigint} */ sum, /** @type {any} */ seat) => sum + BigInt(seat.balanceCredits ?? 0), 0n);
  const balance = BigInt(account.balanceCredits ?? 0);
  const points = stepsOf(entries, Number(balance + seated));
  return [
    figures([
      ["All credits", credits(balance + seated)],
      ["On the account", credits(balance)],
      ["At tables", credits(seated)],
      ["Held", credits(account.heldCredits)],
    ]),
    account.frozen ? el("p", { class: "notice warn" }, "The account is frozen: nothing leaves it until an operator undoes that. Ask the room why.") : null,
    points.length > 1
      ? plot("All credits over time", [{ name: "credits", points }])
      : el("p", { class: "muted" }, "Play a hand, and a plot of your credits stands here."),
    el("div", { class: "row" }, statementButton(playerId, "STATEMENT_FORMAT_CSV", "csv"), statementButton(playerId, "STATEMENT_FORMAT_JSON", "json")),
    el("details", {}, el("summary", {}, "The last entries"), entriesTable(entries.slice(-LISTED).reverse())),
  ];
}

/**
 * Points of a line that stays at a balance until the next entry.
 *
 * @param {any[]} entries
 * @param {number} now all credits now
 * @returns {Array<[number, number]>}
 */
function stepsOf(entries, now) {
  /** @type {Array<[number, number]>} */
  const points = [];
  for (const entry of entries) {
    const time = Date.parse(entry.recordTime);
    if (Number.isNaN(time)) continue;
    if (points.length > 0) points.push([time, points[points.length - 1][1]]);
    points.push([time, Number(entry.totalCredits ?? 0)]);
  }
  if (points.length > 1) points.push([Date.now(), now]);
  return points;
}

/**
 * Entries of a player, the newest last.
 *
 * @param {AbortSignal} signal
 * @param {string} playerId
 * @returns {Promise<any[]>}
 */
async function allEntries(signal, playerId) {
  /** @type {any[]} */
  const entries = [];
  let pageToken = "";
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await call(`${WALLET}/ListEntries`, { playerId, pageSize: 1000, pageToken }, { signal });
    entries.push(...(answer.entries ?? []));
    pageToken = answer.nextPageToken ?? "";
    if (!pageToken) break;
  }
  return entries;
}

/** @param {any[]} entries */
export function entriesTable(entries) {
  return dataTable(
    "Entries of the statement, newest first",
    [
      { head: "Time", cell: (row) => dayTime(row.recordTime) },
      { head: "What", cell: (row) => (row.handId ? el("a", { href: `#/hand/${row.handId}` }, "hand") : enumWord(row.kind, "TRANSFER_KIND_")) },
      { head: "Account", number: true, cell: (row) => signed(row.amountCredits) },
      { head: "Tables", number: true, cell: (row) => signed(row.atTableCredits) },
      { head: "All credits", number: true, cell: (row) => credits(row.totalCredits) },
      { head: "Reason", cell: (row) => row.reason ?? "" },
    ],
    entries,
  );
}

/**
 * @param {string} playerId
 * @param {string} format
 * @param {string} ending
 */
function statementButton(playerId, format, ending) {
  const said = el("span", { role: "status" });
  const press = button(`Statement (.${ending})`, async () => {
    press.disabled = true;
    try {
      /** @type {Uint8Array[]} */
      const chunks = [];
      for await (const { chunk } of stream(`${WALLET}/ExportStatement`, { playerId, format })) chunks.push(fromBase64(chunk));
      saveFile(new Blob(/** @type {BlobPart[]} */ (chunks)), `statement.${ending}`);
      refill(said);
    } catch (error) {
      refill(said, refused(error));
    }
    press.disabled = false;
  });
  return el("span", { class: "row" }, press, said);
}
