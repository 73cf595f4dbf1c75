//! Events of the table service's log, and their subjects.

use proto::event::v1 as pb;

/// Defines [`TableRecord`], and the enums of its subjects. A match over a subject names each of its
/// events and no other.
macro_rules! table_record {
    ($(
        $(#[$doc:meta])*
        $subject:ident($events:ident): $($name:ident)* $(; sealed: $($hidden:ident)*)?,
    )*) => {
        super::record! {
            /// Event of the table service's log.
            TableRecord of "table": $($($name)*)* ClockStepped; sealed: $($($($hidden)*)?)*
        }

        /// Event of the table service's log, by its subject.
        #[derive(Clone, Copy)]
        pub enum TableSubject<'a> {
            $($(#[$doc])* $subject($events<'a>),)*
            /// Event of the service's clock.
            Clock(&'a pb::ClockStepped),
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub enum $events<'a> {
                $($name(&'a pb::$name),)*
                $($($hidden(&'a pb::SealedPayload),)*)?
            }
        )*

        impl TableRecord {
            /// Returns the event by its subject.
            #[must_use]
            pub const fn subject(&self) -> TableSubject<'_> {
                match self {
                    $($(TableRecord::$name(event) => {
                        TableSubject::$subject($events::$name(event))
                    })*)*
                    $($($(TableRecord::$hidden(sealed) => {
                        TableSubject::$subject($events::$hidden(sealed))
                    })*)?)*
                    TableRecord::ClockStepped(step) => TableSubject::Clock(step),
                }
            }
        }
    };
}

table_record! {
    /// Event of a table's stream about one seat.
    Seat(SeatEvent): SeatTaken SeatFunded SeatRefused LeaveAsked CashOutDue SeatVacated
        SitOutChanged SeatRenamed SeatExcluded StandingFound,
    /// Event of a table's stream that is not about one seat.
    Table(TableEvent): TableCreated HandCommitted EntropyCommitted HandStarted HandFinished
        CloseAsked PotRefundDue PotRefunded TableClosed AbsentPaid EffectStopped EffectResumed
        TableDisabled TableEnabled,
    /// Event of a hand's stream before the hand is in play, about its seed, or that aborts it.
    Hand(HandEvent): HandOpened EntropyClosed EntropyRevealed HandRevealed SeedRefused HandAborted
        HandSuspended HandContinued,
    /// Event of a hand's stream that moves the hand in play.
    Play(PlayEvent): HandSealed ChanceUsed CardsMoved MoveDecided ClockResumed CardsShown
        HandSettled SettlementPosted,
    /// Event of a player's or a dispute's stream, or of the stream of revoked tokens.
    Person(PersonEvent): PlayerErased DisputeOpened DisputeAnswered GuestSignedIn RefreshTokenUsed
        TokensRevoked PlayerMarked;
        sealed: PlayerNamed DisputeStated DisputeReasoned,
    /// Event of the stream of the room as a whole.
    Room(RoomEvent): GameDisabled GameEnabled RoomSnapshotTaken,
}

impl SeatEvent<'_> {
    /// Number of the seat.
    #[must_use]
    pub const fn seat(self) -> u32 {
        match self {
            SeatEvent::SeatTaken(event) => event.seat,
            SeatEvent::SeatFunded(event) => event.seat,
            SeatEvent::SeatRefused(event) => event.seat,
            SeatEvent::LeaveAsked(event) => event.seat,
            SeatEvent::CashOutDue(event) => event.seat,
            SeatEvent::SeatVacated(event) => event.seat,
            SeatEvent::SitOutChanged(event) => event.seat,
            SeatEvent::SeatRenamed(event) => event.seat,
            SeatEvent::SeatExcluded(event) => event.seat,
            SeatEvent::StandingFound(event) => event.seat,
        }
    }
}
