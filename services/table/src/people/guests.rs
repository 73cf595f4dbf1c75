//! Guests: players of a room for play money who have no account elsewhere. They sign in, get new
//! tokens for old ones, and sign out. Tokens of anybody are revoked here too.
//!
//! The table service signs guests' access tokens, and not the gateway, so that whoever takes the
//! gateway over can make no player. Its key for that is believed for the role `player` alone, for
//! tokens of 15 minutes. Of a refresh token the log has the SHA-256. A token is given after its event
//! is durable; a caller who got no answer repeats the request and gets the same one. A repeat brings
//! a secret that nobody else has, the sign-in's or the used token, for request ids are on record.
//!
//! Specification: services/table/README.md "Guests".

use std::sync::Arc;
use std::time::Duration;

use chassis::auth::{ACCESS_TOKEN_LIFETIME, Claims, Identity, MAX_LIFETIME, Role, TokenIssuer};
use chassis::daily_quota::DailyQuota;
use primitives::{StreamId, UnixMicros};
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::event::v1::{self as event, EventType, PlayerNamed, RevocationCause};
use proto::table::v1 as pb;
use system::clock::Clock;
use system::entropy::Entropy;
use tokio::sync::watch;
use wire::time::timestamp;
use wire::{ApiRefusal, TableRecord, api_refusal};
use zeroize::Zeroizing;

use super::refresh_token::{RefreshSecret, RefreshToken, SignInSecret};
use super::sign_ins::{REFRESH_LIFETIME, RefreshVerdict, Revocation};
use super::{People, binding, permissions, text_checks};
use crate::author::Author;
use crate::record_padding;

/// Time in which a repeated sign-in gets its first answer.
const REPEAT_SPAN: Duration = Duration::from_mins(10);
/// Refresh tokens of one guest a day: one every five minutes.
const REFRESHES_PER_DAY: u32 = 288;
/// Seconds by which the clock of an issuer may be ahead, for which an operator's revocation holds
/// too.
const ISSUER_SKEW: Duration = Duration::from_secs(30);
/// Time by which a revocation is remembered longer than the longest token lives.
const FORGET_MARGIN: Duration = Duration::from_mins(1);

/// Issuer of guests' tokens.
pub(crate) struct GuestIssuer {
    issuer: TokenIssuer,
    secret: RefreshSecret,
    /// New guests a day, in all.
    per_day: u32,
    refreshes: DailyQuota,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl GuestIssuer {
    #[must_use]
    pub(crate) fn new(
        issuer: TokenIssuer,
        per_day: u32,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> GuestIssuer {
        let secret = RefreshSecret::new(issuer.derive_secret("sabacc/refresh-token/v1"));
        let refreshes = DailyQuota::new(REFRESHES_PER_DAY);
        GuestIssuer { issuer, secret, per_day, refreshes, clock, entropy }
    }

    /// Message with a fresh access token beside a refresh token.
    #[must_use]
    pub(crate) fn tokens(&self, given: &GivenToken) -> pb::Tokens {
        let GivenToken { token, given_at } = given;
        let identity = Identity::new(Role::Player, token.player.to_string());
        let (clock, entropy) = (&*self.clock, &*self.entropy);
        let claims =
            Claims::new(self.issuer.name(), &identity, ACCESS_TOKEN_LIFETIME, clock, entropy);
        let ends = UnixMicros(claims.exp.saturating_mul(1_000_000));
        pb::Tokens {
            access_token: self.issuer.issue(&claims),
            access_expire_time: Some(timestamp(ends)),
            refresh_token: token.expose(),
            refresh_expire_time: Some(timestamp(given_at.plus(REFRESH_LIFETIME))),
        }
    }
}

/// Refresh token, and the time at which it was given.
pub(crate) struct GivenToken {
    pub token: RefreshToken,
    pub given_at: UnixMicros,
}

/// Revocation to be recorded.
pub(crate) struct RevokeCommand {
    pub tokens: event::tokens_revoked::Tokens,
    pub cause: RevocationCause,
    pub reason: String,
}

impl People {
    /// Lets guests in. Without this, nobody can become one.
    #[must_use]
    pub(crate) fn with_guests(self, guests: Option<Arc<GuestIssuer>>) -> People {
        People { guests, ..self }
    }

    /// Issuer of guests' tokens.
    ///
    /// # Errors
    /// `NO_SUCH_METHOD`: this room has no guests.
    pub(crate) fn guests(&self) -> Result<&Arc<GuestIssuer>, ApiRefusal> {
        self.guests.as_ref().ok_or_else(|| {
            let message = "this room has no guests: get a token from its operator";
            api_refusal(ErrorReason::NoSuchMethod, message)
        })
    }

    /// Makes a new player of a guest. Returns their first refresh token, and their name.
    pub(crate) async fn sign_in(
        &self,
        given: &str,
        secret: &SignInSecret,
        mut by: Author,
    ) -> Result<(GivenToken, String), ApiRefusal> {
        let guests = self.guests()?;
        let name = text_checks::name(given)?;
        let player = guests.secret.player_of(by.request, secret);
        let token = guests.secret.first_token(player, by.request, secret);
        by.digest = guests.secret.bound_digest(by.digest, secret);
        let _one_at_a_time = self.write_lock.lock().await;
        if let Some(given_at) = self.repeated_sign_in(&token, &name, &by).await? {
            return Ok((GivenToken { token, given_at }, name));
        }
        let now = guests.clock.now();
        self.with_registry(|registry| {
            permissions::check_not_erased(registry, player)?;
            permissions::check_new_guest(registry, guests.per_day, now)
        })?;
        let signed_in = event::GuestSignedIn { refresh_sha256: token.sha256().to_vec().into() };
        let mut events = vec![TableRecord::from(signed_in)];
        if !name.is_empty() {
            let key = self.player_keys.new_key(player).await?;
            by.digest = key.digest(by.digest);
            let message = Zeroizing::new(PlayerNamed { name: name.clone() }.encode_to_vec());
            let place = binding(player, EventType::PlayerNamed);
            events.push(TableRecord::PlayerNamed(self.seal_event(&key, player, place, &message)));
        }
        let receipt = self.append(player.into(), &events, Vec::new(), by).await?;
        self.directory.set_name(player, &name);
        Ok((GivenToken { token, given_at: receipt.recorded_at }, name))
    }

    /// Time at which the guest of a repeated request came; `None` for a new request.
    async fn repeated_sign_in(
        &self,
        token: &RefreshToken,
        name: &str,
        by: &Author,
    ) -> Result<Option<UnixMicros>, ApiRefusal> {
        let guests = self.guests()?;
        let now = guests.clock.now();
        let found = self.with_registry(|registry| {
            let guest = registry.sign_ins().guest(token.player)?;
            Some((guest.given_at, registry.sign_ins().judge(token, true, by.request, now)))
        });
        let Some((given_at, verdict)) = found else {
            // The same request with another secret would be another player; one who is forgotten
            // does not come again.
            let recorded = self.first_answer(by, by.digest).await?;
            return recorded.map_or(Ok(None), |_| Err(over()));
        };
        // The name is personal: its digest was made under the player's key.
        let digest = if name.is_empty() {
            by.digest
        } else {
            let key = self.player_keys.find_key(token.player).await?;
            key.map_or([0; 32], |key| key.digest(by.digest))
        };
        self.first_answer(by, digest).await?;
        match verdict {
            RefreshVerdict::Newest if now.since(given_at) < REPEAT_SPAN => Ok(Some(given_at)),
            RefreshVerdict::Newest
            | RefreshVerdict::Repeated
            | RefreshVerdict::Reused
            | RefreshVerdict::Revoked
            | RefreshVerdict::Expired
            | RefreshVerdict::Forged => Err(over()),
        }
    }

    /// Gives the next refresh token for one that is used up by this.
    pub(crate) async fn refresh(
        &self,
        token: RefreshToken,
        by: Author,
    ) -> Result<GivenToken, ApiRefusal> {
        let guests = self.guests()?;
        let player = token.player;
        let is_ours = guests.secret.has_made(&token);
        let _one_at_a_time = self.write_lock.lock().await;
        let now = guests.clock.now();
        let verdict = self.with_registry(|registry| {
            permissions::check_not_erased(registry, player)?;
            Ok::<_, ApiRefusal>(registry.sign_ins().judge(&token, is_ours, by.request, now))
        })?;
        let next = guests.secret.next_token(&token, by.request);
        match verdict {
            RefreshVerdict::Newest => {
                guests.refreshes.check(player, now).map_err(too_many_refreshes)?;
                let used = event::RefreshTokenUsed {
                    generation: next.generation,
                    refresh_sha256: next.sha256().to_vec().into(),
                    request_id: by.request.0.to_vec().into(),
                };
                let events = [TableRecord::from(used)];
                let receipt = self.append(player.into(), &events, Vec::new(), by).await?;
                guests.refreshes.count(player, now);
                Ok(GivenToken { token: next, given_at: receipt.recorded_at })
            }
            RefreshVerdict::Repeated => {
                // Under another key of the room the next token would be another one.
                let given_at = self.with_registry(|registry| {
                    let sign_ins = registry.sign_ins();
                    let newest = sign_ins.judge(&next, true, by.request, now);
                    let guest = sign_ins.guest(player)?;
                    (newest == RefreshVerdict::Newest).then_some(guest.given_at)
                });
                let given_at = given_at.ok_or_else(|| token_refusal(ErrorReason::TokenExpired))?;
                Ok(GivenToken { token: next, given_at })
            }
            RefreshVerdict::Reused => {
                let revoke = RevokeCommand {
                    tokens: event::tokens_revoked::Tokens::Subject(player.to_string()),
                    cause: RevocationCause::RefreshTokenReused,
                    reason: String::new(),
                };
                tracing::warn!(%player, "a refresh token was used twice: the player is signed out");
                self.append_revocation(revoke, now, by).await?;
                Err(token_refusal(ErrorReason::TokenRevoked))
            }
            RefreshVerdict::Revoked => Err(token_refusal(ErrorReason::TokenRevoked)),
            RefreshVerdict::Expired => Err(token_refusal(ErrorReason::TokenExpired)),
            RefreshVerdict::Forged => Err(token_refusal(ErrorReason::TokenForged)),
        }
    }

    /// Revokes tokens, once for each request.
    pub(crate) async fn revoke(
        &self,
        revoke: RevokeCommand,
        now: UnixMicros,
        by: Author,
    ) -> Result<(), ApiRefusal> {
        let _one_at_a_time = self.write_lock.lock().await;
        if self.first_answer(&by, by.digest).await?.is_some() {
            return Ok(());
        }
        self.append_revocation(revoke, now, by).await
    }

    async fn append_revocation(
        &self,
        revoke: RevokeCommand,
        now: UnixMicros,
        by: Author,
    ) -> Result<(), ApiRefusal> {
        let RevokeCommand { tokens, cause, reason } = revoke;
        let until = match cause {
            // These were given here, by one clock.
            RevocationCause::SignedOut => now,
            RevocationCause::RefreshTokenReused
            | RevocationCause::Operator
            | RevocationCause::Unspecified => now.plus(ISSUER_SKEW),
        };
        let mut revoked = event::TokensRevoked {
            tokens: Some(tokens),
            issued_until_micros: until.0,
            forget_micros: until.plus(MAX_LIFETIME).plus(FORGET_MARGIN).0,
            cause: cause.into(),
            reason,
            ..event::TokensRevoked::default()
        };
        revoked.padding = record_padding::zeros(&revoked, record_padding::STEP);
        let events = [TableRecord::from(revoked)];
        self.append(StreamId::REVOCATIONS, &events, Vec::new(), by).await?;
        self.revoked.send_modify(|recorded| *recorded += 1);
        Ok(())
    }

    /// Tells of each recorded revocation.
    #[must_use]
    pub(crate) fn revoked(&self) -> watch::Receiver<u64> {
        self.revoked.subscribe()
    }

    /// Up to `most` revocations from a number on that are still of use.
    #[must_use]
    pub(crate) fn revocations_from(
        &self,
        number: u64,
        now: UnixMicros,
        most: usize,
    ) -> RevocationPage {
        self.with_registry(|registry| {
            let sign_ins = registry.sign_ins();
            let mut found = sign_ins.revoked_from(number, now);
            let page: Vec<_> = found.by_ref().take(most).map(|(_, it)| it.clone()).collect();
            let rest = found.next().map(|(number, _)| number);
            let next = rest.unwrap_or(sign_ins.next_number());
            RevocationPage { revocations: page, next, more: rest.is_some() }
        })
    }

    /// Whether this process still owns the log, so that no other has recorded a revocation.
    pub(crate) async fn owns_log(&self) -> bool {
        self.log.confirm_ownership().await.is_ok()
    }
}

/// Revocations in the order in which they were recorded.
pub(crate) struct RevocationPage {
    pub revocations: Vec<Revocation>,
    /// Number to go on from.
    pub next: u64,
    /// Whether others are on record already.
    pub more: bool,
}

/// Refusal of a sign-in that is repeated too late.
fn over() -> ApiRefusal {
    let message = "this sign-in was answered before, and its tokens are in use: sign in under a new \
                   request_id";
    api_refusal(ErrorReason::AlreadyExists, message).field("request_id")
}

/// Refusal of a refresh token.
pub(crate) fn token_refusal(reason: ErrorReason) -> ApiRefusal {
    let message = if reason == ErrorReason::TokenRevoked {
        "this refresh token was revoked: its owner has signed out, or it was used twice"
    } else if reason == ErrorReason::TokenExpired {
        "this refresh token is over: sign in again"
    } else {
        "this is no refresh token of this room"
    };
    api_refusal(reason, message)
}

fn too_many_refreshes(wait: Duration) -> ApiRefusal {
    let message = "this guest has had as many new tokens today as one may";
    api_refusal(ErrorReason::RecordsSpent, message).retry_after(wait)
}

#[cfg(test)]
mod tests;
