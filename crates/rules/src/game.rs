//! Interface of a variant: a state machine over the table state that all variants share.
//!
//! The hand calls `step` whenever nothing is due. The game then makes something due: it queues uses
//! of chance, gives a player the turn, or finishes the hand. It receives every outcome and every
//! decision, checked. A decision ends the turn; a game that wants another decision of the same
//! player gives that player the turn in its next `step`.
//!
//! A game calls these:
//!
//! - Antes: `core.take_antes()` in the variant's `open`, or `core.pay_pot` for each player.
//! - To start or restart a pack: `core.fresh_shuffle(pile)`, and then a deal.
//! - To deal: `core.deal`, `deal_from_each` or `deal_until`. The cards come in
//!   `apply_outcome`, and the game puts them into `core[player].cards`, or into `extra` if they
//!   only lie beside the hand.
//! - To take cards back: it removes them from the hand, then calls `core.discard`,
//!   `core.discard_hand` or `core.shuffle_in`.
//! - To ask for dice: `core.request(Chance::Roll { .. })`.
//! - To give a player the turn: it sets `core.turn = Turn::Of(player)` in `step`.
//! - To hold a betting round: it keeps a `Bets` and uses its `can_start`, `new`, `push_legal` and
//!   `act`; after `act` it calls `core.finish_if_folded()`, and at the end of the round
//!   `core.return_uncalled()`.
//! - To show hands: it adds their players to `core.shown`.
//! - To settle: `core.cut_layers()`, then `award`, `move_layer` or `carry_layer` for each, main
//!   first; then `award_sabacc` and `finish`.

use crate::chance::Resolved;
use crate::games::GameState;
use crate::hand_phase::HandPhase;
use crate::legal::LegalMoves;
use crate::moves::{Move, MoveKind};
use crate::player::{Player, Viewer};
use crate::state::{Bets, Core};

/// State machine of one variant.
pub(crate) trait Game: Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Game>;

    /// Makes something due when nothing is. Called again until something is due or the hand is
    /// over.
    fn step(&mut self, core: &mut Core);

    /// Applies the first use of chance with its outcome. The piles have changed already; hands have
    /// not.
    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>);

    /// Legal moves of `player`, who has the turn; never empty.
    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves;

    /// Move that the clock takes for `player`, or that leaving implies; one of the legal moves.
    fn default_move(&self, core: &Core, player: Player) -> Move;

    /// Applies a legal move of the player who had the turn.
    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move);

    /// Applies a player's leaving. Does nothing by default, for games in which it changes only the
    /// leaver's later decisions.
    fn apply_leave(&mut self, core: &mut Core, player: Player) {
        let (_, _) = (core, player);
    }

    /// Whether the contents of a move of this kind are known to its player alone.
    fn is_hidden(&self, kind: MoveKind) -> bool {
        kind == MoveKind::Trade
    }

    /// Public state that every game has.
    fn status(&self) -> GameStatus<'_>;

    /// State that only this game has, as `viewer` may know it. The only place that makes it.
    fn state(&self, core: &Core, viewer: Viewer) -> GameState;
}

/// Public state that every game has.
pub(crate) struct GameStatus<'a> {
    pub(crate) phase: HandPhase,
    /// Counts from 1; 0 before the first round.
    pub(crate) round: u64,
    /// The betting round in progress.
    pub(crate) bets: Option<&'a Bets>,
    pub(crate) called_by: Option<Player>,
}
