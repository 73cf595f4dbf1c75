//! What the logs hold: every event of every service, by its type number.

use bytes::Bytes;
use eventlog::{Event, NewEvent};
use primitives::StreamId;
use prost::Message;
use proto::event::v1::{self as pb, EventType};

/// The version of the payloads' schema that is written today.
pub const SCHEMA: u16 = 1;

/// A stored payload is not what its type number says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("there is no event type {0}")]
    Kind(u16),
    #[error("the payload's schema version is {0}; this program reads version 1")]
    Schema(u16),
    #[error("a payload of type {0} is damaged")]
    Payload(u16),
}

macro_rules! recorded {
    ($($name:ident)*) => {
        /// An event's payload.
        #[derive(Clone, PartialEq)]
        pub enum Recorded {
            $($name(pb::$name),)*
        }

        impl Recorded {
            /// The number by which the log names the event's type.
            #[must_use]
            pub fn kind(&self) -> u16 {
                let kind = match self { $(Recorded::$name(_) => EventType::$name,)* };
                u16::try_from(i32::from(kind)).expect("event types are small")
            }

            /// The event's name, such as `MoveDecided`.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Recorded::$name(_) => stringify!($name),)* }
            }

            fn payload(&self) -> Bytes {
                match self { $(Recorded::$name(event) => event.encode_to_vec().into(),)* }
            }

            fn decode(kind: EventType, payload: &[u8]) -> Option<Recorded> {
                match kind {
                    EventType::Unspecified => None,
                    $(EventType::$name => {
                        pb::$name::decode(payload).ok().map(Recorded::$name)
                    })*
                }
            }
        }

        $(impl From<pb::$name> for Recorded {
            fn from(event: pb::$name) -> Recorded {
                Recorded::$name(event)
            }
        })*
    };
}

recorded! {
    TableCreated SeatTaken SeatFunded SeatRefused LeaveAsked CashOutDue SeatVacated SitOutChanged
    HandCommitted HandOpened HandSealed ChanceUsed CardsMoved MoveDecided HandSettled
    SettlementPosted HandRevealed ClockResumed HandStarted HandFinished CloseAsked PotRefundDue
    PotRefunded TableClosed CardsShown AbsentPaid EntropyCommitted EntropyClosed EntropyRevealed
    HandAborted TablePaused SeedRefused
    SeedCommitted SeedSealed OperationPerformed CardsOpened SeedOpened
    AccountOpened TransferPosted AccountFrozen AccountUnfrozen AccountClosed HoldPlaced HoldReleased
    HoldExpired LimitsSet PlayerExcluded AdjustmentProposed AdjustmentRejected
}

impl Recorded {
    /// The event as the log takes it.
    #[must_use]
    pub fn on(&self, stream: impl Into<StreamId>) -> NewEvent {
        NewEvent {
            stream: stream.into(),
            kind: self.kind(),
            schema: SCHEMA,
            sealed: false,
            payload: self.payload(),
        }
    }
}

impl TryFrom<&Event> for Recorded {
    type Error = Unreadable;

    fn try_from(event: &Event) -> Result<Recorded, Unreadable> {
        if event.schema != SCHEMA {
            return Err(Unreadable::Schema(event.schema));
        }
        let kind =
            EventType::try_from(i32::from(event.kind)).map_err(|_| Unreadable::Kind(event.kind))?;
        Recorded::decode(kind, &event.payload).ok_or(Unreadable::Payload(event.kind))
    }
}

/// The name alone: payloads stay out of logs.
impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
