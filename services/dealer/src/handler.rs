//! Commands on hands, during one ownership of the log: hands in memory, with every event in the log
//! before its answer is given.
//!
//! One call at a time works on a hand. The hand is taken out of its slot for the work and put back
//! when the log has taken the events. On every other way out the slot stays empty, and the hand is
//! read from its stream again. So memory never runs ahead of the log. When the log is lost, all of
//! this is dropped. A refusal comes from memory and does not pass the fence, so the log is asked
//! whether this process still owns it before a refusal is given.
//!
//! A repeated request gets its first answer. Answers are not stored, since no hidden card is ever
//! written down; they are dealt again, which gives the first answer again.
//!
//! Specification: ARCHITECTURE.md §3.

use std::sync::Arc;

use clocklog::Noticed;
use eventlog::{
    AppendError, Entry, Log, NewEvent, Recall, Request, RequestKey, StreamId, Version,
    request_digest,
};
use fairness::{
    ClosingRow, Commitment, CommitmentStatement, Context, Seed, SignedText, Transcript,
};
use primitives::RequestId;
use wire::records::{DealerRecord, Record as _};

use crate::cache::{Cache, Slot};
use crate::dealer::{DealerError, RequestMetadata, Resources};
use crate::hand::{
    Closed, Committed, Contradiction, Event, Hand, HandName, PerformCommand, PerformOutcome,
    Refusal, SealInput,
};
use crate::promises::{self, Promises};
use crate::record;
use crate::seeds::SeedLabel;

/// Number of events read from the log at once.
const PAGE_EVENTS: usize = 1000;

/// Handles commands with one log.
pub(crate) struct Handler {
    resources: Arc<Resources>,
    log: Log,
    cache: Cache,
    promises: Promises,
}

/// Outcome of an append.
enum AppendOutcome {
    Appended,
    /// The request was answered before, by an equal command.
    Repeated,
}

impl Handler {
    pub(crate) fn new(resources: Arc<Resources>, log: Log) -> Handler {
        let cache = Cache::new(resources.max_cached_hands);
        Handler { resources, log, cache, promises: Promises::default() }
    }

    pub(crate) async fn commit(
        &self,
        call: &RequestMetadata,
        name: HandName,
        rules_hash: [u8; 32],
        before: Option<&Committed>,
    ) -> Result<Committed, DealerError> {
        let place = self.slot(name);
        let mut place = place.lock().await;
        let hand = match self.take_hand(&mut place, name).await {
            Err(DealerError::UnknownHand) => self.promise(call, name, rules_hash, before).await,
            known => known,
        };
        let done = match hand {
            Ok(hand) => {
                let committed = place.insert(hand).committed().clone();
                let same = committed.rules_hash == rules_hash;
                if same { Ok(committed) } else { Err(Refusal::OtherRules.into()) }
            }
            Err(problem) => Err(problem),
        };
        self.confirm_refusal(done).await
    }

    /// Promises a number that is not promised yet.
    async fn promise(
        &self,
        call: &RequestMetadata,
        name: HandName,
        rules_hash: [u8; 32],
        before: Option<&Committed>,
    ) -> Result<Hand, DealerError> {
        let lost = self.promises.check(&self.log, &self.resources, name, before).await?;
        let hand = self.new_hand(name, rules_hash).await?;
        let committed =
            record::new_event(name.id(), &Event::SeedCommitted(hand.committed().clone()));
        let mut events: Vec<NewEvent> = lost.iter().map(promises::new_event).collect();
        events.push(committed);
        match self.append_new(call, name, events).await? {
            AppendOutcome::Appended => {
                self.promises.note(lost.as_ref()).await;
                Ok(hand)
            }
            AppendOutcome::Repeated => self.load_hand(name).await,
        }
    }

    pub(crate) async fn close(
        &self,
        call: &RequestMetadata,
        name: HandName,
        rows: Vec<ClosingRow>,
    ) -> Result<Closed, DealerError> {
        let place = self.slot(name);
        let mut place = place.lock().await;
        let done = self.close_on(&mut place, call, name, rows).await;
        self.confirm_refusal(done).await
    }

    async fn close_on(
        &self,
        place: &mut Option<Hand>,
        call: &RequestMetadata,
        name: HandName,
        rows: Vec<ClosingRow>,
    ) -> Result<Closed, DealerError> {
        let mut hand = self.take_hand(place, name).await?;
        let (closed, events) = hand.close(rows, &self.resources.key)?;
        if let AppendOutcome::Appended = self.append(call, name, events).await? {
            *place = Some(hand);
        }
        Ok(closed)
    }

    pub(crate) async fn seal(
        &self,
        call: &RequestMetadata,
        name: HandName,
        sealing: SealInput,
    ) -> Result<Transcript, DealerError> {
        let place = self.slot(name);
        let mut place = place.lock().await;
        let done = self.seal_on(&mut place, call, name, sealing).await;
        self.confirm_refusal(done).await
    }

    async fn seal_on(
        &self,
        place: &mut Option<Hand>,
        call: &RequestMetadata,
        name: HandName,
        sealing: SealInput,
    ) -> Result<Transcript, DealerError> {
        let mut hand = self.take_hand(place, name).await?;
        let (transcript, events) = hand.seal(sealing)?;
        if let AppendOutcome::Appended = self.append(call, name, events).await? {
            *place = Some(hand);
        }
        Ok(transcript)
    }

    pub(crate) async fn perform(
        &self,
        call: &RequestMetadata,
        name: HandName,
        asked: &PerformCommand,
    ) -> Result<PerformOutcome, DealerError> {
        let place = self.slot(name);
        let mut place = place.lock().await;
        let done = self.perform_on(&mut place, call, name, asked).await;
        self.confirm_refusal(done).await
    }

    async fn perform_on(
        &self,
        place: &mut Option<Hand>,
        call: &RequestMetadata,
        name: HandName,
        asked: &PerformCommand,
    ) -> Result<PerformOutcome, DealerError> {
        let mut hand = self.take_hand(place, name).await?;
        let (performed, events) = match hand.perform(asked, &call.actor) {
            Ok(done) => done,
            // Cards dealt in the first answer may have moved since, or the hand may have ended.
            Err(refusal) => match self.recall(call).await? {
                Recall::Fresh => return Err(refusal.into()),
                Recall::TooOld => return Err(DealerError::RequestIdTooOld),
                Recall::IdReused => return Err(DealerError::RequestIdReused),
                Recall::Repeated { .. } => return Ok(self.load_hand(name).await?.repeat(asked)?),
            },
        };
        match self.append(call, name, events).await? {
            AppendOutcome::Appended => {
                *place = Some(hand);
                Ok(performed)
            }
            AppendOutcome::Repeated => Ok(self.load_hand(name).await?.repeat(asked)?),
        }
    }

    pub(crate) async fn reveal(
        &self,
        call: &RequestMetadata,
        name: HandName,
        discarded: bool,
    ) -> Result<Seed, DealerError> {
        let place = self.slot(name);
        let mut place = place.lock().await;
        let done = self.reveal_on(&mut place, call, name, discarded).await;
        self.confirm_refusal(done).await
    }

    async fn reveal_on(
        &self,
        place: &mut Option<Hand>,
        call: &RequestMetadata,
        name: HandName,
        discarded: bool,
    ) -> Result<Seed, DealerError> {
        let mut hand = self.take_hand(place, name).await?;
        let (seed, events) = hand.reveal(discarded)?;
        if let AppendOutcome::Appended = self.append(call, name, events).await? {
            *place = Some(hand);
        }
        Ok(seed)
    }

    /// Records a step of the clock. Returns whether it is on record.
    pub(crate) async fn record_step(&self, noticed: Noticed) -> bool {
        clocklog::append(&self.log, "dealer", noticed).await
    }

    /// The log that is written.
    pub(crate) const fn log(&self) -> &Log {
        &self.log
    }

    /// Records events of chance as a whole, once under their id. Returns whether they are on record.
    pub(crate) async fn record_chance(&self, id: RequestId, records: Vec<DealerRecord>) -> bool {
        let events: Vec<NewEvent> =
            records.iter().map(|record| record.on_stream(StreamId::CHANCE)).collect();
        let payloads: Vec<&[u8]> = events.iter().map(|event| &event.payload[..]).collect();
        let digest = request_digest("chance", &payloads);
        let request = Some(Request { id, digest, answer: bytes::Bytes::new() });
        let entry = Entry { events, request, actor: "service:dealer".into(), trace: [0; 16] };
        match self.log.append(entry).await {
            Ok(_) => true,
            Err(AppendError::Duplicate { stored }) => stored.tag.is_some(),
            Err(error) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "an event of chance is not on record yet");
                false
            }
        }
    }

    /// Passes the result of a call on, once it can be believed: a refusal counts only if the log is
    /// still this dealer's.
    async fn confirm_refusal<T>(&self, done: Result<T, DealerError>) -> Result<T, DealerError> {
        match &done {
            Ok(_)
            | Err(
                DealerError::Overloaded
                | DealerError::Entropy(_)
                | DealerError::Unavailable
                | DealerError::Clock(_),
            ) => done,
            Err(
                DealerError::Refused(_)
                | DealerError::UnknownHand
                | DealerError::RequestIdReused
                | DealerError::RequestIdTooOld
                | DealerError::MissingKey(_)
                | DealerError::Corrupt,
            ) => match self.log.confirm_ownership().await {
                Ok(()) => done,
                Err(AppendError::Clock(off)) => Err(DealerError::Clock(off)),
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "whose the log is cannot be known: nobody is refused");
                    Err(DealerError::Unavailable)
                }
            },
        }
    }

    fn slot(&self, name: HandName) -> Slot {
        self.cache.slot(name.id())
    }

    /// Takes the hand out of its slot, or reads it from the log if the slot is empty.
    async fn take_hand(
        &self,
        place: &mut Option<Hand>,
        name: HandName,
    ) -> Result<Hand, DealerError> {
        match place.take() {
            Some(hand) => Ok(hand),
            None => self.load_hand(name).await,
        }
    }

    /// Makes a hand with a stored seed: the one made now, or one stored before a crash.
    async fn new_hand(&self, hand: HandName, rules_hash: [u8; 32]) -> Result<Hand, DealerError> {
        let resources = &*self.resources;
        let Resources { seeds, keyring, source, key, key_id, origin, fixed_seeds, .. } = resources;
        let context = Context::new(origin, hand.table, hand.number, &rules_hash);
        let fixed = fixed_seeds.as_ref().map(|fixed| fixed.seed(hand));
        let seed = Seed::new(fixed.map_or_else(|| source.block(), Ok)?);
        let commitment = Commitment::new(&context, &seed);
        let label = SeedLabel { context, commitment };
        let new = keyring.seal(hand.id().0, &label.bytes(), seed.expose(), resources.nonce()?);
        let kept = seeds.insert_if_absent(new).await?;
        let label = SeedLabel::parse(&kept.label).ok_or(Contradiction::Seed)?;
        if label.context != context {
            return Err(Refusal::OtherRules.into());
        }
        let seed = Seed::new(keyring.open(&kept)?);
        let signed = CommitmentStatement {
            origin,
            table: hand.table,
            hand_no: hand.number,
            rules_hash: &rules_hash,
            commitment: &label.commitment,
        };
        let committed = Committed {
            hand,
            rules_hash,
            commitment: label.commitment,
            key_id: *key_id,
            signature: signed.sign(key),
            origin: Arc::clone(origin),
        };
        Ok(Hand::try_new(committed, seed)?)
    }

    /// Reads the hand from its stream.
    async fn load_hand(&self, name: HandName) -> Result<Hand, DealerError> {
        let mut hand: Option<Hand> = None;
        let mut from = Version(1);
        loop {
            let page = self.log.read_stream(StreamId::from(name.id()), from, PAGE_EVENTS).await?;
            for stored in &page {
                let event = record::parse(stored)?;
                match (&mut hand, event) {
                    (None, Event::SeedCommitted(committed)) if committed.hand == name => {
                        hand = Some(self.open_hand(committed).await?);
                    }
                    (None, _) => return Err(Contradiction::Order.into()),
                    (Some(hand), event) => hand.replay(event)?,
                }
                from = Version(stored.version.0 + 1);
            }
            if page.is_empty() {
                return hand.ok_or(DealerError::UnknownHand);
            }
        }
    }

    /// Makes a committed hand with its seed out of storage.
    async fn open_hand(&self, committed: Committed) -> Result<Hand, DealerError> {
        let Resources { seeds, keyring, .. } = &*self.resources;
        let kept = seeds.get(committed.hand.id().0).await?.ok_or(Contradiction::Seed)?;
        Ok(Hand::try_new(committed, Seed::new(keyring.open(&kept)?))?)
    }

    async fn append(
        &self,
        call: &RequestMetadata,
        name: HandName,
        events: Vec<Event>,
    ) -> Result<AppendOutcome, DealerError> {
        if events.is_empty() {
            return Ok(AppendOutcome::Appended);
        }
        let hand = name.id();
        let events = events.iter().map(|event| record::new_event(hand, event)).collect();
        self.append_new(call, name, events).await
    }

    async fn append_new(
        &self,
        call: &RequestMetadata,
        name: HandName,
        events: Vec<NewEvent>,
    ) -> Result<AppendOutcome, DealerError> {
        let hand = name.id();
        // No answer is stored with the request: it may be cards.
        let request = Request { id: call.id, digest: call.digest, answer: bytes::Bytes::new() };
        let entry = Entry {
            events,
            request: Some(request),
            actor: Arc::clone(&call.actor),
            trace: call.trace,
        };
        match self.log.append(entry).await {
            Ok(_) => Ok(AppendOutcome::Appended),
            Err(AppendError::Duplicate { stored }) => {
                match stored.recall(&call.digest, self.log.authenticator()) {
                    Recall::Repeated { .. } => Ok(AppendOutcome::Repeated),
                    Recall::IdReused | Recall::Fresh | Recall::TooOld => {
                        Err(DealerError::RequestIdReused)
                    }
                }
            }
            Err(AppendError::QueueFull) => Err(DealerError::Overloaded),
            Err(AppendError::Clock(off)) => Err(DealerError::Clock(off)),
            Err(AppendError::Unavailable { .. } | AppendError::Lost) => {
                Err(DealerError::Unavailable)
            }
            Err(
                error @ (AppendError::TooLarge { .. }
                | AppendError::Empty
                | AppendError::Misplaced { .. }
                | AppendError::DuplicateInGroup { .. }),
            ) => {
                tracing::error!(%hand, %error, "the API's limits let through what the log's do not");
                Err(DealerError::Corrupt)
            }
        }
    }

    async fn recall(&self, call: &RequestMetadata) -> Result<Recall, DealerError> {
        Ok(self.log.recall(RequestKey::new(&call.actor, call.id), call.digest).await?)
    }
}
