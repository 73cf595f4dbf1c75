// Page of the rules: each game's as the room has it, or those of one table, with drawn examples of every rank.

import { call } from "../api/session.js";
import "../elements/card.js";
import { rankWords } from "../elements/cards/names.js";
import { card, el, facts, pageHead, panel, tag, useStyles } from "./parts/dom.js";
import { loadInto } from "./parts/forms.js";

/**
 * Shows the rules of `parameters.game`, or those of the table `parameters.table`.
 *
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 */
export function show(main, parameters) {
  useStyles("pages.css", "rules.css");
  const body = el("div", { class: "stack" });
  const list = el("nav", { class: "side", "aria-label": "Games" });
  main.append(
    el(
      "div",
      { class: "page rules-page" },
      pageHead("Rules", "As the room itself plays them: the same code that deals has written these pages."),
      el("div", { class: "with-side" }, list, body),
    ),
  );
  loadInto(body, async () => {
    const { variants = [] } = await call("sabacc.table.v1.RulesService/ListVariants", {});
    const chosen = parameters.game ?? (parameters.table ? "" : variants[0]?.variant);
    list.replaceChildren(
      ...variants.map((/** @type {any} */ one) =>
        el(
          "a",
          { href: `#/rules/${one.variant}`, "aria-current": one.variant === chosen ? "page" : null },
          el("strong", {}, one.title),
          el("span", { class: "muted" }, `${one.minPlayers}\u2013${one.maxPlayers} players`),
        ),
      ),
    );
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    const subject = parameters.table ? { tableId: parameters.table } : { proposed: { variant: chosen } };
    const told = await call("sabacc.table.v1.RulesService/ExplainRules", subject);
    const summary = variants.find((/** @type {any} */ one) => one.variant === told.variant) ?? {};
    return rulesOf(told, summary, parameters.table);
  });
  return () => {};
}

/**
 * @param {any} told ExplainRulesResponse
 * @param {any} summary VariantSummary
 * @param {string | undefined} table
 */
function rulesOf(told, summary, table) {
  return [
    el(
      "section",
      { class: "panel rules-head" },
      el("p", { class: "eyebrow" }, table ? "The rules of one table" : "With the usual settings"),
      el("h2", {}, told.title),
      el(
        "p",
        { class: "row" },
        tag(`${summary.minPlayers}\u2013${summary.maxPlayers} players`),
        tag(`${summary.deckCards} cards (${summary.deck})`),
        summary.hasBetting ? tag("betting") : tag("no betting"),
        summary.hasSabaccPot ? tag("Sabacc Pot", "accent") : null,
        summary.hasCarriedPot ? tag("the pot may carry over", "accent") : null,
      ),
      facts([["After", summary.source ?? ""]]),
      table ? el("p", {}, el("a", { class: "button", href: `#/table/${table}` }, "To the table")) : null,
    ),
    ...(told.sections ?? []).map((/** @type {any} */ section) =>
      panel(
        section.heading,
        ...(section.paragraphs ?? []).map((/** @type {string} */ text) => el("p", {}, ...inline(text))),
        itemsOf(section.items ?? [], summary.deck),
      ),
    ),
  ];
}

/**
 * @param {any[]} items RulesItem
 * @param {string} deck
 */
function itemsOf(items, deck) {
  if (items.length === 0) return null;
  const drawn = items.some((item) => item.exampleCards?.length);
  return el(
    drawn ? "ol" : "ul",
    { class: drawn ? "ranks" : "move-list" },
    ...items.map((item) =>
      el(
        "li",
        {},
        item.exampleCards?.length
          ? el("div", { class: "example" }, ...item.exampleCards.map((/** @type {string} */ code) => card(code, deck, { small: true })))
          : null,
        el(
          "div",
          {},
          el("strong", {}, item.name),
          item.text ? el("span", {}, drawn ? el("br") : " ", ...inline(item.text)) : null,
          item.exampleRank?.text ? el("span", { class: "rank-text muted" }, rankWords(item.exampleRank.text)) : null,
        ),
      ),
    ),
  );
}

/**
 * Text with its words between backquotes as code.
 *
 * @param {string} text
 */
function inline(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? el("code", {}, part) : part));
}
