//! What a superuser of the database writes is not believed by the next owner.

use anyhow::Context as _;
use eventlog::{
    AppendError, Authenticator, Log, OpenError, Options, PgStore, PoolSizes, Position,
    PreviousSecret, ReadError, Recall, RequestId, RequestKey, Store, StreamId, Version,
};
use std::sync::Arc;

use crate::{as_role, entry, migrated, options, run};

const LOG: &str = "table/0";
/// Lets the superuser change rows.
const UNLOCK: &str =
    "SET search_path = \"table\"; ALTER TABLE event_groups DISABLE TRIGGER append_only";

struct Fixture {
    admin: String,
    store: Arc<PgStore>,
}

impl Fixture {
    /// Log with five events, which nobody owns.
    async fn new(name: &str) -> anyhow::Result<Fixture> {
        let admin = migrated(name).await?;
        let url = as_role(&admin, "sabacc_table");
        let store = PgStore::connect(&url, "table", PoolSizes::default()).await?;
        let fixture = Fixture { admin, store };
        let log = fixture.open().await?;
        for n in 0..5 {
            log.append(entry(n)).await?;
        }
        log.close().await;
        Ok(fixture)
    }

    async fn open(&self) -> Result<Log, OpenError> {
        self.open_with(options(LOG)).await
    }

    async fn open_with(&self, options: Options) -> Result<Log, OpenError> {
        Log::open(Arc::<PgStore>::clone(&self.store), options).await
    }

    async fn as_superuser(&self, sql: &str) -> anyhow::Result<()> {
        Ok(run(&self.admin, &format!("{UNLOCK}; {sql}")).await?)
    }
}

fn authenticator() -> Authenticator {
    options(LOG).authenticator
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn position_named(error: &impl ToString) -> bool {
    error.to_string().contains("is not as it was written with this log's key")
}

/// Row like the last one, at the end of the log and of its stream, without a request.
const APPEND_FORGED: &str = "INSERT INTO event_groups
    SELECT position + count, recorded_at, version + count, author, log, count, stream, NULL, trace, NULL,
        NULL, sha256('any'), content, NULL
    FROM event_groups ORDER BY position DESC LIMIT 1";

/// ARCHITECTURE.md §2.2.
#[tokio::test]
async fn an_event_that_a_superuser_appends_is_adopted_by_no_owner() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_append").await?;
    let owner = fixture.open().await?;
    fixture.as_superuser(APPEND_FORGED).await?;
    assert!(
        matches!(owner.append(entry(8)).await, Err(AppendError::Lost)),
        "the log ends elsewhere"
    );
    drop(owner);
    let taken = Options { take_over: true, ..options(LOG) };
    let refused = fixture.open_with(taken.clone()).await.err();
    assert!(
        matches!(&refused, Some(error @ OpenError::Corrupt { .. }) if position_named(error)),
        "{refused:?}"
    );
    // As the runbook says.
    fixture.as_superuser("DELETE FROM event_groups WHERE position >= 5").await?;
    let owner = fixture.open_with(taken).await?;
    assert_eq!(owner.append(entry(9)).await?.first, Position(5));
    Ok(())
}

/// ARCHITECTURE.md §2.2.
#[tokio::test]
async fn an_event_that_a_superuser_changes_is_read_by_no_owner() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_change").await?;
    let log = fixture.open().await?;
    let whole = log.read(Position(0), 10).await?;
    assert_eq!(whole.len(), 5);
    let (last, stream) = (Position(4), StreamId([4; 16]));
    for (change, back) in [
        ("content = overlay(content placing 'x' from 26)", "content = (SELECT content FROM whole)"),
        ("content = overlay(content placing 'x' from 12)", "content = (SELECT content FROM whole)"),
        ("recorded_at = recorded_at + 1", "recorded_at = recorded_at - 1"),
        ("request_id = NULL", "request_id = (SELECT request_id FROM whole)"),
        ("trace = stream", "trace = NULL"),
        ("previous = sha256('any')", "previous = (SELECT previous FROM whole)"),
    ] {
        let update = |set| format!("UPDATE event_groups SET {set} WHERE position = 4");
        let keep = "DROP TABLE IF EXISTS whole; CREATE TABLE whole AS SELECT * FROM event_groups WHERE position = 4";
        fixture.as_superuser(&format!("{keep}; {}", update(change))).await?;
        let page = log.read(Position(0), 10).await;
        assert!(
            matches!(&page, Err(ReadError::Corrupt(what)) if position_named(what)),
            "{change}: {page:?}"
        );
        assert!(log.read_stream(stream, Version(1), 10).await.is_err(), "{change}");
        assert!(log.reader().stream_end(stream).await.is_err(), "{change}");
        assert_eq!(log.read(Position(0), 4).await?, whole[..4], "the others can be read");
        fixture.as_superuser(&update(back)).await?;
        assert_eq!(log.read(last, 1).await?, whole[4..]);
    }
    // Whoever has no key, such as an auditor, reads what there is.
    fixture.as_superuser("UPDATE event_groups SET trace = stream WHERE position = 4").await?;
    assert_eq!(fixture.store.read(LOG, Position(0), 10).await?.len(), 5);
    Ok(())
}

/// ARCHITECTURE.md §2.9.
#[tokio::test]
async fn an_answer_that_a_superuser_changes_is_given_to_nobody() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_answer").await?;
    let mut id = [0; 16];
    id[1] = 3;
    let key = RequestKey::new("actor", RequestId(id));
    let recall = async || -> anyhow::Result<Recall> {
        let log = fixture.open().await?;
        let recall = log.recall(key, [1; 32]).await?;
        log.close().await;
        Ok(recall)
    };
    let first = Recall::Repeated { answer: "answer".into(), first: Position(3) };
    assert_eq!(recall().await?, first);
    fixture.as_superuser("UPDATE event_groups SET answer = 'forged' WHERE position = 3").await?;
    assert_eq!(recall().await?, Recall::IdReused);
    fixture.as_superuser("UPDATE event_groups SET answer = 'answer' WHERE position = 3").await?;
    assert_eq!(recall().await?, first);
    Ok(())
}

/// ARCHITECTURE.md §2.2.
#[tokio::test]
async fn a_log_whose_key_was_changed_needs_the_previous_one() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_key").await?;
    let changed = Authenticator::new(&[8; 32], "", Arc::new(|| [7; 8]));
    let refused =
        fixture.open_with(Options { authenticator: changed.clone(), ..options(LOG) }).await;
    assert!(matches!(refused, Err(OpenError::Corrupt { .. })));
    let previous = PreviousSecret { secret: Some(&[7; 32]), until: Position(5) };
    let authenticator = changed.with_previous([previous].into_iter(), "");
    let taken = Options { authenticator, take_over: true, ..options(LOG) };
    let log = fixture.open_with(taken).await?;
    log.append(entry(9)).await?;
    assert_eq!(log.read(Position(0), 10).await?.len(), 6);
    Ok(())
}

/// A trigger refuses a batch, so that its request is given back with its tag, and another batch takes
/// its position: the answer put on that row is of a request that was never carried out.
/// ARCHITECTURE.md §2.9.
#[tokio::test]
async fn an_answer_to_a_request_that_was_given_back_is_given_to_nobody() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_given_back").await?;
    let given_back = entry(5);
    let key = given_back.key().context("it answers a request")?;
    let tag = authenticator().tag(key, &[1; 32], Position(5), b"answer");
    let log = fixture.open().await?;
    assert_eq!(log.append(entry(6)).await?.first, Position(5), "another one takes its place");
    log.close().await;
    let (key_text, tag_text) = (hex(&key.0), hex(&tag));
    fixture
        .as_superuser(&format!(
            "UPDATE event_groups SET key = '{key_text}', tag = '{tag_text}' WHERE position = 5"
        ))
        .await?;
    let log = fixture.open().await?;
    assert_eq!(log.recall(key, [1; 32]).await?, Recall::IdReused);
    let Err(AppendError::Duplicate { stored }) = log.append(given_back).await else {
        anyhow::bail!("the index refuses it")
    };
    assert_eq!(stored.tag, None);
    assert_eq!(log.recall(key, [1; 32]).await?, Recall::IdReused);
    Ok(())
}

/// A row in a stream's end costs that stream its writes, and nobody else's.
/// ARCHITECTURE.md §2.2.
#[tokio::test]
async fn a_stream_with_a_damaged_end_stops_no_other() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_end").await?;
    let log = fixture.open().await?;
    // Stream 1 ends at position 1.
    let damage =
        "UPDATE event_groups SET content = overlay(content placing 'x' from 26) WHERE position = 1";
    fixture.as_superuser(damage).await?;
    let (damaged, sound) = tokio::join!(log.append(entry(6)), log.append(entry(7)));
    assert!(matches!(damaged, Err(AppendError::Unavailable { .. })), "{damaged:?}");
    sound?;
    assert!(log.append(entry(11)).await.is_err());
    log.append(entry(12)).await?;
    Ok(())
}

/// ARCHITECTURE.md §2.2.
#[tokio::test]
async fn a_name_that_a_superuser_changes_is_not_believed() -> anyhow::Result<()> {
    let fixture = Fixture::new("forged_author").await?;
    let log = fixture.open().await?;
    let unlock = "ALTER TABLE authors DISABLE TRIGGER append_only";
    fixture.as_superuser(&format!("{unlock}; UPDATE authors SET actor = 'operator:a'")).await?;
    assert!(log.read(Position(0), 10).await.is_err());
    fixture.as_superuser("UPDATE authors SET actor = 'actor'").await?;
    assert_eq!(log.read(Position(0), 10).await?.len(), 5);
    Ok(())
}
