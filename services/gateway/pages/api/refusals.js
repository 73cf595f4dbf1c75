// Words for refusals: what happened, and what to do. One entry for each `ErrorReason`; the room's own words, which are for
// programs too, are shown where there is none.

/** @typedef {import("./connect.js").Refusal} Refusal */

/** @param {string | undefined} text a number of credits */
const credits = (text) => (text ? `${Number(text).toLocaleString("en")} credits` : "the credits asked for");

/** @param {string | undefined} time RFC 3339 */
function until(time) {
  const ms = Date.parse(time ?? "");
  if (Number.isNaN(ms)) return "later";
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  return `after ${isToday ? new Date(ms).toLocaleTimeString() : new Date(ms).toLocaleString()}`;
}

/** @param {Refusal} refusal */
function inAWhile({ retryAfterMs }) {
  const seconds = Math.ceil((retryAfterMs ?? 0) / 1000);
  if (seconds < 2) return "in a moment";
  if (seconds < 120) return `in ${seconds} seconds`;
  return seconds < 7200 ? `in ${Math.ceil(seconds / 60)} minutes` : `in ${Math.ceil(seconds / 3600)} hours`;
}

/** @param {Refusal} refusal @param {string} otherwise */
const violated = ({ violations }, otherwise) =>
  violations.map(({ field, description }) => `${field.replaceAll("_", " ")}: ${description}`).join("; ") || otherwise;

/** @param {Record<string, string>} facts */
const range = ({ min, max }) => (min && max ? `from ${credits(min)} to ${credits(max)}` : "within the limits");

/** @type {Record<string, string>} */
const STANDINGS = {
  EXCLUDED: "You have kept yourself out of play",
  FROZEN: "Your account is frozen",
  CLOSED: "Your account is closed",
  LIMIT_REACHED: "A limit that you have set yourself is reached",
};

const TELL = "Tell the operator, with the number of the call below.";

/** @type {Record<string, (refusal: Refusal) => string>} */
export const WORDS = {
  BAD_FIELD: (refusal) => `Something in this is not right. ${violated(refusal, "Check what you have entered.")}`,
  TOKEN_MISSING: () => "This is for players. Join as a guest, or sign in with a token.",
  TOKEN_MALFORMED: () => "This is no token of this room. Copy the whole of it, from its first letter to its last.",
  TOKEN_EXPIRED: () => "Your sign-in has run out. Sign in again.",
  TOKEN_FORGED: () => "This token is not from this room. Ask the room's operator for one.",
  TOKEN_REVOKED: () => "Your sign-in was ended: you signed out, or the same login was used in two places. Join again as a new guest, or load a newer login.",
  ROLE_NOT_ALLOWED: () => "Your sign-in does not allow this. Sign in as somebody who may do it.",
  TABLE_UNKNOWN: () => "There is no such table; it may be closed. Go back to the lobby and choose another.",
  ACCOUNT_UNKNOWN: () => "There is no such account. Check the player's id.",
  HAND_UNKNOWN: () => "There is no such hand at this table. Check its number.",
  NOT_YOUR_TURN: () => "It is not your turn any more: the clock was quicker, or the hand has moved on. Wait for your next turn.",
  ILLEGAL_MOVE: ({ metadata }) => `The rules do not allow that now. ${metadata.legal ? `They allow: ${metadata.legal}.` : "Choose one of the moves that are shown."}`,
  AMOUNT_OUT_OF_RANGE: ({ metadata }) => `That amount is not allowed. Choose one ${range(metadata)}.`,
  NOT_YOUR_SEAT: () => "You have no seat here. Sit down first.",
  SEAT_TAKEN: () => "Somebody has just taken that seat. Choose another.",
  ALREADY_SEATED: () => "You sit at this table already. Leave your seat first to take another.",
  INSUFFICIENT_CREDITS: ({ metadata }) => `Your account has too few credits for this${metadata.short ? `, by ${credits(metadata.short)}` : ""}. Bring fewer, or leave another table first.`,
  BUY_IN_OUT_OF_RANGE: ({ metadata }) => `This table takes another amount to sit down with. Bring ${range(metadata)}.`,
  REQUEST_ID_REUSED: () => "This was sent before with something else in it. Do it once more.",
  REQUEST_ID_TOO_OLD: () => "This was first sent so long ago that it may have been done then. Look whether it was, and do it once more if not.",
  ALREADY_EXISTS: () => "This exists already. Load the page again to see it.",
  OVERLOADED: (refusal) => `That was too much at once. Try again ${inAWhile(refusal)}.`,
  UNAVAILABLE: (refusal) => `The room cannot answer just now; what you did may have happened all the same. Look again ${inAWhile(refusal)}.`,
  CORRUPT: () => `The room's records contradict each other. ${TELL}`,
  TRANSFER_REFUSED: ({ metadata }) => `The books do not allow that${metadata.refusal ? ` (${metadata.refusal.toLowerCase().replaceAll("_", " ")})` : ""}. Check amount and account.`,
  CHANCE_REFUSED: () => "Your number came too late for this hand. Wait for the next one; nothing is lost.",
  RULE_SET_INVALID: (refusal) => `These rules cannot be played. ${violated(refusal, refusal.message)} Change them and try again.`,
  TABLE_CLOSED: () => "This table is closed, or you are just leaving it. Go back to the lobby and choose another.",
  DEADLINE: () => "The room took too long. Look whether it has happened, and if not, do it once more.",
  NO_SUCH_METHOD: () => "This room does not offer that. A room without guests lets you in with a token of its operator's.",
  HOLD_UNKNOWN: () => "There is no such hold. Check its id.",
  NOT_IN_LOG: () => "The log has nothing there: not yet, or not any more, where old records are archived. Check the number, try again in a moment, or ask the operator for the archive.",
  NOT_SIGNED: () => "The log has not signed that yet. Try again in a moment; where it stays so, tell the operator.",
  HAND_IN_PLAY: () => "This hand is in play. Ask again when it has ended.",
  SEED_NOT_OPEN: () => "The seed of this hand is still sealed: this table opens seeds a day later. Come back then.",
  DISPUTE_UNKNOWN: () => "There is no such dispute of yours. Check its number.",
  DISPUTE_ANSWERED: () => "This dispute is answered, which happens once. Read the answer; about something else open another.",
  DISPUTES_OPEN: ({ metadata }) => `There are open disputes${metadata.open ? ` (${metadata.open} of at most ${metadata.max})` : ""}. Wait until one is answered.`,
  PLAYER_ERASED: () => "This player was erased: nothing is recorded of them any more. Join as a new guest.",
  PLAYER_SEATED: () => "The player sits at a table. Leave all tables first, and wait until you are paid out.",
  NOT_YOUR_HAND: () => "Only who was dealt into a hand can dispute it. Choose one of your own.",
  NOTHING_STOPPED: () => "Nothing has stopped at this table that can be resolved that way. Load the page again.",
  RECORDS_SPENT: (refusal) => `This is the most that is recorded for now: of new guests a day, or of changes between two hands. Try again ${inAWhile(refusal)}; leaving is always possible.`,
  BARRED_FROM_PLAY: ({ metadata }) => `${STANDINGS[metadata.standing ?? ""] ?? "You are barred from further hands"}. ${metadata.until ? `You can play again ${until(metadata.until)}.` : "Look at your limits, or ask the operator."}`,
  WITHHELD: ({ metadata }) => `Your browser committed to a hand and was then silent, so the hand number was lost. You are dealt in again ${until(metadata.until)}${metadata.until_hand_no ? ` and from hand ${metadata.until_hand_no} on` : ""}. Keep the page open and connected while you play.`,
  SAT_IDLE: ({ metadata }) => `You have kept a seat here without using it. You can sit down again ${until(metadata.until)}, or now at another table.`,
  SIGNATURE_NEEDED: () => "This has to be signed with the key that your browser made for this hand. Play on in the browser in which you sat down, or wait for the next hand.",
  SIGNATURE_INVALID: () => "Somebody left just as you decided. Decide once more.",
  HAND_SUSPENDED: () => "The dealer is silent and the hand stands still. Wait until it is back, or agree to end the hand.",
  TABLE_DISABLED: ({ metadata }) => `The operator has disabled this table${metadata.why ? `: ${metadata.why}` : ""}. Choose another; you can leave and are paid out.`,
  GAME_DISABLED: ({ metadata }) => `The operator has disabled this game in the whole room${metadata.why ? `: ${metadata.why}` : ""}. Choose another game.`,
  MESSAGE_TOO_LONG: () => "This is longer than the room takes. Shorten it.",
  COMPRESSED: () => "Something between you and the room has compressed the request. Turn that off, or use another connection.",
};

/** Words where a refusal has no reason of the room's, by Connect's code. @type {Record<string, string>} */
const CODES = {
  unavailable: "The room was not reached. Check your connection; the page tries again by itself.",
  deadline_exceeded: "The room took too long. Look whether it has happened, and if not, do it once more.",
  unauthenticated: "Sign in first.",
  permission_denied: "Your sign-in does not allow this.",
};

/** What a person is told. @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof Error)) return String(error);
  const refusal = /** @type {Refusal} */ (error);
  if (typeof refusal.code !== "string") return error.message;
  const words = Object.hasOwn(WORDS, refusal.reason) ? WORDS[refusal.reason] : undefined;
  return words?.(refusal) ?? CODES[refusal.code] ?? refusal.message;
}

/** The number by which the operator finds a refused call; empty: there is none. @param {unknown} error */
export const callNumberOf = (error) => /** @type {Partial<Refusal>} */ (error)?.traceId ?? "";
