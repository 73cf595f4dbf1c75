//! Standing of seated players: whether they may be dealt in, by the word of the wallet. The wallet
//! is asked before each hand, and about idle seats from time to time.
//!
//! - **Excluded**, or the account is closed: the seat leaves as if its player had stood up, after
//!   the hand in play, and is paid out.
//! - **Frozen**: no further hand. The seat sits out with its credits. A player who leaves takes
//!   them to the account, which is frozen and still accepts credits.
//! - **A limit is reached**: no further hand. The seat sits out and is free to leave.
//!
//! The start of a hand waits for a wallet that does not answer; a hand in play never does. A
//! standing that differs from the one before is recorded as [`pb::StandingFound`], with its reason.
//! The player is notified. Everybody else sees only that the seat sits out or leaves.

use std::time::Duration;

use primitives::{PlayerId, SeatNo, StreamId, UnixMicros};
use proto::common::v1::{ErrorReason, LimitMark, PlayStanding, StandingKind};
use proto::event::v1 as pb;
use proto::wallet::v1 as wallet;
use wire::{ApiRefusal, TableRecord, api_refusal};

use crate::abort;
use crate::effect_calls::Inconsistency;
use crate::hand_in_play::HandInPlay;
use crate::reasons::{LeaveReason, SitOutReason};
use crate::record_padding;
use crate::table::{Closing, Funding, Seat, Table};

/// Interval at which the wallet is asked about idle seats.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// Events that follow from the wallet's answer.
pub(crate) struct StandingEvents {
    pub events: Vec<(StreamId, TableRecord)>,
    /// Whether a seat sits out or leaves because of it, so that the seats to deal in have changed.
    pub has_barred: bool,
}

/// Seats that the wallet is asked about: those whose credits no hand holds.
fn idle_seats<'a>(
    table: &'a Table,
    play: Option<&'a HandInPlay>,
) -> impl Iterator<Item = (SeatNo, &'a Seat)> + 'a {
    table.seats.iter().map(|(number, seat)| (*number, seat)).filter(move |(number, seat)| {
        let free = play.is_none_or(|play| !play.replay.seats.contains(number));
        free && !seat.leaving && seat.funding == Funding::AtTable
    })
}

/// Whether the wallet is to be asked about idle seats from time to time.
#[must_use]
pub(crate) fn is_check_due(table: &Table, play: Option<&HandInPlay>) -> bool {
    table.closing == Closing::Open && idle_seats(table, play).next().is_some()
}

/// Question about all idle seats.
#[must_use]
pub(crate) fn check_request(
    table: &Table,
    play: Option<&HandInPlay>,
) -> wallet::CheckStandingRequest {
    wallet::CheckStandingRequest {
        table_id: table.id.0.to_vec(),
        player_ids: idle_seats(table, play).map(|(_, seat)| seat.player.0.to_vec()).collect(),
    }
}

/// Turns the wallet's answer into events for the table as it is now.
pub(crate) fn conclude_check(
    table: &Table,
    play: Option<&HandInPlay>,
    answer: &wallet::CheckStandingResponse,
) -> Result<StandingEvents, Inconsistency> {
    let mut found = StandingEvents { events: Vec::new(), has_barred: false };
    for (number, seat) in idle_seats(table, play) {
        let player = answer.players.iter().find(|it| it.player_id == seat.player.0);
        // Players who have come since the question are asked about next time.
        let Some(standing) = player.and_then(|player| player.standing.as_ref()) else { continue };
        let event = found_event(number, standing);
        if !is_same(seat.standing.as_ref(), &event) {
            found.events.push((table.id.into(), event.clone().into()));
        }
        let follows = match restriction(event.kind()) {
            Restriction::None => None,
            Restriction::SitsOut => abort::sit_out_event(table, number, SitOutReason::Standing),
            Restriction::Leaves => {
                Some((table.id.into(), LeaveReason::Standing.event(number).into()))
            }
            Restriction::Unknown => {
                let text =
                    format!("the wallet says nothing that is known of player {}", seat.player);
                return Err(Inconsistency(text));
            }
        };
        found.has_barred |= follows.is_some();
        found.events.extend(follows);
    }
    Ok(found)
}

/// Whether the answer covers every seat that a hand which starts at `now` deals in.
#[must_use]
pub(crate) fn covers_dealt_in(
    table: &Table,
    answer: &wallet::CheckStandingResponse,
    now: UnixMicros,
) -> bool {
    let is_covered = |player: PlayerId| answer.players.iter().any(|it| it.player_id == player.0);
    table.seats_to_deal_in(now).iter().all(|(_, seat)| is_covered(seat.player))
}

enum Restriction {
    None,
    SitsOut,
    Leaves,
    Unknown,
}

const fn restriction(kind: StandingKind) -> Restriction {
    match kind {
        StandingKind::MayPlay => Restriction::None,
        StandingKind::Frozen | StandingKind::LimitReached => Restriction::SitsOut,
        StandingKind::Excluded | StandingKind::Closed => Restriction::Leaves,
        StandingKind::Unspecified => Restriction::Unknown,
    }
}

/// Whether a player of this standing is kept from further hands.
#[must_use]
pub(crate) const fn is_barred(kind: StandingKind) -> bool {
    !matches!(restriction(kind), Restriction::None)
}

/// Record of a player's standing.
#[must_use]
pub(crate) fn found_event(seat: SeatNo, standing: &PlayStanding) -> pb::StandingFound {
    let until = standing.end_time.and_then(wire::time::instant).map_or(0, |until| until.0);
    let mut found = pb::StandingFound {
        seat: u32::from(seat.get()),
        kind: standing.kind,
        until_micros: until,
        limit: standing.limit,
        nearly: standing.nearly.clone(),
        ..pb::StandingFound::default()
    };
    found.padding = record_padding::zeros(&found, record_padding::STEP);
    found
}

/// Standing as the player is sent it.
#[must_use]
pub(crate) fn play_standing(found: &pb::StandingFound) -> PlayStanding {
    let pb::StandingFound { seat: _, kind, until_micros, limit, nearly, padding: _ } = found;
    let until = (*until_micros != 0).then(|| wire::time::timestamp(UnixMicros(*until_micros)));
    PlayStanding { kind: *kind, end_time: until, limit: *limit, nearly: nearly.clone() }
}

/// Standing of a player with a seat; `None` where there is nothing to tell.
#[must_use]
pub(crate) fn of_player(table: &Table, player: PlayerId) -> Option<PlayStanding> {
    let seat = table.seats.get(&table.seat_of(player)?)?;
    seat.standing.as_ref().map(play_standing)
}

/// Standings of all seated players who are to be sent one.
#[must_use]
pub(crate) fn of_all(table: &Table) -> Vec<(PlayerId, PlayStanding)> {
    let seats = table.seats.values();
    seats.filter_map(|seat| Some((seat.player, play_standing(seat.standing.as_ref()?)))).collect()
}

/// Refusal for a player who cannot be dealt in; `None` for others.
#[must_use]
pub(crate) fn refusal(standing: &PlayStanding) -> Option<ApiRefusal> {
    if !is_barred(standing.kind()) {
        return None;
    }
    let (why, what) = match standing.kind() {
        StandingKind::Excluded => ("you keep yourself from play", "you are paid out"),
        StandingKind::Frozen => ("your account is frozen", "your credits stay where they are"),
        StandingKind::LimitReached => ("a limit of yours is used up", "you may leave the table"),
        StandingKind::Closed | StandingKind::MayPlay | StandingKind::Unspecified => {
            ("your account is closed", "you are paid out")
        }
    };
    let name = standing.kind().as_str_name().trim_start_matches("STANDING_KIND_");
    let message = format!("{why}: no further hand is dealt to you here, {what}");
    let refused = api_refusal(ErrorReason::BarredFromPlay, message).with("standing", name);
    let until = standing.end_time.and_then(wire::time::instant).map(wire::time::rfc3339);
    Some(match until {
        Some(until) => refused.with("until", until),
        None => refused,
    })
}

/// Whether a standing says nothing new. The rest of a limit and its end change all the time and do
/// not count.
fn is_same(before: Option<&pb::StandingFound>, now: &pb::StandingFound) -> bool {
    fn marks(found: &pb::StandingFound) -> (i32, Vec<(i32, i32, u64)>) {
        let mark = |mark: &LimitMark| (mark.measure, mark.window, mark.limit);
        (found.kind, found.limit.iter().chain(&found.nearly).map(mark).collect())
    }
    match before {
        Some(before) => marks(before) == marks(now),
        None => says_nothing(now),
    }
}

/// Whether there is nothing to tell the player.
#[must_use]
pub(crate) fn says_nothing(found: &pb::StandingFound) -> bool {
    found.kind() == StandingKind::MayPlay && found.nearly.is_empty()
}
