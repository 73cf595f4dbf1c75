//! Guests: players of a room for play money who sign in by themselves and come back with a login in
//! a file.
//!
//! An access token is good for a quarter of an hour. A [`Guest`] gets the next one in the background
//! for as long as it lives, and each call and each stream that is opened takes the newest. A refresh
//! token is used once: the file has the new one before its access token is used, and has the id of
//! each refresh before it is sent, so a crash at any point is followed by the same request again.

mod login;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use primitives::{PlayerId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::people_service_client::PeopleServiceClient;
use system::entropy::{self, SystemEntropy};
use system::secret::Secret;
use tokio::task::AbortHandle;
use wire::time::instant;

use crate::connection::{Client, TokenSource};
use crate::error::{Error, Refusal};
use login::LoginFile;
pub use login::{GuestLogin, LoginError};

/// Lives of access tokens that are believed, whatever the room's clock and the own say of their
/// ends.
const LIVES: [Duration; 2] = [Duration::from_mins(1), Duration::from_mins(15)];
/// Longest sleep between two looks at the clock, for a machine may have slept meanwhile.
const LOOK: Duration = Duration::from_secs(30);
/// Pause after a refresh that was not answered.
const PAUSE: Duration = Duration::from_secs(20);

/// Guest who is signed in. Their access token is kept fresh for as long as this lives.
pub struct Guest {
    client: Client,
    keeper: Arc<TokenKeeper>,
    task: AbortHandle,
}

/// Tokens of a guest, and the file that they are kept in.
struct TokenKeeper {
    /// Connection without a token.
    client: Client,
    access: Mutex<AccessToken>,
    login: tokio::sync::Mutex<StoredLogin>,
    /// Refusal that ended the sign-in.
    ended: Mutex<Option<Refusal>>,
}

struct AccessToken {
    token: Secret,
    /// Time at which the next one is asked for.
    refresh_at: UnixMicros,
}

struct StoredLogin {
    login: GuestLogin,
    file: LoginFile,
}

impl Guest {
    /// Signs in with the login in a file, or as a new guest under `name` (empty: none) where there is
    /// no such file, which is then written. The room is that of `client`, whose own token is not
    /// used. Needs a running tokio runtime.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Login`] for a file that cannot be used; `TOKEN_REVOKED` and
    /// `TOKEN_EXPIRED` for a login that is over: remove the file, and sign in as another player;
    /// `NO_SUCH_METHOD` for a room without guests.
    pub async fn open(
        client: &Client,
        file: impl Into<PathBuf>,
        name: &str,
    ) -> Result<Guest, Error> {
        let file = LoginFile::claim(&file.into())?;
        let client = client.with_token(TokenSource::none());
        let keeper = match file.load()? {
            Some(login) if !is_same_server(&login.server, client.address()) => {
                return Err(LoginError::OtherServer(login.server).into());
            }
            Some(login) => {
                let access = AccessToken::none();
                let keeper = TokenKeeper::new(client, access, StoredLogin { login, file });
                keeper.refresh().await?;
                keeper
            }
            None => sign_in(client, file, name).await?,
        };
        let keeper = Arc::new(keeper);
        let source = Arc::clone(&keeper);
        let client = keeper.client.with_token(move || source.access_token());
        let task = tokio::spawn(Arc::clone(&keeper).keep_fresh()).abort_handle();
        Ok(Guest { client, keeper, task })
    }

    /// Client whose calls have the guest's newest access token. It may outlive this, and then has the
    /// last one.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns the player's id.
    pub async fn player(&self) -> PlayerId {
        self.keeper.login.lock().await.login.player
    }

    /// Returns the login as it is in the file.
    pub async fn login(&self) -> GuestLogin {
        self.keeper.login.lock().await.login.clone()
    }

    /// Gets the next access token now.
    ///
    /// # Errors
    /// As [`Guest::open`].
    pub async fn refresh(&self) -> Result<(), Error> {
        self.keeper.refresh().await
    }

    /// Refusal that ended the sign-in, if one did: no token comes any more.
    #[must_use]
    pub fn ended(&self) -> Option<Refusal> {
        self.keeper.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Makes a new player and keeps their login.
async fn sign_in(client: Client, file: LoginFile, name: &str) -> Result<TokenKeeper, Error> {
    let request = pb::SignInAsGuestRequest {
        request_id: client.request_id(),
        name: name.to_owned(),
        sign_in_secret: entropy::bytes::<32>(&SystemEntropy).to_vec(),
    };
    let answer = client
        .call_with_retries(request, |channel, request| async move {
            PeopleServiceClient::new(channel).sign_in_as_guest(request).await
        })
        .await?;
    let pb::SignInAsGuestResponse { player_id, name, tokens, starting_credits: _ } = answer;
    let player = player_id.parse().map_err(|_| Error::Malformed("the guest's id is no UUID"))?;
    let (access, refresh_token) = AccessToken::read(tokens, client.clock().now())?;
    let server = client.address().to_owned();
    let login = GuestLogin { server, player, name, refresh_token, refresh_request: None };
    file.save(&login)?;
    Ok(TokenKeeper::new(client, access, StoredLogin { login, file }))
}

impl TokenKeeper {
    fn new(client: Client, access: AccessToken, login: StoredLogin) -> TokenKeeper {
        let (access, login) = (Mutex::new(access), tokio::sync::Mutex::new(login));
        TokenKeeper { client, access, login, ended: Mutex::default() }
    }

    fn access_token(&self) -> String {
        let access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        access.token.expose().to_owned()
    }

    fn refresh_at(&self) -> UnixMicros {
        self.access.lock().unwrap_or_else(PoisonError::into_inner).refresh_at
    }

    /// Uses up the refresh token. It is known which request did it before it is sent, and the next
    /// one is kept before the access token is used.
    async fn refresh(&self) -> Result<(), Error> {
        let StoredLogin { login, file } = &mut *self.login.lock().await;
        let request_id = match login.refresh_request {
            Some(begun) => begun,
            None => {
                let new = self.client.new_request_id();
                let begun = GuestLogin { refresh_request: Some(new), ..login.clone() };
                file.save(&begun)?;
                *login = begun;
                new
            }
        };
        let request = pb::RefreshRequest {
            request_id: request_id.to_string(),
            refresh_token: login.refresh_token.expose().to_owned(),
        };
        let answer = self.client.call_with_retries(request, |channel, request| async move {
            PeopleServiceClient::new(channel).refresh(request).await
        });
        let answer = answer.await.inspect_err(|error| self.note_end(error))?;
        let now = self.client.clock().now();
        let (access, refresh_token) = AccessToken::read(answer.tokens, now)?;
        let next = GuestLogin { refresh_token, refresh_request: None, ..login.clone() };
        file.save(&next)?;
        *login = next;
        *self.access.lock().unwrap_or_else(PoisonError::into_inner) = access;
        Ok(())
    }

    /// Remembers a refusal after which no token comes any more.
    fn note_end(&self, error: &Error) {
        let Error::Refused(refusal) = error else { return };
        let is_end = matches!(
            refusal.reason,
            Some(
                ErrorReason::TokenRevoked
                    | ErrorReason::TokenExpired
                    | ErrorReason::TokenForged
                    | ErrorReason::TokenMalformed
                    | ErrorReason::PlayerErased
                    | ErrorReason::NoSuchMethod
            )
        );
        if is_end {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            *ended = Some(refusal.clone());
        }
    }

    /// Refreshes in time, until the sign-in has ended.
    async fn keep_fresh(self: Arc<TokenKeeper>) {
        let clock = self.client.shared_clock();
        loop {
            let left = self.refresh_at().since(clock.now());
            if !left.is_zero() {
                clock.sleep(left.min(LOOK)).await;
                continue;
            }
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "a guest has no new token");
                if self.ended.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                    return;
                }
                clock.sleep(PAUSE).await;
            }
        }
    }
}

impl AccessToken {
    fn none() -> AccessToken {
        AccessToken { token: Secret::new(String::new()), refresh_at: UnixMicros(0) }
    }

    /// Reads tokens that came at `now`: the access token, and the next refresh token.
    fn read(tokens: Option<pb::Tokens>, now: UnixMicros) -> Result<(AccessToken, Secret), Error> {
        let tokens = tokens.ok_or(Error::Malformed("the tokens are missing"))?;
        let pb::Tokens { access_token, access_expire_time, refresh_token, refresh_expire_time: _ } =
            tokens;
        if access_token.is_empty() || refresh_token.is_empty() {
            return Err(Error::Malformed("a token is missing"));
        }
        let ends = access_expire_time.and_then(instant);
        let [least, most] = LIVES;
        let life = ends.map_or(least, |ends| ends.since(now)).clamp(least, most);
        let refresh_at = now.plus(life * 2 / 3);
        Ok((
            AccessToken { token: Secret::new(access_token), refresh_at },
            Secret::new(refresh_token),
        ))
    }
}

/// Whether two addresses name one server.
fn is_same_server(one: &str, other: &str) -> bool {
    let parts = |address: &str| {
        let uri: tonic::transport::Uri = address.parse().ok()?;
        Some((uri.scheme_str()?.to_owned(), uri.authority()?.as_str().to_ascii_lowercase()))
    };
    parts(one).is_some() && parts(one) == parts(other)
}

#[cfg(test)]
mod tests;
