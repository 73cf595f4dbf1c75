//! The owner's handle of a log.

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

use crate::answered::{Answered, Known};
use crate::error::{AppendError, OpenError, ReadError};
use crate::event::{Entry, Recall, Receipt, Stored, TreeHead};
use crate::group::Group;
use crate::heads::Heads;
use crate::key::RequestKey;
use crate::open::open;
use crate::queue::{Command, Waiting, Wish};
use crate::reader::Reader;
use crate::store::{Fence, Reading, Store, StoreError};
use crate::subscription::{Mode, Subscription};
use crate::writer::{ClockTrouble, Spare, Writer};

/// Bytes that an event counts for beside its payload.
const EVENT_FLOOR: usize = 128;

/// What time it is.
pub type Clock = Arc<dyn Fn() -> UnixMicros + Send + Sync>;

/// How a log is opened.
#[derive(Clone)]
pub struct Options {
    /// The log's name within its store, such as `table/0`.
    pub name: Arc<str>,
    /// Who owns it: shown to whoever is refused.
    pub owner: Arc<str>,
    /// Where the owner can be called.
    pub address: Arc<str>,
    /// How long a silent owner keeps the log.
    pub lease: Duration,
    /// Take the log at once, even where its owner's lease runs. The other owner stops at its next
    /// write.
    pub take_over: bool,
    pub clock: Clock,
    pub limits: Limits,
}

/// Bounds on what is in memory and in one commit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Events in one commit; also the most that one entry or group may hold.
    pub batch_events: usize,
    /// Bytes of payloads and answers, and a little for each event, in one commit; also the most that
    /// one entry or group may hold.
    pub batch_bytes: usize,
    /// Entries and groups that wait to be committed.
    pub queue_entries: usize,
    /// Bytes, counted alike, that wait to be committed.
    pub queue_bytes: usize,
    /// Streams whose last event is remembered.
    pub streams: usize,
    /// Answered requests that are remembered, of ids with time and of derived ones each.
    pub requests: usize,
    /// Commits that a live subscription may fall behind before it reads from the store again.
    pub live_commits: usize,
    /// How long an entry waits for a store that is not there.
    pub patience: Duration,
    /// How far the owner's clock, and what it records, may be from the store's clock.
    pub skew: Duration,
}

/// Machines that keep their time by NTP are milliseconds apart; a player's clock runs for seconds.
const SKEW: Duration = Duration::from_secs(2);

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            batch_events: 1000,
            batch_bytes: 1 << 20,
            queue_entries: 10_000,
            queue_bytes: 32 << 20,
            streams: 100_000,
            requests: 200_000,
            live_commits: 64,
            patience: Duration::from_secs(5),
            skew: SKEW,
        }
    }
}

/// Whether the store takes what the owner writes. An idle owner renews its lease, three times in its
/// length.
#[derive(Clone, Debug)]
pub struct Health {
    /// When the store took something last.
    pub written: Instant,
    /// Why it has not since.
    pub trouble: Option<Arc<str>>,
}

impl Options {
    /// What the owner's clock shows now.
    pub(crate) fn reading(&self) -> Reading {
        Reading { at: (self.clock)(), skew: self.limits.skew }
    }
}

/// An owned log. Clones are handles of the same; when the last is dropped the log is given up.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn Store>,
    reader: Reader,
    queue: mpsc::Sender<Command>,
    /// Bytes that may still be queued.
    room: Arc<Semaphore>,
    limits: Limits,
    clock: Clock,
    head: watch::Receiver<TreeHead>,
    health: watch::Receiver<Health>,
    /// What the writer has put there.
    answered: Arc<RwLock<Answered>>,
    /// Gone with the writer.
    commits: broadcast::WeakSender<Arc<[Event]>>,
    last_alive: Option<UnixMicros>,
    epoch: u64,
    /// How long an owner that can write is silent at the most.
    stale: Duration,
    stopped: CancellationToken,
}

impl Log {
    /// Takes the log and reads where it ends. Waits for the lease of a silent owner to end; an
    /// owner that renews it is [`OpenError::Held`].
    pub async fn open(store: Arc<dyn Store>, options: Options) -> Result<Log, OpenError> {
        let opened = open(&*store, &options).await?;
        let limits = options.limits.clone();
        let (head, committed) = watch::channel(TreeHead {
            size: opened.tree.size(),
            root: opened.tree.root(),
            recorded_at: opened.recorded_at,
        });
        let (queue, queued) = mpsc::channel(limits.queue_entries.max(1));
        let (health, watched) = watch::channel(Health { written: Instant::now(), trouble: None });
        let commits = broadcast::Sender::new(limits.live_commits.max(1));
        let stopped = CancellationToken::new();
        let answered = Arc::new(RwLock::new(opened.answered));
        let log = Log {
            store: store.clone(),
            reader: Reader::new(store.clone(), options.name.clone()),
            queue,
            room: Arc::new(Semaphore::new(limits.queue_bytes.max(limits.batch_bytes))),
            head: committed,
            health: watched,
            answered: answered.clone(),
            commits: commits.downgrade(),
            last_alive: opened.last_alive,
            epoch: opened.epoch,
            stale: options.lease * 4 / 5,
            stopped: stopped.clone(),
            clock: Arc::clone(&options.clock),
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
            heads: Heads::new(log.limits.streams),
            answered,
            head,
            commits,
            renew_at: Instant::now(),
            spare: Spare::new(),
            clock: ClockTrouble::default(),
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

    /// Appends an entry; answers once it is durable. An entry whose caller stops waiting is
    /// appended all the same.
    pub async fn append(&self, entry: Entry) -> Result<Receipt, AppendError> {
        let log = self.reader.name();
        let span = tracing::debug_span!("log.append", log, events = entry.events.len());
        async move {
            let (answer, answered) = oneshot::channel();
            self.enqueue(Wish::Entry(entry, answer))?;
            answered.await.unwrap_or(Err(AppendError::Lost))
        }
        .instrument(span)
        .await
    }

    /// Appends a group; answers with a receipt for each entry once it is durable. It takes its place
    /// in the queue now, before the answer is waited for, and is appended whether it is or not.
    ///
    /// [`AppendError::Duplicate`] where a request of it was answered before: then nothing of it was
    /// appended, nor will be what was handed over after it.
    pub fn append_group(
        &self,
        group: Group,
    ) -> impl Future<Output = Result<Vec<Receipt>, AppendError>> + Send + use<> {
        let (log, entries) = (self.reader.name(), group.entries.len());
        let span = tracing::debug_span!("log.append_group", log, entries);
        let (answer, answered) = oneshot::channel();
        let queued = span.in_scope(|| self.enqueue(Wish::Group(group, answer)));
        async move {
            queued?;
            answered.await.unwrap_or(Err(AppendError::Lost))
        }
        .instrument(span)
    }

    fn enqueue(&self, mut wish: Wish) -> Result<(), AppendError> {
        let entries = match &mut wish {
            Wish::Entry(entry, _) => slice::from_mut(entry),
            Wish::Group(group, _) => &mut group.entries[..],
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
        let room =
            self.room.clone().try_acquire_many_owned(permits).map_err(|_| AppendError::Full)?;
        let (since, span) = (Instant::now(), Span::current());
        let waiting = Waiting { wish, events, bytes, since, span, _room: room };
        self.queue.try_send(Command::Append(Box::new(waiting))).map_err(|error| match error {
            TrySendError::Full(_) => AppendError::Full,
            TrySendError::Closed(_) => AppendError::Lost,
        })
    }

    /// Refuses here what would be refused by the store: a request that is known to be answered, and
    /// one that comes twice.
    fn refuse_repeats(&self, entries: &[Entry]) -> Result<(), AppendError> {
        let mut seen = BTreeSet::new();
        for entry in entries {
            let Some((request, key)) = entry.request.as_ref().zip(entry.key()) else { continue };
            if entries.len() > 1 && !seen.insert(key) {
                return Err(AppendError::Twice { id: request.id });
            }
            if let Known::Stored(stored) = self.known(key) {
                return Err(AppendError::Duplicate { stored });
            }
        }
        Ok(())
    }

    /// What is known of a request without asking the store. A request that waits to be written is
    /// not answered yet.
    #[must_use]
    pub fn known(&self, key: RequestKey) -> Known {
        // Another owner may have answered it since.
        if self.stopped.is_cancelled() {
            return Known::Ask;
        }
        let now = (self.clock)();
        self.answered.read().unwrap_or_else(PoisonError::into_inner).known(key, now)
    }

    /// Whether a command was answered before. `digest` is SHA-256 of its content. The store is asked
    /// only where memory cannot tell.
    pub async fn recall(&self, key: RequestKey, digest: [u8; 32]) -> Result<Recall, ReadError> {
        let stored = match self.known(key) {
            Known::Fresh => None,
            Known::Stored(stored) => Some(stored),
            Known::Ask => self.reader.request(key).await?,
        };
        Ok(stored.map_or(Recall::Fresh, |stored| stored.recall(digest)))
    }

    /// Those of the requests that were answered before; at most one question to the store.
    pub async fn recall_many(
        &self,
        keys: &[RequestKey],
    ) -> Result<BTreeMap<RequestKey, Stored>, ReadError> {
        let (mut found, mut ask) = (BTreeMap::new(), Vec::new());
        for key in keys {
            match self.known(*key) {
                Known::Fresh => {}
                Known::Stored(stored) => drop(found.insert(*key, stored)),
                Known::Ask => ask.push(*key),
            }
        }
        if !ask.is_empty() {
            let stored = self.reader.requests(&ask).await?;
            found.extend(stored.into_iter().map(|stored| (stored.key, stored)));
        }
        Ok(found)
    }

    /// Whether nobody else could have appended until now. Whoever says no by what is in memory asks this
    /// first, since nothing of a no goes through the fence; [`AppendError::Lost`] stops the log.
    /// So it does where the store has fewer events than were committed, as a replica may have that took over.
    pub async fn confirm(&self) -> Result<(), AppendError> {
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

    /// Events from a position on, in order, at most `limit`: fewer only where the log ends.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        self.reader.read(from, limit).await
    }

    /// The log to read alone, for whoever needs no right to write.
    #[must_use]
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Events of a stream from a version on, in order, at most `limit`: fewer only where it ends.
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        self.reader.read_stream(stream, from, limit).await
    }

    /// All events from a position on, for as long as the log is owned here: first those stored,
    /// then each as it is committed, never before. A slow reader is sent back to the store and
    /// misses nothing. After an error polling on reads again from where it was, but
    /// [`ReadError::Stopped`] is the last item.
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

    /// The committed log.
    #[must_use]
    pub fn head(&self) -> TreeHead {
        *self.head.borrow()
    }

    /// The committed log, each time it has grown; ends when the log is no longer owned here.
    #[must_use]
    pub fn heads(&self) -> watch::Receiver<TreeHead> {
        self.head.clone()
    }

    /// Whether the store takes what is written here; ends when the log is no longer owned here.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    /// How long an owner that writes may be silent: it renews its lease twice in that time.
    pub(crate) const fn stale(&self) -> Duration {
        self.stale
    }

    /// The number of committed events.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.head().size
    }

    /// The root over the committed events.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        self.head().root
    }

    /// When the owner before last said that it served, by its own clock; nothing for a new log.
    /// Clocks that ran then go on from there.
    #[must_use]
    pub const fn last_alive(&self) -> Option<UnixMicros> {
        self.last_alive
    }

    /// Which ownership of the log this is: a random number that no other has. A service that changes tables of its own apart from the log asks the store whether the log still has it.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Fires when the log is no longer owned here, or closed. The owner must stop.
    #[must_use]
    pub fn stopped(&self) -> CancellationToken {
        self.stopped.clone()
    }

    /// Writes what waits, gives the log up for the next owner and stops. Other handles get
    /// [`AppendError::Lost`] from then on. While an outcome is unknown this waits for the store.
    pub async fn close(self) {
        // An error says that it has stopped already.
        let _ = self.queue.send(Command::Close).await;
        self.stopped.cancelled().await;
    }
}

/// What the limits count: everything of variable length, with a floor for the rest.
fn size_of_entry(entry: &Entry) -> usize {
    let payloads: usize = entry.events.iter().map(|event| event.payload.len() + EVENT_FLOOR).sum();
    let answer = entry.request.as_ref().map_or(0, |request| request.answer.len());
    payloads + answer + entry.actor.len()
}
