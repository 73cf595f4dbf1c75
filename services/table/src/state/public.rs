//! Updates that are the same for every viewer.

use primitives::{HandId, SeatNo, StreamId};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;

use crate::proof;
use crate::table::{Corrupt, Table};
use crate::updates;
use wire::records::{HandEvent, PlayEvent, SeatEvent, TableEvent, TableSubject};

/// State that an event removes from the table and that its update needs.
pub(crate) enum PriorState {
    Nothing,
    /// The seat before it is vacated.
    Vacated(pb::SeatView),
    /// Number and id of the hand whose seed is opened.
    Seed(u64, HandId),
}

impl PriorState {
    /// Captures the state before the table takes the event.
    #[must_use]
    pub(crate) fn of(table: &Table, stream: StreamId, event: TableSubject<'_>) -> PriorState {
        let captured = match event {
            TableSubject::Seat(event) => match event {
                SeatEvent::SeatVacated(_) | SeatEvent::SeatRefused(_) => {
                    seat_view(table, event).map(PriorState::Vacated)
                }
                SeatEvent::SeatTaken(_)
                | SeatEvent::SeatFunded(_)
                | SeatEvent::LeaveAsked(_)
                | SeatEvent::CashOutDue(_)
                | SeatEvent::SitOutChanged(_)
                | SeatEvent::SeatRenamed(_)
                | SeatEvent::SeatExcluded(_)
                | SeatEvent::StandingFound(_) => None,
            },
            TableSubject::Hand(event) => match event {
                HandEvent::HandRevealed(_) | HandEvent::SeedRefused(_) => {
                    let seed = table.seeds.in_stream(stream);
                    seed.map(|(hand_no, seed)| PriorState::Seed(hand_no, seed.hand))
                }
                HandEvent::HandOpened(_)
                | HandEvent::EntropyClosed(_)
                | HandEvent::EntropyRevealed(_)
                | HandEvent::HandSuspended(_)
                | HandEvent::HandContinued(_)
                | HandEvent::HandAborted(_) => None,
            },
            TableSubject::Table(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => None,
        };
        captured.unwrap_or(PriorState::Nothing)
    }

    fn vacated(self) -> Result<What, Corrupt> {
        match self {
            PriorState::Vacated(seat) => Ok(What::Seat(pb::SeatChanged {
                seat: Some(seat),
                vacated: true,
                your_standing: None,
            })),
            PriorState::Seed(..) | PriorState::Nothing => {
                Err(Corrupt("a free seat is vacated".to_owned()))
            }
        }
    }

    fn seed(self, seed: &[u8], refused: bool) -> Result<What, Corrupt> {
        match self {
            PriorState::Seed(hand_no, hand_id) => {
                let (hand_id, seed) = (hand_id.to_string(), seed.to_vec());
                Ok(What::Seed(pb::SeedPublished { hand_no, hand_id, seed, refused }))
            }
            PriorState::Vacated(_) | PriorState::Nothing => {
                Err(Corrupt("a seed that is not pending".to_owned()))
            }
        }
    }
}

/// Whether the update of an event depends on its viewer, or on the whole hand.
#[must_use]
pub(crate) const fn is_hand_update(event: TableSubject<'_>) -> bool {
    let event = match event {
        TableSubject::Play(event) => event,
        TableSubject::Hand(event) => return is_suspension(event),
        TableSubject::Seat(_)
        | TableSubject::Table(_)
        | TableSubject::Person(_)
        | TableSubject::Room(_)
        | TableSubject::Clock(_) => return false,
    };
    match event {
        PlayEvent::ChanceUsed(used) => !used.restock,
        PlayEvent::HandSealed(_)
        | PlayEvent::CardsMoved(_)
        | PlayEvent::MoveDecided(_)
        | PlayEvent::HandSettled(_) => true,
        PlayEvent::CardsShown(_) | PlayEvent::SettlementPosted(_) | PlayEvent::ClockResumed(_) => {
            false
        }
    }
}

const fn is_suspension(event: HandEvent<'_>) -> bool {
    match event {
        HandEvent::HandSuspended(_) | HandEvent::HandContinued(_) => true,
        HandEvent::HandOpened(_)
        | HandEvent::EntropyClosed(_)
        | HandEvent::EntropyRevealed(_)
        | HandEvent::HandRevealed(_)
        | HandEvent::SeedRefused(_)
        | HandEvent::HandAborted(_) => false,
    }
}

/// Update of a published event that is the same for every viewer; `table` has taken the event.
///
/// # Errors
/// An event that has no such update, or that contradicts the ones before it. An update always says
/// something.
pub(crate) fn public_update(
    table: &Table,
    event: TableSubject<'_>,
    before: PriorState,
) -> Result<What, Corrupt> {
    match event {
        TableSubject::Seat(event) => match event {
            SeatEvent::SeatVacated(_) | SeatEvent::SeatRefused(_) => before.vacated(),
            SeatEvent::SeatTaken(_)
            | SeatEvent::SeatFunded(_)
            | SeatEvent::LeaveAsked(_)
            | SeatEvent::SitOutChanged(_)
            | SeatEvent::SeatExcluded(_)
            | SeatEvent::SeatRenamed(_) => seat_changed(table, event),
            SeatEvent::CashOutDue(_) | SeatEvent::StandingFound(_) => Err(no_update()),
        },
        TableSubject::Table(event) => table_update(table, event),
        TableSubject::Hand(event) => hand_update(table, event, before),
        TableSubject::Play(event) => play_update(table, event),
        TableSubject::Person(_) | TableSubject::Room(_) | TableSubject::Clock(_) => {
            Err(no_update())
        }
    }
}

fn no_update() -> Corrupt {
    Corrupt("an event that has no update of its own here".to_owned())
}

fn seat_view(table: &Table, event: SeatEvent<'_>) -> Option<pb::SeatView> {
    updates::seat_view(table, SeatNo::try_from(event.seat()).ok()?)
}

fn seat_changed(table: &Table, event: SeatEvent<'_>) -> Result<What, Corrupt> {
    let seat = seat_view(table, event);
    let seat = seat.ok_or_else(|| Corrupt(format!("seat {} is free", event.seat())))?;
    let number = SeatNo::try_from(event.seat()).ok();
    let standing = number.and_then(|number| table.seats.get(&number)?.standing.as_ref());
    // For the seat's own player alone; removed for everybody else.
    let your_standing = standing.map(crate::standing::play_standing);
    Ok(What::Seat(pb::SeatChanged { seat: Some(seat), vacated: false, your_standing }))
}

fn table_update(table: &Table, event: TableEvent<'_>) -> Result<What, Corrupt> {
    match event {
        TableEvent::HandCommitted(committed) => {
            let event::HandCommitted { hand_no, commitment } = committed.clone();
            Ok(What::NextHand(pb::NextHand {
                hand_no,
                commitment,
                seats: Vec::new(),
                rule_set: table.config.rule_set.clone(),
                settings: table.config.settings_text.clone(),
            }))
        }
        TableEvent::EffectStopped(_) | TableEvent::EffectResumed(_) => {
            Ok(What::Stopped(pb::StoppedChanged { stopped: table.stopped_effects(false) }))
        }
        TableEvent::TableDisabled(_) | TableEvent::TableEnabled(_) => {
            Ok(What::Disabled(pb::DisabledChanged { disabled: table.disabled_view() }))
        }
        TableEvent::TableClosed(_) => Ok(What::Closed(pb::TableClosed {})),
        TableEvent::TableCreated(_)
        | TableEvent::EntropyCommitted(_)
        | TableEvent::HandStarted(_)
        | TableEvent::HandFinished(_)
        | TableEvent::CloseAsked(_)
        | TableEvent::PotRefundDue(_)
        | TableEvent::PotRefunded(_)
        | TableEvent::AbsentPaid(_) => Err(no_update()),
    }
}

fn hand_update(table: &Table, event: HandEvent<'_>, before: PriorState) -> Result<What, Corrupt> {
    match event {
        HandEvent::HandOpened(_) | HandEvent::EntropyClosed(_) => {
            Ok(What::Entropy(updates::entropy(table).unwrap_or_default()))
        }
        HandEvent::HandAborted(aborted) => Ok(What::Voided(voided(table, aborted))),
        HandEvent::HandRevealed(event::HandRevealed { seed }) => before.seed(seed, false),
        HandEvent::SeedRefused(event::SeedRefused { seed }) => before.seed(seed, true),
        HandEvent::EntropyRevealed(_)
        | HandEvent::HandSuspended(_)
        | HandEvent::HandContinued(_) => Err(no_update()),
    }
}

fn play_update(table: &Table, event: PlayEvent<'_>) -> Result<What, Corrupt> {
    match event {
        PlayEvent::ChanceUsed(used) if used.restock => {
            // A restocking shuffle has an update of its own, which shows nothing else.
            let root = used.result.as_ref().and_then(|result| proof::root_of(result).ok());
            let hand_no = table.hand_no;
            Ok(What::Action(pb::HandAction { hand_no, root, ..Default::default() }))
        }
        PlayEvent::ChanceUsed(_)
        | PlayEvent::HandSealed(_)
        | PlayEvent::CardsMoved(_)
        | PlayEvent::MoveDecided(_)
        | PlayEvent::HandSettled(_)
        | PlayEvent::CardsShown(_)
        | PlayEvent::SettlementPosted(_)
        | PlayEvent::ClockResumed(_) => Err(no_update()),
    }
}

fn voided(table: &Table, aborted: &event::HandAborted) -> pb::HandVoided {
    let event::HandAborted { at_fault, seats, evidence, cause } = aborted.clone();
    let hand_id = table.hand.as_ref().map_or_else(String::new, |hand| hand.id.to_string());
    pb::HandVoided { hand_no: table.hand_no, hand_id, at_fault, seats, evidence, cause }
}
