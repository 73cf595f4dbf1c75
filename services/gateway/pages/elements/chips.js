// <sabacc-chips amount>: a stack of chips and its amount in credits. `bare` leaves the number out.

import { credits, define, sheet } from "./sheet.js";

/** Chips by worth, the highest first. */
const CHIPS = /** @type {[number, string][]} */ ([[1000, "k"], [500, "d"], [100, "c"], [25, "q"], [5, "v"], [1, "i"]]);
/** Chips drawn at the most. */
const CHIPS_MAX = 7;

const SHEET = sheet(`
  :host { display: inline-flex; align-items: flex-end; gap: .3em; font: 700 .875rem/1.4 var(--text, sans-serif); font-variant-numeric: tabular-nums; white-space: nowrap; }
  :host([hidden]) { display: none; }
  svg { width: 1.55em; height: 1.9em; overflow: visible; flex: none; }
  .rim { stroke: #0006; stroke-width: .5; } .top { fill: #fff; fill-opacity: .3; } .notch { stroke: #fff; stroke-opacity: .75; stroke-width: 1.6; }
  .k { fill: #e8b04a; } .d { fill: #6a4bb0; } .c { fill: #23242b; } .q { fill: #1d7a58; } .v { fill: #c23b2e; } .i { fill: #7d8fa0; }
`);

export class SabaccChips extends HTMLElement {
  static observedAttributes = ["amount", "bare"];

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [SHEET];
  }

  connectedCallback() { this.draw(); }
  /** @param {string} _name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(_name, before, now) { if (this.isConnected && before !== now) this.draw(); }

  /** Draws the stack, the dearest chips at the bottom. */
  draw() {
    const text = this.getAttribute("amount") || "0";
    let rest = Number(text) || 0;
    /** @type {string[]} */
    const chips = [];
    for (const [worth, tone] of CHIPS) {
      for (; rest >= worth && chips.length < CHIPS_MAX; rest -= worth) chips.push(tone);
    }
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 32");
    svg.setAttribute("aria-hidden", "true");
    svg.innerHTML = chips.map((tone, i) => {
      const y = 23 - i * 2.8;
      return `<path class="rim ${tone}" d="M2 ${y}v3a10 5 0 0 0 20 0v-3z"/><path class="notch" d="M7 ${y + 3.6}v3M12 ${y + 4.8}v3M17 ${y + 3.6}v3"/><ellipse class="rim ${tone}" cx="12" cy="${y}" rx="10" ry="5"/><ellipse class="top" cx="12" cy="${y}" rx="6" ry="2.8"/>`;
    }).join("");
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    root.replaceChildren(svg);
    if (this.hasAttribute("bare")) return;
    const number = document.createElement("span");
    number.textContent = credits(text);
    root.append(number);
  }
}

define("sabacc-chips", SabaccChips);
