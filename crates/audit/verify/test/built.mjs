// The code as people run it: out of the built page.

import { readFileSync } from "node:fs";
import vm from "node:vm";

export const PAGE = new URL("../../verify.html", import.meta.url);
export const BUNDLES = new URL("../../../../tests/golden/bundles/", import.meta.url);

const [, script] = /<script>([\s\S]*)<\/script>/.exec(readFileSync(PAGE, "utf8"));
vm.runInThisContext(script, { filename: "verify.html" });
export const modules = globalThis.sabaccVerify;

export const { audit, CHECKS } = modules["audit.js"];
export const { NotABundle, parseBundle } = modules["bundle.js"];
export const { judge, readFile } = modules["judge.js"];
export const { readKeys } = modules["trust.js"];
export const { storyOf } = modules["story.js"];

export async function trusted() {
  const keys = await readKeys(readFileSync(new URL("keys.txt", BUNDLES), "utf8"));
  return { keys, witnesses: [], wanted: 0 };
}

export const bytesOf = (name) => new Uint8Array(readFileSync(new URL(name, BUNDLES)));

// The report on a file, or null where it is no bundle.
export async function reportOn(bytes, trust) {
  let bundle;
  try {
    bundle = await parseBundle(bytes);
  } catch (error) {
    if (error instanceof NotABundle) return null;
    throw error;
  }
  return (await audit(bundle, trust)).report;
}
