// <sabacc-seat>: a player at the table: cards, name, credits, clock, what they put in, and marks of the game.
//
// Properties: `seat` (SeatView), `view` (TableView), `deck`, `badges` (list of {text, tone, title}), `now` (gives the server's time in
// ms), `total` (ms of a full clock), `last` (what they last did, in words), `proofOf` (gives a card's seal). Set them, then call `draw()`.

import "./card.js";
import "./chips.js";
import "./clock.js";
import "./seal.js";
import { rankWords } from "./cards/names.js";
import { credits, define, setText, sheet } from "./sheet.js";

/** @typedef {{text: string, tone?: string, title?: string}} Badge */
/** @typedef {{state: string, steps: any[]} | null} SealState */

/** Longest fan of cards that stand beside each other; more overlap further. */
const FAN = 3;

const SHEET = sheet(`
  :host { display: grid; grid-template-columns: minmax(0, 1fr); justify-items: center; gap: .3rem; color: var(--felt-ink, #fff); position: relative; min-width: 0; width: 100%; }
  .cards { display: flex; justify-content: center; min-height: calc(var(--card, 3rem) * 1.4); padding: 0; }
  .cards > span { position: relative; display: block; transition: transform 300ms; }
  .cards > span + span { margin-left: var(--overlap, .25rem); }
  .cards sabacc-seal { --seal: 1.15rem; position: absolute; right: -.2rem; bottom: -.2rem; }
  .cards.fan { align-items: end; } .cards.fan sabacc-card { width: calc(var(--card, 3rem) * .78); }
  .cards .field { transform: translateY(-.35rem); }
  .cards .field::before { content: ""; position: absolute; inset: -4px; border-radius: 8px; border: 2px solid #6fe3ff; box-shadow: 0 0 12px #3fc9ff99, inset 0 0 8px #3fc9ff66; z-index: 1; pointer-events: none; }
  .plate { display: grid; grid-template-columns: auto minmax(0, 1fr); align-items: center; gap: .1rem .5rem; box-sizing: border-box; width: 100%; max-width: 12rem; padding: .3rem .7rem .3rem .3rem; border-radius: 999px; background: linear-gradient(#25292fe6, #14171be6); box-shadow: inset 0 1px 0 #ffffff1f, 0 4px 14px #0006; position: relative; }
  .face { display: grid; place-items: center; width: 2rem; height: 2rem; border-radius: 50%; font: 800 .9rem/1 var(--display, sans-serif); color: #fff; background: hsl(var(--hue, 200) 45% 38%); text-transform: uppercase; }
  /* Above its neighbours, or each of them would be a layer above its own. */
  sabacc-clock { --clock: 2.5rem; grid-row: span 2; z-index: 1; }
  .who { display: flex; align-items: center; gap: .3rem; min-width: 0; }
  .bot { flex: none; padding: 0 .3rem; border-radius: .3rem; font: 700 .625rem/1.5 var(--text, sans-serif); color: #14171b; background: #b9d7ff; }
  .bot[hidden] { display: none; }
  .name { min-width: 0; font: 650 .875rem/1.2 var(--text, sans-serif); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .money { font: 600 .8125rem/1.2 var(--text, sans-serif); font-variant-numeric: tabular-nums; color: var(--brass, #d9b26a); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  .money .state { color: #d6d9dc; font-weight: 500; }
  .button { position: absolute; right: -.35rem; top: -.45rem; width: 1.2rem; height: 1.2rem; display: grid; place-items: center; border-radius: 50%; font: 800 .65rem/1 var(--display, sans-serif); background: #f6ecd6; color: #2a1a12; box-shadow: 0 1px 3px #0008; }
  .badges { display: flex; flex-wrap: wrap; justify-content: center; gap: .2rem; min-height: 0; width: max-content; max-width: 12.5rem; }
  .badge { padding: .1rem .45rem; border-radius: 999px; font: 600 .6875rem/1.4 var(--text, sans-serif); color: #fff; background: #0007; white-space: nowrap; }
  .badge.good { background: #14784a; } .badge.bad { background: #a31636; } .badge.warn { background: #ffd072; color: #2b1d00; } .badge.accent { background: var(--accent-fixed, #ff8642); color: #210c00; } .badge.light { background: #eef3ff; color: #1d2547; } .badge.dark { background: #1a1020; color: #ff9aa9; box-shadow: inset 0 0 0 1px #ff9aa966; }
  :host([data-side="bottom"]) .badges { order: -1; }
  .bet { position: absolute; z-index: 2; left: 50%; bottom: 100%; transform: translate(-50%, -.2rem); }
  :host([data-side="top"]) .bet { bottom: auto; top: 100%; transform: translate(-50%, .2rem); }
  :host([data-side="left"]) .bet { left: 100%; bottom: 30%; transform: translate(.4rem, 0); }
  :host([data-side="right"]) .bet { left: auto; right: 100%; bottom: 30%; transform: translate(-.4rem, 0); }
  :host([mine]) .cards { display: none; }
  /* Over the foot of the seat's own cards: beside them there are other seats, or the page's head. */
  .says { position: absolute; grid-area: 1 / 1 / 2 / 2; bottom: -.1rem; left: 50%; transform: translateX(-50%); z-index: 3; box-sizing: border-box; width: max-content; max-width: 11rem; padding: .2rem .6rem; border-radius: .6rem; font: 650 .78125rem/1.3 var(--text, sans-serif); text-align: center; color: #1c150d; background: #f6ecd6; box-shadow: 0 2px 6px #0006; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; pointer-events: none; opacity: 0; }
  :host([data-side="bottom"]) .says { grid-row: 2 / 3; }
  :host([mine]) .says { bottom: 100%; }
  @media (max-width: 47.99rem) {
    :host([data-side]) .bet { position: static; transform: none; }
    :host([data-side]) .badges { order: 0; }
    sabacc-clock { --clock: 2.1rem; } .face { width: 1.6rem; height: 1.6rem; font-size: .75rem; }
    .badges { max-width: 100%; } .badge:not(.short) { white-space: normal; text-align: center; border-radius: .6rem; }
    .plate { padding: .25rem .5rem .25rem .25rem; gap: 0 .4rem; } .name { font-size: .8125rem; } .money { font-size: .75rem; } .state { display: none; }
    :host([data-side]) .says { grid-row: 1 / 2; bottom: -.1rem; }
    .says { max-width: calc(100% + .5rem); padding: .15rem .4rem; font-size: .6875rem; line-height: 1.2; max-height: calc(2.4em + .3rem); white-space: normal; text-wrap: balance; }
    /* A table of seven or eight: four beside each other. The clock is a ring at the plate's corner, while it runs. */
    :host([crowded]) .plate { grid-template-columns: minmax(0, 1fr); padding: .2rem .45rem .25rem; border-radius: .7rem; justify-items: center; }
    :host([crowded]) .who { max-width: 100%; } :host([crowded]) .name { font-size: .75rem; } :host([crowded]) .bot { font-size: .5625rem; padding: 0 .2rem; }
    :host([crowded]) sabacc-clock { display: none; --clock: 1.5rem; position: absolute; left: -.4rem; top: -.6rem; background: #14171b; border-radius: 50%; }
    :host([crowded][turn]) sabacc-clock { display: inline-grid; } :host([crowded]) .face { width: 1.1rem; height: 1.1rem; font-size: .625rem; }
    :host([crowded]) .badge { padding: .05rem .3rem; font-size: .625rem; letter-spacing: -.02em; }
    :host([crowded]) .button { width: 1.05rem; height: 1.05rem; right: -.25rem; }
    :host([crowded]) sabacc-seal { --seal: .95rem; }
  }
  .bet sabacc-chips { color: #fff; text-shadow: 0 1px 2px #000; padding: .1rem .45rem .1rem .2rem; border-radius: 999px; background: #0006; }
  .says.new { animation: say 2.6s ease-out; }
  @keyframes say { 0% { opacity: 0; transform: translate(-50%, .4rem); } 8%, 80% { opacity: 1; transform: translate(-50%, 0); } 100% { opacity: 0; } }
  :host([turn]) .plate { box-shadow: inset 0 1px 0 #ffffff1f, 0 0 0 2px var(--accent-fixed, #ff8642), 0 0 26px #ff864299; }
  :host([out]) .cards, :host([out]) .plate { opacity: .45; }
  :host([won]) .plate { box-shadow: 0 0 0 2px #ffd072, 0 0 34px #ffd072a6; }
  :host([mine]) .plate { background: linear-gradient(#47301fe6, #21150de6); }
  .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  @media (prefers-reduced-motion: reduce) { .says.new { animation: still 2.6s; } @keyframes still { 0%, 95% { opacity: 1; } 100% { opacity: 0; } } }
`);

export class SabaccSeat extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [SHEET];
    root.innerHTML = `<div class="cards"></div><div class="plate"><sabacc-clock><span class="face"></span></sabacc-clock><span class="who"><span class="name"></span><span class="bot" hidden>bot<span class="hidden">, a program plays here</span></span></span><span class="money"></span><span class="button" title="Dealer button" hidden>D</span></div><div class="badges"></div><div class="bet"><sabacc-chips hidden></sabacc-chips></div><div class="says" aria-hidden="true"></div>`;
    /** @type {any} */
    this.seat = null;
    /** @type {any} */
    this.view = null;
    this.deck = "";
    /** @type {Badge[]} */
    this.badges = [];
    /** @type {() => number} */
    this.now = () => Date.now();
    this.total = 20_000;
    /** @type {((seat: number, index: number, card: any) => SealState) | null} */
    this.proofOf = null;
    /** Badges that are drawn, as JSON. */
    this.drawnBadges = "[]";
    /** How the player stands, where it is not plain play. */
    this.stands = "";
    /** Whether the seat's cards are drawn elsewhere. */
    this.bare = false;
  }

  /** Element of the shadow tree. @param {string} selector @returns {any} */
  part_(selector) { return this.shadowRoot?.querySelector(selector); }

  /** Draws the seat as its properties have it. */
  draw() {
    const { seat, view } = this;
    if (!seat || !view) return;
    const hand = view.hand;
    const held = hand?.seats?.find((/** @type {any} */ one) => one.seat === seat.seat);
    const standing = hand?.standing?.seats?.find((/** @type {any} */ one) => one.seat === seat.seat);
    const over = hand?.phase === "HAND_PHASE_OVER";
    const turn = hand?.turn?.seat === seat.seat ? hand.turn : null;
    const name = seat.name || `Seat ${seat.seat}`;
    this.toggleAttribute("turn", Boolean(turn));
    this.toggleAttribute("mine", view.yourSeat === seat.seat);
    this.toggleAttribute("out", Boolean(hand) && (!held || standing?.status === "SEAT_STATUS_OUT"));
    const face = this.part_(".face");
    setText(face, name.replace(/^Seat /, "").slice(0, 1));
    face.style.setProperty("--hue", String([...(seat.playerId || name)].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 360, 7)));
    setText(this.part_(".name"), name);
    this.part_(".name").title = seat.house ? `${name}, of the house` : name;
    this.part_(".bot").hidden = !seat.bot;
    this.part_(".bot").title = "The house says that a program plays here";
    this.drawMoney(seat, standing, held, over);
    this.drawCards(held);
    this.drawClock(turn);
    const last = hand?.seats?.[hand.seats.length - 1];
    this.part_(".button").hidden = last?.seat !== seat.seat;
    const bet = this.part_(".bet sabacc-chips");
    bet.hidden = over || !Number(standing?.inRoundCredits);
    bet.setAttribute("amount", standing?.inRoundCredits ?? "0");
    const rank = over && held?.rank ? [{ text: rankWords(held.rank.text ?? ""), tone: "" }] : [];
    this.drawBadges([...(this.stands ? [{ text: this.stands, tone: "warn" }] : []), ...rank, ...this.badges]);
  }

  /** Badges, anew only where one is another: what is replaced is painted again. @param {Badge[]} badges */
  drawBadges(badges) {
    const drawn = JSON.stringify(badges);
    if (drawn === this.drawnBadges) return;
    this.drawnBadges = drawn;
    this.part_(".badges").replaceChildren(...badges.map((badge) => {
      const made = document.createElement("span");
      made.className = `badge ${badge.tone ?? ""}`;
      // It fits beside its neighbours at a table of eight, and a second line would push the pots away.
      made.classList.toggle("short", badge.text.length <= 11);
      made.textContent = badge.text;
      if (badge.title) made.title = badge.title;
      return made;
    }));
  }

  /** Credits, and the state where it is not plain play. @param {any} seat @param {any} standing @param {any} held @param {boolean} over */
  drawMoney(seat, standing, held, over) {
    /** @type {Record<string, string>} */
    const states = { SEAT_STATE_BUYING_IN: "buying in", SEAT_STATE_SITTING_OUT: "sits out", SEAT_STATE_LEAVING: "leaving" };
    /** @type {Record<string, string>} */
    const statuses = { SEAT_STATUS_ALL_IN: "all in", SEAT_STATUS_LEAVING: "leaving", SEAT_STATUS_OUT: "out" };
    const standsAs = statuses[standing?.status ?? ""] && held && !over ? statuses[standing.status] : states[seat.state ?? ""];
    const money = this.part_(".money");
    const amount = credits(held && standing && !over ? standing.stackCredits : seat.stackCredits);
    this.stands = standsAs ?? "";
    if (!seat.house) return setText(money, amount);
    if (money.firstChild?.nodeValue === amount && money.children.length) return;
    money.textContent = amount;
    const house = document.createElement("span");
    house.className = "state";
    house.textContent = " · house";
    house.title = "The house says that this player is its own";
    money.append(house);
  }

  /** Cards, kept by place so that they turn over. @param {any} held */
  drawCards(held) {
    const row = this.part_(".cards");
    const cards = this.bare ? [] : (held?.cards ?? []);
    while (row.children.length > cards.length) row.lastElementChild?.remove();
    const open = cards.length > FAN && cards.some((/** @type {any} */ card) => card.code && card.code !== "??");
    row.classList.toggle("fan", open);
    row.style.setProperty("--overlap", open ? `calc(var(--card, 3rem) * ${-0.1 - Math.max(0, cards.length - 5) * 0.1})` : cards.length > FAN ? `calc(var(--card, 3rem) * ${-0.28 - Math.min(0.36, (cards.length - FAN - 1) * 0.12)})` : "");
    cards.forEach((/** @type {any} */ card, /** @type {number} */ i) => {
      let place = row.children[i];
      if (!place) {
        place = document.createElement("span");
        const made = document.createElement("sabacc-card");
        made.setAttribute("small", "");
        place.append(made);
        row.append(place);
      }
      place.classList.toggle("field", Boolean(card.locked));
      place.title = card.locked ? "In the field: a shift does not touch it" : "";
      const drawn = /** @type {HTMLElement} */ (place.firstElementChild);
      drawn.setAttribute("deck", this.deck);
      const code = card.code === "??" ? "" : card.code;
      if (drawn.getAttribute("code") !== code) drawn.setAttribute("code", code);
      this.drawSeal(place, code, i, card);
    });
  }

  /** Seal of a card that is open. @param {Element} place @param {string} code @param {number} index @param {any} card */
  drawSeal(place, code, index, card) {
    const state = code && this.proofOf ? this.proofOf(this.seat.seat, index, card) : null;
    let seal = /** @type {any} */ (place.querySelector("sabacc-seal"));
    if (!state) return void seal?.remove();
    if (!seal) {
      seal = document.createElement("sabacc-seal");
      place.append(seal);
    }
    seal.setAttribute("state", state.state);
    seal.setAttribute("name", place.firstElementChild?.getAttribute("aria-label") ?? "");
    seal.steps = state.steps;
  }

  /** Clock of the turn. @param {any} turn */
  drawClock(turn) {
    const clock = this.part_("sabacc-clock");
    clock.now = this.now;
    clock.total = this.total;
    clock.bank = turn?.bankMs ?? 0;
    clock.deadline = turn?.deadline ? Date.parse(turn.deadline) : null;
  }

  /** Shows for a moment what the player did. @param {string} text */
  say(text) {
    // A new element begins its animation anew, without a layout in between.
    const bubble = this.part_(".says").cloneNode();
    bubble.textContent = text;
    bubble.classList.add("new");
    this.part_(".says").replaceWith(bubble);
  }
}

define("sabacc-seat", SabaccSeat);
