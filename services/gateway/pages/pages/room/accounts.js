// Accounts of players: what they have and what they did, and the acts of an operator upon them.

import { call } from "../../api/session.js";
import { el, facts, panel, refill, setQuery, tag } from "../parts/dom.js";
import { callForm, control, loadInto } from "../parts/forms.js";
import { credits, dayTime, requestId, shortId } from "../parts/words.js";
import { handsPanel } from "../me/hands.js";
import { moneyPanel } from "../me/money.js";

const WALLET = "sabacc.wallet.v1.WalletService";
const PEOPLE = "sabacc.table.v1.PeopleService";

/**
 * @param {Element} into
 * @param {import("../room.js").Followed} followed
 */
export function accountsTab(into, followed) {
  const one = el("div", { class: "stack" });
  const ending = new AbortController();
  const query = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const id = control({ name: "player", label: "Player's id", hint: "As it stands beside a seat, in a dispute or on the player's own page.", value: query.get("player") ?? "" });
  const look = () => {
    const playerId = id.querySelector("input").value.trim().toLowerCase();
    if (!playerId) return refill(one, el("p", { class: "muted" }, "Give a player's id."));
    setQuery({ player: playerId });
    loadInto(one, () => playerParts(playerId, followed, ending.signal, look));
  };
  refill(
    into,
    panel(
      "Accounts",
      el("form", { class: "filters", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), look()) }, id, el("button", { type: "submit", class: "button primary" }, "Look up")),
    ),
    one,
  );
  if (query.get("player")) look();
  return () => ending.abort();
}

/**
 * @param {string} playerId
 * @param {import("../room.js").Followed} followed
 * @param {AbortSignal} signal
 * @param {() => void} again
 */
async function playerParts(playerId, followed, signal, again) {
  const [account, player, seats] = await Promise.all([
    call(`${WALLET}/GetAccount`, { playerId }),
    call(`${PEOPLE}/GetPlayer`, { playerId }),
    call("sabacc.table.v1.TableService/ListSeats", { playerId }),
  ]);
  return [
    panel(
      player.name || shortId(playerId),
      facts([
        ["Account", el("code", { class: "hex" }, account.account)],
        ["Balance", credits(account.balanceCredits)],
        ["Held", credits(account.heldCredits)],
        ["State", [account.frozen ? tag("frozen", "warn") : account.closed ? tag("closed", "bad") : tag("open", "good"), player.bot ? tag("bot") : null, player.erased ? tag("erased", "bad") : null]],
        ["Keeps out of play", account.exclusionEndTime ? (account.exclusionEndTime.startsWith("9999") ? "for good" : `until ${dayTime(account.exclusionEndTime)}`) : "no"],
        ["Seats", seats.seats?.length ? seats.seats.map((/** @type {any} */ seat) => el("a", { class: "tag", href: `#/table/${seat.tableId}` }, `${seat.tableName}, seat ${seat.seat}: ${credits(seat.stackCredits)}`)) : "none"],
      ]),
    ),
    followed.operator ? actsPanel(playerId, account, player, again) : null,
    moneyPanel(signal, playerId),
    handsPanel(signal, playerId),
  ];
}

/**
 * @param {string} playerId
 * @param {any} account
 * @param {any} player
 * @param {() => void} again
 */
function actsPanel(playerId, account, player, again) {
  const reason = { name: "reason", label: "Reason, for the record", required: true, attributes: { maxlength: 200 } };
  const amount = { name: "amountCredits", label: "Credits", type: /** @type {const} */ ("number"), required: true };
  /**
   * @param {string} label
   * @param {string} method
   * @param {any} more
   */
  const act = (label, method, { fields = [reason], values: fixed = {}, said = "Done.", ...more } = {}) =>
    el(
      "details",
      {},
      el("summary", {}, label),
      callForm({
        label,
        fields,
        ...more,
        call: async (values) => {
          const answer = await call(method, { requestId: requestId(), playerId, ...fixed, ...values });
          setTimeout(again, 1200);
          return answer.balanceCredits === undefined ? said : `Done: the account has ${credits(answer.balanceCredits)} now.`;
        },
      }),
    );
  return panel(
    "Acts",
    el(
      "div",
      { class: "act-forms" },
      act("Issue credits", `${WALLET}/Issue`, { fields: [amount, reason] }),
      act("Redeem credits", `${WALLET}/Redeem`, { fields: [amount, reason] }),
      account.frozen
        ? act("Undo the freeze", `${WALLET}/UnfreezeAccount`)
        : act("Freeze the account", `${WALLET}/FreezeAccount`, { danger: true, said: "Nothing leaves the account until the freeze is undone." }),
      player.bot
        ? act("Clear the mark of a bot", `${PEOPLE}/MarkPlayer`, { fields: [], said: "The player is marked as a bot no more." })
        : act("Mark as a bot", `${PEOPLE}/MarkPlayer`, { fields: [], values: { bot: true }, said: "Everybody sees from now on that a program plays." }),
      act("Revoke all tokens", `${PEOPLE}/RevokeTokens`, { danger: true, confirm: "Everything that the player has open ends.", fields: [reason], ...revoke(playerId, again) }),
      act("Close the account", `${WALLET}/CloseAccount`, { danger: true, confirm: "It is empty, and closed for good.", said: "The account is closed." }),
      act("Erase the player", `${PEOPLE}/ErasePlayer`, { danger: true, confirm: "All that is personal becomes unreadable for ever.", fields: [{ ...reason, hint: "It stays in the log, readable: name nobody in it." }], said: "The player is erased." }),
    ),
    el("p", { class: "muted" }, "What is neither issued nor redeemed, such as credits in suspense, is set right by two operators on the tab Adjustments."),
  );
}

/**
 * Call of RevokeTokens, which names a subject and not a player.
 *
 * @param {string} playerId
 * @param {() => void} again
 */
function revoke(playerId, again) {
  return {
    call: async (/** @type {any} */ values) => {
      await call(`${PEOPLE}/RevokeTokens`, { requestId: requestId(), subject: playerId, ...values });
      setTimeout(again, 1200);
      return "All tokens that the player had are revoked.";
    },
  };
}
