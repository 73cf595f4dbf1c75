//! Knowledge of one viewer about a table: the fold of a snapshot and the updates after it.
//!
//! It holds only what the viewer was sent: other players' cards are "??" as on the wire. The facts
//! of a hand, such as announced totals, come with snapshots only; the lines of the hand say what
//! happened since.

mod fold;

use primitives::{Credits, PlayerId};
use proto::table::v1 as pb;
use rules::RuleSet;

use crate::watch::WatchMessage;

/// Phase of a hand that is settled.
pub(crate) const OVER_PHASE: &str = "over";

/// Table as one viewer knows it.
#[derive(Clone, Default)]
pub struct TableState {
    view: pb::TableView,
    viewer: Option<PlayerId>,
    lines: Vec<String>,
    rules: Option<RuleSet>,
    closed: bool,
}

impl TableState {
    /// Creates an empty state. The viewer may be `None` if a snapshot names their seat.
    #[must_use]
    pub fn new(me: Option<PlayerId>) -> TableState {
        TableState { viewer: me, ..TableState::default() }
    }

    /// Applies what the stream showed.
    pub fn apply(&mut self, seen: &WatchMessage) {
        match seen {
            WatchMessage::Snapshot(view) => self.apply_snapshot((**view).clone()),
            WatchMessage::Update(update) => self.apply_update(update),
            WatchMessage::CaughtUp => {}
        }
    }

    /// Returns the table as a snapshot would show it.
    #[must_use]
    pub fn view(&self) -> &pb::TableView {
        &self.view
    }

    /// Whether the table is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the hand in play, or the last one.
    #[must_use]
    pub fn hand(&self) -> Option<&pb::HandView> {
        self.view.hand.as_ref()
    }

    /// Whether a hand is in play.
    #[must_use]
    pub fn is_hand_in_play(&self) -> bool {
        self.hand().is_some_and(|hand| hand.phase != OVER_PHASE)
    }

    /// Whether the hand in play stands still because the dealer is silent.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.hand().is_some_and(|hand| hand.suspension.is_some())
    }

    /// Returns the history lines of this hand since the viewer joined, such as `d deal p2 ?? ??`.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns the rule set, if this client knows the game.
    #[must_use]
    pub fn rules(&self) -> Option<&RuleSet> {
        self.rules.as_ref()
    }

    /// Returns the least stack that is dealt in to the next hand, as far as it is known; at least
    /// 1.
    #[must_use]
    pub fn due(&self) -> Credits {
        let pot = Credits::try_new(self.view.sabacc_pot_credits).unwrap_or(Credits::MAX);
        self.rules.as_ref().map_or(Credits::of(1), |rules| rules.min_stack(pot))
    }

    /// Returns the viewer, once known.
    #[must_use]
    pub fn viewer(&self) -> Option<PlayerId> {
        self.viewer
    }

    /// Returns the viewer's own seat.
    #[must_use]
    pub fn my_seat(&self) -> Option<&pb::SeatView> {
        self.view.seats.iter().find(|seat| match self.viewer {
            Some(me) => wire::field::is_id(&seat.player_id, me),
            None => self.view.your_seat != 0 && seat.seat == self.view.your_seat,
        })
    }

    /// Returns the viewer's seat in the hand, if they were dealt in.
    #[must_use]
    pub fn my_hand_seat(&self) -> Option<&pb::HandSeat> {
        let mine = self.my_seat()?.seat;
        self.hand()?.seats.iter().find(|place| place.seat == mine)
    }

    /// Returns the viewer's own cards, newest last.
    #[must_use]
    pub fn my_cards(&self) -> &[pb::HeldCard] {
        self.my_hand_seat().map_or(&[], |place| &place.cards)
    }

    /// Returns the viewer's credits in this hand.
    #[must_use]
    pub fn my_standing(&self) -> Option<&pb::SeatStanding> {
        let mine = self.my_hand_seat()?.seat;
        self.standing()?.seats.iter().find(|standing| standing.seat == mine)
    }

    /// Returns the pots and stacks of the hand.
    #[must_use]
    pub fn standing(&self) -> Option<&pb::Standing> {
        self.hand()?.standing.as_ref()
    }

    /// Returns the decision that is due.
    #[must_use]
    pub fn turn(&self) -> Option<&pb::Turn> {
        self.hand()?.turn.as_ref()
    }

    /// Returns the viewer's own decision, if it is due.
    #[must_use]
    pub fn my_turn(&self) -> Option<&pb::Turn> {
        let mine = self.my_hand_seat()?.seat;
        self.turn().filter(|turn| turn.seat == mine)
    }

    /// Returns the player of a seat, in the hand or at the table.
    #[must_use]
    pub fn player_of(&self, seat: u32) -> Option<PlayerId> {
        let dealt = self.hand().into_iter().flat_map(|hand| &hand.seats);
        let dealt = dealt.filter(|place| place.seat == seat).map(|place| &place.player_id);
        let seated = self.view.seats.iter().filter(|taken| taken.seat == seat);
        let mut ids = dealt.chain(seated.map(|taken| &taken.player_id));
        ids.find_map(|id| wire::field::player_id(id).ok())
    }
}
