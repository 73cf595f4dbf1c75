// The table: seats around a felt, one's own hand, the moves that are legal, and the story beside it. Everything is drawn from the
// store's view; what an update tells is shown in motion and in words.

import { session } from "../api/session.js";
import "../elements/card.js";
import "../elements/dice.js";
import "../elements/pot.js";
import "../elements/seal.js";
import "../elements/seat.js";
import { credits } from "../elements/sheet.js";
import { followTable } from "../store/table.js";
import { Aside } from "./table/aside.js";
import { Context } from "./table/context.js";
import { el, setText } from "./table/dom.js";
import { Felt, waiting } from "./table/felt.js";
import { Motion } from "./table/motion.js";
import { Notices } from "./table/notices.js";
import { Part } from "./table/part.js";
import { Place } from "./table/place.js";
import { happenings } from "./table/words.js";

/** Tones that stand in the middle of the felt. */
const CAPTIONS = new Set(["shift", "roll", "win", "start", "bad", "good", "show"]);
/** Sound of a tone. @type {Record<string, string>} */
const SOUNDS = { deal: "deal", move: "move", shift: "shift", win: "win", roll: "chips" };

/** Shows a table. @param {HTMLElement} main @param {Record<string, string>} parameters */
export async function show(main, { id = "" }) {
  await sheet();
  const page = new TablePage(id);
  main.append(page.element);
  return () => page.end();
}

/** Loads the page's style sheet once. */
function sheet() {
  if (document.querySelector('link[href="style/table.css"]')) return Promise.resolve();
  const link = el("link", { rel: "stylesheet", href: "style/table.css" });
  return new Promise((done) => {
    link.onload = link.onerror = () => done(undefined);
    document.head.append(link);
  });
}

/** One's own credits in words. @param {import("../types.js").TableView | null} view */
function ownMoney(view) {
  const own = view?.seats?.find((one) => one.seat === view.yourSeat);
  if (!own) return "";
  const standing = view?.hand?.phase === "HAND_PHASE_OVER" ? null : view?.hand?.standing?.seats?.find((one) => one.seat === own.seat);
  return `${credits(standing?.stackCredits ?? own.stackCredits)} credits${Number(standing?.inRoundCredits) ? `, ${credits(standing?.inRoundCredits)} in this round` : ""}`;
}

/** Words over the moves while nobody has to decide. @param {import("../types.js").TableView | null} view */
function waitingWords(view) {
  if (!view) return "The table is being fetched";
  if (!view.yourSeat) return "You are watching";
  if (view.hand?.suspension) return "The hand stands still";
  const over = view.hand?.phase === "HAND_PHASE_OVER";
  return view.hand && !over ? "" : waiting(view, over);
}

class TablePage {
  /** @param {string} id */
  constructor(id) {
    this.store = followTable(id);
    this.context = new Context(this.store);
    this.part = new Part(this.store, id, () => this.drawSoon(), (text) => this.tell({ text, tone: "word" }));
    this.context.proofOf = (seat, index, card) => this.part.proofOf(seat, index, card);
    this.sound = new SoundSwitch();
    /** What only a player has: their hand and their moves. @type {{hand: import("./table/hand.js").OwnHand, moves: import("./table/moves.js").Moves} | null} */
    this.own = null;
    this.place = new Place(this.context, this.part);
    this.felt = new Felt(this.context, (seat) => this.place.askSit(seat));
    this.motion = new Motion(this.context, this.felt, () => (this.own && !this.own.hand.element.hidden ? this.own.hand.cards : null));
    this.notices = new Notices(this.context, () => void this.place.tryTo(async () => (await this.part.seat()).agreeToVoid()), () => this.part.fault);
    this.aside = new Aside(this.context);
    this.heading = el("h1", { tabindex: -1 }, "Table");
    this.about = el("p", { class: "about" });
    this.connection = el("span", { class: "connection", role: "status" });
    this.soundButton = el("button", { type: "button", class: "icon-button", "aria-label": "Sound", "aria-pressed": String(this.sound.isOn), click: () => this.toggleSound() }, "\u266a");
    this.live = el("div", { class: "hidden-text", "aria-live": "polite", "aria-atomic": "false" });
    this.prompt = el("p", { class: "prompt" });
    this.money = el("p", { class: "own-money number" });
    this.dockSide = el("div", { class: "dock-side" }, el("div", { class: "dock-top" }, this.prompt, this.money, this.place.element));
    this.dock = el("section", { class: "dock", "aria-label": "Your place" }, this.dockSide);
    this.element = el("div", { class: "table-page" },
      el("header", { class: "table-head" }, el("div", { class: "titles" }, this.heading, this.about), el("div", { class: "table-tools" }, this.connection, this.soundButton)),
      this.notices.element, this.felt.element, this.dock, this.aside.element, this.motion.sky, this.live);
    /** Whether it was one's own turn when last drawn. */
    this.wasMine = false;
    this.ended = false;
    /** Whether it is drawn with the next frame. */
    this.isDue = false;
    this.store.addEventListener("change", (event) => this.changed(/** @type {CustomEvent} */ (event).detail.update));
    this.store.addEventListener("connection", () => this.drawConnection());
    this.onSession = () => this.draw();
    session.addEventListener("change", this.onSession);
    this.draw();
  }

  end() {
    this.ended = true;
    session.removeEventListener("change", this.onSession);
    this.own?.moves.end();
    this.place.end();
    this.part.end();
    this.sound.end();
    this.store.close();
  }

  /** Draws what has changed, and tells it. @param {import("../types.js").TableUpdate | null} update */
  changed(update) {
    this.context.remember(update);
    if (!this.context.known) return void this.context.learnGame().then(() => this.ended || this.draw());
    if (update) this.motion.show(update);
    this.drawSoon();
    if (update) for (const one of happenings(this.context, update)) this.tell(one);
  }

  /** @param {import("./table/words.js").Happening} one */
  tell({ text, tone, seat, deed }) {
    this.aside.tell(text, tone);
    if (this.store.connection === "live" && tone !== "quiet") this.speak(text);
    if (CAPTIONS.has(tone)) this.felt.say(text, tone);
    if (seat && deed && this.store.connection === "live") this.felt.seatOf(seat)?.say(deed);
    if (tone === "shift") this.motion.shift();
    if (this.store.connection === "live") this.sound.play(SOUNDS[tone] ?? "");
  }

  /** Tells a line to screen readers. @param {string} text */
  speak(text) {
    this.live.append(el("p", null, text));
    while (this.live.children.length > 12) this.live.firstElementChild?.remove();
  }

  /** Draws once a frame, however many updates come before it; at once where no frames are drawn. */
  drawSoon() {
    if (document.hidden) return this.draw();
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      if (!this.ended) this.draw();
    });
  }

  draw() {
    const { view } = this.context;
    if (view && !this.context.known) return;
    if (view?.yourSeat && !this.own) this.part.loadOwn().then((own) => this.takePlace(own), () => {});
    if (view) {
      setText(this.heading, view.name ?? "Table");
      document.title = `${view.name ?? "Table"} · Sabacc`;
      const stakes = [this.context.game.title, this.context.field("hand_ante") ? `ante ${this.context.field("hand_ante")}` : "", `${view.seats?.length ?? 0} of ${view.seatCount ?? 0} seats`].filter(Boolean).join(" · ");
      if (this.about.dataset["stakes"] !== stakes) {
        this.about.dataset["stakes"] = stakes;
        this.about.replaceChildren(`${stakes} · `, el("a", { href: `#/rules/${view.variant}?table=${view.tableId}` }, "Rules"));
      }
    }
    this.felt.draw();
    this.own?.hand.draw();
    this.own?.moves.draw();
    this.place.draw();
    this.notices.draw();
    this.aside.draw();
    this.drawPrompt();
    this.drawConnection();
  }

  /** Shows the hand and the moves of a player. @param {typeof import("./table/hand.js") & typeof import("./table/moves.js")} own */
  takePlace({ OwnHand, Moves }) {
    if (this.own || this.ended) return;
    const hand = new OwnHand(this.context);
    const moves = new Moves(this.context, hand, (move, legal) => this.part.act(move, legal));
    this.own = { hand, moves };
    this.dock.prepend(hand.element);
    this.dockSide.append(moves.element);
    this.draw();
  }

  /** Line over the moves: whose turn it is. */
  drawPrompt() {
    const { view } = this.context;
    const turn = view?.hand?.turn;
    const legal = (this.context.ownTurn && this.own?.moves.legal) || [];
    const mine = legal.length > 0;
    this.dock.classList.toggle("my-turn", mine);
    this.element.classList.toggle("watching", !view?.yourSeat);
    setText(this.money, ownMoney(view));
    setText(this.prompt, mine ? "Your turn" : turn?.seat ? `${this.context.nameOf(turn.seat, true)} to act` : waitingWords(view));
    if (mine && !this.wasMine) {
      this.sound.play("turn");
      this.speak(`Your turn. ${this.own?.hand.words()} You may: ${legal.map((move) => move.text ?? "").join("; ")}`);
    }
    this.wasMine = mine;
  }

  drawConnection() {
    const { connection, staleSince } = this.store;
    const since = staleSince ? ` since ${new Date(staleSince).toLocaleTimeString("en-GB")}` : "";
    const words = { live: "Live", "catching up": "Catching up", stale: `Stale${since}` };
    this.connection.className = `connection ${connection.replace(" ", "-")}`;
    setText(this.connection, words[connection] ?? connection);
  }

  toggleSound() {
    this.sound.toggle();
    this.soundButton.setAttribute("aria-pressed", String(this.sound.isOn));
  }
}

/** Sound: off until it is switched on, and loaded then. The choice is kept. */
class SoundSwitch {
  /** @type {Promise<import("./table/sound.js").Sound> | null} */
  #sound = null;

  constructor() {
    this.isOn = false;
    try { this.isOn = localStorage.getItem("sound") === "on"; } catch { /* Then it is off. */ }
  }

  toggle() {
    this.isOn = !this.isOn;
    try { localStorage.setItem("sound", this.isOn ? "on" : "off"); } catch { /* Then it lasts as long as the page. */ }
    this.play("turn");
  }

  /** @param {string} name */
  play(name) {
    if (!this.isOn || !name) return;
    this.#sound ??= import("./table/sound.js").then(({ Sound }) => new Sound());
    void this.#sound.then((sound) => sound.play(name), () => (this.#sound = null));
  }

  end() { void this.#sound?.then((sound) => sound.end(), () => {}); }
}
