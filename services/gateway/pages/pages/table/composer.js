// The form of a move: what each of its arguments may be, by clicking or by keys. Digits choose, Enter confirms, Escape goes back.

import { credits } from "../../elements/sheet.js";
import { el, own } from "./dom.js";
import { choiceTitle, labelOf } from "./verbs.js";
import { tokenText } from "./games/tokens.js";

/** @typedef {import("../../types.js").LegalMove} LegalMove */
/** @typedef {import("../../types.js").Move} Move */

/** Argument of a move with choices: what is chosen, and between how many and how many.
 * @typedef {{argument: string, choices: string[], least: number, most: number, chosen: number[]}} Choice */

/** @type {Record<string, string>} */
const ASKS = { MOVE_ARGUMENT_CARDS: "Which card?", MOVE_ARGUMENT_SIDE: "Which side?", MOVE_ARGUMENT_PILE: "Which pile?", MOVE_ARGUMENT_TOKENS: "Which token?", MOVE_ARGUMENT_SEAT: "Which player?", MOVE_ARGUMENT_VALUE: "Which die?" };

export class Composer {
  /** @param {LegalMove} legal @param {import("./context.js").Context} context @param {import("./hand.js").OwnHand} hand @param {{done: (move: Move) => void, cancel: () => void}} then */
  constructor(legal, context, hand, then) {
    this.legal = legal;
    this.context = context;
    this.hand = hand;
    this.then = then;
    /** @type {Choice[]} */
    this.choices = (legal.moveArguments ?? []).map(String).filter((argument) => argument !== "MOVE_ARGUMENT_AMOUNT").map((argument) => choiceOf(legal, argument));
    this.takesAmount = (legal.moveArguments ?? []).map(String).includes("MOVE_ARGUMENT_AMOUNT");
    this.least = Number(legal.minCredits ?? 0);
    this.most = Number(legal.maxCredits ?? 0);
    this.amount = this.least;
    this.confirm = el("button", { type: "submit", class: "button primary" }, el("span", null, labelOf(legal)), el("kbd", { class: "key", "aria-hidden": "true" }, "Enter"));
    this.element = el("form", { class: "composer", "aria-label": labelOf(legal), submit: (/** @type {Event} */ event) => { event.preventDefault(); this.submit(); } });
  }

  /** The move, where nothing is left to choose. @returns {Move | null} */
  decided() {
    const open = this.choices.filter((one) => one.chosen.length < one.least || one.least !== one.most);
    return open.length || (this.takesAmount && this.least !== this.most) ? null : this.move();
  }

  /** Draws the form and lets cards of one's own hand be chosen. */
  focus() {
    const fields = this.choices.filter((one) => !isFixed(one)).map((one) => this.field(one));
    const amount = this.takesAmount && this.least !== this.most ? [this.amountField()] : [];
    this.element.replaceChildren(...fields, ...amount, el("div", { class: "composer-end" },
      el("button", { type: "button", class: "button quiet", click: () => this.then.cancel() }, "Back", el("kbd", { class: "key", "aria-hidden": "true" }, "Esc")), this.confirm));
    this.redraw();
    this.hand.pick = (code) => this.pick(code);
    const first = /** @type {HTMLElement | null} */ (this.element.querySelector("button, input"));
    first?.focus({ preventScroll: true });
  }

  end() {
    this.hand.pick = null;
    this.hand.highlight([]);
  }

  /** Chooses a card that was clicked in one's own hand. @param {string} code */
  pick(code) {
    const choice = this.choices.find((one) => one.argument === "MOVE_ARGUMENT_CARDS" && !isFixed(one));
    if (!choice) return;
    const chosen = choice.chosen.find((i) => choice.choices[i] === code);
    const free = choice.choices.findIndex((name, i) => name === code && !choice.chosen.includes(i));
    const at = free >= 0 ? free : chosen;
    if (at !== undefined && at >= 0) this.toggle(choice, at);
  }

  /** Field of an argument with choices. @param {Choice} choice */
  field(choice) {
    const ask = choice.most > 1 ? `${(ASKS[choice.argument] ?? "Choose").replace("Which card?", "Which cards?").replace("token?", "tokens?")} ${choice.least === choice.most ? choice.most : `${choice.least} to ${choice.most}`}` : ASKS[choice.argument] ?? "Choose";
    const optional = choice.least === 0 ? " None is fine too." : "";
    return el("fieldset", { class: `choices ${choice.argument.replace("MOVE_ARGUMENT_", "").toLowerCase()}` }, el("legend", null, ask + optional),
      ...choice.choices.map((name, i) => this.option(choice, name, i)));
  }

  /** @param {Choice} choice @param {string} name @param {number} i */
  option(choice, name, i) {
    const key = el("kbd", { class: "key", "aria-hidden": "true" }, i < 9 ? String(i + 1) : "");
    const made = el("button", { type: "button", class: "option", "aria-pressed": "false", "data-argument": choice.argument, "data-index": i, click: () => this.toggle(choice, i) });
    if (choice.argument === "MOVE_ARGUMENT_CARDS") {
      made.classList.add("card-option");
      made.append(own("sabacc-card", { code: name, deck: this.context.game.deck }), key);
    } else if (choice.argument === "MOVE_ARGUMENT_VALUE") made.append(own("sabacc-dice", { values: name }), key);
    else if (choice.argument === "MOVE_ARGUMENT_SEAT") made.append(el("span", null, this.context.nameOf(Number(name), true)), key);
    else {
      made.append(el("span", null, choiceTitle(name)), key);
      if (tokenText(name)) made.append(el("small", null, tokenText(name)));
    }
    return made;
  }

  /** Field of an amount: slider, number and presets. */
  amountField() {
    const set = (/** @type {number} */ value) => {
      this.amount = Math.min(this.most, Math.max(this.least, Math.round(value) || this.least));
      slider.value = number.value = String(this.amount);
      this.redraw();
    };
    const attributes = { min: this.least, max: this.most, step: 1, value: this.least };
    const slider = el("input", { type: "range", "aria-label": "Amount in credits", ...attributes, input: () => set(Number(slider.value)) });
    const number = el("input", { type: "number", inputmode: "numeric", "aria-label": "Amount in credits", ...attributes, change: () => set(Number(number.value)), input: () => {
      const value = Number(number.value);
      if (value >= this.least && value <= this.most) { this.amount = Math.round(value); slider.value = number.value; this.redraw(); }
    } });
    const presets = this.presets().map(([name, value], i) => el("button", { type: "button", class: "button small", "data-preset": i, click: () => set(value) }, name, el("kbd", { class: "key", "aria-hidden": "true" }, String(i + 1))));
    return el("fieldset", { class: "amount" }, el("legend", null, `How much? ${credits(this.least)} to ${credits(this.most)}`), el("div", { class: "amount-row" }, slider, number), el("div", { class: "presets" }, ...presets));
  }

  /** Amounts that are often meant. @returns {[string, number][]} */
  presets() {
    const standing = this.context.view?.hand?.standing;
    const pot = Number(standing?.handPotCredits ?? 0);
    const base = this.legal.kind === "MOVE_KIND_RAISE" ? Number(standing?.toMatchCredits ?? 0) : 0;
    /** @type {[string, number][]} */
    const all = [["Least", this.least], ["Half pot", base + pot / 2], ["Pot", base + pot], ["Twice pot", base + 2 * pot], ["All in", this.most]];
    return all.map(([name, value]) => /** @type {[string, number]} */ ([name, Math.round(value)])).filter(([name, value], i) => name === "Least" || name === "All in" || (value > this.least && value < this.most && i > 0));
  }

  /** Chooses, or takes a choice back; where one is all there is to choose, it is made at once. @param {Choice} choice @param {number} i */
  toggle(choice, i) {
    if (choice.chosen.includes(i)) choice.chosen = choice.chosen.filter((one) => one !== i);
    else choice.chosen = choice.most === 1 ? [i] : [...choice.chosen, i].slice(-choice.most);
    this.redraw();
    const open = this.choices.filter((one) => !isFixed(one));
    if (open.length === 1 && choice.least === 1 && choice.most === 1 && !this.takesAmount && choice.chosen.length === 1) this.submit();
  }

  /** Whether all that has to be chosen is. */
  get isComplete() { return this.choices.every((one) => one.chosen.length >= one.least && one.chosen.length <= one.most); }

  redraw() {
    for (const choice of this.choices) {
      for (const button of this.element.querySelectorAll(`[data-argument="${choice.argument}"]`)) {
        button.setAttribute("aria-pressed", String(choice.chosen.includes(Number(/** @type {HTMLElement} */ (button).dataset["index"]))));
      }
      if (choice.argument === "MOVE_ARGUMENT_CARDS") this.hand.highlight(choice.chosen.map((i) => choice.choices[i] ?? ""));
    }
    this.confirm.disabled = !this.isComplete;
    const label = this.takesAmount ? `${labelOf(this.legal).split(" ")[0]} ${credits(this.amount)}` : this.choices.some((one) => one.least === 0 && !one.chosen.length) ? `${labelOf(this.legal)} none` : labelOf(this.legal);
    /** @type {HTMLElement} */ (this.confirm.firstElementChild).textContent = label;
  }

  submit() {
    if (this.isComplete) this.then.done(this.move());
  }

  /** The move as it stands. @returns {Move} */
  move() {
    /** @type {Move} */
    const move = { kind: this.legal.kind };
    if (this.takesAmount) move.amountCredits = String(this.amount);
    for (const { argument, chosen, choices } of this.choices) {
      const names = chosen.map((i) => choices[i] ?? "");
      if (argument === "MOVE_ARGUMENT_CARDS") move.cards = names;
      else if (argument === "MOVE_ARGUMENT_SEAT") move.targetSeat = Number(names[0]);
      else if (argument === "MOVE_ARGUMENT_VALUE") move.value = Number(names[0]);
      else move.names = names;
    }
    return move;
  }

  /** Takes a key; true: it was meant for the form. @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape") {
      this.then.cancel();
      return true;
    }
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Enter" && !at.closest?.("button") && this.isComplete) {
      this.submit();
      return true;
    }
    if (!/^[1-9]$/.test(event.key) || at.matches?.('input[type="number"]')) return false;
    const preset = /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-preset="${Number(event.key) - 1}"]`));
    if (preset) {
      preset.click();
      return true;
    }
    const open = this.choices.find((one) => !isFixed(one) && one.chosen.length < one.most) ?? this.choices.find((one) => !isFixed(one));
    if (!open || Number(event.key) > open.choices.length) return false;
    this.toggle(open, Number(event.key) - 1);
    return true;
  }
}

/** Whether an argument can only be one thing. @param {Choice} choice */
function isFixed({ choices, least, most }) {
  return least === most && choices.length === least;
}

/** Choices of an argument. What can only be one thing is chosen. @param {LegalMove} legal @param {string} argument @returns {Choice} */
function choiceOf(legal, argument) {
  /** @type {Record<string, {choices: string[], least: number, most: number}>} */
  const all = {
    MOVE_ARGUMENT_CARDS: { choices: legal.cards ?? [], least: legal.minCards ?? 0, most: legal.maxCards ?? 0 },
    MOVE_ARGUMENT_SEAT: { choices: (legal.targetSeats ?? []).map(String), least: 1, most: 1 },
    MOVE_ARGUMENT_VALUE: { choices: (legal.values ?? []).map(String), least: 1, most: 1 },
  };
  const count = legal.namesCount ?? 1;
  const choice = { argument, ...(all[argument] ?? { choices: legal.names ?? [], least: count, most: count }), chosen: /** @type {number[]} */ ([]) };
  if (isFixed(choice)) choice.chosen = choice.choices.map((_, i) => i);
  return choice;
}
