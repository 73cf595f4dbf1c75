//! Removal and restoration of archived ranges, by an administrator.
//!
//! The cut moves first, in a transaction of its own, and the rows follow in steps, so that the
//! log's owner waits for neither. An interrupted run can be repeated.
//!
//! Specification: ARCHITECTURE.md §2.11.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};
use std::sync::Arc;

use eventlog_core::record::LeafRecord;
use eventlog_core::{Event, Position};
use merkle::Tree;
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use super::authors::AuthorNumbers;
use super::checkpoint_store::last_checkpoint;
use super::sql;
use super::writer_pool::{connect_options, set_session};
use crate::archive::{Archive, ArchiveError, Retained, Verified};
use crate::error::ReadError;
use crate::store::READ_BYTES;

const STEP: u64 = 10_000;
const PAGE: usize = 1000;
/// Leaves of a tile.
const TILE_WIDTH: u64 = 256;

/// Removes the range of an archive from the database, but for what is retained. Returns the number of
/// removed events. The last event of the log stays, and of each stream the leaf record of its last.
pub async fn remove(
    admin_url: &str,
    service: &str,
    file: &mut (impl Read + Seek),
    retained: Retained<'_>,
) -> Result<u64, ArchiveError> {
    let (mut admin, whole) = begin(admin_url, service, file).await?;
    if whole.recorded_at >= retained.since {
        return Err(ArchiveError::Retained(retained.since));
    }
    let (log, range) = (&*whole.header.log, &whole.header.range);
    let newest = last_checkpoint(&mut admin, log).await.map_err(database)?;
    let signed = newest.map(|checkpoint| checkpoint.size);
    if let Some(signed) = signed.filter(|signed| *signed < range.end) {
        return Err(ArchiveError::NotSigned { to: range.end, signed });
    }
    let cut = cut(&mut admin, log).await?;
    if cut != whole.after {
        if cut != whole.header.before {
            return Err(out_of_order(&whole, &cut));
        }
        let mut ends = BTreeMap::new();
        compare(&mut admin, file, |event| {
            ends.insert(event.stream, event.leaf_record());
        })
        .await?;
        let ends: Vec<LeafRecord> = ends.into_values().collect();
        for some in ends.chunks(PAGE) {
            sql::put_stream_ends(&mut admin, log, some).await.map_err(database)?;
        }
        sql::move_cut(&mut admin, log, &whole.after, range.start).await.map_err(database)?;
    }
    // A notary that starts reads the leaves of the last tile from the events.
    let (mut from, end) = match signed {
        Some(_) => (full_tiles(range.start), full_tiles(range.end)),
        None => (range.start, range.end),
    };
    let mut removed = 0;
    while from < end {
        let to = end.min(from + STEP);
        let step = sql::Removal { log, schema: service, range: from..to, archived: end };
        removed += sql::remove(&mut admin, step, &retained).await.map_err(database)?;
        from = to;
    }
    Ok(removed)
}

/// Restores the range of an archive, and moves the cut to its beginning.
pub async fn restore(
    admin_url: &str,
    service: &str,
    file: &mut (impl Read + Seek),
) -> Result<(), ArchiveError> {
    let (mut admin, whole) = begin(admin_url, service, file).await?;
    let cut = cut(&mut admin, &whole.header.log).await?;
    if cut != whole.after {
        return Err(out_of_order(&whole, &cut));
    }
    let mut archive = Archive::open(file.by_ref())?;
    loop {
        let page = page(&mut archive)?;
        if page.is_empty() {
            break;
        }
        put_back(&mut admin, &whole.header.log, page).await.map_err(database)?;
    }
    file.rewind()?;
    compare(&mut admin, file, |_| {}).await?;
    let before = &whole.header.before;
    sql::move_cut(&mut admin, &whole.header.log, before, before.size()).await.map_err(database)
}

/// Inserts those of adjacent events that are missing: some stayed.
async fn put_back(
    admin: &mut PgConnection,
    log: &str,
    events: Vec<Event>,
) -> Result<(), sqlx::Error> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
    let (mut from, last) = (first.position, last.position);
    let mut there = BTreeSet::new();
    loop {
        let kept = sql::read(&mut *admin, log, from, PAGE).await?;
        let Some(end) = kept.last().map(|event| event.position) else { break };
        there.extend(kept.into_iter().map(|event| event.position));
        if end >= last {
            break;
        }
        from = Position(end.0 + 1);
    }
    let missing: Vec<Event> =
        events.into_iter().filter(|event| !there.contains(&event.position)).collect();
    let mut authors = AuthorNumbers::default();
    authors.add(admin, &missing).await?;
    sql::put_back(admin, log, &missing, &authors).await
}

async fn begin(
    admin_url: &str,
    service: &str,
    file: &mut (impl Read + Seek),
) -> Result<(PgConnection, Verified), ArchiveError> {
    let whole = Archive::open(file.by_ref())?.finish()?;
    file.rewind()?;
    let options = connect_options(admin_url, service)
        .map_err(|error| ArchiveError::Database(Arc::new(error)))?;
    let mut admin = PgConnection::connect_with(&options).await.map_err(database)?;
    set_session(&mut admin, service).await.map_err(database)?;
    Ok((admin, whole))
}

async fn cut(admin: &mut PgConnection, log: &str) -> Result<Tree, ArchiveError> {
    Ok(sql::cut(admin, log).await.map_err(database)?.unwrap_or_default())
}

/// Compares the file and the live log event for event, and shows each.
async fn compare(
    admin: &mut PgConnection,
    file: &mut (impl Read + Seek),
    mut show: impl FnMut(&Event),
) -> Result<(), ArchiveError> {
    let mut archive = Archive::open(file.by_ref())?;
    let log = archive.header().log.clone();
    loop {
        let page = page(&mut archive)?;
        let Some(first) = page.first() else { return Ok(()) };
        let from = first.position;
        let live = sql::read(&mut *admin, &log, from, page.len()).await.map_err(database)?;
        if live != page {
            let same = live.iter().zip(&page).take_while(|(live, kept)| live == kept).count();
            return Err(ArchiveError::Differs(from.0 + same as u64));
        }
        page.iter().for_each(&mut show);
    }
}

/// Next events of an archive: as many as one read of a log answers with.
fn page<R: Read>(archive: &mut Archive<R>) -> Result<Vec<Event>, ArchiveError> {
    let (mut page, mut bytes) = (Vec::new(), 0);
    while page.len() < PAGE && bytes < READ_BYTES {
        let Some(event) = archive.next_event()? else { break };
        bytes += event.payload.len() as u64;
        page.push(event);
    }
    Ok(page)
}

/// Positions of the tiles that are full at a size.
const fn full_tiles(size: u64) -> u64 {
    size - size % TILE_WIDTH
}

fn out_of_order(whole: &Verified, cut: &Tree) -> ArchiveError {
    let range = &whole.header.range;
    ArchiveError::Order { from: range.start, to: range.end, cut: cut.size() }
}

fn database(error: sqlx::Error) -> ArchiveError {
    if matches!(error, sqlx::Error::ColumnDecode { .. }) {
        return ReadError::Corrupt(error.to_string().into()).into();
    }
    ArchiveError::Database(Arc::new(error))
}
