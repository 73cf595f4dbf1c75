//! Knows: when a service's clock stepped, and how that comes into its log: one event a step.
//! Does not know: which service it is, what else its log holds, what counts as a step.
//!
//! A service hands its clock and its way to its log to [`record`], and runs that beside everything else.
//!
//! - **Nothing waits for it.** It is one task that holds no lock and has one entry on its way at a time.
//! - **Nothing is lost while the process lives.** A step that is not on record is handed over again, each
//!   second, until it is: through an outage, a log that is lost and read again, and a fence that refuses a
//!   clock that is off. Steps that come meanwhile are summed up, with their number, in one event behind it.
//! - **Once.** Each step has a request id of its own, under which it is handed over again, so that an entry
//!   whose outcome nobody knows goes in once.
//! - **Bounded.** An event a second at the most, however often the clock is set; steps within that are summed
//!   up.
//!
//! Specification: ARCHITECTURE.md §2.7.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eventlog::{AppendError, Entry, Log, Request};
use primitives::{RequestId, UnixMicros};
use sha2::{Digest as _, Sha256};
use system::clock::{Clock, Steps};
use system::ids::IdMaker;
use wire::clock::Step;

/// Time between two looks at the clock, and the shortest between two entries.
const LOOK: Duration = Duration::from_secs(1);

/// A step on its way to the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noticed {
    pub step: Step,
    /// What it is recorded under.
    pub id: RequestId,
}

/// Hands each step of the clock from now on to `write`, for as long as it is polled. `write` says whether the
/// step is on record; where it is not it gets the same again.
pub fn record<W, F>(clock: Arc<dyn Clock>, write: W) -> impl Future<Output = ()> + Send
where
    W: Fn(Noticed) -> F + Send,
    F: Future<Output = bool> + Send,
{
    let seen = clock.steps();
    let life = IdMaker::system().request_id();
    let mut watch = Watch { clock, life, seen, unwritten: Steps::default(), noticed: None };
    async move {
        loop {
            watch.look();
            let Some(noticed) = watch.take() else {
                watch.clock.sleep(LOOK).await;
                continue;
            };
            while !watch.written(write(noticed)).await {
                watch.pass(LOOK).await;
            }
            tracing::info!("on record: {}", noticed.step);
            watch.pass(LOOK).await;
        }
    }
}

/// Appends a step to the log of a service; whether it is on record.
pub async fn append(log: &Log, service: &str, Noticed { step, id }: Noticed) -> bool {
    let event = wire::clock::new_event(&step);
    let digest = Sha256::digest(&event.payload).into();
    let entry = Entry {
        events: vec![event],
        request: Some(Request { id, digest, answer: Bytes::new() }),
        actor: format!("service:{service}").into(),
        trace: [0; 16],
    };
    match log.append(entry).await {
        Ok(_) | Err(AppendError::Duplicate { .. }) => true,
        Err(
            error @ (AppendError::Clock(_)
            | AppendError::QueueFull
            | AppendError::Lost
            | AppendError::Unavailable { .. }),
        ) => {
            tracing::debug!(%error, "a step of the clock is not on record yet");
            false
        }
        Err(
            error @ (AppendError::Empty
            | AppendError::Misplaced { .. }
            | AppendError::TooLarge { .. }
            | AppendError::DuplicateInGroup { .. }),
        ) => {
            tracing::error!(%error, "a step of the clock cannot be recorded");
            false
        }
    }
}

/// A clock, and its steps as far as they were noticed.
struct Watch {
    clock: Arc<dyn Clock>,
    /// Tells this watch from every other, also where their clocks show the same.
    life: RequestId,
    seen: Steps,
    /// Steps that were noticed and not handed over.
    unwritten: Steps,
    /// The time after the last of them.
    noticed: Option<UnixMicros>,
}

impl Watch {
    /// Adds the steps since the last look to those that are not written. The time by a clock that was never
    /// set.
    fn look(&mut self) -> UnixMicros {
        let (now, steps) = reading(&*self.clock);
        let count = steps.count.saturating_sub(self.seen.count);
        if count > 0 {
            let micros = steps.micros.saturating_sub(self.seen.micros);
            self.unwritten.count = self.unwritten.count.saturating_add(count);
            self.unwritten.micros = self.unwritten.micros.saturating_add(micros);
            self.noticed = Some(now);
            self.seen = steps;
        }
        UnixMicros(now.0.saturating_add_signed(steps.micros.saturating_neg()))
    }

    /// What was noticed, as one step.
    fn take(&mut self) -> Option<Noticed> {
        let after = self.noticed.take()?;
        let Steps { count, micros } = std::mem::take(&mut self.unwritten);
        let step = Step::new(micros, after, count);
        let mut hash = Sha256::new();
        hash.update(b"sabacc/clock-step/v1");
        hash.update(self.life.0);
        // Counted over all steps: no two that are taken have the same.
        hash.update(self.seen.count.to_be_bytes());
        let hash = hash.finalize();
        let id = RequestId::derived(*hash.first_chunk().expect("32 bytes are more than 16"));
        Some(Noticed { step, id })
    }

    /// Waits for an entry, and notices what happens meanwhile.
    async fn written(&mut self, writing: impl Future<Output = bool>) -> bool {
        let mut writing = pin!(writing);
        loop {
            let clock = Arc::clone(&self.clock);
            tokio::select! {
                biased;
                written = &mut writing => return written,
                () = clock.sleep(LOOK) => drop(self.look()),
            }
        }
    }

    /// Lets so much time pass, which no step cuts short, and notices what happens meanwhile.
    async fn pass(&mut self, span: Duration) {
        let end = self.look().plus(span);
        loop {
            let left = end.since(self.look());
            if left.is_zero() {
                return;
            }
            self.clock.sleep(left).await;
        }
    }
}

/// The time, and the steps that are in it.
fn reading(clock: &dyn Clock) -> (UnixMicros, Steps) {
    let mut steps = clock.steps();
    loop {
        // A clock may find out that it was set when it is asked for the time.
        let now = clock.now();
        let again = clock.steps();
        if again == steps {
            return (now, steps);
        }
        steps = again;
    }
}
