//! Writer that coalesces small writes into fewer, larger ones.
//!
//! A move at a table is sent to each player: several streams of one connection, each with a task
//! that has a frame to send. Written one by one, each frame costs a system call and a packet of a
//! few hundred bytes. So a connection with something to write first lets all tasks that are ready
//! run once, and then writes everything together. There is no timer: an idle machine delays a write
//! by one turn of the scheduler.
//!
//! The bytes are collected here and not in the HTTP/2 library's buffer, which passes each frame of
//! a kilobyte or more on by itself, in two writes.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};

use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::yield_now;

/// Bytes collected for one write. A larger amount is worth a write of its own.
const MAX_COALESCED_BYTES: usize = 16 * 1024;

/// Connection whose writes are deferred by one turn of the scheduler.
///
/// A flush returns at once, before the turn is over, and asks for the task to be polled again. So
/// the owner must flush or read whenever it is polled after a flush, until shutdown. HTTP/1, HTTP/2
/// and TLS do.
#[derive(Debug)]
pub struct CoalescingWriter<I> {
    inner: I,
    /// Collected bytes. It has no capacity while it is empty.
    bytes: Vec<u8>,
    /// Number of collected bytes that are already written.
    written: usize,
    turn: Arc<WriteTurn>,
}

impl<I> CoalescingWriter<I> {
    pub fn new(inner: I) -> CoalescingWriter<I> {
        CoalescingWriter { inner, bytes: Vec::new(), written: 0, turn: Arc::default() }
    }
}

impl<I: AsyncWrite + Unpin> CoalescingWriter<I> {
    /// Writes all collected bytes.
    fn poll_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.bytes.len() {
            let rest = &self.bytes[self.written..];
            match ready!(Pin::new(&mut self.inner).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        self.bytes = Vec::new();
        self.written = 0;
        self.turn.reset();
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncRead for CoalescingWriter<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // A task that waits for an answer does not flush again. An error of this write is not an
        // error of reading.
        if this.turn.is_due()
            && let Poll::Ready(Err(error)) = this.poll_out(context)
        {
            tracing::trace!(%error, "what was put off could not be written");
        }
        Pin::new(&mut this.inner).poll_read(context, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for CoalescingWriter<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.bytes.len() + bytes.len() > MAX_COALESCED_BYTES {
            ready!(this.poll_out(context))?;
            if bytes.len() > MAX_COALESCED_BYTES {
                return Pin::new(&mut this.inner).poll_write(context, bytes);
            }
        }
        if this.bytes.capacity() == 0 {
            this.bytes.reserve_exact(MAX_COALESCED_BYTES);
        }
        this.bytes.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.bytes.is_empty() {
            if !this.turn.is_due() {
                this.turn.request(context);
                return Poll::Ready(Ok(()));
            }
            ready!(this.poll_out(context))?;
        }
        Pin::new(&mut this.inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_out(context))?;
        Pin::new(&mut this.inner).poll_shutdown(context)
    }
}

const IDLE: u8 = 0;
const REQUESTED: u8 = 1;
const DUE: u8 = 2;

/// Turn of a connection's task to write.
#[derive(Debug, Default)]
struct WriteTurn {
    state: AtomicU8,
    task: AtomicWaker,
}

impl WriteTurn {
    /// Lets all other ready tasks run, then wakes the task.
    fn request(self: &Arc<WriteTurn>, context: &Context<'_>) {
        self.task.register(context.waker());
        let asked =
            self.state.compare_exchange(IDLE, REQUESTED, Ordering::AcqRel, Ordering::Acquire);
        if asked.is_ok() {
            let waker = Waker::from(Arc::clone(self));
            // `yield_now` defers the waker to the end of the turn. Waking directly would wake
            // another thread too.
            let _ = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
        }
    }

    fn is_due(&self) -> bool {
        self.state.load(Ordering::Acquire) == DUE
    }

    fn reset(&self) {
        self.state.store(IDLE, Ordering::Release);
    }
}

impl Wake for WriteTurn {
    fn wake(self: Arc<WriteTurn>) {
        // Nothing to do if the turn was given up in between.
        let asked =
            self.state.compare_exchange(REQUESTED, DUE, Ordering::AcqRel, Ordering::Acquire);
        if asked.is_ok() {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Peer that records each write. `room` lists how many bytes each write takes; 0 is pending.
    #[derive(Debug, Clone, Default)]
    struct Peer {
        writes: Arc<Mutex<Vec<Vec<u8>>>>,
        room: Arc<Mutex<VecDeque<usize>>>,
    }

    impl Peer {
        fn lengths(&self) -> Vec<usize> {
            self.writes.lock().unwrap().iter().map(Vec::len).collect()
        }

        fn bytes(&self) -> Vec<u8> {
            self.writes.lock().unwrap().concat()
        }
    }

    impl AsyncWrite for Peer {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let room = self.room.lock().unwrap().pop_front().unwrap_or(usize::MAX);
            if room == 0 {
                return Poll::Pending;
            }
            let taken = &bytes[..bytes.len().min(room)];
            self.writes.lock().unwrap().push(taken.to_vec());
            Poll::Ready(Ok(taken.len()))
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

    /// Connection that the test polls by hand.
    struct PolledConnection {
        connection: CoalescingWriter<Peer>,
        peer: Peer,
        wakes: Arc<Wakes>,
    }

    impl PolledConnection {
        fn new() -> PolledConnection {
            let peer = Peer::default();
            PolledConnection {
                connection: CoalescingWriter::new(peer.clone()),
                peer,
                wakes: Arc::default(),
            }
        }

        fn poll<T>(
            &mut self,
            what: impl FnOnce(Pin<&mut CoalescingWriter<Peer>>, &mut Context<'_>) -> T,
        ) -> T {
            let waker = Waker::from(Arc::clone(&self.wakes));
            what(Pin::new(&mut self.connection), &mut Context::from_waker(&waker))
        }

        fn write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.poll(|connection, context| connection.poll_write(context, bytes))
        }

        fn flush(&mut self) -> Poll<io::Result<()>> {
            self.poll(CoalescingWriter::poll_flush)
        }

        fn wakes(&self) -> usize {
            self.wakes.0.load(Ordering::Relaxed)
        }
    }

    /// Runs the deferred wakes. They need a runtime, so each test has one.
    async fn turn() {
        yield_now().await;
    }

    #[tokio::test]
    async fn whoever_is_ready_in_the_same_turn_is_in_the_same_write() {
        let mut hand = PolledConnection::new();
        for round in 1..=3 {
            for _ in 0..5 {
                assert!(matches!(hand.write(&[1; 1500]), Poll::Ready(Ok(1500))));
                assert!(hand.flush().is_ready());
            }
            assert_eq!(hand.peer.lengths().len(), round - 1, "others run first");
            assert_eq!(hand.wakes(), round - 1);
            turn().await;
            assert_eq!(hand.wakes(), round, "and it is asked again, once");
            assert!(hand.flush().is_ready());
            assert_eq!(hand.peer.lengths(), vec![7500; round]);
        }
        assert!(hand.flush().is_ready());
        turn().await;
        assert_eq!(hand.wakes(), 3, "nothing to write, nothing to ask for");
    }

    #[tokio::test]
    async fn what_is_too_much_for_one_write_goes_at_once_and_in_order() {
        let mut hand = PolledConnection::new();
        assert!(hand.write(&[1; 10]).is_ready());
        assert!(hand.flush().is_ready());
        assert!(hand.write(&[2; MAX_COALESCED_BYTES]).is_ready());
        assert_eq!(hand.peer.lengths(), [10]);
        assert!(hand.write(&[3; MAX_COALESCED_BYTES + 1]).is_ready());
        assert!(hand.write(&[4; 10]).is_ready());
        assert_eq!(hand.peer.lengths(), [10, MAX_COALESCED_BYTES, MAX_COALESCED_BYTES + 1]);
        turn().await;
        while hand.peer.lengths().len() < 4 {
            assert!(hand.flush().is_ready());
            turn().await;
        }
        let all =
            [&[1; 10][..], &[2; MAX_COALESCED_BYTES], &[3; MAX_COALESCED_BYTES + 1], &[4; 10]]
                .concat();
        assert_eq!(hand.peer.bytes(), all);
    }

    #[tokio::test]
    async fn a_peer_that_wants_a_rest_gets_all_of_it_in_the_end() {
        let mut hand = PolledConnection::new();
        hand.peer.room.lock().unwrap().extend([4, 0, 1, 0]);
        assert!(hand.write(b"abcdef").is_ready());
        assert!(hand.flush().is_ready());
        turn().await;
        assert!(hand.flush().is_pending());
        assert!(hand.write(b"gh").is_ready());
        assert!(hand.flush().is_pending());
        assert!(hand.flush().is_ready());
        assert_eq!(hand.peer.bytes(), b"abcdefgh");
        hand.peer.room.lock().unwrap().push_back(0);
        assert!(hand.write(&[1; MAX_COALESCED_BYTES]).is_ready());
        assert!(hand.write(b"i").is_pending(), "it takes no more than it can hold");
    }

    #[tokio::test]
    async fn who_asks_and_waits_is_served() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut ours = CoalescingWriter::new(ours);
        let asking = async {
            ours.write_all(b"ask").await?;
            ours.flush().await?;
            let mut answer = [0; 6];
            ours.read_exact(&mut answer).await.map(|_| answer)
        };
        let answering = async {
            let mut question = [0; 3];
            theirs.read_exact(&mut question).await?;
            assert_eq!(&question, b"ask");
            theirs.write_all(b"answer").await
        };
        let (answer, answered) = tokio::join!(asking, answering);
        answered.unwrap();
        assert_eq!(&answer.unwrap(), b"answer");
    }

    #[tokio::test]
    async fn the_last_words_are_written_before_the_end() {
        let peer = Peer::default();
        let mut connection = CoalescingWriter::new(peer.clone());
        connection.write_all(b"last").await.unwrap();
        connection.flush().await.unwrap();
        connection.shutdown().await.unwrap();
        assert_eq!(peer.bytes(), b"last");
    }
}
