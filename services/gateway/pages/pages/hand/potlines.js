// Pots in a hand's replay: on the felt as they are at a step, and below it line by line, as far as the step that is shown.

import { button, el, refill } from "../parts/dom.js";
import { credits, signed } from "../parts/words.js";

/** @typedef {import("./pots.js").Credits} Credits */
/** @typedef {import("./pots.js").Pot} Pot */

/**
 * Name of a pot. @param {string} key @param {boolean} hasSides @param {string} variant
 */
export function potName(key, hasSides, variant) {
  if (key === "sabacc") return "Sabacc Pot";
  if (key === "carried") return "Carried";
  if (key !== "main") return `Side pot ${key.slice(5)}`;
  return hasSides ? "Main pot" : variant === "kessel" ? "Credits pot" : "Hand pot";
}

const hasSides = (/** @type {Credits} */ { pots }) => pots.some(({ key, credits }) => key.startsWith("side") && credits > 0);

/**
 * Pots at a step: those with something in them, or that have just been emptied.
 *
 * @param {Credits} now @param {string} variant
 */
export function potsAt(now, variant) {
  const sides = hasSides(now);
  return now.pots
    .filter((pot) => pot.credits > 0 || pot.change !== 0 || pot.key === "main")
    .map((pot) => ({ ...pot, name: potName(pot.key, sides || now.pots.some((one) => one.key.startsWith("side") && one.change !== 0), variant) }));
}

/** What has come into pots at a step, and gone out of them, in words. @param {Credits} now @param {string} variant */
export function changeWords(now, variant) {
  return potsAt(now, variant).filter((pot) => pot.change !== 0).map((pot) => `${pot.name} ${credits(pot.credits)} (${signed(pot.change)})`).join(", ");
}

/** Elements of the pots at a step. @param {Credits} now @param {string} variant */
export function potElements(now, variant) {
  return potsAt(now, variant).map(({ key, name, credits: amount, change }) =>
    el(
      "div",
      { class: "replay-pot" },
      el("sabacc-pot", { name, amount: String(amount), strong: key === "main" }),
      change === 0 ? null : el("span", { class: `change ${change > 0 ? "more" : "less"}`, "aria-hidden": "true" }, signed(change)),
    ),
  );
}

/** Table of all steps at which a pot changes. */
export class PotLines {
  /**
   * @param {object} options
   * @param {Credits[]} options.credits by the steps
   * @param {string} options.variant
   * @param {(at: number) => string} options.what words of a step
   * @param {(at: number) => void} options.go
   */
  constructor({ credits: all, variant, what, go }) {
    const keys = ["main", "side", "sabacc", "carried"].flatMap((kind) =>
      [...new Set(all.flatMap(({ pots }) => pots.filter((pot) => pot.key.startsWith(kind) && (pot.credits > 0 || pot.change !== 0)).map(({ key }) => key)))].sort());
    const sides = keys.some((key) => key.startsWith("side"));
    this.what = what;
    this.rows = all.flatMap((now, at) => {
      if (!now.pots.some(({ change }) => change !== 0)) return [];
      const words = el("td");
      const row = el(
        "tr",
        {},
        el("td", {}, button(String(at + 1), () => go(at), { class: "small", "aria-label": `To step ${at + 1}` })),
        words,
        ...keys.map((key) => cell(now.pots.find((pot) => pot.key === key))),
      );
      return [{ at, row, words }];
    });
    const label = "Pots, line by line";
    this.element = el(
      "div",
      { class: "pot-lines" },
      el("h3", {}, label),
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
        el(
          "table",
          { class: "table" },
          el("caption", { class: "hidden-text" }, label),
          el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Step"), el("th", { scope: "col" }, "What"), ...keys.map((key) => el("th", { scope: "col", class: "number" }, potName(key, sides, variant))))),
          el("tbody", {}, ...this.rows.map(({ row }) => row)),
        ),
      ),
    );
  }

  /** Shows the lines up to a step, the last of them in sight. @param {number} step */
  draw(step) {
    let last = null;
    for (const { at, row, words } of this.rows) {
      row.hidden = at > step;
      row.classList.toggle("now", at === step);
      if (row.hidden) continue;
      refill(words, this.what(at));
      last = row;
    }
    const box = this.element.querySelector(".scroll");
    if (box && last) box.scrollTop = last.offsetTop + last.offsetHeight - box.clientHeight;
  }
}

/** @param {Pot | undefined} pot */
function cell(pot) {
  const change = pot?.change ?? 0;
  return el("td", { class: "number" }, pot ? credits(pot.credits) : "\u2013", " ", el("span", { class: `change ${change > 0 ? "more" : "less"}` }, change === 0 ? null : signed(change)));
}
