// Page of one hand: what happened, step by step, and what each seat saw; its chance; the verdict with every check; files to
// take away; the form of a dispute.

import { call, session } from "../api/session.js";
import "../elements/card.js";
import "../elements/dice.js";
import "../elements/pot.js";
import { chanceOf } from "./hand/bundle.js";
import { disputePanel } from "./hand/dispute.js";
import { Player } from "./hand/player.js";
import { antesOf, creditsOf } from "./hand/pots.js";
import { replay } from "./hand/replay.js";
import { verdictPanel } from "./hand/verdict.js";
import { button, dataTable, el, facts, pageHead, panel, tag, useStyles } from "./parts/dom.js";
import { control, loadInto } from "./parts/forms.js";
import { refused } from "./parts/refused.js";
import { credits, dayTime, fromBase64, saveFile, shortId, signed } from "./parts/words.js";

const AUDIT = "sabacc.audit.v1.AuditService";

/**
 * Shows the hand `parameters.id`, or number `parameters.no` of the table `parameters.table`.
 *
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 */
export function show(main, parameters) {
  useStyles("pages.css", "hand.css");
  const page = el("div", { class: "page hand-page" });
  main.append(page);
  const ending = new AbortController();
  if (!parameters.id && !(parameters.table && parameters.no)) {
    page.append(pageHead("A hand", "Every finished hand can be looked at, step by step, by anybody."), chooseForm(parameters));
    return () => ending.abort();
  }
  const before = pageHead(parameters.no ? `Hand ${parameters.no}` : "A hand", el("a", { href: "#/hand" }, "Choose another hand"));
  const body = el("div", { class: "tab-panel" });
  page.append(before, body);
  const read = async () => {
    const parts = await load(parameters, ending.signal);
    before.remove();
    return parts;
  };
  loadInto(body, read, "Reading the hand and checking it \u2026");
  return () => ending.abort();
}

/** @param {Record<string, string>} parameters */
function chooseForm(parameters) {
  const id = control({ name: "id", label: "The hand's id, or", hint: "As it stands in a statement or on the page Me." });
  const table = control({ name: "table", label: "the table's id", value: parameters.table ?? "" });
  const no = control({ name: "no", label: "and the hand's number", type: "number" });
  return el(
    "form",
    {
      class: "panel form",
      onsubmit: (/** @type {any} */ event) => {
        event.preventDefault();
        const values = new FormData(event.target);
        location.hash = values.get("id") ? `#/hand/${values.get("id")}` : `#/hand?table=${values.get("table")}&no=${values.get("no")}`;
      },
    },
    id,
    table,
    no,
    el("div", { class: "row" }, el("button", { type: "submit", class: "button primary" }, "Show the hand")),
  );
}

/**
 * @param {Record<string, string>} parameters
 * @param {AbortSignal} signal
 */
async function load(parameters, signal) {
  await session.ready;
  const which = parameters.id ? { handId: parameters.id } : { tableId: parameters.table, handNo: parameters.no };
  /** @type {any} */
  let told = {};
  /** @type {any} */
  let why = null;
  try {
    told = await call(`${AUDIT}/GetHand`, which, { signal });
  } catch (error) {
    why = error;
    if (parameters.id) throw error;
  }
  const hand = { tableId: told.tableId ?? parameters.table, handNo: told.handNo ?? parameters.no, handId: told.handId ?? parameters.id ?? "" };
  const audit = await call(`${AUDIT}/AuditHand`, { tableId: hand.tableId, handNo: hand.handNo }, { signal });
  hand.handId = audit.handId ?? hand.handId;
  const [table, game] = await Promise.all([tableOf(hand.tableId), gameOf(told.history?.variant)]);
  const names = await namesOf(told.history, table?.seats ?? []);
  return draw({ told, why, hand, audit, table: table?.name ?? "", game, names });
}

/** @param {string} tableId */
async function tableOf(tableId) {
  try {
    return (await call("sabacc.table.v1.TableService/GetTable", { tableId })).table;
  } catch {
    return null;
  }
}

/** Deck, title, and fields of the rule set at their defaults. @param {string | undefined} variant */
async function gameOf(variant) {
  if (!variant) return { deck: "", title: "", defaults: [] };
  const { summary, fields = [] } = await call("sabacc.table.v1.RulesService/GetVariant", { variant });
  return { deck: summary?.deck ?? "", title: summary?.title ?? variant, defaults: fields.map((/** @type {any} */ one) => one.defaultField) };
}

/**
 * Names of the players by seat, bots marked: those of the table where they still sit there, else asked for.
 *
 * @param {any} history
 * @param {any[]} seated
 * @returns {Promise<Map<number, string>>}
 */
async function namesOf(history, seated) {
  const seats = (history?.seats ?? []).map(Number);
  const found = await Promise.all(
    (history?.players ?? []).map(async (/** @type {string} */ playerId) => {
      const there = seated.find((one) => one.playerId === playerId);
      const shown = (/** @type {any} */ player) => (player.name || shortId(playerId)) + (player.bot ? " (bot)" : "");
      if (there) return shown(there);
      try {
        return shown(await call("sabacc.table.v1.PeopleService/GetPlayer", { playerId }));
      } catch {
        return shortId(playerId);
      }
    }),
  );
  return new Map(seats.map((/** @type {number} */ seat, /** @type {number} */ at) => [seat, found[at] ?? ""]));
}

/** @param {any} all */
function draw({ told, why, hand, audit, table, game, names }) {
  const history = told.history;
  const seats = (history?.seats ?? []).map(Number);
  const mine = Number(told.viewerSeat ?? 0);
  const { steps, sure } = replay(audit.story ?? [], seats, history?.variant ?? "");
  const shared = { steps, sure, names, deck: game.deck, mine, button: seats[seats.length - 1], variant: history?.variant ?? "" };
  return [
    head({ hand, table, title: game.title, history }),
    why ? refused(why) : null,
    steps.length > 0 && seats.length > 0
      ? panel("What happened", ...new Player({ ...shared, credits: potsOf(steps, history, game.defaults) }).parts())
      : null,
    history ? outcomePanel(history, names) : null,
    verdictPanel(audit),
    chancePanel(hand),
    filesPanel(hand, told),
    storyPanel(audit),
    disputePanel(hand),
  ];
}

/**
 * Credits at each step, or null where the fold does not end with what the history says.
 *
 * @param {import("./hand/replay.js").Step[]} steps
 * @param {any} history
 * @param {any[]} defaults
 */
function potsOf(steps, history, defaults) {
  const { credits, sure } = creditsOf(steps, history, antesOf(history.variant ?? "", history.ruleset ?? [], defaults, Number(history.sabaccPot ?? 0)));
  return sure ? credits : null;
}

/** @param {any} all */
function head({ hand, table, title, history }) {
  const no = Number(hand.handNo);
  const to = (/** @type {number} */ other, /** @type {string} */ words) =>
    other < 1 ? null : el("a", { class: "button small", href: `#/hand?table=${hand.tableId}&no=${other}` }, words);
  return pageHead(
    `Hand ${credits(hand.handNo)}`,
    [title, table ? ` at ${table}` : "", history?.startedAt ? `, ${dayTime(history.startedAt)}` : ""],
    el("div", { class: "row" }, to(no - 1, "\u2190 The hand before"), to(no + 1, "The next hand \u2192"), el("a", { class: "button small", href: `#/table/${hand.tableId}` }, "To the table")),
  );
}

/**
 * @param {any} history
 * @param {Map<number, string>} names
 */
function outcomePanel(history, names) {
  const rows = (history.seats ?? []).map((/** @type {string} */ seat, /** @type {number} */ at) => ({
    seat,
    name: names.get(Number(seat)),
    before: history.startingStacks?.[at] ?? "0",
    after: history.finishingStacks?.amounts?.[at],
  }));
  const lines = history.settlement?.lines ?? [];
  return panel(
    "What came of it",
    dataTable(
      "Stacks before and after the hand",
      [
        { head: "Seat", cell: (row) => row.seat },
        { head: "Player", cell: (row) => row.name },
        { head: "Before", number: true, cell: (row) => credits(row.before) },
        { head: "After", number: true, cell: (row) => (row.after === undefined ? "\u2013" : credits(row.after)) },
        {
          head: "Result",
          number: true,
          cell: (row) => {
            if (row.after === undefined) return "\u2013";
            const net = BigInt(row.after) - BigInt(row.before);
            return tag(signed(net), net > 0n ? "good" : net < 0n ? "bad" : "");
          },
        },
      ],
      rows,
    ),
    lines.length > 0 ? el("ul", { class: "lines" }, ...lines.map((/** @type {string} */ line) => el("li", {}, worded(line, history, names)))) : null,
    facts([
      ["Sabacc Pot before", credits(history.sabaccPot)],
      ["Sabacc Pot after", credits(history.finishingSabaccPot)],
      ...(history.carriedPot || history.finishingCarriedPot ? [/** @type {[string, string]} */ (["Carried to the next hand", credits(history.finishingCarriedPot)])] : []),
    ]),
  );
}

/** Lines of a settlement behind their subject: their form, and their words. @type {Array<[RegExp, string]>} */
const SETTLED = [
  [/^wins main (\d+)$/, "wins $1 from the main pot"],
  [/^wins credits (\d+)$/, "wins $1, the whole pot"],
  [/^wins sabacc (\d+)$/, "wins the Sabacc Pot: $1"],
  [/^wins side-(\d+) (\d+)$/, "wins $2 from side pot $1"],
  [/^returned (\d+)$/, "gets back $1 that nobody matched"],
  [/^pays sabacc (\d+) short (\d+)$/, "pays $1 into the Sabacc Pot, $2 less than is due: that is all there is"],
  [/^pays sabacc (\d+)$/, "pays $1 into the Sabacc Pot"],
  [/^eliminated$/, "is out of chips"],
  [/^(\S+) moves sabacc (\d+)$/, "$2 of the $1 pot go into the Sabacc Pot"],
  [/^pot carries (\d+)$/, "$1 are carried to the next hand"],
  [/^rake (\d+)$/, "The house takes $1"],
];

/**
 * Line of a settlement in words, with the player's name in place of `p1`.
 *
 * @param {string} line
 * @param {any} history
 * @param {Map<number, string>} names
 */
function worded(line, history, names) {
  const [, player, rest = line] = /^p(\d+) (.*)$/.exec(line) ?? [];
  const seat = history.seats?.[Number(player) - 1];
  const form = SETTLED.find(([one]) => one.test(rest));
  const words = form ? rest.replace(form[0], form[1]) : rest;
  return seat ? `${names.get(Number(seat))} (seat ${seat}) ${words}` : words;
}

/** @param {{tableId: string, handNo: string}} hand */
function chancePanel(hand) {
  const into = el("div", { class: "stack" });
  const made = el("details", { class: "panel" }, el("summary", {}, el("h2", {}, "Chance: commitment, closing, seed, operations")), into);
  made.addEventListener("toggle", () => {
    if (made.open && !into.hasChildNodes()) loadInto(into, () => chanceParts(hand), "Reading the bundle \u2026");
  });
  return made;
}

/** @param {{tableId: string, handNo: string}} hand */
async function chanceParts(hand) {
  const { bundle, uncosigned = [] } = await call(`${AUDIT}/GetHandBundle`, { tableId: hand.tableId, handNo: hand.handNo });
  const chance = chanceOf(fromBase64(bundle));
  const hex = (/** @type {string} */ text) => (text ? el("code", { class: "hex" }, text) : el("span", { class: "muted" }, "not in the bundle"));
  return [
    el("p", { class: "muted" }, "The dealer commits to a seed before anybody brings a number; the closing binds what all have committed to before anybody reveals; seed and numbers together give every card. This is the bundle as it was read; only the verifier checks it."),
    facts([
      ["Commitment of the dealer", hex(chance.commitment)],
      ["Closing", hex(chance.closing)],
      ["Transcript", hex(chance.transcript)],
      ["Seed", hex(chance.seed)],
    ]),
    dataTable(
      "What each seat brought",
      [
        { head: "Seat", cell: (row) => String(row.seat) },
        { head: "Committed to", cell: (row) => hex(row.commitment) },
        { head: "Revealed", cell: (row) => hex(row.entropy) },
      ],
      chance.rows,
      "No seat's number is bound in this hand.",
    ),
    dataTable(
      "Operations of chance",
      [
        { head: "No.", number: true, cell: (row) => String(row.index) },
        { head: "Operation", cell: (row) => row.kind },
        { head: "Public result", cell: (row) => el("code", { class: "hex" }, row.result) },
      ],
      chance.operations,
      "Chance was not used in this hand.",
    ),
    facts(chance.logs.map((log) => [`Log of the ${log.name}`, `${credits(log.records)} records under a checkpoint of ${log.size}`])),
    uncosigned.length > 0 ? el("p", { class: "notice warn" }, `No witness had signed yet: ${uncosigned.join(", ")}. Load it again in a minute.`) : null,
  ];
}

/**
 * @param {{tableId: string, handNo: string, handId: string}} hand
 * @param {any} told
 */
function filesPanel(hand, told) {
  return panel(
    "Take it away",
    el("p", {}, "The bundle proves the hand to somebody who trusts nobody: drag it onto the verifier, which works from disk and talks to nobody. Compare the room's keys with another source first."),
    el(
      "div",
      { class: "row" },
      el("a", { class: "button primary", href: `/hands/${hand.tableId}/${hand.handNo}.sabacc`, download: `hand-${hand.handNo}.sabacc` }, "Bundle (.sabacc)"),
      told.text ? button("History (.shh)", () => saveFile(told.text, `hand-${hand.handNo}.shh`, "text/plain")) : null,
      el("a", { class: "button", href: "/verify.html" }, "Verifier"),
      el("a", { class: "button", href: "/keys.txt" }, "Keys of the room"),
    ),
    facts([
      ["Hand", el("code", { class: "hex" }, hand.handId)],
      ["Table", el("code", { class: "hex" }, hand.tableId)],
      ["In a terminal", el("code", { class: "hex" }, `sabacc verify --keys keys.txt hand-${hand.handNo}.sabacc`)],
    ]),
  );
}

/** @param {any} audit */
function storyPanel(audit) {
  return el(
    "details",
    { class: "panel" },
    el("summary", {}, el("h2", {}, "Every record of the hand")),
    dataTable(
      "Records of the hand in all three logs",
      [
        { head: "Time", cell: (row) => el("span", { class: "number" }, row.recordTime ? new Date(row.recordTime).toISOString().slice(11, 23) : "") },
        { head: "Who", cell: (row) => row.who },
        { head: "What", cell: (row) => row.what },
        { head: "Log", cell: (row) => row.log ?? "" },
        { head: "Position", number: true, cell: (row) => (row.log ? credits(row.position) : "") },
      ],
      (audit.story ?? []).filter((/** @type {any} */ line) => line.log),
    ),
  );
}
