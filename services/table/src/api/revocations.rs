//! gRPC API of revoked tokens, for the service that lets callers in.
//!
//! Each message says that nothing else is on record: before a quiet message this process makes sure
//! that it still owns the log. Where it does not, the stream ends, and its reader knows that it
//! receives nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use proto::table::v1 as pb;
use proto::table::v1::revocation_service_server::{RevocationService, RevocationServiceServer};
use system::clock::Clock as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use wire::status;
use wire::time::timestamp;

use super::watch_stream::CLOCK;
use crate::people::People;
use crate::people::guests::RevocationPage;
use crate::people::sign_ins::{Revocation, RevokedTokens};
use crate::registry::TableRegistry;

/// Longest time between two messages.
const INTERVAL: Duration = Duration::from_secs(5);
/// Revocations of one message.
const MAX_REVOCATIONS: usize = 500;

/// `RevocationService` over the registry that this process owns at the moment.
pub(crate) struct RevocationsApi {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    stopping: CancellationToken,
}

impl RevocationsApi {
    #[must_use]
    pub(crate) fn service(
        registry: watch::Receiver<Option<Arc<TableRegistry>>>,
        stopping: CancellationToken,
    ) -> RevocationServiceServer<RevocationsApi> {
        RevocationServiceServer::new(RevocationsApi { registry, stopping })
    }
}

/// State of a stream.
struct Follower {
    people: Arc<People>,
    revoked: watch::Receiver<u64>,
    /// Number of the next revocation to be sent.
    next: u64,
    is_first: bool,
    stopping: CancellationToken,
}

impl Follower {
    fn page(&self) -> RevocationPage {
        self.people.revocations_from(self.next, CLOCK.now(), MAX_REVOCATIONS)
    }

    /// The next message; `None` where the stream ends.
    async fn next(&mut self) -> Option<pb::FollowRevocationsResponse> {
        let is_quiet = self.page().revocations.is_empty();
        if is_quiet && !self.is_first {
            tokio::select! {
                () = self.stopping.cancelled() => return None,
                changed = self.revoked.changed() => changed.ok()?,
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
        self.is_first = false;
        // Before the records are read: what another owner has recorded is not among them.
        if !self.people.owns_log().await {
            return None;
        }
        let page = self.page();
        self.next = page.next;
        let revocations = page.revocations.into_iter().map(message).collect();
        Some(pb::FollowRevocationsResponse { revocations, more: page.more })
    }
}

fn message(revocation: Revocation) -> pb::Revocation {
    let Revocation { tokens, forgotten_at } = revocation;
    let (tokens, until) = match tokens {
        RevokedTokens::Id(id) => (pb::revocation::Tokens::TokenId(id), None),
        RevokedTokens::Subject { subject, issued_until } => {
            (pb::revocation::Tokens::Subject(subject), Some(timestamp(issued_until)))
        }
    };
    pb::Revocation {
        tokens: Some(tokens),
        issued_until_time: until,
        forget_time: Some(timestamp(forgotten_at)),
    }
}

#[tonic::async_trait]
impl RevocationService for RevocationsApi {
    type FollowRevocationsStream =
        Pin<Box<dyn Stream<Item = Result<pb::FollowRevocationsResponse, Status>> + Send>>;

    async fn follow_revocations(
        &self,
        _: Request<pb::FollowRevocationsRequest>,
    ) -> Result<Response<Self::FollowRevocationsStream>, Status> {
        let registry = self.registry.borrow().clone();
        let registry =
            registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))?;
        let people = Arc::clone(registry.people());
        let revoked = people.revoked();
        let stopping = self.stopping.clone();
        let follower = Follower { people, revoked, next: 0, is_first: true, stopping };
        let stream = futures_util::stream::unfold(follower, |mut follower| async move {
            let message = follower.next().await?;
            Some((Ok(message), follower))
        });
        Ok(Response::new(Box::pin(stream)))
    }
}
