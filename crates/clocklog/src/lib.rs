//! Knows: when a service's clock stepped, and how that comes into its log: one event a step.
//! Does not know: which service it is, what else its log holds, what counts as a step.
//!
//! A service passes its clock and a function that writes to its log to [`record`], and polls that
//! beside its other tasks.
//!
//! - **Nothing waits for it.** It is one task that holds no lock and has one entry in flight.
//! - **No step is lost while the process lives.** A step that is not on record is written again
//!   every second until it is: through an outage, a log that is lost and read again, and a fence
//!   that refuses a clock that is off. Steps that come meanwhile are summed in the next event.
//! - **Once.** Each step has its own request id, which every repeat carries, so that an entry whose
//!   outcome is unknown is recorded once.
//! - **Bounded.** At most one event a second, however often the clock is set.
//!
//! Specification: ARCHITECTURE.md §2.7.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eventlog::{AppendError, Entry, Log, Request, derived_id, request_digest};
use primitives::{RequestId, UnixMicros};
use system::clock::{Clock, Steps};
use system::ids::IdMaker;
use wire::clock::Step;

/// Time between two readings of the clock, and shortest time between two entries.
const INTERVAL: Duration = Duration::from_secs(1);

/// Step that is to be recorded, with the request id that every attempt carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noticed {
    pub step: Step,
    pub id: RequestId,
}

/// Passes each step of the clock from now on to `write`, for as long as it is polled. `write` returns
/// whether the step is on record; if not, it gets the same step again.
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
            watch.observe();
            let Some(noticed) = watch.take() else {
                watch.clock.sleep(INTERVAL).await;
                continue;
            };
            while !watch.written(write(noticed)).await {
                watch.pass(INTERVAL).await;
            }
            tracing::info!("on record: {}", noticed.step);
            watch.pass(INTERVAL).await;
        }
    }
}

/// Appends a step to the log of a service. Returns whether it is on record.
pub async fn append(log: &Log, service: &str, Noticed { step, id }: Noticed) -> bool {
    let event = wire::clock::new_event(&step);
    let digest = request_digest("ClockStepped", &[&event.payload]);
    let entry = Entry {
        events: vec![event],
        request: Some(Request { id, digest, answer: Bytes::new() }),
        actor: format!("service:{service}").into(),
        trace: [0; 16],
    };
    match log.append(entry).await {
        Ok(_) => true,
        Err(AppendError::Duplicate { stored }) => stored.tag.is_some(),
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

/// Watcher of a clock: the steps that were noticed and are not recorded yet.
struct Watch {
    clock: Arc<dyn Clock>,
    /// Id of this watcher, so that no two derive the same request id.
    life: RequestId,
    seen: Steps,
    /// Steps that were noticed and not passed on.
    unwritten: Steps,
    /// Time after the last of them.
    noticed: Option<UnixMicros>,
}

impl Watch {
    /// Adds the steps since the last reading to those that are unwritten. Returns the time by a clock
    /// that was never set.
    fn observe(&mut self) -> UnixMicros {
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

    /// Takes the noticed steps as one.
    fn take(&mut self) -> Option<Noticed> {
        let after = self.noticed.take()?;
        let Steps { count, micros } = std::mem::take(&mut self.unwritten);
        let step = Step::new(micros, after, count);
        // The count over all steps: no two that are taken have the same. The id is made once, and
        // every attempt carries it.
        let id = derived_id("clock-step", after, &[&self.life.0, &self.seen.count.to_be_bytes()]);
        Some(Noticed { step, id })
    }

    /// Waits for a write, and observes the clock meanwhile.
    async fn written(&mut self, writing: impl Future<Output = bool>) -> bool {
        let mut writing = pin!(writing);
        loop {
            let clock = Arc::clone(&self.clock);
            tokio::select! {
                biased;
                written = &mut writing => return written,
                () = clock.sleep(INTERVAL) => drop(self.observe()),
            }
        }
    }

    /// Waits for a span that no step cuts short, and observes the clock meanwhile.
    async fn pass(&mut self, span: Duration) {
        let end = self.observe().plus(span);
        loop {
            let left = end.since(self.observe());
            if left.is_zero() {
                return;
            }
            self.clock.sleep(left).await;
        }
    }
}

/// Reads the time and the steps that it includes.
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
