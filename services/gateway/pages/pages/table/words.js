// Updates in words: a line for the log and for screen readers, and a short one for the middle of the felt.

import { cardName, rankWords } from "../../elements/cards/names.js";
import { credits } from "../../elements/sheet.js";
import { deedOf } from "./verbs.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("../../types.js").TableUpdate} TableUpdate */

/** Something that happened. `quiet` lines go to the log alone; `seat` has a bubble that says `deed`.
 * @typedef {{text: string, tone: string, seat?: number, deed?: string}} Happening */

/** Subject and verb: "You draw", "Han draws". @param {string} name @param {string} deed */
export function sentence(name, deed) {
  if (name !== "You") return `${name} ${deed}`;
  const [first = "", ...rest] = deed.split(" ");
  const plain = first === "matches" ? "match" : first === "has" ? "have" : first === "is" ? "are" : first.replace(/s$/, "");
  return ["You", plain, ...rest].join(" ");
}

/** What an update tells, in order. @param {Context} context @param {TableUpdate} update @returns {Happening[]} */
export function happenings(context, update) {
  if (update.action) return acted(context, update.action);
  if (update.handStarted) {
    const { handNo, seats = [] } = update.handStarted;
    return [{ text: `Hand ${handNo} begins with ${seats.length} players`, tone: "start" }];
  }
  if (update.handEnded) return ended(context, update.handEnded);
  if (update.voided) return [{ text: voidText(context, update.voided), tone: "bad" }];
  if (update.seat) return seatChanged(context, update.seat);
  if (update.suspension) return [{ text: update.suspension.suspension ? "The dealer is silent: the hand is suspended" : "The dealer is back: the hand goes on", tone: update.suspension.suspension ? "bad" : "good" }];
  if (update.closed) return [{ text: "The table is closed", tone: "bad" }];
  if (update.disabled) return [{ text: update.disabled.disabled ? `The table is disabled: ${update.disabled.disabled.reason}` : "The table is enabled again", tone: "quiet" }];
  return [];
}

/** @param {Context} context @param {import("../../types.js").HandAction} action @returns {Happening[]} */
function acted(context, action) {
  const seat = action.seat ?? 0;
  const name = context.nameOf(seat);
  if (action.decision) {
    const deed = deedOf(action.decision, context.game.deck, (target) => context.nameOf(target, true));
    const late = action.byClock ? " (the clock)" : "";
    return [{ text: `${sentence(name, deed)}${late}`, tone: "move", seat, deed: `${deed.slice(0, 1).toUpperCase()}${deed.slice(1)}` }];
  }
  const special = context.game.chance(context, action);
  if (special) return [{ text: special.text, tone: special.tone ?? "roll" }];
  return chance(context, action, name);
}

/** Uses of chance that all games have. @param {Context} context @param {import("../../types.js").HandAction} action @param {string} name @returns {Happening[]} */
function chance(context, action, name) {
  const cards = (action.cards ?? []).map((code) => cardName(code, context.game.deck));
  const known = (action.cards ?? []).some((code) => code !== "??");
  switch (action.chance) {
    case "CHANCE_KIND_DEAL":
      if (known) return [{ text: `${sentence(name, "is dealt")} ${cards.join(", ")}`, tone: "deal" }];
      return [{ text: `${sentence(name, "is dealt")} ${cards.length === 1 ? "a card" : `${cards.length} cards`}`, tone: "deal" }];
    case "CHANCE_KIND_FLIP": return [{ text: `Turned up: ${cards.join(", ")}`, tone: "roll" }];
    case "CHANCE_KIND_ROLL": return [{ text: `Dice: ${(action.values ?? []).join(", ")}`, tone: "roll" }];
    case "CHANCE_KIND_PULSE": return [{ text: action.values?.[0] === 1 ? "The cards shift" : "No shift", tone: action.values?.[0] === 1 ? "shift" : "quiet" }];
    case "CHANCE_KIND_STARTER": return [{ text: sentence(name, "begins"), tone: "quiet" }];
    case "CHANCE_KIND_TOKENS": return [{ text: `${sentence(name, "is dealt")} shift tokens`, tone: "deal" }];
    default: return [];
  }
}

/** Settlement in words. @param {Context} context @param {import("../../types.js").HandEnded} over @returns {Happening[]} */
function ended(context, { settlement = [], hands = [] }) {
  /** @type {Happening[]} */
  const all = [];
  for (const hand of hands) {
    const cards = (hand.cards ?? []).map((card) => card.code ?? "??");
    if (!cards.length || cards.includes("??") || !hand.rank?.text || hand.rank.text === "folded") continue;
    all.push({ text: `${sentence(context.nameOf(hand.seat), "shows")} ${rankWords(hand.rank.text)}: ${cards.map((code) => cardName(code, context.game.deck)).join(", ")}`, tone: "show" });
  }
  for (const item of settlement) all.push({ text: settled(context, item), tone: item.kind === "SETTLEMENT_KIND_WINS" ? "win" : "quiet" });
  return all;
}

/** One line of a settlement. @param {Context} context @param {import("../../types.js").SettlementItem} item */
export function settled(context, item) {
  const pots = { POT_LAYER_MAIN: "the Hand Pot", POT_LAYER_SIDE: `side pot ${item.side ?? ""}`, POT_LAYER_CREDITS: "the credits pot", POT_LAYER_SABACC: "the Sabacc Pot" };
  const pot = pots[item.layer ?? "POT_LAYER_MAIN"] ?? "a pot";
  const name = context.nameOf(item.seat);
  const amount = credits(item.amountCredits);
  switch (item.kind) {
    case "SETTLEMENT_KIND_WINS": return `${sentence(name, "wins")} ${amount} from ${pot}`;
    case "SETTLEMENT_KIND_RETURNED": return `${amount} that nobody matched go back to ${name === "You" ? "you" : name}`;
    case "SETTLEMENT_KIND_PAYS_SABACC": return `${sentence(name, "bombs")} out and ${name === "You" ? "pay" : "pays"} ${amount} into the Sabacc Pot`;
    case "SETTLEMENT_KIND_MOVES_TO_SABACC": return `${amount} move to the Sabacc Pot`;
    case "SETTLEMENT_KIND_CARRIES": return `${amount} go into the next hand`;
    case "SETTLEMENT_KIND_ELIMINATED": return sentence(name, "is eliminated");
    case "SETTLEMENT_KIND_RAKE": return `The house takes ${amount}`;
    default: return context.named(item.text ?? "");
  }
}

/** Why a hand came to nothing. @param {Context} context @param {import("../../types.js").HandVoided} voided */
export function voidText(context, { handNo, cause, seats = [] }) {
  const who = seats.map((seat) => context.nameOf(seat)).join(" and ");
  switch (cause) {
    case "ABORT_CAUSE_WITHHELD": return `Hand ${handNo} is burnt before any ante: ${who || "a seat"} withheld entropy`;
    case "ABORT_CAUSE_AGREED": return `Hand ${handNo} ends: all agreed. Everybody has back what they put in`;
    case "ABORT_CAUSE_SUSPENDED": return `Hand ${handNo} ends: the dealer was silent for too long. Everybody has back what they put in`;
    default: return `Hand ${handNo} came to nothing. Everybody has back what they put in`;
  }
}

/** @param {Context} context @param {import("../../types.js").SeatChanged} changed @returns {Happening[]} */
function seatChanged(context, { seat, vacated }) {
  if (!seat) return [];
  const name = seat.seat === context.view?.yourSeat ? "You" : seat.name || `Seat ${seat.seat}`;
  if (vacated) return [{ text: sentence(name, "leaves the table"), tone: "quiet" }];
  switch (seat.state) {
    case "SEAT_STATE_SITTING_OUT": return [{ text: sentence(name, "sits out"), tone: "quiet" }];
    case "SEAT_STATE_BUYING_IN": return [{ text: sentence(name, "sits down"), tone: "quiet" }];
    case "SEAT_STATE_LEAVING": return [{ text: `${sentence(name, "leaves")} after the hand`, tone: "quiet" }];
    default: return [];
  }
}
