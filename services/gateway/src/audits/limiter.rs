//! Limits of concurrent audits: few run at once, and no caller keeps the others waiting.
//!
//! A player has one audit running or waiting. An address has two, whatever the number of its
//! players. Operators and auditors have a limit of their own, so that many players do not keep them
//! from looking into a dispute. The limits of `tower` are of a service and not of a key.
//!
//! Specification: ARCHITECTURE.md §7.6.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use chassis::auth::{Identity, Role};
use chassis::concurrency_limiter::{ConcurrencyLimiter, Permit};
use chassis::serve::CallerAddress;
use proto::common::v1::ErrorReason;
use tonic::Request;
use wire::status::{ApiRefusal, api_refusal};

/// Most audits of players that run at once.
const MAX_RUNNING: usize = 4;
/// Most audits of players that wait for one of [`MAX_RUNNING`]. More are refused.
const MAX_WAITING: usize = 16;
/// Most audits of one player, running and waiting.
const MAX_PER_PLAYER: usize = 1;
/// Most audits of one address, running and waiting.
const MAX_PER_ADDRESS: usize = 2;
/// Most audits of operators and auditors that run at once. [`MAX_WAITING`] bounds those that wait.
const MAX_RUNNING_STAFF: usize = 4;

/// Key of a bound on the audits that are running or waiting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum QuotaKey {
    Player(String),
    Address(IpAddr),
}

impl QuotaKey {
    const fn limit(&self) -> usize {
        match self {
            QuotaKey::Player(_) => MAX_PER_PLAYER,
            QuotaKey::Address(_) => MAX_PER_ADDRESS,
        }
    }
}

/// Most audits of callers without a token that run at once. They take no place of players.
const MAX_RUNNING_PUBLIC: usize = 2;

/// Caller of an audit.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    Staff,
    Player {
        subject: String,
        address: Option<IpAddr>,
    },
    /// A caller without a token, or a reader of public files.
    Anybody {
        address: Option<IpAddr>,
    },
}

impl Caller {
    /// Reads the identity and the address that the port's layers have put into the request.
    pub(super) fn of<T>(request: &Request<T>) -> Caller {
        let identity = Identity::of(request);
        let address = request.extensions().get::<CallerAddress>();
        let address = address.map(|CallerAddress(address)| *address);
        let Some(Identity { role, subject, is_house: _ }) = identity else {
            return Caller::Anybody { address };
        };
        match role {
            Role::Operator | Role::Auditor | Role::Service => Caller::Staff,
            Role::Player => Caller::Player { subject: subject.clone(), address },
        }
    }
}

/// Limiter of audits.
pub(super) struct AuditLimiter {
    players: ConcurrencyLimiter,
    staff: ConcurrencyLimiter,
    public: ConcurrencyLimiter,
    open: Arc<OpenCounts>,
}

#[derive(Default)]
struct OpenCounts(Mutex<BTreeMap<QuotaKey, usize>>);

/// Permit for one audit. Dropping it releases it.
pub(super) struct AuditPermit {
    _permit: Permit,
    _quotas: Vec<Quota>,
}

struct Quota {
    key: QuotaKey,
    counts: Arc<OpenCounts>,
}

impl AuditLimiter {
    pub(super) fn new() -> AuditLimiter {
        AuditLimiter {
            players: ConcurrencyLimiter::new(MAX_RUNNING, MAX_WAITING),
            staff: ConcurrencyLimiter::new(MAX_RUNNING_STAFF, MAX_WAITING),
            public: ConcurrencyLimiter::new(MAX_RUNNING_PUBLIC, MAX_WAITING),
            open: Arc::default(),
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// If the caller has, or all callers together have, as many audits as are allowed.
    pub(super) async fn enter(&self, caller: Caller) -> Result<AuditPermit, ApiRefusal> {
        let (limiter, sharers) = match caller {
            Caller::Staff => (&self.staff, Vec::new()),
            Caller::Player { subject, address } => {
                let address = address.map(QuotaKey::Address);
                (&self.players, [QuotaKey::Player(subject)].into_iter().chain(address).collect())
            }
            Caller::Anybody { address } => {
                (&self.public, address.map(QuotaKey::Address).into_iter().collect())
            }
        };
        let shares = sharers.into_iter().map(|sharer| Quota::acquire(sharer, &self.open));
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let permit = limiter.acquire().await;
        let busy = "as many hands are being audited as can be: try again in a moment";
        let permit = permit.ok_or_else(|| api_refusal(ErrorReason::Overloaded, busy))?;
        Ok(AuditPermit { _permit: permit, _quotas: shares })
    }
}

impl Quota {
    fn acquire(sharer: QuotaKey, counts: &Arc<OpenCounts>) -> Result<Quota, ApiRefusal> {
        let mut open = counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.get(&sharer).copied().unwrap_or(0);
        if count >= sharer.limit() {
            let words = match sharer {
                QuotaKey::Player(_) => "another audit of yours is under way: wait until it ends",
                QuotaKey::Address(_) => {
                    "other audits of this address are under way: wait until one ends"
                }
            };
            return Err(api_refusal(ErrorReason::Overloaded, words));
        }
        open.insert(sharer.clone(), count + 1);
        drop(open);
        Ok(Quota { key: sharer, counts: Arc::clone(counts) })
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let mut open = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = open.get(&self.key).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            open.remove(&self.key);
        } else {
            open.insert(self.key.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use super::*;

    fn player(player: usize, address: Option<u8>) -> Caller {
        let address = address.map(|last| IpAddr::from([192, 0, 2, last]));
        Caller::Player { subject: player.to_string(), address }
    }

    async fn try_enter(
        turns: &AuditLimiter,
        caller: Caller,
    ) -> Option<Result<AuditPermit, ApiRefusal>> {
        tokio::time::timeout(Duration::from_millis(20), turns.enter(caller)).await.ok()
    }

    #[tokio::test]
    async fn a_player_has_one_turn_and_an_address_two() {
        let turns = AuditLimiter::new();
        let first = try_enter(&turns, player(1, Some(1))).await.unwrap().unwrap();
        for address in [Some(1), Some(2), None] {
            let again = try_enter(&turns, player(1, address)).await.unwrap();
            assert_eq!(again.err().unwrap().reason(), ErrorReason::Overloaded);
        }
        let _second = try_enter(&turns, player(2, Some(1))).await.unwrap().unwrap();
        let third = try_enter(&turns, player(3, Some(1))).await.unwrap().err().unwrap();
        let third = tonic::Status::from(third);
        assert!(third.message().contains("this address"), "{third}");
        let _elsewhere = try_enter(&turns, player(3, Some(2))).await.unwrap().unwrap();
        drop(first);
        try_enter(&turns, player(3, Some(1))).await.unwrap().err().unwrap();
        try_enter(&turns, player(1, Some(1))).await.unwrap().unwrap();
        drop(turns.enter(player(4, Some(2))));
        try_enter(&turns, player(4, Some(2))).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn readers_without_a_token_take_no_turn_of_players() {
        let turns = AuditLimiter::new();
        let anybody = |last| Caller::Anybody { address: Some(IpAddr::from([192, 0, 2, last])) };
        let mut at_work = Vec::new();
        for number in 0..u8::try_from(MAX_RUNNING_PUBLIC).unwrap() {
            at_work.push(try_enter(&turns, anybody(number)).await.unwrap().unwrap());
        }
        assert!(try_enter(&turns, anybody(99)).await.is_none(), "the third waits");
        try_enter(&turns, player(1, None)).await.unwrap().unwrap();
        drop(at_work);
        let _first = try_enter(&turns, anybody(1)).await.unwrap().unwrap();
        let _second = try_enter(&turns, anybody(1)).await.unwrap().unwrap();
        let third = try_enter(&turns, anybody(1)).await.unwrap();
        assert_eq!(third.err().unwrap().reason(), ErrorReason::Overloaded);
    }

    #[tokio::test]
    async fn auditors_have_turns_where_players_have_taken_all_of_theirs() {
        let turns = AuditLimiter::new();
        let mut at_work = Vec::new();
        for number in 0..MAX_RUNNING {
            at_work.push(try_enter(&turns, player(number, None)).await.unwrap().unwrap());
        }
        let mut waiting: Vec<_> = (MAX_RUNNING..MAX_RUNNING + MAX_WAITING)
            .map(|number| Box::pin(turns.enter(player(number, None))))
            .collect();
        for one in &mut waiting {
            let entered = tokio::time::timeout(Duration::from_millis(1), pin!(one)).await;
            assert!(entered.is_err(), "it waits");
        }
        let busy = try_enter(&turns, player(1_000, None)).await.unwrap();
        assert_eq!(busy.err().unwrap().reason(), ErrorReason::Overloaded);
        for _ in 0..MAX_RUNNING_STAFF {
            at_work.push(try_enter(&turns, Caller::Staff).await.unwrap().unwrap());
        }
        assert!(try_enter(&turns, Caller::Staff).await.is_none(), "it waits its turn");
        drop((waiting, at_work));
        assert!(turns.open.0.lock().unwrap().is_empty());
    }

    #[test]
    fn whoever_calls_is_distinguished_by_role_and_address() {
        let mut request = Request::new(());
        request.extensions_mut().insert(CallerAddress(IpAddr::from([192, 0, 2, 1])));
        assert!(matches!(Caller::of(&request), Caller::Anybody { address: Some(_) }));
        for (role, staff) in [(Role::Operator, true), (Role::Auditor, true), (Role::Player, false)]
        {
            let subject = "somebody".to_owned();
            request.extensions_mut().insert(Identity::new(role, subject));
            match Caller::of(&request) {
                Caller::Staff => assert!(staff),
                Caller::Player { subject, address } => {
                    assert!(!staff && subject == "somebody" && address.is_some());
                }
                Caller::Anybody { .. } => panic!("who has a token is somebody"),
            }
        }
    }
}
