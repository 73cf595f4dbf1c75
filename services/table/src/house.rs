//! All tables of one log: who finds which, who opens a new one, and what becomes of them when the
//! log is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chassis::ids::IdMaker;
use eventlog::{AppendError, Entry, Position, Recall, Request, StreamId};
use primitives::{Credits, PlayerId, RequestId, TableId};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::event::v1::TableCreated;
use proto::table::v1 as pb;
use rules::RuleSet;
use tokio::sync::{mpsc, watch};
use wire::{Recorded, Refused, field, refused, ruleset, status};

use crate::actor::{Actor, Command, Ended, Order, Surroundings};
use crate::people::{By, Keeping, People, PeopleError};
use crate::publish::Past;
use crate::recovery::{FoldError, Folded, fold};
use crate::state::State;
use crate::table::Table;

/// Commands that wait at one table; more are refused.
const QUEUE: usize = 256;

/// Before a table that could not tell of a name is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// The tables of a log that is ours.
pub struct House {
    shared: Surroundings,
    ids: IdMaker,
    tables: Mutex<Tables>,
    /// Set once a table has found that the log is lost.
    lost: watch::Sender<bool>,
    /// The house is being closed: that its log goes is no news.
    closing: AtomicBool,
    /// One table is opened at a time, so that a repeated request finds the first one's answer.
    opening: tokio::sync::Mutex<()>,
    people: Arc<People>,
}

#[derive(Default)]
struct Tables {
    in_order: Vec<TableId>,
    by_id: BTreeMap<TableId, mpsc::Sender<Command>>,
}

/// The tables and people of a log could not be taken up.
#[derive(Debug, thiserror::Error)]
pub enum TakeUpError {
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error(transparent)]
    People(#[from] PeopleError),
}

/// Who asks for a new table.
pub struct Opening {
    pub request: RequestId,
    pub digest: [u8; 32],
    pub actor: Arc<str>,
    pub trace: [u8; 16],
}

impl House {
    /// Takes up everybody and every table of the log.
    pub async fn open(
        shared: Surroundings,
        ids: IdMaker,
        keeping: Keeping,
    ) -> Result<Arc<House>, TakeUpError> {
        let Folded { tables: found, people } = fold(&shared.log).await?;
        found.iter().for_each(|found| shared.directory.seats(&found.table));
        let (log, directory) = (shared.log.clone(), shared.directory.clone());
        let people = People::open((log, ids.clone()), people, keeping, directory).await?;
        let house = Arc::new(House {
            shared,
            ids,
            tables: Mutex::default(),
            lost: watch::Sender::new(false),
            closing: AtomicBool::new(false),
            opening: tokio::sync::Mutex::default(),
            people: Arc::new(people),
        });
        for found in found {
            let (id, closed) =
                (found.table.id, found.table.closing == crate::table::Closing::Closed);
            let commands = house.register(id, !closed);
            for (player, named) in found.renamed(|player| house.people.named_at(player)) {
                house.tell_renamed(id, player, named);
            }
            let (this, shared) = (Arc::clone(&house), house.shared.clone());
            tokio::spawn(async move {
                match found.take_up(&shared.peers, shared.patience).await {
                    Ok((state, past)) => this.run(state, past, commands).await,
                    Err(broken) => {
                        tracing::error!(table = %id, why = broken.0, "a table cannot be taken up");
                    }
                }
            });
        }
        Ok(house)
    }

    /// What is known of people.
    #[must_use]
    pub fn people(&self) -> &Arc<People> {
        &self.people
    }

    /// A player is shown under another name, and wherever he sits it is told.
    pub async fn set_name(
        &self,
        player: PlayerId,
        name: &str,
        by: By,
    ) -> Result<pb::SetNameResponse, Refused> {
        let (answer, changed) = self.people.set_name(player, name, by).await?;
        if let Some(named) = self.people.named_at(player).filter(|_| changed) {
            for table in self.shared.directory.tables_of(player) {
                self.tell_renamed(table, player, named);
            }
        }
        Ok(answer)
    }

    /// Sees to it that a table tells its viewers of a name, which stands at `named` in the log.
    fn tell_renamed(&self, id: TableId, player: PlayerId, named: Position) {
        let Ok(table) = self.table(id) else { return };
        let stopped = self.shared.log.stopped();
        tokio::spawn(async move {
            loop {
                let (order, told) = Order::renamed(id, player, named);
                if table.send(Command::Do(Box::new(order))).await.is_err() {
                    return;
                }
                match told.await {
                    Ok(Err(refused)) if status::passes(refused.reason()) => {}
                    // Done, or the table is closed or stopped: nobody there is told anything more.
                    Ok(_) | Err(_) => return,
                }
                if stopped.run_until_cancelled(tokio::time::sleep(PAUSE)).await.is_none() {
                    return;
                }
            }
        });
    }

    /// Ends when the log is lost, or was closed.
    pub async fn lost(&self) {
        let stopped = self.shared.log.stopped();
        let mut lost = self.lost.subscribe();
        tokio::select! {
            () = stopped.cancelled() => {}
            _ = lost.wait_for(|lost| *lost) => {}
        }
    }

    /// Writes what waits and gives the log up; the tables stop.
    pub async fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.shared.log.clone().close().await;
    }

    fn register(&self, id: TableId, listed: bool) -> mpsc::Receiver<Command> {
        let (sender, commands) = mpsc::channel(QUEUE);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if listed {
            tables.in_order.push(id);
        }
        tables.by_id.insert(id, sender);
        commands
    }

    async fn run(&self, state: State, past: Vec<Past>, commands: mpsc::Receiver<Command>) {
        let id = state.table.id;
        let actor = Actor::new((state, past), self.shared.clone(), commands);
        match actor.run().await {
            Ended::Dropped => {}
            Ended::Lost if self.closing.load(Ordering::Relaxed) => {}
            Ended::Lost => {
                tracing::warn!(table = %id, "the table's log is lost");
                self.lost.send_replace(true);
            }
        }
    }

    /// The way to a table.
    pub fn table(&self, id: TableId) -> Result<mpsc::Sender<Command>, Refused> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.by_id.get(&id).cloned().ok_or_else(|| {
            let message = format!("there is no table {id}: ListTables lists them");
            refused(ErrorReason::TableUnknown, message).field("table_id")
        })
    }

    /// The tables after the first `skip`, in the order they were opened.
    #[must_use]
    pub fn list(&self, skip: usize, take: usize) -> Vec<(TableId, mpsc::Sender<Command>)> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = tables.in_order.iter().skip(skip).take(take);
        ids.filter_map(|id| tables.by_id.get(id).map(|sender| (*id, sender.clone()))).collect()
    }

    /// Opens a table.
    pub async fn create(
        self: &Arc<Self>,
        config: &pb::TableConfig,
        by: Opening,
    ) -> Result<pb::CreateTableResponse, Refused> {
        let _one_at_a_time = self.opening.lock().await;
        match self.shared.log.recall(by.request, by.digest).await {
            Ok(Recall::Fresh) => {}
            Ok(Recall::Same { answer, first: _ }) => {
                return pb::CreateTableResponse::decode(answer)
                    .map_err(|_| refused(ErrorReason::Corrupt, "the stored answer is damaged"));
            }
            Ok(Recall::Different) => return Err(status::request_id_reused()),
            Err(_) => return Err(status::unavailable("the log cannot be read")),
        }
        let created: TableCreated = read_config(config)?;
        let id = self.ids.table_id();
        let answer = pb::CreateTableResponse { table_id: id.0.to_vec() };
        let request =
            Request { id: by.request, digest: by.digest, answer: answer.encode_to_vec().into() };
        let event = Recorded::from(created.clone());
        let entry = Entry {
            events: vec![event.on(StreamId::from(id))],
            request: Some(request),
            actor: by.actor,
            trace: by.trace,
        };
        let appended = self.shared.log.append(entry).await;
        appended.map_err(|error| match error {
            AppendError::Duplicate { .. } => status::request_id_reused(),
            AppendError::Full
            | AppendError::Unavailable { .. }
            | AppendError::Lost
            | AppendError::TooLarge { .. }
            | AppendError::Empty
            | AppendError::Misplaced { .. }
            | AppendError::Twice { .. } => {
                status::unavailable("the log takes nothing at the moment")
            }
        })?;
        let table = Table::open(id, &created)
            .map_err(|damaged| refused(ErrorReason::Corrupt, damaged.to_string()))?;
        let commands = self.register(id, true);
        let this = Arc::clone(self);
        tokio::spawn(async move { this.run(State::new(table), Vec::new(), commands).await });
        Ok(answer)
    }
}

/// A table's configuration with everything filled in, or what is wrong with it.
fn read_config(config: &pb::TableConfig) -> Result<TableCreated, Refused> {
    let pb::TableConfig {
        name,
        variant,
        rule_set,
        min_buy_in,
        max_buy_in,
        action_seconds,
        bank_seconds,
        pause_ms,
        seats,
        reveal_delay_seconds,
        entropy_ms,
    } = config;
    let name = field::text("config.name", name, 1, 60)?;
    let rules: RuleSet = ruleset::read(variant, rule_set)?;
    let most = u32::from(*rules.variant().seats.end());
    let range = |name: &str, value: u32, default: u32, min: u32, max: u32| {
        let value = if value == 0 { default } else { value };
        let problem = || wire::BadField::new(format!("config.{name}"), format!("{min} to {max}"));
        if (min..=max).contains(&value) { Ok(value) } else { Err(problem()) }
    };
    let seats = range("seats", *seats, most, u32::from(*rules.variant().seats.start()), most)?;
    let due = rules.due(Credits::ZERO);
    let too_large = |error: primitives::CreditsOutOfRange| {
        wire::BadField::new("config.rule_set", format!("the antes are too large: {error}"))
    };
    let min = match field::credits("config.min_buy_in", *min_buy_in)? {
        Credits::ZERO => due.times(20).map_err(too_large)?,
        given => given,
    };
    let max = match field::credits("config.max_buy_in", *max_buy_in)? {
        Credits::ZERO => min.times(10).map_err(too_large)?,
        given => given,
    };
    if min < due {
        let problem = format!("one hand needs {due} credits; this is {min}");
        return Err(wire::BadField::new("config.min_buy_in", problem).into());
    }
    if max < min {
        let problem = format!("at least min_buy_in, {min}; this is {max}");
        return Err(wire::BadField::new("config.max_buy_in", problem).into());
    }
    let bank = bank_seconds.unwrap_or(30);
    Ok(TableCreated {
        name,
        rule_set: rules.canonical(),
        seats,
        min_buy_in: min.get(),
        max_buy_in: max.get(),
        action_seconds: range("action_seconds", *action_seconds, 20, 1, 3600)?,
        bank_seconds: range("bank_seconds", bank, bank, 0, 3600)?,
        pause_ms: range("pause_ms", *pause_ms, 0, 0, 60_000)?,
        reveal_delay_seconds: range("reveal_delay_seconds", *reveal_delay_seconds, 0, 0, 604_800)?,
        entropy_ms: range("entropy_ms", *entropy_ms, 2000, 100, 60_000)?,
    })
}
