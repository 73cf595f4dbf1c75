//! Tables taken up again from the log, after a restart or a change of owner.
//!
//! The log is read once, from its beginning; every table is folded, and of a hand in play its events
//! are kept. The faces of hidden cards are in no log of ours: the dealer is asked for them, which is
//! on his record as a recovery, and then the hand is dealt again from its events.

use std::collections::BTreeMap;
use std::time::Duration;

use eventlog::{Log, Position, ReadError, StreamId};
use fairness::Handle;
use primitives::{PlayerId, TableId, UnixMicros};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use proto::table::v1::table_update::What;
use wire::Recorded;
use wire::places::handle_from_pb;

use crate::debt;
use crate::pay::Broken;
use crate::peers::{Faces, Failure, Job, Peers, Reply};
use crate::people::registry::{self, Place, Registry};
use crate::publish::{Past, PastKind};
use crate::state::{self, State};
use crate::table::Table;
use crate::updates;

/// Events read at a time.
const PAGE: usize = 1000;

/// A table as the log has it.
pub struct Found {
    pub table: Table,
    hand: Vec<Kept>,
    misses: Vec<u32>,
    /// Where the event stands with which viewers were last told of a seat's player, by seat.
    told: BTreeMap<u32, Position>,
}

/// An event of a hand in play, or one of the table's own that was published meanwhile.
struct Kept {
    what: KeptWhat,
    at: UnixMicros,
    sequence: u64,
}

enum KeptWhat {
    OfHand(Box<Recorded>),
    /// As it was told to everybody.
    OfTable(Box<What>),
}

/// The log could not be folded.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the table log is damaged at position {position}: {why}")]
    Damaged { position: u64, why: String },
}

/// A log's fold.
pub struct Folded {
    /// In the order they were opened.
    pub tables: Vec<Found>,
    pub people: Registry,
}

/// Everything in a log.
pub async fn fold(log: &Log) -> Result<Folded, FoldError> {
    let mut folding = Folding::default();
    let mut from = Position(0);
    loop {
        let page = log.read(from, PAGE).await?;
        let Some(last) = page.last() else { break };
        from = Position(last.position.0 + 1);
        for event in &page {
            folding
                .take(event)
                .map_err(|why| FoldError::Damaged { position: event.position.0, why })?;
        }
    }
    let Folding { tables, people, streams: _ } = folding;
    Ok(Folded { tables: tables.into_values().collect(), people })
}

#[derive(Default)]
struct Folding {
    /// By the order of their creation.
    tables: BTreeMap<usize, Found>,
    /// Which table a stream belongs to: its own, or one of its hands'.
    streams: BTreeMap<StreamId, usize>,
    people: Registry,
}

impl Folding {
    fn take(&mut self, event: &eventlog::Event) -> Result<(), String> {
        let recorded = Recorded::try_from(event).map_err(|error| error.to_string())?;
        let at = event.recorded_at;
        if registry::is_of_people(&recorded) {
            let place = Place { stream: event.stream, position: event.position, at };
            return self.people.evolve(&recorded, place).map_err(|bad| bad.to_string());
        }
        if let Recorded::TableCreated(created) = &recorded {
            let table =
                Table::open(TableId(event.stream.0), created).map_err(|bad| bad.to_string())?;
            let number = self.tables.len();
            self.streams.insert(event.stream, number);
            let found =
                Found { table, hand: Vec::new(), misses: Vec::new(), told: BTreeMap::new() };
            self.tables.insert(number, found);
            return Ok(());
        }
        let number = *self.streams.get(&event.stream).ok_or("a stream of no table")?;
        let found = self.tables.get_mut(&number).ok_or("a stream of no table")?;
        let vacated = state::vacated_by(&found.table, &recorded);
        found.table.evolve(&recorded, at).map_err(|bad| bad.to_string())?;
        if let Recorded::SeatTaken(pb::SeatTaken { seat, .. })
        | Recorded::SeatRenamed(pb::SeatRenamed { seat }) = &recorded
        {
            found.told.insert(*seat, event.position);
        }
        if let Recorded::HandStarted(_) = &recorded
            && let Some(hand) = found.table.hand
        {
            self.streams.insert(hand.into(), number);
        }
        if let Recorded::HandOpened(opened) = &recorded {
            found.misses = found.table.misses(opened);
            found.hand.clear();
        }
        if let Recorded::HandRevealed(_) = &recorded {
            found.hand.clear();
            self.streams.remove(&event.stream);
            return Ok(());
        }
        let sequence = found.table.sequence;
        if found.table.hand.is_some_and(|hand| StreamId::from(hand) == event.stream) {
            found.hand.push(Kept { what: KeptWhat::OfHand(Box::new(recorded)), at, sequence });
        } else if !found.hand.is_empty() && updates::is_published(&recorded) {
            let what = state::plain(&found.table, &recorded, vacated);
            found.hand.push(Kept { what: KeptWhat::OfTable(Box::new(what)), at, sequence });
        }
        Ok(())
    }
}

impl Found {
    /// Players who sit here and whose names were set after viewers were last told of them: a stop
    /// came between. `named_at` says where a player's last name stands.
    #[must_use]
    pub fn renamed(
        &self,
        named_at: impl Fn(PlayerId) -> Option<Position>,
    ) -> Vec<(PlayerId, Position)> {
        let seats = self.table.seats.iter();
        let owed = seats.filter_map(|(number, seat)| {
            let named = named_at(seat.player)?;
            let told = self.told.get(&u32::from(number.get()));
            told.is_none_or(|told| *told < named).then_some((seat.player, named))
        });
        owed.collect()
    }

    /// The table with its hand in play, dealt again, and what its viewers may be told again. Asks
    /// the dealer until he answers.
    pub async fn take_up(self, peers: &Peers) -> Result<(State, Vec<Past>), Broken> {
        let faces = match self.hidden()? {
            Some(request) => self.ask(peers, request).await?,
            None => Faces::new(),
        };
        let Found { table, hand, misses, told: _ } = self;
        let mut state = State::new(table);
        let mut past = Vec::new();
        for Kept { what, at, sequence } in hand {
            let event = match what {
                KeptWhat::OfHand(event) => *event,
                KeptWhat::OfTable(what) => {
                    past.push(Past { sequence, at, kind: PastKind::Plain(what) });
                    continue;
                }
            };
            if let Recorded::HandOpened(opened) = &event {
                state.open_hand(opened, misses.clone(), at)?;
            } else if let Some(kind) = state.apply_to_hand(&event, (&faces, None), at)? {
                past.push(Past { sequence, at, kind });
            }
        }
        Ok((state, past))
    }

    /// The request for the faces of all cards that moved unseen; nothing where there are none.
    fn hidden(&self) -> Result<Option<dealer::PerformRequest>, Broken> {
        let mut openings: BTreeMap<u32, Vec<dealer::Handle>> = BTreeMap::new();
        let mut version = 0_u64;
        for kept in &self.hand {
            let KeptWhat::OfHand(event) = &kept.what else { continue };
            version += 1;
            if let Recorded::CardsMoved(moved) = &**event {
                let cards = openings.entry(moved.seat).or_default();
                for card in &moved.cards {
                    cards.push(dealer::Handle { op: card.op, position: card.position });
                }
            }
        }
        let Some(hand) = self.table.hand.filter(|_| !openings.is_empty()) else { return Ok(None) };
        let opening = |(seat, cards)| dealer::Opening {
            cards,
            audience_seat: seat,
            reason: dealer::OpeningReason::Recovery.into(),
        };
        Ok(Some(dealer::PerformRequest {
            request_id: debt::hand_request("recovery", hand, version),
            table_id: self.table.id.0.to_vec(),
            hand_no: self.table.hand_no,
            operations: Vec::new(),
            openings: openings.into_iter().map(opening).collect(),
        }))
    }

    async fn ask(&self, peers: &Peers, request: dealer::PerformRequest) -> Result<Faces, Broken> {
        let answer = loop {
            match Job::Perform(request.clone()).run(peers.clone()).await {
                Ok(Reply::Performed(answer)) => break answer,
                Ok(_) => return Err(Broken("another answer came back".to_owned())),
                Err(Failure::Refused(status)) => {
                    let why = format!("the dealer opens no cards again: {}", status.message());
                    return Err(Broken(why));
                }
                Err(Failure::Again(why)) => {
                    tracing::warn!(table = %self.table.id, why, "waiting for the dealer");
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
            }
        };
        let deck = self.table.config.rules.variant().deck;
        let mut faces = Faces::new();
        for (opening, opened) in request.openings.iter().zip(&answer.opened) {
            for (place, id) in opening.cards.iter().zip(&opened.card_ids) {
                let place: Handle = handle_from_pb(place)?;
                let card = deck.card(*id);
                let unknown = || Broken("the dealer opened a card of another deck".to_owned());
                faces.insert(place, card.ok_or_else(unknown)?);
            }
        }
        let wanted: usize = request.openings.iter().map(|opening| opening.cards.len()).sum();
        if faces.len() == wanted {
            Ok(faces)
        } else {
            Err(Broken("the dealer opened fewer cards than he was asked for".to_owned()))
        }
    }
}
