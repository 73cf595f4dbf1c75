// <sabacc-dice values>: dice that show numbers, separated by spaces; they tumble when the values change. `words` in place of pips where
// a die shows something else, such as "gold +5". `pair` lights them.

import { define, isStill, sheet } from "./sheet.js";

/** Places of the pips of a die, by its number. @type {Record<number, [number, number][]>} */
const PIPS = {
  1: [[20, 20]], 2: [[12, 12], [28, 28]], 3: [[11, 11], [20, 20], [29, 29]], 4: [[12, 12], [28, 12], [12, 28], [28, 28]],
  5: [[11, 11], [29, 11], [20, 20], [11, 29], [29, 29]], 6: [[12, 10], [28, 10], [12, 20], [28, 20], [12, 30], [28, 30]],
};

const SHEET = sheet(`
  :host { display: inline-flex; gap: .5rem; }
  svg { width: var(--die, 2.4rem); height: var(--die, 2.4rem); border-radius: 20%; box-shadow: 0 3px 4px #0007; overflow: visible; }
  rect { fill: #f6ecd6; stroke: #0003; } circle { fill: #2a1a12; }
  text { font: 800 17px var(--display, sans-serif); text-anchor: middle; fill: #2a1a12; }
  :host([pair]) rect { fill: #ffb37f; } :host([pair]) svg { box-shadow: 0 0 10px #ff8642; }
`);

export class SabaccDice extends HTMLElement {
  static observedAttributes = ["values", "words"];

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [SHEET];
  }

  connectedCallback() { this.draw(); }
  /** @param {string} _name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(_name, before, now) { if (this.isConnected && before !== now) this.draw(); }

  draw() {
    const values = (this.getAttribute("words") ?? this.getAttribute("values") ?? "").split(/\s+/).filter(Boolean);
    this.setAttribute("role", "img");
    this.setAttribute("aria-label", `Dice: ${values.join(", ")}`);
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    root.replaceChildren(...values.map((value, i) => {
      const die = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      die.setAttribute("viewBox", "0 0 40 40");
      const pips = PIPS[Number(value)];
      die.innerHTML = `<rect x="1" y="1" width="38" height="38" rx="8"/>${pips && !this.hasAttribute("words") ? pips.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3.6"/>`).join("") : '<text x="20" y="26"></text>'}`;
      const text = die.querySelector("text");
      if (text) text.textContent = value;
      if (!isStill()) die.animate([{ transform: `translateY(-1.6rem) rotate(${i % 2 ? 420 : -380}deg)`, opacity: 0 }, { transform: "translateY(.2rem) rotate(8deg)", opacity: 1, offset: 0.8 }, { transform: "none" }], { duration: 620 + i * 90, easing: "cubic-bezier(.2,.8,.3,1)" });
      return die;
    }));
  }
}

define("sabacc-dice", SabaccDice);
