// Replays a hand history over the rules and says where it breaks them.

const NUMBER = /^(0|[1-9][0-9]*)$/;
const GOLD = ["0", "0", "+5", "-5", "+10", "-10"];
const SILVER = ["circle", "circle", "triangle", "triangle", "square", "square"];

export function replay(api, file) {
  const rules = api.makeRules(file.variant, file.ruleset ?? {});
  const setup = {
    rules,
    seats: file.seats,
    stacks: file.starting_stacks,
    sabaccPot: file.sabacc_pot,
    carriedPot: file.carried_pot,
  };
  const hand = new api.Hand(setup);
  const total = sum(hand);
  file.actions.forEach((line, at) => {
    try {
      apply(api, hand, line.replace(/ #.*$/, "").split(" "), / # clock$/.test(line));
      shuffles(hand);
    } catch (error) {
      error.message = `action ${at + 1}, ${line}: ${error.message}`;
      throw error;
    }
    if (sum(hand) !== total) throw new Error(`action ${at + 1}: credits were made or lost`);
  });
  return hand;
}

const sum = ({ core }) =>
  core.seats.reduce((all, seat) => all + seat.stack, core.pot + core.sabacc + core.carried + core.rake);

function shuffles(hand) {
  while (hand.due?.kind === "shuffle") hand.chance(null);
}

const playerOf = (word) => Number(word.slice(1)) - 1;

function apply(api, hand, [actor, verb, ...words], clock) {
  shuffles(hand);
  if (actor === "d") return chance(api, hand, verb, words);
  const player = playerOf(actor);
  const move = moveOf(api, hand, player, verb, words);
  const meant = hand.decide(player, move);
  if (clock && !api.sameMove(meant, hand.decide(player, hand.decision.fallback)))
    throw new Error("this is not the default");
  hand.take(player, meant);
}

function pick(hand, code, from, taken) {
  const card = hand.core.deck.cardsOf(code).find((one) => from.has(one) && !taken.includes(one));
  if (card === undefined) throw new Error(`${code} is not there`);
  taken.push(card);
}

function chance(api, hand, verb, words) {
  const { due, core } = hand;
  if (!due) throw new Error("no chance is due");
  if (verb === "deal" || verb === "flip") {
    const to = verb === "deal" ? playerOf(words.shift()) : null;
    if (due.kind !== "deal" || due.to !== to) throw new Error(`due is ${JSON.stringify(due)}`);
    const taken = [];
    let at = 0;
    for (const { pile, count, restock } of due.parts) {
      const from = new Set([...core.piles[pile].draw]);
      for (let dealt = 0; dealt < (count ?? words.length); dealt += 1, at += 1) {
        if (restock?.after === dealt) restock.cards.forEach((card) => from.add(card));
        if (at < words.length) pick(hand, words[at], from, taken);
      }
    }
    if (at !== words.length) throw new Error(`${at} cards are due`);
    return hand.chance(taken);
  }
  if (verb === "roll") {
    if (due.kind !== "roll") throw new Error(`due is ${JSON.stringify(due)}`);
    if (due.purpose.target) return hand.chance([GOLD.indexOf(words[0]) + 1, SILVER.indexOf(words[1]) + 1]);
    if (due.purpose.impostor !== undefined) {
      const [player, code] = words.splice(0, 2);
      if (playerOf(player) !== due.purpose.impostor || core.deck.code(due.purpose.card) !== code)
        throw new Error("another Impostor rolls");
    }
    return hand.chance(words.map(Number));
  }
  if (verb === "pulse") return hand.chance(words[0] === "1");
  if (verb === "announce") return hand.chance([words[1], words[3]].map((face) => core.deck.faces.indexOf(face)));
  if (verb === "tokens") {
    if (due.purpose.tokens !== playerOf(words[0])) throw new Error("tokens of another player are due");
    return hand.chance(words.slice(1).map((name) => api.TOKENS.indexOf(name)));
  }
  if (verb === "starter") return hand.chance(core.inOrder.indexOf(playerOf(words[0])));
  throw new Error(`there is no chance called ${verb}`);
}

// A code means any copy that may be named; the rules take the one held longest.
function moveOf(api, hand, player, verb, words) {
  const kessel = hand.rules.id === "kessel";
  if (verb === "draw" && words.length > 0) return api.makeMove("draw-from", { names: words });
  if (["bet", "raise"].includes(verb)) {
    if (!NUMBER.test(words[0])) throw new Error("no amount");
    return api.makeMove(verb, { amount: Number(words[0]) });
  }
  if (["align", "choose"].includes(verb)) return api.makeMove(verb, { names: words });
  if (verb === "token") return api.makeMove(verb, { names: [words[0]], target: words[1] ? playerOf(words[1]) : null });
  if (verb === "prime") return api.makeMove(verb, { value: Number(words[0]) });
  const listed = (hand.decision?.legal ?? []).filter((one) => one.verb === verb).flatMap((one) => one.cards ?? []);
  const value = verb === "impostor" && kessel ? Number(words.pop()) : 0;
  const cards = [];
  for (const code of words) {
    const held = new Set(listed.length > 0 ? listed : hand.core.seats[player].cards);
    pick(hand, code, held, cards);
  }
  return api.makeMove(verb, { cards, value });
}
