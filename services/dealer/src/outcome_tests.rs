//! Tests of the outcomes of finished hands, while the dealer plays.
//!
//! One task follows the dealer's own log. A hand counts when `SeedOpened` is on record, never before:
//! until then its cards are nobody's to count. What is counted is a [`fold`] of the log from the last
//! `OutcomesTested` on, which has the counts until then. So a restart loses nothing and counts nothing
//! twice, and no call waits for it.
//!
//! Each look is recorded under an id of its number and of the time at which the last hand that it
//! counts was opened, its findings with it. The looks and their levels are `battery::field`.
//!
//! Specification: fairness/SPEC.md §13.3.

mod convert;
mod fold;

use std::time::Duration;

use battery::field::{LookResult, degrees};
use chassis::telemetry::metrics;
use eventlog::{Position, ReadError, Reader, StreamId, Version, derived_id};
use futures_util::StreamExt as _;
use primitives::UnixMicros;
use proto::event::v1 as pb;
use wire::records::DealerRecord;

use crate::dealer::Dealer;
use crate::handler::Handler;
use crate::record::Corrupt;
use fold::Fold;

/// Pause before the log is read again after an error, or after it was lost.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Reason why outcomes are not tested at the moment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl Dealer {
    /// Tests the outcomes of finished hands for as long as it is polled. While the log is not ours it
    /// waits.
    pub fn test_outcomes(&self) -> impl Future<Output = ()> + Send + use<> {
        let dealer = self.clone();
        async move {
            let mut serves = dealer.serves();
            while serves.wait_for(|serves| *serves).await.is_ok() {
                if let Ok(handler) = dealer.handler() {
                    match follow(&handler).await {
                        Ok(()) | Err(TestError::Read(ReadError::Stopped)) => {}
                        Err(TestError::Read(error)) => {
                            tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "outcomes are not tested: the log cannot be read");
                        }
                        Err(TestError::Corrupt(error)) => {
                            tracing::error!(%error, "outcomes are not tested any more");
                            return;
                        }
                    }
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}

/// Counts and tests until the log is lost.
async fn follow(handler: &Handler) -> Result<(), TestError> {
    let log = handler.log();
    let (mut fold, from) = last_fold(log.reader()).await?;
    report(&fold);
    let mut events = log.subscribe(Position(from));
    while let Some(event) = events.next().await {
        let event = event?;
        if let Some(hand) = fold.missing_commitment(&event) {
            let first = log.read_stream(hand, Version(1), 1).await?;
            fold.commitment(hand, &first)?;
        }
        let looks = fold.apply(&event)?;
        for look in looks {
            record(handler, &fold, &look, event.recorded_at).await;
            report(&fold);
        }
    }
    Ok(())
}

/// Puts a look with its findings on record. Ends early only if the log is lost: the next owner takes
/// the same look. It was due with the event that was recorded at `due_at`.
async fn record(handler: &Handler, fold: &Fold, look: &LookResult, due_at: UnixMicros) {
    let kind = convert::look_to_pb(look.look);
    let number = look.number.to_be_bytes();
    let id = derived_id("outcomes-tested", due_at, &[kind.as_str_name().as_bytes(), &number]);
    for finding in &look.findings {
        tracing::error!(
            subject = ?finding.group.subject,
            trials = finding.trials,
            p = finding.measure.p_value,
            "outcomes are not what a fair dealer's would be"
        );
    }
    let findings = look.findings.iter().map(|finding| {
        DealerRecord::from(pb::BiasFound {
            subject: Some(convert::group_to_pb(&finding.group)),
            look: kind.into(),
            look_no: look.number,
            trials: finding.trials,
            statistic: finding.measure.statistic,
            degrees: degrees(finding.measure.law),
            p_value: finding.measure.p_value,
            adjusted_p: finding.adjusted_p,
            level: look.level,
        })
    });
    let tested = convert::tested_to_pb(fold, look).into();
    let records: Vec<DealerRecord> = findings.chain([tested]).collect();
    while !handler.record_chance(id, records.clone()).await {
        if handler.log().stopped().is_cancelled() {
            return;
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// Reports what is known as metrics.
fn report(fold: &Fold) {
    metrics::gauge("sabacc.chance.hands", fold.tests.hands);
    metrics::gauge("sabacc.chance.looks", fold.tests.looks_at_all + fold.tests.looks_at_newest);
    metrics::gauge("sabacc.chance.findings", fold.tests.found.len() as u64);
}

/// Number of events that the last look on record covers: a start counts on from there, and needs
/// those behind it.
pub(crate) async fn tested_until(log: &Reader) -> Result<u64, TestError> {
    Ok(last_fold(log).await?.1)
}

/// Counts of the last look on record, and the number of events that they cover.
async fn last_fold(log: &Reader) -> Result<(Fold, u64), TestError> {
    match last_tested(log).await? {
        Some((at, tested)) => Ok(convert::parse(&tested)
            .map_err(|bad| Corrupt { position: at.0, what: bad.to_string() })?),
        None => Ok((Fold::default(), 0)),
    }
}

/// The last look on record, with its position.
async fn last_tested(log: &Reader) -> Result<Option<(Position, pb::OutcomesTested)>, TestError> {
    let mut version = last_version(log).await?;
    while version > 0 {
        let events = log.read_stream(StreamId::CHANCE, Version(version), 1).await?;
        for event in &events {
            let corrupt = |what: String| Corrupt { position: event.position.0, what };
            let record =
                DealerRecord::try_from(event).map_err(|error| corrupt(error.to_string()))?;
            if let DealerRecord::OutcomesTested(tested) = record {
                return Ok(Some((event.position, tested)));
            }
        }
        version -= 1;
    }
    Ok(None)
}

/// Number of events in the stream of chance, found in as many reads as the number has digits, since
/// each of them may be large.
async fn last_version(log: &Reader) -> Result<u64, ReadError> {
    let exists = async |version: u64| {
        let events = log.read_stream(StreamId::CHANCE, Version(version), 1).await?;
        Ok::<bool, ReadError>(!events.is_empty())
    };
    let (mut below, mut above) = (0, 1);
    while exists(above).await? {
        (below, above) = (above, above * 2);
    }
    while above - below > 1 {
        let middle = below.midpoint(above);
        if exists(middle).await? { below = middle } else { above = middle }
    }
    Ok(below)
}
