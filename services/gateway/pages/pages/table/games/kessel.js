// Kessel sabacc: two families with a discard pile each, chips that buy draws, shift tokens, Impostors and their dice.

import { cardOf } from "../../../elements/cards/names.js";
import { el, own } from "../dom.js";
import { drawPile, emptyPlace, labelledCard, labelledDice, listed } from "./parts.js";
import { tokenText, tokenTitle, tokenWord } from "./tokens.js";

/** @param {import("../context.js").Context} context */
const stateOf = (context) => context.view?.hand?.gameState?.kessel;

/** Effects that hold until the reveal. @param {import("../context.js").Context} context */
function effects(context) {
  const state = stateOf(context);
  const all = [];
  if (state?.prime) all.push(`Prime ${state.prime}/${state.prime}`);
  if (state?.markdown) all.push("Markdown");
  if (state?.cookTheBooks) all.push("Cook the books");
  if (state?.majorFraud) all.push("Major fraud");
  return all;
}

/** @type {import("./all.js").Game} */
export const kessel = {
  deck: "K44",
  title: "Kessel sabacc",
  centre(context) {
    const state = stateOf(context);
    if (!state) return [drawPile("K44")];
    const piles = [
      state.sandDiscard ? labelledCard("Sand discard", state.sandDiscard, "K44") : emptyPlace("Sand discard"),
      drawPile("K44", "Sand"), drawPile("K44", "Blood"),
      state.bloodDiscard ? labelledCard("Blood discard", state.bloodDiscard, "K44") : emptyPlace("Blood discard"),
    ];
    const marks = [state.lap ? `Lap ${state.lap} of 3` : "", ...effects(context)].filter(Boolean);
    const dice = state.primeDice?.length ? [labelledDice(state.primeDice, "One becomes the Prime")] : [];
    return [...piles, ...dice, ...(marks.length ? [el("p", { class: "marks" }, ...marks.map((text) => el("span", null, text)))] : [])];
  },
  badges(context, seat) {
    const found = stateOf(context)?.seats?.find((one) => one.seat === seat);
    if (!found) return [];
    /** @type {{text: string, tone?: string, title?: string}[]} */
    const all = [{ text: `${found.stockChips ?? 0} chips${found.handPotChips ? ` · ${found.handPotChips} in` : ""}`, title: "Chips in stock, and chips put in this round" }];
    if (found.tokensLeft) all.push({ text: `\u25c6 ${found.tokensLeft}`, title: "Shift tokens not yet played" });
    for (const token of found.playedTokens?.slice(-1) ?? []) all.push({ text: tokenTitle(tokenWord(token)), tone: "accent", title: tokenText(tokenWord(token)) });
    if (found.standing) all.push({ text: "stands", tone: "good" });
    if (found.immune) all.push({ text: "immune", tone: "warn" });
    if (found.embargoed) all.push({ text: "must stand", tone: "bad" });
    for (const impostor of found.impostors ?? []) all.push({ text: `Impostor ${listed(impostor.dice ?? [])}`, tone: "warn" });
    return all;
  },
  hint(context, codes) {
    if (codes.length !== 2) return codes.length === 3 ? "Three cards: one of the drawn family is laid down" : "";
    const cards = codes.map((code) => cardOf(code, "K44"));
    const kinds = cards.map((card) => card?.kind);
    if (kinds.every((kind) => kind === "Sylop")) return "Two Sylops: Pure Sabacc";
    if (kinds.includes("Impostor")) return "An Impostor: its value is rolled at the reveal";
    if (kinds.includes("Sylop")) return stateOf(context)?.markdown ? "A Sylop, worth 0 now" : "A Sylop copies the other card: a pair";
    const [a = 0, b = 0] = cards.map((card) => card?.value ?? 0);
    return a === b ? `A pair of ${a}s; lower pairs are better` : `A difference of ${Math.abs(a - b)}; pairs and small differences win`;
  },
  extra(context, seat) {
    const tokens = stateOf(context)?.seats?.find((one) => one.seat === seat)?.tokens ?? [];
    return tokens.map((token) => el("span", { class: "token", title: tokenText(tokenWord(token)) }, own("i"), tokenTitle(tokenWord(token))));
  },
  chance(context, { chance, values = [], seat, cards = [] }) {
    if (chance === "CHANCE_KIND_STARTER") return { text: `${context.nameOf(seat)} begin${context.nameOf(seat) === "You" ? "" : "s"} the laps`, tone: "quiet" };
    if (chance !== "CHANCE_KIND_ROLL") return null;
    return { text: `${context.nameOf(seat, true)} rolls ${listed(values)}${cards.length ? " for an Impostor" : ""}`, tone: "roll" };
  },
};
