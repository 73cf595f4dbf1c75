//! The dealer as a process runs it: PostgreSQL, a port, tokens, and a restart in between.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::{IssuerKey, ServiceToken, TokenIssuer};
use chassis::channel::{self, CredentialInterceptor};
use chassis::config::{LogIdentity, Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::serve::{self, BoundPort};
use ed25519_dalek::SigningKey;
use keyring::{Key, KeyId, Keyring};
use proto::common::v1::{EntropyStatus, ErrorReason};
use proto::dealer::v1::dealer_service_client::DealerServiceClient;
use proto::dealer::v1::operation::Kind;
use proto::dealer::v1::{
    CloseRequest, ClosingRow, CommitRequest, EntropyRow, Handle, ListKeysRequest, Opening,
    OpeningReason, Operation, PerformRequest, PerformResponse, RevealRequest, SealRequest, Shuffle,
};
use sabacc_dealer::service::{self, Config, RunError};
use sqlx::PgPool;
use system::clock::SystemClock;
use system::entropy::{SeededEntropy, SystemEntropy};
use system::secret::Secret;
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_types::StatusExt as _;

/// A running dealer, and a caller of it.
struct Running {
    client: DealerServiceClient<Channel>,
    token: ServiceToken,
    drain: Drain,
    served: JoinHandle<Result<bool, RunError>>,
}

/// Starts a dealer. `keys` are the current key of seeds at rest, then previous ones.
async fn start(url: &str, keys: &[u8]) -> Running {
    let issuer = TokenIssuer::generate("test", &SeededEntropy::new(1));
    let source = Source::new("", "", BTreeMap::new()).expect("nothing is well formed");
    let mut service = ServiceConfig::parse(Service::Dealer, source).expect("all has defaults");
    service.auth.issuers = vec![IssuerKey::for_all_roles(issuer.public_key())];
    service.database_url = Some(Secret::new(url.to_owned()));
    service.allow_unsafe_database = true;
    let key = SigningKey::from_bytes(&[1; 32]);
    service.log = Some(LogIdentity { origin: "test/dealer".into(), key, previous: Vec::new() });
    let keys: Vec<Key> = keys.iter().map(|key| [*key; 32].into()).collect();
    let config = Config {
        service,
        seed_keys: Keyring::new(&keys[0], &keys[1..]),
        max_cached_hands: 10,
        fixed_seeds: None,
    };
    let bound: BoundPort =
        serve::bind("127.0.0.1:0".parse().expect("an address")).await.expect("a free port");
    let address = format!("http://{}", bound.address());
    let drain = Drain::new(Duration::from_secs(5));
    let served = tokio::spawn(service::run(config, bound, drain.clone(), false));
    let uri = address.parse().expect("an address is a URI");
    let channel =
        channel::connect_lazy(&uri, None, CredentialInterceptor::NoToken).expect("no certificates");
    while !served.is_finished() && channel::is_ready(&channel).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let client = DealerServiceClient::connect(address).await.expect("the port is bound");
    let clock = Arc::new(SystemClock::new());
    let token = ServiceToken::new(issuer, "table", clock, Arc::new(SystemEntropy));
    Running { client, token, drain, served }
}

impl Running {
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let bearer = format!("Bearer {}", self.token.current());
        request.metadata_mut().insert("authorization", bearer.parse().expect("ASCII"));
        request
    }

    async fn perform(&mut self, id: u8, asked: PerformRequest) -> Result<PerformResponse, Status> {
        let request = self.request(PerformRequest { request_id: vec![id; 16], ..asked });
        self.client.perform(request).await.map(tonic::Response::into_inner)
    }

    async fn stop(self) {
        let Running { client, token: _, drain, served } = self;
        drop(client);
        drain.begin();
        assert!(served.await.expect("no panic").expect("no fault"), "nobody was cut off");
    }
}

fn perform(operations: Vec<Kind>, openings: Vec<Opening>) -> PerformRequest {
    let operations = (0..).zip(operations);
    let operations = operations.map(|(index, kind)| Operation { index, kind: Some(kind) });
    PerformRequest {
        request_id: Vec::new(),
        table_id: vec![7; 16],
        hand_no: 1,
        operations: operations.collect(),
        openings,
    }
}

fn deal() -> PerformRequest {
    let shuffle = Shuffle { pile: 0, fresh: 76, first_fresh: 0, cards: vec![] };
    let opening = Opening {
        cards: vec![Handle { op: 0, position: 0 }, Handle { op: 0, position: 1 }],
        audience_seat: 1,
        reason: OpeningReason::Deal.into(),
    };
    perform(vec![Kind::Shuffle(shuffle)], vec![opening])
}

/// Waits until every seed is under key 3.
async fn until_resealed(url: &str) {
    let admin = PgPool::connect(url).await.expect("the database is there");
    let key = KeyId::of(&[3; 32].into());
    for _ in 0..500 {
        let left: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM dealer_vault.secret WHERE key_id IS DISTINCT FROM $1",
        )
        .bind(&key.0[..])
        .fetch_one(&admin)
        .await
        .expect("the table is there");
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the seeds stay under the old key");
}

/// Closes hand 1 of a table with one seat, which has not committed.
fn close(table_id: &[u8]) -> CloseRequest {
    CloseRequest {
        request_id: vec![11; 16],
        table_id: table_id.to_vec(),
        hand_no: 1,
        rows: vec![ClosingRow { seat: 1, player_id: vec![9; 16], commitment: Vec::new() }],
    }
}

/// Seals what [`close`] closes.
fn seal(table_id: &[u8]) -> SealRequest {
    let row = EntropyRow {
        seat: 1,
        player_id: vec![9; 16],
        status: EntropyStatus::Absent.into(),
        ..EntropyRow::default()
    };
    SealRequest {
        request_id: vec![2; 16],
        table_id: table_id.to_vec(),
        hand_no: 1,
        beacon: Vec::new(),
        rows: vec![row],
    }
}

#[tokio::test]
async fn a_hand_over_the_wire_and_over_a_restart() {
    let postgres = testkit::postgres().await.expect("a PostgreSQL");
    let url = postgres.database("dealer_serves").await.expect("a database");
    service::migrate(&url, None).await.expect("an empty database takes the schemas");
    let mut dealer = start(&url, &[2]).await;
    let (table_id, hand_no) = (vec![7; 16], 1);
    let commit = CommitRequest {
        request_id: vec![1; 16],
        table_id: table_id.clone(),
        hand_no,
        rules_hash: vec![8; 32],
        before: None,
    };
    let request = dealer.request(commit.clone());
    let committed = dealer.client.commit(request).await.expect("the log is ours").into_inner();
    let request = dealer.request(close(&table_id));
    dealer.client.close(request).await.expect("the hand is committed");
    let request = dealer.request(SealRequest { beacon: vec![1; 41], ..seal(&table_id) });
    let refused = dealer.client.seal(request).await.expect_err("no beacon is defined");
    assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::BadField));
    let request = dealer.request(seal(&table_id));
    dealer.client.seal(request).await.expect("the hand is closed, and nothing was sealed");
    let dealt = dealer.perform(3, deal()).await.expect("the hand is sealed");
    assert_eq!(dealt.results[0].values, [76]);
    assert_eq!(dealt.results[0].root.len(), 32);
    assert_eq!(dealt.opened[0].card_ids.len(), 2);
    assert_eq!(dealt.opened[0].proofs.len(), 2);
    assert!(dealt.opened[0].proofs.iter().all(|p| p.salt.len() == 32 && p.path.len() % 32 == 0));
    dealer.stop().await;

    // With another key for the seeds; the old one goes once nothing is under it.
    let dealer = start(&url, &[3, 2]).await;
    until_resealed(&url).await;
    dealer.stop().await;

    let mut dealer = start(&url, &[3]).await;
    let request = dealer.request(commit);
    let again = dealer.client.commit(request).await.expect("it was committed").into_inner();
    assert_eq!(again, committed);
    assert_eq!(dealer.perform(3, deal()).await.expect("it was dealt"), dealt);
    let gap = perform(vec![], vec![]);
    let refused = dealer.perform(4, gap).await.expect_err("nothing is asked for");
    assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::BadField));
    let shuffle = Shuffle { pile: 1, fresh: 76, first_fresh: 0, cards: vec![] };
    let other = perform(vec![Kind::Shuffle(shuffle)], vec![]);
    let refused = dealer.perform(5, other).await.expect_err("index 0 is used");
    assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::ChanceRefused));
    let reveal = RevealRequest { request_id: vec![6; 16], table_id, hand_no, discarded: false };
    let request = dealer.request(reveal.clone());
    let revealed = dealer.client.reveal(request).await.expect("a hand can end").into_inner();
    assert_eq!(revealed.seed.len(), 64);
    let otherwise = RevealRequest { request_id: vec![7; 16], discarded: true, ..reveal };
    let request = dealer.request(otherwise);
    let refused = dealer.client.reveal(request).await.expect_err("it was played");
    let why = refused.get_details_error_info().expect("a reason").metadata;
    assert_eq!(why.get("refusal").map(String::as_str), Some("REVEALED_OTHERWISE"));
    let request = dealer.request(ListKeysRequest {});
    let keys = dealer.client.list_keys(request).await.expect("it is allowed").into_inner();
    assert_eq!(keys.public_keys.len(), 1);
    let stranger = dealer.client.list_keys(ListKeysRequest {}).await.expect_err("no token");
    assert_eq!(wire::status::reason_of(&stranger), Some(ErrorReason::TokenMissing));
    dealer.stop().await;
}
