//! Promises in order, on a log that has lost records: whatever a table shows and asks, no number is
//! promised twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, Entry, Limits, Log, MemStore, NewEvent, Options, Position, Reader, Store,
    StreamId, UnixMicros, Version,
};
use fairness::Commitment;
use keyring::{Keyring, SecretStore};
use primitives::{RequestId, TableId};
use proto::event::v1::PromisesLost;
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::{Committed, HandName, Refusal};
use sabacc_dealer::{Dealer, DealerError, Dependencies, maintain_log};
use system::entropy::SeededEntropy;
use tokio_util::sync::CancellationToken;
use wire::records::DealerRecord;
use zeroize::Zeroizing;

const LOG: &str = "dealer/0";
const ORIGIN: &str = "test/dealer";
const RULES: [u8; 32] = [2; 32];
const TABLE: TableId = TableId([1; 16]);

/// A dealer on a store, and everything that it and its predecessors have signed.
struct Harness {
    store: Arc<MemStore>,
    seeds: SecretStore,
    dealer: Dealer,
    stopping: CancellationToken,
    entropy: u64,
    requests: u8,
    signed: BTreeMap<(TableId, u64), Commitment>,
}

impl Harness {
    async fn new() -> Harness {
        Harness::on(MemStore::new(), SecretStore::memory(), 1, BTreeMap::new()).await
    }

    async fn on(
        store: Arc<MemStore>,
        seeds: SecretStore,
        entropy: u64,
        signed: BTreeMap<(TableId, u64), Commitment>,
    ) -> Harness {
        let dealer = Dealer::try_new(Dependencies {
            seeds: seeds.clone(),
            keyring: Keyring::new(&Zeroizing::new([3; 32]), &[]),
            entropy: Arc::new(SeededEntropy::new(entropy)),
            key: SigningKey::from_bytes(&[4; 32]),
            origin: ORIGIN.into(),
            max_cached_hands: 2,
        })
        .expect("the entropy is healthy");
        let stopping = CancellationToken::new();
        let opened = Arc::clone(&store);
        let open = move || open(Arc::clone(&opened));
        tokio::spawn(maintain_log(dealer.clone(), open, stopping.clone()));
        dealer.serves().wait_for(|serves| *serves).await.expect("the log is free");
        // Each dealer is asked under request ids of its own.
        let requests = u8::try_from(entropy * 50).expect("few dealers");
        Harness { store, seeds, dealer, stopping, entropy, requests, signed }
    }

    /// Starts the dealer again on its store, with nothing in memory.
    async fn restart(self) -> Harness {
        self.stopping.cancel();
        let (store, seeds) = (Arc::clone(&self.store), self.seeds.clone());
        Harness::on(store, seeds, self.entropy + 1, self.signed.clone()).await
    }

    /// Puts the store back to its first `count` events, with no seed kept, and starts a dealer on it.
    async fn put_back(self, count: usize) -> Harness {
        let reader = Reader::new(Arc::clone(&self.store) as Arc<dyn Store>, LOG);
        let events = reader.read(Position(0), count).await.expect("the store works");
        self.stopping.cancel();
        let older = MemStore::new();
        let log = open(Arc::clone(&older)).await.expect("a new log");
        for event in events {
            let event = NewEvent {
                stream: event.stream,
                kind: event.kind,
                schema: event.schema,
                sealed: event.sealed,
                payload: event.payload,
            };
            let actor = "service:table".into();
            let entry = Entry { events: vec![event], request: None, actor, trace: [0; 16] };
            log.append(entry).await.expect("the store works");
        }
        drop(log);
        let seeds = SecretStore::memory();
        Harness::on(older, seeds, self.entropy + 1, self.signed.clone()).await
    }

    /// Asks for a promise. Whatever is signed is held against all that was signed before.
    async fn commit(
        &mut self,
        name: HandName,
        before: Option<&Committed>,
    ) -> Result<Committed, DealerError> {
        self.requests += 1;
        let call = RequestMetadata {
            id: RequestId([self.requests; 16]),
            digest: [self.requests; 32],
            actor: "service:table".into(),
            trace: [0; 16],
        };
        let committed = self.dealer.commit(call, name, RULES, before.cloned()).await?;
        let known = self.signed.entry((name.table, name.number)).or_insert(committed.commitment);
        assert_eq!(*known, committed.commitment, "{name:?} is promised twice");
        Ok(committed)
    }

    async fn refusal(&mut self, name: HandName, before: Option<&Committed>) -> Refusal {
        match self.commit(name, before).await {
            Err(DealerError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }

    /// Promises numbers 1 to `last` to the table.
    async fn promise(&mut self, last: u64) -> Vec<Committed> {
        let mut promises: Vec<Committed> = Vec::new();
        for number in 1..=last {
            promises.push(self.commit(hand(number), promises.last()).await.expect("in order"));
        }
        promises
    }

    async fn lost(&self) -> Vec<PromisesLost> {
        let reader = Reader::new(Arc::clone(&self.store) as Arc<dyn Store>, LOG);
        let events = reader.read_stream(StreamId::CHANCE, Version(1), 100).await;
        let lost = |event: &eventlog::Event| {
            let record = DealerRecord::try_from(event).expect("the dealer wrote it");
            let DealerRecord::PromisesLost(lost) = record else { panic!("{record:?}") };
            lost
        };
        events.expect("the store works").iter().map(lost).collect()
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

async fn open(store: Arc<MemStore>) -> Result<Log, eventlog::OpenError> {
    let options = Options {
        name: LOG.into(),
        owner: "test".into(),
        address: "nowhere".into(),
        lease: Duration::from_secs(5),
        take_over: true,
        clock: Arc::new(|| UnixMicros(1)),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        limits: Limits { store_timeout: Duration::from_millis(100), ..Limits::default() },
    };
    Log::open_when_free(store, options, |_| {}).await
}

fn hand(number: u64) -> HandName {
    HandName { table: TABLE, number }
}

/// fairness/SPEC.md §3.2.
#[tokio::test]
async fn numbers_are_promised_in_order() {
    let mut room = Harness::new().await;
    assert_eq!(room.refusal(hand(2), None).await, Refusal::OutOfOrder);
    let promises = room.promise(3).await;
    assert_eq!(room.refusal(hand(5), None).await, Refusal::OutOfOrder);
    // A promise is repeated whatever is shown with it.
    assert_eq!(room.commit(hand(2), promises.last()).await.unwrap(), promises[1]);
    assert_eq!(room.lost().await, []);
}

/// fairness/SPEC.md §3.2.
#[tokio::test]
async fn a_dealer_on_an_older_store_begins_above_what_it_has_promised() {
    let mut room = Harness::new().await;
    let promises = room.promise(4).await;
    // Two promises are lost, and what is shown of them is on record.
    let mut room = room.put_back(2).await;
    let next = room.commit(hand(5), promises.last()).await.unwrap();
    let lost = room.lost().await;
    assert_eq!((lost.len(), lost[0].hand_no, &lost[0].table_id[..]), (1, 4, &TABLE.0[..]));
    let shown = lost[0].promise.clone().unwrap();
    assert_eq!(shown.rules_hash, RULES);
    assert_eq!(shown.commitment.unwrap().commitment, promises[3].commitment.0);
    // None of the lost numbers is promised again, by this dealer or one that starts after it.
    for _ in 0..2 {
        for (number, before) in [(3, &promises[1]), (4, &promises[2])] {
            let refused = room.refusal(hand(number), Some(before)).await;
            assert_eq!(refused, Refusal::NumberLost { last: 4 });
            assert_eq!(room.refusal(hand(number), None).await, Refusal::NumberLost { last: 4 });
        }
        room = room.restart().await;
    }
    room.commit(hand(6), Some(&next)).await.unwrap();
    assert_eq!(room.lost().await.len(), 1, "nothing more is lost");
    // Other tables have lost nothing.
    room.commit(HandName { table: TableId([9; 16]), number: 1 }, None).await.unwrap();
}

/// A promise that a hostile table shows makes a dealer pass over nothing and promise nothing twice.
#[tokio::test]
async fn a_table_that_shows_what_the_dealer_has_not_signed_gets_nothing() {
    let mut room = Harness::new().await;
    let promises = room.promise(2).await;
    let forged = Committed { hand: hand(8), ..promises[1].clone() };
    assert_eq!(room.refusal(hand(9), Some(&forged)).await, Refusal::ForeignPromise);
    let elsewhere =
        Committed { hand: HandName { table: TableId([9; 16]), number: 2 }, ..promises[1].clone() };
    let third = HandName { table: TableId([9; 16]), number: 3 };
    assert_eq!(room.refusal(third, Some(&elsewhere)).await, Refusal::ForeignPromise);
    let other = Committed { commitment: Commitment([5; 32]), ..promises[1].clone() };
    assert_eq!(room.refusal(hand(3), Some(&other)).await, Refusal::ForeignPromise);
    let of_another_log = Committed { origin: "other/dealer".into(), ..promises[1].clone() };
    let mut older = room.put_back(0).await;
    assert_eq!(older.refusal(hand(3), Some(&of_another_log)).await, Refusal::ForeignPromise);
    assert_eq!(older.refusal(hand(3), None).await, Refusal::OutOfOrder);
    assert_eq!(older.lost().await, []);
    older.commit(hand(3), Some(&promises[1])).await.unwrap();
}
