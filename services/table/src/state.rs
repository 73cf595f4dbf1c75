//! A table and its hand in play, moved by one event at a time: live and after a restart alike.

use primitives::{PlayerId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::event::v1 as event;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use wire::{Recorded, Refused, refused};

use crate::pay::{Broken, Paid};
use crate::peers::Faces;
use crate::play::Play;
use crate::publish::PastKind;
use crate::table::{Closing, Funding, Table};
use crate::updates::{self, Clock};

/// Everything there is to know about a table.
#[derive(Clone)]
pub struct State {
    pub table: Table,
    pub play: Option<Play>,
    /// The last hand, for those who come between two.
    pub last: Option<Box<Play>>,
}

impl State {
    #[must_use]
    pub fn new(table: Table) -> State {
        State { table, play: None, last: None }
    }

    /// Moves by one event; says what viewers are told, if they are told of it.
    pub fn apply(
        &mut self,
        recorded: &Recorded,
        faces: &Faces,
        at: UnixMicros,
    ) -> Result<Option<PastKind>, Broken> {
        let seat = vacated_by(&self.table, recorded);
        self.table.evolve(recorded, at)?;
        if let Recorded::HandOpened(opened) = recorded {
            self.open_hand(opened, self.table.misses(opened), at)?;
            return Ok(None);
        }
        self.apply_to_hand(recorded, (faces, seat), at)
    }

    /// Moves the hand in play alone: the table has taken the event already.
    pub fn apply_to_hand(
        &mut self,
        recorded: &Recorded,
        (faces, vacated): (&Faces, Option<pb::SeatView>),
        at: UnixMicros,
    ) -> Result<Option<PastKind>, Broken> {
        let mut step = None;
        if let Some(play) = self.play.as_mut().filter(|_| is_of_hand(recorded)) {
            step = play.record(recorded, &|place| faces.get(&place).copied(), at)?;
            if let Some(event) = &step {
                play.evolve(event, at);
            }
        }
        let told = self.told(recorded, step, vacated);
        if let Recorded::HandRevealed(_) = recorded {
            self.last = self.play.take().map(Box::new);
        }
        Ok(told)
    }

    /// Whether events would be taken, without taking them.
    pub fn check(&self, paid: &Paid, at: UnixMicros) -> Result<(), Broken> {
        let mut copy = self.clone();
        for (_, event) in &paid.events {
            copy.apply(event, &paid.faces, at)?;
        }
        Ok(())
    }

    /// A hand opens. `misses` are the clocks its players have missed in a row, p1 first.
    pub fn open_hand(
        &mut self,
        opened: &event::HandOpened,
        misses: Vec<u32>,
        at: UnixMicros,
    ) -> Result<(), Broken> {
        let id = self.table.hand;
        let id = id.ok_or_else(|| Broken("a hand opens that has not started".to_owned()))?;
        self.play = Some(Play::open(id, opened, misses, at)?);
        self.last = None;
        Ok(())
    }

    fn told(
        &self,
        recorded: &Recorded,
        step: Option<rules::Event>,
        vacated: Option<pb::SeatView>,
    ) -> Option<PastKind> {
        if !updates::is_published(recorded) {
            return None;
        }
        if let Some(event) = step {
            return Some(PastKind::Step { event, clock: self.clock() });
        }
        if let Recorded::HandSealed(_) = recorded {
            return self.play.clone().map(|play| PastKind::Started(Box::new(play)));
        }
        if let Recorded::HandSettled(settled) = recorded {
            return Some(PastKind::Ended(Box::new(settled.clone())));
        }
        Some(PastKind::Plain(Box::new(plain(&self.table, recorded, vacated))))
    }

    /// The clock of the decision that is due.
    #[must_use]
    pub fn clock(&self) -> Option<Clock> {
        let play = self.play.as_ref()?;
        let (deadline, bank) = play.deadline(&self.table.config)?;
        Some(Clock { turn: play.turn, deadline, bank })
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.table.closing == Closing::Closed
    }

    /// Whether a buy-in is still under way.
    #[must_use]
    pub fn is_buying_in(&self, wanted: [u8; 16]) -> bool {
        self.table.seats.values().any(|seat| match seat.funding {
            Funding::BuyingIn { transfer, amount: _ } => transfer == wanted,
            Funding::AtTable | Funding::CashingOut { .. } => false,
        })
    }

    /// Why the wallet refused a buy-in, if it did.
    #[must_use]
    pub fn refusal(&self, transfer: [u8; 16]) -> Option<Refused> {
        let (_, reason) = self.table.refusals.iter().find(|(id, _)| *id == transfer)?;
        let known = ErrorReason::from_str_name(&format!("ERROR_REASON_{reason}"));
        let reason = known.unwrap_or(ErrorReason::TransferRefused);
        let message = if reason == ErrorReason::InsufficientCredits {
            "your account has fewer credits than this buy-in"
        } else if reason == ErrorReason::AccountUnknown {
            "you have no account yet: open one first"
        } else {
            "the wallet refused the buy-in"
        };
        Some(refused(reason, message).field("buy_in"))
    }

    /// The table as somebody may see it.
    #[must_use]
    pub fn view(&self, viewer: Option<PlayerId>) -> pb::TableView {
        let table = &self.table;
        let config = &table.config;
        let play = self.play.as_ref().or(self.last.as_deref());
        let hand = play.map(|play| updates::hand_view(play, self.clock(), play.viewer(viewer)));
        let seats = table.seats.iter().map(|(number, seat)| updates::seat_view(*number, seat));
        let your_seat = viewer.and_then(|player| table.seat_of(player));
        pb::TableView {
            table_id: table.id.0.to_vec(),
            name: config.name.clone(),
            variant: config.rules.variant().id.to_owned(),
            rule_set: config.rule_set.clone(),
            sequence: table.sequence,
            seats: seats.collect(),
            sabacc_pot: table.sabacc_pot.get(),
            carried_pot: table.carried_pot.get(),
            hand_no: table.hand_no,
            hand,
            your_seat: your_seat.map_or(0, |seat| u32::from(seat.get())),
            min_buy_in: config.min_buy_in.get(),
            max_buy_in: config.max_buy_in.get(),
            action_seconds: config.action_seconds,
            bank_seconds: config.bank_seconds,
            seat_count: u32::from(config.seats),
            next_hand: None,
            reveal_delay_seconds: config.reveal_delay_seconds,
            entropy_ms: config.entropy_ms,
            paused_until: None,
            entropy: None,
        }
    }

    /// The table in a list.
    #[must_use]
    pub fn summary(&self) -> pb::TableSummary {
        let table = &self.table;
        pb::TableSummary {
            table_id: table.id.0.to_vec(),
            name: table.config.name.clone(),
            variant: table.config.rules.variant().id.to_owned(),
            seats: u32::from(table.config.seats),
            seated: u32::try_from(table.seats.len()).unwrap_or(u32::MAX),
            hand_no: table.hand_no,
        }
    }
}

/// A seat as it is, where the event frees it.
#[must_use]
pub fn vacated_by(table: &Table, recorded: &Recorded) -> Option<pb::SeatView> {
    let number = if let Recorded::SeatVacated(event::SeatVacated { seat }) = recorded {
        *seat
    } else if let Recorded::SeatRefused(event::SeatRefused { seat, reason: _ }) = recorded {
        *seat
    } else {
        return None;
    };
    let number = primitives::SeatNo::try_from(number).ok()?;
    table.seats.get(&number).map(|seat| updates::seat_view(number, seat))
}

/// What everybody is told alike of a published event, at the table as it is after it.
#[must_use]
pub fn plain(table: &Table, recorded: &Recorded, vacated: Option<pb::SeatView>) -> What {
    if let Some(seat) = vacated {
        return What::Seat(pb::SeatChanged { seat: Some(seat), vacated: true });
    }
    if let Recorded::TableClosed(_) = recorded {
        return What::Closed(pb::TableClosed {});
    }
    let number = seat_of(recorded).and_then(|seat| primitives::SeatNo::try_from(seat).ok());
    let seat = number
        .and_then(|number| table.seats.get(&number).map(|seat| updates::seat_view(number, seat)));
    // A restocking shuffle is an update of its own, in which nothing is seen.
    let nothing_seen = pb::HandAction { hand_no: table.hand_no, ..Default::default() };
    match seat {
        Some(seat) => What::Seat(pb::SeatChanged { seat: Some(seat), vacated: false }),
        None => What::Action(nothing_seen),
    }
}

/// Whether an event lies in a hand's stream and moves the hand.
fn is_of_hand(recorded: &Recorded) -> bool {
    matches!(
        recorded,
        Recorded::HandSealed(_)
            | Recorded::ChanceUsed(_)
            | Recorded::CardsMoved(_)
            | Recorded::MoveDecided(_)
            | Recorded::CardsShown(_)
            | Recorded::HandSettled(_)
            | Recorded::SettlementPosted(_)
            | Recorded::HandRevealed(_)
            | Recorded::ClockResumed(_)
    )
}

fn seat_of(recorded: &Recorded) -> Option<u32> {
    if let Recorded::SeatTaken(event) = recorded {
        Some(event.seat)
    } else if let Recorded::SeatFunded(event) = recorded {
        Some(event.seat)
    } else if let Recorded::LeaveAsked(event) = recorded {
        Some(event.seat)
    } else if let Recorded::SitOutChanged(event) = recorded {
        Some(event.seat)
    } else if let Recorded::SeatRenamed(event) = recorded {
        Some(event.seat)
    } else {
        None
    }
}
