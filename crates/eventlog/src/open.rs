//! Opening of a log: claims its fence, then finds its end.
//!
//! A claim waits once for the lease that it first saw. An owner that has renewed the lease by then
//! is alive, and the log cannot be had ([`OpenError::Held`]).
//!
//! The claim is a commit, made after all events up to the size that it found. So what the previous
//! owner could not be sure of, such as a commit that was not acknowledged and that no replica may
//! have, is as durable as the claim before this owner answers any call.
//!
//! The Merkle tree is saved with each renewal of the lease, but a saved tree is only used if the
//! events before it lead to it again; it is grown with the events behind it. Otherwise the tree is
//! built from all events, or from the log's cut. So deleting it changes only the time that opening
//! takes. The number of events is saved beside it: a log that has fewer is corrupt.
//!
//! Specification: ARCHITECTURE.md §2.4.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eventlog_core::record::chain_hash;
use eventlog_core::{Position, Version};
use merkle::Tree;
use primitives::{StreamId, UnixMicros};
use tokio::time::{Instant, sleep};

use crate::answer_cache::AnswerCache;
use crate::error::OpenError;
use crate::log::Options;
use crate::store::{Claim, ClaimOutcome, Fence, Renewal, Store, StoreError};

/// Records whose subtrees are taken from the saved tree without reading their events.
const GRAIN: u64 = 1024;
/// Events per read.
const PAGE: usize = 1000;
const REQUESTS_PAGE: usize = 10_000;
/// Longest time between two checks of a lease that should have ended.
const MAX_CLAIM_PAUSE: Duration = Duration::from_millis(250);

/// End of an opened log.
pub(crate) struct OpenedLog {
    pub(crate) epoch: u64,
    /// Time before which the lease was renewed last.
    pub(crate) renewed: Instant,
    pub(crate) tree: Tree,
    pub(crate) recorded_at: UnixMicros,
    pub(crate) last_alive: Option<UnixMicros>,
    pub(crate) answer_cache: AnswerCache,
}

pub(crate) async fn open(store: &dyn Store, options: &Options) -> Result<OpenedLog, OpenError> {
    let (fence, renewed) = claim(store, options).await?;
    let mut lease = Lease { store, options, epoch: fence.epoch, renewed };
    let found = find_end(&mut lease, &fence).await;
    if matches!(found, Ok(_) | Err(OpenError::Corrupt { .. })) {
        // A write of another owner does not make the log corrupt: the renewal reports the loss
        // first.
        lease.renew(found.as_ref().ok().map(|(tree, ..)| tree)).await?;
    }
    let (tree, answer_cache, recorded_at) = found?;
    let recorded = (tree.size() > 0).then_some(recorded_at);
    let (epoch, last_alive) = (fence.epoch, fence.alive_at.max(recorded));
    Ok(OpenedLog { epoch, renewed: lease.renewed, tree, recorded_at, last_alive, answer_cache })
}

async fn find_end(
    lease: &mut Lease<'_>,
    fence: &Fence,
) -> Result<(Tree, AnswerCache, UnixMicros), OpenError> {
    if fence.size < fence.saved_size {
        let (log, size) = (lease.options.name.clone(), fence.saved_size);
        let what = format!("it had {size} events, it has {}", fence.size).into();
        return Err(OpenError::Corrupt { log, what });
    }
    let tree = restore_tree(lease, fence).await?;
    let answered = load_answer_cache(lease).await?;
    let log = &lease.options.name;
    let recorded_at = last_recorded_at(lease.store, log, fence.size)
        .await
        .map_err(|error| OpenError::from_store(log, error))?;
    Ok((tree, answered, recorded_at))
}

/// Claims the log. Returns its fence, and a time before which the lease began.
async fn claim(store: &dyn Store, options: &Options) -> Result<(Fence, Instant), OpenError> {
    let claim = Claim {
        log: options.name.clone(),
        owner: options.owner.clone(),
        address: options.address.clone(),
        lease: options.lease,
        take_over: options.take_over,
        clock: options.reading(),
    };
    let mut deadline = None;
    loop {
        let claim = Claim { clock: options.reading(), ..claim.clone() };
        let sent = Instant::now();
        let claimed = store
            .claim(&claim)
            .await
            .map_err(|error| OpenError::from_store(&options.name, error))?;
        match claimed {
            ClaimOutcome::Granted(fence) => return Ok((fence, sent)),
            ClaimOutcome::Held { fence, remaining } => {
                let now = Instant::now();
                let ends = *deadline.get_or_insert(now + remaining + MAX_CLAIM_PAUSE);
                if now >= ends {
                    return Err(OpenError::Held {
                        log: options.name.clone(),
                        owner: fence.owner,
                        address: fence.address,
                        remaining,
                    });
                }
                sleep(remaining.min(MAX_CLAIM_PAUSE).max(Duration::from_millis(1))).await;
            }
        }
    }
}

/// Lease that is renewed while the tree is built.
struct Lease<'a> {
    store: &'a dyn Store,
    options: &'a Options,
    epoch: u64,
    renewed: Instant,
}

impl Lease<'_> {
    async fn renew_in_time(&mut self) -> Result<(), OpenError> {
        if self.renewed.elapsed() < self.options.lease / 3 {
            Ok(())
        } else {
            self.renew(None).await
        }
    }

    /// Renews the lease, and saves the tree if it is given.
    async fn renew(&mut self, tree: Option<&Tree>) -> Result<(), OpenError> {
        let (log, sent) = (&self.options.name, Instant::now());
        let renewal = Renewal {
            log: log.clone(),
            epoch: self.epoch,
            lease: self.options.lease,
            clock: self.options.reading(),
            is_serving: false,
            size: tree.map_or(0, Tree::size),
            tree: tree.map(|tree| tree.peaks().to_vec()),
        };
        match self.store.renew(&renewal).await {
            Ok(true) => {
                self.renewed = sent;
                Ok(())
            }
            Ok(false) => Err(OpenError::Lost { log: log.clone() }),
            Err(error) => Err(OpenError::from_store(log, error)),
        }
    }
}

async fn restore_tree(lease: &mut Lease<'_>, fence: &Fence) -> Result<Tree, OpenError> {
    let log = &lease.options.name;
    let cut = lease.store.cut(log).await.map_err(|error| OpenError::from_store(log, error))?;
    let cut = cut.unwrap_or_default();
    let saved = fence.tree.clone().and_then(|peaks| Tree::restore(fence.saved_size, peaks).ok());
    if let Some(saved) = saved.filter(|saved| saved.size() >= cut.size()) {
        let before = not_before_cut(&cut, saved.aligned_prefix(GRAIN));
        if grow_tree(lease, before, fence.saved_size).await? == saved {
            return grow_tree(lease, saved, fence.size).await;
        }
        tracing::warn!(log = %lease.options.name, "the saved tree does not fit the events: building it anew");
    }
    grow_tree(lease, cut, fence.size).await
}

/// Events before a cut cannot be read, so the tree must begin at the cut or later.
fn not_before_cut(cut: &Tree, tree: Tree) -> Tree {
    if tree.size() < cut.size() { cut.clone() } else { tree }
}

async fn grow_tree(lease: &mut Lease<'_>, mut tree: Tree, size: u64) -> Result<Tree, OpenError> {
    let log = &lease.options.name;
    let corrupt = |what: String| OpenError::Corrupt { log: log.clone(), what: what.into() };
    // Events that were given back and put in the place of others are found by the chain of a stream.
    let mut heads: BTreeMap<StreamId, (Version, [u8; 32])> = BTreeMap::new();
    while tree.size() < size {
        let missing = usize::try_from(size - tree.size()).unwrap_or(PAGE);
        let page = lease
            .store
            .read(log, Position(tree.size()), missing.min(PAGE))
            .await
            .map_err(|error| OpenError::from_store(log, error))?;
        if page.is_empty() {
            return Err(corrupt(format!("it should have {size} events, it has {}", tree.size())));
        }
        for event in page {
            if event.position.0 != tree.size() {
                return Err(corrupt(format!("no event at position {}", tree.size())));
            }
            let record = event.record();
            let next = (event.version, chain_hash(&record));
            if let Some((Version(before), hash)) = heads.insert(event.stream, next)
                && (event.version.0, event.previous) != (before + 1, hash)
            {
                let what =
                    format!("the event at position {} does not follow its stream", tree.size());
                return Err(corrupt(what));
            }
            tree.push(&record);
        }
        lease.renew_in_time().await?;
    }
    Ok(tree)
}

/// Loads the keys of the newest answered requests into the cache.
async fn load_answer_cache(lease: &mut Lease<'_>) -> Result<AnswerCache, OpenError> {
    let log = &lease.options.name;
    let mut answered = AnswerCache::new(lease.options.limits.cached_requests);
    for (keys, range) in answered.ranges((lease.options.clock)()) {
        let mut below = keys.end;
        while !range.is_full() {
            let page = lease
                .store
                .latest_keys(log, Some(below), REQUESTS_PAGE)
                .await
                .map_err(|error| OpenError::from_store(log, error))?;
            let of_it = page.iter().take_while(|key| **key >= keys.start);
            let kept = of_it.map(|key| range.put(*key, None)).count();
            let Some(least) = page.last().filter(|_| kept == REQUESTS_PAGE) else { break };
            below = *least;
            lease.renew_in_time().await?;
        }
    }
    let forgotten = lease.store.forgotten(log).await;
    if let Some(key) = forgotten.map_err(|error| OpenError::from_store(log, error))? {
        answered.raise_floor(key);
    }
    Ok(answered)
}

/// Time of recording of the last event. Checks that the events end where the fence says.
async fn last_recorded_at(
    store: &dyn Store,
    log: &Arc<str>,
    size: u64,
) -> Result<UnixMicros, StoreError> {
    let events = store.read(log, Position(size.saturating_sub(1)), 2).await?;
    match (size, &events[..]) {
        (0, []) => Ok(UnixMicros::default()),
        (1.., [last]) if last.position.0 == size - 1 => Ok(last.recorded_at),
        _ => {
            let what = format!("it has {size} events, and they do not end there");
            Err(StoreError::Corrupt(what.into()))
        }
    }
}
