//! Messages in flight to one viewer, bounded by their bytes.
//!
//! The table never waits for a viewer. A viewer who is too far behind gets no new message, receives
//! those in flight, and then a message that they were too slow. The last message of a stream always
//! fits.
//!
//! Spectators queue for each message, so that the work for two thousand of them, a fifth of a
//! second, does not delay the next decision of those who play.
//!
//! Specification: ARCHITECTURE.md §7.6.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prost::Message as _;
use proto::table::v1 as pb;
use tokio::sync::{Semaphore, mpsc};

/// Bytes that may be in flight.
const MAX_BYTES: usize = 256 * 1024;
/// Bytes that a message counts for beside its encoding.
const MESSAGE_OVERHEAD: usize = 256;
/// Spectators of a table who are handed a message at the same time.
const SPECTATORS_AT_ONCE: usize = 16;

/// The table's end of the channel.
pub(crate) struct BacklogSender {
    sender: mpsc::UnboundedSender<SizedMessage>,
    bytes: Arc<AtomicUsize>,
}

/// The viewer's end of the channel.
pub(crate) struct BacklogReceiver {
    receiver: mpsc::UnboundedReceiver<SizedMessage>,
    bytes: Arc<AtomicUsize>,
    /// Message that was taken from the channel and waits in the queue.
    waiting: Option<SizedMessage>,
}

/// Queue of a table's spectators for each message. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct DeliveryQueue(Arc<Semaphore>);

impl Default for DeliveryQueue {
    fn default() -> DeliveryQueue {
        DeliveryQueue(Arc::new(Semaphore::new(SPECTATORS_AT_ONCE)))
    }
}

/// A message and the bytes that it counts for. Clones share the message: each viewer copies it when
/// they take it, and the table never does.
#[derive(Clone)]
pub(crate) struct SizedMessage {
    message: Arc<pb::WatchTableResponse>,
    bytes: usize,
    /// Queue that it waits in; none: it is handed over at once.
    queue: Option<DeliveryQueue>,
}

/// Creates an empty channel to a viewer.
#[must_use]
pub(crate) fn backlog_channel() -> (BacklogSender, BacklogReceiver) {
    let (out, live) = mpsc::unbounded_channel();
    let bytes = Arc::new(AtomicUsize::new(0));
    (
        BacklogSender { sender: out, bytes: Arc::clone(&bytes) },
        BacklogReceiver { receiver: live, bytes, waiting: None },
    )
}

impl SizedMessage {
    #[must_use]
    pub(crate) fn new(message: pb::WatchTableResponse) -> SizedMessage {
        let bytes = message.encoded_len() + MESSAGE_OVERHEAD;
        SizedMessage { message: Arc::new(message), bytes, queue: None }
    }

    /// Lets the message wait in a queue.
    #[must_use]
    pub(crate) fn queued(self, queue: &DeliveryQueue) -> SizedMessage {
        SizedMessage { queue: Some(queue.clone()), ..self }
    }
}

impl BacklogSender {
    /// Sends a message. False where the viewer is too far behind, or gone.
    #[must_use]
    pub(crate) fn send(&self, message: SizedMessage) -> bool {
        let waiting = self.bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + message.bytes > MAX_BYTES {
            return false;
        }
        self.bytes.fetch_add(message.bytes, Ordering::Relaxed);
        self.sender.send(message).is_ok()
    }

    /// Sends the last message of a stream.
    pub(crate) fn finish(self, message: pb::WatchTableResponse) {
        // A viewer who is gone needs none.
        let _ =
            self.sender.send(SizedMessage { message: Arc::new(message), bytes: 0, queue: None });
    }

    #[must_use]
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl BacklogReceiver {
    /// Receives the next message; `None` once no more come. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<pb::WatchTableResponse> {
        if self.waiting.is_none() {
            self.waiting = Some(self.receiver.recv().await?);
        }
        if let Some(DeliveryQueue(queue)) = self.waiting.as_ref().and_then(|it| it.queue.as_ref()) {
            // Held until all that is ready to run by now has run; not until the viewer reads on, or one
            // who does not would hold the others up. A body is polled while its stream has room, and what
            // waits here takes none.
            let _permit = queue.acquire().await;
            tokio::task::yield_now().await;
        }
        let SizedMessage { message, bytes, queue: _ } = self.waiting.take()?;
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        Some(Arc::unwrap_or_clone(message))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, poll};

    use super::*;

    fn message(bytes: usize) -> pb::WatchTableResponse {
        pb::WatchTableResponse { message: None, resume_token: vec![7; bytes] }
    }

    #[tokio::test]
    async fn a_viewer_is_behind_by_so_many_bytes_and_receives_all_of_them() {
        for size in [1, 1_000, 100_000] {
            let (viewer, mut backlog) = backlog_channel();
            let mut sent = 0;
            while viewer.send(SizedMessage::new(message(size))) {
                sent += 1;
                assert!(sent * size <= MAX_BYTES);
            }
            assert!((sent + 1) * (size + MESSAGE_OVERHEAD + 8) > MAX_BYTES, "{sent} of {size}");
            assert!(backlog.next().await.is_some());
            assert!(viewer.send(SizedMessage::new(message(size))), "there is room again");
            viewer.finish(message(3));
            for _ in 0..sent {
                assert_eq!(backlog.next().await.unwrap().resume_token.len(), size);
            }
            assert_eq!(backlog.next().await.unwrap().resume_token.len(), 3, "the last word");
            assert!(backlog.next().await.is_none());
        }
    }

    #[tokio::test]
    async fn viewers_who_are_sent_the_same_share_what_they_are_sent() {
        let ((one, mut first), (two, mut second)) = (backlog_channel(), backlog_channel());
        let sent = SizedMessage::new(message(100));
        assert!(one.send(sent.clone()) && two.send(sent));
        let on_its_way = [&mut first, &mut second].map(|it| it.receiver.try_recv().unwrap());
        let [one_way, other_way] = on_its_way;
        assert!(Arc::ptr_eq(&one_way.message, &other_way.message));
        assert!(one.send(one_way.clone()) && two.send(one_way));
        assert_eq!(first.next().await, second.next().await);
    }

    #[tokio::test]
    async fn spectators_queue_and_whoever_has_a_seat_does_not() {
        let queue = DeliveryQueue::default();
        let sent = SizedMessage::new(message(1));
        let ((seat, mut seated), mut spectators) = (backlog_channel(), Vec::new());
        for _ in 0..=SPECTATORS_AT_ONCE {
            let (spectator, backlog) = backlog_channel();
            assert!(spectator.send(sent.clone().queued(&queue)));
            spectators.push((spectator, backlog));
        }
        assert!(seat.send(sent));
        let mut waiting: Vec<_> =
            spectators.iter_mut().map(|(_, backlog)| Box::pin(backlog.next())).collect();
        for next in &mut waiting {
            assert!(poll!(next).is_pending());
        }
        assert!(poll!(std::pin::pin!(seated.next())).is_ready(), "before all spectators");
        let mut last = waiting.pop().unwrap();
        assert!(poll!(&mut last).is_pending(), "as many as may are before this one");
        assert!(waiting.iter_mut().all(|next| next.as_mut().now_or_never().is_some()));
        assert!(poll!(&mut last).is_pending() && poll!(&mut last).is_ready());
    }

    #[tokio::test]
    async fn one_message_always_fits_and_who_is_gone_is_seen() {
        let (viewer, mut backlog) = backlog_channel();
        assert!(viewer.send(SizedMessage::new(message(2 * MAX_BYTES))));
        assert!(!viewer.send(SizedMessage::new(message(1))));
        assert!(backlog.next().await.is_some());
        drop(backlog);
        assert!(viewer.is_closed() && !viewer.send(SizedMessage::new(message(1))));
    }
}
