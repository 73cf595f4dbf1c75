//! Conversion of the wallet's events between the ledger's types and the log's payloads.
//!
//! Reading is exact: a stored event is refused unless writing the parsed event gives the same bytes
//! in the same stream.

use ::ledger::{
    Account, Adjustment, Amount, EndedHold, Event, Hold, Kind, Leg, LimitSetter, LimitTerms,
    Limits, Measure, MeasureTerms, PostedTransfer, Seconds, Transfer,
};
use eventlog_core::NewEvent;
use primitives::{Credits, PlayerId, StreamId, TableId, UnixMicros};
use proto::common::v1::LimitMeasure;
use proto::event::v1 as pb;
use proto::wallet::v1::{Leg as PbLeg, TransferKind};

use crate::records::{PayloadError, Record as _, WalletRecord};

/// Error of a stored event that no wallet can have written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalletEventError {
    #[error(transparent)]
    Unreadable(#[from] PayloadError),
    /// Name of the field.
    #[error("{0} is not what the ledger writes there")]
    Field(&'static str),
    #[error("the ledger does not write this in these words")]
    NotCanonical,
    /// Stream of the event, and the stream that it belongs to.
    #[error("the event lies in stream {0}, and belongs into {1}")]
    WrongStream(StreamId, StreamId),
}

/// Converts an event for appending.
#[must_use]
pub fn new_event(event: &Event) -> NewEvent {
    to_record(event).on_stream(stream(event))
}

/// Parses a stored event.
///
/// # Errors
/// No wallet can have written it.
pub fn parse(stored: &eventlog_core::Event) -> Result<Event, WalletEventError> {
    let event = parse_payload(&WalletRecord::try_from(stored)?)?;
    let again = new_event(&event);
    if again.stream != stored.stream {
        return Err(WalletEventError::WrongStream(stored.stream, again.stream));
    }
    if again.payload == stored.payload && !stored.sealed {
        Ok(event)
    } else {
        Err(WalletEventError::NotCanonical)
    }
}

/// Parses a payload, without its stream.
///
/// # Errors
/// No wallet can have written it.
pub fn parse_payload(payload: &WalletRecord) -> Result<Event, WalletEventError> {
    let event = read::event(payload)?;
    if to_record(&event) == *payload { Ok(event) } else { Err(WalletEventError::NotCanonical) }
}

/// Stream of an event: the table's if it involves a table, else the player's if it involves a
/// player, else the stream of zeros.
#[must_use]
pub fn stream(event: &Event) -> StreamId {
    let of_player = |player: &PlayerId| StreamId::from(*player);
    match event {
        Event::AccountOpened(account)
        | Event::AdjustmentProposed(Adjustment { account, .. })
        | Event::AdjustmentRejected { account, .. } => {
            table_or_player_stream(account.table(), account.player())
        }
        Event::TransferPosted(PostedTransfer { transfer, approved_by: _ }) => {
            table_or_player_stream(transfer.table(), transfer.player())
        }
        Event::HoldPlaced(Hold { from, to, .. })
        | Event::HoldReleased(EndedHold { from, to, .. })
        | Event::HoldExpired(EndedHold { from, to, .. }) => {
            table_or_player_stream(to.table(), from.player())
        }
        Event::AccountFrozen { player, .. }
        | Event::AccountUnfrozen { player, .. }
        | Event::AccountClosed { player, .. }
        | Event::LimitsSet { player, .. }
        | Event::PlayerExcluded { player, .. } => of_player(player),
        Event::SnapshotTaken { .. } => StreamId::default(),
    }
}

fn table_or_player_stream(table: Option<TableId>, player: Option<PlayerId>) -> StreamId {
    let player = player.map_or(StreamId::default(), StreamId::from);
    table.map_or(player, StreamId::from)
}

/// Protobuf kind of a transfer.
#[must_use]
pub(crate) const fn kind_to_pb(kind: Kind) -> TransferKind {
    match kind {
        Kind::Issue => TransferKind::Issue,
        Kind::Redeem => TransferKind::Redeem,
        Kind::BuyIn => TransferKind::BuyIn,
        Kind::CashOut => TransferKind::CashOut,
        Kind::Settlement { .. } => TransferKind::Settlement,
        Kind::PotRefund { .. } => TransferKind::PotRefund,
        Kind::Adjustment { .. } => TransferKind::Adjustment,
        Kind::Capture { .. } => TransferKind::Capture,
    }
}

/// Payload of an event.
#[must_use]
pub fn to_record(event: &Event) -> WalletRecord {
    match event {
        Event::AccountOpened(account) => pb::AccountOpened { account: account.to_string() }.into(),
        Event::TransferPosted(it) => posted(it).into(),
        Event::AccountFrozen { player, reason } => {
            pb::AccountFrozen { player_id: bytes(player.0), reason: reason.clone() }.into()
        }
        Event::AccountUnfrozen { player, reason } => {
            pb::AccountUnfrozen { player_id: bytes(player.0), reason: reason.clone() }.into()
        }
        Event::AccountClosed { player, reason } => {
            pb::AccountClosed { player_id: bytes(player.0), reason: reason.clone() }.into()
        }
        Event::HoldPlaced(Hold { id, from, to, amount, expires_at }) => pb::HoldPlaced {
            hold_id: bytes(id.0),
            from: from.to_string(),
            to: to.to_string(),
            amount: amount.get(),
            expires_micros: expires_at.0,
        }
        .into(),
        Event::HoldReleased(EndedHold { hold, from, to, amount }) => pb::HoldReleased {
            hold_id: bytes(hold.0),
            from: from.to_string(),
            to: to.to_string(),
            amount: amount.get(),
        }
        .into(),
        Event::HoldExpired(EndedHold { hold, from, to, amount }) => pb::HoldExpired {
            hold_id: bytes(hold.0),
            from: from.to_string(),
            to: to.to_string(),
            amount: amount.get(),
        }
        .into(),
        Event::LimitsSet { player, by, terms } => limits_set(bytes(player.0), *by, terms).into(),
        Event::SnapshotTaken { digest } => {
            pb::SnapshotTaken { sha256: bytes::Bytes::copy_from_slice(digest) }.into()
        }
        Event::PlayerExcluded { player, until } => pb::PlayerExcluded {
            player_id: bytes(player.0),
            until_micros: until.map(|time| time.0),
        }
        .into(),
        Event::AdjustmentProposed(Adjustment { id, account, amount, reason, proposed_by }) => {
            pb::AdjustmentProposed {
                adjustment_id: bytes(id.0),
                account: account.to_string(),
                amount: amount.get(),
                reason: reason.clone(),
                proposed_by: proposed_by.clone(),
            }
            .into()
        }
        Event::AdjustmentRejected { adjustment, account, reason } => pb::AdjustmentRejected {
            adjustment_id: bytes(adjustment.0),
            account: account.to_string(),
            reason: reason.clone(),
        }
        .into(),
    }
}

fn posted(posted: &PostedTransfer) -> pb::TransferPosted {
    let PostedTransfer { transfer, approved_by } = posted;
    let legs = transfer
        .legs
        .iter()
        .map(|leg| PbLeg { account: leg.account.to_string(), amount: leg.amount.get() });
    let none = bytes::Bytes::new;
    let (hold_id, keep_rest, adjustment_id) = match transfer.kind {
        Kind::Capture { hold, keep_rest } => (bytes(hold.0), keep_rest, none()),
        Kind::Adjustment { adjustment } => (none(), false, bytes(adjustment.0)),
        Kind::Issue
        | Kind::Redeem
        | Kind::BuyIn
        | Kind::CashOut
        | Kind::Settlement { .. }
        | Kind::PotRefund { .. } => (none(), false, none()),
    };
    pb::TransferPosted {
        transfer_id: bytes(transfer.id.0),
        kind: kind_to_pb(transfer.kind).into(),
        legs: legs.collect(),
        table_id: transfer.table().map(|table| bytes(table.0)).unwrap_or_default(),
        hand_id: transfer.hand().map(|hand| bytes(hand.0)).unwrap_or_default(),
        reason: transfer.reason.clone(),
        hold_id,
        keep_rest,
        adjustment_id,
        approved_by: approved_by.as_deref().unwrap_or_default().to_owned(),
    }
}

const fn setter_to_pb(by: LimitSetter) -> pb::LimitSetter {
    match by {
        LimitSetter::Player => pb::LimitSetter::Player,
        LimitSetter::Operator => pb::LimitSetter::Operator,
    }
}

/// Protobuf value of a limit's measure.
#[must_use]
pub(crate) const fn measure_to_pb(measure: Measure) -> LimitMeasure {
    match measure {
        Measure::BuyIn => LimitMeasure::BuyIn,
        Measure::Loss => LimitMeasure::Loss,
        Measure::Time => LimitMeasure::Time,
    }
}

fn limits_set(player_id: bytes::Bytes, by: LimitSetter, terms: &MeasureTerms) -> pb::LimitsSet {
    fn seconds(Seconds(seconds): Seconds) -> u64 {
        seconds
    }
    let (measure, terms) = match terms {
        MeasureTerms::BuyIn(terms) => (Measure::BuyIn, to_plain_numbers(terms, Credits::get)),
        MeasureTerms::Loss(terms) => (Measure::Loss, to_plain_numbers(terms, Credits::get)),
        MeasureTerms::Time(terms) => (Measure::Time, to_plain_numbers(terms, seconds)),
    };
    let LimitTerms { now, later } = terms;
    pb::LimitsSet {
        player_id,
        by: setter_to_pb(by).into(),
        now: Some(limits_to_pb(now)),
        later: later.map(|(_, limits)| limits_to_pb(limits)),
        later_micros: later.map_or(0, |(from, _)| from.0),
        measure: measure_to_pb(measure).into(),
    }
}

/// Converts the units of limits to plain numbers.
fn to_plain_numbers<T: Copy>(terms: &LimitTerms<T>, unit: impl Fn(T) -> u64) -> LimitTerms<u64> {
    let limits = |limits: Limits<T>| Limits {
        day: limits.day.map(&unit),
        week: limits.week.map(&unit),
        month: limits.month.map(&unit),
    };
    LimitTerms {
        now: limits(terms.now),
        later: terms.later.map(|(from, later)| (from, limits(later))),
    }
}

const fn limits_to_pb(limits: Limits<u64>) -> pb::WindowLimits {
    let Limits { day, week, month } = limits;
    pb::WindowLimits { day, week, month }
}

fn bytes(id: [u8; 16]) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(&id)
}

mod read;

#[cfg(test)]
mod tests;
