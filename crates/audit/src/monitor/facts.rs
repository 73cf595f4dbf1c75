//! Meaning of each type of record for a monitor, which sees no payload.

use proto::event::v1::EventType;

/// Fact that a record states without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    /// Table's log, first record of a table's stream.
    TableCreated,
    /// Table's stream: the dealer has promised the next number.
    HandCommitted,
    /// Table's stream: the next number is used.
    HandStarted,
    /// Table's stream: the table has the hand's result.
    HandFinished,
    /// Table's stream: no hand starts until it is enabled.
    TableDisabled,
    /// Table's stream: hands start again.
    TableEnabled,
    /// Table's stream: anything else.
    OfTable,
    /// First record of a hand's stream.
    HandOpened,
    /// Hand's stream: no commitment is taken any more.
    EntropyClosed,
    /// Hand's stream: a seat has revealed its number.
    EntropyRevealed,
    /// Hand's stream: play, which ends with the hand.
    InPlay,
    /// Hand's stream: the hand is played to its end.
    HandSettled,
    /// Hand's stream: the hand is broken off.
    HandAborted,
    /// Hand's stream: what may also come after the end.
    OfHand,
    /// Stream of a player or of a dispute.
    OfPerson,
    /// Table's log, the stream of the room: a game was disabled or enabled.
    OfRoom,
    /// Dealer's log, first record of a hand's stream.
    SeedCommitted,
    /// Dealer's log: the closing of the commitments.
    CommitmentsClosed,
    /// Dealer's log: the seats' numbers are bound.
    SeedSealed,
    /// Dealer's log: an operation, or an opened card.
    Dealing,
    /// Dealer's log: the seed is public.
    SeedOpened,
    /// Dealer's log, the stream of chance as a whole: its outcomes were tested.
    OutcomesTested,
    /// Dealer's log, the stream of chance: a generator has failed, or the outcomes are not even.
    Alarm,
    /// The service's own clock.
    Clock,
    /// Wallet's log.
    OfWallet,
}

impl Fact {
    /// Returns what a type says; `None` for a type that is unknown here.
    #[expect(clippy::too_many_lines, reason = "a table, with a line for each type of event")]
    pub(super) fn of(kind: u16) -> Option<Fact> {
        match EventType::try_from(i32::from(kind)).ok()? {
            EventType::Unspecified => None,
            EventType::TableCreated => Some(Fact::TableCreated),
            EventType::HandCommitted => Some(Fact::HandCommitted),
            EventType::HandStarted => Some(Fact::HandStarted),
            EventType::HandFinished => Some(Fact::HandFinished),
            EventType::SeatTaken
            | EventType::SeatFunded
            | EventType::SeatRefused
            | EventType::LeaveAsked
            | EventType::CashOutDue
            | EventType::SeatVacated
            | EventType::SitOutChanged
            | EventType::CloseAsked
            | EventType::PotRefundDue
            | EventType::PotRefunded
            | EventType::TableClosed
            | EventType::AbsentPaid
            | EventType::EntropyCommitted
            | EventType::SeatExcluded
            | EventType::SeatRenamed
            | EventType::EffectStopped
            | EventType::EffectResumed
            | EventType::StandingFound => Some(Fact::OfTable),
            EventType::TableDisabled => Some(Fact::TableDisabled),
            EventType::TableEnabled => Some(Fact::TableEnabled),
            EventType::GameDisabled | EventType::GameEnabled | EventType::RoomSnapshotTaken => {
                Some(Fact::OfRoom)
            }
            EventType::HandOpened => Some(Fact::HandOpened),
            EventType::EntropyClosed => Some(Fact::EntropyClosed),
            EventType::EntropyRevealed => Some(Fact::EntropyRevealed),
            EventType::HandSealed
            | EventType::ChanceUsed
            | EventType::CardsMoved
            | EventType::MoveDecided
            | EventType::CardsShown
            | EventType::ClockResumed => Some(Fact::InPlay),
            EventType::CommitmentsClosed => Some(Fact::CommitmentsClosed),
            EventType::HandSettled => Some(Fact::HandSettled),
            EventType::HandAborted => Some(Fact::HandAborted),
            EventType::HandSuspended
            | EventType::HandContinued
            | EventType::SettlementPosted
            | EventType::HandRevealed
            | EventType::SeedRefused => Some(Fact::OfHand),
            EventType::PlayerNamed
            | EventType::PlayerErased
            | EventType::DisputeOpened
            | EventType::DisputeStated
            | EventType::DisputeAnswered
            | EventType::DisputeReasoned
            | EventType::GuestSignedIn
            | EventType::RefreshTokenUsed
            | EventType::TokensRevoked
            | EventType::PlayerMarked => Some(Fact::OfPerson),
            EventType::SeedCommitted => Some(Fact::SeedCommitted),
            EventType::SeedSealed => Some(Fact::SeedSealed),
            EventType::OperationPerformed | EventType::CardsOpened => Some(Fact::Dealing),
            EventType::SeedOpened => Some(Fact::SeedOpened),
            EventType::OutcomesTested => Some(Fact::OutcomesTested),
            EventType::EntropyFailed | EventType::BiasFound | EventType::PromisesLost => {
                Some(Fact::Alarm)
            }
            EventType::ClockStepped => Some(Fact::Clock),
            EventType::AccountOpened
            | EventType::TransferPosted
            | EventType::AccountFrozen
            | EventType::AccountUnfrozen
            | EventType::AccountClosed
            | EventType::HoldPlaced
            | EventType::HoldReleased
            | EventType::HoldExpired
            | EventType::LimitsSet
            | EventType::PlayerExcluded
            | EventType::AdjustmentProposed
            | EventType::AdjustmentRejected
            | EventType::SnapshotTaken => Some(Fact::OfWallet),
        }
    }

    /// Whether a hand ends with it.
    pub(super) const fn ends_hand(self) -> bool {
        matches!(self, Fact::HandSettled | Fact::HandAborted)
    }
}
