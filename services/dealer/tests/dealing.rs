//! The dealer on an in-memory log that fails on demand: crashes, repeats, races. An answer that was
//! given is given again, whatever happens, and each step is in the log once.

use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, Event, Fault, Limits, Log, MemStore, Options, Reader, RequestKey, Store,
    StreamId, UnixMicros, Version,
};
use fairness::{
    ClientCommitment, ClosingRow, Commitment, CommitmentStatement, Entropy, Handle,
    OperationRequest, RowStatus, ShuffleInput, SignedText, TranscriptRow,
};
use keyring::{Keyring, SealedSecret, SecretStore};
use primitives::{PlayerId, RequestId, TableId};
use prost::Message as _;
use proto::event::v1::{OperationPerformed, SeedOpened};
use sabacc_dealer::dealer::RequestMetadata;
use sabacc_dealer::hand::{
    CardReveal, Committed, HandName, IndexedOperation, PerformCommand, PerformOutcome, Reason,
    Refusal, SealInput,
};
use sabacc_dealer::seeds::SeedLabel;
use sabacc_dealer::{Dealer, DealerError, Dependencies, maintain_log};
use system::entropy::SeededEntropy;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

const NAME: HandName = HandName { table: TableId([1; 16]), number: 1 };
const LOG: &str = "dealer/0";
const RULES: [u8; 32] = [2; 32];

/// State that survives a crash, and a dealer on it.
struct Harness {
    store: Arc<MemStore>,
    seeds: SecretStore,
    entropy: u64,
    dealer: Dealer,
    stopping: CancellationToken,
}

impl Harness {
    async fn new(entropy: u64) -> Harness {
        Harness::on(MemStore::new(), SecretStore::memory(), entropy).await
    }

    async fn on(store: Arc<MemStore>, seeds: SecretStore, entropy: u64) -> Harness {
        let dealer = Dealer::try_new(Dependencies {
            seeds: seeds.clone(),
            keyring: Keyring::new(&Zeroizing::new([3; 32]), &[]),
            entropy: Arc::new(SeededEntropy::new(entropy)),
            key: SigningKey::from_bytes(&[4; 32]),
            origin: "test/dealer".into(),
            max_cached_hands: 2,
        })
        .expect("the entropy is healthy");
        let stopping = CancellationToken::new();
        let opened = Arc::clone(&store);
        let open = move || open(Arc::clone(&opened));
        tokio::spawn(maintain_log(dealer.clone(), open, stopping.clone()));
        dealer.serves().wait_for(|serves| *serves).await.expect("the log is free");
        Harness { store, seeds, entropy, dealer, stopping }
    }

    /// Drops all memory; the next dealer draws other entropy.
    async fn crash(self) -> Harness {
        Harness::on(Arc::clone(&self.store), self.seeds.clone(), self.entropy + 100).await
    }

    async fn commit(&self, id: u8, name: HandName) -> Result<Committed, DealerError> {
        self.dealer.commit(call(id, id), name, RULES, None).await
    }

    async fn perform(&self, id: u8, asked: &PerformCommand) -> Result<PerformOutcome, DealerError> {
        self.dealer.perform(call(id, id), NAME, asked.clone()).await
    }

    /// A hand that is committed and sealed.
    async fn sealed(&self) -> Committed {
        let committed = self.commit(1, NAME).await.expect("the log works");
        let closed = self.dealer.close(call(102, 102), NAME, closing(&committed)).await;
        closed.expect("the hand is committed");
        let sealed = self.dealer.seal(call(2, 2), NAME, sealing(&committed)).await;
        sealed.expect("the hand is committed");
        committed
    }

    fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.store) as Arc<dyn Store>, LOG)
    }

    async fn stream(&self, name: HandName) -> Vec<Event> {
        let reader = self.reader();
        let events = reader.read_stream(StreamId::from(name.id()), Version(1), 1000).await;
        events.expect("the store works")
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

fn call(id: u8, content: u8) -> RequestMetadata {
    RequestMetadata {
        id: RequestId([id; 16]),
        digest: [content; 32],
        actor: "service:table".into(),
        trace: [0; 16],
    }
}

fn sealing(committed: &Committed) -> SealInput {
    let (player, entropy) = (PlayerId([5; 16]), Entropy([6; 32]));
    let context = committed.context();
    let commitment = ClientCommitment::new(&context, &committed.commitment, 1, player, &entropy);
    let row = TranscriptRow { seat: 1, player, status: RowStatus::Revealed, commitment, entropy };
    SealInput { rows: vec![row] }
}

fn closing(committed: &Committed) -> Vec<ClosingRow> {
    let rows = sealing(committed).rows.into_iter();
    let row = |row: TranscriptRow| ClosingRow {
        seat: row.seat,
        player: row.player,
        commitment: Some(row.commitment),
    };
    rows.map(row).collect()
}

fn fresh(index: u32) -> IndexedOperation {
    let input = ShuffleInput::Fresh { first: 0, count: 76 };
    IndexedOperation { index, request: OperationRequest::Shuffle { pile: 0, input } }
}

fn shift(index: u32, positions: impl IntoIterator<Item = u16>) -> IndexedOperation {
    let cards = positions.into_iter().map(|position| Handle { op: index - 1, position }).collect();
    IndexedOperation {
        index,
        request: OperationRequest::Shuffle { pile: 0, input: ShuffleInput::Cards(cards) },
    }
}

fn roll(index: u32) -> IndexedOperation {
    IndexedOperation { index, request: OperationRequest::Roll { sides: vec![6, 6] } }
}

fn deal(op: u32, positions: &[u16]) -> CardReveal {
    let cards = positions.iter().map(|position| Handle { op, position: *position }).collect();
    CardReveal { cards, audience: 1, reason: Reason::Deal }
}

fn ask(operations: Vec<IndexedOperation>, openings: Vec<CardReveal>) -> PerformCommand {
    PerformCommand { operations, card_reveals: openings }
}

/// Deals, shifts, rolls.
fn script() -> [PerformCommand; 3] {
    [
        ask(vec![fresh(0)], vec![deal(0, &[0, 1, 2])]),
        ask(vec![shift(1, 0..76)], vec![deal(1, &[0, 1, 2]), deal(1, &[75])]),
        ask(vec![roll(2)], vec![]),
    ]
}

/// fairness/SPEC.md §3.1.
#[tokio::test]
async fn a_hand_survives_a_crash_after_every_step() {
    let mut world = Harness::new(1).await;
    let committed = world.sealed().await;
    let mut answers = Vec::new();
    for (id, asked) in (10..).zip(&script()) {
        answers.push(world.perform(id, asked).await.unwrap());
        world = world.crash().await;
    }
    let seed = world.dealer.reveal(call(20, 20), NAME, false).await.unwrap();
    world = world.crash().await;
    assert_eq!(world.commit(1, NAME).await.unwrap(), committed);
    assert_eq!(world.commit(99, NAME).await.unwrap(), committed, "whoever asks");
    for ((id, asked), answer) in (10..).zip(&script()).zip(&answers) {
        let again = world.perform(id, asked).await.unwrap();
        assert_eq!(&again, answer, "also cards that were shuffled since, also after the reveal");
    }
    assert_eq!(world.dealer.reveal(call(20, 20), NAME, false).await.unwrap(), seed);
    assert!(committed.commitment.opens(&committed.context(), &seed));
    let kinds: Vec<u16> = world.stream(NAME).await.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [100, 105, 101, 102, 103, 102, 103, 103, 102, 104],
        "each step stands there once"
    );
}

/// fairness/SPEC.md §4.6. Computed with another language's library.
#[test]
fn a_known_public_key_has_its_known_id() {
    let id: Vec<String> = fairness::KeyId::of(&[2; 32]).0.map(|byte| format!("{byte:02x}")).into();
    assert_eq!(id.concat(), "75877bb41d393b5f");
}

/// fairness/SPEC.md §3.2, §8.1.
#[tokio::test]
async fn commitments_are_signed_and_one_for_each_hand() {
    let world = Harness::new(1).await;
    let committed = world.commit(1, NAME).await.unwrap();
    let signed = CommitmentStatement {
        origin: "test/dealer",
        table: NAME.table,
        hand_no: NAME.number,
        rules_hash: &RULES,
        commitment: &committed.commitment,
    };
    let keys = world.dealer.public_keys();
    assert_eq!(signed.verify(&keys[0], &committed.signature), Ok(()));
    assert_eq!(fairness::KeyId::of(&keys[0]).0, committed.key_id);
    let others = world.dealer.commit(call(2, 2), NAME, [9; 32], None).await;
    assert!(matches!(others, Err(DealerError::Refused(Refusal::OtherRules))), "{others:?}");
    let next = HandName { number: 2, ..NAME };
    let next = world.commit(3, next).await.unwrap();
    assert_ne!(next.commitment, committed.commitment);
}

#[tokio::test]
async fn a_commitment_cut_short_by_a_crash_is_finished_with_the_same_seed() {
    let world = Harness::new(1).await;
    world.store.set_down(true);
    let cut = world.commit(1, NAME).await;
    assert!(matches!(cut, Err(DealerError::Unavailable)), "{cut:?}");
    let kept = world.seeds.get(NAME.id().0).await.unwrap();
    world.store.set_down(false);
    assert!(kept.is_none(), "a log that cannot be read is asked before a seed is made");

    world.store.inject(Fault::Unavailable);
    world.store.inject(Fault::LoseOwnership);
    let cut = world.commit(1, NAME).await;
    let kept = world.seeds.get(NAME.id().0).await.unwrap().expect("the seed is kept first");
    let world = world.crash().await;
    let committed = world.commit(1, NAME).await.unwrap();
    let label = SeedLabel::parse(&kept.label).unwrap();
    assert_eq!(committed.commitment, label.commitment, "after {cut:?}");
    assert_eq!(world.stream(NAME).await.len(), 1);
}

/// fairness/SPEC.md §3.1.
#[tokio::test]
async fn a_request_id_names_one_command() {
    let world = Harness::new(1).await;
    world.sealed().await;
    world.perform(10, &script()[0]).await.unwrap();
    let other = world.dealer.perform(call(10, 77), NAME, script()[1].clone()).await;
    assert!(matches!(other, Err(DealerError::RequestIdReused)), "{other:?}");
    // Its operations were not done.
    let done = world.perform(11, &ask(vec![roll(1)], vec![])).await.unwrap();
    assert_eq!(done.results[0].index, 1);
}

#[tokio::test]
async fn refusals_change_nothing() {
    let world = Harness::new(1).await;
    let early = world.perform(10, &script()[0]).await;
    assert!(matches!(early, Err(DealerError::UnknownHand)), "{early:?}");
    world.commit(1, NAME).await.unwrap();
    let early = world.perform(10, &script()[0]).await;
    assert!(matches!(early, Err(DealerError::Refused(Refusal::NotSealed))), "{early:?}");
    world.sealed().await;
    world.perform(10, &script()[0]).await.unwrap();
    let before = world.stream(NAME).await.len();
    // The first half is allowed, the second is not: neither is done.
    let half = ask(vec![roll(1), roll(3)], vec![]);
    assert!(matches!(world.perform(11, &half).await, Err(DealerError::Refused(Refusal::Shoe(_)))));
    let half = ask(vec![roll(1)], vec![deal(0, &[76])]);
    assert!(matches!(world.perform(11, &half).await, Err(DealerError::Refused(Refusal::Shoe(_)))));
    assert_eq!(world.stream(NAME).await.len(), before);
    let dice = world.perform(12, &ask(vec![roll(1)], vec![])).await.unwrap();
    assert_eq!(dice.results.len(), 1, "the index is free");
}

/// Another dealer has the log and has dealt, so by the memory of the first one the next step is out
/// of turn.
#[tokio::test]
async fn a_dealer_that_has_lost_its_log_refuses_nobody() {
    let first = Harness::new(1).await;
    first.sealed().await;
    let second = Harness::on(Arc::clone(&first.store), first.seeds.clone(), 2).await;
    second.perform(10, &script()[0]).await.unwrap();
    let next = first.perform(11, &script()[1]).await;
    assert!(matches!(next, Err(DealerError::Unavailable)), "{next:?}");
    let next = until_answered(&first, 11, &script()[1]).await;
    assert_eq!(next.revealed_cards.len(), 2, "it has read the log again");
    first.store.set_down(true);
    let early = first.perform(12, &ask(vec![roll(7)], vec![])).await;
    assert!(matches!(early, Err(DealerError::Unavailable)), "{early:?}");
}

/// Repeats a call as its caller does.
async fn until_answered(world: &Harness, id: u8, asked: &PerformCommand) -> PerformOutcome {
    for _ in 0..200 {
        match world.perform(id, asked).await {
            Ok(performed) => return performed,
            Err(DealerError::Unavailable | DealerError::Overloaded) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(problem) => panic!("{problem}"),
        }
    }
    panic!("never answered")
}

#[tokio::test]
async fn faults_of_the_log_change_no_answer() {
    let faults = [
        Fault::Unavailable,
        Fault::InDoubtNotWritten,
        Fault::InDoubtWritten,
        Fault::InDoubtWrittenLate,
        Fault::LoseOwnership,
        Fault::Delay(Duration::from_millis(30)),
    ];
    let calm = Harness::new(1).await;
    calm.sealed().await;
    let mut answers = Vec::new();
    for (id, asked) in (10..).zip(&script()) {
        answers.push(calm.perform(id, asked).await.unwrap());
    }
    let calm_kinds: Vec<u16> = calm.stream(NAME).await.iter().map(|event| event.kind).collect();
    for fault in faults {
        let world = Harness::new(1).await;
        world.sealed().await;
        for ((id, asked), answer) in (10..).zip(&script()).zip(&answers) {
            world.store.inject(fault);
            assert_eq!(&until_answered(&world, id, asked).await, answer, "{fault:?}");
        }
        let kinds: Vec<u16> = world.stream(NAME).await.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, calm_kinds, "{fault:?}");
    }
}

#[tokio::test]
async fn a_caller_who_gives_up_does_not_stop_halfway() {
    let world = Harness::new(1).await;
    world.sealed().await;
    world.store.inject(Fault::Delay(Duration::from_millis(50)));
    let first = script()[0].clone();
    let given_up = tokio::time::timeout(Duration::from_millis(5), world.perform(10, &first)).await;
    assert!(given_up.is_err(), "the write takes longer");
    let next = world.perform(11, &script()[1]).await.unwrap();
    assert_eq!(next.revealed_cards.len(), 2);
    let kinds: Vec<u16> = world.stream(NAME).await.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [100, 105, 101, 102, 103, 102, 103, 103]);
}

#[tokio::test]
async fn many_callers_at_once_get_one_outcome() {
    let world = Arc::new(Harness::new(1).await);
    world.sealed().await;
    let mut callers = tokio::task::JoinSet::new();
    for id in 10..60 {
        let world = Arc::clone(&world);
        callers.spawn(async move {
            let asked = ask(vec![fresh(0), roll(1)], vec![]);
            // Other hands push this one out of memory in between.
            let other = HandName { table: TableId([id; 16]), ..NAME };
            world.commit(id + 100, other).await.unwrap();
            world.perform(id, &asked).await.unwrap()
        });
    }
    let answers = callers.join_all().await;
    assert!(answers.iter().all(|answer| answer == &answers[0]));
    assert_eq!(world.stream(NAME).await.len(), 5);
}

/// Two hands that differ only in their cards leave equal records of shuffles and card reveals,
/// except for the roots: those are over secret salts.
/// fairness/SPEC.md §14.
#[tokio::test]
async fn the_log_shows_no_hidden_card() {
    let mut records = Vec::new();
    let mut cards = Vec::new();
    for entropy in [1, 2] {
        let world = Harness::new(entropy).await;
        world.sealed().await;
        let asked = ask(vec![fresh(0), shift(1, 0..76)], vec![deal(1, &[0, 1, 2, 3, 4])]);
        let opened = world.perform(10, &asked).await.unwrap().revealed_cards;
        let events = world.stream(NAME).await;
        let written: Vec<u8> = events.iter().flat_map(|event| event.payload.to_vec()).collect();
        for opened in &opened[0] {
            assert!(!written.windows(32).any(|bytes| bytes == opened.salt), "a salt is written");
        }
        cards.push(opened[0].iter().map(|opened| opened.card).collect::<Vec<_>>());
        records.push(events.iter().skip(3).map(without_root).collect::<Vec<_>>());
        // The log would return a stored answer.
        let key = RequestKey::new("service:table", RequestId([10; 16]));
        let stored = world.reader().request(key).await.unwrap().unwrap();
        assert!(stored.answer.is_empty());
    }
    assert_ne!(cards[0], cards[1]);
    assert_eq!(records[0], records[1]);
}

/// Payload of an event; that of a shuffle without its root.
fn without_root(event: &Event) -> Vec<u8> {
    if event.kind != 102 {
        return event.payload.to_vec();
    }
    let mut performed = OperationPerformed::decode(&event.payload[..]).expect("it was written");
    let root = performed.result.as_mut().map(|result| std::mem::take(&mut result.root));
    assert_eq!(root.map(|root| root.len()), Some(32));
    performed.encode_to_vec()
}

#[tokio::test]
async fn a_discarded_seed_is_opened_at_any_stage_and_deals_nothing_more() {
    let refused = |result: Result<_, DealerError>, why: Refusal| match result {
        Err(DealerError::Refused(refusal)) => assert_eq!(refusal, why),
        Err(problem) => panic!("{problem}"),
        Ok(()) => panic!("it is refused"),
    };
    for sealed in [false, true] {
        let mut world = Harness::new(1).await;
        let committed =
            if sealed { world.sealed().await } else { world.commit(1, NAME).await.unwrap() };
        if !sealed {
            let played = world.dealer.reveal(call(3, 3), NAME, false).await;
            refused(played.map(drop), Refusal::NotSealed);
        }
        let seed = world.dealer.reveal(call(4, 4), NAME, true).await.unwrap();
        assert!(committed.commitment.opens(&committed.context(), &seed));
        world = world.crash().await;
        for id in [4, 5] {
            let again = world.dealer.reveal(call(id, id), NAME, true).await.unwrap();
            assert_eq!(again, seed, "whoever asks, also after a crash");
        }
        let other = world.dealer.reveal(call(6, 6), NAME, false).await;
        refused(other.map(drop), Refusal::RevealedOtherwise { discarded: true });
        if sealed {
            let dealt = world.perform(7, &script()[0]).await;
            refused(dealt.map(drop), Refusal::Revealed);
        } else {
            let late = world.dealer.seal(call(7, 7), NAME, sealing(&committed)).await;
            refused(late.map(drop), Refusal::Revealed);
        }
        let events = world.stream(NAME).await;
        let opened = events.iter().filter(|event| event.kind == 104);
        let opened: Vec<_> = opened.map(|event| SeedOpened::decode(&event.payload[..])).collect();
        let opened = opened.into_iter().map(|opened| opened.unwrap().discarded);
        assert_eq!(opened.collect::<Vec<_>>(), [true], "it stands there once");
    }
}

#[tokio::test]
async fn a_dealer_does_not_deal_from_a_seed_it_did_not_promise() {
    let world = Harness::new(1).await;
    let committed = world.sealed().await;
    let kept = world.seeds.get(NAME.id().0).await.unwrap().unwrap();
    let forged = SecretStore::memory();
    let mut label = SeedLabel::parse(&kept.label).unwrap();
    assert_eq!(label.commitment, committed.commitment);
    label.commitment = Commitment([9; 32]);
    let other = SealedSecret { label: label.bytes().to_vec(), ..kept };
    forged.insert_if_absent(other).await.unwrap();
    let world = Harness::on(Arc::clone(&world.store), forged, 1).await;
    let refused = world.perform(10, &script()[0]).await;
    assert!(matches!(refused, Err(DealerError::Corrupt)), "{refused:?}");
}
