// Motion: cards and chips that fly where they go, so that one sees what happened. Nothing moves where less motion is asked for.

import { isStill } from "../../elements/sheet.js";
import { el, own } from "./dom.js";

const FLIGHT_MS = 420;
/** Time between things that fly together. */
const STAGGER_MS = 60;
/** Flights at one time; more are left out. */
const FLIGHTS_MAX = 40;

export class Motion {
  /** @param {import("./context.js").Context} context @param {import("./felt.js").Felt} felt @param {() => Element | null} ownCards gives the cards of one's own hand, where they are shown */
  constructor(context, felt, ownCards) {
    this.context = context;
    this.felt = felt;
    this.ownCards = ownCards;
    this.sky = el("div", { class: "sky", "aria-hidden": "true" });
    this.flights = 0;
    /** Time at which the last flight begins. */
    this.nextMs = 0;
  }

  /** Shows an update. @param {import("../../types.js").TableUpdate} update */
  show(update) {
    if (isStill() || document.hidden) return;
    const { action, handStarted, handEnded } = update;
    if (handStarted) for (const one of handStarted.standing?.seats ?? []) if (Number(one.inHandCredits)) this.chips(this.seatBox(one.seat ?? 0), this.potBox(), one.inHandCredits ?? "0");
    if (handEnded) for (const item of handEnded.settlement ?? []) if (item.kind === "SETTLEMENT_KIND_WINS" || item.kind === "SETTLEMENT_KIND_RETURNED") this.chips(this.potBox(), this.seatBox(item.seat ?? 0), item.amountCredits ?? "0");
    if (action) this.act(action);
  }

  /** @param {import("../../types.js").HandAction} action */
  act(action) {
    const seat = action.seat ?? 0;
    const kind = action.decision?.kind;
    if (action.chance === "CHANCE_KIND_DEAL") (action.cards ?? []).forEach(() => this.card(this.pileBox(), this.cardsBox(seat)));
    if (action.chance === "CHANCE_KIND_SHUFFLE") this.shuffle();
    if (kind === "MOVE_KIND_BET" || kind === "MOVE_KIND_RAISE" || kind === "MOVE_KIND_MATCH") this.chips(this.seatBox(seat), this.potBox(), action.decision?.amountCredits ?? "25");
    if (kind === "MOVE_KIND_TRADE" || kind === "MOVE_KIND_DISCARD" || kind === "MOVE_KIND_SWAP" || kind === "MOVE_KIND_DROP" || kind === "MOVE_KIND_FOLD" || kind === "MOVE_KIND_JUNK") {
      this.card(this.cardsBox(seat), this.pileBox(), action.decision?.cards?.[0]);
    }
  }

  /** Lets the pile tremble: it is shuffled. */
  shuffle() {
    this.felt.element.querySelector(".pile sabacc-card")?.animate([{ transform: "none" }, { transform: "rotate(-7deg) translateX(-5px)" }, { transform: "rotate(7deg) translateX(5px)" }, { transform: "none" }], { duration: 260, iterations: 2 });
  }

  /** Sweeps the felt with light: the cards shift. */
  shift() {
    if (isStill()) return;
    // A layer of its own: a filter over the felt would draw all of it anew in each frame.
    const light = el("div", { class: "light", "aria-hidden": "true" });
    this.felt.element.append(light);
    const sweep = light.animate([{ opacity: 0 }, { opacity: 1 }, { opacity: 0 }], { duration: 900, easing: "ease-out" });
    const over = () => light.remove();
    sweep.onfinish = over;
    sweep.oncancel = over;
    for (const place of this.felt.places.values()) {
      const cards = place.querySelector("sabacc-seat")?.shadowRoot?.querySelectorAll(".cards > span:not(.field)") ?? [];
      for (const card of cards) card.animate([{ transform: "none" }, { transform: "rotateY(180deg) scale(.7)", opacity: 0.2 }, { transform: "none" }], { duration: 700, easing: "ease-in-out" });
    }
  }

  /** @param {DOMRect | undefined} from @param {DOMRect | undefined} to @param {string} amount */
  chips(from, to, amount) { this.fly(own("sabacc-chips", { amount, bare: true }), from, to); }

  /** @param {DOMRect | undefined} from @param {DOMRect | undefined} to @param {string} [code] */
  card(from, to, code) {
    const known = code && code !== "??" ? code : "";
    this.fly(own("sabacc-card", { code: known, deck: this.context.game.deck, small: Boolean(known) }), from, to);
  }

  /** Lets a thing fly from one box to another. @param {HTMLElement} thing @param {DOMRect | undefined} from @param {DOMRect | undefined} to */
  fly(thing, from, to) {
    if (!from?.width || !to?.width || this.flights >= FLIGHTS_MAX) return;
    this.flights += 1;
    this.sky.append(thing);
    const now = performance.now();
    this.nextMs = Math.max(now, Math.min(this.nextMs + STAGGER_MS, now + 600));
    const middle = (/** @type {DOMRect} */ box) => `translate(${(box.left + box.width / 2).toFixed(0)}px, ${(box.top + box.height / 2).toFixed(0)}px) translate(-50%, -50%)`;
    const flight = thing.animate([{ transform: `${middle(from)} scale(.9) rotate(-14deg)`, opacity: 0 }, { opacity: 1, offset: 0.15 }, { opacity: 1, offset: 0.85 }, { transform: `${middle(to)} scale(1)`, opacity: 0 }], { duration: FLIGHT_MS, delay: this.nextMs - now, easing: "cubic-bezier(.25,.7,.3,1)", fill: "both" });
    const land = () => {
      this.flights -= 1;
      thing.remove();
    };
    flight.onfinish = land;
    flight.oncancel = land;
  }

  seatBox(/** @type {number} */ seat) { return this.felt.places.get(seat)?.getBoundingClientRect(); }
  potBox() { return this.felt.pots.firstElementChild?.getBoundingClientRect() ?? this.felt.centre.getBoundingClientRect(); }
  pileBox() { return this.felt.element.querySelector(".pile")?.getBoundingClientRect() ?? this.felt.centre.getBoundingClientRect(); }
  cardsBox(/** @type {number} */ seat) {
    const own = seat === this.context.view?.yourSeat ? this.ownCards() : null;
    if (own) return own.getBoundingClientRect();
    return this.felt.seatOf(seat)?.shadowRoot?.querySelector(".cards")?.getBoundingClientRect() ?? this.seatBox(seat);
  }
}
