//! One hand, as a pure machine.
//!
//! At any time it says what it waits for: chance, a decision, or nothing more. [`decide`] and
//! [`resolve_chance`] check an input and change nothing. [`evolve`] cannot fail for an event that
//! they returned on the same state. The same events over the same setup give the same hand: there
//! is no clock, no randomness and no other memory. Players are p1, p2 … in the order of play; who
//! they are and on which seats is not known here.
//!
//! ```text
//! Hand::try_new ─▶ next ─▶ Chance ──▶ the shoe answers ─▶ resolve_chance ─▶ Event ─▶ evolve ─┐
//!                   ▲  └─▶ Decision ─▶ a player answers ─▶ decide ─────────▶ Event ─▶ evolve ─┤
//!                   │  └─▶ Done(settlement)                                                   │
//!                   └─────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Specification: rules/SPEC.md §6.1, §6.3.

use std::borrow::Borrow;
use std::fmt;

use primitives::Credits;

use crate::cards::Card;
use crate::chance::{Chance, Outcome};
use crate::event::{DecisionAuthor, Event};
use crate::game::Game;
use crate::legal::{LegalMoves, with_first_copies};
use crate::moves::Move;
use crate::player::{Player, PlayerSet};
use crate::refusal::Refusal;
use crate::ruleset::RuleSet;
use crate::settlement::{Settlement, SettlementItem};
use crate::setup::{Setup, SetupError};
use crate::state::{Core, Turn};

/// State of one hand.
pub struct Hand {
    pub(crate) core: Core,
    pub(crate) game: Box<dyn Game>,
}

/// Input that a hand waits for.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "short-lived: a box would cost an allocation a turn")]
pub enum Next<'a> {
    /// Uses of chance that are due whatever the earlier ones give, in order; never empty. Each is
    /// answered by one event.
    Chance(&'a [Chance]),
    Decision(Decision),
    Done(&'a Settlement),
}

/// A decision that is due.
#[derive(Debug)]
pub struct Decision {
    pub player: Player,
    /// Never empty; `leave` is legal too and not listed here.
    pub legal: LegalMoves,
    /// The move that the clock takes, and that leaving implies.
    pub default: Move,
}

impl Hand {
    /// Starts a hand: takes the antes.
    ///
    /// # Errors
    /// If the setup breaks a rule.
    pub fn try_new(setup: impl Borrow<Setup>) -> Result<Hand, SetupError> {
        let setup = setup.borrow();
        let count = setup.check()?;
        let mut core = Core::new(setup, count);
        let game = (setup.rules.variant().open)(&mut core);
        let mut hand = Hand { core, game };
        hand.run_until_due();
        Ok(hand)
    }

    #[must_use]
    pub const fn rules(&self) -> &RuleSet {
        &self.core.rules
    }

    /// The first use of chance that is due. Cheaper than [`next`].
    #[must_use]
    pub fn due(&self) -> Option<&Chance> {
        self.core.due().first()
    }

    /// The player whose decision is due. Cheaper than [`next`].
    #[must_use]
    pub fn to_act(&self) -> Option<Player> {
        match self.core.turn {
            Turn::Of(player) if self.core.due().is_empty() => Some(player),
            Turn::Of(_) | Turn::Open | Turn::Over => None,
        }
    }

    /// The settlement; none while the hand goes on.
    #[must_use]
    pub fn settlement(&self) -> Option<&Settlement> {
        self.core.settlement()
    }

    /// Settlement lines so far.
    #[must_use]
    pub fn lines(&self) -> &[SettlementItem] {
        self.core.lines()
    }

    pub fn players(&self) -> impl Iterator<Item = Player> {
        self.core.all_players().iter()
    }

    /// Stacks, p1 first.
    pub fn stacks(&self) -> impl Iterator<Item = Credits> {
        self.core.players().iter().map(|place| place.stack)
    }

    /// Players who are neither folded nor out.
    #[must_use]
    pub const fn live(&self) -> PlayerSet {
        self.core.live
    }

    /// Players who left in this hand.
    #[must_use]
    pub const fn leavers(&self) -> PlayerSet {
        self.core.leavers
    }

    /// Sum of stacks, pots and rake: equal at every event.
    #[must_use]
    pub fn total(&self) -> Credits {
        self.core.total()
    }

    /// A player's hand in the order it is held, with hidden cards: for the table, not for viewers.
    #[must_use]
    pub fn cards_of(&self, player: Player) -> &[Card] {
        self.core.players().get(player.index()).map_or(&[], |place| &place.cards)
    }

    /// Whether everybody has seen this player's hand.
    #[must_use]
    pub const fn is_shown(&self, player: Player) -> bool {
        self.core.shown.contains(player)
    }

    /// Lets the game go on until something is due, and takes the defaults of players who left.
    fn run_until_due(&mut self) {
        while self.core.due().is_empty() {
            match self.core.turn {
                Turn::Over => return,
                Turn::Of(player) if self.core.leavers.contains(player) => {
                    let mv = self.game.default_move(&self.core, player);
                    self.core.turn = Turn::Open;
                    self.game.apply_move(&mut self.core, player, &mv);
                }
                Turn::Of(_) => return,
                Turn::Open => self.game.step(&mut self.core),
            }
        }
    }
}

impl Clone for Hand {
    fn clone(&self) -> Hand {
        Hand { core: self.core.clone(), game: self.game.boxed_clone() }
    }
}

/// Shows no cards.
impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let glance = self.game.status();
        f.debug_struct("Hand")
            .field("variant", &self.core.rules.variant())
            .field("phase", &glance.phase.name())
            .field("round", &glance.round)
            .field("turn", &self.core.turn)
            .finish_non_exhaustive()
    }
}

/// The input that the hand waits for.
#[must_use]
pub fn next(hand: &Hand) -> Next<'_> {
    if !hand.core.due().is_empty() {
        return Next::Chance(hand.core.due());
    }
    match (hand.core.turn, hand.core.settlement()) {
        (_, Some(settlement)) => Next::Done(settlement),
        (Turn::Of(player), None) => Next::Decision(Decision {
            player,
            legal: hand.game.legal_moves(&hand.core, player),
            default: hand.game.default_move(&hand.core, player),
        }),
        (Turn::Open | Turn::Over, None) => unreachable!("a hand runs until something is due"),
    }
}

/// Checks a decision. [`Move::Leave`] is legal whenever any decision is due, once for each player.
/// Of copies that are alike the event names the one held longest, whichever the move names.
///
/// # Errors
/// If it is not this player's turn, or the move is not legal.
pub fn decide(hand: &Hand, player: Player, mv: Move, by: DecisionAuthor) -> Result<Event, Refusal> {
    let core = &hand.core;
    if core.settlement().is_some() {
        return Err(Refusal::HandOver);
    }
    if let Some(due) = hand.due() {
        return Err(Refusal::ChanceDue { due: due.kind() });
    }
    if !core.all_players().contains(player) {
        return Err(Refusal::NoSuchPlayer { player });
    }
    if core.leavers.contains(player) {
        return Err(Refusal::AlreadyLeft { player });
    }
    if mv == Move::Leave {
        return Ok(Event::Decided { player, mv, author: by });
    }
    let to_act = hand.to_act().ok_or(Refusal::HandOver)?;
    if to_act != player {
        return Err(Refusal::NotYourTurn { to_act });
    }
    let legal = hand.game.legal_moves(core, player);
    let mv = with_first_copies(mv, &legal, core.rules.variant().deck);
    if legal.iter().any(|legal| legal.allows(&mv)) {
        Ok(Event::Decided { player, mv, author: by })
    } else {
        Err(Refusal::of(&mv, &legal))
    }
}

/// Checks an outcome against the first use of chance that is due.
///
/// # Errors
/// If none is due, another kind is due, or the outcome is impossible.
pub fn resolve_chance(hand: &Hand, outcome: Outcome) -> Result<Event, Refusal> {
    let Some(due) = hand.due() else {
        return Err(match hand.to_act() {
            Some(to_act) => Refusal::DecisionDue { to_act },
            None => Refusal::HandOver,
        });
    };
    match (due, &outcome) {
        (Chance::Deal(deal), Outcome::Cards(cards)) => hand.core.check_deal(deal, cards)?,
        (due, outcome) => due.check(outcome)?,
    }
    Ok(Event::Chance(outcome))
}

/// Applies an event that [`decide`] or [`resolve_chance`] returned for this very state.
pub fn evolve(hand: &mut Hand, event: &Event) {
    match event {
        Event::Decided { player, mv: Move::Leave, .. } => {
            hand.core.leavers = hand.core.leavers.with(*player);
            hand.game.apply_leave(&mut hand.core, *player);
        }
        Event::Decided { player, mv, .. } => {
            hand.core.turn = Turn::Open;
            hand.game.apply_move(&mut hand.core, *player, mv);
        }
        Event::Chance(outcome) => {
            let due = hand.core.take_due();
            if let Some(resolved) = due.resolved(outcome) {
                hand.core.apply_outcome(resolved);
                hand.game.apply_outcome(&mut hand.core, resolved);
            }
        }
    }
    hand.run_until_due();
}
