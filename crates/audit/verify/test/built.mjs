// The code as people run it: out of the built page.

import { readFileSync } from "node:fs";
import vm from "node:vm";

export const PAGE = new URL("../../verify.html", import.meta.url);
export const BUNDLES = new URL("../../../../tests/golden/bundles/", import.meta.url);

const [, script] = /<script>([\s\S]*)<\/script>/.exec(readFileSync(PAGE, "utf8"));
vm.runInThisContext(script, { filename: "verify.html" });
const modules = globalThis.sabaccVerify;

export const { audit, CHECKS } = modules["audit.js"];
export const { NotABundle, parseBundle } = modules["bundle.js"];
export const { parseKeys } = modules["note.js"];
export const { storyOf } = modules["story.js"];

export const trusted = async () => parseKeys(readFileSync(new URL("keys.txt", BUNDLES), "utf8"));

export const bytesOf = (name) => new Uint8Array(readFileSync(new URL(name, BUNDLES)));

// The report on a file, or null where it is no bundle.
export async function reportOn(bytes, keys) {
  let bundle;
  try {
    bundle = await parseBundle(bytes);
  } catch (error) {
    if (error instanceof NotABundle) return null;
    throw error;
  }
  return (await audit(bundle, keys)).report;
}
