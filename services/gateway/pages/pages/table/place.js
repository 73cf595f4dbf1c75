// One's place at the table: sit down, sit out, top up, leave.

import { session } from "../../api/session.js";
import { credits } from "../../elements/sheet.js";
import { el, wordsOf } from "./dom.js";

export class Place {
  /** @param {import("./context.js").Context} context @param {import("./part.js").Part} part */
  constructor(context, part) {
    this.context = context;
    this.part = part;
    this.refusal = el("p", { class: "place-refusal", role: "alert" });
    this.buttons = el("div", { class: "place-buttons" });
    this.element = el("div", { class: "your-place" }, this.buttons, this.refusal);
    this.dialog = el("dialog", { class: "place-dialog" });
    this.drawn = "";
    /** Credits to bring to the seat when the hand in play is over. */
    this.later = 0;
  }

  /** Whether a hand is in play that one is dealt into. */
  get isInHand() {
    const { view } = this.context;
    return view?.hand?.phase !== "HAND_PHASE_OVER" && Boolean(view?.hand?.seats?.some((one) => one.seat === view.yourSeat));
  }

  end() { this.dialog.remove(); }

  draw() {
    const { view } = this.context;
    if (!view) return;
    const own = view.seats?.find((one) => one.seat === view.yourSeat);
    if (this.later && !this.isInHand) void this.topUp(own ? this.later : 0);
    const name = `${session.canSign} ${this.later} ${own?.state} ${view.yourSeat} ${view.closed} ${(view.seats?.length ?? 0) < (view.seatCount ?? 0)}`;
    if (name === this.drawn) return;
    this.drawn = name;
    this.buttons.replaceChildren(...(own ? this.seated(own) : this.standing(view)));
  }

  /** Buttons of who sits. @param {import("../../types.js").SeatView} own */
  seated(own) {
    const out = own.state === "SEAT_STATE_SITTING_OUT";
    const leaving = own.state === "SEAT_STATE_LEAVING";
    if (leaving) return [el("span", { class: "tag warn" }, "You leave when the hand ends")];
    return [
      el("button", { type: "button", class: `button small ${out ? "primary" : "quiet"}`, click: () => this.tryTo(async () => (await this.part.seat()).sitOut(!out)) }, out ? "Come back" : "Sit out"),
      this.later
        ? el("button", { type: "button", class: "button small quiet", title: "Do not top up", click: () => { this.later = 0; this.draw(); } }, `+${credits(this.later)} after this hand`)
        : el("button", { type: "button", class: "button small quiet", click: () => this.askTopUp() }, "Top up"),
      el("button", { type: "button", class: "button small quiet", click: () => this.askLeave() }, "Leave"),
    ];
  }

  /** Button of who stands. @param {import("../../types.js").TableView} view */
  standing(view) {
    if (!session.canSign || view.closed) return [];
    if ((view.seats?.length ?? 0) >= (view.seatCount ?? 0)) return [el("span", { class: "tag" }, "Every seat is taken")];
    return [el("button", { type: "button", class: "button primary", click: () => this.askSit(0) }, "Sit down")];
  }

  /** Asks with how much to sit down. @param {number} seat 0: the lowest free one */
  askSit(seat) {
    const { view } = this.context;
    if (!view) return;
    // What it takes is loaded while one makes up one's mind.
    this.part.load().catch(() => {});
    const [least, most] = [Number(view.minBuyInCredits ?? 0), Number(view.maxBuyInCredits ?? 0)];
    const name = session.player ? null : el("input", { type: "text", name: "name", maxlength: 24, autocomplete: "nickname", placeholder: "Guest" });
    const fields = name ? [el("label", { class: "field" }, "Name at the table", name)] : [];
    this.ask(seat ? `Sit down in seat ${seat}` : "Sit down", "Credits go from your account to your seat, and back when you leave. They are play money.", { least, most, value: Math.min(most, least * 2), fields, act: name ? "Join and sit down" : "Sit down" }, async (amount) => {
      if (!session.player) await session.signInAsGuest(name?.value.trim() ?? "");
      await (await this.part.seat()).sitDown({ seat, buyIn: String(amount) });
    });
  }

  askTopUp() {
    const { view } = this.context;
    const own = view?.seats?.find((one) => one.seat === view.yourSeat);
    const most = Math.max(1, Number(view?.maxBuyInCredits ?? 0) - Number(own?.stackCredits ?? 0));
    const when = this.isInHand ? "You are in a hand: they come when it is over." : "You leave your seat for it and take it again.";
    this.ask("Top up", `Credits from your account to your seat. ${when}`, { least: 1, most, value: most, fields: [], act: "Top up" }, async (amount) => {
      if (!this.isInHand) return (await this.part.seat()).topUp(String(amount));
      this.later = amount;
      this.draw();
    });
  }

  /** Brings what was asked for while a hand was in play. @param {number} amount */
  async topUp(amount) {
    this.later = 0;
    if (amount) await this.tryTo(async () => (await this.part.seat()).topUp(String(amount)));
  }

  askLeave() {
    const text = this.isInHand ? "You are in a hand: from now on every decision of yours is its default, and your credits go to your account when it ends." : "Your credits go to your account.";
    this.ask("Leave the table", text, { least: 0, most: 0, value: 0, fields: [], act: "Leave" }, async () => (await this.part.seat()).standUp());
  }

  /** Opens a dialog that asks for an amount. @param {string} title @param {string} text
   * @param {{least: number, most: number, value: number, fields: Node[], act: string}} about @param {(amount: number) => any} then */
  ask(title, text, { least, most, value, fields, act }, then) {
    const limits = { min: least, max: most, step: 1, value };
    const slider = el("input", { type: "range", "aria-label": "Credits", ...limits, input: () => { number.value = slider.value; } });
    const number = el("input", { type: "number", inputmode: "numeric", "aria-label": "Credits", required: true, ...limits, input: () => { slider.value = number.value; } });
    const refusal = el("p", { class: "notice bad", role: "alert", hidden: true });
    const submit = el("button", { type: "submit", class: "button primary" }, act);
    const amount = most > least ? [el("div", { class: "amount-row" }, slider, number), el("p", { class: "muted" }, `${credits(least)} to ${credits(most)} credits`)] : [];
    const form = el("form", { class: "stack", submit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      submit.disabled = true;
      refusal.hidden = true;
      try {
        await then(Number(number.value));
        this.dialog.close();
      } catch (error) {
        refusal.textContent = await wordsOf(error);
        refusal.hidden = false;
      } finally {
        submit.disabled = false;
      }
    } }, el("h2", null, title), el("p", { class: "muted" }, text), ...fields, ...amount, refusal,
    el("div", { class: "row spread" }, el("button", { type: "button", class: "button quiet", click: () => this.dialog.close() }, "Not now"), submit));
    this.dialog.replaceChildren(form);
    if (!this.dialog.isConnected) document.body.append(this.dialog);
    this.dialog.setAttribute("aria-label", title);
    this.dialog.showModal();
  }

  /** Does something and says why where it is refused. @param {() => any} what */
  async tryTo(what) {
    this.refusal.textContent = "";
    try {
      await what();
    } catch (error) {
      this.refusal.textContent = await wordsOf(error);
    }
  }
}
