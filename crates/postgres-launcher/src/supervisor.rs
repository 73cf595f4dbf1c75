//! Supervision of a running server.
//!
//! A private cluster's server that dies (it was killed, out of memory, its disk was full) is
//! restarted on its data, so that clients find it at its address after recovery. A server that
//! cannot start, or dies again and again, is given up, with its last output. A database that others
//! run is only checked. While it does not answer, one line a minute is logged.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::server::Server;
use super::{PostgresError, url};

/// Deaths within [`DEATHS_WINDOW`] that are still followed by a restart.
const MAX_DEATHS: usize = 3;
const DEATHS_WINDOW: Duration = Duration::from_mins(10);
/// Longest time until a check is answered.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// Time between two checks of a database that others run.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Time between two log lines about one outage.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Supervised server. It stops some moments after this value is dropped.
pub(super) struct Supervisor {
    stopping: DropGuard,
    given_up: watch::Receiver<Option<Arc<PostgresError>>>,
    task: JoinHandle<Result<(), PostgresError>>,
}

impl Supervisor {
    /// Supervises a server from now on. Needs a running tokio runtime.
    pub(super) fn start(server: Server) -> Supervisor {
        let stopping = CancellationToken::new();
        let (sender, ended) = watch::channel(None);
        let task = tokio::spawn(supervise(server, stopping.clone(), sender));
        Supervisor { stopping: stopping.drop_guard(), given_up: ended, task }
    }

    /// Waits until the server is given up. Returns the reason.
    pub(super) async fn wait_until_given_up(&self) -> Arc<PostgresError> {
        let mut ended = self.given_up.clone();
        let error = ended.wait_for(Option::is_some).await.map(|error| error.clone());
        match error {
            Ok(Some(error)) => error,
            // It was stopped and will never be given up.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Whether the server was given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.borrow().is_some()
    }

    /// Stops the server and waits until it is down.
    pub(super) async fn stop(self) -> Result<(), PostgresError> {
        drop(self.stopping);
        self.task.await.unwrap_or(Ok(()))
    }
}

async fn supervise(
    mut server: Server,
    stopping: CancellationToken,
    given_up: watch::Sender<Option<Arc<PostgresError>>>,
) -> Result<(), PostgresError> {
    let error = stopping.run_until_cancelled(restart_until_given_up(&mut server)).await;
    if let Some(error) = error {
        tracing::error!(target: "postgres", %error, "the database is gone for good");
        given_up.send_replace(Some(Arc::new(error)));
        stopping.cancelled().await;
    }
    server.stop().await
}

/// Restarts the server whenever it dies. Returns the reason for giving it up.
async fn restart_until_given_up(server: &mut Server) -> PostgresError {
    let mut deaths = VecDeque::new();
    loop {
        let why = server.wait_until_ended().await;
        let now = Instant::now();
        deaths.push_back(now);
        while deaths.front().is_some_and(|death| now.duration_since(*death) > DEATHS_WINDOW) {
            deaths.pop_front();
        }
        if deaths.len() > MAX_DEATHS {
            return why.into_keeps_dying(deaths.len());
        }
        if !server.is_durable() {
            return why;
        }
        tracing::warn!(target: "postgres", %why, "the database server died: it is started again");
        if let Err(error) = server.restart().await {
            return error;
        }
        tracing::warn!(target: "postgres", "the database server was started again and answers");
    }
}

/// Whether a database answers.
pub(super) async fn answers(address: &str) -> bool {
    check(address).await.is_none()
}

/// Reason why a database does not answer; `None` if it answers.
async fn check(address: &str) -> Option<String> {
    match timeout(CHECK_TIMEOUT, PgConnection::connect(address)).await {
        Ok(Ok(connection)) => {
            // It has answered, so an error of the close does not matter.
            let _ = timeout(CHECK_TIMEOUT, connection.close()).await;
            None
        }
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("no answer within {} s", CHECK_TIMEOUT.as_secs())),
    }
}

/// Logs once a minute that a database which others run does not answer, and when it answers again.
pub(super) async fn watch_external(address: String) {
    let shown = url::redacted(&address);
    let mut since: Option<Instant> = None;
    let mut logged_at: Option<Instant> = None;
    loop {
        sleep(CHECK_INTERVAL).await;
        let now = Instant::now();
        match (check(&address).await, since) {
            (None, None) => {}
            (None, Some(begun)) => {
                if logged_at.is_some() {
                    let seconds = begun.elapsed().as_secs();
                    tracing::warn!(database = shown, seconds, "the database answers again");
                }
                (since, logged_at) = (None, None);
            }
            (Some(why), begun) => {
                let begun = *since.insert(begun.unwrap_or(now));
                if logged_at.is_none_or(|logged_at| now.duration_since(logged_at) >= LOG_INTERVAL) {
                    logged_at = Some(now);
                    let seconds = begun.elapsed().as_secs();
                    tracing::warn!(
                        runbook = "deploy/README.md, The database is away",
                        database = shown,
                        seconds,
                        why,
                        "the database of DATABASE_URL does not answer: the room waits for it"
                    );
                }
            }
        }
    }
}
