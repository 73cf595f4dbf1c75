// The games by their ids: a drawing module for each.

import { coruscant } from "./coruscant.js";
import { dice } from "./dice.js";
import { electronic } from "./electronic.js";
import { eleven } from "./eleven.js";
import { force } from "./force.js";
import { kessel } from "./kessel.js";
import { spike } from "./spike.js";
import { swg } from "./swg.js";

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

/** @type {Record<string, Game>} */
export const GAMES = { coruscant, dice, electronic, eleven, force, kessel, spike, swg };

/** Drawing of a game that this page does not know: its cards, pots and moves are drawn all the same. @type {Game} */
export const UNKNOWN = { deck: "", title: "Sabacc", centre: () => [], badges: () => [], hint: () => "", chance: () => null };
