// The felt: seats around it, pots and what the game lays in the middle.

import { el, own, setText } from "./dom.js";

/** Half of the ring of seats, in percent of the felt. */
const RING = { x: 41.5, y: 41 };

/** Players beside oneself, at the most, who sit three in a row on a telephone. */
const CROWDED = 6;

export class Felt {
  /** @param {import("./context.js").Context} context @param {(seat: number) => void} sit */
  constructor(context, sit) {
    this.context = context;
    this.sit = sit;
    this.pots = el("div", { class: "pots" });
    this.things = el("div", { class: "things" });
    this.caption = el("p", { class: "caption", "aria-hidden": "true" });
    this.phase = el("p", { class: "phase" });
    this.centre = el("div", { class: "centre" }, this.phase, this.things, this.pots, this.caption);
    this.ring = el("div", { class: "ring" });
    this.element = el("section", { class: "felt", "aria-label": "Table" }, el("div", { class: "cloth", "aria-hidden": "true" }), this.ring, this.centre);
    /** Places by the seat's number. @type {Map<number, HTMLElement>} */
    this.places = new Map();
    /** What the middle shows, to draw it again only where it changes. */
    this.drawn = "";
  }

  /** Element of a seat, if somebody sits there. @param {number} seat @returns {any} */
  seatOf(seat) { return this.places.get(seat)?.querySelector("sabacc-seat") ?? null; }

  draw() {
    const { view } = this.context;
    if (!view) return;
    this.drawPlaces(view);
    this.drawMiddle(view);
  }

  /** @param {import("../../types.js").TableView} view */
  drawPlaces(view) {
    const count = view.seatCount ?? 0;
    const home = view.yourSeat || 1;
    const others = (view.seats ?? []).filter(({ seat }) => seat !== view.yourSeat).length;
    const isCrowded = others > CROWDED;
    this.ring.classList.toggle("crowded", isCrowded);
    for (let n = 1; n <= count; n += 1) {
      let place = this.places.get(n);
      if (!place) {
        place = el("div", { class: "place", "data-seat": n });
        this.places.set(n, place);
        this.ring.append(place);
      }
      const step = (n - home + count) % count;
      const angle = Math.PI / 2 + (step * 2 * Math.PI) / count;
      const [x, y] = [Math.cos(angle), Math.sin(angle)];
      // Seats spread along a rounded oblong rather than an ellipse, so that neighbours do not meet at its ends.
      const [wide, high] = [x, y].map((part) => Math.sign(part) * Math.abs(part) ** 0.65);
      place.style.setProperty("--x", `${(50 + RING.x * wide).toFixed(2)}%`);
      place.style.setProperty("--y", `${(50 + RING.y * high).toFixed(2)}%`);
      place.style.order = String(step);
      place.dataset["side"] = y > 0.5 ? "bottom" : y < -0.5 ? "top" : x < 0 ? "left" : "right";
      const seat = view.seats?.find((one) => one.seat === n);
      this.drawPlace(place, n, seat, view);
      this.seatOf(n)?.toggleAttribute("crowded", isCrowded);
    }
  }

  /** @param {HTMLElement} place @param {number} n @param {any} seat @param {import("../../types.js").TableView} view */
  drawPlace(place, n, seat, view) {
    place.classList.toggle("mine", view.yourSeat === n);
    place.classList.toggle("empty", !seat);
    if (!seat) {
      if (!place.querySelector(".sit")) {
        place.replaceChildren(el("button", { type: "button", class: "sit", "aria-label": `Sit down in seat ${n}`, click: () => this.sit(n) }, el("span", { "aria-hidden": "true" }, "+"), el("small", null, `Seat ${n}`)));
      }
      const button = /** @type {HTMLButtonElement} */ (place.querySelector(".sit"));
      button.disabled = Boolean(view.yourSeat || view.closed);
      return;
    }
    let drawn = /** @type {any} */ (place.querySelector("sabacc-seat"));
    if (!drawn) {
      drawn = own("sabacc-seat", {});
      place.replaceChildren(drawn);
    }
    Object.assign(drawn, {
      seat, view, deck: this.context.game.deck, badges: this.context.game.badges(this.context, n), now: () => this.context.store.now(),
      total: this.context.clockTotal(view.hand?.turn?.bankMs ?? 0), proofOf: this.context.proofOf, bare: view.yourSeat === n,
    });
    drawn.setAttribute("data-side", place.dataset["side"] ?? "");
    drawn.setAttribute("role", "group");
    drawn.setAttribute("aria-label", seat.bot ? `${this.context.nameOf(n)}, a bot` : this.context.nameOf(n));
    const wins = view.hand?.phase === "HAND_PHASE_OVER" && (view.hand.settlement ?? []).some((item) => item.kind === "SETTLEMENT_KIND_WINS" && item.seat === n);
    drawn.toggleAttribute("won", wins);
    drawn.draw();
  }

  /** @param {import("../../types.js").TableView} view */
  drawMiddle(view) {
    const { hand } = view;
    this.drawPots(view);
    const things = hand ? this.context.game.centre(this.context) : [];
    const drawn = el("div", null, ...things).innerHTML;
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.things.replaceChildren(...things);
    }
    const over = hand?.phase === "HAND_PHASE_OVER";
    const phase = hand && !over ? [`Hand ${hand.handNo}`, hand.round ? `round ${hand.round}` : "", hand.phaseText].filter(Boolean).join(" · ") : waiting(view, over);
    setText(this.phase, phase + (hand?.calledBy && !over ? ` · called by ${this.context.nameOf(hand.calledBy, true)}` : ""));
  }

  /** @param {import("../../types.js").TableView} view */
  drawPots(view) {
    const standing = view.hand?.standing;
    const over = view.hand?.phase === "HAND_PHASE_OVER";
    /** @type {[string, string, string, boolean][]} */
    const pots = [];
    const kessel = this.context.game.deck === "K44";
    const pot = standing?.handPotCredits ?? "0";
    if (standing && !over) {
      const sides = sidePots(standing);
      if (sides.length > 1) sides.forEach((amount, i) => pots.push([i ? `Side pot ${i}` : "Main pot", String(amount), i ? "Only those who paid into it can win it" : "Everybody who is in can win it", i === 0]));
      else pots.push([kessel ? "Credits pot" : "Hand pot", pot, kessel ? "The last player in takes it" : "The best hand takes it", true]);
    }
    const sabacc = over || !standing ? view.sabaccPotCredits : standing.sabaccPotCredits;
    if (Number(sabacc) || this.context.field("sabacc_ante")) pots.push(["Sabacc pot", sabacc ?? "0", "It goes from hand to hand until Pure Sabacc or an Idiot's Array takes it", false]);
    const carried = over || !standing ? view.carriedPotCredits : standing.carriedPotCredits;
    if (Number(carried)) pots.push(["Carried", carried ?? "0", "Credits that an earlier hand left for the next", false]);
    while (this.pots.children.length > pots.length) this.pots.lastElementChild?.remove();
    pots.forEach(([name, amount, note, strong], i) => {
      const drawn = this.pots.children[i] ?? this.pots.appendChild(own("sabacc-pot", {}));
      for (const [key, value] of Object.entries({ name, amount, note })) if (drawn.getAttribute(key) !== value) drawn.setAttribute(key, value);
      drawn.toggleAttribute("strong", strong);
    });
  }

  /** Shows in the middle what has happened. @param {string} text @param {string} tone */
  say(text, tone) {
    // A new element begins its animation anew, without a layout in between.
    const caption = el("p", { class: `caption new ${tone}`, "aria-hidden": "true" }, text);
    this.caption.replaceWith(caption);
    this.caption = caption;
  }
}

/** What a table without a decision to make waits for. @param {import("../../types.js").TableView} view @param {boolean} over */
export function waiting(view, over) {
  if (view.closed) return "The table is closed";
  if (view.entropy) return view.entropy.closed ? `Hand ${view.entropy.handNo}: players open their part in chance` : `Hand ${view.entropy.handNo}: players take part in chance`;
  if (over) return `Hand ${view.hand?.handNo} is over`;
  return (view.seats?.length ?? 0) < 2 ? "Waiting for players" : "Between hands";
}

/** Layers of the Hand Pot while somebody is all-in: cut at what those have put in who have no more.
 * @param {import("../../types.js").Standing} standing @returns {number[]} */
export function sidePots(standing) {
  const seats = standing.seats ?? [];
  const live = seats.filter((one) => one.status !== "SEAT_STATUS_OUT");
  const paid = (/** @type {any} */ one) => Number(one.inHandCredits ?? 0);
  const most = Math.max(0, ...live.map(paid));
  const cuts = [...new Set([...live.filter((one) => one.status === "SEAT_STATUS_ALL_IN").map(paid), most])].filter((cut) => cut > 0).sort((a, b) => a - b);
  const total = Number(standing.handPotCredits ?? 0);
  let below = 0;
  const layers = cuts.map((cut) => {
    const layer = seats.reduce((sum, one) => sum + Math.max(0, Math.min(paid(one), cut) - below), 0);
    below = cut;
    return layer;
  });
  const last = layers.length - 1;
  if (last >= 0) layers[last] = (layers[last] ?? 0) + total - layers.reduce((a, b) => a + b, 0);
  return layers.filter((layer) => layer > 0);
}
