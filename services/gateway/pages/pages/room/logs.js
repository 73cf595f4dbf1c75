// The logs of the room: sizes, checkpoints, keys and witnesses.

import { call } from "../../api/session.js";
import { dataTable, el, facts, panel, refill, tag } from "../parts/dom.js";
import { loadInto } from "../parts/forms.js";
import { credits } from "../parts/words.js";

const LOGS = ["table", "dealer", "wallet"];

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function logsTab(into, followed) {
  const sizes = el("div", { class: "stack" });
  const details = el("div", { class: "stack" });
  const draw = () => refill(sizes, sizesOf(followed.room));
  refill(
    into,
    panel("Logs", sizes),
    el("p", { class: "muted" }, "The keys are the room's own word. Whoever trusts nobody compares them with ", el("a", { href: "/keys.txt" }, "keys"), " from another source, and follows the logs with a witness or a monitor of their own."),
    details,
  );
  loadInto(details, async () => {
    const answers = await Promise.all(LOGS.map((log) => call("sabacc.audit.v1.LogService/GetCheckpoint", { log }).then((answer) => ({ log, ...answer }))));
    return answers.map(checkpointPanel);
  });
  followed.events.addEventListener("room", draw);
  draw();
  return () => followed.events.removeEventListener("room", draw);
}

/** @param {any} room */
function sizesOf(room) {
  const logs = room?.activity?.logs ?? [];
  if (logs.length === 0) return el("p", { class: "muted" }, room ? "Sizes as they grow, operators and auditors see; the checkpoints below anybody." : "Asking the room \u2026");
  return dataTable(
    "Sizes of the logs",
    [
      { head: "Log", cell: (row) => row.log },
      { head: "Records", number: true, cell: (row) => credits(row.size) },
      { head: "Witnesses that have signed", cell: (row) => (row.cosignedBy?.length ? row.cosignedBy.map((/** @type {string} */ name) => tag(name, "good")) : tag("none", "warn")) },
    ],
    logs,
  );
}

/** @param {any} answer GetCheckpointResponse with the log's name */
function checkpointPanel({ log, checkpoint, key, witnessKeys = [] }) {
  return panel(
    `Log of the ${log}`,
    facts([
      ["Records", credits(checkpoint.split("\n")[1])],
      ["Key", el("code", { class: "hex" }, key)],
      ["Witnesses", witnessKeys.length > 0 ? witnessKeys.map((/** @type {string} */ one) => el("code", { class: "hex" }, one)) : "none is asked: the room could show two people two logs"],
    ]),
    el("details", {}, el("summary", {}, "The newest checkpoint, as it is signed"), el("pre", { tabindex: "0" }, checkpoint)),
  );
}
