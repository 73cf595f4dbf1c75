// Moves: what a player may decide, in every game. Each has all of these fields; what it does not use is empty.

export const makeMove = (verb, fields = {}) => ({
  verb,
  cards: [],
  amount: 0,
  names: [],
  target: null,
  value: 0,
  ...fields,
});

export const sameMove = (a, b) =>
  a.verb === b.verb &&
  a.amount === b.amount &&
  a.target === b.target &&
  a.value === b.value &&
  a.cards.join() === b.cards.join() &&
  a.names.join() === b.names.join();
