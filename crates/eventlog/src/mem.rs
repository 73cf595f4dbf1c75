//! Store in memory that fails on demand, for the simulator and tests.
//!
//! Its leases run on the runtime's clock, so that paused time works. Owners' clocks are checked
//! only after it was given a clock of its own.

mod checkpoints;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::{StreamId, UnixMicros};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep};

use crate::checkpoint_store::{SignedCheckpoint, TileCoordinates};
use crate::event::{AnsweredRequest, StreamEnd};
use crate::key::RequestKey;
use crate::log::Clock;
use crate::store::{
    AppendOutcome, Batch, Claim, ClaimOutcome, ClockReading, Fence, READ_BYTES, Renewal, Store,
    StoreError, StoreTime,
};

/// Fault of the next append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The append fails and nothing is written.
    Unavailable,
    /// The outcome is unknown and nothing is written.
    InDoubtNotWritten,
    /// The outcome is unknown and the batch is written.
    InDoubtWritten,
    /// The outcome is unknown; the batch is written when the next append arrives, before that is
    /// handled.
    InDoubtWrittenLate,
    /// Another owner takes the log just before the append.
    LoseOwnership,
    /// The batch is written after this time.
    Delay(Duration),
    /// The append is refused for good.
    Refuse,
}

/// Logs in memory. A store outlives a simulated crash of a log's owner.
#[derive(Default)]
pub struct MemStore {
    state: Mutex<State>,
}

/// Synchronous replica of the store.
#[derive(Default)]
struct Replica {
    away: bool,
    /// End of each log that lags on the replica.
    sizes: BTreeMap<Arc<str>, u64>,
}

#[derive(Default)]
struct State {
    logs: BTreeMap<Arc<str>, MemLog>,
    faults: VecDeque<Fault>,
    late_batch: Option<Batch>,
    down: bool,
    read_delay: Duration,
    fence_delay: Duration,
    clock: Option<Clock>,
    claims: u64,
    replica: Replica,
    appends: u64,
    pipelined_appends: u64,
    tiles: BTreeMap<(Arc<str>, TileCoordinates), Bytes>,
    checkpoints: BTreeMap<Arc<str>, Vec<SignedCheckpoint>>,
}

struct MemLog {
    fence: Fence,
    lease_ends: Instant,
    /// Events by position.
    events: Vec<Event>,
    /// Indexes into `events` by version, which begins with 1.
    streams: BTreeMap<StreamId, Vec<usize>>,
    requests: BTreeMap<RequestKey, AnsweredRequest>,
}

#[derive(Debug, thiserror::Error)]
#[error("injected fault: {0}")]
struct InjectedFault(&'static str);

impl MemStore {
    #[must_use]
    pub fn new() -> Arc<MemStore> {
        Arc::new(MemStore::default())
    }

    /// Queues a fault. Each fault applies to one append, in order.
    pub fn inject(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    /// Makes every call fail without effect while `down` is set.
    pub fn set_down(&self, down: bool) {
        self.state().down = down;
    }

    /// Replaces the saved size of a log and the tree at it, or drops the tree, which may happen to
    /// any store at any time.
    pub fn save_tree(&self, log: &str, size: u64, tree: Option<Vec<[u8; 32]>>) {
        if let Some(kept) = self.state().logs.get_mut(log) {
            (kept.fence.saved_size, kept.fence.tree) = (size, tree);
        }
    }

    /// Removes the last event of a log, as a disk fault or an administrator might.
    pub fn lose_last_event(&self, log: &str) {
        if let Some(kept) = self.state().logs.get_mut(log) {
            kept.events.pop();
            kept.fence.size = kept.events.len() as u64;
        }
    }

    /// Changes events behind the log's back, as an administrator might.
    pub fn tamper(&self, log: &str, change: impl FnOnce(&mut Vec<Event>)) {
        if let Some(kept) = self.state().logs.get_mut(log) {
            change(&mut kept.events);
        }
    }

    /// Corrupts a tile behind the log's back.
    pub fn corrupt_tile(&self, log: &str, place: TileCoordinates) {
        if let Some(hashes) = self.state().tiles.get_mut(&(log.into(), place)) {
            *hashes = hashes.iter().map(|byte| byte ^ 1).collect();
        }
    }

    /// Drops all tiles of a log, as for a log from before tiles were built.
    pub fn lose_tiles(&self, log: &str) {
        self.state().tiles.retain(|(of, _), _| &**of != log);
    }

    /// Gives the store a clock that owners' clocks are compared with.
    pub fn set_clock(&self, clock: Clock) {
        self.state().clock = Some(clock);
    }

    /// While the replica is away, writes stay unacknowledged and do not reach it.
    pub fn set_replica_away(&self, away: bool) {
        self.state().replica.away = away;
    }

    /// The replica takes the store's place: events that it does not have are lost.
    pub fn fail_over(&self) {
        let mut state = self.state();
        let Replica { sizes: has, .. } = std::mem::take(&mut state.replica);
        for (log, size) in has {
            if let Some(kept) = state.logs.get_mut(&log) {
                kept.cut_to(size);
            }
        }
    }

    /// Delays each read of events and each lookup of requests from now on.
    pub fn set_read_delay(&self, slow: Duration) {
        self.state().read_delay = slow;
    }

    async fn pause(&self, of: fn(&State) -> Duration) {
        let slow = of(&self.state());
        if !slow.is_zero() {
            sleep(slow).await;
        }
    }

    /// Delays each read of the fence.
    pub fn set_fence_delay(&self, slow: Duration) {
        self.state().fence_delay = slow;
    }

    /// Number of attempted appends.
    #[must_use]
    pub fn appends(&self) -> u64 {
        self.state().appends
    }

    /// Number of appends that were sent ahead of their turn.
    #[must_use]
    pub fn pipelined_appends(&self) -> u64 {
        self.state().pipelined_appends
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_if_up(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.state();
        if state.down { Err(unavailable("the store is down")) } else { Ok(state) }
    }
}

/// Epoch that looks random and is the same in every run.
fn epoch(claims: u64, log: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(claims.to_be_bytes());
    hash.update(log.as_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let number = u64::from_be_bytes(*hash.first_chunk().expect("32 are more than 8"));
    (number >> 1).max(1)
}

fn unavailable(what: &'static str) -> StoreError {
    StoreError::Unavailable(Arc::new(InjectedFault(what)))
}

fn in_doubt(what: &'static str) -> StoreError {
    StoreError::InDoubt(Arc::new(InjectedFault(what)))
}

impl State {
    /// Refuses an owner's clock that is too far from the store's.
    fn check(
        &self,
        reading: ClockReading,
        recorded_at: Option<UnixMicros>,
    ) -> Result<(), StoreError> {
        let Some(clock) = &self.clock else { return Ok(()) };
        let now = clock();
        reading.check(recorded_at, StoreTime { received: now, now }).map_err(StoreError::Clock)
    }

    /// Waits for the replica, which then has all events up to here, or does not answer.
    fn replicate(&mut self, log: &Arc<str>, before: u64) -> Result<(), StoreError> {
        if self.replica.away {
            self.replica.sizes.entry(log.clone()).or_insert(before);
            return Err(in_doubt("the replica does not answer"));
        }
        self.replica.sizes.remove(log);
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> Result<AppendOutcome, StoreError> {
        self.check(batch.clock, Some(batch.recorded_at()))?;
        let Some(kept) = self.logs.get_mut(&batch.log) else { return Ok(AppendOutcome::Fenced) };
        if (kept.fence.epoch, kept.fence.size) != (batch.epoch, batch.first) {
            return Ok(AppendOutcome::Fenced);
        }
        if batch.requests.iter().any(|request| kept.requests.contains_key(&request.key)) {
            return Ok(AppendOutcome::Duplicate);
        }
        kept.push_events(&batch.events)?;
        kept.fence.size += batch.events.len() as u64;
        kept.requests.extend(batch.requests.iter().map(|stored| (stored.key, stored.clone())));
        self.replicate(&batch.log, batch.first)?;
        Ok(AppendOutcome::Written)
    }
}

impl MemLog {
    /// Drops all events from `size` on.
    fn cut_to(&mut self, size: u64) {
        self.events.retain(|event| event.position.0 < size);
        for places in self.streams.values_mut() {
            places.retain(|at| (*at as u64) < size);
        }
        self.requests.retain(|_, stored| stored.first.0 < size);
        self.fence.size = self.fence.size.min(size);
        self.fence.saved_size = self.fence.saved_size.min(size);
        self.fence.tree = None;
    }

    /// Refuses what the constraints of a database would refuse.
    fn push_events(&mut self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            let at = self.events.len();
            let versions = self.streams.entry(event.stream).or_default();
            if event.position.0 != at as u64 || event.version.0 != versions.len() as u64 + 1 {
                let what = format!("position {} or its version is not the next", event.position.0);
                return Err(StoreError::Corrupt(what.into()));
            }
            versions.push(at);
            self.events.push(event.clone());
        }
        Ok(())
    }

    fn of_stream(&self, stream: StreamId) -> &[usize] {
        self.streams.get(&stream).map_or(&[], Vec::as_slice)
    }

    fn pick<'a>(&'a self, places: impl IntoIterator<Item = &'a usize>) -> Vec<Event> {
        places.into_iter().filter_map(|at| self.events.get(*at).cloned()).collect()
    }
}

/// Items after the first `before`, at most `limit`.
fn page<T>(all: &[T], before: u64, limit: usize) -> &[T] {
    let rest = usize::try_from(before).ok().and_then(|before| all.get(before..)).unwrap_or(&[]);
    rest.get(..limit).unwrap_or(rest)
}

/// Events up to the bytes that end a read.
fn one_read<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Event> {
    let mut bytes = 0;
    let is_within = |event: &&Event| {
        let before = bytes;
        bytes += event.payload.len() as u64;
        before < READ_BYTES
    };
    events.into_iter().take_while(is_within).cloned().collect()
}

#[async_trait]
impl Store for MemStore {
    async fn claim(&self, claim: &Claim) -> Result<ClaimOutcome, StoreError> {
        let mut state = self.state_if_up()?;
        state.check(claim.clock, None)?;
        state.claims += 1;
        let epoch = epoch(state.claims, &claim.log);
        let now = Instant::now();
        let kept = state.logs.entry(claim.log.clone()).or_insert_with(|| MemLog {
            fence: Fence {
                epoch: 0,
                size: 0,
                owner: claim.owner.clone(),
                address: claim.address.clone(),
                alive_at: None,
                saved_size: 0,
                tree: None,
            },
            lease_ends: now,
            events: Vec::new(),
            streams: BTreeMap::new(),
            requests: BTreeMap::new(),
        });
        if kept.lease_ends > now && !claim.take_over {
            let remaining = kept.lease_ends - now;
            return Ok(ClaimOutcome::Held { fence: kept.fence.clone(), remaining });
        }
        kept.fence.epoch = epoch;
        kept.fence.owner = claim.owner.clone();
        kept.fence.address = claim.address.clone();
        kept.lease_ends = now + claim.lease;
        let fence = kept.fence.clone();
        state.replicate(&claim.log, fence.size)?;
        Ok(ClaimOutcome::Granted(fence))
    }

    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError> {
        let mut state = self.state_if_up()?;
        state.check(renewal.clock, None)?;
        let Some(kept) = state.logs.get_mut(&renewal.log) else { return Ok(false) };
        if kept.fence.epoch != renewal.epoch || kept.fence.size < renewal.size {
            return Ok(false);
        }
        let alive_at = renewal.is_serving.then_some(renewal.clock.at);
        kept.fence.alive_at = kept.fence.alive_at.max(alive_at);
        if renewal.tree.is_some() {
            kept.fence.saved_size = renewal.size;
            kept.fence.tree.clone_from(&renewal.tree);
        }
        kept.lease_ends = Instant::now() + renewal.lease;
        let size = kept.fence.size;
        state.replicate(&renewal.log, size)?;
        Ok(true)
    }

    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError> {
        self.pause(|state| state.fence_delay).await;
        Ok(self.state_if_up()?.logs.get(log).map(|kept| kept.fence.clone()))
    }

    async fn append(&self, batch: &Batch) -> Result<AppendOutcome, StoreError> {
        let fault = {
            let mut state = self.state_if_up()?;
            state.appends += 1;
            state.pipelined_appends += u64::from(batch.pipelined_after.is_some());
            if let Some(late) = state.late_batch.take() {
                state.write(&late)?;
            }
            state.faults.pop_front()
        };
        if let Some(Fault::Delay(time)) = fault {
            sleep(time).await;
        }
        let mut state = self.state_if_up()?;
        match fault {
            None | Some(Fault::Delay(_)) => state.write(batch),
            Some(Fault::Unavailable) => Err(unavailable("not taken")),
            Some(Fault::Refuse) => Err(StoreError::Refused(Arc::new(InjectedFault("refused")))),
            Some(Fault::InDoubtNotWritten) => Err(in_doubt("not written")),
            Some(Fault::InDoubtWritten) => {
                state.write(batch)?;
                Err(in_doubt("written"))
            }
            Some(Fault::InDoubtWrittenLate) => {
                state.late_batch = Some(batch.clone());
                Err(in_doubt("will be written"))
            }
            Some(Fault::LoseOwnership) => {
                if let Some(kept) = state.logs.get_mut(&batch.log) {
                    kept.fence.epoch = epoch(kept.fence.epoch, "an intruder");
                    kept.fence.owner = "an intruder".into();
                }
                state.write(batch)
            }
        }
    }

    fn pipelines_entries(&self) -> bool {
        true
    }

    async fn stream_ends(&self, log: &str, of: &[StreamId]) -> Result<Vec<StreamEnd>, StoreError> {
        let state = self.state_if_up()?;
        let Some(kept) = state.logs.get(log) else { return Ok(Vec::new()) };
        let last = kept.pick(of.iter().filter_map(|stream| kept.of_stream(*stream).last()));
        Ok(last.into_iter().map(StreamEnd::Stored).collect())
    }

    async fn requests(
        &self,
        log: &str,
        of: &[RequestKey],
    ) -> Result<Vec<AnsweredRequest>, StoreError> {
        self.pause(|state| state.read_delay).await;
        let state = self.state_if_up()?;
        let Some(kept) = state.logs.get(log) else { return Ok(Vec::new()) };
        Ok(of.iter().filter_map(|key| kept.requests.get(key).cloned()).collect())
    }

    /// Memory keeps all events.
    async fn cut(&self, _: &str) -> Result<Option<Tree>, StoreError> {
        Ok(None)
    }

    /// Memory keeps all answers.
    async fn forgotten(&self, _: &str) -> Result<Option<RequestKey>, StoreError> {
        Ok(None)
    }

    async fn latest_keys(
        &self,
        log: &str,
        below: Option<RequestKey>,
        limit: usize,
    ) -> Result<Vec<RequestKey>, StoreError> {
        let state = self.state_if_up()?;
        let Some(kept) = state.logs.get(log) else { return Ok(Vec::new()) };
        let end = below.map_or(Bound::Unbounded, Bound::Excluded);
        let below = kept.requests.range((Bound::Unbounded, end));
        Ok(below.rev().take(limit).map(|(key, _)| *key).collect())
    }

    async fn read(
        &self,
        log: &str,
        from: Position,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.pause(|state| state.read_delay).await;
        let state = self.state_if_up()?;
        let Some(kept) = state.logs.get(log) else { return Ok(Vec::new()) };
        Ok(one_read(page(&kept.events, from.0, limit)))
    }

    async fn read_stream(
        &self,
        log: &str,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let state = self.state_if_up()?;
        let Some(kept) = state.logs.get(log) else { return Ok(Vec::new()) };
        let places = page(kept.of_stream(stream), from.0.saturating_sub(1), limit);
        Ok(one_read(places.iter().filter_map(|at| kept.events.get(*at))))
    }
}
