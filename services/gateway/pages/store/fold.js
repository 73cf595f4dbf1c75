// A table as one viewer knows it: a snapshot, folded with every update after it. Pure: what was there stays as it was, so a page
// can compare before with after. After each update the view is what a snapshot would show then.

/** @typedef {import("../types.js").TableView} TableView */
/** @typedef {import("../types.js").TableUpdate} TableUpdate */
/** @typedef {import("../types.js").HandView} HandView */
/** @typedef {import("../types.js").HandSeat} HandSeat */

/**
 * @param {TableView} view
 * @param {TableUpdate} update
 * @param {string} [viewer] the player's id; without it a seat that is taken after the snapshot is nobody's own
 * @returns {TableView}
 */
export function fold(view, update, viewer) {
  return { ...after(view, update, viewer), sequence: update.sequence };
}

/** Whether an update is the next one of a view: updates are numbered without gaps. @param {TableView} view @param {TableUpdate} update */
export const isNext = (view, update) => BigInt(update.sequence ?? 0) === BigInt(view.sequence ?? 0) + 1n;

/** Whether a hand is in play. @param {TableView | null} view */
export const isInPlay = (view) => view?.hand !== undefined && view.hand.phase !== "HAND_PHASE_OVER";

/** @param {TableView} view @param {TableUpdate} update @param {string} [viewer] @returns {TableView} */
function after(view, update, viewer) {
  if (update.seat) return seatChanged(view, update.seat, viewer);
  if (update.handStarted) return handStarted(view, update.handStarted);
  if (update.action) return { ...view, hand: acted(view.hand, update.action) };
  if (update.handEnded) return handEnded(view, update.handEnded);
  if (update.closed) return { ...view, closed: true };
  if (update.nextHand) return { ...view, nextHand: update.nextHand };
  if (update.entropy) return opened(view, update.entropy);
  if (update.voided) return voided(view, update.voided);
  if (update.stopped) return { ...view, stopped: update.stopped.stopped };
  if (update.suspension) return suspended(view, update.suspension);
  if (update.disabled) return { ...view, disabled: update.disabled.disabled };
  // A seed changes nothing that a view shows; nor does what a newer room may tell.
  return view;
}

/** @param {TableView} view @param {import("../types.js").SeatChanged} changed @param {string} [viewer] @returns {TableView} */
function seatChanged(view, { seat, vacated, yourStanding }, viewer) {
  if (!seat) return view;
  const others = (view.seats ?? []).filter((taken) => taken.seat !== seat.seat);
  const seats = vacated ? others : [...others, seat].sort((a, b) => (a.seat ?? 0) - (b.seat ?? 0));
  const isOwn = viewer ? seat.playerId === viewer : view.yourSeat === seat.seat;
  if (!isOwn) return { ...view, seats };
  return { ...view, seats, yourSeat: vacated ? undefined : seat.seat, yourStanding };
}

/** A hand is open, so the one before is not shown any more. @param {TableView} view @param {import("../types.js").Entropy} entropy @returns {TableView} */
function opened(view, entropy) {
  const hand = view.hand?.handNo === entropy.handNo ? view.hand : undefined;
  // The dealer may have promised the hand after it already.
  const nextHand = view.nextHand?.handNo === entropy.handNo ? undefined : view.nextHand;
  return { ...view, handNo: entropy.handNo, nextHand, entropy, hand };
}

/** @param {TableView} view @param {import("../types.js").HandStarted} started @returns {TableView} */
function handStarted(view, started) {
  // The opening of the hand has said the rest.
  const opened = view.entropy?.handNo === started.handNo ? view.entropy : undefined;
  const { handNo, handId, seats, standing, turn, round, phase, phaseText, gameState, rows } = started;
  const { commitment, transcript, yourStanding } = started;
  const fromOpening = { dealer: opened?.commitment, ruleSet: opened?.ruleSet, settings: opened?.settings };
  const play = { handNo, handId, seats, standing, turn, round, phase, phaseText, gameState };
  const hand = { ...play, commitment, rows, transcript, chain: transcript, ...fromOpening };
  return { ...view, handNo, yourStanding, hand, entropy: undefined };
}

/** @param {HandView | undefined} hand @param {import("../types.js").HandAction} action @returns {HandView | undefined} */
function acted(hand, action) {
  if (!hand) return hand;
  const isVoid = action.decision?.kind === "MOVE_KIND_VOID";
  return {
    ...hand,
    seats: replaced(hand.seats, action.hands),
    standing: action.standing ?? hand.standing,
    turn: action.turn,
    round: action.round,
    phase: action.phase,
    phaseText: action.phaseText,
    calledBy: action.calledBy,
    gameState: action.gameState ?? hand.gameState,
    chain: action.chain || hand.chain,
    roots: action.root ? [...(hand.roots ?? []), action.root] : hand.roots,
    suspension: isVoid && hand.suspension ? agreed(hand.suspension, action.seat ?? 0) : hand.suspension,
  };
}

/** @param {import("../types.js").Suspension} suspension @param {number} seat */
function agreed(suspension, seat) {
  const others = (suspension.agreed ?? []).filter((other) => other !== seat);
  return { ...suspension, agreed: [...others, seat].sort((a, b) => a - b) };
}

/** Cards and ranks as an update has them; the players come with the hand's start alone.
 * @param {HandSeat[] | undefined} seats @param {HandSeat[] | undefined} told */
function replaced(seats, told) {
  if (!told?.length) return seats;
  const news = new Map(told.map((one) => [one.seat, one]));
  const known = (seats ?? []).map((one) => {
    const { cards, rank } = news.get(one.seat) ?? one;
    news.delete(one.seat);
    return { ...one, cards, rank };
  });
  return [...known, ...news.values()];
}

/** @param {TableView} view @param {import("../types.js").HandEnded} ended @returns {TableView} */
function handEnded(view, { settlement, hands, standing }) {
  const stacks = new Map(standing?.seats?.map(({ seat, stackCredits }) => [seat, stackCredits]));
  const seats = view.seats?.map((taken) =>
    stacks.has(taken.seat) ? { ...taken, stackCredits: stacks.get(taken.seat) } : taken,
  );
  const pots = standing && { sabaccPotCredits: standing.sabaccPotCredits, carriedPotCredits: standing.carriedPotCredits };
  const hand = view.hand && {
    ...view.hand,
    seats: replaced(view.hand.seats, hands),
    standing,
    settlement,
    turn: undefined,
    phase: /** @type {const} */ ("HAND_PHASE_OVER"),
  };
  return { ...view, ...pots, seats, hand };
}

/** A hand that came to nothing: everybody has what they had before. @param {TableView} view @param {import("../types.js").HandVoided} gone @returns {TableView} */
function voided(view, { handNo }) {
  return { ...view, entropy: undefined, hand: view.hand?.handNo === handNo ? undefined : view.hand };
}

/** @param {TableView} view @param {import("../types.js").SuspensionChanged} changed @returns {TableView} */
function suspended(view, { handNo, suspension, turn }) {
  const { entropy, hand } = view;
  return {
    ...view,
    entropy: entropy?.handNo === handNo ? { ...entropy, suspension } : entropy,
    hand: hand?.handNo === handNo ? { ...hand, suspension, turn } : hand,
  };
}
