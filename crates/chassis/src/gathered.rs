//! Fewer, larger writes.
//!
//! A table tells four players of one move: four streams of one connection, each with a task that has a
//! frame to send. The first that runs would have its frame written at once, and so would each of the
//! others: a call of the system and a packet for a few hundred bytes, a seventh of all processor time
//! under load. So a connection that has something to write lets everybody who is ready run first, once,
//! and then writes what has come together. Nothing is waited for: on an idle machine that is over in a
//! microsecond.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::yield_now;

/// A connection whose writes are put off by one turn of the scheduler.
#[derive(Debug)]
pub(crate) struct Gathered<I> {
    inner: I,
    /// The turn was given away; writes go through until they are flushed.
    turned: bool,
}

impl<I> Gathered<I> {
    pub(crate) const fn new(inner: I) -> Gathered<I> {
        Gathered { inner, turned: false }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Gathered<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(context, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Gathered<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !std::mem::replace(&mut this.turned, true) {
            // Polled once it has asked for the next turn. Waking oneself would wake another thread too.
            let _ = pin!(yield_now()).poll(context);
            return Poll::Pending;
        }
        Pin::new(&mut this.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        self.poll_write(context, first.map_or(&[], |slice| slice))
    }

    /// Said so that HTTP/2 gathers frames of up to a kilobyte in its own buffer, instead of handing
    /// over each one that is longer than 256 bytes by itself.
    fn is_write_vectored(&self) -> bool {
        false
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.turned = false;
        Pin::new(&mut this.inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::task::{Wake, Waker};

    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// What was written, call by call.
    #[derive(Debug, Clone, Default)]
    struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

    impl AsyncWrite for Writes {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.0.lock().unwrap().push(bytes.to_vec());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_is_ready_in_the_same_turn_is_in_the_same_write() {
        let (writes, wakes) = (Writes::default(), Arc::new(Wakes::default()));
        let mut connection = Gathered::new(writes.clone());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut context = Context::from_waker(&waker);
        for turn in 1..=2 {
            let first = Pin::new(&mut connection).poll_write(&mut context, b"a");
            assert!(first.is_pending(), "others run first");
            assert_eq!(wakes.0.load(Ordering::Relaxed), turn, "and it is asked again");
            let then = Pin::new(&mut connection).poll_write(&mut context, b"ab");
            assert!(matches!(then, Poll::Ready(Ok(2))));
            assert!(Pin::new(&mut connection).poll_flush(&mut context).is_ready());
        }
        assert_eq!(*writes.0.lock().unwrap(), [b"ab".to_vec(), b"ab".to_vec()]);
    }

    #[tokio::test]
    async fn nothing_is_held_back() {
        let writes = Writes::default();
        let mut connection = Gathered::new(writes.clone());
        connection.write_all(b"a").await.unwrap();
        connection.write_all(b"b").await.unwrap();
        connection.flush().await.unwrap();
        connection.write_all(b"c").await.unwrap();
        assert_eq!(*writes.0.lock().unwrap(), [b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
    }
}
