// What a player has brought to one hand, and their signatures in it.

import { base64, fromBase64 } from "../api/ids.js";
import { equal } from "./bytes.js";
import { chainWith } from "./decisions.js";
import { decisionReceiptText, decisionText, keyIdOf } from "./fair.js";
import { Fault } from "./fault.js";
import { hasSame } from "./statements.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("./fair.js").Binding} Binding */

export class Own {
  /** Whether the player has signed that the hand may be ended, or that they leave. */
  #hasAgreed = false;

  /**
   * @param {string} handNo @param {Binding} binding @param {string} playerId
   * @param {import("./contribution.js").Contribution} contribution @param {import("./contribution.js").Part} part
   */
  constructor(handNo, binding, playerId, contribution, part) {
    this.handNo = handNo;
    this.binding = binding;
    this.playerId = playerId;
    this.contribution = contribution;
    this.part = part;
  }

  /** Whether the player's number is in the hand. One that there is a receipt for must be. @param {import("../types.js").EntropyRow[]} rows checked */
  async isIn(rows) {
    const { contribution, part, handNo } = this;
    const row = rows.find(({ seat, playerId }) => seat === part.seat && playerId === this.playerId);
    const isIn = row?.commitment !== undefined && equal(fromBase64(row.commitment), part.commitment);
    if (!isIn && (part.revealed || (await contribution.hasReceipt("receipt-sig", handNo, part.seat, this.binding))))
      throw new Fault("table", handNo, "the number that you committed to is not in it");
    if (isIn && part.answered && !part.revealed)
      throw new Fault("table", handNo, "there is no receipt for the number that you revealed");
    return isIn;
  }

  /** A decision in the player's name is one that they have signed, in this tab or another. @param {import("../types.js").HandAction} action */
  async checkSigned({ seat, byClock, chain = "", chainLine = "" }) {
    if (seat !== this.part.seat || byClock) return;
    const part = await this.contribution.part(this.handNo, this.part.seat);
    // Another's line may have come between a leave and its place in the chain.
    const isSigned = part?.signed.some((signed) => signed === chain || (signed.endsWith(" leave") && chainLine.endsWith(" leave")));
    if (!isSigned) throw new Fault("table", this.handNo, "it has a decision in your name that you have not signed");
  }

  /**
   * Signs a line over a chain. It is kept before the room can have it.
   * @param {Bytes} before @param {string} line @param {string} said
   * @returns {Promise<{signature: string, chain: Bytes}>}
   */
  async sign(before, line, said) {
    const chain = await chainWith(before, line);
    const { contribution, part } = this;
    const text = decisionText(this.binding.context, chain, said, await keyIdOf(part.publicKey));
    const bytes = new Uint8Array(await crypto.subtle.sign("Ed25519", part.key.privateKey, text));
    const signature = base64(bytes);
    await contribution.evidence.keep(this.handNo, `signed ${base64(text)} ${signature} ${base64(part.publicKey)}`);
    const marks = line.endsWith(" leave") ? [base64(chain), `${this.handNo} leave`] : [base64(chain)];
    await contribution.change(this.handNo, part.seat, (known) => ({ ...known, signed: [...known.signed, ...marks] }));
    if (/ (void|leave)$/.test(line)) this.#hasAgreed = true;
    return { signature, chain };
  }

  /** Checks the table's word that a line is on record. @param {import("../types.js").DecisionReceipt | undefined} receipt @param {Bytes} chain */
  async accept(receipt, chain) {
    if (!receipt || !equal(fromBase64(receipt.chain), chain))
      throw new Fault("table", this.handNo, "there is no receipt for the decision that you signed");
    const { keys, evidence } = this.contribution;
    const line = await keys.check("table", this.handNo, decisionReceiptText(this.binding.context, receipt), receipt);
    await evidence.keep(this.handNo, line);
  }

  /**
   * Whether the hand may be ended by agreement, as far as it is the player's to say: they have signed that, in whichever tab, or are
   * out of it.
   * @param {import("../types.js").Standing | undefined} standing
   */
  async mayEndAgreed(standing) {
    if (this.#hasAgreed) return true;
    const { contribution, part } = this;
    const status = standing?.seats?.find(({ seat }) => seat === part.seat)?.status;
    if (status === "SEAT_STATUS_OUT" || status === "SEAT_STATUS_LEAVING") return true;
    const kept = await contribution.evidence.statements(this.handNo);
    const said = kept.filter((told) => hasSame([told], "decision-sig", this.binding.context)).map(({ parts }) => parts[2]);
    return said.some((line) => / (void|leave)$/.test(new TextDecoder().decode(line)));
  }
}
