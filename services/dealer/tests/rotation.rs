//! Rotation of the key of seeds at rest: after it every seed is under the new key, whatever happens
//! in between, and every hand goes on.

use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::{Authenticator, Limits, Log, MemStore, Options, Store, UnixMicros};
use fairness::{
    ClientCommitment, ClosingRow, Commitment, Context, Entropy, OperationRequest, RowStatus, Seed,
    ShuffleInput, TranscriptRow,
};
use keyring::{Key, KeyId, Keyring, RotationPass, SecretStore};
use primitives::{HandId, PlayerId, RequestId, TableId};
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::{HandName, IndexedOperation, PerformCommand, SealInput};
use sabacc_dealer::seeds::SeedLabel;
use sabacc_dealer::{Dealer, DealerError, Dependencies};
use system::entropy::SeededEntropy;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

const NAME: HandName = HandName { table: TableId([1; 16]), number: 1 };

fn key(byte: u8) -> Key {
    Zeroizing::new([byte; 32])
}

fn dealer(seeds: &SecretStore, current: u8, previous: &[u8]) -> Dealer {
    let previous: Vec<Key> = previous.iter().map(|byte| key(*byte)).collect();
    Dealer::try_new(Dependencies {
        seeds: seeds.clone(),
        keyring: Keyring::new(&key(current), &previous),
        entropy: Arc::new(SeededEntropy::new(u64::from(current))),
        key: SigningKey::from_bytes(&[4; 32]),
        origin: "test/dealer".into(),
        max_cached_hands: 2,
    })
    .expect("the entropy is healthy")
}

/// Stores a hand's seed under the key of this byte.
async fn store_seed(seeds: &SecretStore, number: u16, under: u8) -> HandId {
    let [high, low] = number.to_be_bytes();
    let mut hand = HandId([0; 16]);
    (hand.0[0], hand.0[1]) = (high, low);
    let (context, seed) = (Context([low; 32]), Seed::new(Zeroizing::new([high ^ low; 64])));
    let commitment = Commitment::new(&context, &seed);
    let label = SeedLabel { context, commitment }.bytes();
    let sealed = Keyring::new(&key(under), &[]).seal(hand.0, &label, seed.expose(), [low; 24]);
    seeds.insert_if_absent(sealed).await.expect("memory works");
    hand
}

fn id(byte: u8) -> KeyId {
    KeyId::of(&key(byte))
}

/// Number of `hands` whose seeds are under the key of this byte, and open under it.
async fn under(seeds: &SecretStore, hands: &[HandId], byte: u8) -> usize {
    let keyring = Keyring::new(&key(byte), &[]);
    let mut count = 0;
    for hand in hands {
        let kept = seeds.get(hand.0).await.expect("memory works").expect("no seed is lost");
        if kept.key == id(byte) {
            let seed = Seed::new(keyring.open(&kept).expect("its key"));
            let label = SeedLabel::parse(&kept.label).expect("it has its length");
            assert!(label.commitment.opens(&label.context, &seed));
            count += 1;
        }
    }
    count
}

#[tokio::test(start_paused = true)]
async fn all_seeds_end_under_the_new_key_wherever_the_dealer_dies() {
    let seeds = SecretStore::memory();
    let mut hands = Vec::new();
    for number in 0..450 {
        hands.push(store_seed(&seeds, number, if number % 3 == 0 { 2 } else { 1 }).await);
    }
    let mut before = under(&seeds, &hands, 9).await;
    let mut deaths = 0;
    // A hundred are done before the first pause.
    loop {
        let dying = dealer(&seeds, 9, &[2, 1]);
        let cut = tokio::time::timeout(Duration::from_millis(1), dying.reseal()).await;
        let done = under(&seeds, &hands, 9).await;
        if cut.is_ok() {
            break;
        }
        assert!(done > before, "each life gets on");
        (before, deaths) = (done, deaths + 1);
    }
    assert!(deaths > 2, "it died {deaths} times");
    assert_eq!(under(&seeds, &hands, 9).await, 450);
    let last = dealer(&seeds, 9, &[2, 1]).reseal().await.expect("memory works");
    assert!(last.is_done() && last == RotationPass::default());
}

#[tokio::test(start_paused = true)]
async fn what_is_under_a_key_that_is_not_here_stays_and_is_reported_by_name() {
    let seeds = SecretStore::memory();
    let (mine, other) = (store_seed(&seeds, 1, 1).await, store_seed(&seeds, 2, 7).await);
    let damaged = store_seed(&seeds, 3, 1).await;
    let broken = SecretStore::memory();
    for hand in [mine, other, damaged] {
        let mut kept = seeds.get(hand.0).await.expect("memory works").expect("it was kept");
        if hand == damaged {
            kept.sealed[3] ^= 1;
        }
        broken.insert_if_absent(kept).await.expect("memory works");
    }
    let pass = dealer(&broken, 9, &[1]).reseal().await.expect("memory works");
    let unknown = [(id(7), 1)].into();
    assert_eq!(pass, RotationPass { resealed: 1, unknown, corrupt: 1 });
    assert!(pass.to_string().contains(&id(7).to_string()), "{pass}");
    assert_eq!(under(&broken, &[mine], 9).await, 1);
    assert_eq!(under(&broken, &[other], 7).await, 1);
}

/// Gives a dealer the log in `store` until the token is cancelled.
async fn serve_log(dealer: &Dealer, store: &Arc<MemStore>) -> CancellationToken {
    let store = Arc::clone(store);
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
        Log::open_when_free(Arc::clone(&store) as Arc<dyn Store>, options, |_| {})
    };
    let stopping = CancellationToken::new();
    tokio::spawn(sabacc_dealer::maintain_log(dealer.clone(), open, stopping.clone()));
    dealer.serves().wait_for(|serves| *serves).await.expect("the log is free");
    stopping
}

fn call(id: u8) -> RequestMetadata {
    let actor = "service:table".into();
    RequestMetadata { id: RequestId([id; 16]), digest: [id; 32], actor, trace: [0; 16] }
}

/// Hands that were committed under the old key are dealt under the new one. A dealer without the
/// old key names the one it misses.
#[tokio::test]
async fn hands_under_way_go_on_under_the_new_key() {
    let (seeds, store) = (SecretStore::memory(), MemStore::new());
    let old = dealer(&seeds, 1, &[]);
    let sitting = serve_log(&old, &store).await;
    let committed = old.commit(call(1), NAME, [2; 32], None).await.expect("a new hand");
    let absent = TranscriptRow {
        seat: 1,
        player: PlayerId([5; 16]),
        status: RowStatus::Absent,
        commitment: ClientCommitment([0; 32]),
        entropy: Entropy([0; 32]),
    };
    let sealing = SealInput { rows: vec![absent] };
    let row = ClosingRow { seat: 1, player: PlayerId([5; 16]), commitment: None };
    old.close(call(12), NAME, vec![row]).await.expect("it is committed");
    old.seal(call(2), NAME, sealing).await.expect("it is committed");
    let input = ShuffleInput::Fresh { first: 0, count: 76 };
    let shuffle =
        IndexedOperation { index: 0, request: OperationRequest::Shuffle { pile: 0, input } };
    let asked = PerformCommand { operations: vec![shuffle], card_reveals: vec![] };
    let dealt = old.perform(call(3), NAME, asked.clone()).await.expect("it is sealed");

    let forgetful = dealer(&seeds, 9, &[]);
    sitting.cancel();
    let sitting = serve_log(&forgetful, &store).await;
    let missing = forgetful.perform(call(3), NAME, asked.clone()).await;
    let Err(problem @ DealerError::MissingKey(_)) = missing else { panic!("{missing:?}") };
    assert!(problem.to_string().contains(&id(1).to_string()), "{problem}");

    let new = dealer(&seeds, 9, &[1]);
    sitting.cancel();
    let sitting = serve_log(&new, &store).await;
    assert_eq!(new.reseal().await.expect("memory works").resealed, 1);
    let alone = dealer(&seeds, 9, &[]);
    sitting.cancel();
    let sitting = serve_log(&alone, &store).await;
    assert_eq!(alone.perform(call(3), NAME, asked).await.expect("it was dealt"), dealt);
    let seed = alone.reveal(call(4), NAME, false).await.expect("it is sealed");
    assert!(committed.commitment.opens(&committed.context(), &seed));
    sitting.cancel();
}
