// Kessel's sixteen shift tokens, as they take effect. Whether one is legal was asked before.

import { familyOf } from "./kessel-ladder.js";
import { makeMove } from "./moves.js";

const REFUNDS = { refund: 2, "extra-refund": 3 };
const TAXES = { "general-tariff": 1, "target-tariff": 2, "general-audit": 2, "target-audit": 3 };

export function* askToken(game, player, { names: [token], target }, turn) {
  const { seats, core } = game;
  const own = seats[player];
  own.tokens = own.tokens.filter((other) => other !== token);
  const touched = core.inOrder.filter((other) => other !== player && !game.immune.has(other));
  if (token === "free-draw") turn.free = true;
  else if (token in REFUNDS) {
    const back = Math.min(REFUNDS[token], own.pot);
    own.pot -= back;
    own.stock += back;
  } else if (token === "embezzlement") {
    for (const other of touched) {
      const taken = Math.min(1, seats[other].pot);
      seats[other].pot -= taken;
      own.pot += taken;
    }
  } else if (token in TAXES) {
    const audited = token === "general-audit" ? touched.filter((other) => game.standing.has(other)) : touched;
    for (const other of target === null ? audited : [target])
      seats[other].stock -= Math.min(TAXES[token], seats[other].stock);
  } else if (token === "prime-sabacc") {
    const dice = yield { chance: { kind: "roll", sides: [6, 6], purpose: { prime: player } } };
    const chosen = yield* game.ask(
      player,
      () => [{ verb: "prime", values: dice }],
      () => makeMove("prime", { value: dice[0] }),
    );
    game.fixes.prime = chosen.value;
  } else if (token === "markdown") game.fixes.markdown = true;
  else if (token === "cook-the-books") game.fixes.cook = true;
  else if (token === "major-fraud") game.fixes.fraud = true;
  else if (token === "immunity") game.immune.add(player);
  else if (token === "embargo") {
    const next = game.nextInTurn(player);
    if (!game.immune.has(next)) game.embargoed.add(next);
  } else if (token === "exhaustion") {
    const held = core.seats[target].cards.splice(0).sort((a, b) => familyOf(a) - familyOf(b));
    for (const card of held) core.discard(familyOf(card), card);
    yield* game.dealPair(target, "exhaustion");
  } else if (token === "direct-transaction") {
    const [mine, theirs] = [core.seats[player], core.seats[target]];
    [mine.cards, theirs.cards] = [theirs.cards, mine.cards];
  }
}
