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
const query = new URLSearchParams({ url: SABACC_URL, games: SABACC_GAMES });
const { page, close } = await open(`${SABACC_ORIGIN}/play?${query}`);
try {
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
