// The moves that are legal now, as buttons with keys; and the form that fills in what a move names. Built from LegalMove alone.

import { el, wordsOf } from "./dom.js";
import { hintOf, keysOf, labelOf, verb } from "./verbs.js";

/** @typedef {import("../../types.js").LegalMove} LegalMove */
/** @typedef {import("../../types.js").Move} Move */

/** Moves that stand on the main button. */
const PLAIN = new Set(["MOVE_KIND_CHECK", "MOVE_KIND_MATCH", "MOVE_KIND_KEEP", "MOVE_KIND_DISCARD", "MOVE_KIND_SELECT", "MOVE_KIND_ADD", "MOVE_KIND_VOID"]);
/** Moves that give something up. */
const GRAVE = new Set(["MOVE_KIND_FOLD", "MOVE_KIND_JUNK"]);

export class Moves {
  /** @param {import("./context.js").Context} context @param {import("./hand.js").OwnHand} hand @param {(move: Move, legal: LegalMove) => Promise<void>} act */
  constructor(context, hand, act) {
    this.context = context;
    this.hand = hand;
    this.act = act;
    this.buttons = el("div", { class: "moves", role: "group", "aria-label": "Your moves" });
    this.refusal = el("p", { class: "notice bad", role: "alert", hidden: true });
    this.form = el("div", { class: "composer-place" });
    this.element = el("div", { class: "move-area" }, this.refusal, this.form, this.buttons);
    /** Turn whose moves are drawn. */
    this.drawn = "";
    this.sending = false;
    /** @type {import("./composer.js").Composer | null} */
    this.composer = null;
    /** @type {Map<string, LegalMove>} */
    this.byKey = new Map();
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
  }

  end() { document.removeEventListener("keydown", this.onKey); }

  /** Moves that can be made now; leaving has a button of its own. @returns {LegalMove[]} */
  get legal() {
    return (this.context.ownTurn?.legal ?? []).filter((move) => move.kind !== "MOVE_KIND_LEAVE" && move.kind !== "MOVE_KIND_VOID");
  }

  draw() {
    const turn = this.context.ownTurn;
    const name = turn ? `${this.context.view?.hand?.handNo}/${turn.turn}/${JSON.stringify(turn.legal)}` : "";
    if (name === this.drawn) return;
    const hadFocus = this.element.contains(document.activeElement);
    this.drawn = name;
    this.sending = false;
    this.refusal.hidden = true;
    this.cancel();
    const { legal } = this;
    const keys = keysOf(legal);
    this.byKey = new Map(legal.map((move, i) => [keys[i] ?? "", move]));
    this.buttons.replaceChildren(...legal.map((move, i) => this.button(move, keys[i] ?? "", turn?.defaultMove?.kind === move.kind)));
    this.element.hidden = !legal.length;
    // Before it is needed, so that a move does not wait for it.
    if (legal.some((move) => move.moveArguments?.length)) import("./composer.js").catch(() => {});
    if (hadFocus) /** @type {HTMLElement | null} */ (this.buttons.querySelector("button"))?.focus();
  }

  /** @param {LegalMove} move @param {string} key @param {boolean} isDefault */
  button(move, key, isDefault) {
    const tone = PLAIN.has(move.kind ?? "") ? "primary" : GRAVE.has(move.kind ?? "") ? "danger" : "";
    const hint = isDefault ? `${hintOf(move)} (what the clock takes)` : hintOf(move);
    return el("button", { type: "button", class: `button move ${tone}`, "aria-keyshortcuts": key, "data-kind": move.kind, title: hint, click: () => void this.begin(move) },
      el("span", { class: "label" }, labelOf(move)),
      el("kbd", { class: "key", "aria-hidden": "true" }, key.toUpperCase()),
      el("small", null, hint));
  }

  /** Makes the move, or asks for what it names. @param {LegalMove} legal */
  async begin(legal) {
    if (this.sending) return;
    this.cancel();
    if (!legal.moveArguments?.length) return void this.send({ kind: legal.kind }, legal);
    const { drawn } = this;
    const { Composer } = await import("./composer.js");
    if (this.sending || this.composer || this.drawn !== drawn) return;
    const composer = new Composer(legal, this.context, this.hand, {
      done: (move) => void this.send(move, legal),
      cancel: () => this.cancel(true),
    });
    const move = composer.decided();
    if (move) return void this.send(move, legal);
    this.composer = composer;
    this.form.replaceChildren(composer.element);
    this.buttons.hidden = true;
    composer.focus();
  }

  /** Closes the form. @param {boolean} [refocus] */
  cancel(refocus = false) {
    const kind = this.composer?.legal.kind;
    this.composer?.end();
    this.composer = null;
    this.form.replaceChildren();
    this.buttons.hidden = false;
    if (refocus) /** @type {HTMLElement | null} */ (this.buttons.querySelector(`[data-kind="${kind}"]`))?.focus();
  }

  /** @param {Move} move @param {LegalMove} legal */
  async send(move, legal) {
    if (this.sending) return;
    this.sending = true;
    this.refusal.hidden = true;
    this.element.setAttribute("aria-busy", "true");
    try {
      await this.act(move, legal);
      this.cancel();
    } catch (error) {
      this.sending = false;
      this.cancel();
      this.refusal.textContent = `${verb(legal.kind, legal.text).label}: ${await wordsOf(error)}`;
      this.refusal.hidden = false;
    } finally {
      this.element.removeAttribute("aria-busy");
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    if (this.composer) {
      if (this.composer.key(event)) event.preventDefault();
      return;
    }
    if (at.closest?.("input, select, textarea")) return;
    const move = this.byKey.get(event.key.toLowerCase());
    if (event.key.toLowerCase() === "v" && !move) return /** @type {HTMLElement | null} */ (document.querySelector(".notices [aria-keyshortcuts='v']"))?.click();
    if (!move || this.element.hidden) return;
    event.preventDefault();
    void this.begin(move);
  }
}
