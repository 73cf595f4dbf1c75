//! Registry of all tables of one log: finds tables, creates them, and stops them when the log is
//! lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clocklog::Noticed;
use eventlog::{AppendError, Entry, Log, Recall, RequestKey, RequestLookup, StreamId};
use primitives::{Credits, PlayerId, RequestId, TableId};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::event::v1::TableCreated;
use proto::table::v1 as pb;
use proto::wallet::v1::PlayerStanding;
use rules::{RuleSet, SeedOpening, SettingsError, TableSettings};
use runner::LogState;
use system::ids::IdMaker;
use tokio::sync::{mpsc, watch};
use wire::{ApiRefusal, Record as _, TableRecord, api_refusal, field, ruleset, status};

use crate::actor::{Dependencies, TableMessage};
use crate::author::Author;
use crate::bounds::Bounds;
use crate::development::Development;
use crate::hand_list::{self, HandList};
use crate::lobby::{self, Lobby};
use crate::peers::{CallFailure, PeerCall, Reply};
use crate::people::{People, PeopleError, PlayerKeys};
use crate::player_hands;
use crate::recovery::{FoldError, FoldedLog, RecoveredTable, fold};
use crate::table::Table;
use crate::{commands, room_delay, snapshot};

mod closed;
mod games;
mod guests;
mod lists;
mod marks;
mod names;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use closed::ClosedTable;

/// Messages that wait at one table; more are refused.
const MAX_QUEUED: usize = 256;

/// Pause before a table that could not publish a new name is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// The tables of a log that this process owns.
pub(crate) struct TableRegistry {
    dependencies: Dependencies,
    ids: IdMaker,
    tables: Mutex<Tables>,
    /// Set once a table has found that the log is lost.
    lost: watch::Sender<bool>,
    /// Whether the registry is closing, so that losing the log is expected.
    closing: AtomicBool,
    /// Held while a table is created, so that a repeated request finds the first one's answer.
    create_lock: tokio::sync::Mutex<()>,
    people: Arc<People>,
    hand_list: HandList,
    lobby: Lobby,
    /// Permits to read closed tables.
    read_permits: tokio::sync::Semaphore,
}

/// Tables by id. Ids ascend in the order of creation.
#[derive(Default)]
struct Tables {
    /// Senders to tables with a task.
    running: BTreeMap<TableId, mpsc::Sender<TableMessage>>,
    /// Closed tables, without a task.
    closed: BTreeMap<TableId, ClosedTable>,
}

/// The tables and people of a log could not be recovered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error(transparent)]
    People(#[from] PeopleError),
}

impl LogState for TableRegistry {
    async fn lost(&self) {
        let stopped = self.dependencies.log.stopped();
        let mut lost = self.lost.subscribe();
        tokio::select! {
            () = stopped.cancelled() => {}
            _ = lost.wait_for(|lost| *lost) => {}
        }
    }

    /// Takes a last snapshot, writes the waiting entries and gives the log up; the tables stop.
    async fn close(&self) {
        self.take_final_snapshot().await;
        self.closing.store(true, Ordering::Relaxed);
        self.dependencies.log.clone().close().await;
    }
}

impl TableRegistry {
    /// Recovers all people and tables of the log, and starts the tables' tasks.
    pub(crate) async fn open(
        dependencies: Dependencies,
        ids: IdMaker,
        player_keys: PlayerKeys,
    ) -> Result<Arc<TableRegistry>, RecoverError> {
        let FoldedLog { tables: recovered, closed, people, games, hands, lobby } =
            fold(&dependencies.log, dependencies.snapshots.store.as_ref()).await?;
        dependencies.games.send_replace(games);
        recovered.iter().for_each(|recovered| dependencies.directory.add_seats(&recovered.table));
        let (log, directory) = (dependencies.log.clone(), dependencies.directory.clone());
        let people = People::open(log, ids.clone(), people, player_keys, directory).await?;
        let hand_list = HandList::new(hands);
        let people = people.with_guests(dependencies.guests.clone());
        let people = people.with_hand_list(hand_list.clone());
        let registry = Arc::new(TableRegistry {
            dependencies,
            ids,
            tables: Mutex::default(),
            lost: watch::Sender::new(false),
            closing: AtomicBool::new(false),
            create_lock: tokio::sync::Mutex::default(),
            people: Arc::new(people),
            hand_list,
            lobby: Lobby::new(lobby),
            read_permits: closed::read_permits(),
        });
        registry.tables().closed = closed;
        tokio::spawn(measure_timer_delay(registry.dependencies.clone()));
        let Dependencies { log, activity, player_hands, .. } = registry.dependencies.clone();
        tokio::spawn(hand_list::follow(log.clone(), registry.hand_list.clone(), activity));
        tokio::spawn(lobby::follow(log.clone(), registry.lobby.clone()));
        tokio::spawn(player_hands::follow(log, player_hands));
        let policy = registry.dependencies.snapshots.clone();
        tokio::spawn(snapshot::keep(Arc::downgrade(&registry), policy));
        for recovered in recovered {
            let id = recovered.table.id;
            let task = registry.register(id);
            for (player, named) in recovered.renamed(|player| registry.people.presented_at(player))
            {
                registry.publish_name(id, player, named);
            }
            tokio::spawn(Arc::clone(&registry).run_guarded(recovered, task));
        }
        Ok(registry)
    }

    /// The log that this process owns.
    pub(crate) const fn log(&self) -> &Log {
        &self.dependencies.log
    }

    /// Takes a snapshot of the tables and people, for the next start.
    async fn take_final_snapshot(&self) {
        snapshot::take_final(self, &self.dependencies.snapshots).await;
    }

    /// Bounds on what callers may cost.
    #[must_use]
    pub(crate) fn bounds(&self) -> &Arc<Bounds> {
        &self.dependencies.bounds
    }

    /// Records a step of the clock. Returns whether it is on record.
    pub(crate) async fn record_step(&self, noticed: Noticed) -> bool {
        clocklog::append(&self.dependencies.log, "table", noticed).await
    }

    /// Names, disputes and erasures.
    #[must_use]
    pub(crate) fn people(&self) -> &Arc<People> {
        &self.people
    }

    /// Asks the wallet for a player's present standing.
    pub(crate) async fn player_standing(
        &self,
        table: TableId,
        player: PlayerId,
    ) -> Result<PlayerStanding, ApiRefusal> {
        let request = proto::wallet::v1::CheckStandingRequest {
            table_id: table.0.to_vec(),
            player_ids: vec![player.0.to_vec()],
        };
        let reply = PeerCall::CheckStanding(request).run(self.dependencies.peers.clone()).await;
        let standing = match reply {
            Ok(Reply::Standing(mut answer)) => answer.players.pop(),
            Ok(_) | Err(CallFailure::Retry(_) | CallFailure::Refused(_)) => None,
        };
        standing.ok_or_else(|| status::unavailable("the wallet does not say whether you may play"))
    }

    /// Whether a command is known to be answered before, by the log's memory alone.
    #[must_use]
    pub(crate) fn is_answered(&self, actor: &str, request: RequestId) -> bool {
        matches!(
            self.dependencies.log.lookup(RequestKey::new(actor, request)),
            RequestLookup::Answered(_)
        )
    }

    fn tables(&self) -> std::sync::MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sender to a table that has a task.
    pub(crate) fn running_table(&self, id: TableId) -> Option<mpsc::Sender<TableMessage>> {
        self.tables().running.get(&id).cloned()
    }

    /// Sender to a table, running or closed.
    pub(crate) async fn table(
        self: &Arc<Self>,
        id: TableId,
    ) -> Result<mpsc::Sender<TableMessage>, ApiRefusal> {
        let closed = {
            let tables = self.tables();
            if let Some(running) = tables.running.get(&id) {
                return Ok(running.clone());
            }
            tables.closed.get(&id).copied()
        };
        let closed = closed.ok_or_else(|| {
            let message = format!("there is no table {id}: ListTables lists them");
            api_refusal(ErrorReason::TableUnknown, message).field("table_id")
        })?;
        self.answer_for_closed(id, closed).await
    }

    /// Number of tables that were ever opened.
    fn count(&self) -> usize {
        let tables = self.tables();
        tables.running.len() + tables.closed.len()
    }

    /// Creates a table.
    pub(crate) async fn create(
        self: &Arc<Self>,
        config: &pb::TableConfig,
        by: Author,
    ) -> Result<pb::CreateTableResponse, ApiRefusal> {
        let _one_at_a_time = self.create_lock.lock().await;
        match self.dependencies.log.recall(RequestKey::new(&by.actor, by.request), by.digest).await
        {
            Ok(Recall::Fresh) => {}
            Ok(Recall::Repeated { answer, first: _ }) => {
                return pb::CreateTableResponse::decode(answer).map_err(|_| {
                    api_refusal(ErrorReason::Corrupt, "the stored answer is damaged")
                });
            }
            Ok(Recall::IdReused) => return Err(status::request_id_reused()),
            Ok(Recall::TooOld) => return Err(status::request_id_too_old()),
            Err(_) => return Err(status::unavailable("the log cannot be read")),
        }
        let development = self.dependencies.development;
        let created: TableCreated = parse_config(config, development)?;
        self.check_game(&config.variant)?;
        if self.dependencies.room_delay.state(self.dependencies.clock.now()).is_behind {
            return Err(commands::behind_refusal("no table is opened"));
        }
        let id = development.table_id(self.count()).unwrap_or_else(|| self.ids.table_id());
        let answer = pb::CreateTableResponse { table_id: id.to_string() };
        let request = by.answered(answer.encode_to_vec());
        let event = TableRecord::from(created.clone());
        let entry = Entry {
            events: vec![event.on_stream(StreamId::from(id))],
            request: Some(request),
            actor: by.actor,
            trace: by.trace,
        };
        let appended = self.dependencies.log.append(entry).await;
        let created_at = appended.map_err(|error| append_refusal(&error))?.recorded_at;
        let table = Table::open(id, &created, created_at)
            .map_err(|corrupt| api_refusal(ErrorReason::Corrupt, corrupt.to_string()))?;
        let task = self.register(id);
        tokio::spawn(Arc::clone(self).run_guarded(RecoveredTable::new(table), task));
        Ok(answer)
    }
}

/// Refusal of a command whose entry the log did not take.
fn append_refusal(error: &AppendError) -> ApiRefusal {
    match error {
        AppendError::Duplicate { .. } => status::request_id_reused(),
        AppendError::Clock(off) => status::unavailable(&off.to_string()),
        AppendError::QueueFull
        | AppendError::Unavailable { .. }
        | AppendError::Lost
        | AppendError::TooLarge { .. }
        | AppendError::Empty
        | AppendError::Misplaced { .. }
        | AppendError::DuplicateInGroup { .. } => {
            status::unavailable("the log takes nothing at the moment")
        }
    }
}

/// Measures the delay of this process's timers until the log is lost or closed.
async fn measure_timer_delay(dependencies: Dependencies) {
    let Dependencies { log, clock, room_delay, .. } = dependencies;
    let stopped = log.stopped();
    drop(log);
    loop {
        let due = clock.now().plus(room_delay::PROBE_INTERVAL);
        if stopped
            .run_until_cancelled(tokio::time::sleep(room_delay::PROBE_INTERVAL))
            .await
            .is_none()
        {
            return;
        }
        let now = clock.now();
        room_delay.observe(now.since(due), now);
    }
}

/// Checks a table's configuration and fills in its defaults.
fn parse_config(
    config: &pb::TableConfig,
    development: Development,
) -> Result<TableCreated, ApiRefusal> {
    let pb::TableConfig {
        name,
        variant,
        rule_set,
        min_buy_in_credits: min_buy_in,
        max_buy_in_credits: max_buy_in,
        action_seconds: _,
        bank_seconds: _,
        pause_ms,
        seats,
        reveal_delayed: _,
        commit_ms: _,
        reveal_ms: _,
        contributors_min: _,
        suspend_hours: _,
        idle_seconds,
    } = config;
    let name = field::text("config.name", name, 1, 60)?;
    let rules: RuleSet = ruleset::read("config", variant, rule_set)?;
    let places = rules.player_counts();
    let (least, most) = (u32::from(*places.start()), u32::from(*places.end()));
    let range = |name: &str, value: u32, default: u32, min: u32, max: u32| {
        let value = if value == 0 { default } else { value };
        let problem = || wire::BadField::new(format!("config.{name}"), format!("{min} to {max}"));
        if (min..=max).contains(&value) { Ok(value) } else { Err(problem()) }
    };
    let seats = range("seats", *seats, most, least, most)?;
    let due = rules.min_stack(Credits::ZERO);
    let too_large = |error: primitives::CreditsOutOfRange| {
        wire::BadField::new("config.rule_set", format!("the antes are too large: {error}"))
    };
    let min = match field::credits("config.min_buy_in_credits", *min_buy_in)? {
        Credits::ZERO => due.times(20).map_err(too_large)?,
        given => given,
    };
    let max = match field::credits("config.max_buy_in_credits", *max_buy_in)? {
        Credits::ZERO => min.times(10).map_err(too_large)?,
        given => given,
    };
    if min < due {
        let problem = format!("one hand needs {due} credits; this is {min}");
        return Err(wire::BadField::new("config.min_buy_in_credits", problem).into());
    }
    if max < min {
        let problem = format!("at least min_buy_in_credits, {min}; this is {max}");
        return Err(wire::BadField::new("config.max_buy_in_credits", problem).into());
    }
    let mut settings = parse_settings(config, seats)?;
    development.mark(&mut settings);
    Ok(TableCreated {
        name,
        rule_set: rules.canonical(),
        seats,
        min_buy_in: min.get(),
        max_buy_in: max.get(),
        settings: settings.canonical(),
        pause_ms: range("pause_ms", *pause_ms, 0, 0, 60_000)?,
        idle_seconds: range("idle_seconds", *idle_seconds, 600, 30, 86_400)?,
    })
}

/// Reads the settings out of a table's configuration, with their defaults filled in.
fn parse_settings(config: &pb::TableConfig, seats: u32) -> Result<TableSettings, ApiRefusal> {
    let default = TableSettings::default();
    let or = |value: u32, default: u32| if value == 0 { default } else { value };
    let settings = TableSettings {
        action_seconds: or(config.action_seconds, default.action_seconds),
        bank_seconds: config.bank_seconds.unwrap_or(default.bank_seconds),
        commit_ms: or(config.commit_ms, default.commit_ms),
        contributors_min: config.contributors_min.unwrap_or(default.contributors_min),
        reveal_ms: or(config.reveal_ms, default.reveal_ms),
        suspend_hours: or(config.suspend_hours, default.suspend_hours),
        reveal: if config.reveal_delayed { SeedOpening::Delayed } else { SeedOpening::AtOnce },
        ..default
    };
    settings.check().map_err(|error| match error {
        SettingsError::OutOfBounds { name, .. } => {
            wire::BadField::new(format!("config.{name}"), error.to_string())
        }
        SettingsError::NotCanonical { .. } | SettingsError::TooLong(_) => {
            wire::BadField::new("config", error.to_string())
        }
    })?;
    if settings.contributors_min > seats {
        let problem = format!("at most the table's seats, {seats}");
        return Err(wire::BadField::new("config.contributors_min", problem).into());
    }
    Ok(settings)
}

#[cfg(test)]
mod seats_of_assigned_tokens {
    use super::*;
    use proto::common::v1 as common;

    fn config(fields: &str, seats: u32) -> Result<u32, String> {
        let text = |text: &str| common::rule_set_field::Value::Text(text.to_owned());
        let mut rule_set =
            vec![common::RuleSetField { name: "tokens".to_owned(), value: Some(text("assigned")) }];
        let words = fields.split('+').map(str::to_owned).collect();
        let list = common::rule_set_field::Value::List(common::WordList { words });
        let name = "assigned_tokens".to_owned();
        rule_set.push(common::RuleSetField { name, value: Some(list) });
        let config = pb::TableConfig {
            name: "Tokens".to_owned(),
            variant: "kessel".to_owned(),
            rule_set,
            seats,
            ..pb::TableConfig::default()
        };
        parse_config(&config, Development::default())
            .map(|created| created.seats)
            .map_err(|refused| format!("{refused:?}"))
    }

    /// rules/SPEC.md R-53: with tokens assigned to each player a table deals only hands of one size,
    /// so it has that many seats.
    #[test]
    fn table_has_as_many_seats_as_tokens_are_assigned_to() {
        let three = ["refund+embargo+markdown"; 3].join("+");
        assert_eq!(config(&three, 0), Ok(3));
        assert_eq!(config(&three, 3), Ok(3));
        for seats in [2, 4] {
            assert!(config(&three, seats).unwrap_err().contains("config.seats"), "{seats}");
        }
        assert_eq!(config("refund+embargo+markdown", 0), Ok(6));
        assert_eq!(config("refund+embargo+markdown", 2), Ok(2));
    }
}
