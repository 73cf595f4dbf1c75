// A house of the tests' own: the keys of its logs, and whatever it likes to promise, close, deal and sign.

import { base64, requestId } from "../api/ids.js";
import { keyIdOf } from "../chance/fair.js";
import * as fair from "../chance/fair.js";
import { concat, sha256 } from "../chance/bytes.js";
import { chainWith } from "../chance/decisions.js";
import { RoomKeys } from "../chance/roomkeys.js";
import { fold } from "../store/fold.js";

export const RULES = { ruleSet: 'variant = "dice"\n', settings: 'action_seconds = 30\nbank_seconds = 60\ncommit_ms = 2000\ncontributors_min = 1\nreveal = "at_once"\nreveal_ms = 2000\nsuspend_hours = 2\n' };
const ORIGIN = "room/dealer";
const START_MS = Date.parse("2026-11-27T22:00:00Z");

async function logKey(name) {
  const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const line = `${name}+00000000+${base64(concat(Uint8Array.of(1), raw))}`;
  const keyId = base64(await keyIdOf(raw));
  const sign = async (text) => base64(new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, text)));
  return { line, keyId, sign };
}

const uuid = () => requestId();

/** A house with a seat of its own, 2, beside the player's, 1. */
export class House {
  player = uuid();
  other = uuid();
  table = uuid();
  /** What was sent, by the last word of the method. */
  sent = [];
  /** How a method is answered, where not rightly. */
  answers = {};
  seeds = new Map();
  parts = new Map();
  #sequence = 0;
  ms = START_MS;

  static async open() {
    const house = new House();
    [house.dealer, house.log] = [await logKey(ORIGIN), await logKey("room/table")];
    house.keysFile = `${house.dealer.line}\n${house.log.line}\n`;
    house.keys = await RoomKeys.parse(house.keysFile);
    house.view = { tableId: house.table, sequence: "0", handNo: "0", yourSeat: 1, seats: [house.seat(1), house.seat(2)], variant: "dice", ...RULES };
    return house;
  }

  seat(seat, more = {}) {
    return { seat, playerId: seat === 1 ? this.player : this.other, state: "SEAT_STATE_PLAYING", ...more };
  }

  /** An update, folded into the view as a followed table would. */
  tell(what) {
    const before = this.view;
    const update = { sequence: String((this.#sequence += 1)), recordTime: new Date(this.ms).toISOString(), ...what };
    this.view = fold(before, update, this.player);
    return [this.view, update, before];
  }

  async binding(handNo, salt = 0) {
    const rules = await fair.rulesHash(RULES.ruleSet, RULES.settings);
    const context = await sha256(fair.contextInput(ORIGIN, this.table, handNo, rules));
    const seed = new Uint8Array(64).fill(Number(handNo) + salt);
    return { rules, context, seed, dealer: await sha256(fair.seedInput(context, seed)) };
  }

  async promise(handNo, salt) {
    const { rules, dealer } = await this.binding(handNo, salt);
    const told = { origin: ORIGIN, commitment: base64(dealer), keyId: this.dealer.keyId };
    const signature = await this.dealer.sign(fair.promiseText(this.table, handNo, rules, told));
    return { handNo, commitment: { ...told, signature }, ...RULES };
  }

  /** The number of the house's own seat. */
  async own(handNo, byte = 9) {
    const entropy = new Uint8Array(32).fill(byte);
    const commitment = await sha256(fair.commitmentInput(await this.binding(handNo), { seat: 2, playerId: this.other }, entropy));
    return { entropy: base64(entropy), commitment: base64(commitment) };
  }

  async rows(handNo, byte) {
    const { commitment } = await this.own(handNo, byte);
    const own = this.parts.get(handNo)?.commitment;
    return [{ seat: 1, playerId: this.player, ...(own && { commitment: own }) }, { seat: 2, playerId: this.other, commitment }];
  }

  async closing(handNo, rows) {
    const binding = await this.binding(handNo);
    const told = { closing: base64(await sha256(fair.closingInput(binding, rows))), rows, keyId: this.dealer.keyId };
    return { ...told, signature: await this.dealer.sign(fair.closingText(binding, told)) };
  }

  async open(handNo, more = {}) {
    return { ...(await this.promise(handNo)), roster: [2, 1], ...more };
  }

  async closed(handNo, rows) {
    return this.open(handNo, { closed: true, closing: await this.closing(handNo, rows ?? (await this.rows(handNo))) });
  }

  /** The hand as it is dealt; `change` of the rows before they are hashed. */
  async started(handNo, change = (rows) => rows) {
    const { dealer } = await this.binding(handNo);
    const [mine, own] = [this.parts.get(handNo), await this.own(handNo)];
    const revealed = "ENTROPY_STATUS_REVEALED";
    const first = mine?.entropy
      ? { seat: 1, playerId: this.player, status: revealed, ...mine }
      : { seat: 1, playerId: this.player, status: "ENTROPY_STATUS_ABSENT" };
    const rows = change([first, { seat: 2, playerId: this.other, status: revealed, ...own }]);
    const transcript = base64(await sha256(fair.transcriptInput(await this.binding(handNo), rows)));
    const seats = [2, 1].map((seat) => ({ seat, playerId: seat === 1 ? this.player : this.other }));
    return { handNo, commitment: base64(dealer), rows, transcript, seats, phase: "HAND_PHASE_BETTING" };
  }

  /** Decisions in the chain, each over the last. */
  async action(handNo, seat, words, more = {}) {
    const line = `p${seat === 2 ? 1 : 2} ${words}`;
    const chain = base64(await chainWith(Uint8Array.from(atob(this.view.hand.chain), (letter) => letter.charCodeAt(0)), line));
    return { handNo, seat, decision: {}, chainLine: line, chain, phase: "HAND_PHASE_BETTING", ...more };
  }

  /** Answers as the table would. */
  call = async (path, request) => {
    const method = path.split("/").at(-1);
    this.sent.push({ method, request });
    const answer = { CommitEntropy: () => this.#commit(request), RevealEntropy: () => this.#reveal(request) }[method];
    return this.answers[method] ? this.answers[method](request) : answer ? answer() : {};
  };

  async #commit({ handNo, commitment, key }) {
    this.parts.set(handNo, { commitment });
    const place = { seat: 1, playerId: this.player, commitment, playerKey: key, position: "5", keyId: this.log.keyId };
    return { receipt: { ...place, signature: await this.log.sign(fair.commitReceiptText(await this.binding(handNo), place)) } };
  }

  async #reveal({ handNo, entropy }) {
    this.parts.set(handNo, { ...this.parts.get(handNo), entropy });
    return { receipt: await this.revealReceipt(handNo, { entropy }) };
  }

  async revealReceipt(handNo, more) {
    const place = { seat: 1, playerId: this.player, position: "6", keyId: this.log.keyId, ...more };
    return { ...place, signature: await this.log.sign(fair.revealReceiptText(await this.binding(handNo), place)) };
  }

  async decisionReceipt(handNo, chain) {
    const told = { chain, position: "9", keyId: this.log.keyId };
    const { context } = await this.binding(handNo);
    return { ...told, signature: await this.log.sign(fair.decisionReceiptText(context, told)) };
  }

  async seed(handNo) {
    return { handNo, seed: base64((await this.binding(handNo)).seed) };
  }

  revealed() {
    return this.sent.filter(({ method }) => method === "RevealEntropy").map(({ request }) => request.handNo);
  }
}
