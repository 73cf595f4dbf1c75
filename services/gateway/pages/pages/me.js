// Page of the player: balance over time, results by game and by hour, hands played, disputes, limits and self-exclusion,
// evidence kept here, name, login, and the ways out.

import { session } from "../api/session.js";
import "../elements/plot.js";
import { evidencePanel } from "./me/evidence.js";
import { disputesPanel, handsPanel } from "./me/hands.js";
import { limitsPanel } from "./me/limits.js";
import { loginPanel, namePanel, outPanel } from "./me/login.js";
import { moneyPanel } from "./me/money.js";
import { el, pageHead, refill, useStyles } from "./parts/dom.js";
import { callForm } from "./parts/forms.js";

/**
 * Shows the player.
 *
 * @param {HTMLElement} main
 */
export function show(main) {
  useStyles("pages.css", "me.css");
  const page = el("div", { class: "page me-page" });
  main.append(page);
  /** @type {AbortController} */
  let drawing = new AbortController();
  const draw = async () => {
    await session.ready;
    drawing.abort();
    drawing = new AbortController();
    const { player } = session;
    refill(page, ...(player ? signedIn(player, drawing.signal) : stranger()));
  };
  session.addEventListener("change", draw);
  draw();
  return () => {
    drawing.abort();
    session.removeEventListener("change", draw);
  };
}

/**
 * @param {{id: string, name: string}} player
 * @param {AbortSignal} signal
 */
function signedIn(player, signal) {
  return [
    pageHead(player.name || "You", ["You are ", el("code", { class: "hex" }, player.id), ". That pseudonym is all that tables and logs know."]),
    moneyPanel(signal),
    handsPanel(signal),
    limitsPanel(signal),
    disputesPanel(signal),
    evidencePanel(),
    el("div", { class: "two" }, namePanel(player), loginPanel()),
    outPanel(player),
  ];
}

/** What somebody sees who is no player. */
function stranger() {
  const role = session.roles.find((one) => one !== "player");
  return [
    pageHead("Me", role ? `You are signed in as ${role}, who has no account. Your page is the room's.` : "You have no seat in this room yet."),
    role ? el("p", {}, el("a", { class: "button primary", href: "#/room" }, "To the room")) : null,
    el(
      "div",
      { class: "two" },
      el(
        "section",
        { class: "panel", "aria-label": "Join" },
        el("h2", {}, "Join as guest"),
        callForm({
          label: "Join as guest",
          fields: [{ name: "name", label: "Your name, if you like", attributes: { maxlength: 24 } }],
          call: async (values) => void (await session.signInAsGuest(values.name ?? "")),
        }),
      ),
      loginPanel(),
    ),
    evidencePanel(),
  ];
}
