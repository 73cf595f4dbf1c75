// One hand as its viewer follows it: what it was made of, its decisions, and the viewer's signatures.

import { base64, fromBase64 } from "../api/ids.js";
import { equal } from "./bytes.js";
import { chainWith, Decisions } from "./decisions.js";
import { openLine } from "./evidence.js";
import { decisionReceiptText, decisionText, isHashOf, keyIdOf, transcriptInput } from "./fair.js";
import { Fault } from "./fault.js";
import { playerOf } from "./lines.js";
import { areAsClosed, checkedRows, haveSamePlaces, is32 } from "./rows.js";
import { hasSame } from "./statements.js";

/** @typedef {import("./bytes.js").Bytes} Bytes */
/** @typedef {import("./fair.js").Binding} Binding */
/** @typedef {import("./contribution.js").Part} Part */
/** @typedef {import("../types.js").HandView} HandView */

/**
 * What the viewer has brought to a hand.
 * @typedef {{contribution: import("./contribution.js").Contribution, part: Part, playerId: string}} Own
 */

/**
 * Whether the viewer's number is in a hand. One that there is a receipt for must be.
 * @param {string} handNo @param {import("../types.js").EntropyRow[]} rows checked @param {Binding} binding @param {Own} own
 */
async function isOwnIn(handNo, rows, binding, { contribution, part, playerId }) {
  const row = rows.find(({ seat, playerId: player }) => seat === part.seat && player === playerId);
  const isIn = row?.commitment !== undefined && equal(fromBase64(row.commitment), part.commitment);
  if (!isIn && (part.revealed || (await contribution.hasReceipt("receipt-sig", handNo, part.seat, binding))))
    throw new Fault("table", handNo, "the number that you committed to is not in it");
  if (isIn && part.answered && !part.revealed)
    throw new Fault("table", handNo, "there is no receipt for the number that you revealed");
  return isIn;
}

export class Hand {
  /**
   * @param {HandView} view @param {Binding} binding @param {Own | null} own
   */
  constructor(view, binding, own) {
    const order = (view.seats ?? []).map(({ seat = 0 }) => seat);
    this.handNo = view.handNo ?? "0";
    this.transcript = fromBase64(view.transcript);
    this.binding = binding;
    this.own = own;
    this.decisions = new Decisions(this.handNo, order, fromBase64(view.chain || view.transcript));
    this.hasEnded = view.phase === "HAND_PHASE_OVER";
    /** Whether the viewer has signed that it may be ended, or that they leave. */
    this.hasAgreed = false;
  }

  /**
   * Begins with a hand as a view shows it: what its chance is made of is checked.
   * @param {HandView} view @param {Binding} binding
   * @param {Own | null} own @param {import("./closing.js").Closed | undefined} closed what was closed, where that was followed
   * @param {import("./evidence.js").Evidence | null} evidence
   */
  static async begin(view, binding, own, closed, evidence) {
    const { handNo = "0", transcript } = view;
    if (!is32(transcript) || !is32(view.chain || transcript)) throw new Fault("table", handNo, "its transcript is missing");
    const rows = await checkedRows(handNo, view.rows ?? [], binding);
    const input = transcriptInput(binding, rows);
    if (!(await isHashOf(transcript, input))) throw new Fault("table", handNo, "its transcript is not that of what the seats brought");
    if (closed && !areAsClosed(rows, closed.rows)) throw new Fault("table", handNo, "it was not dealt from what was closed");
    const places = rows.map(({ seat = 0, playerId = "" }) => ({ seat, playerId }));
    const dealt = (view.seats ?? []).map(({ seat = 0, playerId = "" }) => ({ seat, playerId }));
    if (!haveSamePlaces(places, dealt)) throw new Fault("table", handNo, "it was made of other seats than are dealt in");
    const isIn = own !== null && (await isOwnIn(handNo, rows, binding, own));
    await evidence?.keep(handNo, openLine(input));
    return new Hand(view, binding, isIn ? own : null);
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
    this.decisions.checkReceived();
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
    if (/ (void|leave)$/.test(line)) this.hasAgreed = true;
    return { signature, chain };
  }

  /**
   * Checks the table's word that a line is on record.
   * @param {import("../types.js").DecisionReceipt | undefined} receipt @param {Bytes} chain
   * @param {Bytes} [before] the chain that it was signed over; none: others' lines may come between, as with a leave
   */
  async accept(receipt, chain, before) {
    if (!this.own) return;
    if (!receipt || !equal(fromBase64(receipt.chain), chain))
      throw new Fault("table", this.handNo, "there is no receipt for the decision that you signed");
    const { keys, evidence } = this.own.contribution;
    const line = await keys.check("table", this.handNo, decisionReceiptText(this.binding.context, receipt), receipt);
    await evidence.keep(this.handNo, line);
    if (before) this.decisions.receive(before, chain);
  }

  /**
   * Whether the hand may be ended by agreement, as far as it is the viewer's to say: they have signed that, in whichever tab, or are
   * out of it, or have no key in it.
   * @param {import("../types.js").Standing | undefined} standing
   */
  async mayEndAgreed(standing) {
    if (!this.own || this.hasAgreed) return true;
    const { contribution, part } = this.own;
    const status = standing?.seats?.find(({ seat }) => seat === part.seat)?.status;
    if (status === "SEAT_STATUS_OUT" || status === "SEAT_STATUS_LEAVING") return true;
    const kept = await contribution.evidence.statements(this.handNo);
    const said = kept.filter((told) => hasSame([told], "decision-sig", this.binding.context)).map(({ parts }) => parts[2]);
    return said.some((line) => / (void|leave)$/.test(new TextDecoder().decode(line)));
  }

  /** The line with which a seat leaves. @param {number} seat */
  leaveLine(seat) {
    return `${playerOf(this.decisions.order, seat)} leave`;
  }

  /** Goes on from a snapshot. @param {HandView} view @param {number[]} leaving */
  resume(view, leaving) {
    if (!equal(fromBase64(view.transcript), this.transcript))
      throw new Fault("table", this.handNo, "its transcript is another one than before");
    this.hasEnded ||= view.phase === "HAND_PHASE_OVER";
    this.decisions.resume(fromBase64(view.chain || view.transcript), leaving);
  }
}
