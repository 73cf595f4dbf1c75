// Evidence that this browser keeps: what the room signed for the player, hand by hand.

import { button, dataTable, el, panel } from "../parts/dom.js";
import { loadInto } from "../parts/forms.js";
import { forgetEvidence, keptEvidence, textOf } from "../parts/evidence.js";
import { credits, saveFile } from "../parts/words.js";

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
  if (all.length === 0) return el("p", { class: "muted" }, "None yet. What the room signs for you is kept here from your first hand on: with it you can convict a room that changes its mind.");
  const body = all.map(({ record }) => textOf(record).replace(/^sabacc-evidence 1\n/, "")).join("");
  return [
    el("p", { class: "muted" }, "What the room signed for you, and what you brought to chance. It is nowhere else: save it where you do not lose it."),
    el(
      "div",
      { class: "row" },
      button("Save all evidence", () => saveFile(`sabacc-evidence 1\n${body}`, "sabacc-evidence.txt", "text/plain"), { class: "primary" }),
      el("a", { class: "button", href: "/verify.html" }, "Verifier"),
    ),
    dataTable(
      "Evidence by hand",
      [
        { head: "Of", cell: (row) => el("code", { class: "hex" }, row.key) },
        { head: "Bytes", number: true, cell: (row) => credits(row.bytes) },
        {
          head: "",
          cell: (row) => [
            button("Save", () => saveFile(textOf(row.record), `evidence-${row.key.replace(/\W+/g, "-")}.txt`, "text/plain"), { class: "small", "aria-label": `Save the evidence of ${row.key}` }),
            " ",
            button(
              "Forget",
              async (event) => {
                const press = /** @type {HTMLElement} */ (event.currentTarget);
                if (press.textContent !== "Sure?") return void (press.textContent = "Sure?");
                await forgetEvidence(row.key);
                again();
              },
              { class: "small quiet" },
            ),
          ],
        },
      ],
      all.slice(-200).reverse(),
    ),
  ];
}
