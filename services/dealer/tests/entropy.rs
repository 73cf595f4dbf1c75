//! A dealer whose entropy breaks: no seed is made of it, and hands with a seed go on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, Limits, Log, MemStore, Options, Position, Reader, Store, StreamId, UnixMicros,
};
use fairness::{
    ClientCommitment, ClosingRow, Entropy as SeatEntropy, OperationRequest, RowStatus,
    TranscriptRow,
};
use keyring::{Keyring, SecretStore};
use primitives::{PlayerId, RequestId, TableId};
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::{HandName, IndexedOperation, PerformCommand, SealInput};
use sabacc_dealer::{Dealer, DealerError, Dependencies};
use system::entropy::health::Unhealthy;
use system::entropy::{Entropy, EntropyError, Fault, Generator, SeededEntropy};
use tokio_util::sync::CancellationToken;
use wire::records::DealerRecord;
use zeroize::Zeroizing;

const RULES: [u8; 32] = [2; 32];

/// Entropy that is good until it breaks.
struct Breaking {
    good: SeededEntropy,
    broken: Mutex<Option<EntropyError>>,
}

impl Breaking {
    fn new(broken: Option<EntropyError>) -> Arc<Breaking> {
        Arc::new(Breaking { good: SeededEntropy::new(1), broken: Mutex::new(broken) })
    }

    fn set_broken(&self, broken: Option<EntropyError>) {
        *self.broken.lock().expect("no test panics with it") = broken;
    }
}

impl Entropy for Breaking {
    fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        self.test()?;
        self.good.try_fill(out)
    }

    fn test(&self) -> Result<(), EntropyError> {
        self.broken.lock().expect("no test panics with it").map_or(Ok(()), Err)
    }
}

/// Every failure that entropy can have, with its numbers in the log.
fn failures() -> Vec<(EntropyError, (i32, i32))> {
    let faults = [
        (Fault::NoBytes, 1),
        (Fault::Unhealthy(Unhealthy::Stuck { cutoff: 9 }), 2),
        (Fault::Unhealthy(Unhealthy::Preferred { cutoff: 71 }), 3),
        (Fault::Unhealthy(Unhealthy::Repeated), 4),
    ];
    let of = |generator, number| {
        faults.map(|(fault, at)| (EntropyError { generator, fault }, (number, at)))
    };
    [of(Generator::OperatingSystem, 1), of(Generator::Process, 2)].concat()
}

fn dealer(entropy: Arc<Breaking>, seeds: SecretStore) -> Result<Dealer, EntropyError> {
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
async fn serve_log(dealer: &Dealer) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = MemStore::new();
    let served = Arc::clone(&store);
    let open = move || {
        let options = Options {
            name: "dealer/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(|| UnixMicros(1)),
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: Limits::default(),
        };
        Log::open_when_free(Arc::clone(&store), options, |_| {})
    };
    tokio::spawn(sabacc_dealer::maintain_log(dealer.clone(), open, CancellationToken::new()));
    dealer.serves().wait_for(|serves| *serves).await.expect("the log is free");
    served
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
    for (failure, _) in failures() {
        let started = dealer(Breaking::new(Some(failure)), SecretStore::memory());
        assert_eq!(started.err(), Some(failure));
    }
    assert!(dealer(Breaking::new(None), SecretStore::memory()).is_ok());
}

/// fairness/SPEC.md §13.1.
#[tokio::test]
async fn no_seed_is_made_of_broken_entropy_and_committed_hands_go_on() {
    for (failure, _) in failures() {
        let (entropy, seeds) = (Breaking::new(None), SecretStore::memory());
        let dealer = dealer(Arc::clone(&entropy), seeds.clone()).expect("it is healthy so far");
        serve_log(&dealer).await;
        dealer.commit(call(1), hand(1), RULES, None).await.expect("it is healthy so far");

        entropy.set_broken(Some(failure));
        let refused = dealer.commit(call(2), hand(2), RULES, None).await;
        assert!(matches!(refused, Err(DealerError::Entropy(it)) if it == failure), "{refused:?}");
        entropy.set_broken(None);
        let refused = dealer.commit(call(4), hand(2), RULES, None).await;
        assert!(matches!(refused, Err(DealerError::Entropy(it)) if it == failure), "{refused:?}");
        assert_eq!(seeds.get(hand(2).id().0).await.expect("memory works"), None);

        dealer.commit(call(5), hand(1), RULES, None).await.expect("it is committed");
        let absent = TranscriptRow {
            seat: 1,
            player: PlayerId([5; 16]),
            status: RowStatus::Absent,
            commitment: ClientCommitment([0; 32]),
            entropy: SeatEntropy([0; 32]),
        };
        let row = ClosingRow { seat: 1, player: PlayerId([5; 16]), commitment: None };
        dealer.close(call(16), hand(1), vec![row]).await.expect("it is committed");
        let sealing = SealInput { rows: vec![absent] };
        dealer.seal(call(6), hand(1), sealing).await.expect("it is committed");
        let roll =
            IndexedOperation { index: 0, request: OperationRequest::Roll { sides: vec![6, 6] } };
        let asked = PerformCommand { operations: vec![roll], card_reveals: vec![] };
        dealer.perform(call(7), hand(1), asked).await.expect("it is sealed");
        dealer.reveal(call(8), hand(1), false).await.expect("it is sealed");
    }
}

#[tokio::test]
async fn a_failure_is_found_without_a_hand_and_reported_in_words() {
    let entropy = Breaking::new(None);
    let dealer = dealer(Arc::clone(&entropy), SecretStore::memory()).expect("it is healthy so far");
    serve_log(&dealer).await;
    assert_eq!(dealer.test_entropy(), Ok(()));
    let (failure, _) = failures()[1];
    entropy.set_broken(Some(failure));
    assert_eq!(dealer.test_entropy(), Err(failure));

    let problem = dealer.commit(call(1), hand(1), RULES, None).await.expect_err("it is broken");
    let status = tonic::Status::from(problem);
    assert_eq!(status.code(), tonic::Code::Unavailable);
    let words = "the operating system's generator fails its health test: one byte came 9 times";
    assert!(status.message().contains(words), "{status}");
}

/// fairness/SPEC.md §13.1.
#[tokio::test(start_paused = true)]
async fn a_failure_is_one_event_of_the_dealers_log() {
    for (failure, numbers) in failures() {
        let entropy = Breaking::new(None);
        let dealer = dealer(Arc::clone(&entropy), SecretStore::memory()).expect("it is healthy");
        let recorded = tokio::spawn(dealer.record_entropy_failure());
        let store = serve_log(&dealer).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(!recorded.is_finished());
        entropy.set_broken(Some(failure));
        dealer.test_entropy().unwrap_err();
        recorded.await.unwrap();
        dealer.test_entropy().unwrap_err();
        let reader = Reader::new(store, "dealer/0");
        let events = reader.read(Position(0), 10).await.unwrap();
        let [event] = &events[..] else { panic!("{} events", events.len()) };
        assert_eq!(event.stream, StreamId::CHANCE);
        let DealerRecord::EntropyFailed(failed) = DealerRecord::try_from(event).unwrap() else {
            panic!("another event")
        };
        assert_eq!((failed.generator, failed.fault), numbers);
    }
}
