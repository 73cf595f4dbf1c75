//! A dealer whose clock is set: on record, in no hand's stream.

use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, Limits, Log, MemStore, Options, Position, Reader, Store, StreamId, UnixMicros,
};
use keyring::{Keyring, SecretStore};
use primitives::{RequestId, TableId};
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::HandName;
use sabacc_dealer::{Dealer, Dependencies, maintain_log};
use system::clock::{Clock as _, ManualClock};
use system::entropy::SeededEntropy;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

const NAME: HandName = HandName { table: TableId([1; 16]), number: 1 };
const HOUR: i64 = 3_600_000_000;

fn dealer(seeds: &SecretStore) -> Dealer {
    Dealer::try_new(Dependencies {
        seeds: seeds.clone(),
        keyring: Keyring::new(&Zeroizing::new([3; 32]), &[]),
        entropy: Arc::new(SeededEntropy::new(1)),
        key: SigningKey::from_bytes(&[4; 32]),
        origin: "test/dealer".into(),
        max_cached_hands: 2,
    })
    .expect("the entropy is healthy")
}

/// Deals on the log in `store` until the token is cancelled, and records its clock.
fn sit(dealer: &Dealer, store: &Arc<MemStore>, clock: &Arc<ManualClock>) -> CancellationToken {
    let (store, time) = (Arc::clone(store), Arc::clone(clock));
    let open = move || {
        let time = Arc::clone(&time);
        let options = Options {
            name: "dealer/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(move || time.now()),
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: Limits { store_timeout: Duration::from_millis(100), ..Limits::default() },
        };
        Log::open_when_free(Arc::clone(&store) as Arc<dyn Store>, options, |_| {})
    };
    let stopping = CancellationToken::new();
    let steps = dealer.record_steps(Arc::<ManualClock>::clone(clock));
    tokio::spawn(stopping.clone().run_until_cancelled_owned(steps));
    tokio::spawn(maintain_log(dealer.clone(), open, stopping.clone()));
    stopping
}

fn call(id: u8) -> RequestMetadata {
    let actor = "service:table".into();
    RequestMetadata { id: RequestId([id; 16]), digest: [id; 32], actor, trace: [0; 16] }
}

/// Steps on record, and how many events there are.
async fn recorded(store: &Arc<MemStore>) -> (Vec<i64>, usize) {
    let reader = Reader::new(Arc::clone(store) as Arc<dyn Store>, "dealer/0");
    let events = reader.read(Position(0), 1000).await.expect("the store works");
    let steps = events.iter().filter(|event| event.stream == StreamId::CLOCK).map(|event| {
        assert_eq!(&*event.actor, "service:dealer");
        wire::clock::parse(event).expect("a step").expect("a step").micros()
    });
    (steps.collect(), events.len())
}

/// Seconds by the dealer's clock, while the runtime's own is paused.
async fn pass(clock: &ManualClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(Duration::from_secs(1));
        sleep(Duration::from_millis(600)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_of_the_dealers_clock_is_one_event_also_where_the_log_was_away() {
    let (seeds, store) = (SecretStore::memory(), MemStore::new());
    let clock = Arc::new(ManualClock::new(UnixMicros(1_700_000_000_000_000)));
    let first = dealer(&seeds);
    let sitting = sit(&first, &store, &clock);
    pass(&clock, 1).await;
    let committed = first.commit(call(1), NAME, [2; 32], None).await.expect("a new hand");
    clock.step(-HOUR);
    pass(&clock, 5).await;
    assert_eq!(recorded(&store).await, (vec![-HOUR], 2));

    // And in an outage.
    store.set_down(true);
    clock.step(2 * HOUR);
    pass(&clock, 20).await;
    store.set_down(false);
    pass(&clock, 20).await;
    assert_eq!(recorded(&store).await, (vec![-HOUR, 2 * HOUR], 3));

    sitting.cancel();
    let next = dealer(&seeds);
    let sitting = sit(&next, &store, &clock);
    pass(&clock, 10).await;
    let again = next.commit(call(1), NAME, [2; 32], None).await.expect("it was committed");
    assert_eq!(again.commitment, committed.commitment);
    assert_eq!(recorded(&store).await.1, 3, "a step from before is nothing new");
    sitting.cancel();
}
