//! Payloads of the logs: one enum of decoded events for each service's log.

use std::fmt;

use bytes::Bytes;
use eventlog_core::{Event, NewEvent};
use primitives::StreamId;
use prost::DecodeError;
use proto::event::v1::EventType;

mod dealer;
mod table;
mod wallet;

pub use dealer::DealerRecord;
pub use table::{
    HandEvent, PersonEvent, PlayEvent, RoomEvent, SeatEvent, TableEvent, TableRecord, TableSubject,
};
pub use wallet::WalletRecord;

/// Schema version of the payloads that this program writes.
pub const SCHEMA: u16 = 1;

/// Error of a stored event that is not one of a log.
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
    /// Service of the log, and name of the event.
    #[error("no {0} writes {1}")]
    Foreign(&'static str, String),
}

/// Decoded event of one service's log. Of a sealed event it is the visible part; the sealed part
/// contains the message of the variant's name and can be read with the key.
pub trait Record: Sized + fmt::Debug {
    /// Service that writes the log.
    const SERVICE: &'static str;

    /// Decodes a payload; `None` for an event of another service.
    fn decode(event_type: EventType, payload: &[u8]) -> Option<Result<Self, DecodeError>>;

    fn event_type(&self) -> EventType;

    /// Name of the event, such as `MoveDecided`.
    fn name(&self) -> &'static str;

    /// Whether the payload is sealed under a player's key.
    fn is_sealed(&self) -> bool;

    fn payload(&self) -> Bytes;

    /// Type number of the event in the log.
    fn kind(&self) -> u16 {
        u16::try_from(i32::from(self.event_type())).expect("event types are small")
    }

    /// Makes a new event of a stream.
    fn on_stream(&self, stream: impl Into<StreamId>) -> NewEvent {
        NewEvent {
            stream: stream.into(),
            kind: self.kind(),
            schema: SCHEMA,
            sealed: self.is_sealed(),
            payload: self.payload(),
        }
    }

    /// Decodes a stored event.
    ///
    /// # Errors
    /// If the service cannot have written it.
    fn try_from_event(event: &Event) -> Result<Self, PayloadError> {
        let Event { kind, schema, sealed, ref payload, .. } = *event;
        if schema != SCHEMA {
            return Err(PayloadError::Schema(schema));
        }
        let known = EventType::try_from(i32::from(kind)).ok();
        let known = known.filter(|known| *known != EventType::Unspecified);
        let event_type = known.ok_or(PayloadError::Kind(kind))?;
        let record = Self::decode(event_type, payload)
            .ok_or_else(|| PayloadError::Foreign(Self::SERVICE, event_name(event_type)))?
            .map_err(|_| PayloadError::Corrupt(kind))?;
        if record.is_sealed() == sealed { Ok(record) } else { Err(PayloadError::Sealing(kind)) }
    }
}

/// Name of a type of event, such as `MoveDecided`.
#[must_use]
pub fn event_name(event_type: EventType) -> String {
    let name = event_type.as_str_name();
    let words = name.strip_prefix("EVENT_TYPE_").unwrap_or(name).split('_');
    words.map(|word| format!("{}{}", &word[..1], word[1..].to_lowercase())).collect()
}

/// Defines the [`Record`] of a service by the names of its events.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $record:ident of $service:literal: $($name:ident)* $(; sealed: $($hidden:ident)*)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        pub enum $record {
            $($name(proto::event::v1::$name),)*
            $($($hidden(proto::event::v1::SealedPayload),)*)?
        }

        impl $crate::records::Record for $record {
            const SERVICE: &'static str = $service;

            fn decode(
                event_type: proto::event::v1::EventType,
                payload: &[u8],
            ) -> Option<Result<$record, prost::DecodeError>> {
                use proto::event::v1::EventType;
                $(if event_type == EventType::$name {
                    return Some(prost::Message::decode(payload).map($record::$name));
                })*
                $($(if event_type == EventType::$hidden {
                    return Some(prost::Message::decode(payload).map($record::$hidden));
                })*)?
                None
            }

            fn event_type(&self) -> proto::event::v1::EventType {
                use proto::event::v1::EventType;
                match self {
                    $($record::$name(_) => EventType::$name,)*
                    $($($record::$hidden(_) => EventType::$hidden,)*)?
                }
            }

            fn name(&self) -> &'static str {
                match self {
                    $($record::$name(_) => stringify!($name),)*
                    $($($record::$hidden(_) => stringify!($hidden),)*)?
                }
            }

            fn is_sealed(&self) -> bool {
                match self {
                    $($record::$name(_) => false,)*
                    $($($record::$hidden(_) => true,)*)?
                }
            }

            fn payload(&self) -> bytes::Bytes {
                use prost::Message as _;
                match self {
                    $($record::$name(event) => event.encode_to_vec().into(),)*
                    $($($record::$hidden(sealed) => sealed.encode_to_vec().into(),)*)?
                }
            }
        }

        impl TryFrom<&eventlog_core::Event> for $record {
            type Error = $crate::records::PayloadError;

            fn try_from(event: &eventlog_core::Event) -> Result<$record, Self::Error> {
                $crate::records::Record::try_from_event(event)
            }
        }

        /// Shows the name alone: payloads stay out of log lines.
        impl std::fmt::Debug for $record {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::records::Record::name(self))
            }
        }

        $(impl From<proto::event::v1::$name> for $record {
            fn from(event: proto::event::v1::$name) -> $record {
                $record::$name(event)
            }
        })*
    };
}
pub(crate) use record;

#[cfg(test)]
mod tests;
