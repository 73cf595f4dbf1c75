// The registry: one line a game.

import { CORUSCANT } from "./coruscant.js";
import { ELEVEN } from "./eleven.js";
import { FORCE } from "./force.js";
import { KESSEL } from "./kessel.js";
import { DICE, ELECTRONIC } from "./shifting.js";
import { SPIKE } from "./spike.js";
import { SWG } from "./swg.js";

export const GAMES = {
  coruscant: CORUSCANT,
  dice: DICE,
  electronic: ELECTRONIC,
  eleven: ELEVEN,
  force: FORCE,
  kessel: KESSEL,
  spike: SPIKE,
  swg: SWG,
};
