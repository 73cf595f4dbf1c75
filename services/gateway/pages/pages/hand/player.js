// Player of a hand's replay: a felt with the seats, a scrubber, keys, and whose eyes it is seen with.

import { button, card, el, refill, tag } from "../parts/dom.js";
import { control } from "../parts/forms.js";
import { clockTime, credits } from "../parts/words.js";
import { changeWords, potElements, PotLines } from "./potlines.js";
import { heard } from "./replay.js";

/** Time for which a step is shown while it plays, in milliseconds. */
const STEP_MS = 900;

/** @typedef {import("./replay.js").Step} Step */

export class Player {
  /**
   * @param {object} options
   * @param {Step[]} options.steps
   * @param {boolean} options.sure false: the hands are not known step by step
   * @param {Map<number, string>} options.names
   * @param {string} options.deck
   * @param {number} options.mine the reader's own seat; 0: none
   * @param {number} options.button
   * @param {string} options.variant
   * @param {import("./pots.js").Credits[] | null} options.credits by the steps; null: they are not known step by step
   */
  constructor({ steps, sure, names, deck, mine, button: dealer, variant, credits: all }) {
    this.steps = steps;
    this.variant = variant;
    this.credits = all;
    this.sure = sure;
    this.names = names;
    this.deck = deck;
    this.dealer = dealer;
    this.at = steps.length - 1;
    /** Seat with whose eyes it is seen; 0: a watcher's; null: all cards. @type {number | null} */
    this.viewer = mine || null;
    this.said = el("p", { class: "step-line", role: "status" });
    this.felt = el("div", { class: "replay" });
    this.range = el("input", {
      type: "range",
      min: "0",
      max: String(steps.length - 1),
      value: String(this.at),
      "aria-label": "Step of the hand",
      oninput: () => this.go(Number(this.range.value)),
    });
    this.count = el("span", { class: "number muted" });
    this.playing = button("Play", () => this.toggle(), { class: "primary" });
    this.lines = all && new PotLines({ credits: all, variant, what: (at) => this.words(at), go: (at) => this.go(at) });
    const seats = [...names.keys()].sort((one, other) => one - other);
    const own = (/** @type {number} */ seat) => (seat === mine ? " (yours)" : "");
    this.eyes = control({
      name: "eyes",
      label: "Seen by",
      type: "select",
      value: this.viewer === null ? "" : String(this.viewer),
      options: [
        ["", "whoever knows all, now"],
        ["0", "somebody who watched"],
        ...seats.map((seat) => /** @type {[string, string]} */ ([String(seat), `seat ${seat}, ${names.get(seat)}${own(seat)}`])),
      ],
      attributes: {
        onchange: (/** @type {any} */ event) => {
          this.viewer = event.target.value === "" ? null : Number(event.target.value);
          this.draw();
        },
      },
    });
  }

  /** Elements of the player. */
  parts() {
    this.draw();
    return [
      el("div", { class: "row spread" }, this.eyes, this.sure ? null : tag("cards are told line by line only", "warn")),
      this.felt,
      this.said,
      el(
        "div",
        { class: "scrubber" },
        el(
          "div",
          { class: "row" },
          button("\u00ab", () => this.go(0), { "aria-label": "First step" }),
          button("\u2039", () => this.go(this.at - 1), { "aria-label": "One step back" }),
          this.playing,
          button("\u203a", () => this.go(this.at + 1), { "aria-label": "One step on" }),
          button("\u00bb", () => this.go(this.steps.length - 1), { "aria-label": "Last step" }),
          this.count,
        ),
        this.range,
      ),
      this.lines?.element ?? el("p", { class: "muted" }, "How the pots grew is not known line by line; what came of it is below."),
    ];
  }

  /** Words of a step: who did what. @param {number} at */
  words(at) {
    const step = this.steps[at];
    const name = this.names.get(Number(/^seat (\d+)/.exec(step.line.who)?.[1]));
    return `${name ?? step.line.who} ${heard(step, this.viewer)}`;
  }

  /** @param {number} at */
  go(at) {
    this.at = Math.min(Math.max(at, 0), this.steps.length - 1);
    this.draw();
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at === this.steps.length - 1) this.go(0);
    refill(this.playing, "Pause");
    this.timer = setInterval(() => {
      if (!this.felt.isConnected || this.at >= this.steps.length - 1) return this.stop();
      this.go(this.at + 1);
    }, STEP_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    refill(this.playing, "Play");
  }

  draw() {
    const step = this.steps[this.at];
    this.range.value = String(this.at);
    this.range.setAttribute("aria-valuetext", `${step.line.who} ${heard(step, this.viewer)}`);
    refill(this.count, `${this.at + 1} / ${this.steps.length}`);
    const now = this.credits?.[this.at];
    const changed = now ? changeWords(now, this.variant) : "";
    refill(
      this.said,
      el("span", { class: "muted number" }, clockTime(step.line.recordTime)),
      " ",
      el("strong", {}, step.line.who),
      ` ${heard(step, this.viewer)}`,
      changed ? el("span", { class: "muted" }, ` \u2013 ${changed}`) : null,
    );
    refill(this.felt, ...step.seats.map((seat) => this.seat(seat, step)), this.middle(step, now));
    this.lines?.draw(this.at);
  }

  /**
   * @param {Step} step
   * @param {import("./pots.js").Credits | undefined} now
   */
  middle(step, now) {
    const piles = Object.entries(step.discards).filter(([, cards]) => cards.length > 0);
    return el(
      "div",
      { class: "middle" },
      step.dice.length > 0 ? el("sabacc-dice", { values: step.dice.join(" "), "aria-label": `Dice: ${step.dice.join(" and ")}` }) : null,
      ...piles.map(([, cards]) => card(cards[cards.length - 1], this.deck, { small: true })),
      ...(now ? potElements(now, this.variant) : []),
    );
  }

  /** What a seat has, and has put into the hand pot. @param {number} seat */
  money(seat) {
    const here = this.credits?.[this.at]?.seats.get(seat);
    if (!here) return null;
    const more = here.stack - (this.credits?.[this.at - 1]?.seats.get(seat)?.stack ?? here.stack);
    return el(
      "p",
      { class: "row money" },
      el("sabacc-chips", { amount: String(here.stack), role: "img", "aria-label": `${credits(here.stack)} credits` }),
      more > 0 ? el("span", { class: "change more" }, `+${credits(more)}`) : null,
      here.inHand > 0 ? el("span", { class: "muted" }, `${credits(here.inHand)} put in`) : null,
    );
  }

  /**
   * @param {import("./replay.js").SeatState} seat
   * @param {Step} step
   */
  seat(seat, step) {
    const sees = this.viewer === null || this.viewer === seat.seat;
    const acts = step.actor === seat.seat;
    return el(
      "div",
      { class: `replay-seat${acts ? " acts" : ""}${seat.live ? "" : " out"}` },
      el("p", { class: "row" }, el("strong", {}, this.names.get(seat.seat)), el("span", { class: "muted" }, `seat ${seat.seat}`), seat.seat === this.dealer ? tag("button") : null, seat.live ? null : tag("out")),
      this.money(seat.seat),
      this.sure || !seat.cards.every((one) => !one.open)
        ? el(
            "div",
            { class: "held" },
            ...seat.cards.map((one) =>
              card(sees || one.open ? one.code : "??", this.deck, { small: true, class: one.locked ? "locked" : one.selected && sees ? "selected" : null }),
            ),
          )
        : null,
    );
  }
}
