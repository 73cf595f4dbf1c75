//! What had to stop at a table, and who let it go on: told from the table's own stream.

use eventlog_core::Event;
use proto::event::v1::{self as pb, EffectKind, Resolution};
use serde::Serialize;
use wire::Recorded;

/// One record of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    /// When it was recorded.
    pub at: String,
    /// The hand in play then, or the last one; 0: none yet.
    pub hand_no: u64,
    /// In a sentence, with the reasons as they are on record.
    pub text: String,
}

/// All of a table's, in order. `events` are those of its own stream.
pub fn stops<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Stopped> {
    let mut found = Vec::new();
    let mut hand = 0;
    for event in events {
        let text = match Recorded::try_from(event) {
            Ok(Recorded::HandStarted(started)) => {
                hand = started.hand_no;
                None
            }
            Ok(Recorded::EffectStopped(stopped)) => Some(told_stopped(&stopped)),
            Ok(Recorded::EffectResumed(resumed)) => Some(told_resumed(&event.actor, &resumed)),
            Ok(_) | Err(_) => None,
        };
        found.extend(text.map(|text| Stopped {
            at: event.recorded_at.to_string(),
            hand_no: hand,
            text,
        }));
    }
    found
}

fn told_stopped(stopped: &pb::EffectStopped) -> String {
    let what = stopped.effect.as_ref().map_or_else(|| WHOLE.to_owned(), in_words);
    format!("{what} stops: {}", stopped.why)
}

fn told_resumed(actor: &str, resumed: &pb::EffectResumed) -> String {
    let what = resumed.effect.as_ref().map_or_else(|| WHOLE.to_owned(), in_words);
    let how = match resumed.resolution() {
        Resolution::PayToSuspense => "is paid to house/suspense",
        Resolution::Retry | Resolution::Unspecified => "is tried again",
    };
    format!("{what} {how}, by {actor}: {}", resumed.reason)
}

const WHOLE: &str = "the table as a whole";

/// An effect by its name and number.
#[must_use]
pub fn in_words(effect: &pb::Effect) -> String {
    let hand = |what: &str| format!("{what} of hand {}", effect.hand_no);
    let seat = |what: &str| format!("{what} of seat {}", effect.seat);
    match effect.kind() {
        EffectKind::Unspecified => "an effect that this program does not know".to_owned(),
        EffectKind::Commit => format!("the dealer's commitment to hand {}", effect.hand_no),
        EffectKind::Fund => seat("the buy-in"),
        EffectKind::CashOut => seat("the cash-out"),
        EffectKind::Start => "the start of a hand".to_owned(),
        EffectKind::CloseEntropy => hand("the closing of entropy"),
        EffectKind::Burn => hand("the burning"),
        EffectKind::Seal => hand("the seal"),
        EffectKind::Chance => hand("chance"),
        EffectKind::Leave => seat("the leaving"),
        EffectKind::Settle => hand("the settlement"),
        EffectKind::Abandon => hand("the abort"),
        EffectKind::Post => hand("the posting"),
        EffectKind::Reveal => hand("the seed"),
        EffectKind::PayOut => seat("the paying out"),
        EffectKind::Share => "the sharing of the pots".to_owned(),
        EffectKind::Refund => "the refund of the pots".to_owned(),
        EffectKind::PayAbsent => "the share of a player who had left".to_owned(),
        EffectKind::Close => "the closing".to_owned(),
        EffectKind::RemoveIdle => seat("the leaving, for being idle,"),
        EffectKind::CheckStanding => "the question how idle players stand".to_owned(),
    }
}
