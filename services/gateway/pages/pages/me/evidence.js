// Evidence that this browser keeps: what the room signed for the player, hand by hand.

import { button, dataTable, el, panel, refill } from "../parts/dom.js";
import { loadInto } from "../parts/forms.js";
import { refused } from "../parts/refused.js";
import { evidenceOf, evidenceOfAll, forgetEvidence, keptEvidence } from "../parts/evidence.js";
import { credits, saveFile, shortId } from "../parts/words.js";

/** Hands that are listed. */
const LISTED = 200;

/** Panel with the list, and the ways to save it and to forget it. */
export function evidencePanel() {
  const into = el("div", { class: "stack" });
  const load = () => loadInto(into, () => draw(load));
  load();
  return panel("Evidence kept in this browser", into);
}

/** @param {() => void} again */
async function draw(again) {
  const all = await keptEvidence();
  if (all.length === 0) {
    return el("p", { class: "muted" }, "None yet. What the room signs for you is kept here from your first hand on: with it you can convict a room that changes its mind.");
  }
  return [
    el("p", { class: "muted" }, "What the room signed for you, and what you brought to chance. It is nowhere else: save it where you do not lose it."),
    el(
      "div",
      { class: "row" },
      button("Save all evidence", async () => saveFile(await evidenceOfAll(all), "sabacc-evidence.txt"), { class: "primary" }),
      el("a", { class: "button", href: "/verify.html" }, "Verifier"),
    ),
    dataTable(
      "Evidence by hand",
      [
        { head: "Hand", number: true, cell: (row) => el("a", { href: `#/hand?table=${row.tableId}&no=${row.handNo}` }, credits(row.handNo)) },
        { head: "Table", cell: (row) => el("a", { href: `#/table/${row.tableId}` }, shortId(row.tableId)) },
        { head: "Bytes", number: true, cell: (row) => credits(row.bytes) },
        { head: "Acts", cell: (row) => el("div", { class: "row" }, saveButton(row), forgetButton(row, again)) },
      ],
      all.slice(-LISTED).reverse(),
    ),
  ];
}

/** @param {import("../parts/evidence.js").KeptHand} hand */
function saveButton(hand) {
  const save = async () => saveFile(await evidenceOf(hand), `evidence-${shortId(hand.tableId)}-${hand.handNo}.txt`);
  return button("Save", save, { class: "small", "aria-label": `Save the evidence of hand ${hand.handNo}` });
}

/**
 * Button that asks once before it forgets, and says why where it may not.
 *
 * @param {import("../parts/evidence.js").KeptHand} hand
 * @param {() => void} again
 */
function forgetButton(hand, again) {
  let asked = false;
  const said = el("div", { role: "status" });
  const forget = async () => {
    const isSure = asked;
    asked = !asked;
    refill(press, asked ? "Forget for good?" : "Forget");
    refill(said);
    if (!isSure) return;
    try {
      await forgetEvidence(hand);
      again();
    } catch (error) {
      refill(said, refused(error));
    }
  };
  const press = button("Forget", forget, { class: "small quiet", "aria-label": `Forget the evidence of hand ${hand.handNo}` });
  return el("div", {}, press, said);
}
