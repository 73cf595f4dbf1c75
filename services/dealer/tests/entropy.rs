//! A dealer whose entropy breaks: no seed is made of it, and hands with a seed go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::{Limits, Log, MemStore, Options, Store, UnixMicros};
use fairness::OperationRequest;
use fairness::health::Unhealthy;
use keyring::{Keyring, SecretStore};
use primitives::{RequestId, TableId};
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::{HandName, IndexedOperation, PerformCommand, SealInput};
use sabacc_dealer::{Dealer, DealerError, Dependencies};
use system::entropy::{Entropy, SeededEntropy};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

const RULES: [u8; 32] = [2; 32];

/// Entropy that is good until it breaks, and then repeats itself.
struct Breaking {
    good: SeededEntropy,
    broken: AtomicBool,
    /// Once broken it repeats one byte, or one block of good bytes.
    by_byte: bool,
}

impl Breaking {
    fn new(broken: bool, by_byte: bool) -> Arc<Breaking> {
        let good = SeededEntropy::new(1);
        Arc::new(Breaking { good, broken: AtomicBool::new(broken), by_byte })
    }

    fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }
}

impl Entropy for Breaking {
    fn fill(&self, out: &mut [u8]) {
        match (self.broken.load(Ordering::SeqCst), self.by_byte) {
            (false, _) => self.good.fill(out),
            (true, false) => SeededEntropy::new(2).fill(out),
            (true, true) => out.fill(0x5a),
        }
    }
}

fn dealer(entropy: Arc<Breaking>, seeds: SecretStore) -> Result<Dealer, Unhealthy> {
    Dealer::try_new(Dependencies {
        seeds,
        keyring: Keyring::new(&Zeroizing::new([3; 32]), &[]),
        entropy,
        key: SigningKey::from_bytes(&[4; 32]),
        origin: "test/dealer".into(),
        max_cached_hands: 2,
    })
}

/// Gives a dealer its log until the token is dropped with the test's runtime.
async fn serve_log(dealer: &Dealer) {
    let store: Arc<dyn Store> = MemStore::new();
    let open = move || {
        let options = Options {
            name: "dealer/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(|| UnixMicros(1)),
            salts: Arc::new(|| [7; 16]),
            limits: Limits::default(),
        };
        Log::open_when_free(Arc::clone(&store), options, |_| {})
    };
    tokio::spawn(sabacc_dealer::maintain_log(dealer.clone(), open, CancellationToken::new()));
    dealer.serves().wait_for(|serves| *serves).await.expect("the log is free");
}

fn hand(number: u64) -> HandName {
    HandName { table: TableId([1; 16]), number }
}

fn call(id: u8) -> RequestMetadata {
    let actor = "service:table".into();
    RequestMetadata { id: RequestId([id; 16]), digest: [id; 32], actor, trace: [0; 16] }
}

/// fairness/SPEC.md §13.1.
#[test]
fn a_dealer_does_not_start_on_broken_entropy() {
    let start = |by_byte| dealer(Breaking::new(true, by_byte), SecretStore::memory()).err();
    assert_eq!(start(true), Some(Unhealthy::Stuck { cutoff: 9 }));
    assert_eq!(start(false), Some(Unhealthy::Repeated));
    assert!(dealer(Breaking::new(false, true), SecretStore::memory()).is_ok());
}

/// fairness/SPEC.md §13.1.
#[tokio::test]
async fn no_seed_is_made_of_broken_entropy_and_committed_hands_go_on() {
    for by_byte in [true, false] {
        let (entropy, seeds) = (Breaking::new(false, by_byte), SecretStore::memory());
        let dealer = dealer(Arc::clone(&entropy), seeds.clone()).expect("it is healthy so far");
        serve_log(&dealer).await;
        dealer.commit(call(1), hand(1), RULES).await.expect("it is healthy so far");

        entropy.set_broken(true);
        let refused = dealer.commit(call(2), hand(2), RULES).await;
        assert!(matches!(refused, Err(DealerError::Entropy(_))), "{refused:?}");
        entropy.set_broken(false);
        let refused = dealer.commit(call(4), hand(4), RULES).await;
        assert!(
            matches!(refused, Err(DealerError::Entropy(_))),
            "once broken, broken: {refused:?}"
        );
        for number in [2, 4] {
            assert_eq!(seeds.get(hand(number).id().0).await.expect("memory works"), None);
        }

        dealer.commit(call(5), hand(1), RULES).await.expect("it is committed");
        let sealing = SealInput { beacon: None, rows: vec![] };
        dealer.seal(call(6), hand(1), sealing).await.expect("it is committed");
        let roll =
            IndexedOperation { index: 0, request: OperationRequest::Roll { sides: vec![6, 6] } };
        let asked = PerformCommand { operations: vec![roll], card_reveals: vec![] };
        dealer.perform(call(7), hand(1), asked).await.expect("it is sealed");
        dealer.reveal(call(8), hand(1), false).await.expect("it is sealed");
    }
}

#[tokio::test]
async fn a_failure_is_found_without_a_hand_and_told_in_words() {
    let entropy = Breaking::new(false, true);
    let dealer = dealer(Arc::clone(&entropy), SecretStore::memory()).expect("it is healthy so far");
    serve_log(&dealer).await;
    assert_eq!(dealer.test_entropy(), Ok(()));
    entropy.set_broken(true);
    assert_eq!(dealer.test_entropy(), Err(Unhealthy::Stuck { cutoff: 9 }));

    let problem = dealer.commit(call(1), hand(1), RULES).await.expect_err("it is broken");
    let status = tonic::Status::from(problem);
    assert_eq!(status.code(), tonic::Code::Unavailable);
    assert!(status.message().contains("entropy fails its health test"), "{status}");
}
