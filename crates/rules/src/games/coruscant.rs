//! Coruscant Shift: dice name a target and a suit, and each player selects part of the hand for
//! them.
//!
//! ```text
//! deal five ─▶ dice ─▶ select ─▶ betting ─▶ redraw the rest ─▶ betting ─▶ add ─▶ reveal
//! ```
//! Selected and added cards lie face down until the reveal; their number is public. A selection is
//! a set of cards, so the hand keeps the order in which its cards came.
//!
//! Specification: rules/SPEC.md §15.

mod explain;
pub(crate) mod worth;

use crate::cards::{CardSet, Cards};
use crate::chance::{Chance, Deal, DealReason, Destination, Resolved, RollPurpose};
use crate::deck::C62;
use crate::game::{Game, GameStatus};
use crate::games::GameState;
use crate::games::coruscant::worth::{Target, Worth};
use crate::games::settling;
use crate::hand_phase::HandPhase;
use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::{Move, MoveKind};
use crate::player::{Player, PlayerSet, Viewer};
use crate::rank::Rank;
use crate::ruleset::{Field, Key};
use crate::state::{Bets, Core, Ranks, Turn};
use crate::variant::{PileSpec, RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "coruscant",
    title: "Coruscant Shift",
    source: "the public rules of Coruscant Shift, with the same pack as Corellian Spike",
    player_counts: 2..=6,
    deck: &C62,
    piles: &[PileSpec { name: "draw", first: 0, end: 62, open_discards: false }],
    fields: &[
        Field::number(Key::HandAnte, 5),
        Field::number(Key::MaxHandTotal, 0),
        Field::number(Key::MaxPot, 0),
        Field::number(Key::MaxRaise, 0),
        Field::number(Key::MaxRoundTotal, 0),
        Field::number(Key::MinBet, 0),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
    ],
    has_sabacc_pot: false,
    has_carried_pot: false,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: worth::evaluator,
    open,
    explain: explain::explain,
};

/// State of a hand of Coruscant Shift as one viewer may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoruscantState {
    /// None before the dice are rolled.
    pub target: Option<Target>,
    /// Selections of the live players who have made one, p1 first.
    pub selections: Vec<Selection>,
}

/// A player's selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub player: Player,
    /// Number of cards, added ones included.
    pub count: u8,
    /// The cards in the order held, for a viewer who knows which they are; else none.
    pub cards: Cards,
}

/// Number of cards of a full hand.
pub(crate) const HAND_SIZE: u8 = 5;

#[derive(Clone)]
struct Coruscant {
    phase: Phase,
    target: Option<Target>,
    selected: [CardSet; 8],
    /// Players who have selected.
    have_selected: PlayerSet,
}

#[derive(Clone)]
enum Phase {
    /// The hands are being dealt and the dice rolled, or the next player is to select.
    BeforeSelect,
    Select(Player),
    FirstBets(Bets),
    /// The new cards are being dealt.
    Redraw,
    SecondBets(Bets),
    Add(Player),
}

fn open(core: &mut Core) -> Box<dyn Game> {
    core.take_antes();
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        core.deal(Destination::Player(player), 0, usize::from(HAND_SIZE), DealReason::OpeningHand);
    }
    core.request(Chance::Roll {
        sides: [6, 6].into_iter().collect(),
        purpose: RollPurpose::Target,
    });
    Box::new(Coruscant {
        phase: Phase::BeforeSelect,
        target: None,
        selected: [CardSet::EMPTY; 8],
        have_selected: PlayerSet::EMPTY,
    })
}

impl Game for Coruscant {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &self.phase {
            Phase::BeforeSelect => match core.live.minus(self.have_selected).lowest() {
                Some(player) => self.phase = Phase::Select(player),
                None if Bets::can_start(core) => self.phase = Phase::FirstBets(Bets::new(core)),
                None => self.redraw(core),
            },
            Phase::Select(player) | Phase::Add(player) => core.turn = Turn::Of(*player),
            Phase::FirstBets(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    self.redraw(core);
                }
            },
            Phase::Redraw if Bets::can_start(core) => {
                self.phase = Phase::SecondBets(Bets::new(core))
            }
            Phase::Redraw => self.next_addition(core),
            Phase::SecondBets(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    self.next_addition(core);
                }
            },
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Dealt { deal: Deal { to: Destination::Player(player), .. }, cards } => {
                core[*player].cards.extend_from_slice(cards);
            }
            Resolved::Rolled { purpose: _, faces } => self.target = Target::of(faces),
            Resolved::Dealt { deal: Deal { to: Destination::Table, .. }, cards: _ }
            | Resolved::Shuffled { .. }
            | Resolved::Pulsed(_)
            | Resolved::Picked { .. }
            | Resolved::Sampled { .. } => {}
        }
    }

    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match &self.phase {
            Phase::Select(_) => {
                let cards = core[player].cards.clone();
                let max = u8::try_from(cards.len()).unwrap_or(HAND_SIZE);
                moves.push(Legal::new(MoveKind::Select, Choices::Cards { cards, min: 1, max }));
            }
            Phase::FirstBets(bets) | Phase::SecondBets(bets) => {
                bets.push_legal(core, player, &mut moves);
            }
            Phase::Add(_) => {
                let unselected = Choices::AnyCards(self.unselected(core, player));
                moves.push(Legal::new(MoveKind::Add, unselected));
            }
            Phase::BeforeSelect | Phase::Redraw => {}
        }
        moves
    }

    fn default_move(&self, core: &Core, player: Player) -> Move {
        match &self.phase {
            Phase::FirstBets(bets) | Phase::SecondBets(bets) => bets.default_move(player),
            Phase::Select(_) => Move::Select(core[player].cards.clone()),
            Phase::BeforeSelect | Phase::Redraw | Phase::Add(_) => Move::Add(Cards::new()),
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match &mut self.phase {
            Phase::Select(_) => {
                self.select(player, mv);
                self.have_selected = self.have_selected.with(player);
                self.phase = Phase::BeforeSelect;
            }
            Phase::FirstBets(bets) | Phase::SecondBets(bets) => {
                bets.act(core, player, mv);
                core.finish_if_folded();
            }
            Phase::Add(_) => {
                self.select(player, mv);
                self.discard_unselected(core, player);
                self.next_addition(core);
            }
            Phase::BeforeSelect | Phase::Redraw => {}
        }
    }

    fn is_hidden(&self, kind: MoveKind) -> bool {
        matches!(kind, MoveKind::Select | MoveKind::Add)
    }

    fn status(&self) -> GameStatus<'_> {
        let (phase, round, bets) = match &self.phase {
            Phase::BeforeSelect if self.target.is_none() => (HandPhase::Deal, 1, None),
            Phase::BeforeSelect | Phase::Select(_) => (HandPhase::Select, 1, None),
            Phase::FirstBets(bets) => (HandPhase::Betting, 1, Some(bets)),
            Phase::Redraw => (HandPhase::Redraw, 2, None),
            Phase::SecondBets(bets) => (HandPhase::Betting, 2, Some(bets)),
            Phase::Add(_) => (HandPhase::Add, 2, None),
        };
        GameStatus { phase, round, bets, called_by: None }
    }

    fn state(&self, core: &Core, viewer: Viewer) -> GameState {
        let selection = |player: Player| {
            let selected = self.selected[player.index()];
            let is_own = viewer == Viewer::Auditor || viewer == Viewer::Player(player);
            let held = core[player].cards.iter().copied();
            Selection {
                player,
                count: u8::try_from(selected.len()).unwrap_or(u8::MAX),
                cards: held.filter(|&card| is_own && selected.contains(card)).collect(),
            }
        };
        GameState::Coruscant(CoruscantState {
            target: self.target,
            selections: self.have_selected.intersection(core.live).iter().map(selection).collect(),
        })
    }
}

impl Coruscant {
    fn select(&mut self, player: Player, mv: &Move) {
        let selected = &mut self.selected[player.index()];
        *selected = selected.union(mv.arguments().cards().iter().copied().collect());
    }

    /// Cards that the player holds and has not selected.
    fn unselected(&self, core: &Core, player: Player) -> Cards {
        let selected = self.selected[player.index()];
        core[player].cards.iter().copied().filter(|&card| !selected.contains(card)).collect()
    }

    /// Discards the cards that the player has not selected. Returns their number.
    fn discard_unselected(&self, core: &mut Core, player: Player) -> usize {
        let (rest, selected) = (self.unselected(core, player), self.selected[player.index()]);
        core[player].cards.retain(|card| selected.contains(*card));
        core.discard_hand(0, &rest);
        rest.len()
    }

    /// Discards the rest of every hand before the first new card is dealt.
    fn redraw(&mut self, core: &mut Core) {
        let mut counts = [0; 8];
        for player in core.live.iter() {
            counts[player.index()] = self.discard_unselected(core, player);
        }
        for player in core.live.iter() {
            core.deal(Destination::Player(player), 0, counts[player.index()], DealReason::Shift);
        }
        self.phase = Phase::Redraw;
    }

    /// Asks the next player with new cards to add some, or reveals. Players without new cards are
    /// not asked.
    fn next_addition(&mut self, core: &mut Core) {
        let asked = core.live.iter().find(|&player| !self.unselected(core, player).is_empty());
        match asked {
            Some(player) => self.phase = Phase::Add(player),
            None => self.reveal(core),
        }
    }

    fn reveal(&self, core: &mut Core) {
        let Some(target) = self.target else { return };
        core.shown = core.live;
        let mut worth = [None; 8];
        let mut ranks = Ranks::default();
        for player in core.all_players().iter() {
            let live = core.live.contains(player);
            let own = live.then(|| Worth::of(&core[player].cards, target));
            worth[player.index()] = own.map(Worth::strength);
            ranks[player.index()] = Some(own.map_or(Rank::Folded, Rank::from));
        }
        let winners = settling::award_layers(core, |player| worth[player.index()]);
        core.finish(winners, &ranks);
    }
}
