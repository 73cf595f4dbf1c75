// Words, keys and hints of the moves. A kind that is not here is named by the first word of its text.

import { credits } from "../../elements/sheet.js";
import { cardName } from "../../elements/cards/names.js";
import { tokenText, tokenTitle } from "./games/tokens.js";

/** @typedef {import("../../types.js").LegalMove} LegalMove */
/** @typedef {import("../../types.js").Move} Move */

/** Label, key that is tried first, what it does, and the past for "X …". @type {Record<string, {label: string, key: string, hint: string, did: string}>} */
const VERBS = {
  MOVE_KIND_DRAW: { label: "Draw", key: "d", hint: "Take a card from the draw pile", did: "draws" },
  MOVE_KIND_TRADE: { label: "Trade", key: "t", hint: "Give a card away for a new one", did: "trades {}" },
  MOVE_KIND_STAND: { label: "Stand", key: "s", hint: "Take no card", did: "stands" },
  MOVE_KIND_LOCK: { label: "Lock", key: "l", hint: "Lay a card into the field, open and safe from a shift", did: "lays {} into the field" },
  MOVE_KIND_UNLOCK: { label: "Unlock", key: "u", hint: "Take a card back from the field", did: "takes {} back from the field" },
  MOVE_KIND_CHECK: { label: "Check", key: "c", hint: "Bet nothing", did: "checks" },
  MOVE_KIND_BET: { label: "Bet", key: "b", hint: "Others have to match it", did: "bets" },
  MOVE_KIND_MATCH: { label: "Match", key: "m", hint: "Pay what is to be matched", did: "matches" },
  MOVE_KIND_RAISE: { label: "Raise", key: "r", hint: "To a total in this round", did: "raises to" },
  MOVE_KIND_FOLD: { label: "Fold", key: "f", hint: "Give the hand up", did: "folds" },
  MOVE_KIND_CALL_HAND: { label: "Call the hand", key: "h", hint: "The hand ends, and all is shown", did: "calls the hand" },
  MOVE_KIND_LEAVE: { label: "Leave", key: "x", hint: "Leave the table", did: "leaves" },
  MOVE_KIND_ALIGN: { label: "Align", key: "a", hint: "Choose your side", did: "aligns with" },
  MOVE_KIND_KEEP: { label: "Keep", key: "k", hint: "Keep the extra card", did: "keeps the extra card" },
  MOVE_KIND_DROP: { label: "Drop", key: "d", hint: "Give a card away", did: "drops {}" },
  MOVE_KIND_CHOOSE: { label: "Choose tokens", key: "c", hint: "Your shift tokens for this game", did: "chooses tokens" },
  MOVE_KIND_TOKEN: { label: "Token", key: "t", hint: "Play a shift token before your action", did: "plays" },
  MOVE_KIND_PRIME: { label: "Prime", key: "p", hint: "The pair that becomes the Prime", did: "makes the Prime" },
  MOVE_KIND_DRAW_FROM: { label: "Draw", key: "d", hint: "From a pile; it costs a chip", did: "draws from" },
  MOVE_KIND_DISCARD: { label: "Discard", key: "c", hint: "Lay a card on its family's discards", did: "discards {}" },
  MOVE_KIND_IMPOSTOR: { label: "Impostor", key: "i", hint: "Take the value of a die", did: "gives the Impostor a value" },
  MOVE_KIND_GAIN: { label: "Gain", key: "g", hint: "Take a card, after discarding one if you like", did: "gains a card" },
  MOVE_KIND_SWAP: { label: "Swap", key: "w", hint: "A card of yours for the top discard", did: "swaps {} for the top discard" },
  MOVE_KIND_JUNK: { label: "Junk", key: "j", hint: "Give the hand up", did: "gives the hand up" },
  MOVE_KIND_SELECT: { label: "Select", key: "e", hint: "One to five cards, face down", did: "selects cards" },
  MOVE_KIND_ADD: { label: "Add", key: "a", hint: "New cards to your selection, or none", did: "adds to the selection" },
  MOVE_KIND_VOID: { label: "Agree to end the hand", key: "v", hint: "When all agree, everybody gets back what they put in", did: "agrees to end the hand" },
};

/** Words of a kind. @param {string | undefined} kind @param {string} [text] */
export function verb(kind, text = "") {
  const word = text.split(" ")[0] || (kind ?? "").replace("MOVE_KIND_", "").toLowerCase().replaceAll("_", " ");
  return VERBS[kind ?? ""] ?? { label: word.slice(0, 1).toUpperCase() + word.slice(1), key: word.slice(0, 1), hint: "", did: word };
}

/** Label of a legal move: its verb, with what is already decided about it. @param {LegalMove} legal */
export function labelOf(legal) {
  const { label } = verb(legal.kind, legal.text);
  const [least, most] = [BigInt(legal.minCredits ?? 0), BigInt(legal.maxCredits ?? 0)];
  if (legal.kind === "MOVE_KIND_MATCH" && most > 0n) return `${label} ${credits(String(most))}`;
  const takes = (legal.moveArguments ?? []).map(String);
  if (takes.includes("MOVE_ARGUMENT_AMOUNT")) return least === most ? `${label} ${credits(String(most))}` : label;
  if (takes.includes("MOVE_ARGUMENT_TOKENS") && legal.names?.length === 1) return tokenTitle(legal.names[0] ?? "");
  if (legal.names?.length === 1) return `${label}: ${choiceTitle(legal.names[0] ?? "").toLowerCase()}`;
  if (legal.kind === "MOVE_KIND_GAIN" && takes.includes("MOVE_ARGUMENT_CARDS")) return "Discard and gain";
  return label;
}

/** Hint of a legal move. @param {LegalMove} legal */
export function hintOf(legal) {
  const [least, most] = [legal.minCredits ?? "0", legal.maxCredits ?? "0"];
  const takes = (legal.moveArguments ?? []).map(String);
  if (takes.includes("MOVE_ARGUMENT_AMOUNT") && least !== most) return `${credits(least)} to ${credits(most)}`;
  if (takes.includes("MOVE_ARGUMENT_TOKENS") && legal.names?.length === 1) return tokenText(legal.names[0] ?? "");
  if (legal.kind === "MOVE_KIND_GAIN") return takes.includes("MOVE_ARGUMENT_CARDS") ? "A card of yours for the top of the draw pile" : "Take the top of the draw pile";
  return verb(legal.kind, legal.text).hint;
}

/** Keys for moves, a letter each: the one that is tried first, else another of the label, else a free one.
 * @param {LegalMove[]} moves @returns {string[]} */
export function keysOf(moves) {
  /** @type {Set<string>} */
  const taken = new Set();
  return moves.map((move) => {
    const { key, label } = verb(move.kind, move.text);
    const wanted = key + labelOf(move).toLowerCase().replace(/[^a-z]/g, "") + label.toLowerCase() + "qwertyuiopasdfghjklzxcvbnm";
    const found = [...wanted].find((letter) => /[a-z]/.test(letter) && !taken.has(letter)) ?? "";
    taken.add(found);
    return found;
  });
}

/** Name of a choice of a move: a side, a pile or a token. @param {string} name */
export function choiceTitle(name) {
  const token = tokenTitle(name);
  const words = token === name ? name.replaceAll("-", " ") : token;
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** What a player did, without the name. @param {Move} move @param {string} deck @param {(seat: number) => string} nameOf */
export function deedOf(move, deck, nameOf) {
  const { did } = verb(move.kind);
  const cards = (move.cards ?? []).filter((code) => code && code !== "??").map((code) => cardName(code, deck));
  const parts = [did.replace("{}", cards.join(", ") || "a card")];
  if (Number(move.amountCredits)) parts.push(credits(move.amountCredits));
  if (move.names?.length && !move.names.includes("??")) parts.push(move.names.map(choiceTitle).join(", "));
  if (cards.length && !did.includes("{}") && move.kind !== "MOVE_KIND_SELECT") parts.push(cards.join(", "));
  if (move.targetSeat) parts.push(`on ${nameOf(move.targetSeat)}`);
  if (move.value) parts.push(String(move.value));
  return parts.join(" ");
}
