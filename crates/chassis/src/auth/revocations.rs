//! Revoked tokens, as a server knows them.
//!
//! A revocation names one token by its id, or all tokens of a subject that were issued until a time.
//! It is forgotten when no token that it names can be valid any more. The service that records
//! revocations is followed by somebody else, who adds them here and says that there was nothing new.
//! Where nothing was received for [`MAX_SILENCE`], guests' tokens are refused: their issuer relies on
//! revocation. Tokens of other issuers are refused by the revocations that are known.
//!
//! Specification: ARCHITECTURE.md §6.5.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use primitives::UnixMicros;
use system::clock::Clock;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Role, TokenError, VerifiedToken};

/// Longest time without news for which guests' tokens are believed.
pub const MAX_SILENCE: Duration = Duration::from_secs(30);

/// Tokens that a revocation names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevokedTokens {
    /// The token with this id.
    Id(String),
    /// All tokens of a subject that were issued until this time.
    Subject { subject: String, issued_until: UnixMicros },
}

/// Revocation of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    pub tokens: RevokedTokens,
    /// Time from which no token that it names can be valid.
    pub forgotten_at: UnixMicros,
}

/// Revoked tokens. Clones share them.
#[derive(Clone)]
pub struct Revocations {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    known: Mutex<Known>,
    /// Counts the revocations that were added.
    added: watch::Sender<u64>,
}

#[derive(Default)]
struct Known {
    /// Time at which each entry is forgotten, by the token's id.
    ids: BTreeMap<String, UnixMicros>,
    subjects: BTreeMap<String, RevokedSubject>,
    /// Last time at which all revocations were known.
    received_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct RevokedSubject {
    issued_until: UnixMicros,
    forgotten_at: UnixMicros,
}

impl Revocations {
    /// No revocation, of which nothing was received yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Revocations {
        let (known, added) = (Mutex::default(), watch::Sender::new(0));
        Revocations { shared: Arc::new(Shared { clock, known, added }) }
    }

    /// Adds revocations. Open streams of their tokens end.
    pub fn add(&self, revocations: impl IntoIterator<Item = Revocation>) {
        let now = self.shared.clock.now();
        let mut known = self.known();
        known.ids.retain(|_, forgotten_at| now < *forgotten_at);
        known.subjects.retain(|_, revoked| now < revoked.forgotten_at);
        for Revocation { tokens, forgotten_at } in revocations {
            if forgotten_at <= now {
                continue;
            }
            match tokens {
                RevokedTokens::Id(id) => {
                    let kept = known.ids.entry(id).or_insert(forgotten_at);
                    *kept = forgotten_at.max(*kept);
                }
                RevokedTokens::Subject { subject, issued_until } => {
                    let new = RevokedSubject { issued_until, forgotten_at };
                    let kept = known.subjects.entry(subject).or_insert(new);
                    kept.issued_until = issued_until.max(kept.issued_until);
                    kept.forgotten_at = forgotten_at.max(kept.forgotten_at);
                }
            }
        }
        drop(known);
        self.shared.added.send_modify(|added| *added += 1);
    }

    /// Notes that all revocations that are on record at this moment were added.
    pub fn note_current(&self) {
        self.known().received_at = Some(Instant::now());
    }

    /// Checks that a verified token is not revoked.
    pub(super) fn check(&self, token: &VerifiedToken) -> Result<(), TokenError> {
        match token.identity.role {
            Role::Service => return Ok(()),
            Role::Player | Role::Operator | Role::Auditor => {}
        }
        let known = self.known();
        if known.names_id(&token.id) {
            return Err(TokenError::Revoked { claim: "jti" });
        }
        if known.names_subject(token) {
            return Err(TokenError::Revoked { claim: "sub" });
        }
        let fresh =
            known.received_at.is_some_and(|received_at| received_at.elapsed() < MAX_SILENCE);
        if token.is_guests && !fresh {
            return Err(TokenError::RevocationsUnknown);
        }
        Ok(())
    }

    /// Waits until the token that `token` gives is revoked. Returns the error that it is refused with.
    pub(super) async fn until_revoked(&self, token: impl Fn() -> VerifiedToken) -> TokenError {
        let mut added = self.shared.added.subscribe();
        loop {
            match self.check(&token()) {
                Err(error @ TokenError::Revoked { .. }) => return error,
                // A stream that is open goes on while nothing is received.
                Ok(())
                | Err(
                    TokenError::RevocationsUnknown
                    | TokenError::Missing
                    | TokenError::Malformed { .. }
                    | TokenError::Expired { .. }
                    | TokenError::Forged { .. },
                ) => {}
            }
            if added.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn names_id(&self, id: &str) -> bool {
        self.ids.contains_key(id)
    }

    fn names_subject(&self, token: &VerifiedToken) -> bool {
        let revoked = self.subjects.get(&token.identity.subject);
        revoked.is_some_and(|revoked| token.issued_at <= revoked.issued_until)
    }
}

#[cfg(test)]
mod tests {
    use system::clock::ManualClock;

    use super::*;
    use crate::auth::Identity;

    const NOW: UnixMicros = UnixMicros(1_800_000_000_000_000);

    fn token(id: &str, issued_at: UnixMicros, is_guests: bool) -> VerifiedToken {
        VerifiedToken {
            identity: Identity::new(Role::Player, "lando"),
            id: id.into(),
            issued_at,
            expires_at: issued_at.plus(Duration::from_secs(900)),
            is_guests,
        }
    }

    fn of_subject(issued_until: UnixMicros) -> Revocation {
        let tokens = RevokedTokens::Subject { subject: "lando".to_owned(), issued_until };
        Revocation { tokens, forgotten_at: NOW.plus(Duration::from_secs(960)) }
    }

    fn of_id(id: &str) -> Revocation {
        let forgotten_at = NOW.plus(Duration::from_secs(960));
        Revocation { tokens: RevokedTokens::Id(id.to_owned()), forgotten_at }
    }

    fn current() -> (Arc<ManualClock>, Revocations) {
        let clock = Arc::new(ManualClock::new(NOW));
        let revocations = Revocations::new(Arc::clone(&clock) as Arc<dyn Clock>);
        revocations.note_current();
        (clock, revocations)
    }

    /// ARCHITECTURE.md §6.5.
    #[tokio::test]
    async fn a_token_is_revoked_by_its_id_and_a_subject_until_a_time() {
        let (_, revocations) = current();
        let later = NOW.plus(Duration::from_secs(1));
        revocations.add([of_id("one"), of_subject(NOW)]);
        let check = |id, issued_at| revocations.check(&token(id, issued_at, false));
        assert_eq!(check("one", later), Err(TokenError::Revoked { claim: "jti" }));
        assert_eq!(check("two", NOW), Err(TokenError::Revoked { claim: "sub" }));
        assert_eq!(check("two", later), Ok(()));
        let service = Identity::new(Role::Service, "lando");
        assert_eq!(
            revocations.check(&VerifiedToken { identity: service, ..token("two", NOW, false) }),
            Ok(())
        );
        revocations.add([of_subject(NOW), of_subject(later), of_subject(NOW)]);
        assert_eq!(
            check("two", later),
            Err(TokenError::Revoked { claim: "sub" }),
            "the latest counts"
        );
    }

    #[tokio::test]
    async fn what_can_match_no_token_any_more_is_forgotten() {
        let (clock, revocations) = current();
        revocations.add([of_id("one"), of_subject(NOW)]);
        clock.advance(Duration::from_secs(960));
        revocations.add([of_id("late")]);
        let known = revocations.known();
        assert!(known.ids.is_empty() && known.subjects.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn no_guest_comes_in_while_nothing_is_received() {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(NOW));
        let revocations = Revocations::new(clock);
        let (guest, other) = (token("one", NOW, true), token("one", NOW, false));
        assert_eq!(revocations.check(&guest), Err(TokenError::RevocationsUnknown), "at the start");
        revocations.note_current();
        tokio::time::advance(MAX_SILENCE - Duration::from_millis(1)).await;
        assert_eq!(revocations.check(&guest), Ok(()));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(revocations.check(&guest), Err(TokenError::RevocationsUnknown));
        assert_eq!(revocations.check(&other), Ok(()), "another issuer does not rely on them");
        revocations.note_current();
        assert_eq!(revocations.check(&guest), Ok(()));
    }

    #[tokio::test]
    async fn an_open_stream_ends_for_its_own_token_alone() {
        let (_, revocations) = current();
        let one = token("one", NOW, true);
        let mut waits = Box::pin(revocations.until_revoked(|| one.clone()));
        revocations.add([of_id("two")]);
        assert!(tokio::time::timeout(Duration::from_millis(10), &mut waits).await.is_err());
        revocations.add([of_id("one")]);
        assert_eq!(waits.await, TokenError::Revoked { claim: "jti" });
    }
}
