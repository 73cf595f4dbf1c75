//! Outcomes in the field: they are tested as they come, found once, and never counted before their
//! seed is open.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::archive::{self, Archive, Retained, RetainedRequests};
use eventlog::{
    Authenticator, Entry, Limits, Log, MemStore, Options, PgStore, PoolSizes, Position, Reader,
    Store, StreamId, UnixMicros,
};
use fairness::{
    ClientCommitment, ClosingRow, Commitment, Entropy, OperationRequest, RowStatus, Seed,
    ShuffleInput, Transcript, TranscriptRow,
};
use keyring::{Keyring, SecretStore};
use primitives::{PlayerId, RequestId, TableId};
use proto::event::v1::outcome_subject::Operation;
use proto::event::v1::{BiasFound, OutcomeLook, OutcomesTested};
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::{
    Committed, Event, HandName, IndexedOperation, OperationResult, PerformCommand, SealInput,
};
use sabacc_dealer::retention::{RetentionError, retained_streams};
use sabacc_dealer::{Dealer, Dependencies, maintain_log, record};
use system::clock::{Clock as _, SystemClock};
use system::entropy::SeededEntropy;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wire::records::DealerRecord;
use zeroize::Zeroizing;

const RULES: [u8; 32] = [2; 32];

fn options() -> Options {
    let clock = SystemClock::new();
    Options {
        name: "dealer/0".into(),
        owner: "test".into(),
        address: "nowhere".into(),
        lease: Duration::from_secs(5),
        take_over: true,
        clock: Arc::new(move || clock.now()),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        limits: Limits::default(),
    }
}

fn name(number: u64) -> HandName {
    HandName { table: TableId([1; 16]), number }
}

fn committed(hand: HandName) -> Event {
    Event::SeedCommitted(Committed {
        hand,
        rules_hash: RULES,
        commitment: Commitment([1; 32]),
        key_id: [2; 8],
        signature: [3; 64],
        origin: "test/dealer".into(),
    })
}

fn rows() -> Vec<TranscriptRow> {
    let (player, entropy) = (PlayerId([5; 16]), Entropy([0; 32]));
    let (status, commitment) = (RowStatus::Absent, ClientCommitment([0; 32]));
    vec![TranscriptRow { seat: 1, player, status, commitment, entropy }]
}

fn sealed() -> Event {
    let seal_input = SealInput { rows: rows() };
    Event::SeedSealed { transcript: Transcript([4; 32]), seal_input }
}

fn rolled(sides: [u32; 2]) -> Event {
    Event::OperationPerformed {
        operation: IndexedOperation {
            index: 0,
            request: OperationRequest::Roll { sides: vec![6, 6] },
        },
        result: OperationResult { index: 0, values: sides.to_vec(), root: None },
    }
}

fn opened(discarded: bool) -> Event {
    Event::SeedOpened { seed: Seed::new(Zeroizing::new([6; 64])), discarded }
}

/// Dice of hand `number`: fair in their sum, or with no six.
fn dice(number: u64, shown: u64) -> [u32; 2] {
    let word = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let side = |bits: u64| 1 + u32::try_from(bits % shown).expect("few sides");
    [side(word >> 33), side(word & 0xFFFF_FFFF)]
}

/// A dealer's log, which a test writes as whoever runs a dealer could.
struct Room(Arc<dyn Store>);

impl Room {
    fn new() -> Room {
        Room(MemStore::new())
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0)
    }

    async fn write(&self, hands: impl Iterator<Item = (u64, Vec<Event>)>) {
        let log = Log::open(self.store(), options()).await.expect("the log is free");
        let hands: Vec<_> = hands.collect();
        for hands in hands.chunks(100) {
            let event = |(number, events): &(u64, Vec<Event>)| {
                let hand = name(*number).id();
                events.iter().map(|event| record::new_event(hand, event)).collect::<Vec<_>>()
            };
            let events = hands.iter().flat_map(event).collect();
            let entry =
                Entry { events, request: None, actor: "service:table".into(), trace: [0; 16] };
            log.append(entry).await.expect("the store works");
        }
        log.close().await;
    }

    fn reader(&self) -> Reader {
        Reader::new(self.store(), "dealer/0")
    }

    /// Records of chance behind the log's cut.
    async fn events(&self) -> Vec<(u64, DealerRecord)> {
        let reader = self.reader();
        let cut = reader.cut().await.expect("the store works").map_or(0, |cut| cut.size());
        let mut events = Vec::new();
        loop {
            let from = cut + events.len() as u64;
            let page = reader.read(Position(from), 1000).await.expect("the store works");
            if page.is_empty() {
                break;
            }
            events.extend(page);
        }
        let chance = events.iter().filter(|event| event.stream == StreamId::CHANCE);
        let record = |event: &eventlog::Event| {
            (event.position.0, DealerRecord::try_from(event).expect("a dealer's record"))
        };
        chance.map(record).collect()
    }

    async fn looks(&self) -> Vec<OutcomesTested> {
        let events = self.events().await.into_iter();
        let tested = |(_, record)| {
            if let DealerRecord::OutcomesTested(tested) = record { Some(tested) } else { None }
        };
        events.filter_map(tested).collect()
    }

    async fn findings(&self) -> Vec<BiasFound> {
        let events = self.events().await.into_iter();
        let found = |(_, record)| {
            if let DealerRecord::BiasFound(found) = record { Some(found) } else { None }
        };
        events.filter_map(found).collect()
    }

    /// Lets a dealer test until nothing comes any more.
    async fn test(&self) {
        let (dealer, stopping, tests) = self.dealer().await;
        self.settle().await;
        stopping.cancel();
        tests.abort();
        drop(dealer);
        // The log is closed by the task that owns it.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    async fn settle(&self) {
        let mut before = usize::MAX;
        loop {
            tokio::time::sleep(Duration::from_millis(400)).await;
            let now = self.events().await.len();
            if now == before {
                return;
            }
            before = now;
        }
    }

    async fn dealer(&self) -> (Dealer, CancellationToken, JoinHandle<()>) {
        let dealer = Dealer::try_new(Dependencies {
            seeds: SecretStore::memory(),
            keyring: Keyring::new(&Zeroizing::new([3; 32]), &[]),
            entropy: Arc::new(SeededEntropy::new(1)),
            key: SigningKey::from_bytes(&[4; 32]),
            origin: "test/dealer".into(),
            max_cached_hands: 2,
        })
        .expect("the entropy is healthy");
        let (store, stopping) = (self.store(), CancellationToken::new());
        let open = move || Log::open_when_free(Arc::clone(&store), options(), |_| {});
        tokio::spawn(maintain_log(dealer.clone(), open, stopping.clone()));
        let tests = tokio::spawn(dealer.test_outcomes());
        dealer.serves().wait_for(|serves| *serves).await.expect("the log is free");
        (dealer, stopping, tests)
    }
}

/// A whole hand with one roll.
fn hand(number: u64, shown: u64) -> (u64, Vec<Event>) {
    (number, vec![committed(name(number)), sealed(), rolled(dice(number, shown)), opened(false)])
}

fn trials(tested: &OutcomesTested) -> Vec<u64> {
    tested.all.iter().map(|counts| counts.trials).collect()
}

/// fairness/SPEC.md §13.3.
#[tokio::test]
async fn loaded_dice_are_found_once_and_a_restart_goes_on_where_it_was() {
    let room = Room::new();
    room.write((1..=2_100).map(|number| hand(number, 5))).await;
    room.test().await;
    let looks = room.looks().await;
    assert_eq!(looks.iter().map(|look| look.hands).collect::<Vec<_>>(), [1_000, 2_000]);
    assert_eq!(trials(&looks[1]), [4_000, 4_000], "of all hands, and of the game");
    let found = room.findings().await;
    let of: Vec<(usize, _)> = found
        .iter()
        .map(|found| {
            let subject = found.subject.as_ref().expect("a finding is about something");
            (subject.rules_hash.len(), subject.operation)
        })
        .collect();
    assert_eq!(of, [(0, Some(Operation::Die(6))), (32, Some(Operation::Die(6)))]);
    for found in &found {
        assert_eq!((found.look, found.look_no), (OutcomeLook::All.into(), 1));
        assert!(found.adjusted_p < found.level && (found.level - 0.0025).abs() < 1e-12);
        assert_eq!((found.trials, found.degrees), (2_000, 5));
    }

    // Nothing is tested or found anew by a restart.
    let before = room.events().await;
    room.test().await;
    assert_eq!(room.events().await.len(), before.len());

    // What was counted and not looked at is neither lost nor counted twice.
    room.write((2_101..=4_050).map(|number| hand(number, 5))).await;
    room.test().await;
    let looks = room.looks().await;
    assert_eq!(looks.len(), 3);
    assert_eq!((looks[2].hands, trials(&looks[2])), (4_000, vec![8_000, 8_000]));
    assert_eq!((looks[2].looks_at_all, looks[2].looks_at_newest), (3, 0));
    assert_eq!(room.findings().await.len(), 2);
}

/// fairness/SPEC.md §13.3.
#[tokio::test]
async fn a_hand_counts_when_its_seed_is_open_and_not_before() {
    let room = Room::new();
    let unfinished = |number| {
        let mut hand = hand(number, 6);
        hand.1.pop();
        hand
    };
    let committed_only = |number| (number, vec![committed(name(number))]);
    room.write((5_001..=5_100).map(committed_only)).await;
    room.write((1..=1_500).map(unfinished)).await;
    // Seeds of burnt numbers are open, and there is nothing to count in them.
    let burnt = |number| (number, vec![committed(name(number)), opened(true)]);
    room.write((2_001..=3_500).map(burnt)).await;
    room.test().await;
    assert_eq!(room.events().await.len(), 0);

    room.write((1..=1_500).map(|number| (number, vec![opened(number % 2 == 0)]))).await;
    room.test().await;
    let looks = room.looks().await;
    assert_eq!(looks.len(), 1, "discarded or not");
    assert_eq!((looks[0].hands, trials(&looks[0])), (1_000, vec![2_000, 2_000]));
    // 500 hands are still to be counted, the first of which was sealed at the 1,001st.
    assert_eq!(looks[0].read_from, 100 + 1_000 * 3 + 1);
    assert_eq!(room.findings().await.len(), 0);

    // Some were committed to before everything that is read now.
    room.write((4_001..=4_400).map(|number| hand(number, 6))).await;
    let rest = |number| (number, hand(number, 6).1.split_off(1));
    room.write((5_001..=5_100).map(rest)).await;
    room.test().await;
    let looks = room.looks().await;
    assert_eq!((looks[1].hands, trials(&looks[1])), (2_000, vec![4_000, 4_000]));
}

/// fairness/SPEC.md §13.3.
#[tokio::test]
async fn what_a_dealer_deals_is_counted_card_by_card_and_found_fair() {
    let room = Room::new();
    let (dealer, stopping, _tests) = room.dealer().await;
    let mut calls = 0_u64;
    let mut call = || {
        calls += 1;
        let mut id = [0; 16];
        id[..8].copy_from_slice(&calls.to_be_bytes());
        id[8..].copy_from_slice(&calls.to_be_bytes());
        let actor = "service:table".into();
        RequestMetadata { id: RequestId(id), digest: [1; 32], actor, trace: [0; 16] }
    };
    let fresh = |pile, first| OperationRequest::Shuffle {
        pile,
        input: ShuffleInput::Fresh { first, count: 22 },
    };
    let operations = [fresh(0, 0), fresh(1, 22), OperationRequest::Pick { n: 3 }];
    let operations = (0..).zip(operations);
    let asked = PerformCommand {
        operations: operations
            .map(|(index, request)| IndexedOperation { index, request })
            .collect(),
        card_reveals: vec![],
    };
    for number in 1..=1_000 {
        dealer.commit(call(), name(number), RULES, None).await.expect("a new hand");
        let closing = rows().into_iter().map(|row| ClosingRow {
            seat: row.seat,
            player: row.player,
            commitment: (row.status != RowStatus::Absent).then_some(row.commitment),
        });
        let closing = closing.collect();
        dealer.close(call(), name(number), closing).await.expect("it is committed");
        let sealing = SealInput { rows: rows() };
        dealer.seal(call(), name(number), sealing).await.expect("it is committed");
        dealer.perform(call(), name(number), asked.clone()).await.expect("it is sealed");
        dealer.reveal(call(), name(number), false).await.expect("it is sealed");
    }
    room.settle().await;
    stopping.cancel();
    let looks = room.looks().await;
    assert_eq!(looks.len(), 1);
    assert_eq!((looks[0].hands, looks[0].tests), (1_000, 6));
    assert_eq!(trials(&looks[0]), [1_000; 6]);
    for counts in &looks[0].all {
        let operation = counts.subject.as_ref().and_then(|subject| subject.operation.as_ref());
        let sum: u64 = counts.cells.iter().sum();
        match operation.expect("it is about something") {
            Operation::Deck(deck) => {
                assert!([0, 22].contains(&deck.first) && deck.count == 22);
                assert_eq!((sum, counts.cells.len()), (22_000, 484));
                for row in counts.cells.chunks(22) {
                    assert_eq!(row.iter().sum::<u64>(), 1_000, "a card lies at each position");
                }
            }
            Operation::Pick(n) => assert_eq!((*n, sum, counts.cells.len()), (3, 1_000, 3)),
            other @ (Operation::Die(_) | Operation::Pulse(_) | Operation::Sample(_)) => {
                panic!("{other:?} was not asked for")
            }
        }
    }
    assert_eq!(room.findings().await, []);
}

/// The log is cut at the last look: what the tests still read stays, and they go on as if nothing had
/// been removed. ARCHITECTURE.md §2.11.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_cut_at_a_look_is_tested_on() {
    let url = testkit::postgres().await.unwrap().database("dealer_cut").await.unwrap();
    sabacc_dealer::service::migrate(&url, None).await.unwrap();
    let store = PgStore::connect(&url, "dealer", PoolSizes::default()).await.unwrap();
    let room = Room(store);
    let promised = |number| (number, vec![committed(name(number))]);
    let rest = |number| (number, hand(number, 6).1.split_off(1));
    // One of those that nobody has dealt yet is dealt behind the cut, though a later one is promised.
    room.write([8_000, 8_001, 9_000].map(promised).into_iter()).await;
    room.write((1..=1_100).map(promised)).await;
    room.write((1..=1_100).map(rest)).await;
    let whole = |log: &Reader, to: u64| {
        let log = log.clone();
        async move {
            let mut file = Vec::new();
            archive::write(&log, 0..to, merkle::Tree::default(), &mut file).await.unwrap();
            file
        }
    };
    let reader = room.reader();
    let early = whole(&reader, 500).await;
    let early = retained_streams(&reader, Archive::open(&early[..]).unwrap()).await;
    assert!(matches!(early, Err(RetentionError::NotTested { tested: 0 })), "{early:?}");
    room.test().await;
    let cut = room.looks().await[0].read_from;
    assert_eq!(cut, 3 + 1_100 + 3 * 1_000);

    room.write([8_000].map(rest).into_iter()).await;
    let file = whole(&reader, cut).await;
    // An interrupted removal is repeated.
    for removed in [4_000, 0] {
        let streams = retained_streams(&reader, Archive::open(&file[..]).unwrap()).await.unwrap();
        // Those that are not over, and those that were promised before the cut and dealt behind it.
        let hands = (1_001..=1_100).chain([8_000, 8_001, 9_000]);
        let hands = hands.map(|number| StreamId::from(name(number).id()));
        let wanted: BTreeSet<_> = hands.chain([StreamId::CHANCE]).collect();
        assert_eq!(streams.iter().copied().collect::<BTreeSet<_>>(), wanted);
        let requests = RetainedRequests::Nothing;
        let retained =
            Retained { since: UnixMicros(u64::MAX), streams: &streams, tails: &[], requests };
        let mut file = std::io::Cursor::new(&file);
        let gone = archive::remove(&url, "dealer", &mut file, retained).await.unwrap();
        assert_eq!(gone, removed);
    }
    room.write((1_101..=2_000).map(|number| hand(number, 6))).await;
    room.test().await;
    let looks = room.looks().await;
    assert_eq!(looks.iter().map(|look| look.hands).collect::<Vec<_>>(), [1_000, 2_000]);
    assert_eq!(trials(&looks[1]), [4_000, 4_000]);
}
