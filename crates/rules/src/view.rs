//! Views: the only code that shows cards to anybody.
//!
//! Viewers see their own hand, what lies face up, and hands shown at the reveal; the auditor sees
//! all.
//!
//! Specification: rules/SPEC.md §3.5.

use primitives::{Credits, SeatNo};
use smallvec::SmallVec;

use crate::cards::Card;
use crate::games::GameState;
use crate::hand::Hand;
use crate::hand_phase::HandPhase;
use crate::player::{Player, Viewer};
use crate::rank::Rank;

/// A hand as one viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// p1 first.
    pub players: Vec<PlayerView>,
    pub hand_pot: Credits,
    pub sabacc_pot: Credits,
    pub carried_pot: Credits,
    /// The cycle, lap or round, from 1.
    pub round: u64,
    pub phase: HandPhase,
    pub to_act: Option<Player>,
    /// The total in this betting round that is to be matched.
    pub to_match: Credits,
    pub called_by: Option<Player>,
    /// State that only this game has.
    pub game: GameState,
}

/// State of one player as one viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerView {
    pub seat: SeatNo,
    pub stack: Credits,
    /// Contribution to the Hand Pot in this hand.
    pub contribution: Credits,
    /// Contribution in this betting round.
    pub in_round: Credits,
    pub status: Status,
    /// Whether the player left in mid-hand: every decision from then on is the default.
    pub has_left: bool,
    /// The hand, newest card last.
    pub cards: SmallVec<[CardView; 8]>,
    /// Demise, tie and blind cards beside the hand.
    pub extra: SmallVec<[Card; 4]>,
    /// Set once the hand is over, if the hand was shown or folded.
    pub rank: Option<Rank>,
}

/// Standing of a player in the hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Live,
    /// Live without credits to bet.
    AllIn,
    /// Folded, eliminated or gone: no longer in the hand.
    Out,
}

/// A card in somebody's hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardView {
    /// The card; none if it is hidden from this viewer.
    pub card: Option<Card>,
    /// Whether the card lies face up for everybody: locked in the field.
    pub locked: bool,
}

/// The hand as `viewer` may see it.
#[must_use]
pub fn view(hand: &Hand, viewer: Viewer) -> View {
    let core = &hand.core;
    let glance = hand.game.status();
    let in_round = |player| glance.bets.map_or(Credits::ZERO, |bets| bets.paid(player));
    View {
        players: core
            .all_players()
            .iter()
            .map(|player| PlayerView {
                in_round: in_round(player),
                ..player_view(hand, player, viewer)
            })
            .collect(),
        hand_pot: core.hand_pot,
        sabacc_pot: core.sabacc_pot,
        carried_pot: core.carried_pot,
        round: glance.round,
        phase: if hand.settlement().is_some() { HandPhase::Over } else { glance.phase },
        to_act: hand.to_act(),
        to_match: glance.bets.map_or(Credits::ZERO, |bets| bets.highest()),
        called_by: glance.called_by,
        game: game_state(hand, viewer),
    }
}

/// State that only this game has, as `viewer` may know it.
#[must_use]
pub fn game_state(hand: &Hand, viewer: Viewer) -> GameState {
    hand.game.state(&hand.core, viewer)
}

/// Whether `viewer` sees other cards in or beside somebody's hand after than before.
#[must_use]
pub fn cards_differ(before: &Hand, after: &Hand, viewer: Viewer) -> bool {
    let (before, after) = ((before, viewer), (after, viewer));
    let cards = |(hand, viewer), player| {
        let PlayerView { cards, extra, .. } = player_view(hand, player, viewer);
        (cards, extra)
    };
    before.0.core.all_players().iter().any(|player| cards(before, player) != cards(after, player))
}

fn player_view(hand: &Hand, player: Player, viewer: Viewer) -> PlayerView {
    let core = &hand.core;
    let place = &core[player];
    let open = viewer == Viewer::Auditor
        || viewer == Viewer::Player(player)
        || core.shown.contains(player);
    let card = |&card: &Card| {
        let locked = place.face_up.contains(card);
        CardView { card: (open || locked).then_some(card), locked }
    };
    let status = match (core.live.contains(player), place.stack.is_zero()) {
        (false, _) => Status::Out,
        (true, true) => Status::AllIn,
        (true, false) => Status::Live,
    };
    PlayerView {
        seat: place.seat,
        stack: place.stack,
        contribution: place.contribution,
        in_round: Credits::ZERO,
        status,
        has_left: core.leavers.contains(player),
        cards: place.cards.iter().map(card).collect(),
        extra: place.extra.iter().copied().collect(),
        rank: hand.settlement().and_then(|end| end.hands.get(player.index())?.rank),
    }
}
