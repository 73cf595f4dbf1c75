use fairness::{ClientCommitment, Entropy, RowStatus, ShuffleInput};
use primitives::PlayerId;
use zeroize::Zeroizing;

use super::*;

const NAME: HandName = HandName { table: TableId([7; 16]), number: 3 };

fn seed(byte: u8) -> Seed {
    Seed::new(Zeroizing::new([byte; 64]))
}

fn committed() -> Committed {
    let mut committed = Committed {
        hand: NAME,
        rules_hash: [1; 32],
        commitment: Commitment([0; 32]),
        key_id: [2; 8],
        signature: [3; 64],
        origin: "test/dealer".into(),
    };
    committed.commitment = Commitment::new(&committed.context(), &seed(4));
    committed
}

fn sealing(entropy: u8) -> SealInput {
    let (player, entropy) = (PlayerId([5; 16]), Entropy([entropy; 32]));
    let (context, dealer) = (committed().context(), committed().commitment);
    let commitment = ClientCommitment::new(&context, &dealer, 1, player, &entropy);
    let row = TranscriptRow { seat: 1, player, status: RowStatus::Revealed, commitment, entropy };
    SealInput { rows: vec![row] }
}

fn shuffle(index: u32) -> IndexedOperation {
    let input = ShuffleInput::Fresh { first: 0, count: 76 };
    IndexedOperation { index, request: OperationRequest::Shuffle { pile: 0, input } }
}

fn roll(index: u32, sides: u8) -> IndexedOperation {
    IndexedOperation { index, request: OperationRequest::Roll { sides: vec![sides; 2] } }
}

fn deal(reason: Reason, cards: &[(u32, u16)]) -> CardReveal {
    let cards = cards.iter().map(|(op, position)| Handle { op: *op, position: *position });
    CardReveal { cards: cards.collect(), audience: 1, reason }
}

fn caller() -> Arc<str> {
    "service:table".into()
}

fn signing_key() -> SigningKey {
    SigningKey::from_bytes(&[8; 32])
}

fn closing_rows(entropy: u8) -> Vec<ClosingRow> {
    sealing(entropy).rows.iter().map(closing_row).collect()
}

/// A hand that is committed, and closed on the entropy `1`.
fn closed() -> Hand {
    let mut hand = Hand::try_new(committed(), seed(4)).unwrap();
    hand.close(closing_rows(1), &signing_key()).unwrap();
    hand
}

/// A step of a hand.
#[derive(Clone)]
enum Step {
    Close(u8),
    Seal(u8),
    Perform(Vec<IndexedOperation>, Vec<CardReveal>),
    Reveal,
    Discard,
}

use Step::{Close, Discard, Perform as Ops, Reveal, Seal};

fn take(hand: &mut Hand, step: &Step) -> Result<Vec<Event>, Refusal> {
    match step {
        Close(entropy) => {
            hand.close(closing_rows(*entropy), &signing_key()).map(|(_, events)| events)
        }
        Seal(entropy) => hand.seal(sealing(*entropy)).map(|(_, events)| events),
        Ops(operations, openings) => {
            let asked =
                PerformCommand { operations: operations.clone(), card_reveals: openings.clone() };
            hand.perform(&asked, &caller()).map(|(_, events)| events)
        }
        Reveal => hand.reveal(false).map(|(_, events)| events),
        Discard => hand.reveal(true).map(|(_, events)| events),
    }
}

/// Expects that after `given`, `when` makes as many events as `then` says, or is refused like that.
#[track_caller]
fn check(given: &[Step], when: &Step, then: Result<usize, Refusal>) {
    let mut hand = Hand::try_new(committed(), seed(4)).unwrap();
    for step in given {
        take(&mut hand, step).unwrap();
    }
    assert_eq!(take(&mut hand, when).map(|events| events.len()), then);
}

/// fairness/SPEC.md §3.7.
#[test]
fn a_hand_is_sealed_once() {
    check(&[Close(1)], &Seal(1), Ok(1));
    check(&[Close(1), Seal(1)], &Seal(1), Ok(0));
    check(&[Close(1), Seal(1)], &Seal(2), Err(Refusal::SealedOtherwise));
    check(&[Discard], &Seal(1), Err(Refusal::Revealed));
    for reveal in [Reveal, Discard] {
        check(&[Close(1), Seal(1), reveal], &Seal(1), Ok(0));
    }
}

/// fairness/SPEC.md §3.4, §3.7.
#[test]
fn a_hand_is_closed_once_and_sealed_with_what_was_closed() {
    check(&[], &Close(1), Ok(1));
    check(&[Close(1)], &Close(1), Ok(0));
    check(&[Close(1)], &Close(2), Err(Refusal::ClosedOtherwise));
    check(&[Close(1), Seal(1), Reveal], &Close(1), Ok(0));
    check(&[Discard], &Close(1), Err(Refusal::Revealed));
    check(&[], &Seal(1), Err(Refusal::NotClosed));
    check(&[Close(1)], &Seal(2), Err(Refusal::NotTheClosing));
    let mut absent = sealing(1);
    absent.rows[0].status = RowStatus::Absent;
    let mut added = sealing(1);
    added.rows.push(TranscriptRow { seat: 2, player: PlayerId([6; 16]), ..absent.rows[0] });
    for other in [absent, added] {
        assert_eq!(closed().seal(other), Err(Refusal::NotTheClosing));
    }
}

/// fairness/SPEC.md §8.4.
#[test]
fn a_closing_is_signed() {
    let mut hand = Hand::try_new(committed(), seed(4)).unwrap();
    let (made, _) = hand.close(closing_rows(1), &signing_key()).unwrap();
    let (context, dealer) = (committed().context(), committed().commitment);
    let closing = Closing::try_new(&context, &dealer, &closing_rows(1)).unwrap();
    assert_eq!(made.closing, closing);
    let public = signing_key().verifying_key().to_bytes();
    assert_eq!(made.key_id, KeyId::of(&public).0);
    let text = ClosingStatement { context: &context, dealer: &dealer, closing: &closing };
    assert_eq!(text.verify(&public, &made.signature), Ok(()));
}

/// fairness/SPEC.md §3.7.
#[test]
fn a_hand_that_was_withheld_from_is_not_played() {
    let mut hand = Hand::try_new(committed(), seed(4)).unwrap();
    let mut sealing = sealing(1);
    sealing.rows[0].status = RowStatus::Withheld;
    assert_eq!(hand.seal(sealing), Err(Refusal::Withheld));
}

/// fairness/SPEC.md §3.7, §3.10.
#[test]
fn chance_comes_after_the_seal_and_before_the_reveal() {
    check(&[], &Ops(vec![roll(0, 6)], vec![]), Err(Refusal::NotSealed));
    check(&[Close(1), Seal(1)], &Ops(vec![roll(0, 6)], vec![]), Ok(1));
    let done = Ops(vec![roll(0, 6)], vec![]);
    for reveal in [Reveal, Discard] {
        let over = Ops(vec![roll(0, 6)], vec![]);
        check(&[Close(1), Seal(1), reveal.clone()], &over, Err(Refusal::Revealed));
        check(&[Close(1), Seal(1), done.clone(), reveal], &done, Ok(0));
    }
}

#[test]
fn operations_done_before_make_no_event_and_openings_always_do() {
    let given = [Close(1), Seal(1), Ops(vec![shuffle(0)], vec![])];
    let when = Ops(vec![shuffle(0), roll(1, 6)], vec![deal(Reason::Deal, &[(0, 0), (0, 1)])]);
    check(&given, &when, Ok(2));
    let other = Ops(vec![roll(0, 6)], vec![]);
    check(&given, &other, Err(ShoeError::IndexUsed { index: 0 }.into()));
    let gap = Ops(vec![roll(2, 6)], vec![]);
    check(&given, &gap, Err(ShoeError::IndexGap { index: 2, next: 1 }.into()));
}

/// fairness/SPEC.md §3.9, §3.10.
#[test]
fn only_recovery_opens_what_moved_or_what_is_over() {
    let handles = (0..76).map(|position| Handle { op: 0, position }).collect();
    let input = ShuffleInput::Cards(handles);
    let again =
        IndexedOperation { index: 1, request: OperationRequest::Shuffle { pile: 0, input } };
    let given = [Close(1), Seal(1), Ops(vec![shuffle(0), again], vec![])];
    let stale = Handle { op: 0, position: 9 };
    for reason in [Reason::Deal, Reason::Rule, Reason::Show] {
        let when = Ops(vec![], vec![deal(reason, &[(0, 9)])]);
        check(&given, &when, Err(ShoeError::CardStale(stale).into()));
        let over = Ops(vec![], vec![deal(reason, &[(1, 9)])]);
        check(&[&given[..], &[Reveal]].concat(), &over, Err(Refusal::Revealed));
    }
    let recovery = Ops(vec![], vec![deal(Reason::Recovery, &[(0, 9)])]);
    check(&given, &recovery, Ok(1));
    check(&[&given[..], &[Reveal]].concat(), &recovery, Ok(1));
}

#[test]
fn a_hand_is_revealed_once_and_stays_what_it_was_revealed_as() {
    check(&[], &Reveal, Err(Refusal::NotSealed));
    check(&[Close(1), Seal(1)], &Reveal, Ok(1));
    check(&[Close(1), Seal(1), Reveal], &Reveal, Ok(0));
    check(&[], &Discard, Ok(1));
    check(&[Close(1), Seal(1), Ops(vec![shuffle(0)], vec![])], &Discard, Ok(1));
    check(&[Discard], &Discard, Ok(0));
    let was = |discarded| Err(Refusal::RevealedOtherwise { discarded });
    check(&[Close(1), Seal(1), Reveal], &Discard, was(false));
    check(&[Close(1), Seal(1), Discard], &Reveal, was(true));
    check(&[Discard], &Reveal, was(true));
}

#[test]
fn a_seed_that_was_not_committed_to_is_no_hand() {
    assert!(matches!(Hand::try_new(committed(), seed(5)), Err(Contradiction::Seed)));
}

/// A hand with all its steps done, and the events that it made.
fn life() -> (Hand, Vec<Event>) {
    let mut hand = Hand::try_new(committed(), seed(4)).unwrap();
    let steps = [
        Close(1),
        Seal(1),
        Ops(vec![shuffle(0), roll(1, 6)], vec![deal(Reason::Deal, &[(0, 0)])]),
        Ops(vec![roll(2, 20)], vec![]),
        Reveal,
    ];
    let events = steps.iter().flat_map(|step| take(&mut hand, step).unwrap()).collect();
    (hand, events)
}

#[test]
fn a_replayed_hand_gives_the_same_answers() {
    let (mut lived, events) = life();
    let mut replayed = Hand::try_new(committed(), seed(4)).unwrap();
    for event in events {
        replayed.replay(event).unwrap();
    }
    let asked = PerformCommand {
        operations: vec![shuffle(0), roll(1, 6), roll(2, 20)],
        card_reveals: vec![deal(Reason::Deal, &[(0, 0), (0, 75)])],
    };
    assert_eq!(replayed.repeat(&asked), lived.repeat(&asked));
    assert_eq!(replayed.reveal(false), Ok((seed(4), vec![])));
    assert_eq!(replayed.reveal(true), Err(Refusal::RevealedOtherwise { discarded: false }));
}

#[test]
fn what_is_opened_is_proved_against_the_root_of_its_shuffle() {
    let mut hand = closed();
    hand.seal(sealing(1)).unwrap();
    let handles = (0..76).rev().map(|position| Handle { op: 0, position }).collect();
    let again = OperationRequest::Shuffle { pile: 0, input: ShuffleInput::Cards(handles) };
    let asked = PerformCommand {
        operations: vec![shuffle(0), IndexedOperation { index: 1, request: again }],
        card_reveals: vec![
            deal(Reason::Recovery, &[(0, 0), (0, 75)]),
            deal(Reason::Deal, &[(1, 0), (1, 75)]),
        ],
    };
    let (performed, _) = hand.perform(&asked, &caller()).unwrap();
    assert_eq!(hand.repeat(&asked), Ok(performed.clone()));
    let roots: Vec<_> = performed.results.iter().map(|done| done.root).collect();
    assert!(roots[0].is_some() && roots[0] != roots[1]);
    for (root, opened) in roots.iter().zip(&performed.revealed_cards) {
        assert_eq!(opened.len(), 2);
        assert!(opened.iter().all(|opened| opened.root() == *root));
    }
}

#[test]
fn a_repeat_performs_nothing_new() {
    let (mut hand, _) = life();
    let asked = PerformCommand { operations: vec![roll(3, 6)], card_reveals: vec![] };
    assert_eq!(hand.repeat(&asked), Err(ShoeError::IndexGap { index: 3, next: 3 }.into()));
}

#[test]
fn every_forged_event_is_found() {
    let forge = |at: usize, forged: Event| {
        let (_, mut events) = life();
        events[at] = forged;
        let mut hand = Hand::try_new(committed(), seed(4)).unwrap();
        events.into_iter().try_for_each(|event| hand.replay(event))
    };
    let transcript = Transcript([0; 32]);
    let sealed = forge(1, Event::SeedSealed { transcript, seal_input: sealing(1) });
    assert_eq!(sealed, Err(Contradiction::Transcript));
    let (_, events) = life();
    let Event::OperationPerformed { operation, result: mut done } = events[3].clone() else {
        panic!("a roll")
    };
    done.values[0] = 7;
    let rolled = forge(3, Event::OperationPerformed { operation, result: done });
    assert_eq!(rolled, Err(Contradiction::Result(1)));
    let Event::OperationPerformed { operation, result: done } = events[2].clone() else {
        panic!("a shuffle")
    };
    assert!(done.root.is_some());
    let laid = |root| {
        let done = OperationResult { root, ..done.clone() };
        forge(2, Event::OperationPerformed { operation: operation.clone(), result: done })
    };
    assert_eq!(laid(Some([9; 32])), Err(Contradiction::Result(0)));
    assert_eq!(laid(None), Ok(()), "a record older than roots");
    let Event::OperationPerformed { operation: rolled, result: mut rooted } = events[3].clone()
    else {
        panic!("a roll")
    };
    rooted.root = Some([9; 32]);
    let rooted = Event::OperationPerformed { operation: rolled, result: rooted };
    assert_eq!(forge(3, rooted), Err(Contradiction::Result(1)), "dice have no root");
    let other = Event::SeedOpened { seed: seed(9), discarded: false };
    assert_eq!(forge(6, other), Err(Contradiction::Seed));
    assert_eq!(forge(0, Event::SeedCommitted(committed())), Err(Contradiction::Order));
    let missing = forge(1, events[3].clone());
    assert_eq!(missing, Err(Contradiction::Refused(Refusal::NotSealed)));
    let Event::CommitmentsClosed(mut closed) = events[0].clone() else { panic!("a closing") };
    closed.closing.0[0] ^= 1;
    assert_eq!(forge(0, Event::CommitmentsClosed(closed)), Err(Contradiction::Closing));
    assert_eq!(forge(1, events[0].clone()), Err(Contradiction::Order));
}

#[test]
fn cards_and_seeds_do_not_print() {
    let (mut hand, events) = life();
    let asked = PerformCommand {
        operations: vec![],
        card_reveals: vec![deal(Reason::Deal, &[(0, 0), (0, 1)])],
    };
    let shown = format!("{:?}", hand.repeat(&asked).unwrap());
    assert_eq!(shown, "Performed { results: [], opened: [2] cards }");
    assert!(format!("{:?}", events.last().unwrap()).contains("Seed(..)"));
    assert!(format!("{hand:?}").contains("seed: Seed(..)"));
}
