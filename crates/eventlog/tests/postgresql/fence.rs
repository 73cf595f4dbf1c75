//! The owner's row: appends lock it and leave it as it is, claims change it.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use eventlog::store::{AppendOutcome, StoreError};
use eventlog::{Position, ReadError, SnapshotPlace, Store as _};
use sqlx::{Connection as _, PgConnection};

use crate::ahead::{
    BlockingTransaction, LOG, batch, claim, first_two, positions, request, send, store,
};

/// Appends beside a snapshot that is held open.
const APPENDS: u64 = 300;

/// Place and transaction of the present versions of the rows that say whose the log is.
async fn versions(admin: &mut PgConnection) -> anyhow::Result<Vec<String>> {
    let sql = "SELECT concat_ws(' ', 'owners', ctid, xmin) FROM wallet.owners
        UNION ALL SELECT concat_ws(' ', 'leases', ctid, xmin) FROM wallet.leases";
    Ok(sqlx::query_scalar(sql).fetch_all(admin).await?)
}

/// While somebody reads from an old snapshot, as a backup does, PostgreSQL can remove no version of
/// a row. A row that each append changed would have 300 of them here, and each append would walk
/// past them all.
/// ARCHITECTURE.md §2.3.
#[tokio::test]
async fn appends_leave_no_old_versions_behind() -> anyhow::Result<()> {
    let (admin, store) = store("fence_versions").await?;
    let epoch = claim(&store, false).await?.epoch;
    let mut connection = PgConnection::connect(&admin).await?;
    let before = versions(&mut connection).await?;
    let mut backup = PgConnection::connect(&admin).await?;
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM wallet.owners";
    sqlx::raw_sql(begin).execute(&mut backup).await?;
    for first in 0..APPENDS {
        let behind = first.checked_sub(1).filter(|_| first % 2 == 1);
        assert_eq!(store.append(&batch(epoch, first, behind)).await?, AppendOutcome::Written);
    }
    assert_eq!(versions(&mut connection).await?, before);
    // The same by the server's own counts, for every table. Sessions report theirs at their end.
    drop(store);
    let counts = "SELECT coalesce(sum(n_tup_upd), 0)::bigint, coalesce(sum(n_tup_ins)
            FILTER (WHERE relname = 'event_groups'), 0)::bigint
        FROM pg_stat_user_tables WHERE schemaname = 'wallet' AND relname <> '_sqlx_migrations'";
    let counted = async {
        loop {
            let (updated, inserted) =
                sqlx::query_as::<_, (i64, i64)>(counts).fetch_one(&mut connection).await?;
            if inserted.unsigned_abs() >= APPENDS {
                return anyhow::Ok(updated);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), counted).await??, 0);
    backup.close().await?;
    Ok(())
}

/// ARCHITECTURE.md §2.3.
#[tokio::test]
async fn a_claim_waits_for_an_append_and_counts_it() -> anyhow::Result<()> {
    let (admin, store) = store("fence_claim").await?;
    let epoch = claim(&store, false).await?.epoch;
    assert_eq!(store.append(&first_two(epoch)).await?, AppendOutcome::Written);
    let mut way = BlockingTransaction::hold(&admin, request(2), 1).await?;
    let append = send(&store, batch(epoch, 2, None));
    way.until_begun().await?;
    let taken = tokio::spawn({
        let store = store.clone();
        async move { claim(&store, true).await }
    });
    until_waits(&admin, "-- claim%", 1).await?;
    way.end("ROLLBACK").await?;
    assert_eq!(append.await??, AppendOutcome::Written);
    let fence = taken.await??;
    assert_eq!(fence.size, 3, "the claim began before the append was committed");
    assert_eq!(store.append(&batch(epoch, 3, None)).await?, AppendOutcome::Fenced);
    assert_eq!(store.append(&batch(fence.epoch, 3, None)).await?, AppendOutcome::Written);
    Ok(())
}

/// An append in turn, and one behind another batch, between which the claim comes.
/// ARCHITECTURE.md §2.3.
#[tokio::test]
async fn an_append_that_waited_for_a_claim_writes_nothing() -> anyhow::Result<()> {
    let (admin, store) = store("fence_waited").await?;
    for behind in [None, Some(0)] {
        let epoch = claim(&store, true).await?.epoch;
        if positions(&admin).await?.is_empty() {
            assert_eq!(store.append(&first_two(epoch)).await?, AppendOutcome::Written);
        }
        let mut claimant = PgConnection::connect(&admin).await?;
        let claim = "BEGIN; UPDATE wallet.owners SET epoch = 7";
        sqlx::raw_sql(claim).execute(&mut claimant).await?;
        let append = send(&store, batch(epoch, 2, behind));
        until_waits(&admin, "-- append%", 1).await?;
        sqlx::raw_sql("COMMIT").execute(&mut claimant).await?;
        assert_eq!(append.await??, AppendOutcome::Fenced, "{behind:?}");
        assert_eq!(positions(&admin).await?, [0, 1], "{behind:?}");
    }
    Ok(())
}

/// ARCHITECTURE.md §2.6.
#[tokio::test]
async fn a_batch_that_is_sent_twice_at_once_goes_in_once() -> anyhow::Result<()> {
    let (admin, store) = store("fence_twice").await?;
    let epoch = claim(&store, false).await?.epoch;
    assert_eq!(store.append(&first_two(epoch)).await?, AppendOutcome::Written);
    let mut way = BlockingTransaction::hold(&admin, request(2), 1).await?;
    let first = send(&store, batch(epoch, 2, None));
    way.until_begun().await?;
    let again = send(&store, batch(epoch, 2, None));
    until_waits(&admin, "-- append%", 2).await?;
    let ahead = send(&store, batch(epoch, 3, Some(2)));
    way.until_waited(1).await?;
    let ahead_again = send(&store, batch(epoch, 3, Some(2)));
    until_waits(&admin, "-- append%", 4).await?;
    way.end("ROLLBACK").await?;
    let outcomes = [first.await?, again.await?, ahead.await?, ahead_again.await?];
    let written = |outcomes: &[Result<AppendOutcome, StoreError>]| {
        outcomes.iter().filter(|it| matches!(it, Ok(AppendOutcome::Written))).count()
    };
    assert_eq!(written(&outcomes[..2]), 1, "{outcomes:?}");
    // The other may have come between, so that the batch ahead found another end.
    ensure!(written(&outcomes[2..]) <= 1, "{outcomes:?}");
    ensure!(
        outcomes.iter().all(|it| matches!(it, Ok(outcome) if *outcome != AppendOutcome::Duplicate)),
        "{outcomes:?}"
    );
    let size = store.fence(LOG).await?.context("a log")?.size;
    if size == 3 {
        assert_eq!(store.append(&batch(epoch, 3, None)).await?, AppendOutcome::Written);
    }
    assert_eq!(store.append(&batch(epoch, 3, None)).await?, AppendOutcome::Fenced);
    assert_eq!(positions(&admin).await?, [0, 1, 2, 3]);
    Ok(())
}

/// An owner that was frozen while it stored a snapshot does not remove the newer one of its successor.
/// ARCHITECTURE.md §2.10.
#[tokio::test]
async fn only_the_owner_stores_a_snapshot() -> anyhow::Result<()> {
    let (_, store) = store("fence_snapshots").await?;
    let snapshots = store.snapshots(LOG);
    let place = |size| SnapshotPlace { size, named_at: Position(size) };
    let frozen = claim(&store, false).await?.epoch;
    snapshots.store(place(1), b"one", frozen).await?;
    let owner = claim(&store, true).await?.epoch;
    snapshots.store(place(9), b"nine", owner).await?;
    let stored = snapshots.places().await?;
    assert_eq!(stored, [place(9), place(1)]);
    for size in [1, 5, 9] {
        let refused = snapshots.store(place(size), b"late", frozen).await;
        ensure!(matches!(refused, Err(ReadError::Stopped)), "{size}: {refused:?}");
    }
    assert_eq!(snapshots.places().await?, stored);
    Ok(())
}

/// Waits until `count` statements of this text wait for a lock.
async fn until_waits(admin: &str, like: &'static str, count: i64) -> anyhow::Result<()> {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid() AND wait_event_type = 'Lock' AND query LIKE $1";
    let mut connection = PgConnection::connect(admin).await?;
    let waits = async {
        while sqlx::query_scalar::<_, i64>(sql).bind(like).fetch_one(&mut connection).await? < count
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(Duration::from_secs(60), waits).await.context("nobody waits")?
}
