//! The connection: one address, one token, and calls with retries.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use primitives::{PlayerId, RequestId, TableId};
use system::clock::{Clock, SystemClock};
use system::ids::IdMaker;
use tonic::transport::{Channel, Uri};
use tonic::{Request, Response, Status};
use transport::Bearer;
use transport::tls::Tls;

use crate::chance::{Chance, Secret, TrustedKeys};
use crate::checkpoints::{CheckError, SharedMonitor};
use crate::error::{Error, Refusal};
use crate::evidence::{EvidenceDirectory, EvidenceStore, MemoryEvidence};
use crate::retry::{Attempts, RetryPolicy};

/// Total time of the questions to the logs: a player's hand goes on meanwhile.
const LOG_PATIENCE: Duration = Duration::from_secs(1);

/// Source of the token of each call: a fixed text, or a function that returns a fresh one.
#[derive(Clone)]
pub struct TokenSource(Source);

#[derive(Clone)]
enum Source {
    /// Header value made once from a fixed text.
    Fixed(Bearer),
    Fresh(Arc<dyn Fn() -> String + Send + Sync>),
    /// No token: for what anybody may call.
    None,
}

impl TokenSource {
    /// Source without a token, for calls that need none: to look on, and to sign in.
    #[must_use]
    pub const fn none() -> TokenSource {
        TokenSource(Source::None)
    }
}

impl From<&str> for TokenSource {
    fn from(token: &str) -> TokenSource {
        TokenSource(Source::Fixed(Bearer::new(token)))
    }
}

impl From<String> for TokenSource {
    fn from(token: String) -> TokenSource {
        TokenSource::from(token.as_str())
    }
}

impl<F: Fn() -> String + Send + Sync + 'static> From<F> for TokenSource {
    fn from(token: F) -> TokenSource {
        TokenSource(Source::Fresh(Arc::new(token)))
    }
}

/// Connection to the public port with one token. Cheap to clone.
///
/// It connects on first use, and reconnects when needed. A server takes about thirty calls and
/// streams at a time on one connection: a caller that follows more tables, or plays for more
/// people, makes more connections.
#[derive(Clone)]
pub struct Client {
    address: Arc<str>,
    channel: Channel,
    token: TokenSource,
    ids: IdMaker,
    retry_policy: RetryPolicy,
    clock: Arc<dyn Clock>,
    secret: Secret,
    trusted_keys: Arc<TrustedKeys>,
    evidence: Arc<dyn EvidenceStore>,
    chance_mode: ChanceMode,
    checkpoints: Option<Arc<SharedMonitor>>,
}

/// Part of a client in chance.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChanceMode {
    Demanding,
    Blind,
    Unchecked,
}

impl Client {
    /// Creates a client of the server at `address`, such as `http://127.0.0.1:7400`; `https` uses
    /// the well-known root certificates. Needs a running tokio runtime; does not wait for the
    /// server.
    ///
    /// # Errors
    /// The text is not an address.
    pub fn connect(address: &str, token: impl Into<TokenSource>) -> Result<Client, Error> {
        Client::connect_with(address, None, token)
    }

    /// Creates a client as [`Client::connect`] does, with the caller's own certificates.
    ///
    /// # Errors
    /// The text is not an address, or the certificates cannot be used.
    pub fn connect_with(
        address: &str,
        tls: Option<&Tls>,
        token: impl Into<TokenSource>,
    ) -> Result<Client, Error> {
        let uri: Uri = address.parse().map_err(|_| Error::Address(address.to_owned()))?;
        if uri.scheme_str().is_none() || uri.authority().is_none() {
            return Err(Error::Address(format!("{address} (write http://host:port)")));
        }
        Ok(Client {
            address: address.into(),
            channel: transport::connect(&uri, tls)?,
            token: token.into(),
            ids: IdMaker::system(),
            retry_policy: RetryPolicy::default(),
            clock: Arc::new(SystemClock::new()),
            secret: Secret::random(),
            trusted_keys: Arc::default(),
            evidence: Arc::new(MemoryEvidence::default()),
            chance_mode: ChanceMode::Demanding,
            checkpoints: None,
        })
    }

    /// Returns the server's address, as it was given.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns a client on this connection with another token.
    #[must_use]
    pub fn with_token(&self, token: impl Into<TokenSource>) -> Client {
        Client { token: token.into(), ..self.clone() }
    }

    /// Returns a client on this connection with another retry policy.
    #[must_use]
    pub fn with_retry_policy(&self, policy: RetryPolicy) -> Client {
        Client { retry_policy: policy, ..self.clone() }
    }

    /// Returns a client on this connection with a stored secret: it reveals after a restart what it
    /// committed to before.
    #[must_use]
    pub fn with_secret(&self, secret: Secret) -> Client {
        Client { secret, ..self.clone() }
    }

    /// Returns a client on this connection that checks signatures against these keys.
    #[must_use]
    pub fn with_trusted_keys(&self, trust: TrustedKeys) -> Client {
        Client { trusted_keys: Arc::new(trust), ..self.clone() }
    }

    /// Returns a client on this connection that keeps its evidence in a directory, and derives
    /// entropy and keys from the directory's secret.
    #[must_use]
    pub fn with_evidence(&self, directory: Arc<EvidenceDirectory>) -> Client {
        Client { secret: directory.secret(), evidence: directory, ..self.clone() }
    }

    /// Returns a client on this connection that also plays hands which the player's own number is
    /// not in: whoever made all the others may have chosen their cards.
    #[must_use]
    pub fn playing_blind(&self) -> Client {
        Client { chance_mode: ChanceMode::Blind, ..self.clone() }
    }

    /// Returns a client on this connection that checks nothing of chance, for load generators and
    /// tests.
    #[must_use]
    pub fn without_checks(&self) -> Client {
        Client { chance_mode: ChanceMode::Unchecked, ..self.clone() }
    }

    /// Returns a client on this connection that remembers the logs' checkpoints in `monitor`.
    #[must_use]
    pub fn with_checkpoints(&self, monitor: Arc<SharedMonitor>) -> Client {
        Client { checkpoints: Some(monitor), ..self.clone() }
    }

    /// Checks that each log has only grown since the last check, best at every hand's end. Does
    /// nothing without a monitor, or while another clone checks.
    ///
    /// # Errors
    /// [`Error::Logs`] if a log contradicts itself or is not signed. A log that cannot be asked, and
    /// a checkpoint that cannot be stored, are logged and pass.
    pub async fn check_logs(&self) -> Result<(), Error> {
        let Some(monitor) = &self.checkpoints else { return Ok(()) };
        let Ok(monitor) = monitor.try_lock() else { return Ok(()) };
        let asking = self.with_retry_policy(RetryPolicy::with_total_time(LOG_PATIENCE));
        // The policy bounds the attempts; a log may be silent for longer than that.
        let Ok(checked) = tokio::time::timeout(LOG_PATIENCE, monitor.check(&asking)).await else {
            tracing::debug!("the logs' checkpoints were not checked: a log does not answer");
            return Ok(());
        };
        match checked {
            Ok(_) => Ok(()),
            Err(error @ (CheckError::Store { .. } | CheckError::Call(_))) => {
                tracing::debug!(%error, "the logs' checkpoints were not checked");
                Ok(())
            }
            Err(error) => Err(Error::Logs(Box::new(error))),
        }
    }

    /// Checks that this client can demand what a player must know: the dealer's key, unless its user
    /// plays without.
    ///
    /// # Errors
    /// [`Error::NoDealerKey`].
    pub fn check_keys(&self) -> Result<(), Error> {
        let demands = self.chance_mode == ChanceMode::Demanding;
        if demands && !self.trusted_keys.has_dealer() { Err(Error::NoDealerKey) } else { Ok(()) }
    }

    /// Creates the [`Chance`] of a table for a player, or for a viewer who only checks; for use
    /// beside a stream.
    #[must_use]
    pub fn chance(&self, table: TableId, me: Option<PlayerId>) -> Chance {
        let keys = (*self.trusted_keys).clone();
        let chance = Chance::new(table, me, self.secret.clone(), keys);
        let chance = chance.with_evidence(Arc::clone(&self.evidence));
        match self.chance_mode {
            ChanceMode::Demanding => chance,
            ChanceMode::Blind => chance.playing_blind(),
            ChanceMode::Unchecked => chance.without_checks(),
        }
    }

    pub(crate) fn retry_policy(&self) -> &RetryPolicy {
        &self.retry_policy
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn shared_clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    #[cfg(test)]
    pub(crate) fn with_clock(self, clock: Arc<dyn Clock>) -> Client {
        Client { clock, ..self }
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Makes a request id; every repetition of a command carries the same.
    pub(crate) fn request_id(&self) -> String {
        self.new_request_id().to_string()
    }

    pub(crate) fn new_request_id(&self) -> RequestId {
        self.ids.request_id()
    }

    /// Wraps a message in a request with the token.
    pub(crate) fn request<Q>(&self, message: Q) -> Request<Q> {
        let mut request = Request::new(message);
        match &self.token.0 {
            Source::Fixed(bearer) => bearer.add_to(&mut request),
            Source::Fresh(token) => Bearer::new(&token()).add_to(&mut request),
            Source::None => {}
        }
        request
    }

    /// Sends `message` until there is an answer or a final refusal, or the retry policy ends.
    pub(crate) async fn call_with_retries<Q, A, F>(
        &self,
        message: Q,
        send: impl Fn(Channel, Request<Q>) -> F + Send,
    ) -> Result<A, Error>
    where
        Q: Clone + Send,
        F: Future<Output = Result<Response<A>, Status>> + Send,
    {
        let mut attempts = Attempts::default();
        attempts.begin(self.clock.now());
        loop {
            let request = self.request(message.clone());
            let status = match send(self.channel(), request).await {
                Ok(answer) => return Ok(answer.into_inner()),
                Err(status) => status,
            };
            if !wire::status::is_retryable(&status) {
                return Err(Error::Refused(Refusal::from(&status)));
            }
            let again = attempts.next_attempt(&self.retry_policy, &status, self.clock.now());
            let at = again.ok_or_else(|| Error::Unanswered(Refusal::from(&status)))?;
            self.clock.sleep_until(at).await;
        }
    }
}
