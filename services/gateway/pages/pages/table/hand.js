// One's own hand: large cards with their seals, what it is worth, and what the game adds to it.

import { cardName } from "../../elements/cards/names.js";
import { el, own, setText } from "./dom.js";

export class OwnHand {
  /** @param {import("./context.js").Context} context */
  constructor(context) {
    this.context = context;
    this.cards = el("ol", { class: "own-cards", "aria-label": "Your hand" });
    this.hint = el("p", { class: "own-hint" });
    this.extra = el("div", { class: "own-extra" });
    this.element = el("section", { class: "own-hand", "aria-label": "Your hand", hidden: true }, this.cards, el("div", { class: "own-words" }, this.hint, this.extra));
    /** Codes that are lit. @type {string[]} */
    this.lit = [];
    /** Takes the code of a card that is clicked, while a move asks for one. @type {((code: string) => void) | null} */
    this.pick = null;
  }

  draw() {
    const { context } = this;
    const cards = context.ownCards;
    const seat = context.view?.yourSeat ?? 0;
    this.element.hidden = !cards.length;
    if (!cards.length) return;
    const selected = context.view?.hand?.gameState?.coruscant?.selections?.find((one) => one.seat === seat)?.cards ?? [];
    while (this.cards.children.length > cards.length) this.cards.lastElementChild?.remove();
    this.cards.classList.toggle("many", cards.length > 5);
    cards.forEach((card, i) => {
      const place = this.cards.children[i] ?? this.cards.appendChild(el("li", { click: (/** @type {MouseEvent} */ event) => this.picked(event) }, own("sabacc-card", { deck: context.game.deck }), own("sabacc-seal", {}), el("span", { class: "under" })));
      const [drawn, seal, under] = /** @type {[HTMLElement, any, HTMLElement]} */ (/** @type {unknown} */ ([...place.children]));
      const code = card.code === "??" ? "" : card.code ?? "";
      if (drawn.getAttribute("code") !== code) {
        drawn.setAttribute("code", code);
        drawn.setAttribute("deck", context.game.deck);
      }
      place.classList.toggle("field", Boolean(card.locked));
      place.classList.toggle("selected", selected.includes(code));
      const proof = code ? context.proofOf(seat, i, card) : null;
      seal.hidden = !proof;
      if (proof) {
        seal.setAttribute("state", proof.state);
        seal.setAttribute("name", cardName(code, context.game.deck));
        seal.steps = proof.steps;
      }
      setText(under, card.locked ? "In the field" : selected.includes(code) ? "Selected" : "");
    });
    const codes = cards.map((card) => card.code ?? "??").filter((code) => code !== "??");
    setText(this.hint, context.game.hint(context, codes));
    this.extra.replaceChildren(...(context.game.extra?.(context, seat) ?? []));
    this.highlight(this.lit);
  }

  /** @param {MouseEvent} event */
  picked(event) {
    if (/** @type {Element} */ (event.target).localName !== "sabacc-seal") this.pick?.(/** @type {Element} */ (event.currentTarget).firstElementChild?.getAttribute("code") ?? "");
  }

  /** Lights the cards that a move would name. @param {string[]} codes */
  highlight(codes) {
    this.lit = codes;
    const rest = [...codes];
    [...this.cards.children].forEach((place) => {
      const code = place.firstElementChild?.getAttribute("code") ?? "";
      const at = rest.indexOf(code);
      if (at >= 0) rest.splice(at, 1);
      place.classList.toggle("lit", at >= 0);
    });
  }

  /** The hand in words. */
  words() {
    const names = this.context.ownCards.map((card) => cardName(card.code ?? "??", this.context.game.deck) + (card.locked ? " in the field" : ""));
    return names.length ? `Your hand: ${names.join(", ")}. ${this.hint.textContent}` : "";
  }
}
