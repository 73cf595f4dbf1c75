//! Messages on their way to one viewer, bounded by their bytes.
//!
//! The table never waits for a viewer. One who is too far behind gets nothing more, hears what is on its
//! way, and then that they were too slow. The last word of a stream always fits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prost::Message as _;
use proto::table::v1 as pb;
use tokio::sync::mpsc;

/// Bytes that may be on their way.
const MOST: usize = 256 * 1024;
/// Bytes that a message takes beside those of its encoding.
const EACH: usize = 256;

/// The table's end.
pub struct Viewer {
    out: mpsc::UnboundedSender<Weighed>,
    bytes: Arc<AtomicUsize>,
}

/// The viewer's end.
pub struct Backlog {
    live: mpsc::UnboundedReceiver<Weighed>,
    bytes: Arc<AtomicUsize>,
}

/// A message, and the bytes that it counts for. Clones are the same message: whoever takes one copies it
/// in their own time, and the table in none.
#[derive(Clone)]
pub struct Weighed {
    message: Arc<pb::WatchTableResponse>,
    bytes: usize,
}

/// An empty backlog.
#[must_use]
pub fn backlog() -> (Viewer, Backlog) {
    let (out, live) = mpsc::unbounded_channel();
    let bytes = Arc::new(AtomicUsize::new(0));
    (Viewer { out, bytes: Arc::clone(&bytes) }, Backlog { live, bytes })
}

impl Weighed {
    #[must_use]
    pub fn new(message: pb::WatchTableResponse) -> Weighed {
        let bytes = message.encoded_len() + EACH;
        Weighed { message: Arc::new(message), bytes }
    }
}

impl Viewer {
    /// Whether the message is on its way; not where the viewer is too far behind, or gone.
    #[must_use]
    pub fn send(&self, message: Weighed) -> bool {
        let waiting = self.bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting + message.bytes > MOST {
            return false;
        }
        self.bytes.fetch_add(message.bytes, Ordering::Relaxed);
        self.out.send(message).is_ok()
    }

    /// Sends the last word of a stream.
    pub fn finish(self, message: pb::WatchTableResponse) {
        // Whoever is gone needs none.
        let _ = self.out.send(Weighed { message: Arc::new(message), bytes: 0 });
    }

    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.out.is_closed()
    }
}

impl Backlog {
    /// The next message; none once nothing more comes. A future that is dropped has taken nothing.
    pub async fn next(&mut self) -> Option<pb::WatchTableResponse> {
        let Weighed { message, bytes } = self.live.recv().await?;
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        Some(Arc::unwrap_or_clone(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> pb::WatchTableResponse {
        pb::WatchTableResponse { message: None, resume_token: vec![7; bytes] }
    }

    #[tokio::test]
    async fn a_viewer_is_behind_by_so_many_bytes_and_hears_all_of_them() {
        for size in [1, 1_000, 100_000] {
            let (viewer, mut backlog) = backlog();
            let mut sent = 0;
            while viewer.send(Weighed::new(message(size))) {
                sent += 1;
                assert!(sent * size <= MOST);
            }
            assert!((sent + 1) * (size + EACH + 8) > MOST, "{sent} of {size}");
            assert!(backlog.next().await.is_some());
            assert!(viewer.send(Weighed::new(message(size))), "there is room again");
            viewer.finish(message(3));
            for _ in 0..sent {
                assert_eq!(backlog.next().await.unwrap().resume_token.len(), size);
            }
            assert_eq!(backlog.next().await.unwrap().resume_token.len(), 3, "the last word");
            assert!(backlog.next().await.is_none());
        }
    }

    #[tokio::test]
    async fn viewers_who_are_told_alike_share_what_they_are_told() {
        let ((one, mut first), (two, mut second)) = (backlog(), backlog());
        let told = Weighed::new(message(100));
        assert!(one.send(told.clone()) && two.send(told));
        let on_its_way = [&mut first, &mut second].map(|it| it.live.try_recv().unwrap());
        let [one_way, other_way] = on_its_way;
        assert!(Arc::ptr_eq(&one_way.message, &other_way.message));
        assert!(one.send(one_way.clone()) && two.send(one_way));
        assert_eq!(first.next().await, second.next().await);
    }

    #[tokio::test]
    async fn one_message_always_fits_and_who_is_gone_is_seen() {
        let (viewer, mut backlog) = backlog();
        assert!(viewer.send(Weighed::new(message(2 * MOST))));
        assert!(!viewer.send(Weighed::new(message(1))));
        assert!(backlog.next().await.is_some());
        drop(backlog);
        assert!(viewer.is_gone() && !viewer.send(Weighed::new(message(1))));
    }
}
