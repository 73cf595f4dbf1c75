// The tables of the room, and what an operator does to one: disable, enable, close, and let go on what has stopped.

import { call } from "../../api/session.js";
import { button, dataTable, el, panel, refill, tag } from "../parts/dom.js";
import { callForm, loadInto } from "../parts/forms.js";
import { credits, dayTime, enumWord, requestId } from "../parts/words.js";

const TABLE = "sabacc.table.v1.TableService";
const ROOM = "sabacc.table.v1.RoomService";

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function tablesTab(into, followed) {
  const list = el("div", { class: "stack" });
  const one = el("div", { class: "stack" });
  const load = () => loadInto(list, () => tablesList(one, followed, load));
  load();
  refill(into, panel("Tables", list, el("p", {}, "A table is opened in the ", el("a", { href: "#/" }, "lobby"), ".")), one);
}

/**
 * @param {Element} one place for the chosen table
 * @param {import("../room.js").Followed} followed
 * @param {() => void} again
 */
async function tablesList(one, followed, again) {
  /** @type {any[]} */
  const tables = [];
  let pageToken = "";
  do {
    const answer = await call(`${TABLE}/ListTables`, { pageSize: 500, pageToken });
    tables.push(...(answer.tables ?? []));
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
  return [
    dataTable(
      "Open tables",
      [
        { head: "Table", cell: (row) => el("a", { href: `#/table/${row.tableId}` }, row.name) },
        { head: "Game", cell: (row) => row.variant },
        { head: "Seats", number: true, cell: (row) => `${row.seated ?? 0} / ${row.seats}` },
        { head: "Hand", number: true, cell: (row) => credits(row.handNo) },
        { head: "Ante", number: true, cell: (row) => credits(row.anteCredits) },
        { head: "State", cell: (row) => (row.disabled ? tag("disabled", "warn") : tag("open", "good")) },
        { head: "Acts", cell: (row) => button("Look closer", () => tableCard(one, row.tableId, followed, again), { class: "small", "aria-label": `Look closer at ${row.name}` }) },
      ],
      tables,
      "No table is open.",
    ),
    el("div", { class: "row" }, button("Read again", again, { class: "small" })),
  ];
}

/**
 * @param {Element} into
 * @param {string} tableId
 * @param {import("../room.js").Followed} followed
 * @param {() => void} again
 */
function tableCard(into, tableId, followed, again) {
  loadInto(into, async () => {
    const { table } = await call(`${TABLE}/GetTable`, { tableId });
    const redraw = () => {
      tableCard(into, tableId, followed, again);
      again();
    };
    return panel(
      table.name,
      el("p", {}, el("code", { class: "hex" }, tableId)),
      table.disabled ? el("p", { class: "notice warn" }, `Disabled${table.disabled.withGame ? " with its game" : ""} since ${dayTime(table.disabled.disableTime)}: ${table.disabled.reason}`) : null,
      stoppedTable(table.stopped ?? []),
      dataTable(
        "Seats",
        [
          { head: "Seat", number: true, cell: (row) => String(row.seat) },
          { head: "Name", cell: (row) => row.name || "\u2013" },
          { head: "Player", cell: (row) => el("code", { class: "hex" }, row.playerId) },
          { head: "Stack", number: true, cell: (row) => credits(row.stackCredits) },
          { head: "State", cell: (row) => [enumWord(row.state, "SEAT_STATE_"), row.house ? [" ", tag("house")] : [], row.bot ? [" ", tag("bot")] : []].flat(2) },
        ],
        table.seats ?? [],
        "Nobody sits here.",
      ),
      el("details", {}, el("summary", {}, "Rules and settings, as they are hashed into each hand"), el("pre", { tabindex: "0" }, `${table.ruleSet ?? ""}\n${table.settings ?? ""}`)),
      el("p", { class: "row" }, el("a", { class: "button small", href: `#/rules?table=${tableId}` }, "Its rules in words"), Number(table.handNo ?? 0) > 1 ? el("a", { class: "button small", href: `#/hand?table=${tableId}&no=${Number(table.handNo) - 1}` }, "Its last hand") : null),
      followed.operator ? actsOf(table, redraw) : null,
    );
  });
}

/** @param {any[]} stopped StoppedEffect */
function stoppedTable(stopped) {
  if (stopped.length === 0) return null;
  return el(
    "div",
    { class: "notice bad" },
    el("p", {}, "Something has stopped here and waits for an operator."),
    dataTable(
      "Stops",
      [
        { head: "What", cell: (row) => row.what },
        { head: "Since", cell: (row) => dayTime(row.stopTime) },
        { head: "Why", cell: (row) => row.why ?? "" },
        { head: "Suspense", cell: (row) => (row.payableToSuspense ? "may be paid there" : "") },
      ],
      stopped,
    ),
  );
}

/**
 * @param {any} table TableView
 * @param {() => void} redraw
 */
function actsOf(table, redraw) {
  const { tableId } = table;
  const reason = { name: "reason", label: "Reason, for everybody to read", required: true, attributes: { maxlength: 200 } };
  const act = table.disabled ? "Enable" : "Disable";
  return el(
    "div",
    { class: "two" },
    callForm({
      label: `${act} the table`,
      danger: act === "Disable",
      fields: [reason],
      call: async (values) => {
        await call(`${ROOM}/${act}Table`, { requestId: requestId(), tableId, ...values });
        redraw();
      },
    }),
    callForm({
      label: "Close the table",
      danger: true,
      fields: [],
      confirm: "After the hand in play everybody is paid out, for good.",
      call: async () => {
        await call(`${TABLE}/CloseTable`, { requestId: requestId(), tableId });
        redraw();
        return "The table closes after the hand in play.";
      },
    }),
    (table.stopped ?? []).length > 0
      ? callForm({
          label: "Let it go on",
          fields: [
            { name: "resolution", label: "How", type: "select", options: [["RESOLUTION_RETRY", "try again"], ["RESOLUTION_PAY_TO_SUSPENSE", "pay what cannot be paid to house/suspense"]] },
            { ...reason, label: "Reason, for the record", attributes: { maxlength: 500 } },
          ],
          call: async (values) => {
            await call(`${TABLE}/ResumeTable`, { requestId: requestId(), tableId, ...values });
            redraw();
          },
        })
      : null,
  );
}
