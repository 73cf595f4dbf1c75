// Checks saved bundles with a page as it was saved: `node saved.mjs PAGE KEYS FILE…`. Prints the verdict of each, and
// ends with 0 where all are proved.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import vm from "node:vm";

const [page, keysFile, ...files] = process.argv.slice(2);
const [, script] = /<script>([\s\S]*)<\/script>/.exec(readFileSync(page, "utf8"));
vm.runInThisContext(script, { filename: page });
const { "judge.js": judging, "trust.js": trust } = globalThis.sabaccVerify;

const keys = await trust.readKeys(trust.keysText(new Uint8Array(readFileSync(keysFile))));
const read = (path) => {
  const bytes = new Uint8Array(readFileSync(path));
  return judging.readFile({ name: basename(path), size: bytes.length, arrayBuffer: async () => bytes.buffer });
};
const judged = await judging.judge(await Promise.all(files.map(read)), { keys, witnesses: [], wanted: 0 });
for (const { name, report } of judged) console.log(`${name}: ${report.verdict}: ${report.sentences.join(" ")}`);
process.exitCode = judged.every(({ report }) => report.verdict === "proved") ? 0 : 1;
