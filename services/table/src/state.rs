//! A table and its hand in play, moved by one event at a time, in the same way live and after a
//! restart.

use primitives::{PlayerId, StreamId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::event::v1 as event;
use proto::table::v1 as pb;
use wire::records::{HandEvent, PlayEvent, TableSubject};
use wire::{ApiRefusal, TableRecord, api_refusal};

use crate::batch::{Batch, RuleInputs};
use crate::effect_calls::Inconsistency;
use crate::hand_in_play::{AppliedEvent, HandInPlay, HandStage, InheritedState};
use crate::publish::{PublishedEvent, PublishedKind, SuspensionStep};
use crate::standing;
use crate::stops::parse_reason;
use crate::suspension::{self, Suspension};
use crate::table::{Closing, Funding, Table};
use crate::updates::{self, DecisionClock, Standstill};

mod public;

pub(crate) use public::{PriorState, is_hand_update, public_update};

/// State of a table with its hands.
#[derive(Clone)]
pub(crate) struct TableState {
    pub table: Table,
    pub play: Option<HandInPlay>,
    /// The last hand, shown to viewers between two hands.
    pub last_hand: Option<Box<HandInPlay>>,
}

/// State of a recovered table, and the events that viewers may be sent again.
pub(crate) struct RecoveredState {
    pub state: TableState,
    pub past: Vec<PublishedEvent>,
    /// Whether the dealer has opened the hand's cards again, so that it is not silent.
    pub dealer_answered: bool,
}

impl From<TableState> for RecoveredState {
    fn from(state: TableState) -> RecoveredState {
        RecoveredState { state, past: Vec::new(), dealer_answered: false }
    }
}

impl TableState {
    #[must_use]
    pub(crate) fn new(table: Table) -> TableState {
        TableState { table, play: None, last_hand: None }
    }

    /// Applies an event. Returns the content of its update, if it is published.
    pub(crate) fn apply(
        &mut self,
        stream: StreamId,
        recorded: &TableRecord,
        inputs: &mut RuleInputs,
        at: UnixMicros,
    ) -> Result<Option<PublishedKind>, Inconsistency> {
        let event = recorded.subject();
        let before = PriorState::of(&self.table, stream, event);
        self.table.evolve(stream, recorded, at)?;
        if let TableRecord::HandOpened(opened) = recorded {
            self.open_hand(opened, self.table.inherited_state(opened), at)?;
        }
        let hand_update = self.apply_to_hand(recorded, inputs, at)?;
        if self.table.hand.is_none() {
            // A hand that was aborted has nothing to show.
            let aborted =
                matches!(recorded, TableRecord::HandFinished(finished) if finished.aborted);
            let played = |play: &HandInPlay| play.settled.is_some() && !aborted;
            self.last_hand =
                self.play.take().filter(played).map(Box::new).or(self.last_hand.take());
        }
        match hand_update {
            Some(update) => Ok(Some(update)),
            None if updates::is_published(event) => {
                let update = public_update(&self.table, event, before)?;
                Ok(Some(PublishedKind::Public(Box::new(update))))
            }
            None => Ok(None),
        }
    }

    /// Applies an event that the table has taken to the hand in play alone. Returns the content of
    /// its update, where that depends on the hand.
    pub(crate) fn apply_to_hand(
        &mut self,
        recorded: &TableRecord,
        inputs: &mut RuleInputs,
        at: UnixMicros,
    ) -> Result<Option<PublishedKind>, Inconsistency> {
        let hand_event = match recorded.subject() {
            TableSubject::Play(event) => event,
            TableSubject::Hand(event) => return Ok(self.apply_suspension(event, at)),
            TableSubject::Seat(_)
            | TableSubject::Table(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => return Ok(None),
        };
        let Some(play) = &mut self.play else { return Ok(None) };
        let AppliedEvent { input, decision } =
            play.apply_recorded(recorded, hand_event, inputs, at)?;
        if let Some(event) = input {
            play.evolve(&event, at);
            let shown = std::sync::Arc::clone(&play.card_proofs);
            return Ok(Some(PublishedKind::HandStep {
                event,
                decision,
                clock: self.clock(),
                card_proofs: shown,
            }));
        }
        Ok(match hand_event {
            PlayEvent::MoveDecided(decided) => {
                let standstill = Standstill::of(play, &play.live_seats());
                standstill.zip(decision).map(|(standstill, step)| PublishedKind::Voided {
                    action: Box::new(updates::void_action(play, decided, &step)),
                    standstill: Box::new(standstill),
                })
            }
            PlayEvent::HandSealed(_) => {
                let started = Box::new(play.clone());
                Some(PublishedKind::HandStarted { started, clock: self.clock() })
            }
            PlayEvent::HandSettled(settled) => {
                Some(PublishedKind::HandEnded(Box::new(settled.clone())))
            }
            PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
            | PlayEvent::CardsShown(_)
            | PlayEvent::SettlementPosted(_)
            | PlayEvent::ClockResumed(_) => None,
        })
    }

    /// Applies the suspension of the hand in play, or its end. Returns the content of its update.
    fn apply_suspension(&mut self, event: HandEvent<'_>, at: UnixMicros) -> Option<PublishedKind> {
        let play = self.play.as_mut()?;
        if !is_hand_update(TableSubject::Hand(event)) {
            return None;
        }
        play.apply_suspension(event, at);
        let step = SuspensionStep {
            hand_no: play.hand_no,
            hand_id: play.hand_id,
            standstill: Standstill::of(play, &play.live_seats()),
            clock: self.clock(),
        };
        Some(PublishedKind::Suspension(Box::new(step)))
    }

    /// Checks on a copy that a batch can be applied. The copy is not kept: events are applied with
    /// the time that the log records for them.
    pub(crate) fn check(&self, batch: &Batch, at: UnixMicros) -> Result<(), Inconsistency> {
        let (table, play) = (self.table.clone(), self.play.clone());
        let mut copy = TableState { table, play, last_hand: None };
        let mut inputs = batch.inputs.clone();
        for (stream, event) in &batch.events {
            copy.apply(*stream, event, &mut inputs, at)?;
        }
        Ok(())
    }

    /// Opens a hand. `seated` is what it takes over from its table.
    pub(crate) fn open_hand(
        &mut self,
        opened: &event::HandOpened,
        seated: InheritedState,
        at: UnixMicros,
    ) -> Result<(), Inconsistency> {
        let hand = self.table.hand.as_ref();
        let hand =
            hand.ok_or_else(|| Inconsistency("a hand opens that has not started".to_owned()))?;
        self.play = Some(HandInPlay::open(hand.id, opened, seated, at)?);
        self.last_hand = None;
        Ok(())
    }

    /// Clock of the pending decision.
    #[must_use]
    pub(crate) fn clock(&self) -> Option<DecisionClock> {
        let play = self.play.as_ref()?;
        let (deadline, bank) = play.deadline(&self.table.config)?;
        Some(DecisionClock { turn: play.turn, deadline, bank })
    }

    #[must_use]
    pub(crate) fn is_closed(&self) -> bool {
        self.table.closing == Closing::Closed
    }

    /// Whether the buy-in of a transfer is still pending.
    #[must_use]
    pub(crate) fn is_buying_in(&self, wanted: [u8; 16]) -> bool {
        self.table.seats.values().any(|seat| match seat.funding {
            Funding::BuyingIn { transfer, amount: _ } => transfer == wanted,
            Funding::AtTable | Funding::CashingOut { .. } => false,
        })
    }

    /// Refusal of a buy-in by the wallet, if there was one.
    #[must_use]
    pub(crate) fn buy_in_refusal(&self, transfer: [u8; 16]) -> Option<ApiRefusal> {
        let (_, event) = self.table.refusals.iter().find(|(id, _)| *id == transfer)?;
        Some(refused_buy_in(event))
    }

    /// The table as `viewer` may see it.
    #[must_use]
    pub(crate) fn view(&self, viewer: Option<PlayerId>) -> pb::TableView {
        let table = &self.table;
        let config = &table.config;
        // A hand that is not sealed is shown by `entropy` alone.
        let begun = self.play.as_ref().filter(|play| play.stage != HandStage::Opened);
        let play = begun.or(self.last_hand.as_deref());
        let hand = play.map(|play| updates::hand_view(play, self.clock(), play.viewer(viewer)));
        let hand = self.with_suspension(hand, viewer);
        let seats = table.seats.keys().filter_map(|number| updates::seat_view(table, *number));
        let (sabacc_pot, carried_pot) = table.shown_pots();
        let your_seat = viewer.and_then(|player| table.seat_of(player));
        pb::TableView {
            table_id: table.id.to_string(),
            name: config.name.clone(),
            variant: config.rules.variant().id.to_owned(),
            rule_set: config.rule_set.clone(),
            sequence: table.sequence,
            seats: seats.collect(),
            sabacc_pot_credits: sabacc_pot,
            carried_pot_credits: carried_pot,
            hand_no: table.hand_no,
            hand,
            your_seat: your_seat.map_or(0, |seat| u32::from(seat.get())),
            min_buy_in_credits: config.min_buy_in.get(),
            max_buy_in_credits: config.max_buy_in.get(),
            settings: config.settings_text.clone(),
            seat_count: u32::from(config.seats),
            next_hand: updates::next_hand(table),
            entropy: updates::entropy(table)
                .map(|entropy| pb::Entropy { suspension: self.suspension_view(), ..entropy }),
            idle_seconds: u32::try_from(config.idle.as_secs()).unwrap_or(u32::MAX),
            stopped: table.stopped_effects(false),
            closed: self.is_closed(),
            disabled: table.disabled_view(),
            your_standing: viewer.and_then(|player| standing::of_player(table, player)),
        }
    }

    fn suspension_view(&self) -> Option<pb::Suspension> {
        self.play.as_ref()?.suspension.as_ref().map(Suspension::view)
    }

    /// View of a hand with its standstill, where it stands still. Without its cards, a hand has a
    /// view that says little else.
    fn with_suspension(
        &self,
        hand: Option<pb::HandView>,
        viewer: Option<PlayerId>,
    ) -> Option<pb::HandView> {
        let Some(play) = &self.play else { return hand };
        let hand =
            if play.lost_cards.is_some() { Some(updates::lost_hand_view(play)) } else { hand };
        let live = suspension::live_seats(&self.table, play);
        let Some(standstill) = Standstill::of(play, &live) else { return hand };
        let seat = viewer.and_then(|viewer| play.player(viewer)).map(|player| play.seat(player));
        let (suspension, turn) = (Some(standstill.suspension()), standstill.turn(seat));
        // A hand that is not sealed is shown by `entropy` alone.
        hand.filter(|hand| hand.hand_no == play.hand_no).map(|hand| pb::HandView {
            suspension,
            turn,
            ..hand
        })
    }

    /// Seat of a player.
    #[must_use]
    pub(crate) fn player_seat(&self, player: PlayerId) -> Option<pb::PlayerSeat> {
        let table = &self.table;
        let number = table.seat_of(player)?;
        let seat = updates::seat_view(table, number)?;
        let roster = table.hand.as_ref().map_or(&[][..], |hand| &hand.roster);
        let is_dealt_in = roster.iter().any(|(_, dealt_in)| *dealt_in == player);
        Some(pb::PlayerSeat {
            table_id: table.id.to_string(),
            table_name: table.config.name.clone(),
            variant: table.config.rules.variant().id.to_owned(),
            seat: seat.seat,
            stack_credits: seat.stack_credits,
            state: seat.state,
            hand_no: if is_dealt_in { table.hand_no } else { 0 },
        })
    }
}

/// Error for a caller whose buy-in the wallet refused.
#[must_use]
pub(crate) fn refused_buy_in(event: &event::SeatRefused) -> ApiRefusal {
    let event::SeatRefused { seat: _, reason, padding: _, text } = event;
    let reason = parse_reason(reason).unwrap_or(ErrorReason::TransferRefused);
    let message = if reason == ErrorReason::InsufficientCredits {
        "your account has fewer credits than this buy-in"
    } else if reason == ErrorReason::AccountUnknown {
        "you have no account yet: open one first"
    } else if !text.is_empty() {
        text
    } else {
        "the wallet refused the buy-in"
    };
    api_refusal(reason, message).field("buy_in_credits")
}
