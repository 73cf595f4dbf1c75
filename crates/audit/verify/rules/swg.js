// Sabacc for SWG: the whole hand is one betting round, and each turn in it ends with a draw action.

import { Bets, held } from "./betting.js";
import { Pile } from "./core.js";
import { askDrawAction, drawAction } from "./shifting.js";
import { revealTo23 } from "./totals.js";

function* play(core, state) {
  core.takeAntes();
  yield* core.shuffle(0);
  for (const player of core.everybody) yield* core.dealToHand(player, 2, "opening");
  const bets = held(core) ? new Bets(core) : null;
  const count = core.seats.length;
  for (let place = 0; ; place += 1) {
    const player = place % count;
    // Called by itself when the action is back where the bet was last lifted; with no bet, after one lap.
    if (place > 0 && player === (bets?.lifter ?? 0)) break;
    if (!core.live.has(player)) continue;
    if (bets && core.seats[player].stack > 0) {
      const move = yield* core.ask(player, bets.legal(player), bets.fallback(player));
      bets.act(player, move);
      if (core.endsByFolds()) return;
    }
    if (core.live.has(player) && core.rules.draw_phase)
      yield* drawAction(core, player, yield* askDrawAction(core, player));
  }
  core.returnUncalled();
  yield* revealTo23(core, { swg: true });
}

export const SWG = { piles: () => [new Pile(0, 76, false)], play };
