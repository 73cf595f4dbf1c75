// Replay of a finished hand: a fold of its story, line by line, into what lay where. Pure.
//
// The story tells every card once the seed is open. Rules that move cards without a line of their own (a shift, a redraw, a
// new round) are known here by game. Hands that are shown at the end check the fold: where it was wrong, `sure` is false, and
// the page shows lines without hands.

/**
 * Card in a hand: its code, whether it lies open for everybody, whether it is selected.
 *
 * @typedef {{code: string, open: boolean, locked?: boolean, selected?: boolean}} Held
 */
/**
 * One seat at one step.
 *
 * @typedef {{seat: number, cards: Held[], live: boolean, act: string}} SeatState
 */
/**
 * The hand after one line of the story. `discards` are the open discard piles, the top last.
 *
 * @typedef {object} Step
 * @property {any} line the line of the story
 * @property {number} at its index in the story
 * @property {number} actor seat that acts; 0: nobody of the players
 * @property {"public" | "owner" | "cards"} secrecy who knows the cards in the line: all, the seat concerned, or nobody but it
 * @property {SeatState[]} seats
 * @property {string[]} dice
 * @property {Record<string, string[]>} discards
 */

const CODE = /^(?:\?\?|[A-Za-z]+[+-]?\d*[A-Z]?)$/;

/**
 * Steps of a hand, from the first card or decision on.
 *
 * @param {any[]} story lines of AuditHandResponse
 * @param {number[]} seats those dealt in, p1 first
 * @param {string} variant
 * @returns {{steps: Step[], sure: boolean}}
 */
export function replay(story, seats, variant) {
  /** @type {Fold} */
  const fold = {
    variant,
    seats: new Map(seats.map((seat) => [seat, { seat, cards: [], live: true, act: "" }])),
    dice: [],
    discards: {},
    taken: new Set(),
    shifted: false,
    sure: true,
    before: "",
    lastActor: 0,
  };
  /** @type {Step[]} */
  const steps = [];
  let begun = false;
  story.forEach((line, at) => {
    if (!line.log) return;
    begun ||= line.log === "table" && /takes the antes|deals |shuffles |binds /.test(line.what);
    if (!begun || (line.log === "dealer" && !/opens the seed/.test(line.what))) return;
    const actor = Number(/^seat (\d+)/.exec(line.who)?.[1] ?? 0);
    const known = apply(fold, line.what, fold.seats.get(actor));
    if (known === null) return;
    steps.push({
      line,
      at,
      actor: actor || Number(/ to seat (\d+)/.exec(line.what)?.[1] ?? 0),
      secrecy: known,
      seats: [...fold.seats.values()].map((seat) => ({ ...seat, cards: seat.cards.map((one) => ({ ...one })) })),
      dice: [...fold.dice],
      discards: Object.fromEntries(Object.entries(fold.discards).map(([pile, cards]) => [pile, [...cards]])),
    });
    fold.before = line.what;
  });
  return { steps, sure: fold.sure };
}

/**
 * @typedef {object} Fold
 * @property {string} variant
 * @property {Map<number, SeatState>} seats
 * @property {string[]} dice
 * @property {Record<string, string[]>} discards
 * @property {Set<number>} taken seats of Coruscant whose rest is discarded
 * @property {boolean} shifted
 * @property {boolean} sure
 * @property {string} before the line before this one
 * @property {number} lastActor seat of the last token
 */

/**
 * Takes one line. Null: it is of the table's books, not of the hand; else who knows its cards.
 *
 * @param {Fold} fold
 * @param {string} text
 * @param {SeatState | undefined} actor
 * @returns {"public" | "owner" | "cards" | null}
 */
function apply(fold, text, actor) {
  const what = text.replace(/ \(the clock ran out\)$/, "");
  const dealt = /^deals (.+) to seat (\d+)/.exec(what);
  if (dealt) return deal(fold, cardsIn(dealt[1]), Number(dealt[2]));
  if (/^shuffles/.test(what)) return shuffle(fold, what);
  if (/^turns up /.test(what)) return turnUp(fold, cardsIn(what.slice(9)));
  if (/^rolls /.test(what)) return roll(fold, what.slice(6));
  if (/^lets the pulse pass/.test(what)) {
    fold.shifted = what.endsWith("the cards shift");
    return "public";
  }
  if (/^draws the numbers/.test(what)) return fold.variant === "kessel" ? "owner" : "public";
  if (/^(commits|reveals|notes|takes no entropy|goes on|is taken|has its|is dealt in|opens hand|is paid|asks|sits)/.test(what)) return null;
  if (/^opens the seed/.test(what)) return "public";
  if (!actor) return "public";
  actor.act = what;
  return decide(fold, what, actor);
}

/**
 * @param {Fold} fold
 * @param {string[]} cards
 * @param {number} seat
 * @returns {"public" | "owner"}
 */
function deal(fold, cards, seat) {
  const to = fold.seats.get(seat);
  if (!to) return "owner";
  const chosen = to.cards.some((one) => one.selected);
  if (fold.variant === "coruscant" && chosen && !fold.taken.has(seat)) {
    to.cards = to.cards.filter((one) => one.selected);
    fold.taken.add(seat);
  }
  to.cards.push(...cards.map((code) => ({ code, open: false })));
  return "owner";
}

/**
 * @param {Fold} fold
 * @param {string} what
 * @returns {"public"}
 */
function shuffle(fold, what) {
  const count = Number(/shuffles (\d+)/.exec(what)?.[1] ?? 0);
  const pile = Number(/pile (\d+)/.exec(what)?.[1] ?? 0);
  const live = [...fold.seats.values()].filter((seat) => seat.live);
  if (fold.variant === "dice" || fold.variant === "electronic") {
    const loose = live.reduce((sum, seat) => sum + seat.cards.filter((one) => !one.locked).length, 0);
    if (count === loose && count > 0 && /^(rolls|lets)/.test(fold.before)) {
      for (const seat of live) seat.cards = seat.cards.filter((one) => one.locked);
    }
  }
  if (/^(draws from|deals)/.test(fold.before) && fold.variant === "kessel") {
    // A pile has run out: its discards go under, but for the top one.
    const letter = pile === 0 ? "s" : "b";
    fold.discards[letter] = (fold.discards[letter] ?? []).slice(-1);
  } else if (fold.variant === "kessel" && pile === 0) {
    for (const seat of fold.seats.values()) seat.cards = [];
    fold.discards = {};
  }
  if (fold.variant === "force" && count > 0) {
    for (const seat of live) seat.cards = seat.cards.filter((one) => !/^[SFCT]\d+$/.test(one.code)).slice(0, 1);
  }
  return "public";
}

/**
 * @param {Fold} fold
 * @param {string[]} cards
 * @returns {"public"}
 */
function turnUp(fold, cards) {
  for (const code of cards) discard(fold, code);
  return "public";
}

/**
 * @param {Fold} fold
 * @param {string} faces
 * @returns {"public"}
 */
function roll(fold, faces) {
  fold.dice = faces.split(" ").filter((face) => /^\d+$/.test(face));
  const [one, other] = fold.dice;
  if (fold.variant === "spike" && fold.dice.length === 2 && one === other) {
    for (const seat of fold.seats.values()) if (seat.live) seat.cards = [];
  }
  return "public";
}

/**
 * @param {Fold} fold
 * @param {string} what
 * @param {SeatState} seat
 * @returns {"public" | "owner"}
 */
function decide(fold, what, seat) {
  const shows = /^shows (.+)$/.exec(what);
  if (shows) return show(fold, cardsIn(shows[1]), seat);
  const first = what.split(" ")[1] ?? "";
  if (/^trades /.test(what)) {
    drop(seat, first);
    return "owner";
  }
  if (/^(discards|drops) /.test(what)) {
    drop(seat, first);
    if (fold.variant !== "force") discard(fold, first);
    return "public";
  }
  if (/^swaps /.test(what)) {
    drop(seat, first);
    const top = fold.discards[""]?.pop();
    if (top) seat.cards.push({ code: top, open: true });
    discard(fold, first);
    return "public";
  }
  if (/^draws from (sand|blood)-discard/.test(what)) {
    const top = fold.discards[what.includes("sand") ? "s" : "b"]?.pop();
    if (top) seat.cards.push({ code: top, open: true });
    return "public";
  }
  if (/^locks /.test(what)) lock(seat, first, true);
  if (/^takes \S+ back from the field/.test(what)) lock(seat, first, false);
  if (/^(folds|junks|is eliminated)/.test(what)) seat.live = false;
  if (/^(selects|adds) /.test(what)) {
    for (const code of cardsIn(what.replace(/^\S+ /, ""))) {
      const found = seat.cards.find((one) => one.code === code && !one.selected);
      if (found) found.selected = true;
    }
    return "owner";
  }
  if (/^plays /.test(what)) token(fold, what, seat);
  return /^(gives|chooses) /.test(what) ? "owner" : "public";
}

/**
 * @param {Fold} fold
 * @param {string} what
 * @param {SeatState} seat
 */
function token(fold, what, seat) {
  const target = fold.seats.get(Number(/ on seat (\d+)/.exec(what)?.[1] ?? 0));
  if (!target) return;
  if (what.includes("direct-transaction")) [seat.cards, target.cards] = [target.cards, seat.cards];
  if (what.includes("exhaustion")) {
    for (const { code } of target.cards) discard(fold, code);
    target.cards = [];
  }
}

/**
 * @param {Fold} fold
 * @param {string[]} codes
 * @param {SeatState} seat
 * @returns {"public"}
 */
function show(fold, codes, seat) {
  const had = fold.variant === "coruscant" && seat.cards.some((one) => one.selected) ? seat.cards.filter((one) => one.selected) : seat.cards;
  // A card that broke a tie lies beside the hand, and is not shown with it.
  const left = [...codes];
  const beside = had.filter(({ code }) => !left.includes(code) || left.splice(left.indexOf(code), 1).length === 0);
  if (left.length > 0 || beside.length > 1) fold.sure = false;
  const locked = new Set(seat.cards.filter((one) => one.locked).map((one) => one.code));
  const shown = codes.map((code) => ({ code, open: true, locked: locked.has(code) }));
  seat.cards = left.length > 0 ? shown : [...shown, ...beside.slice(0, 1).map(({ code }) => ({ code, open: true }))];
  return "public";
}

/**
 * @param {SeatState} seat
 * @param {string} code
 */
function drop(seat, code) {
  const at = seat.cards.map((one) => one.code).lastIndexOf(code);
  if (at >= 0) seat.cards.splice(at, 1);
}

/**
 * @param {SeatState} seat
 * @param {string} code
 * @param {boolean} locked
 */
function lock(seat, code, locked) {
  const found = seat.cards.find((one) => one.code === code && Boolean(one.locked) !== locked);
  if (found) {
    found.locked = locked;
    found.open = locked;
  }
}

/**
 * @param {Fold} fold
 * @param {string} code
 */
function discard(fold, code) {
  const pile = fold.variant === "kessel" ? code[0] : "";
  if (fold.variant === "kessel" || fold.variant === "spike") (fold.discards[pile] ??= []).push(code);
}

/**
 * Codes of cards in a text, in its order.
 *
 * @param {string} text
 */
export function cardsIn(text) {
  return text.split(/[ ,]+/).filter((word) => word !== "no" && word !== "card" && CODE.test(word));
}

/**
 * Text of a step as a seat heard it: cards that it could not see are left out of it. Seat 0 is somebody who watches; null is
 * whoever reads it now.
 *
 * @param {Step} step
 * @param {number | null} viewer
 */
export function heard(step, viewer) {
  const { what } = step.line;
  if (viewer === null || step.secrecy === "public" || step.actor === viewer) return what;
  const dealt = /^deals (.+) (to seat .+)$/.exec(what);
  if (dealt) {
    const count = cardsIn(dealt[1]).length;
    return `deals ${count === 1 ? "a card" : `${count} cards`} ${dealt[2]}`;
  }
  if (/^trades /.test(what)) return "trades a card for the top card";
  if (/^selects /.test(what)) return `selects ${cardsIn(what.slice(8)).length} of its cards`;
  if (/^adds /.test(what)) return `adds ${cardsIn(what.slice(5)).length} cards`;
  if (/^gives /.test(what)) return "chooses a value in secret";
  if (/^chooses /.test(what)) return "chooses three tokens in secret";
  if (/^draws the numbers/.test(what)) return "draws shift tokens for somebody";
  return what;
}
