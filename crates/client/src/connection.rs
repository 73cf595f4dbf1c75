//! The connection: one address, one token, and calls that repeat themselves.

use std::future::Future;
use std::sync::Arc;

use primitives::{PlayerId, TableId};
use system::clock::{Clock, SystemClock};
use system::ids::IdMaker;
use tonic::transport::{Channel, Uri};
use tonic::{Request, Response, Status};
use transport::Bearer;
use transport::tls::Tls;

use crate::chance::{Chance, Secret, Trust};
use crate::error::{Error, Refusal};
use crate::patience::{Attempts, Patience, is_passing};

/// Where the token of each call comes from: one text, or a function that gives a fresh one.
#[derive(Clone)]
pub struct TokenSource(Source);

#[derive(Clone)]
enum Source {
    /// One text, made ready once.
    Fixed(Bearer),
    Fresh(Arc<dyn Fn() -> String + Send + Sync>),
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

/// A connection to the public port, for one token. Cheap to clone.
///
/// It connects when it is first used and again whenever it has to. A server takes some thirty calls
/// and streams at a time on one connection: whoever follows more tables, or plays for more people,
/// makes more connections.
#[derive(Clone)]
pub struct Client {
    channel: Channel,
    token: TokenSource,
    ids: IdMaker,
    patience: Patience,
    clock: Arc<dyn Clock>,
    secret: Secret,
    trust: Arc<Trust>,
}

impl Client {
    /// A client of the server at `address`, such as `http://127.0.0.1:7070`; `https` believes the
    /// well-known roots. Needs a running tokio; does not wait for the server.
    ///
    /// # Errors
    /// The text is no address.
    pub fn connect(address: &str, token: impl Into<TokenSource>) -> Result<Client, Error> {
        Client::connect_with(address, None, token)
    }

    /// The same, with certificates of one's own.
    ///
    /// # Errors
    /// The text is no address, or the certificates cannot be used.
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
            channel: transport::connect(&uri, tls)?,
            token: token.into(),
            ids: IdMaker::system(),
            patience: Patience::default(),
            clock: Arc::new(SystemClock::new()),
            secret: Secret::fresh(),
            trust: Arc::default(),
        })
    }

    /// The same connection for somebody else.
    #[must_use]
    pub fn bearing(&self, token: impl Into<TokenSource>) -> Client {
        Client { token: token.into(), ..self.clone() }
    }

    /// The same with another patience.
    #[must_use]
    pub fn with_patience(&self, patience: Patience) -> Client {
        Client { patience, ..self.clone() }
    }

    /// The same with a secret that was kept: what is committed to before a restart is revealed after it.
    #[must_use]
    pub fn with_secret(&self, secret: Secret) -> Client {
        Client { secret, ..self.clone() }
    }

    /// The same, checking that what has to be signed is signed with these keys.
    #[must_use]
    pub fn trusting(&self, trust: Trust) -> Client {
        Client { trust: Arc::new(trust), ..self.clone() }
    }

    /// Takes part in the chance of a table's hands for a player, or checks it for nobody; for use
    /// beside a stream that is followed.
    #[must_use]
    pub fn chance(&self, table: TableId, me: Option<PlayerId>) -> Chance {
        Chance::new(table, me, self.secret.clone(), (*self.trust).clone())
    }

    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// A new name for a command; every repetition of it carries the same.
    pub(crate) fn request_id(&self) -> Vec<u8> {
        self.ids.request_id().bytes().to_vec()
    }

    /// The message with the token, ready to send.
    pub(crate) fn request<Q>(&self, message: Q) -> Request<Q> {
        let mut request = Request::new(message);
        match &self.token.0 {
            Source::Fixed(bearer) => bearer.bear(&mut request),
            Source::Fresh(token) => Bearer::new(&token()).bear(&mut request),
        }
        request
    }

    /// Sends `message` until there is an answer, a refusal, or patience ends.
    pub(crate) async fn repeat<Q, A, F>(
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
            if !is_passing(&status) {
                return Err(Error::Refused(Refusal::from(&status)));
            }
            let again = attempts.again(&self.patience, &status, self.clock.now());
            let at = again.ok_or_else(|| Error::Unanswered(Refusal::from(&status)))?;
            self.clock.sleep_until(at).await;
        }
    }
}
