// All hand numbers of the room: counts, and those that were not simply played: burnt, broken off, missing, suspended.

import { call } from "../../api/session.js";
import { dataTable, el, figures, panel, refill, tag } from "../parts/dom.js";
import { control, loadInto } from "../parts/forms.js";
import { credits, dayTime, enumWord, figure, shortId } from "../parts/words.js";

/** Most pages that are looked through. */
const PAGES = 10;
/** Colours of outcomes. @type {Record<string, "good" | "bad" | "warn" | "">} */
const KINDS = { HAND_OUTCOME_PLAYED: "good", HAND_OUTCOME_BURNT: "bad", HAND_OUTCOME_MISSING: "bad", HAND_OUTCOME_IN_PLAY: "" };

/** @param {Element} into */
export function handsTab(into) {
  const body = el("div", { class: "stack" });
  const table = control({ name: "table", label: "Table's id", attributes: { placeholder: "all tables" } });
  const all = control({ name: "all", label: "Also hands that were simply played", type: "flag" });
  const load = () => loadInto(body, () => handsOf(table.querySelector("input").value.trim(), all.querySelector("input").checked));
  refill(
    into,
    panel(
      "Hands",
      el("form", { class: "filters", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), load()) }, table, all, el("button", { type: "submit", class: "button" }, "Show")),
      body,
    ),
  );
  load();
}

/**
 * @param {string} tableId
 * @param {boolean} all
 */
async function handsOf(tableId, all) {
  /** @type {any[]} */
  const rows = [];
  let pageToken = "";
  /** @type {any} */
  let first = null;
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await call("sabacc.audit.v1.HandService/ListHands", { tableId, pageSize: 500, pageToken });
    first ??= answer;
    rows.push(...(answer.hands ?? []));
    pageToken = answer.nextPageToken ?? "";
    if (!pageToken) break;
  }
  const counts = first?.counts ?? {};
  const broken = BigInt(counts.agreed ?? 0) + BigInt(counts.suspendedTooLong ?? 0);
  const shown = rows.filter((row) => all || row.outcome !== "HAND_OUTCOME_PLAYED" || row.wasSuspended || row.seed !== "SEED_STATE_OPENED");
  return [
    figures([
      ["Numbers", credits(counts.numbers)],
      ["Played", credits(counts.played)],
      ["Burnt", credits(counts.burnt)],
      ["Broken off", credits(broken)],
      ["Missing", credits(counts.missing)],
      ["Were suspended", credits(counts.wereSuspended)],
      ["Seeds owed", credits(counts.seedsOwed)],
      ["Seeds refused", credits(counts.seedsRefused)],
      ["Rate of burnt ones", `${figure(Number(counts.burntPpm ?? 0) / 10_000, 2)} %`],
    ]),
    dataTable(
      "Hand numbers",
      [
        { head: "Table", cell: (row) => el("a", { href: `#/table/${row.tableId}` }, shortId(row.tableId)) },
        {
          head: "Hand",
          cell: (row) =>
            row.firstHandNo === row.lastHandNo
              ? el("a", { href: `#/hand?table=${row.tableId}&no=${row.firstHandNo}` }, credits(row.firstHandNo))
              : `${credits(row.firstHandNo)} to ${credits(row.lastHandNo)}`,
        },
        { head: "Outcome", cell: (row) => [tag(enumWord(row.outcome, "HAND_OUTCOME_"), KINDS[row.outcome] ?? "warn"), row.suspended ? tag("suspended now", "warn") : row.wasSuspended ? tag("was suspended") : null] },
        { head: "Seed", cell: (row) => enumWord(row.seed, "SEED_STATE_") || "not due" },
        { head: "Withheld by", cell: (row) => (row.withheld ?? []).map((/** @type {any} */ one) => `seat ${one.seat} (${shortId(one.playerId)}${one.bot ? ", a bot" : ""})${one.opened ? ", opened since" : ""}`).join("; ") },
        { head: "Ended", cell: (row) => dayTime(row.endTime) },
      ],
      shown.reverse().slice(0, 500),
      "Every hand was played to its end, and its seed is open.",
    ),
    first?.seats?.length
      ? dataTable(
          "Seats of the table",
          [
            { head: "Seat", number: true, cell: (row) => String(row.seat) },
            { head: "Numbers", number: true, cell: (row) => credits(row.counts?.numbers) },
            { head: "Played", number: true, cell: (row) => credits(row.counts?.played) },
            { head: "Withheld", number: true, cell: (row) => credits(row.counts?.withheld) },
          ],
          first.seats,
        )
      : null,
    pageToken ? el("p", { class: "muted" }, "There are more numbers than are read here: choose a table.") : null,
  ];
}
