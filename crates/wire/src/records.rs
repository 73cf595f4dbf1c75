//! Payloads of the logs: every event of every service, by its type number.

use bytes::Bytes;
use eventlog_core::{Event, NewEvent};
use primitives::StreamId;
use prost::Message;
use proto::event::v1::{self as pb, EventType};

/// Schema version of the payloads that this program writes.
pub const SCHEMA: u16 = 1;

/// Error of a stored payload that does not match its type number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("there is no event type {0}")]
    Kind(u16),
    #[error("the payload's schema version is {0}; this program reads version 1")]
    Schema(u16),
    #[error("a payload of type {0} is damaged")]
    Corrupt(u16),
    #[error("an event of type {0} is sealed where it must not be, or open where it must be sealed")]
    Sealing(u16),
}

macro_rules! recorded {
    ($(
        $(#[$doc:meta])*
        $family:ident($events:ident): $($name:ident)* $(; sealed: $($hidden:ident)*)?,
    )*) => {
        /// Payload of an event. Of a sealed event it is the visible part; the sealed part contains
        /// the message of the variant's name and can be read with the key.
        #[derive(Clone, PartialEq)]
        pub enum Recorded {
            $($($name(pb::$name),)*)*
            $($($($hidden(pb::SealedPayload),)*)?)*
        }

        /// Payload of an event, by the kind of stream that its events belong to. A match over the
        /// events of one kind names each of them.
        #[derive(Clone, Copy)]
        pub enum StreamEvent<'a> {
            $($(#[$doc])* $family($events<'a>),)*
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub enum $events<'a> {
                $($name(&'a pb::$name),)*
                $($($hidden(&'a pb::SealedPayload),)*)?
            }
        )*

        impl Recorded {
            /// Returns the payload by the kind of its stream.
            #[must_use]
            pub fn stream_event(&self) -> StreamEvent<'_> {
                match self {
                    $($(Recorded::$name(event) => {
                        StreamEvent::$family($events::$name(event))
                    })*)*
                    $($($(Recorded::$hidden(sealed) => {
                        StreamEvent::$family($events::$hidden(sealed))
                    })*)?)*
                }
            }

            /// Type number of the event in the log.
            #[must_use]
            pub fn kind(&self) -> u16 {
                let kind = match self {
                    $($(Recorded::$name(_) => EventType::$name,)*)*
                    $($($(Recorded::$hidden(_) => EventType::$hidden,)*)?)*
                };
                u16::try_from(i32::from(kind)).expect("event types are small")
            }

            /// Name of the event, such as `MoveDecided`.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($(Recorded::$name(_) => stringify!($name),)*)*
                    $($($(Recorded::$hidden(_) => stringify!($hidden),)*)?)*
                }
            }

            /// Whether the payload is sealed under a player's key.
            #[must_use]
            pub fn is_sealed(&self) -> bool {
                match self {
                    $($(Recorded::$name(_) => false,)*)*
                    $($($(Recorded::$hidden(_) => true,)*)?)*
                }
            }

            fn payload(&self) -> Bytes {
                match self {
                    $($(Recorded::$name(event) => event.encode_to_vec().into(),)*)*
                    $($($(Recorded::$hidden(sealed) => sealed.encode_to_vec().into(),)*)?)*
                }
            }

            fn decode(kind: EventType, payload: &[u8]) -> Option<Recorded> {
                match kind {
                    EventType::Unspecified => None,
                    $($(EventType::$name => {
                        pb::$name::decode(payload).ok().map(Recorded::$name)
                    })*)*
                    $($($(EventType::$hidden => {
                        pb::SealedPayload::decode(payload).ok().map(Recorded::$hidden)
                    })*)?)*
                }
            }
        }

        $($(impl From<pb::$name> for Recorded {
            fn from(event: pb::$name) -> Recorded {
                Recorded::$name(event)
            }
        })*)*
    };
}

recorded! {
    /// Event of a table's stream in the table service's log.
    Table(TableEvent): TableCreated SeatTaken SeatFunded SeatRefused LeaveAsked CashOutDue
        SeatVacated SitOutChanged HandCommitted EntropyCommitted HandStarted HandFinished CloseAsked
        PotRefundDue PotRefunded TableClosed AbsentPaid TablePaused EffectStopped EffectResumed
        SeatRenamed StandingFound,
    /// Event of a hand's stream in the table service's log.
    Hand(HandEvent): HandOpened EntropyClosed EntropyRevealed HandSealed ChanceUsed CardsMoved
        MoveDecided ClockResumed CardsShown HandSettled SettlementPosted HandRevealed SeedRefused
        HandAborted,
    /// Event of a player's or a dispute's stream in the table service's log.
    Person(PersonEvent): PlayerErased DisputeOpened DisputeAnswered;
        sealed: PlayerNamed DisputeStated DisputeReasoned,
    /// Event of a hand's stream in the dealer's log.
    Dealer(DealerEvent): SeedCommitted SeedSealed OperationPerformed CardsOpened SeedOpened,
    /// Event of the wallet's log.
    Wallet(WalletEvent): AccountOpened TransferPosted AccountFrozen AccountUnfrozen AccountClosed
        HoldPlaced HoldReleased HoldExpired LimitsSet PlayerExcluded AdjustmentProposed
        AdjustmentRejected SnapshotTaken,
    /// Event of a service's clock, in the log of each.
    Clock(ClockEvent): ClockStepped,
}

impl Recorded {
    /// Makes a new event of a stream.
    #[must_use]
    pub fn on_stream(&self, stream: impl Into<StreamId>) -> NewEvent {
        NewEvent {
            stream: stream.into(),
            kind: self.kind(),
            schema: SCHEMA,
            sealed: self.is_sealed(),
            payload: self.payload(),
        }
    }
}

impl TryFrom<&Event> for Recorded {
    type Error = PayloadError;

    fn try_from(event: &Event) -> Result<Recorded, PayloadError> {
        if event.schema != SCHEMA {
            return Err(PayloadError::Schema(event.schema));
        }
        let kind = EventType::try_from(i32::from(event.kind))
            .map_err(|_| PayloadError::Kind(event.kind))?;
        let recorded =
            Recorded::decode(kind, &event.payload).ok_or(PayloadError::Corrupt(event.kind))?;
        if recorded.is_sealed() == event.sealed {
            Ok(recorded)
        } else {
            Err(PayloadError::Sealing(event.kind))
        }
    }
}

/// Shows the name alone: payloads stay out of log lines.
impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use eventlog_core::{Position, Version};
    use primitives::UnixMicros;

    use super::*;

    fn event(recorded: &Recorded, sealed: bool) -> Event {
        let NewEvent { stream, kind, schema, sealed: _, payload } =
            recorded.on_stream(StreamId([1; 16]));
        Event {
            position: Position(0),
            recorded_at: UnixMicros(0),
            stream,
            version: Version(1),
            kind,
            schema,
            sealed,
            payload,
            request_id: None,
            actor: "test".into(),
            trace: [0; 16],
            previous: [0; 32],
        }
    }

    #[test]
    fn sealed_events_are_read_as_what_is_to_be_seen_of_them() {
        let sealed = pb::SealedPayload {
            player_id: vec![2; 16].into(),
            nonce: vec![3; 24].into(),
            sealed: vec![4; 80].into(),
        };
        let named = Recorded::PlayerNamed(sealed);
        assert!(named.on_stream(StreamId([1; 16])).sealed);
        assert_eq!(named.kind(), 33);
        assert!(Recorded::try_from(&event(&named, true)).as_ref() == Ok(&named));
        let read = Recorded::try_from(&event(&named, false)).map(|event| event.kind());
        assert_eq!(read, Err(PayloadError::Sealing(33)));
        let erased = Recorded::from(pb::PlayerErased { reason: "asked".to_owned() });
        assert!(!erased.on_stream(StreamId([1; 16])).sealed);
        let read = Recorded::try_from(&event(&erased, true)).map(|event| event.kind());
        assert_eq!(read, Err(PayloadError::Sealing(34)));
    }
}
