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

use std::sync::Arc;

use clocklog::Noticed;
use eventlog::{AppendError, Entry, Log, Recall, Request, RequestKey, StreamId, Version};
use fairness::{Commitment, Context, Seed, SeedCommitted, Transcript};

use crate::cache::{Cache, Place};
use crate::dealer::{Call, House, Problem};
use crate::hand::{
    Committed, Contradiction, Event, Hand, HandName, Perform, Performed, Refusal, Sealing,
};
use crate::record;
use crate::repo::Kept;

/// Number of events read from the log at once.
const PAGE: usize = 1000;

/// Handles commands with one log.
pub(crate) struct Desk {
    house: Arc<House>,
    log: Log,
    cache: Cache,
}

/// Outcome of an append.
enum Appended {
    New,
    /// The request was answered before, by an equal command.
    Before,
}

impl Desk {
    pub(crate) fn new(house: Arc<House>, log: Log) -> Desk {
        let cache = Cache::new(house.hands);
        Desk { house, log, cache }
    }

    pub(crate) async fn commit(
        &self,
        call: &Call,
        name: HandName,
        rule_set_hash: [u8; 32],
    ) -> Result<Committed, Problem> {
        let place = self.place(name);
        let mut place = place.lock().await;
        let done = self.commit_on(&mut place, (call, name), rule_set_hash).await;
        self.confirmed(done).await
    }

    async fn commit_on(
        &self,
        place: &mut Option<Hand>,
        (call, name): (&Call, HandName),
        rule_set_hash: [u8; 32],
    ) -> Result<Committed, Problem> {
        let hand = match self.take(place, name).await {
            Ok(hand) => hand,
            Err(Problem::UnknownHand) => {
                let hand = self.new_hand(name, rule_set_hash).await?;
                let event = Event::Committed(hand.committed().clone());
                match self.append(call, name, vec![event]).await? {
                    Appended::New => hand,
                    Appended::Before => self.load(name).await?,
                }
            }
            Err(problem) => return Err(problem),
        };
        let committed = hand.committed().clone();
        *place = Some(hand);
        if committed.rule_set_hash == rule_set_hash {
            Ok(committed)
        } else {
            Err(Refusal::OtherRules.into())
        }
    }

    pub(crate) async fn seal(
        &self,
        call: &Call,
        name: HandName,
        sealing: Sealing,
    ) -> Result<Transcript, Problem> {
        let place = self.place(name);
        let mut place = place.lock().await;
        let done = self.seal_on(&mut place, (call, name), sealing).await;
        self.confirmed(done).await
    }

    async fn seal_on(
        &self,
        place: &mut Option<Hand>,
        (call, name): (&Call, HandName),
        sealing: Sealing,
    ) -> Result<Transcript, Problem> {
        let mut hand = self.take(place, name).await?;
        let (transcript, events) = hand.seal(sealing)?;
        if let Appended::New = self.append(call, name, events).await? {
            *place = Some(hand);
        }
        Ok(transcript)
    }

    pub(crate) async fn perform(
        &self,
        call: &Call,
        name: HandName,
        asked: &Perform,
    ) -> Result<Performed, Problem> {
        let place = self.place(name);
        let mut place = place.lock().await;
        let done = self.perform_on(&mut place, (call, name), asked).await;
        self.confirmed(done).await
    }

    async fn perform_on(
        &self,
        place: &mut Option<Hand>,
        (call, name): (&Call, HandName),
        asked: &Perform,
    ) -> Result<Performed, Problem> {
        let mut hand = self.take(place, name).await?;
        let (performed, events) = match hand.perform(asked, &call.actor) {
            Ok(done) => done,
            // Cards dealt in the first answer may have moved since, or the hand may have ended.
            Err(refusal) => match self.recall(call).await? {
                Recall::Fresh => return Err(refusal.into()),
                Recall::Different => return Err(Problem::Reused),
                Recall::Same { .. } => return Ok(self.load(name).await?.repeat(asked)?),
            },
        };
        match self.append(call, name, events).await? {
            Appended::New => {
                *place = Some(hand);
                Ok(performed)
            }
            Appended::Before => Ok(self.load(name).await?.repeat(asked)?),
        }
    }

    pub(crate) async fn reveal(
        &self,
        call: &Call,
        name: HandName,
        discarded: bool,
    ) -> Result<Seed, Problem> {
        let place = self.place(name);
        let mut place = place.lock().await;
        let done = self.reveal_on(&mut place, (call, name), discarded).await;
        self.confirmed(done).await
    }

    async fn reveal_on(
        &self,
        place: &mut Option<Hand>,
        (call, name): (&Call, HandName),
        discarded: bool,
    ) -> Result<Seed, Problem> {
        let mut hand = self.take(place, name).await?;
        let (seed, events) = hand.reveal(discarded)?;
        if let Appended::New = self.append(call, name, events).await? {
            *place = Some(hand);
        }
        Ok(seed)
    }

    /// Records a step of the clock. Returns whether it is on record.
    pub(crate) async fn record_step(&self, noticed: Noticed) -> bool {
        clocklog::append(&self.log, "dealer", noticed).await
    }

    /// Passes the result of a call on, once it can be believed: a refusal counts only if the log is
    /// still this dealer's.
    async fn confirmed<T>(&self, done: Result<T, Problem>) -> Result<T, Problem> {
        match &done {
            Ok(_)
            | Err(
                Problem::Overloaded
                | Problem::Entropy(_)
                | Problem::Unavailable
                | Problem::Clock(_),
            ) => done,
            Err(
                Problem::Refused(_)
                | Problem::UnknownHand
                | Problem::Reused
                | Problem::NoKey(_)
                | Problem::Corrupt,
            ) => match self.log.confirm().await {
                Ok(()) => done,
                Err(AppendError::Clock(off)) => Err(Problem::Clock(off)),
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "whose the log is cannot be known: nobody is refused");
                    Err(Problem::Unavailable)
                }
            },
        }
    }

    fn place(&self, name: HandName) -> Place {
        self.cache.place(name.id())
    }

    /// Takes the hand out of its slot, or reads it from the log if the slot is empty.
    async fn take(&self, place: &mut Option<Hand>, name: HandName) -> Result<Hand, Problem> {
        match place.take() {
            Some(hand) => Ok(hand),
            None => self.load(name).await,
        }
    }

    /// Makes a hand with a stored seed: the one made now, or one stored before a crash.
    async fn new_hand(&self, hand: HandName, rule_set_hash: [u8; 32]) -> Result<Hand, Problem> {
        let house = &*self.house;
        let House { seeds, vault, source, key, key_id, origin, hands: _ } = house;
        let context = Context::new(origin, hand.table, hand.number, &rule_set_hash);
        let seed = Seed::new(source.block()?);
        let commitment = Commitment::new(&context, &seed);
        let sealed = vault.seal(&seed, (&context, &commitment), house.nonce()?);
        let new = Kept { hand: hand.id(), context, commitment, seed: sealed };
        let kept = seeds.keep(new).await?;
        if kept.context != context {
            return Err(Refusal::OtherRules.into());
        }
        let seed = vault.open(&kept.seed, (&kept.context, &kept.commitment))?;
        let signed = SeedCommitted {
            table: hand.table,
            hand_no: hand.number,
            ruleset_hash: &rule_set_hash,
            commitment: &kept.commitment,
            key_id,
        };
        let committed = Committed {
            hand,
            rule_set_hash,
            commitment: kept.commitment,
            key_id: *key_id,
            signature: signed.sign(key),
            origin: Arc::clone(origin),
        };
        Ok(Hand::try_new(committed, seed)?)
    }

    /// Reads the hand from its stream.
    async fn load(&self, name: HandName) -> Result<Hand, Problem> {
        let mut hand: Option<Hand> = None;
        let mut from = Version(1);
        loop {
            let page = self.log.read_stream(StreamId::from(name.id()), from, PAGE).await?;
            for stored in &page {
                let event = record::parse(stored)?;
                match (&mut hand, event) {
                    (None, Event::Committed(committed)) if committed.hand == name => {
                        hand = Some(self.kept_hand(committed).await?);
                    }
                    (None, _) => return Err(Contradiction::Order.into()),
                    (Some(hand), event) => hand.replay(event)?,
                }
                from = Version(stored.version.0 + 1);
            }
            if page.len() < PAGE {
                return hand.ok_or(Problem::UnknownHand);
            }
        }
    }

    /// Makes a committed hand with its seed out of storage.
    async fn kept_hand(&self, committed: Committed) -> Result<Hand, Problem> {
        let kept = self.house.seeds.get(committed.hand.id()).await?.ok_or(Contradiction::Seed)?;
        let seed = self.house.vault.open(&kept.seed, (&kept.context, &kept.commitment))?;
        Ok(Hand::try_new(committed, seed)?)
    }

    async fn append(
        &self,
        call: &Call,
        name: HandName,
        events: Vec<Event>,
    ) -> Result<Appended, Problem> {
        if events.is_empty() {
            return Ok(Appended::New);
        }
        let hand = name.id();
        // No answer is stored with the request: it may be cards.
        let request = Request { id: call.id, digest: call.digest, answer: bytes::Bytes::new() };
        let entry = Entry {
            events: events.iter().map(|event| record::new_event(hand, event)).collect(),
            request: Some(request),
            actor: Arc::clone(&call.actor),
            trace: call.trace,
        };
        match self.log.append(entry).await {
            Ok(_) => Ok(Appended::New),
            Err(AppendError::Duplicate { stored }) => match stored.recall(call.digest) {
                Recall::Same { .. } => Ok(Appended::Before),
                Recall::Different | Recall::Fresh => Err(Problem::Reused),
            },
            Err(AppendError::Full) => Err(Problem::Overloaded),
            Err(AppendError::Clock(off)) => Err(Problem::Clock(off)),
            Err(AppendError::Unavailable { .. } | AppendError::Lost) => Err(Problem::Unavailable),
            Err(
                error @ (AppendError::TooLarge { .. }
                | AppendError::Empty
                | AppendError::Misplaced { .. }
                | AppendError::Twice { .. }),
            ) => {
                tracing::error!(%hand, %error, "the API's limits let through what the log's do not");
                Err(Problem::Corrupt)
            }
        }
    }

    async fn recall(&self, call: &Call) -> Result<Recall, Problem> {
        Ok(self.log.recall(RequestKey::new(&call.actor, call.id), call.digest).await?)
    }
}
