// In Node: `node dist/src/node.js`, with the variables of tests/clients/README.md.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { playGames } from "./main.js";

// From dist/src to the sources of the room's page.
const VERIFIER = new URL("../../../../../crates/audit/verify/", import.meta.url);

const {
  SABACC_URL = "http://127.0.0.1:7400",
  SABACC_GAMES = "dice",
  SABACC_KEYS = "keys.txt",
  SABACC_OUT,
} = process.env;

const results = await playGames({
  url: SABACC_URL,
  games: SABACC_GAMES.split(" "),
  keys: readFileSync(SABACC_KEYS, "utf8"),
  verifier: VERIFIER,
  say: console.log,
});
for (const { game, seat, bundle } of SABACC_OUT === undefined ? [] : results) {
  writeFileSync(join(SABACC_OUT!, `${game}.sabacc`), bundle);
  writeFileSync(join(SABACC_OUT!, `${game}.seat`), `${seat}\n`);
}
