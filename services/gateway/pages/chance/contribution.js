// The player's own number in a hand's chance: made, committed to, and revealed once the dealer has signed what the hand is made
// of. Everything is in the database before the room hears of it, so a page that is loaded again goes on.

import { Refusal } from "../api/connect.js";
import { base64, fromBase64, random, requestId } from "../api/ids.js";
import { load, remove, update } from "../keep/database.js";
import { equal, sha256 } from "./bytes.js";
import { handKey, noteLine, openLine } from "./evidence.js";
import { closingInput, closingText, commitmentInput, commitReceiptText, revealReceiptText } from "./fair.js";
import { Fault } from "./fault.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {(method: string, request: object, options?: import("../api/connect.js").CallOptions) => Promise<any>} Call */

/**
 * What a player has brought to a hand in a seat.
 * @typedef {object} Part
 * @property {number} seat
 * @property {Bytes} entropy
 * @property {Bytes} commitment
 * @property {CryptoKeyPair} key Signs the player's decisions of this hand; the private half never leaves the browser.
 * @property {Bytes} publicKey
 * @property {string} commitId Id of the command that commits.
 * @property {string} revealId
 * @property {"made" | "taken" | "late"} state
 * @property {string} [closing] The dealer's closing that it was revealed under, or was to be.
 * @property {boolean} revealed
 * @property {string[]} signed Chains that end in a line that the player has signed, in base64.
 */

const SERVICE = "sabacc.table.v1.TableService";
// The windows of a hand are 2 s by default.
const DEADLINE_MS = 2_000;
const KEPT_HANDS = 64n;
/** A commitment that came too late, or of a player who has just left, is no fault. */
const TOO_LATE = ["CHANCE_REFUSED", "NOT_YOUR_SEAT", "TABLE_CLOSED", "HAND_UNKNOWN", "TABLE_UNKNOWN"];

export class Contribution {
  /**
   * @param {string} tableId @param {string} playerId @param {Call} call
   * @param {import("./roomkeys.js").RoomKeys} keys @param {import("./evidence.js").Evidence} evidence
   */
  constructor(tableId, playerId, call, keys, evidence) {
    this.tableId = tableId;
    this.playerId = playerId;
    this.call = call;
    this.keys = keys;
    this.evidence = evidence;
  }

  /** @param {string} handNo @param {number} seat */
  #key(handNo, seat) {
    return `${handKey(this.playerId, this.tableId, handNo)}/${seat}`;
  }

  /** @param {string} handNo @param {number} seat @returns {Promise<Part | undefined>} */
  part(handNo, seat) {
    return load("parts", this.#key(handNo, seat));
  }

  /** @param {string} handNo @param {number} seat @param {(part: Part) => Part} change */
  change(handNo, seat, change) {
    return update("parts", this.#key(handNo, seat), (/** @type {Part | undefined} */ part) => part && change(part));
  }

  /** Commits to a hand. False: it came too late. @param {string} handNo @param {number} seat @param {Binding} binding */
  async commit(handNo, seat, binding) {
    const part = await this.#made(handNo, seat, binding);
    if (!part || part.state !== "made") return part?.state === "taken";
    const { commitId, commitment, publicKey } = part;
    const request = { requestId: commitId, tableId: this.tableId, handNo, commitment: base64(commitment), key: base64(publicKey) };
    try {
      /** @type {import("../types.js").CommitEntropyResponse} */
      const { receipt } = await this.call(`${SERVICE}/CommitEntropy`, request, { deadlineMs: DEADLINE_MS });
      await this.#checkReceipt(handNo, binding, part, receipt);
    } catch (error) {
      if (!(error instanceof Refusal) || !TOO_LATE.includes(error.reason)) throw error;
      await this.change(handNo, seat, (made) => ({ ...made, state: "late" }));
      return false;
    }
    await this.change(handNo, seat, (made) => ({ ...made, state: "taken" }));
    return true;
  }

  /** The part, made where there is none yet. @param {string} handNo @param {number} seat @param {Binding} binding */
  async #made(handNo, seat, binding) {
    const known = await this.part(handNo, seat);
    if (known) return known;
    const entropy = random(32);
    const input = commitmentInput(binding, { seat, playerId: this.playerId }, entropy);
    const key = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]));
    const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", key.publicKey));
    const ids = { commitId: requestId(), revealId: requestId() };
    /** @type {Part} */
    const part = { seat, entropy, commitment: await sha256(input), key, publicKey, ...ids, state: "made", revealed: false, signed: [] };
    await this.evidence.keep(handNo, openLine(input));
    await this.#forget(handNo);
    // Another tab may have been quicker.
    return update("parts", this.#key(handNo, seat), (/** @type {Part | undefined} */ first) => first ?? part);
  }

  /** Forgets the numbers of hands long past. @param {string} handNo */
  async #forget(handNo) {
    const old = BigInt(handNo) - KEPT_HANDS;
    if (old > 0n) for (let seat = 1; seat <= 8; seat += 1) await remove("parts", this.#key(String(old), seat));
  }

  /** @param {string} handNo @param {Binding} binding @param {Part} part @param {import("../types.js").EntropyReceipt | undefined} receipt */
  async #checkReceipt(handNo, binding, part, receipt) {
    const isOwn =
      receipt?.playerId === this.playerId &&
      receipt.seat === part.seat &&
      equal(fromBase64(receipt.commitment), part.commitment) &&
      equal(fromBase64(receipt.playerKey), part.publicKey);
    if (!receipt || !isOwn) throw new Fault("table", handNo, "its receipt is for another commitment than yours");
    const line = await this.keys.check("table", handNo, commitReceiptText(binding, receipt), receipt);
    await this.evidence.keep(handNo, line);
  }

  /**
   * Checks the dealer's closing, and reveals under it. Gives whether the player's number is in the hand.
   * @param {import("../types.js").Entropy} open
   * @param {number} seat
   * @param {Binding} binding
   */
  async reveal({ handNo = "0", roster = [], closing }, seat, binding) {
    const part = await this.part(handNo, seat);
    const own = await this.#checkClosing(handNo, roster, closing, seat, binding, part);
    if (!part || !own) return false;
    const closed = await this.change(handNo, seat, (known) => ({ ...known, closing: known.closing ?? closing?.closing }));
    // A number is revealed under one closing, ever.
    if (closed?.closing !== closing?.closing) throw new Fault("dealer", handNo, "the dealer has closed it twice, in different ways");
    if (part.revealed) return true;
    await this.#send(handNo, part, binding);
    return true;
  }

  /** @param {string} handNo @param {Part} part @param {Binding} binding */
  async #send(handNo, part, binding) {
    const request = { requestId: part.revealId, tableId: this.tableId, handNo, entropy: base64(part.entropy) };
    /** @type {import("../types.js").RevealEntropyResponse} */
    const { receipt } = await this.call(`${SERVICE}/RevealEntropy`, request, { deadlineMs: DEADLINE_MS });
    if (!receipt || !equal(fromBase64(receipt.entropy), part.entropy))
      throw new Fault("table", handNo, "there is no receipt for the number that you revealed");
    const line = await this.keys.check("table", handNo, revealReceiptText(binding, receipt), receipt);
    await this.evidence.keep(handNo, line);
    await this.change(handNo, part.seat, (known) => ({ ...known, revealed: true }));
  }

  /**
   * Nobody reveals before the dealer has signed what all seats have committed to. Gives the player's row, if it has a number.
   * @param {string} handNo @param {number[]} roster @param {import("../types.js").Closing | undefined} closing
   * @param {number} seat @param {Binding} binding @param {Part | undefined} part
   */
  async #checkClosing(handNo, roster, closing, seat, binding, part) {
    if (!closing) throw new Fault("table", handNo, "what it is made of is closed, and not told");
    const rows = closing.rows ?? [];
    const input = closingInput(binding, rows);
    if (!equal(fromBase64(closing.closing), await sha256(input)))
      throw new Fault("dealer", handNo, "its closing is not that of its rows");
    const line = await this.keys.check("dealer", handNo, closingText(binding, closing), closing);
    await this.evidence.keep(handNo, openLine(input), line);
    const seats = rows.map((row) => row.seat ?? 0);
    if (seats.join() !== [...roster].sort((a, b) => a - b).join())
      throw new Fault("table", handNo, "its closing has other seats than those dealt in");
    const own = rows.find((row) => row.seat === seat && row.playerId === this.playerId);
    if (own?.commitment && !(part && equal(fromBase64(own.commitment), part.commitment)))
      throw new Fault("table", handNo, "its closing has a commitment in your name that is not yours");
    if (own && !own.commitment && part?.state === "taken")
      throw new Fault("table", handNo, "your commitment is missing, for which you have a receipt");
    return own?.commitment ? own : null;
  }

  /**
   * A number that was burnt for want of the player's own: it is opened all the same, so that everybody can see what was lost.
   * @param {import("../types.js").HandVoided} voided @param {number} seat @param {Binding} binding
   */
  async openBurnt({ handNo = "0", seats = [], cause }, seat, binding) {
    if (cause !== "ABORT_CAUSE_WITHHELD" || !seats.includes(seat)) return false;
    const part = await this.part(handNo, seat);
    if (part?.revealed) throw new Fault("table", handNo, "you are blamed for withholding a number that you have a receipt for");
    if (!part?.closing) return true;
    const request = { requestId: part.revealId, tableId: this.tableId, handNo, entropy: base64(part.entropy) };
    await this.call(`${SERVICE}/RevealEntropy`, request).catch(() => undefined);
    await this.evidence.keep(handNo, noteLine("burnt: the number was revealed too late"));
    return true;
  }
}
