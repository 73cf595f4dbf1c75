// Files to reports: of each by itself, and in the light of the others. Nothing in a file makes this throw.

import { NO_KEYS, examine, isProved, refusal, withReport } from "./audit.js";
import { uuid } from "./bytes.js";
import { MAX_FILE, NotABundle, parseBundle } from "./bundle.js";
import { NoCrypto } from "./digest.js";
import { failedSentences } from "./sentences.js";
import { contradictionsOf } from "./several.js";
import { NO_WORK } from "./work.js";

// A file, as the page keeps it: its name, and the bundle or why it is none.
export async function readFile(file) {
  const { name } = file;
  try {
    if (file.size > MAX_FILE) return { name, why: `the file is larger than ${MAX_FILE} bytes` };
    return { name, bundle: await parseBundle(new Uint8Array(await file.arrayBuffer())) };
  } catch (error) {
    const known = error instanceof NotABundle || error instanceof NoCrypto;
    return { name, why: known ? error.message : `this is no bundle: ${error}` };
  }
}

// Of each file its name and report; where it was examined, also records, walk and notes.
export async function judge(files, trust) {
  const found = [];
  for (const { name, bundle, why } of files) found.push({ name, ...(await examined(bundle, why, trust)) });
  const proved = found.filter((one) => one.checks && isProved(one)).map(({ name, bundle }) => [name, bundle]);
  const against = await contradictionsOf(proved);
  const judged = [];
  for (const one of found) judged.push(one.report ? one : await reported(one, against.get(one.bundle)));
  return judged;
}

async function examined(bundle, why, trust) {
  if (!bundle) return { report: refusal(why) };
  if (trust.keys.length === 0) return { report: refusal(NO_KEYS, bundle.handId) };
  try {
    return await examine(bundle, trust);
  } catch (error) {
    return broken(bundle, error);
  }
}

async function reported(found, against) {
  try {
    return await withReport(found, against);
  } catch (error) {
    return { name: found.name, ...broken(found.bundle, error) };
  }
}

function broken({ handId }, error) {
  const sentences = failedSentences(`the page cannot deal with it: ${error}`);
  return { report: { hand_id: uuid(handId), verdict: "failed", sentences, checks: [], work: { ...NO_WORK } } };
}
