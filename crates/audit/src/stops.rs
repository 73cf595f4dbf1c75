//! Effects that stopped at a table, and the operators' decisions on them and on whether the table is
//! disabled, from the table's own stream.

use eventlog_core::Event;
use proto::common::v1::{EffectKind, Resolution};
use proto::event::v1 as pb;
use serde::Serialize;
use wire::records::{TableEvent, TableRecord, TableSubject};

/// A record of an effect that stopped or was resumed, or of a table that was disabled or enabled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopRecord {
    /// Time at which it was recorded, in RFC 3339.
    pub at: String,
    /// Number of the hand in play at that time, or else of the last one; 0 before the first.
    pub hand_no: u64,
    /// A sentence with the recorded reasons.
    pub text: String,
}

/// Returns all stops and resumptions of a table, and what disabled it, in order. `events` are those of its own stream.
pub fn stops<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<StopRecord> {
    let mut found = Vec::new();
    let mut hand = 0;
    for event in events {
        let Ok(recorded) = TableRecord::try_from(event) else { continue };
        let TableSubject::Table(of_table) = recorded.subject() else { continue };
        let text = match of_table {
            TableEvent::HandStarted(started) => {
                hand = started.hand_no;
                None
            }
            TableEvent::EffectStopped(stopped) => Some(describe_stopped(stopped)),
            TableEvent::EffectResumed(resumed) => Some(describe_resumed(&event.actor, resumed)),
            TableEvent::TableDisabled(pb::TableDisabled { reason, with_game }) => {
                Some(describe_disabled("disabled", &event.actor, reason, *with_game))
            }
            TableEvent::TableEnabled(pb::TableEnabled { reason, with_game }) => {
                Some(describe_disabled("enabled", &event.actor, reason, *with_game))
            }
            TableEvent::TableCreated(_)
            | TableEvent::HandCommitted(_)
            | TableEvent::EntropyCommitted(_)
            | TableEvent::HandFinished(_)
            | TableEvent::CloseAsked(_)
            | TableEvent::PotRefundDue(_)
            | TableEvent::PotRefunded(_)
            | TableEvent::TableClosed(_)
            | TableEvent::AbsentPaid(_) => None,
        };
        found.extend(text.map(|text| StopRecord {
            at: event.recorded_at.to_string(),
            hand_no: hand,
            text,
        }));
    }
    found
}

fn describe_stopped(stopped: &pb::EffectStopped) -> String {
    let what = stopped.effect.as_ref().map_or_else(|| WHOLE_TABLE.to_owned(), describe);
    format!("{what} stops: {}", stopped.why)
}

fn describe_resumed(actor: &str, resumed: &pb::EffectResumed) -> String {
    let what = resumed.effect.as_ref().map_or_else(|| WHOLE_TABLE.to_owned(), describe);
    let how = match resumed.resolution() {
        Resolution::PayToSuspense => "is paid to house/suspense",
        Resolution::Retry | Resolution::Unspecified => "is tried again",
    };
    format!("{what} {how}, by {actor}: {}", resumed.reason)
}

fn describe_disabled(what: &str, actor: &str, reason: &str, with_game: bool) -> String {
    let how = if with_game { " with its game" } else { "" };
    format!("{WHOLE_TABLE} is {what}{how}, by {actor}: {reason}")
}

const WHOLE_TABLE: &str = "the table as a whole";

fn describe(effect: &pb::Effect) -> String {
    describe_effect(effect.kind(), effect.hand_no, effect.seat)
}

/// Describes an effect with its hand or seat.
#[must_use]
pub fn describe_effect(kind: EffectKind, hand_no: u64, seat: u32) -> String {
    let hand = |what: &str| format!("{what} of hand {hand_no}");
    let seat = |what: &str| format!("{what} of seat {seat}");
    match kind {
        EffectKind::Unspecified => "an effect that this program does not know".to_owned(),
        EffectKind::Commit => format!("the dealer's commitment to hand {hand_no}"),
        EffectKind::Fund => seat("the buy-in"),
        EffectKind::CashOut => seat("the cash-out"),
        EffectKind::Start => "the start of a hand".to_owned(),
        EffectKind::CloseEntropy => hand("the closing of entropy"),
        EffectKind::Burn => hand("the burning"),
        EffectKind::Seal => hand("the seal"),
        EffectKind::Chance => hand("chance"),
        EffectKind::Leave => seat("the leaving"),
        EffectKind::Settle => hand("the settlement"),
        EffectKind::Suspend => hand("the suspension"),
        EffectKind::EndSuspended => hand("the end of the suspended hand"),
        EffectKind::Return => seat("the return"),
        EffectKind::RecoverCards => hand("the lost cards"),
        EffectKind::Post => hand("the posting"),
        EffectKind::Reveal => hand("the seed"),
        EffectKind::PayOut => seat("the paying out"),
        EffectKind::Share => "the sharing of the pots".to_owned(),
        EffectKind::Refund => "the refund of the pots".to_owned(),
        EffectKind::PayAbsent => "the share of a player who had left".to_owned(),
        EffectKind::Close => "the closing".to_owned(),
        EffectKind::CloseSpent => "the closing, for want of records,".to_owned(),
        EffectKind::FollowGame => "the record that the game was disabled or enabled".to_owned(),
        EffectKind::RemoveIdle => seat("the leaving, for being idle,"),
        EffectKind::CheckStanding => "the question how idle players stand".to_owned(),
    }
}
