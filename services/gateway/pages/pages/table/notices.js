// What stands between a player and the game: no secure context, a suspended hand, limits, a closed or disabled table.

import { session } from "../../api/session.js";
import { el, wordsOf } from "./dom.js";

/** @typedef {{key: string, tone: string, title: string, text: string, action?: {label: string, act: () => void}}} Notice */

/** Time of day. @param {string | undefined} time */
function clockTime(time) {
  return time ? new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }) : "";
}

/** Day and time. @param {string | undefined} time */
function dayTime(time) {
  return time ? new Date(time).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }) : "";
}

export class Notices {
  /** @param {import("./context.js").Context} context @param {() => void} agree @param {() => string} fault gives why the room is not trusted any more */
  constructor(context, agree, fault) {
    this.context = context;
    this.agree = agree;
    this.fault = fault;
    this.element = el("div", { class: "notices" });
    this.drawn = "";
    /** What ended the following, in words. */
    this.refusal = "";
  }

  draw() {
    const notices = this.all();
    const name = JSON.stringify(notices);
    if (name === this.drawn) return;
    this.drawn = name;
    this.element.replaceChildren(...notices.map(({ tone, title, text, action }) => el("div", { class: `notice ${tone}`, role: tone === "bad" ? "alert" : "status" },
      el("div", null, el("strong", null, title), el("p", null, text)),
      action ? el("button", { type: "button", class: "button primary", "aria-keyshortcuts": "v", click: action.act }, action.label, el("kbd", { class: "key", "aria-hidden": "true" }, "V")) : null)));
  }

  /** @returns {Notice[]} */
  all() {
    const { view } = this.context;
    /** @type {Notice[]} */
    const all = [];
    if (!session.canSign) all.push({ key: "look", tone: "warn", title: "You can only look here", text: "Players sign their decisions and take part in chance, and browsers let a page do that over HTTPS or on the room's own machine alone. Open this room by its https: address to play." });
    if (this.fault()) all.push({ key: "fault", tone: "bad", title: "What the room showed does not check", text: `${this.fault()}. You commit to no further hand; the evidence is kept, on the page Me.` });
    const { refusal } = this.context.store;
    if (refusal && !this.refusal) void this.say(refusal);
    if (refusal) all.push({ key: "refusal", tone: "bad", title: "This table cannot be followed", text: this.refusal || refusal.message });
    if (!view) return all;
    all.push(...this.suspended(view));
    if (view.closed) all.push({ key: "closed", tone: "warn", title: "The table is closed", text: "Everybody has been paid out. Other tables are in the lobby." });
    if (view.disabled) all.push({ key: "disabled", tone: "warn", title: "No new hand starts here", text: `${view.disabled.withGame ? "The game is" : "The table is"} disabled since ${clockTime(view.disabled.disableTime)}: ${view.disabled.reason}. Players may leave, and are paid out as always.` });
    for (const stopped of view.stopped ?? []) all.push({ key: "stopped", tone: "warn", title: "Something waits for the operator", text: `${stopped.what}, since ${clockTime(stopped.stopTime)}. Everything else goes on.` });
    all.push(...standing(view), ...excluded(view));
    return all;
  }

  /** Finds words for what ended the following. @param {import("../../api/connect.js").Refusal} refusal */
  async say(refusal) {
    this.refusal = refusal.message;
    this.refusal = await wordsOf(refusal);
    this.draw();
  }

  /** @param {import("../../types.js").TableView} view @returns {Notice[]} */
  suspended(view) {
    const suspension = view.hand?.suspension ?? view.entropy?.suspension;
    if (!suspension) return [];
    const agreed = suspension.agreed ?? [];
    const live = (view.hand?.standing?.seats ?? []).filter((one) => one.status === "SEAT_STATUS_LIVE" || one.status === "SEAT_STATUS_ALL_IN");
    const mine = view.yourSeat && live.some((one) => one.seat === view.yourSeat) && !agreed.includes(view.yourSeat);
    const count = live.length ? ` ${agreed.length} of ${live.length} players have agreed to end it now.` : "";
    const text = `The dealer is silent since ${clockTime(suspension.startTime)}, so no card can be dealt and no clock runs. The hand goes on by itself when the dealer is back; at ${clockTime(suspension.endTime)} at the latest it ends, and everybody has back what they put in.${count}`;
    return [{ key: "suspended", tone: "bad", title: "The hand is suspended", text, ...(mine ? { action: { label: "Agree to end the hand", act: this.agree } } : {}) }];
  }
}

/** What the wallet says of one's standing. @param {import("../../types.js").TableView} view @returns {Notice[]} */
function standing(view) {
  const found = view.yourStanding;
  if (!found?.kind) return [];
  const until = found.endTime ? ` until ${dayTime(found.endTime)}` : "";
  /** @type {Record<string, string>} */
  const texts = {
    STANDING_KIND_EXCLUDED: `You keep out of play${until}. What is at your seat is paid out after the hand in play.`,
    STANDING_KIND_FROZEN: "Your account is frozen: no further hand. You may leave with your credits.",
    STANDING_KIND_CLOSED: "Your account is closed. What is at your seat is paid out after the hand in play.",
    STANDING_KIND_LIMIT_REACHED: `A limit of yours is used up${until}: no further hand. Leaving is free. Limits are on the page Me.`,
  };
  const text = texts[found.kind];
  if (text) return [{ key: "standing", tone: "bad", title: "You are not dealt in", text }];
  return (found.nearly ?? []).map((mark) => ({ key: "nearly", tone: "warn", title: "A limit is nearly reached", text: `${mark.left ?? 0} of ${mark.limit ?? 0} ${mark.measure === "LIMIT_MEASURE_TIME" ? "seconds of play" : "credits"} are left.` }));
}

/** Why one's seat is not dealt in for having withheld entropy. @param {import("../../types.js").TableView} view @returns {Notice[]} */
function excluded(view) {
  const exclusion = view.seats?.find((one) => one.seat === view.yourSeat)?.exclusion;
  if (!exclusion) return [];
  return [{ key: "excluded", tone: "warn", title: "You sit out for a while", text: `Hand ${exclusion.burntHandNo ?? ""} was burnt because your part in chance was not opened in time. You may be dealt in again from hand ${exclusion.untilHandNo ?? ""} on, not before ${clockTime(exclusion.endTime)}.` }];
}
