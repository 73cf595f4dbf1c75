//! Corellian Spike: three rounds of actions, dice that may replace every hand, and a ladder of
//! hands that sum to 0.
//!
//! ```text
//! deal, flip ─▶ ( actions ─▶ dice ─▶ redraw? ─▶ betting, in a casino ) three times ─▶ reveal
//! ```
//! The discard pile is open: a single discarded card becomes its top, and whole hands go face down
//! under it.
//!
//! Specification: rules/SPEC.md §14.

mod explain;
pub(crate) mod ladder;
mod showdown;

use crate::cards::{Card, Cards};
use crate::chance::{Chance, Deal, DealReason, Destination, Resolved, RollPurpose};
use crate::deck::C62;
use crate::game::{Game, GameStatus};
use crate::games::GameState;
use crate::games::spike::showdown::Showdown;
use crate::hand_phase::HandPhase;
use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::{Move, MoveKind, actions};
use crate::player::{Player, PlayerSet, Viewer};
use crate::ruleset::{Field, Key, Preset};
use crate::state::{Bets, Core, Turn};
use crate::variant::{PileSpec, RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "spike",
    title: "Corellian Spike",
    source: "the public rules of Corellian Spike: the presets casino and black-spire",
    player_counts: 2..=8,
    deck: &C62,
    piles: &[PileSpec { name: "draw", first: 0, end: 62, open_discards: true }],
    fields: &[
        Field::number(Key::HandAnte, 2),
        Field::number(Key::MaxHandTotal, 0),
        Field::number(Key::MaxPot, 0),
        Field::number(Key::MaxRaise, 0),
        Field::number(Key::MaxRoundTotal, 0),
        Field::number(Key::MinBet, 0),
        Field::text(Key::Preset, &["casino", "black-spire"]),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
        Field::number(Key::SabaccAnte, 2),
        Field::text(Key::SabaccAnteWhen, &["every_hand", "when_empty"]),
    ],
    has_sabacc_pot: true,
    has_carried_pot: false,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: ladder::evaluator,
    open,
    explain: explain::explain,
};

/// State of a hand of Corellian Spike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpikeState {
    /// None before a card is flipped, and where the pile has none.
    pub top_discard: Option<Card>,
}

/// Number of rounds in a hand.
pub(crate) const ROUNDS: u64 = 3;
/// Largest number of cards in a hand.
pub(crate) const MAX_CARDS: usize = 5;

#[derive(Clone)]
struct Spike {
    phase: Phase,
    /// Counts from 1.
    round: u64,
}

#[derive(Clone)]
enum Phase {
    /// The opening hands are being dealt and the first discard flipped.
    Dealing,
    Action(Player),
    /// The action is over; a drawn card, if any, is being dealt.
    AfterAction(Player),
    /// The dice are rolled, and perhaps all hands redrawn.
    Dice,
    Betting(Bets),
    Reveal(Showdown),
}

fn open(core: &mut Core) -> Box<dyn Game> {
    core.take_antes();
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        core.deal(Destination::Player(player), 0, 2, DealReason::OpeningHand);
    }
    core.deal(Destination::Table, 0, 1, DealReason::Flip);
    Box::new(Spike { phase: Phase::Dealing, round: 1 })
}

impl Game for Spike {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &mut self.phase {
            Phase::Dealing => self.start_action(core, core.live.lowest()),
            Phase::Action(player) => core.turn = Turn::Of(*player),
            Phase::AfterAction(player) => {
                let next = core.live.next(*player);
                self.start_action(core, next);
            }
            Phase::Dice if core.rules.preset == Preset::Casino && Bets::can_start(core) => {
                self.phase = Phase::Betting(Bets::new(core));
            }
            Phase::Dice => self.next_round(core),
            Phase::Betting(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    self.next_round(core);
                }
            },
            Phase::Reveal(showdown) => showdown.step(core),
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Dealt {
                deal: Deal { to: Destination::Player(player), reason, .. },
                cards,
            } => {
                core[*player].add_dealt(*reason, cards);
            }
            Resolved::Dealt { deal: Deal { to: Destination::Table, .. }, cards } => {
                cards.iter().for_each(|&card| core.discard(0, card));
            }
            Resolved::Rolled { purpose: _, faces } => {
                if is_pair(faces) {
                    redraw(core);
                }
            }
            Resolved::Shuffled { .. }
            | Resolved::Pulsed(_)
            | Resolved::Picked { .. }
            | Resolved::Sampled { .. } => {}
        }
    }

    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match &self.phase {
            Phase::Action(_) => push_legal_actions(core, player, &mut moves),
            Phase::Betting(bets) => bets.push_legal(core, player, &mut moves),
            Phase::Dealing | Phase::AfterAction(_) | Phase::Dice | Phase::Reveal(_) => {}
        }
        moves
    }

    fn default_move(&self, _: &Core, player: Player) -> Move {
        match &self.phase {
            Phase::Betting(bets) => bets.default_move(player),
            Phase::Dealing
            | Phase::Action(_)
            | Phase::AfterAction(_)
            | Phase::Dice
            | Phase::Reveal(_) => Move::Stand,
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match &mut self.phase {
            Phase::Action(_) => {
                apply_action(core, player, mv);
                self.phase = Phase::AfterAction(player);
                core.finish_if_folded();
            }
            Phase::Betting(bets) => {
                bets.act(core, player, mv);
                core.finish_if_folded();
            }
            Phase::Dealing | Phase::AfterAction(_) | Phase::Dice | Phase::Reveal(_) => {}
        }
    }

    /// Nothing is hidden: single discards lie face up.
    fn is_hidden(&self, _: MoveKind) -> bool {
        false
    }

    fn status(&self) -> GameStatus<'_> {
        let (phase, bets) = match &self.phase {
            Phase::Dealing => (HandPhase::Deal, None),
            Phase::Action(_) | Phase::AfterAction(_) => (HandPhase::Play, None),
            Phase::Dice => (HandPhase::Dice, None),
            Phase::Betting(bets) => (HandPhase::Betting, Some(bets)),
            Phase::Reveal(_) => (HandPhase::Reveal, None),
        };
        GameStatus { phase, round: self.round, bets, called_by: None }
    }

    fn state(&self, core: &Core, _: Viewer) -> GameState {
        GameState::Spike(SpikeState { top_discard: core.piles[0].top_discard() })
    }
}

impl Spike {
    fn start_action(&mut self, core: &mut Core, player: Option<Player>) {
        match player {
            Some(player) => self.phase = Phase::Action(player),
            None => {
                let sides = [6, 6].into_iter().collect();
                core.request(Chance::Roll { sides, purpose: RollPurpose::Shift });
                self.phase = Phase::Dice;
            }
        }
    }

    fn next_round(&mut self, core: &mut Core) {
        if self.round >= ROUNDS {
            self.phase = Phase::Reveal(Showdown::new(core));
        } else {
            self.round += 1;
            self.start_action(core, core.live.lowest());
        }
    }
}

actions! {
    /// The action of a turn.
    Action { Gain(discarded: Option<Card>), Swap(card: Card), Stand, Junk }
}

fn push_legal_actions(core: &Core, player: Player, moves: &mut LegalMoves) {
    let cards = &core[player].cards;
    let can_draw = core.piles[0].available() > 0;
    if can_draw && cards.len() < MAX_CARDS {
        moves.push(Legal::new(MoveKind::Gain, Choices::OptionalCard(Cards::new())));
    }
    if can_draw && !cards.is_empty() {
        moves.push(Legal::new(MoveKind::Gain, Choices::OptionalCard(cards.clone())));
    }
    if core.piles[0].top_discard().is_some() && !cards.is_empty() {
        moves.push(Legal::card(MoveKind::Swap, cards.clone()));
    }
    moves.push(Legal::plain(MoveKind::Stand));
    moves.push(Legal::plain(MoveKind::Junk));
}

fn apply_action(core: &mut Core, player: Player, mv: &Move) {
    match Action::of(mv) {
        Action::Gain(discarded) => {
            if let Some(card) = discarded {
                core[player].cards.retain(|held| *held != card);
                core.discard(0, card);
            }
            core.deal(Destination::Player(player), 0, 1, DealReason::Draw);
        }
        Action::Swap(card) => {
            let top = core.piles[0].take_top_discard();
            core[player].cards.retain(|held| *held != card);
            core[player].cards.extend(top);
            core.discard(0, card);
        }
        Action::Junk => core.fold(player),
        Action::Stand => {}
    }
}

fn is_pair(faces: &[u8]) -> bool {
    matches!(faces, [a, b] if a == b)
}

/// Puts every live player's hand under the discards, then deals as many new cards to each.
fn redraw(core: &mut Core) {
    let live: PlayerSet = core.live;
    let mut counts = [0; 8];
    for player in live.iter() {
        let hand: Cards = std::mem::take(&mut core[player].cards);
        counts[player.index()] = hand.len();
        core.discard_hand(0, &hand);
    }
    for player in live.iter() {
        core.deal(Destination::Player(player), 0, counts[player.index()], DealReason::Shift);
    }
}
