// Adjustments: one operator proposes, another one approves.

import { call } from "../../api/session.js";
import { dataTable, el, panel, refill } from "../parts/dom.js";
import { button } from "../parts/dom.js";
import { callForm, loadInto } from "../parts/forms.js";
import { refused } from "../parts/refused.js";
import { dayTime, requestId, shortId, signed } from "../parts/words.js";

const WALLET = "sabacc.wallet.v1.WalletService";

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function adjustmentsTab(into, followed) {
  const list = el("div", { class: "stack" });
  const load = () => loadInto(list, () => listOf(followed.operator, load));
  refill(into, panel("Adjustments that wait", el("p", { class: "muted" }, "Nothing moves before another operator than the one who proposed it approves."), list), followed.operator ? proposePanel(load) : null);
  load();
}

/**
 * @param {boolean} operator
 * @param {() => void} again
 */
async function listOf(operator, again) {
  const { adjustments = [] } = await call(`${WALLET}/ListAdjustments`, { pageSize: 1000 });
  const said = el("div", { role: "status" });
  /**
   * @param {string} method
   * @param {any} request
   */
  const act = async (method, request) => {
    refill(said);
    try {
      await call(`${WALLET}/${method}`, { requestId: requestId(), ...request });
      again();
    } catch (/** @type {any} */ error) {
      refill(said, refused(error));
      if (error.metadata?.refusal === "SAME_OPERATOR") said.append(el("p", { class: "muted" }, "Ask another operator: who proposed it cannot approve it."));
    }
  };
  return [
    said,
    dataTable(
      "Proposals, oldest first",
      [
        { head: "Proposed", cell: (row) => dayTime(row.proposeTime) },
        { head: "By", cell: (row) => row.proposedBy },
        { head: "Account", cell: (row) => el("code", { class: "hex" }, row.account) },
        { head: "Credits", number: true, cell: (row) => signed(row.amountCredits) },
        { head: "Reason", cell: (row) => row.reason },
        {
          head: "Acts",
          cell: (row) =>
            operator
              ? [
                  button("Approve", () => act("ApproveAdjustment", { adjustmentId: row.adjustmentId }), { class: "small primary", "aria-label": `Approve ${shortId(row.adjustmentId)}` }),
                  " ",
                  button("Reject", () => act("RejectAdjustment", { adjustmentId: row.adjustmentId, reason: "rejected on the page of the room" }), { class: "small", "aria-label": `Reject ${shortId(row.adjustmentId)}` }),
                ]
              : "",
        },
      ],
      adjustments,
      "None waits.",
    ),
  ];
}

/** @param {() => void} again */
function proposePanel(again) {
  return panel(
    "Propose an adjustment",
    callForm({
      label: "Propose it",
      fields: [
        { name: "account", label: "Account", required: true, hint: "Such as player/0198f0c2-0000-7000-8000-000000000000 or house/suspense.", attributes: { spellcheck: "false" } },
        { name: "amountCredits", label: "Credits; negative takes them away", type: "number", required: true },
        { name: "reason", label: "Reason, for the record", required: true, attributes: { maxlength: 200 } },
      ],
      call: async (values) => {
        await call(`${WALLET}/ProposeAdjustment`, { requestId: requestId(), ...values });
        again();
        return "It waits for another operator.";
      },
    }),
  );
}
