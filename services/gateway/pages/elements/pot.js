// <sabacc-pot name amount>: a pot with its name and chips. `note` says more in a tooltip; `strong` is for the largest.

import "./chips.js";
import { credits, define, sheet } from "./sheet.js";

const SHEET = sheet(`
  :host { display: inline-grid; justify-items: center; gap: .15rem; padding: .4rem .8rem .5rem; border-radius: .8rem; color: var(--felt-ink, #fff); background: #0000002e; box-shadow: inset 0 0 0 1px #ffffff1a; min-width: 5.5rem; }
  .name { font: 650 .6875rem/1.2 var(--display, sans-serif); letter-spacing: .1em; text-transform: uppercase; color: var(--felt-soft, #cde); white-space: nowrap; }
  sabacc-chips { font-size: 1rem; }
  :host([strong]) sabacc-chips { font-size: var(--strong-pot, 1.35rem); }
  :host([strong]) { background: #00000047; box-shadow: inset 0 0 0 1px #d9b26a73; }
`);

export class SabaccPot extends HTMLElement {
  static observedAttributes = ["name", "amount", "note"];

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [SHEET];
    root.innerHTML = '<span class="name" aria-hidden="true"></span><sabacc-chips aria-hidden="true"></sabacc-chips>';
  }

  connectedCallback() {
    this.setAttribute("role", "group");
    this.draw();
  }
  /** @param {string} _name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(_name, before, now) { if (this.isConnected && before !== now) this.draw(); }

  draw() {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    const [name, amount] = [this.getAttribute("name") ?? "", this.getAttribute("amount") ?? "0"];
    const label = /** @type {HTMLElement} */ (root.querySelector(".name"));
    label.textContent = name;
    const chips = /** @type {HTMLElement} */ (root.querySelector("sabacc-chips"));
    if (chips.getAttribute("amount") !== amount) chips.setAttribute("amount", amount);
    this.setAttribute("aria-label", `${name}: ${credits(amount)} credits`);
    this.title = this.getAttribute("note") ?? "";
  }
}

define("sabacc-pot", SabaccPot);
