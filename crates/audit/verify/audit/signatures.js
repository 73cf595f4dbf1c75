// Signatures of decisions, over the chain that begins with the transcript. Whoever named a key signs each decision, also to
// leave or to end a suspended hand, unless the clock decides. Whoever named none signs nothing.

import { utf8 } from "../bytes.js";
import { verifyEd25519 } from "../digest.js";
import { decisionOf, keyIdOf, signedText } from "../fair.js";
import { exactly, hold } from "./case.js";
import { commitmentsOf } from "./closing.js";
import { promiseOf } from "./promise.js";
import { recordedTranscript } from "./promises.js";

const EMPTY = new Uint8Array();

export async function checkSignatures(records, walk) {
  if (walk.lines.length > 0) {
    const { context } = await promiseOf(records);
    let chain = await recordedTranscript(records);
    const counted = commitmentsOf(records);
    for (const line of walk.lines) {
      chain = await decisionOf(chain, line.byClock, line.line);
      await checkLine(line, counted.get(line.seat)?.event.key ?? EMPTY, context, chain);
    }
  }
  walk.judge("signatures");
}

async function checkLine({ position, seat, byClock, line, said, signature }, key, context, chain) {
  const told = (what) => () => `position ${position} of the table's log, \u201c${line}\u201d of seat ${seat}: ${what}`;
  if (byClock || key.length === 0) {
    hold(signature.length === 0, told(`it is signed, and ${byClock ? "the clock decided" : "its player has no key"}`));
    return;
  }
  hold(signature.length > 0, told("its player has a key, and it is neither signed nor the clock's"));
  exactly(32, key, "a player's key");
  exactly(64, signature, "the signature of a decision");
  const text = signedText("decision-sig", await keyIdOf(key), context, chain, utf8(said));
  hold(await verifyEd25519(key, text, signature), told("the signature is not its player's"));
}
