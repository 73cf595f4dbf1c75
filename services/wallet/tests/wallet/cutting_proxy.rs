//! A proxy that cuts connections to the database at the worst moment: after COMMIT, before its
//! answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// Proxy between clients and the server that drops every [`EVERY`]th answer and closes the
/// connection.
pub(crate) struct CuttingProxy {
    /// Address of the database through this proxy.
    pub(crate) url: String,
    /// Answers passed since the proxy was armed, or [`DISARMED`].
    answers_passed: Arc<AtomicU64>,
    answers_dropped: Arc<AtomicU64>,
}

const DISARMED: u64 = u64::MAX;
/// Answers of which one is dropped.
const EVERY: u64 = 5;

impl CuttingProxy {
    /// A proxy to the database at `url`, not yet armed.
    pub(crate) async fn in_front_of(url: &str) -> CuttingProxy {
        let to: PgConnectOptions = url.parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let (passed, swallowed) = (Arc::new(AtomicU64::new(DISARMED)), Arc::default());
        let cutter = CuttingProxy {
            url: through_port(url, port),
            answers_passed: passed,
            answers_dropped: swallowed,
        };
        let (passed, swallowed) =
            (Arc::clone(&cutter.answers_passed), Arc::clone(&cutter.answers_dropped));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (passed, swallowed) = (Arc::clone(&passed), Arc::clone(&swallowed));
                let (socket, host, at) =
                    (to.get_socket().cloned(), to.get_host().to_owned(), to.get_port());
                tokio::spawn(async move {
                    if let Some(socket) = socket {
                        let file = socket.join(format!(".s.PGSQL.{at}"));
                        let Ok(server) = UnixStream::connect(file).await else { return };
                        pass(client, server.into_split(), passed, swallowed).await;
                    } else {
                        let Ok(server) = TcpStream::connect((host, at)).await else { return };
                        pass(client, server.into_split(), passed, swallowed).await;
                    }
                });
            }
        });
        cutter
    }

    pub(crate) fn arm(&self) {
        self.answers_passed.store(0, Ordering::Relaxed);
    }

    /// Passes everything from now on. Returns the number of dropped answers.
    pub(crate) fn disarm(&self) -> u64 {
        self.answers_passed.store(DISARMED, Ordering::Relaxed);
        self.answers_dropped.load(Ordering::Relaxed)
    }
}

async fn pass(
    client: TcpStream,
    server: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin + Send + 'static),
    passed: Arc<AtomicU64>,
    swallowed: Arc<AtomicU64>,
) {
    let (mut from_server, mut to_server) = server;
    let (mut from_client, mut to_client) = client.into_split();
    let there = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
    });
    let mut answer = vec![0; 65_536];
    while let Ok(length @ 1..) = from_server.read(&mut answer).await {
        let count = |passed: u64| (passed != DISARMED).then(|| passed + 1);
        let before = passed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        // The server answers a statement after its commit.
        if before.is_ok_and(|before| before % EVERY == EVERY - 1) {
            swallowed.fetch_add(1, Ordering::Relaxed);
            break;
        }
        if to_client.write_all(&answer[..length]).await.is_err() {
            break;
        }
    }
    there.abort();
}

/// The address with another host and port.
fn through_port(url: &str, port: u16) -> String {
    let (scheme, rest) = url.split_once("://").expect("an address has a scheme");
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = before.split_once('/').unwrap_or((before, ""));
    let who = authority.rsplit_once('@').map_or(String::new(), |(who, _)| format!("{who}@"));
    let rest =
        query.split('&').filter(|pair| !pair.starts_with("host=") && !pair.starts_with("port="));
    let query: Vec<&str> = rest.collect();
    format!("{scheme}://{who}127.0.0.1:{port}/{path}?{}", query.join("&"))
}
