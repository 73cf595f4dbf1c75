//! Connection to the server that can go deaf: it still carries requests, but loses the answer and
//! then the connection.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::time::sleep;

pub(crate) struct DeafConnection {
    pub(crate) url: String,
    state: Arc<State>,
}

struct State {
    server: Server,
    /// Number of answers to lose.
    deaf: AtomicU64,
    lost: AtomicU64,
}

enum Server {
    Socket(PathBuf),
    Address(String),
}

impl DeafConnection {
    /// Opens a line to the database of `url`.
    pub(crate) async fn to(url: &str) -> anyhow::Result<DeafConnection> {
        let options: PgConnectOptions = url.parse()?;
        let server = match options.get_socket() {
            Some(folder) => Server::Socket(folder.join(format!(".s.PGSQL.{}", options.get_port()))),
            None => Server::Address(format!("{}:{}", options.get_host(), options.get_port())),
        };
        let database = options.get_database().context("a database")?.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("postgres://{}/{database}?sslmode=disable", listener.local_addr()?);
        let state = State { server, deaf: AtomicU64::new(0), lost: AtomicU64::new(0) };
        let state = Arc::new(state);
        tokio::spawn({
            let state = state.clone();
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(relay(client, state.clone()));
                }
            }
        });
        Ok(DeafConnection { url, state })
    }

    /// Loses the next answer.
    pub(crate) fn deafen(&self) {
        self.state.deaf.store(1, Ordering::SeqCst);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.state.lost.load(Ordering::SeqCst)
    }
}

async fn relay(client: TcpStream, state: Arc<State>) -> std::io::Result<()> {
    match &state.server {
        Server::Socket(path) => {
            let (answers, questions) = UnixStream::connect(path).await?.into_split();
            between(client, (answers, questions), &state).await
        }
        Server::Address(address) => {
            let (answers, questions) = TcpStream::connect(address).await?.into_split();
            between(client, (answers, questions), &state).await
        }
    }
}

async fn between(
    client: TcpStream,
    (mut answers, mut questions): (
        impl AsyncReadExt + Unpin,
        impl AsyncWriteExt + Unpin + Send + 'static,
    ),
    state: &State,
) -> std::io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let asking =
        tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut questions).await });
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = answers.read(&mut buffer).await?;
        if length == 0 {
            break;
        }
        if state.deaf.swap(0, Ordering::SeqCst) == 1 {
            state.lost.fetch_add(1, Ordering::SeqCst);
            // The server carries on while its answer is not read.
            sleep(Duration::from_millis(20)).await;
            break;
        }
        to_client.write_all(&buffer[..length]).await?;
    }
    asking.abort();
    Ok(())
}
