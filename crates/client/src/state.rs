//! What a viewer knows of a table: the fold of a snapshot and the updates after it.
//!
//! It holds what the viewer was told and nothing else: other people's cards are "??" here as they were
//! on the wire. The facts of a hand, such as announced totals, come with snapshots only; the lines of
//! the hand tell what happened since.

mod fold;

use primitives::{Credits, PlayerId};
use proto::table::v1 as pb;
use rules::RuleSet;

use crate::watch::Seen;

/// The phase of a hand that is settled.
const OVER: &str = "over";

/// A table as one viewer knows it.
#[derive(Clone, Default)]
pub struct TableState {
    view: pb::TableView,
    me: Option<PlayerId>,
    lines: Vec<String>,
    rules: Option<RuleSet>,
    closed: bool,
}

impl TableState {
    /// Nothing known yet. Whose eyes these are may be left out where a snapshot says it, that is,
    /// where the viewer has his seat already.
    #[must_use]
    pub fn new(me: Option<PlayerId>) -> TableState {
        TableState { me, ..TableState::default() }
    }

    /// Adds what was seen.
    pub fn apply(&mut self, seen: &Seen) {
        match seen {
            Seen::Snapshot(view) => self.start_from((**view).clone()),
            Seen::Update(update) => self.update(update),
            Seen::CaughtUp => {}
        }
    }

    /// The table, as a snapshot would show it.
    #[must_use]
    pub fn view(&self) -> &pb::TableView {
        &self.view
    }

    /// Whether the table is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The hand in play, or the last one.
    #[must_use]
    pub fn hand(&self) -> Option<&pb::HandView> {
        self.view.hand.as_ref()
    }

    /// Whether a hand is in play.
    #[must_use]
    pub fn in_play(&self) -> bool {
        self.hand().is_some_and(|hand| hand.phase != OVER)
    }

    /// The history lines of this hand, as far as the viewer was there, such as `d deal p2 ?? ??`.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The rule set, where this client knows the game.
    #[must_use]
    pub fn rules(&self) -> Option<&RuleSet> {
        self.rules.as_ref()
    }

    /// The least stack that is dealt in to the next hand, as far as is known; at least 1.
    #[must_use]
    pub fn due(&self) -> Credits {
        let pot = Credits::try_new(self.view.sabacc_pot).unwrap_or(Credits::MAX);
        self.rules.as_ref().map_or(Credits::of(1), |rules| rules.due(pot))
    }

    /// Whose eyes these are, once known.
    #[must_use]
    pub fn me(&self) -> Option<PlayerId> {
        self.me
    }

    /// The viewer's own seat.
    #[must_use]
    pub fn my_seat(&self) -> Option<&pb::SeatView> {
        self.view.seats.iter().find(|seat| match self.me {
            Some(me) => seat.player_id == me.bytes(),
            None => self.view.your_seat != 0 && seat.seat == self.view.your_seat,
        })
    }

    /// The viewer's place in the hand, if he was dealt in.
    #[must_use]
    pub fn my_place(&self) -> Option<&pb::HandSeat> {
        let mine = self.my_seat()?.seat;
        self.hand()?.seats.iter().find(|place| place.seat == mine)
    }

    /// The viewer's own cards, newest last.
    #[must_use]
    pub fn my_cards(&self) -> &[pb::HeldCard] {
        self.my_place().map_or(&[], |place| &place.cards)
    }

    /// Where the viewer's credits are in this hand.
    #[must_use]
    pub fn my_standing(&self) -> Option<&pb::SeatStanding> {
        let mine = self.my_place()?.seat;
        self.standing()?.seats.iter().find(|standing| standing.seat == mine)
    }

    /// The pots and stacks of the hand.
    #[must_use]
    pub fn standing(&self) -> Option<&pb::Standing> {
        self.hand()?.standing.as_ref()
    }

    /// The decision that is due.
    #[must_use]
    pub fn turn(&self) -> Option<&pb::Turn> {
        self.hand()?.turn.as_ref()
    }

    /// The decision that is due of the viewer.
    #[must_use]
    pub fn my_turn(&self) -> Option<&pb::Turn> {
        let mine = self.my_place()?.seat;
        self.turn().filter(|turn| turn.seat == mine)
    }

    /// The player of a seat, in the hand or at the table.
    #[must_use]
    pub fn player_of(&self, seat: u32) -> Option<PlayerId> {
        let dealt = self.hand().into_iter().flat_map(|hand| &hand.seats);
        let dealt = dealt.filter(|place| place.seat == seat).map(|place| &place.player_id);
        let seated = self.view.seats.iter().filter(|taken| taken.seat == seat);
        let mut ids = dealt.chain(seated.map(|taken| &taken.player_id));
        ids.find_map(|id| PlayerId::try_from(&**id).ok())
    }
}
