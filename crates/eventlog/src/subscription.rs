//! Subscription to a log: reads from the store until there is nothing more, then listens to
//! commits, and reads from the store again if it falls behind. It subscribes to the commits before
//! it reads, so that no event is missed, and drops what it has seen by position.
//!
//! Each page is read by a task of its own. Otherwise a subscriber that stops polling during a read
//! would hold on to a database connection.
//!
//! Specification: ARCHITECTURE.md §2.8.

use std::collections::VecDeque;
use std::sync::Arc;

use eventlog_core::{Event, Position};
use futures_util::{Stream, stream};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::error::ReadError;
use crate::reader::Reader;

/// Events per read.
const PAGE: usize = 500;

pub(crate) struct Subscription {
    pub(crate) reader: Reader,
    /// Position of the next event to yield.
    pub(crate) next: Position,
    pub(crate) commits: broadcast::Receiver<Arc<[Event]>>,
    pub(crate) stopped: CancellationToken,
    pub(crate) ready: VecDeque<Event>,
    pub(crate) mode: Mode,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    CatchingUp,
    Live,
    /// The log has stopped, which is reported once.
    Stopped,
    Ended,
}

impl Subscription {
    pub(crate) fn into_stream(
        self,
    ) -> impl Stream<Item = Result<Event, ReadError>> + Send + Unpin + use<> {
        Box::pin(stream::unfold(self, async |mut subscription| {
            let item = subscription.next().await?;
            Some((item, subscription))
        }))
    }

    async fn next(&mut self) -> Option<Result<Event, ReadError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.next = Position(event.position.0 + 1);
                return Some(Ok(event));
            }
            match self.mode {
                Mode::CatchingUp => {
                    if let Err(error) = self.catch_up().await {
                        return Some(Err(error));
                    }
                }
                Mode::Live => self.listen().await,
                Mode::Stopped => {
                    self.mode = Mode::Ended;
                    return Some(Err(ReadError::Stopped));
                }
                Mode::Ended => return None,
            }
        }
    }

    /// Reads one page. An empty page is the end of the stored events.
    async fn catch_up(&mut self) -> Result<(), ReadError> {
        self.commits = self.commits.resubscribe();
        let (reader, next) = (self.reader.clone(), self.next);
        let page = tokio::spawn(async move { reader.read(next, PAGE).await });
        let page = page.await.unwrap_or(Err(ReadError::Unavailable { source: None }))?;
        if page.first().is_some_and(|event| event.position != self.next) {
            return Err(ReadError::Corrupt(format!("no event at position {}", self.next.0).into()));
        }
        if page.is_empty() {
            self.mode = Mode::Live;
        }
        self.ready = page.into();
        Ok(())
    }

    /// Waits for one commit.
    async fn listen(&mut self) {
        let commit = tokio::select! {
            biased;
            commit = self.commits.recv() => commit,
            () = self.stopped.cancelled() => Err(RecvError::Closed),
        };
        match commit {
            Ok(events) => {
                let unseen = events.iter().filter(|event| event.position >= self.next);
                self.ready = unseen.cloned().collect();
                // There is a gap, so the events in between are read from the store.
                if self.ready.front().is_some_and(|event| event.position != self.next) {
                    self.ready.clear();
                    self.mode = Mode::CatchingUp;
                }
            }
            // The channel dropped commits, so the next one begins after a gap.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => self.mode = Mode::Stopped,
        }
    }
}
