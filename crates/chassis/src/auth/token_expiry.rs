//! Time of the token that a stream was opened with.
//!
//! A stream ends with its token, or sooner if the token is revoked. A caller may send a fresh token
//! in a stream whose method takes one (`token_field` of the method's option); the stream then lives
//! as long as that one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{TokenError, VerifiedToken, Verifier};

/// Time in which a service ends a stream by a message of its own, after its token's time is over.
const LAST_MESSAGE: Duration = Duration::from_secs(1);

/// Longest sleep until the clock is looked at again, so that one that was set is noticed.
const LOOK: Duration = Duration::from_secs(60);

/// Time of a stream's token. Lies in the request's extensions. Clones share it.
#[derive(Clone)]
pub struct TokenExpiry {
    shared: Arc<Shared>,
}

struct Shared {
    verifier: Verifier,
    token: Mutex<VerifiedToken>,
}

impl TokenExpiry {
    pub(super) fn new(verifier: Verifier, token: VerifiedToken) -> TokenExpiry {
        TokenExpiry { shared: Arc::new(Shared { verifier, token: Mutex::new(token) }) }
    }

    /// Time of the token that a guard admitted this stream with; `None` for one without a token.
    #[must_use]
    pub fn of<T>(request: &tonic::Request<T>) -> Option<&TokenExpiry> {
        request.extensions().get()
    }

    /// Waits until the token's time is over.
    pub async fn wait_until_expired(&self) {
        loop {
            let left = self.token().expires_at.since(self.shared.verifier.clock().now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }

    /// Waits until the stream has to be cut off: its token is revoked, or its time is over and the
    /// service has had time for a last message.
    pub(crate) async fn until_over(&self) -> TokenError {
        let expired = async {
            loop {
                self.wait_until_expired().await;
                tokio::time::sleep(LAST_MESSAGE).await;
                // A fresh token may have come meanwhile.
                if self.token().expires_at <= self.shared.verifier.clock().now() {
                    return TokenError::Expired { claim: "exp" };
                }
            }
        };
        let revoked = async {
            match self.shared.verifier.revocations() {
                Some(revocations) => revocations.until_revoked(|| self.token()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            error = expired => error,
            error = revoked => error,
        }
    }

    /// Lets the stream live as long as this token of the same bearer.
    ///
    /// # Errors
    /// The token is refused, or is another bearer's.
    pub(crate) fn renew(&self, token: &str) -> Result<(), TokenError> {
        let new = self.shared.verifier.verify_token(token)?;
        let mut current = self.shared.token.lock().unwrap_or_else(PoisonError::into_inner);
        if new.identity.role != current.identity.role {
            return Err(TokenError::Forged { claim: Some("role") });
        }
        if new.identity != current.identity {
            return Err(TokenError::Forged { claim: Some("sub") });
        }
        *current = new;
        Ok(())
    }

    fn token(&self) -> VerifiedToken {
        self.shared.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use primitives::{PlayerId, UnixMicros};
    use system::clock::{Clock, ManualClock};
    use system::entropy::SeededEntropy;

    use super::*;
    use crate::auth::{
        Claims, Identity, IssuerKey, Revocation, Revocations, RevokedTokens, TokenIssuer,
    };

    struct Fixture {
        clock: Arc<ManualClock>,
        issuer: TokenIssuer,
        revocations: Revocations,
        expiry: TokenExpiry,
    }

    const LIFE: Duration = Duration::from_secs(900);

    fn claims(clock: &ManualClock, player: u8, seed: u64) -> Claims {
        let identity = Identity::new(crate::auth::Role::Player, PlayerId([player; 16]).to_string());
        Claims::new("table", &identity, LIFE, clock, &SeededEntropy::new(seed))
    }

    fn fixture() -> Fixture {
        let clock = Arc::new(ManualClock::new(UnixMicros(1_800_000_000_000_000)));
        let issuer = TokenIssuer::generate("table", &SeededEntropy::new(1));
        let revocations = Revocations::new(Arc::clone(&clock) as Arc<dyn Clock>);
        revocations.note_current();
        let keys = vec![IssuerKey::for_guests(issuer.public_key())];
        let verifier = Verifier::new(keys, Arc::clone(&clock) as Arc<dyn Clock>);
        let verifier = verifier.with_revocations(Some(revocations.clone()));
        let token = verifier.verify_token(&issuer.issue(&claims(&clock, 1, 2))).unwrap();
        let expiry = TokenExpiry::new(verifier, token);
        Fixture { clock, issuer, revocations, expiry }
    }

    async fn is_over(expiry: &TokenExpiry) -> Option<TokenError> {
        tokio::time::timeout(LAST_MESSAGE * 2, expiry.until_over()).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_its_token_unless_a_fresh_one_comes() {
        let room = fixture();
        assert_eq!(is_over(&room.expiry).await, None);
        room.clock.advance(LIFE / 2);
        let token = room.issuer.issue(&claims(&room.clock, 1, 3));
        assert_eq!(room.expiry.renew(&token), Ok(()));
        room.clock.advance(LIFE / 2);
        assert_eq!(is_over(&room.expiry).await, None, "the fresh one is good");
        room.clock.advance(LIFE / 2);
        assert_eq!(is_over(&room.expiry).await, Some(TokenError::Expired { claim: "exp" }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_fresh_token_is_the_same_bearers_and_good() {
        let room = fixture();
        let other = room.issuer.issue(&claims(&room.clock, 2, 3));
        assert_eq!(room.expiry.renew(&other), Err(TokenError::Forged { claim: Some("sub") }));
        let stranger = TokenIssuer::generate("table", &SeededEntropy::new(9));
        let forged = stranger.issue(&claims(&room.clock, 1, 3));
        assert_eq!(room.expiry.renew(&forged), Err(TokenError::Forged { claim: None }));
        let old = room.issuer.issue(&claims(&room.clock, 1, 4));
        room.clock.advance(LIFE);
        assert_eq!(room.expiry.renew(&old), Err(TokenError::Expired { claim: "exp" }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_revocation_reaches_the_token_that_the_stream_lives_by() {
        let room = fixture();
        let next = claims(&room.clock, 1, 3);
        room.expiry.renew(&room.issuer.issue(&next)).unwrap();
        let revoke = |id: &str| {
            let forgotten_at = room.clock.now().plus(LIFE);
            room.revocations
                .add([Revocation { tokens: RevokedTokens::Id(id.into()), forgotten_at }]);
        };
        revoke(&claims(&room.clock, 1, 2).jti);
        assert_eq!(is_over(&room.expiry).await, None, "the token before it");
        revoke(&next.jti);
        assert_eq!(is_over(&room.expiry).await, Some(TokenError::Revoked { claim: "jti" }));
    }
}
