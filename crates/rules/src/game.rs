//! What a variant must know: a state machine over the shared table state.
//!
//! The hand calls `step` whenever nothing is due; the game then makes something due: it queues uses of
//! chance, gives a player the turn, or finishes. It gets every outcome and every decision back, checked.
//! A decision ends the turn; a game that wants the same player again says so in its next `step`.
//!
//! | to… | a game… |
//! |---|---|
//! | take antes | calls `core.take_antes()` in its `open`, or `core.pay_pot` for each player |
//! | start or restart a pack | `core.fresh_shuffle(pile)`, then deals |
//! | deal | `core.deal`, `deal_from_each`, `deal_until`; gets the cards in `chance` and puts them into `core[player].cards`, or `extra` where they only lie beside the hand |
//! | take cards back | removes them from the hand, then `core.discard`, `core.bury` or `core.shuffle_in` |
//! | ask for dice | `core.expect(Chance::Roll { .. })` |
//! | give a player the turn | sets `core.turn = Turn::Of(player)` in `step` |
//! | hold a betting round | keeps a `Bets`: `held`, `new`, `legal`, `act`; after `act` asks `core.ends_by_folds()`, and calls `core.return_uncalled()` when the round is over |
//! | show hands | adds their players to `core.shown` |
//! | settle | `core.layers()`, then `award`, `move_layer` or `carry_layer` for each, main first; `award_sabacc`; `finish` |

use crate::chance::{Chance, Outcome};
use crate::legal::LegalMoves;
use crate::moves::Move;
use crate::player::{Player, Viewer};
use crate::state::{Bets, Core};

/// Public or private facts of one variant, by name.
pub(crate) type Facts = Vec<(String, String)>;

pub(crate) trait Game: Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Game>;

    /// Nothing is due: make something due. Called again until it is.
    fn step(&mut self, core: &mut Core);

    /// The first use of chance came out so. The piles know already; hands do not.
    fn chance(&mut self, core: &mut Core, due: &Chance, outcome: &Outcome);

    /// What `player`, whose turn it is, may do; never nothing.
    fn legal(&self, core: &Core, player: Player) -> LegalMoves;

    /// What the clock or leaving decides for him; one of the legal moves.
    fn default(&self, core: &Core, player: Player) -> Move;

    /// A legal move of the player whose turn it was.
    fn moved(&mut self, core: &mut Core, player: Player, mv: &Move);

    /// Somebody left. Games in which that changes nothing but his later decisions have nothing to do.
    fn left(&mut self, core: &mut Core, player: Player) {
        let (_, _) = (core, player);
    }

    /// Whether what the move names stays between its player and the table.
    fn hides(&self, mv: &Move) -> bool {
        matches!(mv, Move::Trade(_))
    }

    fn glance(&self) -> Glance<'_>;

    /// What else `viewer` may know, such as announced totals.
    fn facts(&self, core: &Core, viewer: Viewer, facts: &mut Facts) {
        let (_, _, _) = (core, viewer, facts);
    }
}

/// Where a game stands, for everybody.
pub(crate) struct Glance<'a> {
    pub(crate) phase: &'static str,
    /// From 1; 0 before the first.
    pub(crate) round: u64,
    /// The betting round that is on.
    pub(crate) bets: Option<&'a Bets>,
    pub(crate) called_by: Option<Player>,
}
