// Form that opens a dispute on a hand, with the evidence that this browser has kept of it.

import { call, session } from "../../api/session.js";
import { el, panel, refill } from "../parts/dom.js";
import { callForm, control } from "../parts/forms.js";
import { fromBase64, requestId, saveFile, toBase64, toHex } from "../parts/words.js";
import { copyForOthers } from "../parts/evidence.js";

/** Most bytes of evidence that a dispute takes. */
const MOST = 256 * 1024;

/**
 * Panel for a player; for others a line that says who may dispute.
 *
 * @param {{tableId: string, handNo: string, handId: string}} hand
 */
export function disputePanel(hand) {
  const state = el("p", { class: "muted" });
  const made = panel("Dispute this hand", state);
  if (!session.player) {
    refill(state, "Only somebody who was dealt into a hand can dispute it. If you were, sign in with the login that you played with, on the page ", el("a", { href: "#/me" }, "Me"), ".");
    return made;
  }
  refill(state, "An auditor of the room answers, once and for ever. What you write stays with the room, and the log says that there is a dispute.");
  /** @type {Uint8Array | null} */
  let kept = null;
  const attach = control({ name: "kept", label: "Attach the evidence that this browser keeps of the hand", type: "flag", value: false });
  const box = /** @type {HTMLInputElement} */ (attach.querySelector("input"));
  box.disabled = true;
  const size = el("p", { class: "hint muted" }, "This browser keeps no evidence of this hand.");
  copyForOthers(hand).then((bytes) => {
    if (!bytes || bytes.length === 0) return;
    kept = bytes;
    box.disabled = false;
    box.checked = true;
    refill(size, `${Math.ceil(bytes.length / 1024)} KiB: what the room signed for you in this hand, and what you brought to it.`);
  });
  made.append(
    callForm({
      label: "Open the dispute",
      fields: [{ name: "text", label: "What is wrong with this hand?", type: "area", required: true, hint: "1 to 2,000 characters, in your own words.", attributes: { maxlength: 2000 } }],
      extra: [attach, size, control({ name: "file", label: "Or attach an evidence file of your own", type: "file", attributes: { accept: ".sabacc-evidence,.txt,text/plain,*/*" } })],
      call: async (values) => {
        const bytes = values.file ? new Uint8Array(await values.file.arrayBuffer()) : values.kept ? kept : null;
        if (bytes && bytes.length > MOST) throw new Error("The evidence is longer than 256 KiB. Attach the file of this hand alone.");
        const answer = await call("sabacc.audit.v1.DisputeService/OpenDispute", {
          requestId: requestId(),
          tableId: hand.tableId,
          handNo: hand.handNo,
          text: values.text,
          evidence: bytes ? toBase64(bytes) : "",
        });
        return opened(answer, hand);
      },
    }),
  );
  return made;
}

/**
 * @param {any} answer OpenDisputeResponse
 * @param {{handId: string}} hand
 */
function opened(answer, hand) {
  const hash = answer.evidenceSha256 ? toHex(fromBase64(answer.evidenceSha256)) : "";
  return el(
    "div",
    { class: "notice good" },
    el("p", {}, el("strong", {}, `Your dispute has the public number ${answer.number ?? "?"}.`), " Its answer will stand on the page ", el("a", { href: "#/me" }, "Me"), "."),
    hash ? el("p", {}, "SHA-256 of the evidence on record: ", el("code", {}, hash)) : null,
    answer.bundle
      ? el("p", {}, el("button", { type: "button", class: "button small", onclick: () => saveFile(fromBase64(answer.bundle), `dispute-${hand.handId}.sabacc`) }, "Save the room's bundle, as it is on record"))
      : null,
  );
}
