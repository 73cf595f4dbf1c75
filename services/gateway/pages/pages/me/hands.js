// A player's hands and disputes: results by game and by hour, and every hand with the way to it.

import { call } from "../../api/session.js";
import { button, dataTable, el, panel, plot, refill, tag } from "../parts/dom.js";
import { loadInto } from "../parts/forms.js";
import { credits, dayTime, enumWord, figure, fromBase64, saveFile, signed } from "../parts/words.js";

/** Hands of a page of the list. */
const PAGE = 500;
/** Most pages that are read for the results. */
const PAGES = 8;
/** Hands that are listed at first, and with each press of the button. */
const LISTED = 25;

/** @typedef {{variant: string, hands: number, won: number, net: bigint, ms: number}} GameResult */

/**
 * @param {AbortSignal} signal
 * @param {string} [playerId] another player, for operators and auditors
 */
export function handsPanel(signal, playerId = "") {
  const into = el("div", { class: "stack" });
  loadInto(into, () => load(signal, playerId));
  return panel("Hands", into);
}

/**
 * @param {AbortSignal} signal
 * @param {string} playerId
 */
async function load(signal, playerId) {
  /** @type {any[]} */
  const hands = [];
  let pageToken = "";
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await call("sabacc.audit.v1.HandService/ListPlayerHands", { playerId, pageSize: PAGE, pageToken }, { signal });
    hands.push(...(answer.hands ?? []));
    pageToken = answer.nextPageToken ?? "";
    if (!pageToken) break;
  }
  if (hands.length === 0) return el("p", { class: "muted" }, "No hand yet. ", el("a", { href: "#/" }, "Choose a table in the lobby"), ".");
  const results = resultsOf(hands);
  let sum = 0;
  const course = [...hands].reverse().map((hand, at) => /** @type {[number, number]} */ ([at + 1, (sum += Number(hand.netCredits ?? 0))]));
  return [
    dataTable(
      "Results by game",
      [
        { head: "Game", cell: (row) => el("a", { href: `#/rules/${row.variant}` }, row.variant) },
        { head: "Hands", number: true, cell: (row) => credits(row.hands) },
        { head: "Won", number: true, cell: (row) => `${figure((100 * row.won) / row.hands)} %` },
        { head: "Result", number: true, cell: (row) => tag(signed(row.net), kindOf(row.net)) },
        { head: "A hand", number: true, cell: (row) => figure(Number(row.net) / row.hands, 1).replace("-", "\u2212") },
        { head: "Hours", number: true, cell: (row) => figure(row.ms / 3.6e6, 2) },
        { head: "An hour", number: true, cell: (row) => (row.ms < 60_000 ? "\u2013" : figure((Number(row.net) * 3.6e6) / row.ms, 0).replace("-", "\u2212")) },
      ],
      results,
    ),
    course.length > 1 ? plot("Result, hand by hand", [{ name: "result", points: course }]) : null,
    handsTable(hands),
    pageToken ? el("p", { class: "muted" }, `The results are of the newest ${credits(hands.length)} hands.`) : null,
  ];
}

/**
 * @param {any[]} hands
 * @returns {GameResult[]} the game with most hands first
 */
function resultsOf(hands) {
  /** @type {Map<string, GameResult>} */
  const games = new Map();
  for (const hand of hands) {
    const game = games.get(hand.variant) ?? { variant: hand.variant, hands: 0, won: 0, net: 0n, ms: 0 };
    game.hands += 1;
    game.won += hand.result === "HAND_RESULT_WON" ? 1 : 0;
    game.net += BigInt(hand.netCredits ?? 0);
    if (hand.startTime && hand.endTime) game.ms += Date.parse(hand.endTime) - Date.parse(hand.startTime);
    games.set(hand.variant, game);
  }
  return [...games.values()].sort((one, other) => other.hands - one.hands);
}

/** @param {bigint} net */
const kindOf = (net) => (net > 0n ? "good" : net < 0n ? "bad" : "");

/** @param {any[]} hands */
function handsTable(hands) {
  const into = el("div", { class: "stack" });
  let shown = LISTED;
  const draw = () =>
    refill(
      into,
      dataTable(
        "Hands played, newest first",
        [
          { head: "Hand", cell: (row) => el("a", { href: `#/hand/${row.handId}` }, `${row.tableName || "Table"} ${credits(row.handNo)}`) },
          { head: "Game", cell: (row) => row.variant },
          { head: "Began", cell: (row) => dayTime(row.startTime) },
          { head: "Seat", number: true, cell: (row) => String(row.seat) },
          { head: "Outcome", cell: (row) => enumWord(row.outcome, "HAND_OUTCOME_") },
          { head: "Result", number: true, cell: (row) => tag(signed(row.netCredits), kindOf(BigInt(row.netCredits ?? 0))) },
        ],
        hands.slice(0, shown),
      ),
      shown < hands.length
        ? button("More hands", () => {
            shown += LISTED * 2;
            draw();
          })
        : null,
    );
  draw();
  return into;
}

/** @param {AbortSignal} signal */
export function disputesPanel(signal) {
  const into = el("div", { class: "stack" });
  loadInto(into, async () => {
    const { disputes = [] } = await call("sabacc.audit.v1.DisputeService/ListDisputes", { own: true, pageSize: 100 }, { signal });
    if (disputes.length === 0) return el("p", { class: "muted" }, "None. A dispute is opened on the page of the hand.");
    return disputes.reverse().map(ownDispute);
  });
  return panel("Disputes", into);
}

/** @param {any} dispute */
function ownDispute(dispute) {
  const into = el("div", { class: "stack" });
  const open = dispute.state === "DISPUTE_STATE_OPEN";
  const made = el(
    "details",
    { class: "dispute" },
    el(
      "summary",
      {},
      `No. ${dispute.number}, of ${dayTime(dispute.createTime)} `,
      open ? tag("waits for an auditor", "warn") : tag(enumWord(dispute.verdict, "DISPUTE_VERDICT_"), dispute.verdict === "DISPUTE_VERDICT_UPHELD" ? "good" : ""),
    ),
    into,
  );
  made.addEventListener("toggle", () => {
    if (!made.open || into.hasChildNodes()) return;
    loadInto(into, async () => {
      const { dispute: whole } = await call("sabacc.audit.v1.DisputeService/GetDispute", { disputeId: dispute.disputeId });
      return [
        el("p", {}, el("a", { href: `#/hand/${dispute.handId}` }, "The hand")),
        el("blockquote", {}, whole.text ?? ""),
        whole.answer ? [el("h3", {}, `Answered ${dayTime(whole.answerTime)}`), el("blockquote", {}, whole.answer)] : null,
        whole.evidence ? button("Save the evidence", () => saveFile(fromBase64(whole.evidence), `dispute-${whole.number}.txt`), { class: "small" }) : null,
      ].flat();
    });
  });
  return made;
}
