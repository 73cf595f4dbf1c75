//! The wallet as its callers see it: ask, and read what is durable.

use std::sync::{Arc, PoisonError, RwLock};

use eventlog::Position;
use ledger::Refusal;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::books::Books;
use crate::command::Request;

/// Bounds on what waits in memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Commands that wait to be looked at; more are refused at once.
    pub queue: usize,
    /// Commands that were looked at and are not answered yet.
    pub open: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { queue: 1024, open: 8192 }
    }
}

/// A command is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The position of its last event: of the transfer, or of the account's opening.
    pub position: Position,
}

/// A command was not carried out, or nobody here knows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// A no, on durable balances.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The request id was used before, for another content.
    #[error("this request id was used before, for something else")]
    Reused,
    /// Too much waits. Nothing was changed.
    #[error("the wallet has too much to do: repeat the request a little later")]
    Overloaded,
    /// Perhaps carried out, perhaps not: repeating the same request tells.
    #[error("the wallet's log is unavailable: repeat the request a little later")]
    Unavailable,
    /// The log's limits do not let a lawful command in.
    #[error("the wallet cannot write this command to its log")]
    Unwritable,
}

/// A handle of the wallet; its clones are handles of the same.
#[derive(Clone)]
pub struct Wallet {
    asks: mpsc::Sender<Ask>,
    shelf: Shelf,
}

/// A command and whoever waits for what becomes of it.
pub(crate) struct Ask {
    pub(crate) request: Request,
    pub(crate) digest: [u8; 32],
    pub(crate) answer: oneshot::Sender<Result<Done, Problem>>,
}

impl Wallet {
    pub(crate) fn new(asks: mpsc::Sender<Ask>, shelf: Shelf) -> Wallet {
        Wallet { asks, shelf }
    }

    /// Has a command carried out; answers once it is durable. A caller who stops waiting does not
    /// undo it.
    ///
    /// # Errors
    /// See [`Problem`].
    pub async fn ask(&self, request: Request) -> Result<Done, Problem> {
        let (answer, answered) = oneshot::channel();
        let digest = request.digest();
        self.asks.try_send(Ask { request, digest, answer }).map_err(|error| match error {
            TrySendError::Full(_) => Problem::Overloaded,
            TrySendError::Closed(_) => Problem::Unavailable,
        })?;
        answered.await.unwrap_or(Err(Problem::Unavailable))
    }

    /// Reads the books as of the last durable event.
    ///
    /// # Errors
    /// [`Problem::Unavailable`] while the log is not owned here.
    pub fn read<T>(&self, look: impl FnOnce(&Books) -> T) -> Result<T, Problem> {
        self.shelf.look(look).ok_or(Problem::Unavailable)
    }
}

/// Where the books lie: the owner writes, everybody reads. Empty while the log is not owned here.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<RwLock<Option<Books>>>);

impl Shelf {
    pub(crate) fn put(&self, books: Option<Books>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = books;
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&Books) -> T) -> Option<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(look)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Books)) {
        if let Some(books) = self.0.write().unwrap_or_else(PoisonError::into_inner).as_mut() {
            change(books);
        }
    }
}
