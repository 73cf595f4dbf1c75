//! Follows the revoked tokens that the table service records, for the guard of the public port.
//!
//! While nothing is received, the guard lets no guest in. A stream that is broken, or silent for longer
//! than it may be, is opened again; it begins with everything that is still of use.
//!
//! Specification: ARCHITECTURE.md §6.5.

use std::time::Duration;

use chassis::auth::{Revocation, Revocations, RevokedTokens, ServiceToken};
use chassis::channel::{self, CredentialInterceptor, PeerChannel};
use chassis::config::ServiceConfig;
use chassis::serve::Condition;
use proto::table::v1 as pb;
use proto::table::v1::revocation_service_client::RevocationServiceClient;
use tokio::time::Instant;
use tonic::Status;
use transport::ChannelError;
use wire::status::unavailable;
use wire::time::instant;

/// Longest silence of a stream: it says something every five seconds.
const MAX_SILENCE: Duration = Duration::from_secs(12);
/// Silence that is worth a warning. A table service that starts is silent for a while.
const QUIET: Duration = Duration::from_secs(15);
/// Pause before a broken stream is opened again, and before one that never was.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
const FIRST_RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Client of the table's revocations, in this gateway's own name.
///
/// # Errors
/// The table's address or certificate cannot be used.
pub(crate) fn client(
    table: &http::Uri,
    config: &ServiceConfig,
    token: ServiceToken,
) -> Result<RevocationServiceClient<PeerChannel>, ChannelError> {
    let credential = CredentialInterceptor::OwnToken(token);
    let channel = channel::connect_lazy(table, config.peers.tls.as_ref(), credential)?;
    Ok(RevocationServiceClient::new(channel))
}

/// What is received of the stream.
struct Received {
    revocations: Revocations,
    /// Time at which the stream was known to be whole last.
    at: Instant,
    /// Whether it ever was. A gateway is not ready before that, nor before [`QUIET`] has passed: who
    /// sees it ready may be a guest.
    ever: bool,
    ready: Condition,
}

impl Received {
    fn is_whole(&mut self) {
        self.revocations.note_current();
        self.ready.set_met();
        (self.at, self.ever) = (Instant::now(), true);
    }
}

/// Follows the revocations for ever. The condition `ready` is met once they were received, or are not
/// for long.
pub(crate) async fn follow(
    mut table: RevocationServiceClient<PeerChannel>,
    revocations: Revocations,
    ready: Condition,
) {
    let mut received = Received { revocations, at: Instant::now(), ever: false, ready };
    loop {
        let followed = follow_once(&mut table, &mut received).await;
        let is_quiet = received.at.elapsed() >= QUIET;
        if is_quiet {
            received.ready.set_met();
        }
        match followed {
            Err(status) if is_quiet => tracing::warn!(
                runbook = "deploy/README.md, A service does not answer",
                %status,
                "revocations of tokens are not heard: soon no guest is let in"
            ),
            Ok(()) | Err(_) => tracing::debug!("revocations of tokens are followed anew"),
        }
        let starts = !received.ever && !is_quiet;
        tokio::time::sleep(if starts { FIRST_RETRY_PAUSE } else { RETRY_PAUSE }).await;
    }
}

/// Follows one stream to its end.
async fn follow_once(
    table: &mut RevocationServiceClient<PeerChannel>,
    received: &mut Received,
) -> Result<(), Status> {
    let silent = |_| Status::from(unavailable("the table service has said nothing for too long"));
    let request = pb::FollowRevocationsRequest {};
    let opened = tokio::time::timeout(MAX_SILENCE, table.follow_revocations(request));
    let mut stream = opened.await.map_err(silent)??.into_inner();
    loop {
        let next = tokio::time::timeout(MAX_SILENCE, stream.message()).await.map_err(silent)??;
        let Some(pb::FollowRevocationsResponse { revocations: new, more }) = next else {
            return Ok(());
        };
        if !new.is_empty() {
            received.revocations.add(new.into_iter().filter_map(parse));
        }
        if !more {
            received.is_whole();
        }
    }
}

/// Revocation of a message; `None` for one of a kind that is not known here.
fn parse(message: pb::Revocation) -> Option<Revocation> {
    let pb::Revocation { tokens, issued_until_time, forget_time } = message;
    let forgotten_at = instant(forget_time?)?;
    let tokens = match tokens? {
        pb::revocation::Tokens::TokenId(id) => RevokedTokens::Id(id),
        pb::revocation::Tokens::Subject(subject) => {
            RevokedTokens::Subject { subject, issued_until: instant(issued_until_time?)? }
        }
    };
    Some(Revocation { tokens, forgotten_at })
}

#[cfg(test)]
mod tests;
