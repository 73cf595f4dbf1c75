// Disputes of the room: the list, what was written, and the form in which an auditor answers.

import { call } from "../../api/session.js";
import { button, dataTable, el, facts, panel, refill, tag } from "../parts/dom.js";
import { callForm, control, loadInto } from "../parts/forms.js";
import { dayTime, enumWord, fromBase64, requestId, saveFile, shortId, toHex } from "../parts/words.js";

const DISPUTES = "sabacc.audit.v1.DisputeService";
/** Most pages that are read. */
const PAGES = 20;

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function disputesTab(into, followed) {
  const list = el("div", { class: "stack" });
  const one = el("div", { class: "stack" });
  const state = control({
    name: "state",
    label: "Show",
    type: "select",
    value: "DISPUTE_STATE_OPEN",
    options: [["DISPUTE_STATE_OPEN", "open ones"], ["DISPUTE_STATE_ANSWERED", "answered ones"], ["", "all"]],
    attributes: { onchange: () => load() },
  });
  const load = () => loadInto(list, () => listOf(state.querySelector("select").value, (id) => show(one, id, followed, load)));
  refill(into, panel("Disputes", state, list), one);
  load();
}

/**
 * @param {string} state
 * @param {(id: string) => void} open
 */
async function listOf(state, open) {
  /** @type {any[]} */
  const disputes = [];
  let pageToken = "";
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await call(`${DISPUTES}/ListDisputes`, { ...(state ? { state } : {}), pageSize: 500, pageToken });
    disputes.push(...(answer.disputes ?? []));
    pageToken = answer.nextPageToken ?? "";
    if (!pageToken) break;
  }
  return dataTable(
    "Disputes, newest first",
    [
      { head: "No.", number: true, cell: (row) => row.number },
      { head: "Opened", cell: (row) => dayTime(row.createTime) },
      { head: "Hand", cell: (row) => el("a", { href: `#/hand/${row.handId}` }, `${shortId(row.tableId)}, hand ${row.handNo}`) },
      { head: "Player", cell: (row) => (row.erased ? "erased" : shortId(row.playerId)) },
      { head: "State", cell: (row) => (row.state === "DISPUTE_STATE_OPEN" ? tag("open", "warn") : tag(enumWord(row.verdict, "DISPUTE_VERDICT_"), "good")) },
      { head: "Acts", cell: (row) => button("Read", () => open(row.disputeId), { class: "small", "aria-label": `Read dispute ${row.number}` }) },
    ],
    disputes.reverse(),
    state === "DISPUTE_STATE_OPEN" ? "No dispute is open." : "None.",
  );
}

/**
 * @param {Element} into
 * @param {string} disputeId
 * @param {import("../room.js").Followed} followed
 * @param {() => void} again
 */
function show(into, disputeId, followed, again) {
  loadInto(into, async () => {
    const { dispute } = await call(`${DISPUTES}/GetDispute`, { disputeId });
    const hash = (/** @type {string | undefined} */ text) => (text ? el("code", { class: "hex" }, toHex(fromBase64(text))) : "none");
    const open = dispute.state === "DISPUTE_STATE_OPEN";
    return panel(
      `Dispute ${dispute.number}`,
      facts([
        ["Hand", el("a", { href: `#/hand/${dispute.handId}` }, `hand ${dispute.handNo} of table ${shortId(dispute.tableId)}`)],
        ["Player", el("code", { class: "hex" }, dispute.playerId ?? "erased")],
        ["SHA-256 of the evidence", hash(dispute.evidenceSha256)],
        ["SHA-256 of the room's bundle", hash(dispute.bundleSha256)],
      ]),
      dispute.erased ? el("p", { class: "notice warn" }, "The player was erased: what was written can be read no more.") : el("blockquote", {}, dispute.text ?? ""),
      el(
        "div",
        { class: "row" },
        dispute.evidence ? button("Save the evidence", () => saveFile(fromBase64(dispute.evidence), `dispute-${dispute.number}.txt`)) : tag("no evidence attached"),
        el("a", { class: "button", href: `/hands/${dispute.tableId}/${dispute.handNo}.sabacc`, download: `dispute-${dispute.number}.sabacc` }, "Save the bundle"),
        el("a", { class: "button", href: "/verify.html" }, "Verifier"),
      ),
      dispute.answer ? [el("h3", {}, `Answered ${dayTime(dispute.answerTime)}: ${enumWord(dispute.verdict, "DISPUTE_VERDICT_")}`), el("blockquote", {}, dispute.answer)] : null,
      open && followed.auditor ? answerForm(disputeId, () => (show(into, disputeId, followed, again), again())) : null,
      open && !followed.auditor ? el("p", { class: "muted" }, "An auditor answers: sign in with an auditor's token.") : null,
    );
  });
}

/**
 * @param {string} disputeId
 * @param {() => void} answered
 */
function answerForm(disputeId, answered) {
  return callForm({
    label: "Answer for ever",
    fields: [
      {
        name: "verdict",
        label: "Findings",
        type: "select",
        options: [["DISPUTE_VERDICT_REJECTED", "the hand is as it should be"], ["DISPUTE_VERDICT_UPHELD", "the player is right"], ["DISPUTE_VERDICT_UNDECIDED", "the records do not tell who is right"]],
      },
      { name: "text", label: "Why, for the player to read", type: "area", required: true, attributes: { maxlength: 2000 } },
    ],
    confirm: "I have read the hand. An answer cannot be changed.",
    call: async (values) => {
      await call(`${DISPUTES}/AnswerDispute`, { requestId: requestId(), disputeId, ...values });
      answered();
    },
  });
}
