// One hand as its viewer follows it: what it was made of, its decisions, and the viewer's signatures.

import { base64, fromBase64 } from "../api/ids.js";
import { equal } from "./bytes.js";
import { chainWith, Decisions } from "./decisions.js";
import { openLine } from "./evidence.js";
import { decisionReceiptText, decisionText, isHashOf, keyIdOf, transcriptInput } from "./fair.js";
import { Fault } from "./fault.js";
import { playerOf } from "./lines.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("./contribution.js").Part} Part */
/** @typedef {import("../types.js").HandView} HandView */

export class Hand {
  /**
   * @param {HandView} view @param {Binding} binding
   * @param {{contribution: import("./contribution.js").Contribution, part: Part} | null} own
   */
  constructor(view, binding, own) {
    const order = (view.seats ?? []).map(({ seat = 0 }) => seat);
    this.handNo = view.handNo ?? "0";
    this.transcript = fromBase64(view.transcript);
    this.binding = binding;
    this.own = own;
    this.decisions = new Decisions(this.handNo, order, fromBase64(view.chain ?? view.transcript));
    this.hasEnded = false;
  }

  /**
   * Begins with a hand as a view shows it: what its chance is made of is checked.
   * @param {HandView} view @param {Binding} binding
   * @param {{contribution: import("./contribution.js").Contribution, part: Part, playerId: string} | null} own
   * @param {import("./evidence.js").Evidence | null} evidence
   */
  static async begin(view, binding, own, evidence) {
    const { handNo = "0", rows = [], transcript } = view;
    const input = transcriptInput(binding, rows);
    if (!(await isHashOf(transcript, input))) throw new Fault("table", handNo, "its transcript is not that of what the seats brought");
    const row = own && rows.find(({ seat, playerId }) => seat === own.part.seat && playerId === own.playerId);
    const isIn = row?.status === "ENTROPY_STATUS_REVEALED";
    if (own?.part.revealed && !(isIn && equal(fromBase64(row.entropy), own.part.entropy)))
      throw new Fault("table", handNo, "the number that you revealed is not in it");
    await evidence?.keep(handNo, openLine(input));
    return new Hand(view, binding, own && isIn ? own : null);
  }

  /** Whether the viewer's number is in the hand, so that their decisions are signed. */
  get isSigned() {
    return this.own !== null;
  }

  /** @param {import("../types.js").HandAction} action @param {import("./evidence.js").Evidence | null} evidence */
  async follow(action, evidence) {
    const input = await this.decisions.follow(action);
    if (!input) return;
    await this.#checkOwn(action);
    if (evidence) void evidence.keepDecision(this.handNo, openLine(input));
  }

  /** A decision in the viewer's name is one that they have signed, in this tab or another. @param {import("../types.js").HandAction} action */
  async #checkOwn({ seat, byClock, chain = "", chainLine = "" }) {
    if (!this.own || seat !== this.own.part.seat || byClock) return;
    const part = await this.own.contribution.part(this.handNo, this.own.part.seat);
    // Another's line may have come between a leave and its place in the chain.
    const isSigned = part?.signed.some((signed) => signed === chain || (signed.endsWith(" leave") && chainLine.endsWith(" leave")));
    if (!isSigned) throw new Fault("table", this.handNo, "it has a decision in your name that you have not signed");
  }

  /**
   * Signs a line over a chain. It is kept before the room can have it.
   * @param {Bytes} before @param {string} line @param {string} said
   * @returns {Promise<{signature: string, chain: Bytes}>} no signature where the viewer has no number in the hand
   */
  async sign(before, line, said) {
    const chain = await chainWith(before, line);
    if (!this.own) return { signature: "", chain };
    const { contribution, part } = this.own;
    const text = decisionText(this.binding.context, chain, said, await keyIdOf(part.publicKey));
    const bytes = new Uint8Array(await crypto.subtle.sign("Ed25519", part.key.privateKey, text));
    const signature = base64(bytes);
    await contribution.evidence.keep(this.handNo, `signed ${base64(text)} ${signature} ${base64(part.publicKey)}`);
    const marks = line.endsWith(" leave") ? [base64(chain), `${this.handNo} leave`] : [base64(chain)];
    await contribution.change(this.handNo, part.seat, (known) => ({ ...known, signed: [...known.signed, ...marks] }));
    return { signature, chain };
  }

  /** Checks the table's word that a line is on record. @param {import("../types.js").DecisionReceipt | undefined} receipt @param {Bytes} chain */
  async accept(receipt, chain) {
    if (!this.own) return;
    if (!receipt || !equal(fromBase64(receipt.chain), chain))
      throw new Fault("table", this.handNo, "there is no receipt for the decision that you signed");
    const { keys, evidence } = this.own.contribution;
    const line = await keys.check("table", this.handNo, decisionReceiptText(this.binding.context, receipt), receipt);
    await evidence.keep(this.handNo, line);
  }

  /** The line with which a seat leaves. @param {number} seat */
  leaveLine(seat) {
    return `${playerOf(this.decisions.order, seat)} leave`;
  }

  /** Goes on from a snapshot. @param {HandView} view @param {number[]} leaving */
  resume(view, leaving) {
    this.decisions.resume(fromBase64(view.chain ?? view.transcript), leaving);
  }
}
