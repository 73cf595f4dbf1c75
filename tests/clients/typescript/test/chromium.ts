// Plays in Chromium: `node dist/test/chromium.js`, with the variables of tests/clients/README.md. The room allows pages
// of SABACC_ORIGIN to call it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "./chromium_page.js";
import { serve } from "./server.js";

const {
  SABACC_URL = "http://127.0.0.1:7400",
  SABACC_ORIGIN = "http://127.0.0.1:7472",
  SABACC_GAMES = "dice",
  SABACC_KEYS = "keys.txt",
  SABACC_OUT = ".",
} = process.env;

const server = await serve(SABACC_ORIGIN, readFileSync(SABACC_KEYS, "utf8"));
const { page, close } = await open(`${SABACC_ORIGIN}/keys.txt`);
try {
  // The same server under another name is another origin, which the room's operator has not listed.
  const other = SABACC_ORIGIN.replace("127.0.0.1", "localhost");
  for (const [origin, allowed] of [
    [SABACC_ORIGIN, true],
    [other, false],
  ] as const) {
    await page.goto(`${origin}/keys.txt`);
    const may = await page.evaluate(mayCall, `${SABACC_URL}/sabacc.table.v1.TableService/ListTables`);
    if (may !== allowed) throw new Error(`a page of ${origin} may ${may ? "" : "not "}call`);
  }
  await page.goto(`${SABACC_ORIGIN}/play?${new URLSearchParams({ url: SABACC_URL, games: SABACC_GAMES })}`);
  const results = await page.evaluate(async () => {
    const played = await window.outcome;
    return played.map(({ game, seat, bundle }) => ({ game, seat, bundle: Array.from(bundle) }));
  });
  for (const { game, seat, bundle } of results) {
    writeFileSync(join(SABACC_OUT, `${game}.sabacc`), Uint8Array.from(bundle));
    writeFileSync(join(SABACC_OUT, `${game}.seat`), `${seat}\n`);
  }
} finally {
  await close();
  server.close();
}

// In the page: whether a call of the room is let through.
async function mayCall(url: string): Promise<boolean> {
  const call = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  try {
    return (await fetch(url, call)).ok;
  } catch {
    return false;
  }
}
