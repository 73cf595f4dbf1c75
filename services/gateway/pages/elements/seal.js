// <sabacc-seal state>: the mark of a card's proof, a button that opens to what was proved. `state` is pending, valid, invalid or none.
// Property `steps`: what was checked, line by line. Attribute `name`: of what.

import { define, sheet } from "./sheet.js";

/** @type {Record<string, {path: string, title: string, text: string}>} */
const STATES = {
  valid: { path: "M5 9.5 8 12.5 13 6.5", title: "Proved", text: "This card lies where the dealer committed it to lie before anybody could know it." },
  invalid: { path: "M6 6l6 6M12 6l-6 6", title: "The proof fails", text: "What the room showed does not lead to what the dealer committed to. The evidence is kept; it can be disputed on the page of the hand." },
  pending: { path: "M9 5v4.500l3 2", title: "Being checked", text: "This browser is checking the proof." },
  none: { path: "M9 6v4M9 12.500v.2", title: "Not checked here", text: "This browser has not checked the proof of this card." },
};

const SHEET = sheet(`
  :host { display: inline-block; }
  .seal { appearance: none; display: grid; place-items: center; width: var(--seal, 1.5rem); height: var(--seal, 1.5rem); padding: 0; border: 0; border-radius: 50%; background: none; cursor: pointer; color: #fff; position: relative; }
  .seal::after { content: ""; position: absolute; inset: -6px; }
  .seal:focus-visible { outline: 3px solid var(--accent, #ff8642); outline-offset: 2px; }
  svg { width: 100%; height: 100%; overflow: visible; }
  .wax { fill: #62646e; } .valid .wax { fill: #14784a; } .invalid .wax { fill: #b3173a; }
  .ring { fill: none; stroke: #ffffff80; stroke-width: 1; } .mark { fill: none; stroke: #fff; stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; }
  [popover] { color: var(--ink, #222); background: var(--raised, #fff); border: 1px solid var(--line-strong, #999); border-radius: var(--radius, 14px); box-shadow: var(--lift-3, 0 20px 50px #0006); padding: 1.25rem; max-width: min(30rem, calc(100vw - 2rem)); margin: auto; font: 400 .9375rem/1.5 var(--text, sans-serif); text-align: left; white-space: normal; }
  [popover]::backdrop { background: #06070ab0; }
  h3 { margin: 0 0 .35rem; font: 700 1.125rem/1.2 var(--display, sans-serif); } p { margin: 0; color: var(--ink-soft, #555); }
  ol { margin: .9rem 0 0; padding-left: 1.3em; display: grid; gap: .4rem; } li { overflow-wrap: anywhere; } code { display: block; font: 500 .6875rem/1.4 var(--mono, monospace); color: var(--ink-faint, #777); max-height: 4.2em; overflow: auto; }
  [popover] { max-height: 80dvh; overflow: auto; }
`);

/** Outline of the wax: a circle with sixteen teeth. */
const WAX = `M${Array.from({ length: 32 }, (_, i) => {
  const [r, a] = [i % 2 ? 7.6 : 9, (Math.PI * i) / 16];
  return `${(9 + r * Math.cos(a)).toFixed(2)} ${(9 + r * Math.sin(a)).toFixed(2)}`;
}).join("L")}z`;

export class SabaccSeal extends HTMLElement {
  static observedAttributes = ["state", "name"];

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [SHEET];
    root.innerHTML = '<button type="button" class="seal" popovertarget="proof"></button><div id="proof" popover><h3></h3><p></p><ol></ol></div>';
    root.querySelector("[popover]")?.addEventListener("beforetoggle", () => this.drawSteps());
    /** @type {(string | {text: string, value?: string})[]} */
    this.lines = [];
  }

  get steps() { return this.lines; }
  set steps(lines) {
    this.lines = lines ?? [];
    if (this.shadowRoot?.querySelector("[popover]")?.matches(":popover-open")) this.drawSteps();
  }

  connectedCallback() { this.draw(); }
  /** @param {string} _name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(_name, before, now) { if (this.isConnected && before !== now) this.draw(); }

  draw() {
    const name = this.getAttribute("state") ?? "none";
    const state = STATES[name] ?? STATES["none"];
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    const button = /** @type {HTMLButtonElement} */ (root.querySelector("button"));
    if (!state) return;
    const of = this.getAttribute("name") ?? "";
    button.className = `seal ${name}`;
    button.title = state.title;
    button.setAttribute("aria-label", `Seal${of ? ` of ${of}` : ""}: ${state.title}. Open what was proved.`);
    button.innerHTML = `<svg viewBox="0 0 18 18" aria-hidden="true"><path class="wax" d="${WAX}"/><circle class="ring" cx="9" cy="9" r="6.2"/><path class="mark" d="${state.path}"/></svg>`;
    /** @type {HTMLElement} */ (root.querySelector("h3")).textContent = of ? `${of}: ${state.title.toLowerCase()}` : state.title;
    /** @type {HTMLElement} */ (root.querySelector("p")).textContent = state.text;
  }

  /** Draws what was proved, line by line: when somebody asks for it. */
  drawSteps() {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    /** @type {HTMLElement} */ (root.querySelector("ol")).replaceChildren(...this.lines.map((line) => {
      const item = document.createElement("li");
      item.textContent = typeof line === "string" ? line : line.text;
      if (typeof line !== "string" && line.value) {
        const value = document.createElement("code");
        value.textContent = line.value;
        item.append(value);
      }
      return item;
    }));
  }
}

define("sabacc-seal", SabaccSeal);
