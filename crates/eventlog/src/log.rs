//! Owner's handle of a log.
//!
//! Specification: ARCHITECTURE.md §2.3.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::slice;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use eventlog_core::{Event, Position, Version};
use futures_util::Stream;
use primitives::{StreamId, UnixMicros};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use crate::answer_cache::{AnswerCache, RequestLookup};
use crate::archive::MountedArchives;
use crate::authenticated_store::AuthenticatedStore;
use crate::authenticator::Authenticator;
use crate::error::{AppendError, OpenError, ReadError};
use crate::event::{Entry, KnownRequest, Recall, Receipt, TreeHead};
use crate::group::Group;
use crate::key::RequestKey;
use crate::open::open;
use crate::queue::{AppendCommand, Command, QueuedAppend};
use crate::reader::Reader;
use crate::store::{ClockReading, Fence, Store, StoreError};
use crate::stream_heads::StreamHeads;
use crate::subscription::{Mode, Subscription};
use crate::writer::{ClockAlarm, CpuHeadroom, LeaseTimer, Writer};

/// Bytes that an event counts for in addition to its payload.
const EVENT_OVERHEAD_BYTES: usize = 128;

/// Source of the current time.
pub type Clock = Arc<dyn Fn() -> UnixMicros + Send + Sync>;

/// Options of opening a log.
#[derive(Clone)]
pub struct Options {
    /// Name of the log within its store, such as `table/0`.
    pub name: Arc<str>,
    /// Name of the owner, shown to processes that are refused the log.
    pub owner: Arc<str>,
    /// Address at which the owner can be called.
    pub address: Arc<str>,
    /// Time for which a silent owner keeps the log.
    pub lease: Duration,
    /// Whether to take the log at once, even while its owner's lease runs. The other owner stops at
    /// its next write.
    pub take_over: bool,
    pub clock: Clock,
    pub authenticator: Authenticator,
    pub limits: Limits,
}

/// Bounds on memory and on one commit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Events in one commit; also the bound of one entry or group.
    pub batch_events: usize,
    /// Bytes in one commit: payloads, answers and a fixed amount for each event. Also the bound of
    /// one entry or group.
    pub batch_bytes: usize,
    /// Entries and groups that wait to be committed.
    pub queue_entries: usize,
    /// Bytes that wait to be committed, counted as for `batch_bytes`.
    pub queue_bytes: usize,
    /// Streams whose last event is cached.
    pub cached_streams: usize,
    /// Answered requests that are cached: this many of ids with a time, and this many of derived
    /// ids.
    pub cached_requests: usize,
    /// Commits that a live subscription may fall behind before it reads from the store again.
    pub live_commits: usize,
    /// Longest time that an entry waits for an unavailable store.
    pub store_timeout: Duration,
    /// Largest difference between the owner's clock, or a time to be recorded, and the store's
    /// clock.
    pub max_clock_skew: Duration,
}

/// Far more than the error of machines that use NTP, and less than a player's clock runs.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            batch_events: 1000,
            batch_bytes: 1 << 20,
            queue_entries: 10_000,
            queue_bytes: 32 << 20,
            cached_streams: 100_000,
            cached_requests: 200_000,
            live_commits: 64,
            store_timeout: Duration::from_secs(5),
            max_clock_skew: MAX_CLOCK_SKEW,
        }
    }
}

/// Health of the owner's writes to the store. An owner renews its lease three times in its length.
#[derive(Clone, Debug)]
pub struct Health {
    /// Time before the last successful renewal: nobody else has the log for a lease from then on.
    pub renewed: Instant,
    /// Reason why the last write failed, until one succeeds.
    pub outage: Option<Arc<str>>,
}

impl Options {
    /// Current reading of the owner's clock.
    pub(crate) fn reading(&self) -> ClockReading {
        ClockReading { at: (self.clock)(), skew: self.limits.max_clock_skew }
    }
}

/// Owned log. Clones are handles of one log; when the last is dropped the log is released.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn Store>,
    reader: Reader,
    /// Reader with archives, where they are mounted.
    archive_reader: Option<Reader>,
    queue: mpsc::Sender<Command>,
    /// Bytes that may still be queued.
    queue_permits: Arc<Semaphore>,
    limits: Limits,
    clock: Clock,
    authenticator: Authenticator,
    head: watch::Receiver<TreeHead>,
    health: watch::Receiver<Health>,
    /// Cache of answered requests, filled by the writer.
    answer_cache: Arc<RwLock<AnswerCache>>,
    /// Ends with the writer.
    commits: broadcast::WeakSender<Arc<[Event]>>,
    last_alive: Option<UnixMicros>,
    epoch: u64,
    /// Longest silence of an owner that can write.
    max_silence: Duration,
    stopped: CancellationToken,
}

impl Log {
    /// Takes the log and reads its end. This and all that is read by the handle, but for archives, gives
    /// an error for an event that no owner of the log has written. Waits for the lease of a silent owner to end; an owner that
    /// renews its lease gives [`OpenError::Held`].
    pub async fn open(store: Arc<dyn Store>, options: Options) -> Result<Log, OpenError> {
        let authenticator = options.authenticator.clone();
        let store: Arc<dyn Store> = Arc::new(AuthenticatedStore::new(store, authenticator.clone()));
        let opened = open(&*store, &options).await?;
        let limits = options.limits.clone();
        let (head, committed) = watch::channel(TreeHead {
            size: opened.tree.size(),
            root: opened.tree.root(),
            recorded_at: opened.recorded_at,
        });
        let (queue, queued) = mpsc::channel(limits.queue_entries.max(1));
        let (health, watched) = watch::channel(Health { renewed: opened.renewed, outage: None });
        let commits = broadcast::Sender::new(limits.live_commits.max(1));
        let stopped = CancellationToken::new();
        let answered = Arc::new(RwLock::new(opened.answer_cache));
        let log = Log {
            store: store.clone(),
            reader: Reader::new(store.clone(), options.name.clone()),
            archive_reader: None,
            queue,
            queue_permits: Arc::new(Semaphore::new(limits.queue_bytes.max(limits.batch_bytes))),
            head: committed,
            health: watched,
            answer_cache: answered.clone(),
            commits: commits.downgrade(),
            last_alive: opened.last_alive,
            epoch: opened.epoch,
            max_silence: options.lease * 4 / 5,
            stopped: stopped.clone(),
            clock: Arc::clone(&options.clock),
            authenticator,
            limits,
        };
        let writer = Writer {
            store,
            epoch: opened.epoch,
            queue: queued,
            backlog: VecDeque::new(),
            closing: false,
            tree: opened.tree,
            recorded_at: opened.recorded_at,
            heads: StreamHeads::new(log.limits.cached_streams),
            answer_cache: answered,
            head,
            commits,
            lease: LeaseTimer::new(),
            is_lost: false,
            cpu_headroom: CpuHeadroom::new(),
            clock_alarm: ClockAlarm::default(),
            health,
            options,
        };
        let guard = stopped.drop_guard();
        tokio::spawn(async move {
            let _stops_whatever_happens = guard;
            writer.run().await;
        });
        Ok(log)
    }

    /// Appends an entry and returns once it is durable. Dropping the future does not withdraw the
    /// entry.
    pub async fn append(&self, entry: Entry) -> Result<Receipt, AppendError> {
        let log = self.reader.name();
        let span = tracing::debug_span!("log.append", log, events = entry.events.len());
        async move {
            let (answer, answered) = oneshot::channel();
            self.enqueue(AppendCommand::Entry(entry, answer))?;
            answered.await.unwrap_or(Err(AppendError::Lost))
        }
        .instrument(span)
        .await
    }

    /// Appends a group and returns a receipt for each entry once it is durable. The group is queued
    /// by the call itself; dropping the future does not withdraw it.
    ///
    /// [`AppendError::Duplicate`] if one of its requests was answered before. Then nothing of it
    /// was appended, nor will any group queued after it.
    pub fn append_group(
        &self,
        group: Group,
    ) -> impl Future<Output = Result<Vec<Receipt>, AppendError>> + Send + use<> {
        let (log, entries) = (self.reader.name(), group.entries.len());
        let span = tracing::debug_span!("log.append_group", log, entries);
        let (answer, answered) = oneshot::channel();
        let queued = span.in_scope(|| self.enqueue(AppendCommand::Group(group, answer)));
        async move {
            queued?;
            answered.await.unwrap_or(Err(AppendError::Lost))
        }
        .instrument(span)
    }

    fn enqueue(&self, mut command: AppendCommand) -> Result<(), AppendError> {
        let entries = match &mut command {
            AppendCommand::Entry(entry, _) => slice::from_mut(entry),
            AppendCommand::Group(group, _) => &mut group.entries[..],
        };
        if entries.is_empty() || entries.iter().any(|entry| entry.events.is_empty()) {
            return Err(AppendError::Empty);
        }
        for entry in &mut *entries {
            if entry.actor.contains('\0') {
                entry.actor = entry.actor.replace('\0', "\u{fffd}").into();
            }
        }
        self.refuse_repeats(entries)?;
        let events = entries.iter().map(|entry| entry.events.len()).sum();
        let bytes = entries.iter().map(size_of_entry).sum();
        let too_large = AppendError::TooLarge { events, bytes };
        if events > self.limits.batch_events || bytes > self.limits.batch_bytes {
            return Err(too_large);
        }
        let permits = u32::try_from(bytes).map_err(|_| too_large)?;
        let room = self
            .queue_permits
            .clone()
            .try_acquire_many_owned(permits)
            .map_err(|_| AppendError::QueueFull)?;
        let (since, span) = (Instant::now(), Span::current());
        let waiting = QueuedAppend { command, events, bytes, since, span, _queue_permit: room };
        self.queue.try_send(Command::Append(Box::new(waiting))).map_err(|error| match error {
            TrySendError::Full(_) => AppendError::QueueFull,
            TrySendError::Closed(_) => AppendError::Lost,
        })
    }

    /// Refuses early what the store would refuse: a request that is known to be answered, and one
    /// that occurs twice in the group.
    fn refuse_repeats(&self, entries: &[Entry]) -> Result<(), AppendError> {
        let mut seen = BTreeSet::new();
        for entry in entries {
            let Some((request, key)) = entry.request.as_ref().zip(entry.key()) else { continue };
            if entries.len() > 1 && !seen.insert(key) {
                return Err(AppendError::DuplicateInGroup { id: request.id });
            }
            if let RequestLookup::Answered(stored) = self.lookup(key) {
                return Err(AppendError::Duplicate { stored });
            }
        }
        Ok(())
    }

    /// Looks a request up without asking the store. A request that waits to be written is not
    /// answered yet.
    #[must_use]
    pub fn lookup(&self, key: RequestKey) -> RequestLookup {
        // Another owner may have answered it since.
        if self.stopped.is_cancelled() {
            return RequestLookup::Unknown;
        }
        let now = (self.clock)();
        self.answer_cache.read().unwrap_or_else(PoisonError::into_inner).lookup(key, now)
    }

    /// Whether a command was answered before. `digest` is the SHA-256 of its content. Asks the
    /// store only if the cache cannot tell.
    pub async fn recall(&self, key: RequestKey, digest: [u8; 32]) -> Result<Recall, ReadError> {
        let known = self.recall_many(&[key]).await?.remove(&key);
        Ok(known.map_or(Recall::Fresh, |known| known.recall(&digest, &self.authenticator)))
    }

    /// Judge of the tags of answers.
    #[must_use]
    pub const fn authenticator(&self) -> &Authenticator {
        &self.authenticator
    }

    /// Finds those of `keys` that are not new. Asks the store only for those that the cache cannot
    /// tell.
    pub async fn recall_many(
        &self,
        keys: &[RequestKey],
    ) -> Result<BTreeMap<RequestKey, KnownRequest>, ReadError> {
        let (mut found, mut ask) = (BTreeMap::new(), Vec::new());
        for key in keys {
            match self.lookup(*key) {
                RequestLookup::Fresh => {}
                RequestLookup::Answered(stored) => {
                    found.insert(*key, KnownRequest::Answered(stored));
                }
                RequestLookup::Unknown => ask.push(*key),
            }
        }
        if !ask.is_empty() {
            found.extend(self.reader.known_requests(&ask).await?);
        }
        Ok(found)
    }

    /// Confirms that this process still owns the log. A caller that refuses a command by its own
    /// state confirms first, since a refusal does not pass the fence. [`AppendError::Lost`] stops
    /// the log; it is also the result if the store has fewer events than were committed, as after a
    /// fail-over to a lagging replica.
    pub async fn confirm_ownership(&self) -> Result<(), AppendError> {
        let size = self.size();
        let fence = self.store.fence(self.reader.name()).await;
        let owned = |fence: Fence| fence.epoch == self.epoch && fence.size >= size;
        let ours = fence.map(|fence| fence.is_some_and(owned));
        match ours {
            Ok(true) if !self.stopped.is_cancelled() => Ok(()),
            Ok(_) => {
                self.stopped.cancel();
                Err(AppendError::Lost)
            }
            Err(
                StoreError::Unavailable(source)
                | StoreError::InDoubt(source)
                | StoreError::Refused(source),
            ) => Err(AppendError::Unavailable { source: Some(source) }),
            Err(StoreError::Clock(off)) => Err(AppendError::Clock(off)),
            Err(StoreError::Corrupt(what)) => {
                tracing::error!(log = %self.reader.name(), %what, "the store contradicts itself: the log stops");
                self.stopped.cancel();
                Err(AppendError::Lost)
            }
        }
    }

    /// Reads events as [`Reader::read`] does.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        self.reader.read(from, limit).await
    }

    /// Reader of this log, without the right to write.
    #[must_use]
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Handle that reads archived events for others from these archives.
    #[must_use]
    pub fn with_archives(self, archives: Arc<MountedArchives>) -> Log {
        Log { archive_reader: Some(self.reader.clone().with_archives(archives)), ..self }
    }

    /// Reader for questions of others, which archives may answer. What a service folds it reads with
    /// [`Log::reader`].
    #[must_use]
    pub fn archive_reader(&self) -> &Reader {
        self.archive_reader.as_ref().unwrap_or(&self.reader)
    }

    /// Reads events of a stream as [`Reader::read_stream`] does.
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        self.reader.read_stream(stream, from, limit).await
    }

    /// Streams all events from a position on, for as long as the log is owned here: first the
    /// stored ones, then each as it is committed, never before. A slow subscriber reads from the
    /// store again and misses nothing. After an error, polling again continues at the same
    /// position; [`ReadError::Stopped`] is the last item.
    pub fn subscribe(
        &self,
        from: Position,
    ) -> impl Stream<Item = Result<Event, ReadError>> + Send + Unpin + use<> {
        let nothing_more = || broadcast::Sender::new(1).subscribe();
        Subscription {
            reader: self.reader.clone(),
            next: from,
            commits: self
                .commits
                .upgrade()
                .map_or_else(nothing_more, |commits| commits.subscribe()),
            stopped: self.stopped.clone(),
            ready: VecDeque::new(),
            mode: Mode::CatchingUp,
        }
        .into_stream()
    }

    /// Size, root and time of the committed log.
    #[must_use]
    pub fn head(&self) -> TreeHead {
        *self.head.borrow()
    }

    /// Receiver of the committed head, updated at each commit. Ends when the log is no longer owned
    /// here.
    #[must_use]
    pub fn watch_head(&self) -> watch::Receiver<TreeHead> {
        self.head.clone()
    }

    /// Receiver of the write health. Ends when the log is no longer owned here.
    #[must_use]
    pub fn watch_health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    /// Longest silence of an owner that can write: it renews its lease twice in that time.
    pub(crate) const fn max_silence(&self) -> Duration {
        self.max_silence
    }

    /// Number of committed events.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.head().size
    }

    /// Merkle root over the committed events.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        self.head().root
    }

    /// Time at which the previous owner last renewed its lease while it served, or of the last event
    /// if that is later; `None` for a new log. Clocks of hands continue from there.
    #[must_use]
    pub const fn last_alive(&self) -> Option<UnixMicros> {
        self.last_alive
    }

    /// Random number of this ownership, which no other ownership has. A service that writes its own
    /// tables apart from the log asks the store whether the log still has this epoch.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Cancelled when the log is no longer owned here, or is closed. The owner must stop.
    #[must_use]
    pub fn stopped(&self) -> CancellationToken {
        self.stopped.clone()
    }

    /// Writes all queued entries, releases the log for the next owner and stops. Other handles then
    /// get [`AppendError::Lost`]. While an outcome is unknown this waits for the store.
    pub async fn close(self) {
        // The send fails if the writer has already stopped.
        let _ = self.queue.send(Command::Close).await;
        self.stopped.cancelled().await;
    }
}

/// Bytes of an entry as the limits count them: everything of variable length, with a fixed amount
/// for each event.
fn size_of_entry(entry: &Entry) -> usize {
    let payloads: usize =
        entry.events.iter().map(|event| event.payload.len() + EVENT_OVERHEAD_BYTES).sum();
    let answer = entry.request.as_ref().map_or(0, |request| request.answer.len());
    payloads + answer + entry.actor.len()
}
