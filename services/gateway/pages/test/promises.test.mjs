// Promises of the dealer: how many are kept.

import assert from "node:assert/strict";
import test from "node:test";
import { sha256 } from "../chance/bytes.js";
import { seedInput } from "../chance/fair.js";
import { Promises } from "../chance/promises.js";

const TABLE = "0198f0c2-7a3e-7000-8000-00000000000d";
const base64 = (bytes) => Buffer.from(bytes).toString("base64");

/** Promises under keys that sign everything. */
const promises = () => new Promises(TABLE, { check: async () => "" }, null, { ruleSet: "", settings: "", check() {} });

test("a promise is kept until its seed is opened, and then for sixty-four numbers", async () => {
  const kept = promises();
  const shut = await kept.check({ handNo: "1", commitment: { origin: "room/dealer", commitment: base64(new Uint8Array(32)) } });
  for (let no = 2; no <= 100; no += 1) {
    const handNo = String(no);
    const seed = new Uint8Array(64).fill(no);
    // The promise binds the context, which the first check gives.
    const probe = await promises().check({ handNo, commitment: { origin: "room/dealer", commitment: base64(new Uint8Array(32)) } });
    const commitment = { origin: "room/dealer", commitment: base64(await sha256(seedInput(probe.context, seed))) };
    await kept.check({ handNo, commitment });
    await kept.checkSeed({ handNo, seed: base64(seed) });
  }
  assert.equal(kept.of("1"), shut);
  assert.equal(kept.of("36"), undefined);
  assert.notEqual(kept.of("37"), undefined);
  await kept.checkSeed({ handNo: "36", seed: base64(new Uint8Array(64)) });
});
