//! The three logs, read without owning them: of the room that runs in a data folder, or of a
//! stopped one, whose database is started for the reading.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use audit::bundle::{Bundle, TrustedKeys};
use audit::hand::{HandRecords, TableStream, TextKey};
use audit::log_event::LogEvent;
use chassis::config::{ArchiveConfig, ArchiveLocation, Service, Source};
use eventlog::{Event, PgStore, PoolSizes, Position, Reader, RequestKey, StreamId, Version};
use postgres_launcher::{Environment, Postgres, default_data_dir};
use primitives::{HandId, TableId};
use sabacc_wallet::repo::Repo;
use wire::records::{Record as _, TableRecord, WalletRecord};

use crate::data_directory::DataDirectory;
use crate::keys;
use crate::progress_bar::ProgressBar;
use crate::signed_log::SignedLog;

/// Events read at a time.
const PAGE: usize = 1000;

/// Maximum number of events of one settlement: the accounts that it opens, and the transfer.
const MAX_SETTLEMENT_EVENTS: usize = 8;

/// The logs of a room.
pub(crate) struct Logs {
    pub(crate) table: SignedLog,
    pub(crate) dealer: SignedLog,
    pub(crate) wallet: SignedLog,
    /// The wallet's tables.
    pub(crate) wallet_tables: Repo,
    /// The logs' public keys, from the data folder.
    pub(crate) trusted: TrustedKeys,
    /// The dealer's public key.
    dealer_key: [u8; 32],
    /// PostgreSQL that was started for this reading.
    postgres: Option<Postgres>,
    /// Streams of tables; each is read once.
    streams: BTreeMap<TableId, TableStream>,
}

impl Logs {
    /// Opens the logs of the room in a data folder.
    pub(crate) async fn open(data: Option<PathBuf>) -> anyhow::Result<Logs> {
        let environment = Environment::read();
        let path = data.unwrap_or_else(|| default_data_dir(&environment));
        let folder = DataDirectory::open(&path)?;
        if let Some(running) = folder.running_room()
            && let Ok(logs) = Logs::connect(&folder, &running.database_url, None).await
        {
            return Ok(logs);
        }
        let options = postgres_launcher::Options::new(folder.path(), environment);
        if options.database_url.is_none() && !folder.path().join("postgres").exists() {
            bail!(
                "the room in {} has no database of its own and does not run: name its database with \
                 DATABASE_URL",
                folder.path().display()
            );
        }
        let postgres = postgres_launcher::obtain(&options).await?;
        let url = postgres.admin_url();
        Logs::connect(&folder, &url, Some(postgres)).await
    }

    /// Opens the logs in a database; fails if it does not answer. Removed records are read from the
    /// archives that the settings or the data folder have.
    pub(crate) async fn connect(
        folder: &DataDirectory,
        url: &str,
        postgres: Option<Postgres>,
    ) -> anyhow::Result<Logs> {
        let archives = ArchiveConfig::from_source(Source::from_process(None)?)?;
        let location = archives.location;
        let location = location.unwrap_or_else(|| ArchiveLocation::Folder(folder.archives_path()));
        let storage = archive_storage::open(&location, &archives.access)?;
        let store = async |service: Service| {
            let store = PgStore::connect(url, service.name(), PoolSizes::default()).await?;
            let log = format!("{}/0", service.name());
            let key = keys::verifier_key(folder, service)?;
            let signed = SignedLog::new(Arc::clone(&store), &log, key);
            anyhow::Ok((store, signed.with_archives(storage.clone())))
        };
        let (wallet_store, wallet) = store(Service::Wallet).await?;
        let logs = Logs {
            table: store(Service::Table).await?.1,
            dealer: store(Service::Dealer).await?.1,
            wallet_tables: Repo::new(&wallet_store),
            wallet,
            trusted: TrustedKeys::parse(&keys::room_keys(folder)?)?,
            dealer_key: folder.log_identity(Service::Dealer)?.key.verifying_key().to_bytes(),
            postgres,
            streams: BTreeMap::new(),
        };
        logs.table.reader.size().await.context("the table's log cannot be read")?;
        Ok(logs)
    }

    /// Stops a database that was started for the reading.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        let Logs { table, dealer, wallet, wallet_tables: books, postgres, .. } = self;
        drop((table, dealer, wallet, books));
        match postgres {
            Some(postgres) => Ok(postgres.stop().await?),
            None => Ok(()),
        }
    }

    /// Whether a room runs on these logs, and may sign more of them.
    pub(crate) fn is_running(&self) -> bool {
        self.postgres.is_none()
    }

    /// Parses a hand id, or `latest`.
    pub(crate) async fn parse_hand_id(&self, id: &str) -> anyhow::Result<HandId> {
        if id == "latest" {
            return self.latest().await;
        }
        id.parse().map_err(|error| anyhow::anyhow!("`{id}` is no hand's id: {error}"))
    }

    /// Returns the hand that ended last, with its settlement posted and its seed open, in either
    /// order.
    pub(crate) async fn latest(&self) -> anyhow::Result<HandId> {
        let mut ends = BTreeMap::new();
        let mut end = self.table.reader.size().await?;
        while end > 0 {
            let start = end.saturating_sub(PAGE as u64);
            let limit = usize::try_from(end - start)?;
            let mut found = Vec::new();
            let add = |event: Event| {
                let recorded = TableRecord::try_from(&event)?;
                if matches!(
                    recorded,
                    TableRecord::HandRevealed(_) | TableRecord::SettlementPosted(_)
                ) {
                    found.push((event.stream, recorded.kind()));
                }
                anyhow::Ok(())
            };
            self.table.reader.for_each(Position(start), limit, add).await?;
            for (stream, kind) in found.into_iter().rev() {
                if ends.insert(stream, kind).is_some_and(|other| other != kind) {
                    return Ok(HandId(stream.0));
                }
            }
            end = start;
        }
        bail!(
            "no hand has ended yet: at a table of bots one takes about half a minute; ask again then"
        )
    }

    /// Returns all records of a hand.
    pub(crate) async fn hand_records(&mut self, id: HandId) -> anyhow::Result<HandRecords> {
        let hand = read_stream(&self.table.reader, id.into()).await?;
        let Some(first) = hand.first() else { bail!("there is no hand {id} on record") };
        let TableRecord::HandOpened(opened) = TableRecord::try_from(first)? else {
            bail!("{id} is no hand's id");
        };
        let table = TableId::try_from(opened.table_id.as_ref())?;
        let of_hand = self.stream_of_table(table).await?.of_hand(opened.hand_no).to_vec();
        let dealer = read_stream(&self.dealer.reader, id.into()).await?;
        let mut wallet = Vec::new();
        let settlement = RequestKey::new("service:table", id.into());
        if let Some(request) = self.wallet.reader.request(settlement).await? {
            // A transfer follows the accounts that it opens.
            wallet = self.wallet.reader.read(request.first, MAX_SETTLEMENT_EVENTS).await?;
            wallet.retain(|event| {
                let posted = WalletRecord::try_from(event);
                event.request_id == Some(id.into())
                    && matches!(posted, Ok(WalletRecord::TransferPosted(_)))
            });
        }
        let bundled = |events: Vec<Event>| events.into_iter().map(LogEvent::for_bundle).collect();
        Ok(HandRecords {
            hand_id: id,
            hand: bundled(hand),
            table: bundled(of_hand),
            dealer: bundled(dealer),
            wallet: bundled(wallet),
            dealer_keys: vec![TextKey { key: self.dealer_key, until: None }],
            proofs: None,
        })
    }

    /// Returns the records of a hand with the proofs that they are in the logs.
    ///
    /// # Errors
    /// The logs have not signed all of them yet.
    pub(crate) async fn bundle(&self, records: &HandRecords) -> anyhow::Result<Bundle> {
        let mut of_table = [&records.hand[..], &records.table].concat();
        of_table.sort_by_key(|event| event.position);
        Ok(Bundle {
            hand_id: records.hand_id,
            table: self.table.prove(of_table).await?,
            dealer: self.dealer.prove(records.dealer.clone()).await?,
            wallet: self.wallet.prove(records.wallet.clone()).await?,
        })
    }

    /// Returns the table with this id or name.
    pub(crate) async fn find_table(&self, named: &str) -> anyhow::Result<TableId> {
        if let Ok(id) = named.parse() {
            return Ok(id);
        }
        let mut found = Vec::new();
        for_each_event(&self.table.reader, |event| {
            if let Ok(TableRecord::TableCreated(created)) = TableRecord::try_from(event)
                && created.name == named
            {
                found.push(TableId(event.stream.0));
            }
        })
        .await?;
        match found[..] {
            [id] => Ok(id),
            [] => bail!("there is no table `{named}` on record"),
            [..] => {
                let ids: Vec<String> = found.iter().map(ToString::to_string).collect();
                bail!("{} tables are called `{named}`: name one of {}", ids.len(), ids.join(", "))
            }
        }
    }

    /// Returns the numbers of a table's started hands.
    pub(crate) async fn started_hands(&mut self, table: TableId) -> anyhow::Result<Vec<u64>> {
        Ok(self.stream_of_table(table).await?.started().to_vec())
    }

    /// Returns a table's own stream.
    pub(crate) async fn table_stream(&self, table: TableId) -> anyhow::Result<Vec<Event>> {
        read_stream(&self.table.reader, table.into()).await
    }

    /// Returns the events of a table's own stream that can be read: the newest, where archives are not
    /// mounted.
    pub(crate) async fn kept_table_stream(&self, table: TableId) -> anyhow::Result<Vec<Event>> {
        let (reader, stream) = (&self.table.reader, table.into());
        let last = reader.stream_end(stream).await?.map_or(Version(0), |end| end.version());
        let kept = reader.first_kept(stream, Version(1)..Version(last.0 + 1)).await?;
        read_stream_from(reader, stream, kept).await
    }

    async fn stream_of_table(&mut self, table: TableId) -> anyhow::Result<&TableStream> {
        if !self.streams.contains_key(&table) {
            let events = self.kept_table_stream(table).await?;
            self.streams.insert(table, TableStream::new(events));
        }
        self.streams.get(&table).context("the table was just read")
    }

    /// Returns the ended hands of a table, in order.
    pub(crate) async fn ended_hands(&self, table: TableId) -> anyhow::Result<Vec<HandId>> {
        let mut hands = Vec::new();
        for event in read_stream(&self.table.reader, table.into()).await? {
            if let TableRecord::HandFinished(finished) = TableRecord::try_from(&event)? {
                hands.push(HandId::try_from(finished.hand_id.as_ref())?);
            }
        }
        Ok(hands)
    }
}

/// Reads a whole stream.
async fn read_stream(reader: &Reader, stream: StreamId) -> anyhow::Result<Vec<Event>> {
    read_stream_from(reader, stream, Version(1)).await
}

/// Reads a stream from a version on.
async fn read_stream_from(
    reader: &Reader,
    stream: StreamId,
    first: Version,
) -> anyhow::Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let from = events.last().map_or(first, |last| Version(last.version.0 + 1));
        let page = reader.read_stream(stream, from, PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

/// Passes every event of a log to `take`, in order. The next page is read meanwhile.
pub(crate) async fn for_each_event(
    reader: &Reader,
    mut take: impl FnMut(&Event),
) -> anyhow::Result<()> {
    let mut pages = reader.pages(Position(0)..Position(u64::MAX));
    let bar = ProgressBar::start("records", None);
    while let Some(page) = pages.next().await? {
        bar.advance(u64::try_from(page.len()).unwrap_or(u64::MAX));
        page.iter().for_each(&mut take);
    }
    Ok(())
}
