// Page of the room for operators and auditors: what runs and how busy it is, tables and games, hands, disputes, accounts,
// adjustments. Others see what a room says of itself to anybody.

import { call, session, stream } from "../api/session.js";
import "../elements/plot.js";
import { accountsTab } from "./room/accounts.js";
import { adjustmentsTab } from "./room/adjustments.js";
import { disputesTab } from "./room/disputes.js";
import { gamesTab } from "./room/games.js";
import { handsTab } from "./room/hands.js";
import { logsTab } from "./room/logs.js";
import { overviewTab, RoomHistory } from "./room/overview.js";
import { tablesTab } from "./room/tables.js";
import { el, pageHead, panel, refill, setQuery, tabs, tag, useStyles } from "./parts/dom.js";
import { callForm } from "./parts/forms.js";

/** Time between two readings where the room is not streamed, in milliseconds. */
const EVERY_MS = 10_000;

/**
 * The room as it is followed: the last answer, and what to do when there is another.
 *
 * @typedef {object} Followed
 * @property {any} room `Room`, or null before the first
 * @property {EventTarget} events event `room`
 * @property {RoomHistory} history
 * @property {boolean} operator
 * @property {boolean} auditor
 */

/**
 * Shows the room.
 *
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters `tab`
 */
export function show(main, parameters) {
  useStyles("pages.css", "room.css");
  const page = el("div", { class: "page room-page" });
  main.append(page);
  /** @type {() => void} */
  let end = () => {};
  let ended = false;
  const draw = async () => {
    await session.ready;
    if (ended) return;
    end();
    end = drawRoom(page, parameters);
  };
  session.addEventListener("change", draw);
  draw();
  return () => {
    ended = true;
    end();
    session.removeEventListener("change", draw);
  };
}

/**
 * @param {HTMLElement} page
 * @param {Record<string, string>} parameters
 */
function drawRoom(page, parameters) {
  const operator = session.roles.includes("operator");
  const auditor = session.roles.includes("auditor");
  const ending = new AbortController();
  /** @type {Followed} */
  const followed = { room: null, events: new EventTarget(), history: new RoomHistory(), operator, auditor };
  const state = el("span", { role: "status" });
  const staff = operator || auditor;
  const all = [
    { id: "overview", name: "Now", make: (/** @type {Element} */ into) => overviewTab(into, followed) },
    { id: "tables", name: "Tables", make: (/** @type {Element} */ into) => tablesTab(into, followed) },
    { id: "games", name: "Games", make: (/** @type {Element} */ into) => gamesTab(into, followed) },
    { id: "hands", name: "Hands", make: (/** @type {Element} */ into) => handsTab(into) },
    { id: "logs", name: "Logs", make: (/** @type {Element} */ into) => logsTab(into, followed) },
    ...(staff
      ? [
          { id: "disputes", name: "Disputes", make: (/** @type {Element} */ into) => disputesTab(into, followed) },
          { id: "accounts", name: "Accounts", make: (/** @type {Element} */ into) => accountsTab(into, followed) },
          { id: "adjustments", name: "Adjustments", make: (/** @type {Element} */ into) => adjustmentsTab(into, followed) },
        ]
      : []),
  ];
  const made = tabs("Parts of the room", all, { first: parameters.tab, chosen: (id) => setQuery({ tab: (parameters.tab = id) }) });
  refill(
    page,
    pageHead("The room", staff ? ["You are its ", operator ? "operator. " : "auditor. ", state] : ["What the room says of itself to anybody. ", state]),
    staff ? null : signInPanel(),
    made.list,
    made.into,
    staff ? el("p", {}, signOutButton()) : null,
  );
  follow(followed, state, ending.signal, staff);
  return () => {
    ending.abort();
    made.end();
  };
}

/**
 * Follows the room: by the stream where one may, else by asking again.
 *
 * @param {Followed} followed
 * @param {Element} state
 * @param {AbortSignal} signal
 * @param {boolean} staff
 */
async function follow(followed, state, signal, staff) {
  const take = (/** @type {any} */ room) => {
    followed.room = room;
    followed.history.take(room);
    refill(state, tag("live", "good"));
    followed.events.dispatchEvent(new Event("room"));
  };
  const pause = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));
  while (!signal.aborted) {
    try {
      if (staff) for await (const { room } of stream("sabacc.table.v1.RoomService/WatchRoom", {}, { signal })) take(room);
      else take((await call("sabacc.table.v1.RoomService/GetRoom", {}, { signal })).room);
    } catch (/** @type {any} */ error) {
      if (signal.aborted) return;
      refill(state, tag(`stale: ${error.message}`, "warn"));
    }
    await pause(EVERY_MS);
  }
}

function signInPanel() {
  return el(
    "details",
    { class: "panel" },
    el("summary", {}, "Sign in as operator or auditor"),
    panel(
      "Sign in with a token",
      el("p", { class: "muted" }, "The room's owner makes tokens: `sabacc token`, or the files that `sabacc up` leaves in its data folder."),
      callForm({
        label: "Sign in",
        fields: [{ name: "token", label: "Token", type: "area", required: true, attributes: { autocomplete: "off", spellcheck: "false" } }],
        call: async (values) => {
          await session.signInWithToken(values.token.trim());
          return "You are signed in.";
        },
      }),
    ),
  );
}

function signOutButton() {
  return el("button", { type: "button", class: "button", onclick: () => session.signOut() }, "Sign out of the room's staff");
}
