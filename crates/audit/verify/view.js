// A hand's verdict and story as elements.

import { CHECKS } from "./audit.js";
import { timeText } from "./audit/case.js";
import { shown, uuid } from "./bytes.js";
import { LOGS } from "./bundle.js";
import { failedSentences } from "./sentences.js";
import { storyOf } from "./story.js";
import { rankWords } from "./words.js";

// An element with attributes and children; texts become text nodes, in which nothing is unseen.
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children.map((child) => (typeof child === "string" ? shown(child) : child)));
  return made;
}

const MARKS = { passed: ["\u2713", "passed"], failed: ["\u2715", "failed"], not_possible: ["?", "not possible"] };
const NAMES = { table: "the table", dealer: "the dealer", wallet: "the wallet" };
let made = 0;

const frame = (kind, mark, title, subtitle, ...body) => {
  made += 1;
  const id = `hand-${made}`;
  const head = el("div", {}, el("h2", { id, tabindex: "-1" }, title), el("p", {}, subtitle));
  return el(
    "article",
    { class: `hand is-${kind}`, "aria-labelledby": id },
    el("header", { class: "verdict" }, el("span", { class: "sign", "aria-hidden": "true" }, mark), head),
    ...body,
  );
};

const said = ({ sentences }) => el("div", { class: "said" }, ...sentences.map((text) => el("p", {}, text)));

// A file of which nothing but the three sentences can be told.
function showBare(name, { verdict, sentences }) {
  const title = verdict === "refused" ? "This file is refused" : "This hand is not proved";
  return frame("failed", "\u2715", title, name, said({ sentences }));
}

// A judged file. What cannot be shown is not proved either.
export function showFile(found) {
  const { name, report, records } = found;
  if (!records) return showBare(name, report);
  try {
    return showHand(name, found);
  } catch (error) {
    return showBare(name, { verdict: "failed", sentences: failedSentences(`the page cannot show it: ${error}`) });
  }
}

function titleOf({ verdict, checks }) {
  const failed = checks.filter((one) => one.verdict === "failed").length;
  if (verdict === "proved") return ["passed", "\u2713", "All of this hand checks out"];
  if (verdict === "broken_off") return ["passed", "\u2713", "This hand was broken off, and all of it checks out"];
  if (verdict === "not_finished") return ["open", "?", "This hand is not finished"];
  if (failed === 0) return ["failed", "\u2715", "This hand is not proved"];
  return ["failed", "\u2715", `This hand fails ${failed === 1 ? "a check" : `${failed} checks`}`];
}

function showHand(name, found) {
  const { records, walk } = found;
  const { opened } = records;
  const [kind, mark, title] = titleOf(found.report);
  const at = records.find("HandOpened");
  const words = [
    walk.hand?.rules.variant.title,
    opened && `hand ${opened.hand_no}`,
    at && `${timeText(at.time).slice(0, 16)} UTC`,
    name,
  ];
  const subtitle = words.filter(Boolean).join(" \u00b7 ");
  return frame(
    kind,
    mark,
    title,
    subtitle,
    said(found.report),
    reasons(found),
    el(
      "div",
      { class: "body" },
      seats(found),
      notes(found),
      el("div", { class: "columns" }, checks(found), story(found)),
      facts(found),
    ),
  );
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

// What keeps the hand from passing, before anything else.
function reasons({ report }) {
  const wrong = report.checks.filter(({ verdict }) => verdict === "failed");
  const listed = wrong.length > 0 ? wrong : report.checks.filter(({ verdict }) => verdict === "not_possible");
  if (listed.length === 0) return "";
  return el(
    "ul",
    { class: "reasons" },
    ...listed.map(({ check, why }) => el("li", {}, el("b", {}, check), ` \u2013 ${sentence(why)}`)),
  );
}

function words(list, walk) {
  return list.map((word) => {
    if (typeof word === "string") return word;
    if (word.seat !== undefined) return seatName(word.seat);
    if (word.card !== undefined) return card(word.card, walk);
    return el("span", { class: "credits" }, signed(BigInt(word.amount), word.signed));
  });
}

const signed = (amount, plus) => `${plus && amount > 0n ? "+" : ""}${amount}`.replace("-", "\u2212");
const seatName = (seat) => el("span", { class: `seat seat-${seat}` }, `Seat ${seat}`);

function card(one, { deck }) {
  if (typeof one === "string") return el("span", { class: "card" }, one);
  return el("span", { class: "card", title: deck.code(one) }, deck.nameOf(one));
}

function spaced(nodes) {
  return nodes.flatMap((node, at) => (at === 0 ? [node] : [" ", node]));
}

function seats({ records, walk }) {
  const { opened } = records;
  if (!opened) return "";
  const settled = records.find("HandSettled")?.event;
  const settlement = walk.end?.settlement;
  const rows = opened.roster.map(({ seat, player_id: player, stack }, at) => {
    const after = records.aborted ? stack : settled?.finishing_stacks[at];
    const change = after === undefined ? null : after - stack;
    const hand = settlement?.hands[at];
    const held = hand && hand.cards.length > 0 ? spaced(hand.cards.map((one) => card(one, walk))) : ["\u2013"];
    const rank = hand ? el("span", { class: "rank" }, rankWords(hand.rank)) : "";
    const number = (label, text, tone = "") => el("td", { class: `number ${tone}`, "data-label": label }, text);
    return el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        seatName(seat),
        el(
          "span",
          { class: "rank mono", title: "The player\u2019s pseudonym" },
          player.length === 16 ? uuid(player).slice(0, 8) : "",
        ),
      ),
      el("td", { class: "cards" }, ...held, rank),
      number("Before", String(stack)),
      number("After", after === undefined ? "\u2013" : String(after)),
      number(
        "Change",
        change === null ? "\u2013" : signed(change, true),
        change > 0n ? "plus" : change < 0n ? "minus" : "",
      ),
    );
  });
  const head = ["Seat", "Hand at the end", "Before", "After", "Change"].map((text, at) =>
    el("th", { scope: "col", class: at > 1 ? "number" : null }, text),
  );
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      { class: "seats" },
      el("caption", {}, "Who played"),
      el("thead", {}, el("tr", {}, ...head)),
      el("tbody", {}, ...rows),
    ),
  );
}

function notes({ notes: list }) {
  return list.length === 0 ? "" : el("ul", { class: "notes" }, ...list.map((note) => el("li", {}, note)));
}

function checks({ report }) {
  const sentences = new Map(CHECKS);
  const items = report.checks.map(({ check, verdict, why }) => {
    const [mark, text] = MARKS[verdict];
    const name = el("p", { class: "name what" }, el("b", {}, check), " ", el("span", {}, text));
    return el(
      "li",
      { class: verdict },
      el("span", { class: "mark", "aria-hidden": "true" }, mark),
      name,
      el("p", { class: "what" }, sentences.get(check)),
      why ? el("p", { class: "why" }, sentence(why)) : "",
    );
  });
  return el("div", {}, el("h3", {}, "The seventeen checks"), el("ol", { class: "checks" }, ...items));
}

function story({ records, walk }) {
  const lines = storyOf(records, walk);
  const start = records.find("HandOpened")?.time ?? lines[0]?.time ?? 0n;
  let before = null;
  const items = lines.map(({ time, log, position, who, words: said, minor }) => {
    const stamp = offset(time - start);
    const classes = [minor ? "minor" : null, stamp === before ? "same" : null];
    if (!minor) before = stamp;
    const subject =
      typeof who === "number"
        ? seatName(who)
        : el("span", { class: "who" }, NAMES[who][0].toUpperCase() + NAMES[who].slice(1));
    const place = el("span", { class: "place" }, ` ${log} ${position}`);
    const iso = `${timeText(time).replace(" ", "T")}Z`;
    return el(
      "li",
      { class: classes.filter(Boolean).join(" ") || null },
      el("time", { datetime: iso, title: `${timeText(time)} UTC` }, stamp),
      el("p", {}, subject, " ", ...words(said, walk), place),
    );
  });
  const list = el("ol", { class: "story plain" }, ...items);
  const box = el("input", { type: "checkbox" });
  box.addEventListener("change", () => list.classList.toggle("plain", !box.checked));
  const head = el(
    "div",
    { class: "storyhead" },
    el("h3", {}, "What happened"),
    el("label", {}, box, "Show the bookkeeping too"),
  );
  return el("div", {}, head, list);
}

// Minutes, seconds and tenths since the hand was opened.
function offset(micros) {
  const tenths = (micros < 0n ? -micros : micros) / 100000n;
  const [minutes, seconds] = [tenths / 600n, (tenths % 600n) / 10n];
  return `${micros < 0n && tenths > 0n ? "\u2212" : ""}${minutes}:${String(seconds).padStart(2, "0")}.${tenths % 10n}`;
}

function facts({ report, records, walk }) {
  const pair = ([name, text]) => [el("dt", {}, name), el("dd", { class: "mono" }, text ?? "")];
  const ids = [["hand", report.hand_id]];
  if (records.opened?.table_id.length === 16) ids.push(["table", uuid(records.opened.table_id)]);
  for (const name of LOGS) {
    const { key, records: list } = records.bundle[name];
    ids.push([`${name}\u2019s log`, `${list.length} records, key ${key}`]);
  }
  const rules = walk.hand
    ? Object.keys(walk.hand.rules.variant.fields)
        .sort()
        .map((name) => [name, String(walk.hand.rules[name])])
    : [];
  const settings = (records.opened?.settings ?? "")
    .split("\n")
    .filter(Boolean)
    .slice(0, 20)
    .map((line) => line.split(" = ", 2));
  const fold = (title, ...content) => el("details", {}, el("summary", {}, title), el("div", {}, ...content));
  return el(
    "div",
    {},
    fold("Where this stands on record", el("dl", {}, ...ids.flatMap(pair))),
    rules.length > 0 ? fold("The rules it was played by", el("dl", {}, ...rules.flatMap(pair))) : "",
    settings.length > 0 ? fold("The settings of its table", el("dl", {}, ...settings.flatMap(pair))) : "",
    fold("The report, for programs", el("pre", { tabindex: "0" }, JSON.stringify(report, null, 2))),
  );
}
