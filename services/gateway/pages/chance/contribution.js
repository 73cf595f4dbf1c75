// The player's own number in a hand's chance: made, committed to, and revealed once the dealer has signed what the hand is made
// of. Everything is in the database before the room hears of it, so a page that is loaded again goes on.

import { Refusal } from "../api/connect.js";
import { base64, fromBase64, random, requestId } from "../api/ids.js";
import { load, remove, update } from "../keep/database.js";
import { equal, idBytes, number, sha256 } from "./bytes.js";
import { handKey, noteLine, openLine } from "./evidence.js";
import { commitmentInput, commitReceiptText, revealReceiptText } from "./fair.js";
import { Fault } from "./fault.js";
import { hasSame } from "./statements.js";

/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("./closing.js").Closed} Closed */
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
 * @property {boolean} revealed There is a receipt for it.
 * @property {boolean} [answered] The room took the number and gave no receipt: right of a burnt one alone.
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

  /** The part, made where there is none yet and its number has not passed. @param {string} handNo @param {number} seat @param {Binding} binding */
  async #made(handNo, seat, binding) {
    const known = await this.part(handNo, seat);
    // The one after it may be promised already.
    if (known || (await this.evidence.lastHand()) > BigInt(handNo) + 1n) return known;
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
   * Checks the player's own row of a closing. Gives whether their number is in it.
   * @param {string} handNo @param {Closed} closed @param {number} seat @param {Binding} binding
   */
  async checkOwn(handNo, { rows }, seat, binding) {
    const own = rows.find((row) => row.seat === seat && row.playerId === this.playerId);
    if (!own) return false;
    const part = await this.part(handNo, seat);
    if (own.commitment && !(part && equal(fromBase64(own.commitment), part.commitment)))
      throw new Fault("table", handNo, "its closing has a commitment in your name that is not yours");
    if (!own.commitment && (await this.hasReceipt("receipt-sig", handNo, seat, binding)))
      throw new Fault("table", handNo, "your commitment is missing, for which you have a receipt");
    return own.commitment !== undefined && own.commitment !== "";
  }

  /**
   * Whether the evidence has a receipt of a kind for the player in a seat.
   * @param {"receipt-sig" | "reveal-receipt-sig"} tag @param {string} handNo @param {number} seat @param {Binding} binding
   */
  async hasReceipt(tag, handNo, seat, { context, dealer }) {
    const kept = await this.evidence.statements(handNo);
    return hasSame(kept, tag, context, dealer, number(seat, 1), idBytes(this.playerId));
  }

  /**
   * Reveals the player's number, under one closing, ever.
   * @param {string} handNo @param {Closed} closed which has passed every check, the player's row among it
   * @param {number} seat @param {Binding} binding
   */
  async reveal(handNo, { closing, isDisputed }, seat, binding) {
    if (isDisputed) return;
    const part = await this.change(handNo, seat, (known) => ({ ...known, closing: known.closing ?? closing }));
    if (!part) return;
    if (part.closing !== closing) throw new Fault("dealer", handNo, "the dealer has closed it twice, in different ways");
    if (part.revealed || part.answered) return;
    const receipt = await this.#send(handNo, part);
    if (receipt === null) return;
    if (receipt === undefined) return void (await this.change(handNo, seat, (known) => ({ ...known, answered: true })));
    const isOwn =
      receipt.playerId === this.playerId && receipt.seat === seat && equal(fromBase64(receipt.entropy), part.entropy);
    if (!isOwn) throw new Fault("table", handNo, "its receipt is for another number than yours");
    const line = await this.keys.check("table", handNo, revealReceiptText(binding, receipt), receipt);
    await this.evidence.keep(handNo, line);
    await this.change(handNo, seat, (known) => ({ ...known, revealed: true }));
  }

  /**
   * Sends the number. Null: it came too late, which the stream will tell of.
   * @param {string} handNo @param {Part} part @returns {Promise<import("../types.js").RevealReceipt | null | undefined>}
   */
  async #send(handNo, { revealId, entropy }) {
    const request = { requestId: revealId, tableId: this.tableId, handNo, entropy: base64(entropy) };
    try {
      const { receipt } = await this.call(`${SERVICE}/RevealEntropy`, request, { deadlineMs: DEADLINE_MS });
      return receipt;
    } catch (error) {
      if (!(error instanceof Refusal) || !TOO_LATE.includes(error.reason)) throw error;
      return null;
    }
  }

  /**
   * Judges whom a burn blames: who has a receipt has not withheld, and who is not in the closing could not.
   * Gives whether the player's number is the one that is missing.
   * @param {import("../types.js").HandVoided} voided @param {Closed | undefined} closed @param {number} seat @param {Binding} binding
   */
  async isWithheld({ handNo = "0", seats = [], cause }, closed, seat, binding) {
    const own = closed?.rows.find((row) => row.seat === seat && row.playerId === this.playerId);
    if (cause !== "ABORT_CAUSE_WITHHELD" || !own) return false;
    const part = await this.part(handNo, seat);
    if (!seats.includes(seat)) {
      if (part?.answered && !part.revealed) throw new Fault("table", handNo, "there is no receipt for the number that you revealed");
      return false;
    }
    if (!own.commitment) throw new Fault("table", handNo, "you are blamed for withholding a number, and have committed to none");
    if (await this.hasReceipt("reveal-receipt-sig", handNo, seat, binding))
      throw new Fault("table", handNo, "you are blamed for withholding a number that you have a receipt for");
    return !closed?.isDisputed;
  }

  /**
   * Opens a number that was burnt for want of it, so that everybody can see what was lost.
   * @param {string} handNo @param {number} seat
   */
  async openBurnt(handNo, seat) {
    const part = await this.part(handNo, seat);
    if (!part?.closing) return;
    const request = { requestId: part.revealId, tableId: this.tableId, handNo, entropy: base64(part.entropy) };
    await this.evidence.keep(handNo, noteLine("burnt: the number was revealed too late"));
    await this.call(`${SERVICE}/RevealEntropy`, request).catch(() => undefined);
  }
}
