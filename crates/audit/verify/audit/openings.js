// Every card that the dealer opened: to whom, why, when, and whether the rules wanted it. Anything else is a card that
// somebody looked at.

import { CLOCK_SKEW, failed, hold, timeText } from "./case.js";

const [DEAL, RULE, SHOW, RECOVERY] = [1, 2, 3, 4];
const nameOf = ({ op, position }) => `${op}:${position}`;
const to = (audience) => (audience === 0 ? "to everybody" : `to seat ${audience}`);

export function checkOpenings(records, walk, notes) {
  walk.judge("openings");
  const { aborted } = records;
  const shown = new Set([...(walk.end?.shown.values() ?? [])].flat().map((card) => nameOf(walk.places.of(card))));
  const called = new Map();
  for (const { places, audience, since, done } of walk.deals) {
    for (const place of places) {
      const name = nameOf(place);
      called.set(name, { audience, since, opened: false, done, shown: shown.has(name) ? false : null });
    }
  }
  const callers = new Set();
  for (const record of records.dealer.filter(({ name, keptBack }) => name === "CardsOpened" && !keptBack)) {
    const { opening, caller } = record.event;
    callers.add(caller);
    hold(opening, "an opening without content");
    const told = (what) =>
      `position ${record.position} of the dealer's log, ${timeText(record.time)}: ${caller} had ${opening.cards.map(nameOf).join(" ")} opened ${to(opening.audience_seat)}, ${what}`;
    for (const card of opening.cards) {
      const wrong = checkOpening(called.get(nameOf(card)), opening, record.time, walk.end?.at);
      if (wrong) throw failed(told(wrong));
    }
    if (opening.cards.length === 0 && ![DEAL, RULE, SHOW, RECOVERY].includes(opening.reason)) continue;
    if (opening.reason === RECOVERY) notes.push(told("after a loss of memory"));
  }
  if (callers.size > 1) notes.push(`Cards were opened for more than one caller: ${[...callers].sort().join(", ")}.`);
  for (const [name, card] of called) {
    // What was due when a hand was aborted need not have been done.
    const owed = card.done && (!card.opened || (card.shown === false && !aborted));
    hold(!owed, () => `card ${name} was dealt or shown, and never opened for it`);
  }
}

// What is wrong with the opening of one card, or null.
function checkOpening(card, { audience_seat: audience, reason }, time, endAt) {
  const early = (since) => (time + CLOCK_SKEW >= since ? null : `before the hand came so far, at ${timeText(since)}`);
  if (![DEAL, RULE, SHOW, RECOVERY].includes(reason)) return "for no reason";
  if (reason === SHOW) {
    if (!card || card.shown === null || audience !== 0) return "which the rules do not show";
    if (card.shown) return "a second time";
    card.shown = true;
    return early(endAt);
  }
  if (!card) return "which the rules do not deal";
  if (reason === RECOVERY) {
    // What lies open may be told to anybody again.
    if (card.audience !== audience && card.audience !== 0) return `which the rules deal ${to(card.audience)}`;
    return card.opened ? null : "again, and it had not been opened before";
  }
  if (card.audience !== audience || (reason === RULE) !== (audience === 0))
    return `which the rules deal ${to(card.audience)}`;
  if (card.opened) return "a second time";
  card.opened = true;
  return early(card.since);
}
