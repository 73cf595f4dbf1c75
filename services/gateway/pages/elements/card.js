// <sabacc-card code face deck small sealed>: a card, drawn as vectors in the style of its deck.
//
// `code` is the card's code, "" or "??" for its back. `face` "down" shows the back whatever the code. `deck` is S76, K44, C62 or P42.
// `small` draws only what is legible at 30 pixels. `sealed` marks what is known of its proof: pending, valid, invalid.

import { define, isStill, sheet } from "./sheet.js";
import { cardOf } from "./cards/names.js";
import { drawBack } from "./cards/back.js";

const SHEET = sheet(`
  :host { display: inline-block; width: var(--card, 4rem); aspect-ratio: 5 / 7; position: relative; flex: none; container-type: inline-size; }
  svg { width: 100%; height: 100%; display: block; overflow: visible; border-radius: 9.5% / 6.8%; box-shadow: 0 1px 1px #0006, 0 4px 8px #00000040; }
  .paper { fill: #f8f1e1; stroke: #00000038; stroke-width: 1; }
  .edge { fill: none; stroke: currentColor; stroke-opacity: .28; stroke-width: 1; }
  .body { fill: currentColor; color: var(--tone); }
  .index { font-family: "Avenir Next", Futura, "Century Gothic", "URW Gothic", "Trebuchet MS", system-ui, sans-serif; font-weight: 800; text-anchor: middle; letter-spacing: -1px; }
  .title { font-family: "Avenir Next", Futura, "Century Gothic", "URW Gothic", "Trebuchet MS", system-ui, sans-serif; font-weight: 700; font-size: 8.500px; letter-spacing: .8px; text-anchor: middle; }
  .cut { fill: var(--paper); }
  .line { fill: none; stroke: currentColor; stroke-width: 3; }
  .rays { fill: none; stroke: currentColor; stroke-opacity: .35; stroke-width: 1.5; }
  .plate { fill: currentColor; fill-opacity: .12; stroke: currentColor; stroke-width: 2; }
  .dot.hollow { fill: none; stroke: currentColor; stroke-opacity: .45; stroke-width: 1.4; }
  svg { --paper: #f8f1e1; --tone: #2b2622; }
  .sabers { --tone: #b02a1f; } .flasks { --tone: #17658a; } .coins { --tone: #946007; } .staves { --tone: #23703f; }
  .face.white { --tone: #4a2f6d; --paper: #fbf8f0; }
  .face.black { --tone: #f3d9a0; --paper: #231d2c; }
  .kessel.sand { --tone: #5c3a0d; --paper: #edd39c; }
  .kessel.blood { --tone: #ffe0d2; --paper: #86182a; }
  .spike.plus { --tone: #13693d; } .spike.minus { --tone: #ad1f33; } .spike.sylop { --tone: #55378c; }
  .french { --paper: #ffffff; } .french.red { --tone: #bd1f2c; } .french.black { --tone: #191b22; }
  .paper { fill: var(--paper); }
  .back { --paper: #e8dcc2; }
  .back .inner { fill: var(--back, #3a2150); }
  .back .lattice { fill: none; stroke: #fff; stroke-opacity: .22; stroke-width: 1; }
  .back .boss { fill: var(--back, #3a2150); stroke: #e3bf7a; stroke-width: 2; }
  .back .sigil { fill: none; stroke: #e3bf7a; stroke-width: 3.5; stroke-linejoin: round; }
  .K44 { --back: #6e2a18; } .C62 { --back: #134a57; } .P42 { --back: #1f3370; }
  .unknown { --tone: #2b2622; }
  .mark { position: absolute; right: -4%; bottom: -3%; width: max(11px, 24%); aspect-ratio: 1; border-radius: 50%; display: grid; place-items: center; border: 1.500px solid #fff8; background: #6b6b72; }
  .mark svg { width: 62%; height: 62%; box-shadow: none; }
  .mark path { fill: none; stroke: #fff; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; }
  .mark.valid { background: #14784a; } .mark.invalid { background: #b3173a; }
`);

/** @typedef {(card: import("./cards/names.js").Card, small: boolean) => {tone: string, body: string}} Draw */

/** Drawings of the decks that are loaded, by the deck. @type {Record<string, Draw>} */
const DRAW = {};

/** Loads the drawings of a deck. @param {import("./cards/names.js").Deck} deck */
async function loadDeck(deck) {
  if (deck === "S76") DRAW[deck] = (await import("./cards/s76.js")).drawS76;
  else {
    const { drawC62, drawK44, drawP42 } = await import("./cards/others.js");
    Object.assign(DRAW, { C62: drawC62, K44: drawK44, P42: drawP42 });
  }
}

/** Cards that are turned over in one frame. */
const TURNED_A_FRAME = 2;
/** Cards that are about to turn over. @type {Set<SabaccCard>} */
const turning = new Set();

/** Has a card turn over after those before it: many faces in one frame would hold up what else it shows. @param {SabaccCard} card */
function turnOver(card) {
  if (!turning.size) requestAnimationFrame(turnSome);
  turning.add(card);
}

function turnSome() {
  for (const card of [...turning].slice(0, TURNED_A_FRAME)) {
    turning.delete(card);
    if (card.isConnected) card.drawSide();
  }
  if (turning.size) requestAnimationFrame(turnSome);
}

const MARKS = { valid: "M4 9.5 7.5 13 14 5.5", invalid: "M5 5l8 8M13 5l-8 8", pending: "M9 5v5l3 2" };

export class SabaccCard extends HTMLElement {
  static observedAttributes = ["code", "face", "deck", "small", "sealed"];

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [SHEET];
    /** Code that is drawn; null before the first drawing. @type {string | null} */
    this.drawn = null;
  }

  connectedCallback() {
    if (!this.hasAttribute("role")) this.setAttribute("role", "img");
    this.draw();
  }

  /** @param {string} _name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(_name, before, now) {
    if (this.isConnected && before !== now) this.draw();
  }

  /** Code of the card that is shown; "" for its back. */
  get shown() {
    const code = this.getAttribute("code") ?? "";
    return this.getAttribute("face") === "down" || code === "??" ? "" : code;
  }

  /** Draws the card; where a back becomes a face, it turns over in its turn. */
  draw() {
    const card = this.shown ? cardOf(this.shown, this.getAttribute("deck") ?? "") : null;
    this.setAttribute("aria-label", card ? card.name : this.shown || "Face-down card");
    if (this.drawn === "" && this.shown && !isStill() && !document.hidden) turnOver(this);
    else this.drawSide();
  }

  /** Draws the side that is up. */
  drawSide() {
    const root = /** @type {ShadowRoot} */ (this.shadowRoot);
    const deck = this.getAttribute("deck") ?? "";
    const card = this.shown ? cardOf(this.shown, deck) : null;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 140");
    svg.setAttribute("aria-hidden", "true");
    const drawing = card && DRAW[card.deck];
    if (card && !drawing) void loadDeck(card.deck).then(() => this.isConnected && this.draw(), () => {});
    if (card) {
      const { tone, body } = drawing?.(card, this.hasAttribute("small")) ?? { tone: "", body: "" };
      svg.setAttribute("class", tone);
      svg.innerHTML = `<rect class="paper" x="1" y="1" width="98" height="138" rx="9"/><g class="body"><rect class="edge" x="5" y="5" width="90" height="130" rx="6"/>${body}</g>`;
    } else if (this.shown) {
      svg.setAttribute("class", "unknown");
      svg.innerHTML = '<rect class="paper" x="1" y="1" width="98" height="138" rx="9"/><g class="body"><text class="index" x="50" y="80" font-size="26"></text></g>';
      const text = svg.querySelector("text");
      if (text) text.textContent = this.shown;
    } else {
      svg.setAttribute("class", `back ${deck}`);
      svg.innerHTML = `<rect class="paper" x="1" y="1" width="98" height="138" rx="9"/>${drawBack(deck)}`;
    }
    root.replaceChildren(svg);
    this.drawMark(root);
    if (this.drawn === "" && this.shown && !isStill()) svg.animate([{ transform: "rotateY(90deg) scale(1.04)" }, { transform: "none" }], { duration: 320, easing: "ease-out" });
    this.drawn = this.shown;
  }

  /** Draws the seal's mark. @param {ShadowRoot} root */
  drawMark(root) {
    const state = /** @type {"valid" | "invalid" | "pending" | null} */ (this.getAttribute("sealed"));
    if (!state || !MARKS[state]) return;
    const mark = document.createElement("span");
    mark.className = `mark ${state}`;
    mark.innerHTML = `<svg viewBox="0 0 18 18" aria-hidden="true"><path d="${MARKS[state]}"/></svg>`;
    root.append(mark);
  }
}

define("sabacc-card", SabaccCard);
