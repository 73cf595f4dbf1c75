// Beside the felt: the hand as it is told, and what the last hands were.

import { credits } from "../../elements/sheet.js";
import { cardName, rankWords } from "../../elements/cards/names.js";
import { el, own } from "./dom.js";
import { settled, voidText } from "./words.js";

/** Lines that are kept. */
const LINES_MAX = 120;
/** Last hands that are shown. */
const SHOWN_MAX = 6;
/** Time after a hand's end at which it is among the last ones. */
const LAST_MS = 400;
/** Time after which lines are in the list: the felt shows at once what they tell, and many of them come together. */
const LINES_MS = 60;

/** Name of a hand among the last ones. @param {import("../../store/table.js").LastHand} last */
const handName = ({ handNo, voided }) => `${handNo}${voided ? "v" : ""}`;

export class Aside {
  /** @param {import("./context.js").Context} context */
  constructor(context) {
    this.context = context;
    this.lines = el("ol", { class: "log", tabindex: 0, "aria-label": "The hand in words" });
    this.last = el("ol", { class: "last-hands" });
    this.lastPanel = el("section", { class: "panel" }, el("h2", null, "Last hands"), this.last);
    this.element = el("aside", { class: "beside", "aria-label": "Story" }, el("section", { class: "panel story" }, el("h2", null, "This table"), this.lines), this.lastPanel);
    this.drawn = "";
    /** Whether the newest line is in sight. */
    this.stays = true;
    this.isFollowing = false;
    /** Lines that are not in the list yet. @type {HTMLElement[]} */
    this.coming = [];
    this.lines.addEventListener("scroll", () => {
      if (!this.isFollowing) this.stays = this.lines.scrollHeight - this.lines.scrollTop - this.lines.clientHeight < 40;
    }, { passive: true });
  }

  /** Adds a line. @param {string} text @param {string} tone */
  tell(text, tone) {
    if (!this.coming.length) setTimeout(() => this.addLines(), LINES_MS);
    this.coming.push(el("li", { class: tone }, text));
  }

  addLines() {
    this.lines.append(...this.coming.splice(0).slice(-LINES_MAX));
    while (this.lines.children.length > LINES_MAX) this.lines.firstElementChild?.remove();
    this.follow();
  }

  /** Keeps the newest line in sight, once a frame, unless somebody has scrolled back. */
  follow() {
    if (!this.stays || this.isFollowing) return;
    this.isFollowing = true;
    requestAnimationFrame(() => {
      this.isFollowing = false;
      this.lines.scrollTop = this.lines.scrollHeight;
    });
  }

  draw() {
    const hands = this.context.store.lastHands.slice(0, SHOWN_MAX);
    const name = hands.map(handName).join();
    this.lastPanel.hidden = !hands.length;
    if (name === this.drawn) return;
    // The frame in which a hand ends has enough to draw.
    if (this.drawn) setTimeout(() => this.drawLast(), LAST_MS);
    else this.drawLast();
    this.drawn = name;
  }

  /** Draws the last hands; those that are drawn stay as they are. */
  drawLast() {
    const hands = this.context.store.lastHands.slice(0, SHOWN_MAX);
    const names = new Set(hands.map(handName));
    for (const item of [...this.last.children]) if (!names.has(/** @type {HTMLElement} */ (item).dataset["hand"] ?? "")) item.remove();
    hands.forEach((one, i) => {
      const at = /** @type {HTMLElement | undefined} */ (this.last.children[i]);
      if (at?.dataset["hand"] === handName(one)) return;
      const item = this.lastHand(one);
      item.dataset["hand"] = handName(one);
      this.last.insertBefore(item, at ?? null);
    });
  }

  /** One of the last hands: who won how much, and with what. @param {import("../../store/table.js").LastHand} last */
  lastHand({ handNo, hand, voided }) {
    const id = hand?.handId ?? voided?.handId;
    const title = id ? el("a", { href: `#/hand/${id}` }, `Hand ${handNo}`) : el("strong", null, `Hand ${handNo}`);
    if (voided) return el("li", null, title, el("p", null, voidText(this.context, voided)));
    const wins = (hand?.settlement ?? []).filter((item) => item.kind === "SETTLEMENT_KIND_WINS");
    const best = hand?.seats?.find((one) => one.seat === wins[0]?.seat);
    const cards = (best?.cards ?? []).map((card) => card.code ?? "??");
    const shown = cards.length && !cards.includes("??") ? el("span", { class: "mini", title: cards.map((code) => cardName(code, this.context.game.deck)).join(", ") },
      ...cards.map((code) => own("sabacc-card", { code, deck: this.context.game.deck, small: true }))) : null;
    const sum = wins.reduce((all, item) => all + Number(item.amountCredits ?? 0), 0);
    const winners = [...new Set(wins.map((item) => item.seat))].map((seat) => this.context.nameOf(seat)).join(" and ");
    const carried = hand?.settlement?.find((item) => item.kind === "SETTLEMENT_KIND_MOVES_TO_SABACC" || item.kind === "SETTLEMENT_KIND_CARRIES");
    const words = wins.length ? `${winners} ${winners === "You" || winners.includes(" and ") ? "win" : "wins"} ${credits(sum)}` : carried ? settled(this.context, carried) : "Nobody wins";
    return el("li", null, el("div", { class: "row spread" }, title, best?.rank?.text && wins.length ? el("span", { class: "tag" }, rankWords(best.rank.text)) : null), el("p", null, words), shown);
  }
}
