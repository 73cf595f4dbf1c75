// Signatures of decisions, over the chain that begins with the transcript. Whoever named a key signs each decision, also to
// leave or to end a suspended hand, unless the clock decides. Whoever named none signs nothing. A leave is signed when it is
// asked for, over the chain as it stands then with the leaves that are pending; the rules take it later, or the hand ends
// before. A void is signed over the lines on record alone, and a signed leave that is pending then lapses.

import { equal, utf8 } from "../bytes.js";
import { isGoodPoint, verifyEd25519 } from "../digest.js";
import { decisionOf, keyIdOf, signedText } from "../fair.js";
import { exactly, hold } from "./case.js";
import { commitmentsOf } from "./closing.js";
import { askedLeaves } from "./leaves.js";
import { promiseOf } from "./promise.js";
import { recordedTranscript } from "./promises.js";
import { signatureStep } from "../work.js";

const EMPTY = new Uint8Array();

export async function checkSignatures(records, walk) {
  for (const [seat, { event }] of commitmentsOf(records)) {
    if (event.key.length === 0) continue;
    signatureStep(0);
    hold(isGoodPoint(event.key), () => `the key of seat ${seat} can be none`);
  }
  const asked = askedLeaves(records);
  if (walk.lines.length > 0 || asked.length > 0) {
    const { context } = await promiseOf(records);
    const signed = new Signed(context, await recordedTranscript(records), commitmentsOf(records), walk.chain);
    for (const line of walk.lines) {
      while (asked.length > 0 && asked[0].position < line.position) await signed.ask(asked.shift());
      await signed.decide(line);
    }
    if (walk.isWhole) for (const leave of asked) await signed.ask(leave);
  }
  walk.judge("signatures");
}

// The seats of which a decision or a leave is signed, ascending. Where this check passes, each was checked.
export function signingSeats(records) {
  const decided = records.hand.filter(
    ({ name, event, keptBack }) => name === "MoveDecided" && !keptBack && event.signature.length > 0,
  );
  const leaves = askedLeaves(records).filter(({ signature }) => signature.length > 0);
  return [...new Set([...decided.map(({ event }) => event.seat), ...leaves.map(({ seat }) => seat)])].sort((a, b) => a - b);
}

// The chain under way. `chains` takes what each decision and leave is signed over, by position, whoever has signed it.
class Signed {
  constructor(context, chain, counted, chains) {
    Object.assign(this, { context, chain, counted, chains });
    // Leaves that were asked for and not taken yet, by seat, in order.
    this.pending = new Map();
    // Seats whose players have left.
    this.left = new Set();
  }

  // A leave is signed where it is asked for, and asked for again only once it has lapsed.
  async ask(leave) {
    const again = this.pending.has(leave.seat) || this.left.has(leave.seat);
    hold(!again, told(leave, "its player had asked to leave before"));
    let { chain } = this;
    for (const { line } of [...this.pending.values(), leave]) chain = await decisionOf(chain, false, line);
    this.chains.set(leave.position, chain);
    await this.check({ ...leave, said: leave.line }, chain);
    this.pending.set(leave.seat, leave);
  }

  // A decision adds its line; a leave is one that was asked for.
  async decide(line) {
    this.chain = await decisionOf(this.chain, line.byClock, line.line);
    this.chains.set(line.position, this.chain);
    if (line.byClock) hold(line.signature.length === 0, told(line, "the clock decided, and it is signed"));
    else if (line.leaves) {
      const asked = this.pending.get(line.seat);
      this.pending.delete(line.seat);
      hold(asked, told(line, "its player has not asked to leave"));
      const same = equal(asked.signature, line.signature);
      hold(same, told(line, "it has another signature than its player asked to leave with"));
      this.left.add(line.seat);
    } else await this.check(line, this.chain);
    if (!line.voids) return;
    for (const [seat, { signature }] of this.pending) if (signature.length > 0) this.pending.delete(seat);
  }

  // Of whoever has a key, a signature; of whoever has none, none.
  async check(line, chain) {
    const { seat, said, signature } = line;
    const key = this.counted.get(seat)?.event.key ?? EMPTY;
    if (key.length === 0) {
      hold(signature.length === 0, told(line, "it is signed, and its player has no key"));
      return;
    }
    hold(signature.length > 0, told(line, "its player has a key, and it is neither signed nor the clock's"));
    exactly(32, key, "a player's key");
    exactly(64, signature, "the signature of a decision");
    const text = signedText("decision-sig", await keyIdOf(key), this.context, chain, utf8(said));
    hold(await verifyEd25519(key, text, signature), told(line, "the signature is not its player's"));
  }
}

const told =
  ({ position, line }, what) =>
  () =>
    `position ${position} of the table's log, \u201c${line}\u201d: ${what}`;
