// The games of the room, and the acts that disable and enable one; the limits of the public port.

import { call } from "../../api/session.js";
import { dataTable, el, panel, refill, tag } from "../parts/dom.js";
import { callForm } from "../parts/forms.js";
import { credits, dayTime, requestId, span } from "../parts/words.js";

const ROOM = "sabacc.table.v1.RoomService";

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function gamesTab(into, followed) {
  const list = el("div", { class: "stack" });
  const acts = el("div", {});
  const limits = el("div", {});
  let drawn = false;
  const draw = () => {
    const { room } = followed;
    if (!room) return void refill(list, el("p", { class: "muted" }, "Asking the room \u2026"));
    refill(list, gamesTable(room.games ?? []));
    refill(limits, limitsTable(room.limits));
    if (!drawn && followed.operator) refill(acts, actsPanel(room.games ?? []));
    drawn = true;
  };
  refill(into, panel("Games", list), acts, panel("Limits of the public port", limits));
  followed.events.addEventListener("room", draw);
  draw();
  return () => followed.events.removeEventListener("room", draw);
}

/** @param {any[]} games */
function gamesTable(games) {
  return dataTable(
    "Games of the room",
    [
      { head: "Game", cell: (row) => el("a", { href: `#/rules/${row.variant}` }, row.title) },
      { head: "Id", cell: (row) => el("code", {}, row.variant) },
      { head: "State", cell: (row) => (row.disabled ? tag("disabled", "warn") : tag("may be played", "good")) },
      { head: "Why", cell: (row) => (row.disabled ? `${row.disabled.reason} (${dayTime(row.disabled.disableTime)})` : "") },
    ],
    games,
  );
}

/** @param {any[]} games */
function actsPanel(games) {
  const options = games.map((game) => /** @type {[string, string]} */ ([game.variant, game.title]));
  const form = (/** @type {"Disable" | "Enable"} */ act) =>
    callForm({
      label: `${act} the game`,
      danger: act === "Disable",
      fields: [
        { name: "variant", label: "Game", type: "select", options },
        { name: "reason", label: "Reason, for everybody to read", required: true, attributes: { maxlength: 200 } },
      ],
      call: async (values) => {
        await call(`${ROOM}/${act}Game`, { requestId: requestId(), ...values });
        return act === "Disable" ? "No table of it starts another hand; hands in play go on to their ends." : "It may be played again.";
      },
    });
  return panel("Disable or enable a game", el("div", { class: "two" }, form("Disable"), form("Enable")));
}

/** @param {any} limits PortLimits */
function limitsTable(limits) {
  const rows = Object.entries(limits ?? {}).map(([key, value]) => ({ key, value }));
  return dataTable(
    "Limits, one a row",
    [
      { head: "Limit", cell: (row) => row.key.replace(/Ms$/, "").replace(/[A-Z]/g, (/** @type {string} */ letter) => ` ${letter.toLowerCase()}`) },
      { head: "Value", number: true, cell: (row) => (row.key.endsWith("Ms") ? span(Number(row.value) / 1000) : credits(row.value)) },
    ],
    rows,
    "The gateway has not said.",
  );
}
