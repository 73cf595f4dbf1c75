// The games by their ids: a drawing module for each, loaded when a table of the game is shown.

/** Drawing module of a game: what the middle of the felt, the seats and one's own hand show that only this game has.
 * @typedef {object} Game
 * @property {string} deck
 * @property {string} title
 * @property {(context: Context) => Node[]} centre Things in the middle of the felt.
 * @property {(context: Context, seat: number) => {text: string, tone?: string, title?: string}[]} badges Marks of a seat.
 * @property {(context: Context, codes: string[]) => string} hint What one's own hand is worth, in words.
 * @property {(context: Context, action: import("../../../types.js").HandAction) => ({text: string, tone?: string} | null)} chance A use of chance in words; null: nothing to say.
 * @property {((context: Context, seat: number) => Node[])} [extra] Things beside one's own hand.
 */
/** @typedef {import("../context.js").Context} Context */

/** @type {Record<string, () => Promise<Game>>} */
const LOADERS = {
  coruscant: async () => (await import("./coruscant.js")).coruscant,
  dice: async () => (await import("./dice.js")).dice,
  electronic: async () => (await import("./electronic.js")).electronic,
  eleven: async () => (await import("./eleven.js")).eleven,
  force: async () => (await import("./force.js")).force,
  kessel: async () => (await import("./kessel.js")).kessel,
  spike: async () => (await import("./spike.js")).spike,
  swg: async () => (await import("./swg.js")).swg,
};

/** Loads the drawing of a game. @param {string} variant @returns {Promise<Game>} */
export async function loadGame(variant) {
  return (await LOADERS[variant]?.()) ?? UNKNOWN;
}

/** Drawing of a game that this page does not know: its cards, pots and moves are drawn all the same. @type {Game} */
export const UNKNOWN = { deck: "", title: "Sabacc", centre: () => [], badges: () => [], hint: () => "", chance: () => null };
