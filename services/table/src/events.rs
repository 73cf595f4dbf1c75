//! Events of the log in the groups that the table service matches on.
//!
//! [`Recorded`] has the events of every service. [`LogEvent::of`] alone names them all. Everything
//! else matches a group without a default arm, so that a new event breaks each place that must
//! think about it.

use proto::event::v1 as pb;
use wire::Recorded;

/// Event of a log, by its subject.
#[derive(Clone, Copy)]
pub(crate) enum LogEvent<'a> {
    Seat(SeatEvent<'a>),
    Table(TableEvent<'a>),
    Hand(HandEvent<'a>),
    Person(PersonEvent<'a>),
    /// Event of the clock, or of another service.
    Other,
}

/// Event of a table's stream about one seat.
#[derive(Clone, Copy)]
pub(crate) enum SeatEvent<'a> {
    Taken(&'a pb::SeatTaken),
    Funded(&'a pb::SeatFunded),
    Refused(&'a pb::SeatRefused),
    LeaveAsked(&'a pb::LeaveAsked),
    CashOutDue(&'a pb::CashOutDue),
    Vacated(&'a pb::SeatVacated),
    SitOutChanged(&'a pb::SitOutChanged),
    Renamed(&'a pb::SeatRenamed),
    StandingFound(&'a pb::StandingFound),
}

/// Event of a table's stream that is not about one seat.
#[derive(Clone, Copy)]
pub(crate) enum TableEvent<'a> {
    Created(&'a pb::TableCreated),
    HandCommitted(&'a pb::HandCommitted),
    EntropyCommitted(&'a pb::EntropyCommitted),
    HandStarted(&'a pb::HandStarted),
    HandFinished(&'a pb::HandFinished),
    /// Occurs in older logs only.
    Paused(&'a pb::TablePaused),
    EffectStopped(&'a pb::EffectStopped),
    EffectResumed(&'a pb::EffectResumed),
    CloseAsked,
    PotRefundDue(&'a pb::PotRefundDue),
    PotRefunded,
    AbsentPaid(&'a pb::AbsentPaid),
    Closed,
}

/// Event of a hand's stream.
#[derive(Clone, Copy)]
pub(crate) enum HandEvent<'a> {
    Opened(&'a pb::HandOpened),
    EntropyClosed(&'a pb::EntropyClosed),
    EntropyRevealed(&'a pb::EntropyRevealed),
    Sealed(&'a pb::HandSealed),
    ChanceUsed(&'a pb::ChanceUsed),
    CardsMoved(&'a pb::CardsMoved),
    MoveDecided(&'a pb::MoveDecided),
    CardsShown,
    Settled(&'a pb::HandSettled),
    SettlementPosted,
    ClockResumed(&'a pb::ClockResumed),
    Aborted(&'a pb::HandAborted),
    SeedRevealed(&'a pb::HandRevealed),
    SeedRefused(&'a pb::SeedRefused),
}

/// Event of a player's or a dispute's stream.
#[derive(Clone, Copy)]
pub(crate) enum PersonEvent<'a> {
    Named(&'a pb::SealedPayload),
    Erased,
    DisputeOpened(&'a pb::DisputeOpened),
    DisputeStated(&'a pb::SealedPayload),
    DisputeAnswered(&'a pb::DisputeAnswered),
    DisputeReasoned(&'a pb::SealedPayload),
}

impl LogEvent<'_> {
    /// Sorts an event into its group.
    pub(crate) const fn of(recorded: &Recorded) -> LogEvent<'_> {
        match recorded {
            Recorded::SeatTaken(event) => LogEvent::Seat(SeatEvent::Taken(event)),
            Recorded::SeatFunded(event) => LogEvent::Seat(SeatEvent::Funded(event)),
            Recorded::SeatRefused(event) => LogEvent::Seat(SeatEvent::Refused(event)),
            Recorded::LeaveAsked(event) => LogEvent::Seat(SeatEvent::LeaveAsked(event)),
            Recorded::CashOutDue(event) => LogEvent::Seat(SeatEvent::CashOutDue(event)),
            Recorded::SeatVacated(event) => LogEvent::Seat(SeatEvent::Vacated(event)),
            Recorded::SitOutChanged(event) => LogEvent::Seat(SeatEvent::SitOutChanged(event)),
            Recorded::SeatRenamed(event) => LogEvent::Seat(SeatEvent::Renamed(event)),
            Recorded::StandingFound(event) => LogEvent::Seat(SeatEvent::StandingFound(event)),
            Recorded::TableCreated(event) => LogEvent::Table(TableEvent::Created(event)),
            Recorded::HandCommitted(event) => LogEvent::Table(TableEvent::HandCommitted(event)),
            Recorded::EntropyCommitted(event) => {
                LogEvent::Table(TableEvent::EntropyCommitted(event))
            }
            Recorded::HandStarted(event) => LogEvent::Table(TableEvent::HandStarted(event)),
            Recorded::HandFinished(event) => LogEvent::Table(TableEvent::HandFinished(event)),
            Recorded::TablePaused(event) => LogEvent::Table(TableEvent::Paused(event)),
            Recorded::EffectStopped(event) => LogEvent::Table(TableEvent::EffectStopped(event)),
            Recorded::EffectResumed(event) => LogEvent::Table(TableEvent::EffectResumed(event)),
            Recorded::CloseAsked(_) => LogEvent::Table(TableEvent::CloseAsked),
            Recorded::PotRefundDue(event) => LogEvent::Table(TableEvent::PotRefundDue(event)),
            Recorded::PotRefunded(_) => LogEvent::Table(TableEvent::PotRefunded),
            Recorded::AbsentPaid(event) => LogEvent::Table(TableEvent::AbsentPaid(event)),
            Recorded::TableClosed(_) => LogEvent::Table(TableEvent::Closed),
            Recorded::HandOpened(event) => LogEvent::Hand(HandEvent::Opened(event)),
            Recorded::EntropyClosed(event) => LogEvent::Hand(HandEvent::EntropyClosed(event)),
            Recorded::EntropyRevealed(event) => LogEvent::Hand(HandEvent::EntropyRevealed(event)),
            Recorded::HandSealed(event) => LogEvent::Hand(HandEvent::Sealed(event)),
            Recorded::ChanceUsed(event) => LogEvent::Hand(HandEvent::ChanceUsed(event)),
            Recorded::CardsMoved(event) => LogEvent::Hand(HandEvent::CardsMoved(event)),
            Recorded::MoveDecided(event) => LogEvent::Hand(HandEvent::MoveDecided(event)),
            Recorded::CardsShown(_) => LogEvent::Hand(HandEvent::CardsShown),
            Recorded::HandSettled(event) => LogEvent::Hand(HandEvent::Settled(event)),
            Recorded::SettlementPosted(_) => LogEvent::Hand(HandEvent::SettlementPosted),
            Recorded::ClockResumed(event) => LogEvent::Hand(HandEvent::ClockResumed(event)),
            Recorded::HandAborted(event) => LogEvent::Hand(HandEvent::Aborted(event)),
            Recorded::HandRevealed(event) => LogEvent::Hand(HandEvent::SeedRevealed(event)),
            Recorded::SeedRefused(event) => LogEvent::Hand(HandEvent::SeedRefused(event)),
            Recorded::PlayerNamed(event) => LogEvent::Person(PersonEvent::Named(event)),
            Recorded::PlayerErased(_) => LogEvent::Person(PersonEvent::Erased),
            Recorded::DisputeOpened(event) => LogEvent::Person(PersonEvent::DisputeOpened(event)),
            Recorded::DisputeStated(event) => LogEvent::Person(PersonEvent::DisputeStated(event)),
            Recorded::DisputeAnswered(event) => {
                LogEvent::Person(PersonEvent::DisputeAnswered(event))
            }
            Recorded::DisputeReasoned(event) => {
                LogEvent::Person(PersonEvent::DisputeReasoned(event))
            }
            Recorded::ClockStepped(_)
            | Recorded::SeedCommitted(_)
            | Recorded::SeedSealed(_)
            | Recorded::OperationPerformed(_)
            | Recorded::CardsOpened(_)
            | Recorded::SeedOpened(_)
            | Recorded::AccountOpened(_)
            | Recorded::TransferPosted(_)
            | Recorded::AccountFrozen(_)
            | Recorded::AccountUnfrozen(_)
            | Recorded::AccountClosed(_)
            | Recorded::HoldPlaced(_)
            | Recorded::HoldReleased(_)
            | Recorded::HoldExpired(_)
            | Recorded::LimitsSet(_)
            | Recorded::SnapshotTaken(_)
            | Recorded::PlayerExcluded(_)
            | Recorded::AdjustmentProposed(_)
            | Recorded::AdjustmentRejected(_) => LogEvent::Other,
        }
    }
}

impl LogEvent<'_> {
    /// Whether a table takes over the result of a hand by this event.
    pub(crate) const fn ends_hand(self) -> bool {
        match self {
            LogEvent::Table(event) => match event {
                TableEvent::HandFinished(_) => true,
                TableEvent::Created(_)
                | TableEvent::HandCommitted(_)
                | TableEvent::EntropyCommitted(_)
                | TableEvent::HandStarted(_)
                | TableEvent::Paused(_)
                | TableEvent::EffectStopped(_)
                | TableEvent::EffectResumed(_)
                | TableEvent::CloseAsked
                | TableEvent::PotRefundDue(_)
                | TableEvent::PotRefunded
                | TableEvent::AbsentPaid(_)
                | TableEvent::Closed => false,
            },
            LogEvent::Seat(_) | LogEvent::Hand(_) | LogEvent::Person(_) | LogEvent::Other => false,
        }
    }
}

impl<'a> LogEvent<'a> {
    /// Creation of a table, if the event is one.
    pub(crate) const fn created_table(self) -> Option<&'a pb::TableCreated> {
        if let LogEvent::Table(TableEvent::Created(created)) = self { Some(created) } else { None }
    }

    /// Start of a hand, if the event is one.
    pub(crate) const fn started_hand(self) -> Option<&'a pb::HandStarted> {
        if let LogEvent::Table(TableEvent::HandStarted(started)) = self {
            Some(started)
        } else {
            None
        }
    }

    /// Opening of a hand, if the event is one.
    pub(crate) const fn opened_hand(self) -> Option<&'a pb::HandOpened> {
        if let LogEvent::Hand(HandEvent::Opened(opened)) = self { Some(opened) } else { None }
    }

    /// Use of chance, if the event is one.
    pub(crate) const fn used_chance(self) -> Option<&'a pb::ChanceUsed> {
        if let LogEvent::Hand(HandEvent::ChanceUsed(used)) = self { Some(used) } else { None }
    }

    /// Movement of cards, if the event is one.
    pub(crate) const fn moved_cards(self) -> Option<&'a pb::CardsMoved> {
        if let LogEvent::Hand(HandEvent::CardsMoved(moved)) = self { Some(moved) } else { None }
    }

    /// Whether an aborted hand ends by this event.
    pub(crate) const fn ends_aborted_hand(self) -> bool {
        if let LogEvent::Table(TableEvent::HandFinished(finished)) = self {
            finished.aborted
        } else {
            false
        }
    }
}

impl SeatEvent<'_> {
    /// Number of the seat.
    pub(crate) const fn seat(self) -> u32 {
        match self {
            SeatEvent::Taken(event) => event.seat,
            SeatEvent::Funded(event) => event.seat,
            SeatEvent::Refused(event) => event.seat,
            SeatEvent::LeaveAsked(event) => event.seat,
            SeatEvent::CashOutDue(event) => event.seat,
            SeatEvent::Vacated(event) => event.seat,
            SeatEvent::SitOutChanged(event) => event.seat,
            SeatEvent::Renamed(event) => event.seat,
            SeatEvent::StandingFound(event) => event.seat,
        }
    }
}

impl<'a> HandEvent<'a> {
    /// Event that moves the hand in play; `None` for all others. The opening begins the hand, and
    /// the remaining events of its stream move its table alone.
    pub(crate) const fn of_play(recorded: &'a Recorded) -> Option<HandEvent<'a>> {
        match LogEvent::of(recorded) {
            LogEvent::Hand(event) => match event {
                HandEvent::Sealed(_)
                | HandEvent::ChanceUsed(_)
                | HandEvent::CardsMoved(_)
                | HandEvent::MoveDecided(_)
                | HandEvent::CardsShown
                | HandEvent::Settled(_)
                | HandEvent::SettlementPosted
                | HandEvent::ClockResumed(_) => Some(event),
                HandEvent::Opened(_)
                | HandEvent::EntropyClosed(_)
                | HandEvent::EntropyRevealed(_)
                | HandEvent::Aborted(_)
                | HandEvent::SeedRevealed(_)
                | HandEvent::SeedRefused(_) => None,
            },
            LogEvent::Seat(_) | LogEvent::Table(_) | LogEvent::Person(_) | LogEvent::Other => None,
        }
    }
}
