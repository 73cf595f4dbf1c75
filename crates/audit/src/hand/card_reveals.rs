//! Check of every card reveal: to whom, for which reason, when, and whether the rules called for
//! it.
//!
//! Each dealt card is revealed once, to the seat it is dealt to, or to everybody if it lies face
//! up, and not before the hand needs it. A hand that is shown is revealed once more, to everybody,
//! after the last decision. A table that lost its memory may ask again for the reveal of a dealt
//! card to the same audience; this is noted each time. Any other reveal is a card that somebody
//! looked at.
//!
//! Of a hand that came to nothing the dealer may have revealed what was due next or was to be
//! shown, but need not have.
//!
//! Specification: fairness/SPEC.md §3.9, §10.5.

use std::collections::{BTreeMap, BTreeSet};

use eventlog_core::Event;
use fairness::Handle;
use primitives::UnixMicros;
use proto::dealer::v1::{self as dealer, OpeningReason};
use proto::event::v1 as pb;
use wire::DealerRecord;
use wire::card_positions::handle_from_pb;

use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::{DealtCards, HandEnd, Replay};
use crate::hand::{CLOCK_SKEW, Check};
use crate::report::{CheckError, failed, missing};

/// A card that the rules deal.
struct DealtCard {
    audience: u32,
    needed_since: UnixMicros,
    revealed: bool,
    /// Whether the table recorded the deal.
    is_recorded: bool,
    /// `Some` if the card is to be shown at the end; true once it was revealed for that.
    shown: Option<bool>,
}

/// A reveal that no rule called for.
pub(super) struct UnjustifiedReveal {
    pub(super) caller: String,
    pub(super) position: u64,
    pub(super) description: String,
}

pub(super) fn check(
    decoded: &DecodedRecords<'_>,
    replay: &Replay,
    notes: &mut Vec<String>,
) -> Result<(), CheckError> {
    let RevealFindings { unjustified: uncalled, unrevealed: unopened, notes: looked } =
        examine(decoded, replay)?;
    notes.extend(looked);
    match (uncalled.into_iter().next(), unopened) {
        (Some(first), _) => Err(failed(first.description)),
        (None, Some(Handle { op, position })) => Err(failed(format!(
            "position {position} of shuffle {op} was dealt or shown, and never opened for it"
        ))),
        (None, None) => Ok(()),
    }
}

/// Result of the check of all reveals of a hand.
pub(super) struct RevealFindings {
    /// In the order of the dealer's log.
    pub(super) unjustified: Vec<UnjustifiedReveal>,
    /// A card that should have been revealed.
    unrevealed: Option<Handle>,
    notes: Vec<String>,
}

pub(super) fn examine(
    decoded: &DecodedRecords<'_>,
    replay: &Replay,
) -> Result<RevealFindings, CheckError> {
    replay.verdict(Check::Openings)?;
    let (end, nothing) = (replay.end.as_ref(), decoded.is_aborted());
    if end.is_none() && !nothing {
        return Err(missing("the hand is not over"));
    }
    let (mut called, mut notes, mut uncalled) = (dealt_cards(replay), Vec::new(), Vec::new());
    let mut callers: BTreeSet<&str> = BTreeSet::new();
    for read in &decoded.dealer {
        let DealerRecord::CardsOpened(pb::CardsOpened { opening, caller }) = &read.recorded else {
            continue;
        };
        callers.insert(caller);
        let opening = opening.as_ref().ok_or_else(|| failed("an opening without content"))?;
        if let Err(what) = check_reveal(read.event, opening, &mut called, end) {
            let description = describe(read.event, opening, caller, &what);
            let position = read.event.position.0;
            uncalled.push(UnjustifiedReveal { caller: caller.clone(), position, description });
        } else if opening.reason() == OpeningReason::Recovery {
            notes.push(describe(read.event, opening, caller, "after a loss of memory"));
        }
    }
    if callers.len() > 1 {
        let callers: Vec<&str> = callers.into_iter().collect();
        notes.push(format!("Cards were opened for more than one caller: {}.", callers.join(", ")));
    }
    let missed =
        |it: &DealtCard| (it.is_recorded && !it.revealed) || (it.shown == Some(false) && !nothing);
    let unopened = called.iter().find(|(_, it)| missed(it)).map(|(handle, _)| *handle);
    Ok(RevealFindings { unjustified: uncalled, unrevealed: unopened, notes })
}

/// Returns the cards that the rules deal, none of them revealed yet.
fn dealt_cards(replay: &Replay) -> BTreeMap<Handle, DealtCard> {
    let end = replay.end.as_ref();
    let mut called = BTreeMap::new();
    for DealtCards { places, audience, needed_since: since, is_recorded: certain } in &replay.deals
    {
        for handle in places {
            let shown = end.is_some_and(|end| end.shown.contains(handle)).then_some(false);
            let (audience, since, certain) = (*audience, *since, *certain);
            called.insert(
                *handle,
                DealtCard {
                    audience,
                    needed_since: since,
                    revealed: false,
                    is_recorded: certain,
                    shown,
                },
            );
        }
    }
    called
}

/// Checks one reveal against the rules. The error describes what is wrong with it.
fn check_reveal(
    event: &Event,
    opening: &dealer::Opening,
    called: &mut BTreeMap<Handle, DealtCard>,
    end: Option<&HandEnd>,
) -> Result<(), String> {
    let audience = opening.audience_seat;
    let not_before = |since: UnixMicros| {
        let in_time = event.recorded_at.plus(CLOCK_SKEW) >= since;
        if in_time { Ok(()) } else { Err(format!("before the hand came so far, at {since}")) }
    };
    for card in &opening.cards {
        let handle = handle_from_pb(card).map_err(|error| error.to_string())?;
        let dealt = called.get_mut(&handle);
        match opening.reason() {
            OpeningReason::Unspecified => return Err("for no reason".to_owned()),
            reason @ (OpeningReason::Deal | OpeningReason::Rule) => {
                let dealt = dealt.ok_or("which the rules do not deal")?;
                let open = reason == OpeningReason::Rule;
                if dealt.audience != audience || open != (audience == 0) {
                    return Err(format!(
                        "which the rules deal {}",
                        describe_audience(dealt.audience)
                    ));
                }
                if std::mem::replace(&mut dealt.revealed, true) {
                    return Err("a second time".to_owned());
                }
                not_before(dealt.needed_since)?;
            }
            OpeningReason::Show => {
                let shown = dealt.and_then(|dealt| dealt.shown.as_mut());
                let shown = shown.filter(|_| audience == 0).ok_or("which the rules do not show")?;
                if std::mem::replace(shown, true) {
                    return Err("a second time".to_owned());
                }
                not_before(end.map_or(UnixMicros(u64::MAX), |end| end.at))?;
            }
            OpeningReason::Recovery => {
                let dealt = dealt.ok_or("which the rules do not deal")?;
                // A card that everybody sees may be revealed again to anybody.
                if dealt.audience != audience && dealt.audience != 0 {
                    return Err(format!(
                        "which the rules deal {}",
                        describe_audience(dealt.audience)
                    ));
                }
                if !dealt.revealed {
                    return Err("again, and it had not been opened before".to_owned());
                }
            }
        }
    }
    Ok(())
}

fn describe_audience(audience: u32) -> String {
    if audience == 0 { "to everybody".to_owned() } else { format!("to seat {audience}") }
}

/// Describes a reveal.
fn describe(event: &Event, opening: &dealer::Opening, caller: &str, what: &str) -> String {
    let cards: Vec<String> =
        opening.cards.iter().map(|card| format!("{}:{}", card.op, card.position)).collect();
    let (at, when) = (event.position.0, event.recorded_at);
    format!(
        "position {at} of the dealer's log, {when}: {caller} had {} opened {}, {what}",
        cards.join(" "),
        describe_audience(opening.audience_seat)
    )
}
