//! `sabacc.audit.v1.AuditService`: hands that have ended or are suspended, collected from the three
//! logs and audited.
//!
//! The records are read in the gateway's own name, since a log shows its payloads to services and
//! auditors alone. So the gateway decides what a caller may see: nothing of a hand in play,
//! everything but its secrets of one that has ended or is suspended, everything once its seed is
//! open. For that it needs a key of its own (`signing_key`), whose tokens the services accept for
//! the role of an auditor alone, and the address of every service. Without them this service
//! refuses its calls, and the other services work.
//!
//! The public events of the table's and the dealer's log are here for subscribers too (`feed`).
//!
//! An audit reads three logs, so it costs its caller more than another call (an option of the
//! method says how much), few run at once (`limiter`), and a hand that passed is cached.
//!
//! Specification: services/gateway/README.md "Calls of its own: audits".

mod cache;
mod collect;
mod feed;
mod histories;
mod limiter;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use audit::bundle::{Bundle, TrustedKeys};
use audit::hand::{self, Report};
use audit::{Checked, Verdict};
use chassis::auth::{Identity, ServiceToken};
use chassis::channel::{self, CredentialInterceptor, PeerChannel};
use chassis::config::ServiceConfig;
use primitives::TableId;
use prost::Message as _;
use proto::audit::v1 as pb;
use proto::audit::v1::audit_service_server::{AuditService, AuditServiceServer};
use proto::audit::v1::log_service_client::LogServiceClient;
use proto::common::v1::ErrorReason;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use wire::field::{self, BadField};
use wire::status::{ApiRefusal, api_refusal};

use crate::StartError;
use cache::{AuditCache, AuditedHand, HandKey};
use collect::{CollectedBundle, Logs};
use feed::Feed;
use histories::Histories;
use limiter::{AuditLimiter, Caller};

/// Name under which the gateway calls other services.
const SERVICE: &str = "gateway";
/// Longest answer of a log, in bytes: the records of a hand are longer than a message of a player
/// may be.
const MAX_RECORDS_BYTES: usize = 8 << 20;

/// Handler of audits. It has no logs if it cannot reach them.
#[derive(Clone)]
pub(crate) struct Audits {
    logs: Option<Logs>,
    shared: Arc<Shared>,
}

struct Shared {
    limiter: AuditLimiter,
    cache: AuditCache,
    /// Public events, by the names of their logs.
    feeds: BTreeMap<&'static str, Arc<Feed>>,
    /// Cancelled when streams have to end.
    stopping: CancellationToken,
}

/// Bundle of a hand, and the logs of whose witnesses none had signed in time.
pub(crate) struct PublicBundle {
    pub(crate) bundle: Vec<u8>,
    pub(crate) uncosigned: Vec<String>,
}

/// Bundle of a hand, and the SHA-256 of its contents, which is its name.
pub(crate) struct NamedBundle {
    pub(crate) bundle: Vec<u8>,
    pub(crate) sha256: Vec<u8>,
}

impl Audits {
    /// Creates the handler from the gateway's configuration.
    ///
    /// # Errors
    /// A peer's address or certificate cannot be used.
    pub(crate) fn new(
        config: &ServiceConfig,
        stopping: CancellationToken,
    ) -> Result<Audits, StartError> {
        let logs = logs(config)?;
        if logs.is_none() {
            tracing::warn!(
                "audits of hands are not served: set SABACC_SIGNING_KEY and the address of every service"
            );
        }
        let feeds = logs.iter().flat_map(|Logs { table, dealer, wallet: _ }| {
            [("table", table), ("dealer", dealer)]
                .map(|(log, service)| (log, Arc::new(Feed::new(log, service.clone()))))
        });
        let shared = Shared::new(feeds.collect(), stopping);
        Ok(Audits { logs, shared: Arc::new(shared) })
    }

    /// Returns the gRPC service.
    pub(crate) fn service(&self, longest: usize) -> AuditServiceServer<Audits> {
        AuditServiceServer::new(self.clone()).max_decoding_message_size(longest)
    }

    /// Returns the bundle of a hand for a reader without a token.
    pub(crate) async fn public_bundle(
        &self,
        table: TableId,
        hand_no: u64,
        address: Option<IpAddr>,
    ) -> Result<PublicBundle, Status> {
        let audited = self.audited(table, hand_no, Caller::Anybody { address }).await?;
        let (bundle, uncosigned) = (audited.bundle.clone(), audited.uncosigned.clone());
        Ok(PublicBundle { bundle, uncosigned })
    }

    /// Returns the bundle of a hand with its name, for the caller of another method.
    pub(crate) async fn named_bundle(
        &self,
        table: TableId,
        hand_no: u64,
        call: &Request<()>,
    ) -> Result<NamedBundle, Status> {
        let audited = self.audited(table, hand_no, Caller::of(call)).await?;
        let bundle = audited.bundle.clone();
        let unnamed = |_| api_refusal(ErrorReason::Corrupt, "the bundle is none");
        let pb::HandBundle { contents: _, sha256 } =
            pb::HandBundle::decode(&bundle[..]).map_err(unnamed)?;
        Ok(NamedBundle { bundle, sha256 })
    }

    /// Creates a handler that cannot reach the logs.
    #[cfg(test)]
    pub(crate) fn without_logs() -> Audits {
        let shared = Shared::new(BTreeMap::new(), CancellationToken::new());
        Audits { logs: None, shared: Arc::new(shared) }
    }

    /// Returns the public keys that the logs are signed with now, one a line: table, dealer, wallet.
    pub(crate) async fn public_keys(&self) -> Result<String, Status> {
        let mut logs = self.logs.clone().ok_or_else(no_logs)?;
        let mut keys = String::new();
        for (name, log) in
            [("table", &mut logs.table), ("dealer", &mut logs.dealer), ("wallet", &mut logs.wallet)]
        {
            let request = pb::GetCheckpointRequest { log: name.to_owned() };
            let key = log.get_checkpoint(request).await?.into_inner().key;
            keys.push_str(&format!("{key}\n"));
        }
        Ok(keys)
    }
}

impl Shared {
    fn new(feeds: BTreeMap<&'static str, Arc<Feed>>, stopping: CancellationToken) -> Shared {
        let (limiter, cache) = (AuditLimiter::new(), AuditCache::default());
        Shared { limiter, cache, feeds, stopping }
    }
}

fn no_logs() -> ApiRefusal {
    let words = "this gateway cannot read the logs: its operator sets signing_key and the address \
                 of every service";
    api_refusal(ErrorReason::NoSuchMethod, words)
}

/// Returns the gateway's own token; `None` if it has no key.
pub(crate) fn own_token(config: &ServiceConfig) -> Option<ServiceToken> {
    let issuer = config.auth.signing.clone()?;
    let clock = Arc::new(SystemClock::new());
    Some(ServiceToken::for_auditor(issuer, SERVICE, clock, Arc::new(SystemEntropy)))
}

/// Returns clients of the three logs. `None` if the gateway has no key or lacks the address of a
/// service.
fn logs(config: &ServiceConfig) -> Result<Option<Logs>, StartError> {
    let peers = &config.peers;
    let Some(token) = own_token(config) else { return Ok(None) };
    let (Some(table), Some(dealer), Some(wallet)) = (&peers.table, &peers.dealer, &peers.wallet)
    else {
        return Ok(None);
    };
    let to = |uri| -> Result<LogServiceClient<PeerChannel>, StartError> {
        let channel = channel::connect_lazy(
            uri,
            peers.tls.as_ref(),
            CredentialInterceptor::OwnToken(token.clone()),
        )?;
        Ok(LogServiceClient::new(channel).max_decoding_message_size(MAX_RECORDS_BYTES))
    };
    Ok(Some(Logs { table: to(table)?, dealer: to(dealer)?, wallet: to(wallet)? }))
}

#[tonic::async_trait]
impl AuditService for Audits {
    async fn get_hand_bundle(
        &self,
        request: Request<pb::GetHandBundleRequest>,
    ) -> Result<Response<pb::GetHandBundleResponse>, Status> {
        let caller = Caller::of(&request);
        let pb::GetHandBundleRequest { table_id, hand_no } = request.into_inner();
        let audited = self.audited(field::table_id(&table_id)?, hand_no, caller).await?;
        let (bundle, uncosigned) = (audited.bundle.clone(), audited.uncosigned.clone());
        Ok(Response::new(pb::GetHandBundleResponse { bundle, uncosigned }))
    }

    async fn get_hand(
        &self,
        request: Request<pb::GetHandRequest>,
    ) -> Result<Response<pb::GetHandResponse>, Status> {
        let viewer = Identity::of(&request).and_then(Identity::player);
        let caller = Caller::of(&request);
        let request = request.into_inner();
        let hand = self.hand_key(&request, &caller).await?;
        let audited = self.audited(hand.table, hand.hand_no, caller).await?;
        let viewer = viewer.filter(|_| !request.public_view);
        let viewed = audited.histories.as_ref().map_err(Clone::clone)?.history_for(viewer)?;
        Ok(Response::new(pb::GetHandResponse {
            table_id: hand.table.to_string(),
            hand_no: hand.hand_no,
            hand_id: audit::hand::hand_id(hand.table, hand.hand_no).to_string(),
            viewer_seat: viewed.viewer.map_or(0, |viewer| viewer.seat),
            history: Some(viewed.history.clone()),
            text: viewed.text.clone(),
            bundle: if request.with_bundle { audited.bundle.clone() } else { Vec::new() },
        }))
    }

    async fn audit_hand(
        &self,
        request: Request<pb::AuditHandRequest>,
    ) -> Result<Response<pb::AuditHandResponse>, Status> {
        let caller = Caller::of(&request);
        let pb::AuditHandRequest { table_id, hand_no } = request.into_inner();
        let audited = self.audited(field::table_id(&table_id)?, hand_no, caller).await?;
        Ok(Response::new(audited.response.clone()))
    }

    type SubscribeStream = feed::Messages;

    async fn subscribe(
        &self,
        request: Request<pb::SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let pb::SubscribeRequest { log, from_position } = request.into_inner();
        if !matches!(&*log, "table" | "dealer") {
            return Err(BadField::new("log", "write table or dealer").into());
        }
        let feed = self.shared.feeds.get(&*log).ok_or_else(no_logs)?;
        let subscription = feed.subscribe(from_position, self.shared.stopping.clone()).await?;
        Ok(Response::new(subscription.messages()))
    }
}

impl Audits {
    /// Returns the hand that a request names, by table and number or by id.
    async fn hand_key(
        &self,
        request: &pb::GetHandRequest,
        caller: &Caller,
    ) -> Result<HandKey, Status> {
        let pb::GetHandRequest { table_id, hand_no, hand_id, .. } = request;
        if hand_id.is_empty() {
            return Ok(HandKey { table: field::table_id(table_id)?, hand_no: *hand_no });
        }
        if !table_id.is_empty() || *hand_no != 0 {
            let problem = "in place of table_id and hand_no, not with them";
            return Err(wire::BadField::new("hand_id", problem).into());
        }
        let hand = field::id("hand_id", hand_id)?;
        if let Some(found) = self.shared.cache.find(hand) {
            return Ok(found);
        }
        let mut logs = self.logs.clone().ok_or_else(no_logs)?;
        let _permit = self.shared.limiter.enter(caller.clone()).await?;
        logs.hand_key(hand).await
    }

    /// Returns the audited records of a hand, from the cache if the hand passed before.
    async fn audited(
        &self,
        table: TableId,
        hand_no: u64,
        caller: Caller,
    ) -> Result<Arc<AuditedHand>, Status> {
        let Audits { logs, shared } = self;
        if let Some(kept) = shared.cache.get(HandKey { table, hand_no }) {
            return Ok(kept);
        }
        let logs = logs.clone().ok_or_else(no_logs)?;
        let permit = shared.limiter.enter(caller).await?;
        // An earlier caller may have audited this hand meanwhile.
        if let Some(kept) = shared.cache.get(HandKey { table, hand_no }) {
            return Ok(kept);
        }
        let bundle = logs.hand_bundle(table, hand_no).await?;
        let broken = |_| api_refusal(ErrorReason::Corrupt, "the audit of this hand broke down");
        // A caller who stops waiting does not stop the work, so the permit is held until it ends.
        let work = tokio::task::spawn_blocking(move || (audit(bundle), permit));
        let (audited, _turn) = work.await.map_err(broken)?;
        let audited = audited?;
        let audited = Arc::new(audited);
        // A hand that passed is complete and does not change; any other may still be completed, and
        // be signed by witnesses.
        if audited.response.passed && audited.uncosigned.is_empty() {
            shared.cache.put(HandKey { table, hand_no }, Arc::clone(&audited));
        }
        Ok(audited)
    }
}

fn audit(collected: CollectedBundle) -> Result<AuditedHand, ApiRefusal> {
    let CollectedBundle { bytes, uncosigned, progress } = collected;
    let bundle = Bundle::parse(&bytes).map_err(|error| {
        api_refusal(ErrorReason::Corrupt, format!("the logs' records make no bundle: {error}"))
    })?;
    // These keys come from the services that the gateway trusts, so they are trusted here. A caller
    // who trusts nobody checks the bundle with keys of their own.
    let keys = bundle.logs().map(|(_, log)| format!("{}\n", log.key)).concat();
    let trusted = TrustedKeys::parse(&keys).unwrap_or_default();
    let records = bundle.records(&trusted);
    let report = hand::audit(&records);
    let story = hand::story(&records, &report).into_iter().map(story_line).collect();
    let answer = audit_response(report, bundle.hand_id.to_string(), story);
    let histories = Histories::of(&records, progress);
    Ok(AuditedHand { bundle: bytes, uncosigned, response: answer, histories })
}

fn audit_response(
    report: Report,
    hand_id: String,
    story: Vec<pb::StoryLine>,
) -> pb::AuditHandResponse {
    let passed = report.passed();
    let Report { hand_id: _, verdict, sentences, checks, notes, .. } = report;
    let checks = checks.0.into_iter().map(hand_check).collect();
    let (verdict, sentences) = (hand_verdict(verdict).into(), sentences.into());
    pb::AuditHandResponse { hand_id, passed, checks, story, notes, verdict, sentences }
}

const fn hand_verdict(verdict: hand::HandVerdict) -> pb::HandVerdict {
    match verdict {
        hand::HandVerdict::Proved => pb::HandVerdict::Proved,
        hand::HandVerdict::BrokenOff => pb::HandVerdict::BrokenOff,
        hand::HandVerdict::NotFinished => pb::HandVerdict::NotFinished,
        hand::HandVerdict::Failed => pb::HandVerdict::Failed,
        hand::HandVerdict::Refused => pb::HandVerdict::Refused,
    }
}

fn hand_check(checked: Checked<hand::Check>) -> pb::HandCheck {
    let Checked { check, verdict } = checked;
    let (verdict, why) = match verdict {
        Verdict::Passed => (pb::CheckVerdict::Passed, String::new()),
        Verdict::Failed(why) => (pb::CheckVerdict::Failed, why),
        Verdict::NotPossible(why) => (pb::CheckVerdict::NotPossible, why),
    };
    pb::HandCheck {
        check: check.name().to_owned(),
        sentence: check.sentence().to_owned(),
        verdict: verdict.into(),
        why,
    }
}

fn story_line(line: hand::StoryLine) -> pb::StoryLine {
    let hand::StoryLine { when, who, what, record } = line;
    let (log, position) = record.unwrap_or_default();
    pb::StoryLine {
        record_time: when.map(wire::time::timestamp),
        who,
        what,
        log: log.to_owned(),
        position,
    }
}
