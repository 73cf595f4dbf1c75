//! The three logs, read without owning them: of the room that runs in a data folder, or of one that
//! does not, whose database is started for as long as it is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use audit::hand::HandRecords;
use chassis::config::Service;
use chassis::postgres::{self, Environment, Postgres, default_data_dir};
use eventlog::{Event, PgStore, Pools, Position, Reader, StreamId, Version};
use primitives::{HandId, TableId};
use sabacc_wallet::repo::Repo;
use wire::Recorded;

use crate::folder::Folder;

/// Events read at a time.
const PAGE: usize = 1000;

/// Events that one settlement is at the most: the accounts it opens, and the transfer.
const SETTLEMENT: usize = 8;

/// The logs of a room.
pub(crate) struct Logs {
    pub(crate) table: Reader,
    pub(crate) dealer: Reader,
    pub(crate) wallet: Reader,
    /// The tables beside the wallet's log.
    pub(crate) books: Repo,
    /// The dealer's public key, as this folder has it.
    dealer_key: [u8; 32],
    /// Started for this reading, and stopped after it.
    postgres: Option<Postgres>,
    /// What a table's stream says of its hands, by table and hand number: read once a table.
    hands: BTreeMap<TableId, BTreeMap<u64, Vec<Event>>>,
}

impl Logs {
    /// The logs of the room in a data folder.
    pub(crate) async fn open(data: Option<PathBuf>) -> anyhow::Result<Logs> {
        let environment = Environment::read();
        let path = data.unwrap_or_else(|| default_data_dir(&environment));
        if !path.join("keys").exists() {
            bail!(
                "there is no room in {}: start one with `sabacc up`, or name its folder with --data",
                path.display()
            );
        }
        let folder = Folder::open(&path)?;
        if let Some(running) = folder.running()
            && let Ok(logs) = Logs::at(&folder, &running.database_url, None).await
        {
            return Ok(logs);
        }
        let options = postgres::Options::new(folder.path(), environment);
        let postgres = postgres::obtain(&options).await?;
        let url = postgres.admin_url();
        Logs::at(&folder, &url, Some(postgres)).await
    }

    /// The logs at a database; fails where it does not answer.
    pub(crate) async fn at(
        folder: &Folder,
        url: &str,
        postgres: Option<Postgres>,
    ) -> anyhow::Result<Logs> {
        let store = async |service: &str| PgStore::connect(url, service, Pools::default()).await;
        let wallet = store("wallet").await?;
        let logs = Logs {
            table: Reader::new(store("table").await?, "table/0"),
            dealer: Reader::new(store("dealer").await?, "dealer/0"),
            books: Repo::new(&wallet),
            wallet: Reader::new(wallet, "wallet/0"),
            dealer_key: folder.log(Service::Dealer)?.key.verifying_key().to_bytes(),
            postgres,
            hands: BTreeMap::new(),
        };
        logs.table.size().await.context("the table's log cannot be read")?;
        Ok(logs)
    }

    /// Stops what was started for reading.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        let Logs { table, dealer, wallet, books, postgres, .. } = self;
        drop((table, dealer, wallet, books));
        match postgres {
            Some(postgres) => Ok(postgres.stop().await?),
            None => Ok(()),
        }
    }

    /// The hand that somebody means.
    pub(crate) async fn named(&self, id: &str) -> anyhow::Result<HandId> {
        if id == "latest" {
            return self.latest().await;
        }
        id.parse().map_err(|error| anyhow::anyhow!("`{id}` is no hand's id: {error}"))
    }

    /// The hand that ended last.
    pub(crate) async fn latest(&self) -> anyhow::Result<HandId> {
        let mut end = self.table.size().await?;
        while end > 0 {
            let start = end.saturating_sub(PAGE as u64);
            let limit = usize::try_from(end - start)?;
            let page = self.table.read(Position(start), limit).await?;
            for event in page.iter().rev() {
                if let Recorded::HandRevealed(_) = Recorded::try_from(event)? {
                    return Ok(HandId(event.stream.0));
                }
            }
            end = start;
        }
        bail!("no hand has ended yet")
    }

    /// All records of a hand.
    pub(crate) async fn hand(&mut self, id: HandId) -> anyhow::Result<HandRecords> {
        let hand = stream(&self.table, id.into()).await?;
        let Some(first) = hand.first() else { bail!("there is no hand {id} on record") };
        let Recorded::HandOpened(opened) = Recorded::try_from(first)? else {
            bail!("{id} is no hand's id");
        };
        let table = TableId::try_from(opened.table_id.as_ref())?;
        let of_hand = self.of_table(table).await?.get(&opened.hand_no);
        let of_hand = of_hand.cloned().unwrap_or_default();
        let dealer = stream(&self.dealer, id.into()).await?;
        let mut wallet = Vec::new();
        if let Some(request) = self.wallet.request(id.into()).await? {
            // A transfer stands behind the accounts that it opens.
            wallet = self.wallet.read(request.first, SETTLEMENT).await?;
            wallet.retain(|event| {
                let posted = Recorded::try_from(event);
                event.request_id == Some(id.into())
                    && matches!(posted, Ok(Recorded::TransferPosted(_)))
            });
        }
        let dealer_keys = vec![self.dealer_key];
        let proofs = None;
        Ok(HandRecords { hand_id: id, hand, table: of_hand, dealer, wallet, dealer_keys, proofs })
    }

    /// What a table's stream says of its hands.
    async fn of_table(&mut self, table: TableId) -> anyhow::Result<&BTreeMap<u64, Vec<Event>>> {
        if !self.hands.contains_key(&table) {
            let mut hands: BTreeMap<u64, Vec<Event>> = BTreeMap::new();
            for event in stream(&self.table, table.into()).await? {
                let Some(hand_no) = hand_no(&Recorded::try_from(&event)?) else { continue };
                hands.entry(hand_no).or_default().push(event);
            }
            self.hands.insert(table, hands);
        }
        self.hands.get(&table).context("the table was just read")
    }

    /// The hands of a table that have ended, in order.
    pub(crate) async fn ended(&self, table: TableId) -> anyhow::Result<Vec<HandId>> {
        let mut hands = Vec::new();
        for event in stream(&self.table, table.into()).await? {
            if let Recorded::HandFinished(finished) = Recorded::try_from(&event)? {
                hands.push(HandId::try_from(finished.hand_id.as_ref())?);
            }
        }
        Ok(hands)
    }
}

/// The hand that an event of a table's stream is about, if it is about one.
fn hand_no(event: &Recorded) -> Option<u64> {
    if let Recorded::HandCommitted(committed) = event {
        Some(committed.hand_no)
    } else if let Recorded::HandStarted(started) = event {
        Some(started.hand_no)
    } else if let Recorded::HandFinished(finished) = event {
        Some(finished.hand_no)
    } else {
        None
    }
}

/// A whole stream.
async fn stream(reader: &Reader, stream: StreamId) -> anyhow::Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let from = events.last().map_or(Version(0), |last| Version(last.version.0 + 1));
        let page = reader.read_stream(stream, from, PAGE).await?;
        let full = page.len() == PAGE;
        events.extend(page);
        if !full {
            return Ok(events);
        }
    }
}

/// Gives every event of a log to `take`, in order.
pub(crate) async fn each(reader: &Reader, mut take: impl FnMut(&Event)) -> anyhow::Result<()> {
    let mut from = Position(0);
    loop {
        let page = reader.read(from, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        from = Position(last.position.0 + 1);
        page.iter().for_each(&mut take);
    }
}
