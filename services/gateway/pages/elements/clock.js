// <sabacc-clock>: the time left for a decision as a ring that empties.
//
// Properties: `deadline` (ms of the server's time, or null), `now` (function that gives the server's time in ms), `total` (ms of a full
// ring) and `bank` (the last ms of it that are time bank). Slotted content stands in the ring's middle; without any, the seconds do.

import { define, sheet } from "./sheet.js";

/** Time between two drawings, in ms: the ring moves by about a pixel. Drawn in each frame it would keep a processor busy. */
const TICK_MS = 200;
/** Length of the ring, as `pathLength` has it. */
const RING = 100;

const SHEET = sheet(`
  :host { display: inline-grid; width: var(--clock, 2.75rem); aspect-ratio: 1; place-items: center; position: relative; flex: none; will-change: opacity; }
  svg { position: absolute; inset: 0; width: 100%; height: 100%; transform: rotate(-90deg); overflow: visible; }
  circle { fill: none; stroke-width: 3.6; }
  .track { stroke: currentColor; stroke-opacity: .2; }
  .left { stroke: var(--accent, #ff8642); stroke-linecap: round; transition: stroke 300ms; }
  :host([state="bank"]) .left { stroke: #ffd072; }
  :host([state="late"]) .left { stroke: #ff7389; }
  :host([state="idle"]) .left { visibility: hidden; }
  .middle { display: grid; place-items: center; }
  .seconds { font: 700 .8rem/1 var(--text, sans-serif); font-variant-numeric: tabular-nums; }
`);

export class SabaccClock extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [SHEET];
    root.innerHTML = `<svg viewBox="0 0 40 40" aria-hidden="true"><circle class="track" cx="20" cy="20" r="18"/><circle class="left" cx="20" cy="20" r="18" pathLength="${RING}" stroke-dasharray="${RING}"/></svg><span class="middle"><slot><span class="seconds"></span></slot></span>`;
    /** @type {number | null} */
    this.deadlineMs = null;
    /** Gives the server's time in ms. @type {() => number} */
    this.now = () => Date.now();
    /** A full ring, in ms. */
    this.total = 20_000;
    /** Last part of the ring that is time bank, in ms. */
    this.bank = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
  }

  get deadline() { return this.deadlineMs; }
  set deadline(value) {
    this.deadlineMs = value;
    this.start();
  }

  /** Time left, in ms. */
  get left() { return this.deadlineMs === null ? 0 : Math.max(0, this.deadlineMs - this.now()); }

  connectedCallback() { this.start(); }
  disconnectedCallback() { clearInterval(this.timer); }

  /** Begins to count, or stops where there is nothing to count. */
  start() {
    clearInterval(this.timer);
    if (this.isConnected && this.deadlineMs !== null) this.timer = setInterval(() => this.draw(), TICK_MS);
    this.draw();
  }

  draw() {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    const left = this.left;
    const ring = /** @type {SVGElement} */ (root.querySelector(".left"));
    ring.style.strokeDashoffset = String(RING * (1 - Math.min(1, left / Math.max(1, this.total))));
    const state = this.deadlineMs === null ? "idle" : left < 5_000 ? "late" : left < this.bank ? "bank" : "full";
    if (this.getAttribute("state") !== state) this.setAttribute("state", state);
    const seconds = root.querySelector(".seconds");
    if (seconds) seconds.textContent = this.deadlineMs === null ? "" : String(Math.ceil(left / 1000));
  }
}

define("sabacc-clock", SabaccClock);
