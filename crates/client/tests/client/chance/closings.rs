//! Closings, reveals and blame: what is revealed, when, and what is demanded before.

use proto::common::v1::AbortCause;
use std::sync::Arc;

use client::evidence::{EvidenceKey, EvidenceStore, MemoryEvidence};
use fairness::ClosingRow;
use fairness::evidence::{Conflict, Entry, Opening, conflicts};

use super::*;
use crate::hand_fixture::OTHER;

const OTHERS: Entropy = Entropy([0x77; 32]);

fn closed(player: &Player, rows: &[ClosingRow]) -> What {
    What::Entropy(player.fixture.closed_with(rows))
}

fn burnt(seats: Vec<u32>) -> What {
    let cause = AbortCause::Withheld.into();
    What::Voided(pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() })
}

/// fairness/SPEC.md §3.5.
#[test]
fn a_closing_that_is_not_that_of_the_hand_reveals_nothing() {
    type Bend = fn(&mut Player, &mut pb::Entropy, &[u8]);
    let wrong = ViolationKind::WrongClosing;
    let bends: [(Bend, ViolationKind); 9] = [
        (|_, entropy, _| entropy.closing = None, ViolationKind::Missing("the dealer's closing")),
        (
            |_, entropy, _| entropy.closing.as_mut().unwrap().signature[0] ^= 1,
            ViolationKind::ClosingSignature,
        ),
        (
            |player, entropy, own| {
                let stranger = ed25519_dalek::SigningKey::from_bytes(&[9; 32]);
                let fixture = HandFixture { dealer: stranger, ..HandFixture::new("dice") };
                let rows = player.fixture.closing_rows(Some(own), None);
                entropy.closing = Some(fixture.closing(&rows));
            },
            ViolationKind::ClosingSignature,
        ),
        (
            |_, entropy, _| entropy.closing.as_mut().unwrap().closing[0] ^= 1,
            wrong("its hash is not that of its rows"),
        ),
        (
            |_, entropy, _| entropy.closing.as_mut().unwrap().rows.swap(0, 1),
            wrong("its seats do not come once and ascending"),
        ),
        (
            |player, entropy, own| {
                let rows = player.fixture.closing_rows(Some(own), None);
                entropy.closing = Some(player.fixture.closing(&rows[..1]));
            },
            wrong("its seats are not those dealt in"),
        ),
        (
            |player, entropy, own| {
                let mut rows = player.fixture.closing_rows(Some(own), None);
                rows[1].player = PlayerId([8; 16]);
                entropy.closing = Some(player.fixture.closing(&rows));
            },
            wrong("its players are not those dealt in"),
        ),
        (
            |player, entropy, _| {
                let rows = player.fixture.closing_rows(Some(&[1; 32]), None);
                entropy.closing = Some(player.fixture.closing(&rows));
            },
            ViolationKind::CommitmentDropped,
        ),
        (
            |player, entropy, _| {
                let rows = player.fixture.closing_rows(None, None);
                entropy.closing = Some(player.fixture.closing(&rows));
            },
            ViolationKind::CommitmentDropped,
        ),
    ];
    for (bend, what) in bends {
        let mut player = player();
        let own = player.commit_with_receipt();
        let mut entropy = player.fixture.closed(Some(&own), None);
        bend(&mut player, &mut entropy, &own);
        check_violation(player.apply(What::Entropy(entropy)), (PartyAtFault::Table, what), true);
        assert_eq!(player.next(), None, "nothing is revealed");
    }
}

/// A commitment that no receipt was given for may be left out, but nobody else may make one in this
/// client's name.
#[test]
fn only_what_this_client_committed_to_stands_in_its_row() {
    let mut player = player();
    player.commit();
    let rows = player.fixture.closing_rows(Some(&[1; 32]), None);
    let what = ViolationKind::WrongClosing("it has a commitment in this client's name");
    check_violation(player.apply(closed(&player, &rows)), (PartyAtFault::Table, what), false);
    assert_eq!(player.next(), None);
}

/// The receipt comes after the closing that lacks the commitment.
#[test]
fn a_late_receipt_for_a_commitment_that_was_left_out_is_found() {
    let mut player = player();
    let (commitment, key) = player.commit();
    player.apply(What::Entropy(player.fixture.closed(None, None))).unwrap();
    let receipt = player.fixture.receipt(&commitment, &key);
    let dropped = (PartyAtFault::Table, ViolationKind::CommitmentDropped);
    let seen = player.chance.accept_receipt(HAND, &receipt);
    let evidence = seen.as_ref().unwrap_err().evidence.clone();
    check_violation(seen, dropped, true);
    let found = conflicts(&evidence);
    assert!(matches!(found[..], [Conflict::ReceiptNotInClosing { .. }]), "{found:?}");
}

/// The dealer closes the commitments twice: the house's seat has fitted its number to what this
/// client has revealed.
#[test]
fn a_second_closing_convicts_the_dealer_and_moves_nothing() {
    let mut player = player();
    let own = player.commit_with_receipt();
    let fixture = HandFixture::new("dice");
    let first = fixture.closing_rows(Some(&own), None);
    player.apply(closed(&player, &first)).unwrap();
    assert!(matches!(player.next(), Some(EntropyMessage::Reveal { .. })));
    let second = fixture.closing_rows(Some(&own), Some(OTHERS));
    let seen = player.apply(closed(&player, &second));
    let evidence = seen.as_ref().unwrap_err().evidence.clone();
    check_violation(seen, (PartyAtFault::Dealer, ViolationKind::SecondClosing), true);
    let found = conflicts(&evidence);
    let [Conflict::TwoClosings { first, second }] = found[..] else { panic!("{found:?}") };
    for at in [first, second] {
        let Entry::Signed(signed) = &evidence[at] else { panic!("a signed text") };
        signed.statement().unwrap();
        assert_eq!(signed.key, fixture.dealer.verifying_key().to_bytes());
    }
}

/// The store outlives the process: what another process revealed under is known.
#[test]
fn a_number_is_revealed_once_also_after_a_restart() {
    let store: Arc<dyn EvidenceStore> = Arc::new(MemoryEvidence::default());
    let start = |store: &Arc<dyn EvidenceStore>| {
        let fixture = HandFixture::new("dice");
        let secret = Secret::from_bytes(SECRET);
        let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, fixture.trusted_keys());
        Player { chance: chance.with_evidence(Arc::clone(store)), fixture }
    };
    let snapshot = |player: &mut Player, rows: &[ClosingRow]| {
        let entropy = Some(player.fixture.closed_with(rows));
        let view = pb::TableView { entropy, ..player.fixture.view() };
        player.chance.apply(&WatchMessage::Snapshot(Box::new(view)))
    };
    let mut before = start(&store);
    let view = before.fixture.view();
    before.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    let entropy = before.commit_and_reveal();
    let own = before.fixture.commitment_of(SEAT, PlayerId(ME), &entropy).0;
    let rows = before.fixture.closing_rows(Some(&own), None);
    let mut same = start(&store);
    snapshot(&mut same, &rows).unwrap();
    assert!(matches!(same.next(), Some(EntropyMessage::Reveal { .. })), "the very same again");
    let mut other = start(&store);
    let rows = other.fixture.closing_rows(Some(&own), Some(OTHERS));
    let seen = snapshot(&mut other, &rows).unwrap_err();
    assert_eq!((seen.party, &seen.kind), (PartyAtFault::Dealer, &ViolationKind::SecondClosing));
    assert_eq!(other.next(), None);
    // Another seed for the same number: another context would do as well.
    let mut third = start(&store);
    third.fixture.seed = 8;
    let view = pb::TableView { next_hand: Some(third.fixture.next_hand()), ..third.fixture.view() };
    let seen = third.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap_err();
    assert!(matches!(seen.kind, ViolationKind::SecondCommitment { .. }));
    assert_eq!(third.next(), None);
}

/// Everything that a message speaks of is stored when the message is due.
#[test]
fn evidence_is_stored_before_what_it_speaks_of_is_sent() {
    let store = Arc::new(MemoryEvidence::default());
    let mut player = player();
    let secret = Secret::from_bytes(SECRET);
    let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, player.fixture.trusted_keys());
    player.chance = chance.with_evidence(store.clone());
    let view = player.fixture.view();
    player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    let key = EvidenceKey { player: Some(PlayerId(ME)), table: TABLE, hand_no: HAND };
    let stored = |kind: fn(&Opening) -> bool| {
        let entries = store.load(&key).unwrap();
        entries.iter().any(|entry| match entry {
            Entry::Open(bytes) => kind(&Opening::parse(bytes).unwrap()),
            Entry::Signed(_) | Entry::Note { .. } => false,
        })
    };
    assert!(store.load(&key).unwrap().is_empty());
    let (own, public) = player.commit();
    assert!(stored(|it| matches!(it, Opening::Context { .. })));
    assert!(stored(|it| matches!(it, Opening::ClientCommitment { .. })));
    let receipt = player.fixture.receipt(&own, &public);
    player.chance.accept_receipt(HAND, &receipt).unwrap();
    let closing = What::Entropy(player.fixture.closed(Some(&own), None));
    player.apply(closing).unwrap();
    assert!(!stored(|it| matches!(it, Opening::Closing { .. })), "nothing was sent yet");
    player.next().unwrap();
    assert!(stored(|it| matches!(it, Opening::Closing { .. })));
    let signed = |entry: &&Entry| matches!(entry, Entry::Signed(_));
    assert_eq!(store.load(&key).unwrap().iter().filter(signed).count(), 3);
}

/// A store whose disk is full.
struct Full;

impl EvidenceStore for Full {
    fn load(&self, _: &EvidenceKey) -> std::io::Result<Vec<Entry>> {
        Ok(Vec::new())
    }
    fn append(&self, _: &EvidenceKey, _: &[Entry]) -> std::io::Result<()> {
        Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
    }
    fn last_hand(
        &self,
        _: Option<PlayerId>,
        _: primitives::TableId,
    ) -> std::io::Result<Option<u64>> {
        Ok(None)
    }
}

#[test]
fn nothing_is_sent_that_cannot_be_kept() {
    let mut player = player();
    let secret = Secret::from_bytes(SECRET);
    let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, player.fixture.trusted_keys());
    player.chance = chance.with_evidence(Arc::new(Full));
    let view = player.fixture.view();
    player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    for _ in 0..2 {
        let error = player.chance.next_message().unwrap_err();
        assert!(matches!(error, client::Error::Evidence(_)), "{error}");
    }
}

/// fairness/SPEC.md §3.6.
#[test]
fn blame_that_a_receipt_refutes_is_found() {
    let mut player = player();
    player.commit_and_reveal();
    let blamed = (PartyAtFault::Table, ViolationKind::BlamedDespiteReceipt);
    let seen = player.apply(burnt(vec![SEAT.into(), OTHER.into()]));
    assert!(seen.as_ref().unwrap_err().evidence.len() >= 6);
    check_violation(seen, blamed, true);
    // Of others it says nothing, and without a receipt nothing is proved.
    let mut player = self::player();
    player.commit_and_reveal();
    player.apply(burnt(vec![OTHER.into()])).unwrap();
    let mut player = self::player();
    let own = player.commit_with_receipt();
    player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
    player.apply(burnt(vec![SEAT.into()])).unwrap();
}

#[test]
fn who_never_committed_cannot_withhold() {
    let mut player = player();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    player.apply(What::Entropy(player.fixture.closed(None, Some(OTHERS)))).unwrap();
    let blamed = (PartyAtFault::Table, ViolationKind::BlamedWithoutCommitment);
    check_violation(player.apply(burnt(vec![SEAT.into()])), blamed, false);
    let mut player = self::player();
    player.apply(What::Entropy(player.fixture.entropy(false, &[]))).unwrap();
    let missing = (PartyAtFault::Table, ViolationKind::Missing("the dealer's closing"));
    check_violation(player.apply(burnt(vec![SEAT.into()])), missing, false);
}

#[test]
fn a_reveal_gets_a_receipt_for_what_was_revealed() {
    let reveal = |bend: fn(pb::RevealReceipt) -> Option<pb::RevealReceipt>| {
        let mut player = player();
        let own = player.commit_with_receipt();
        player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
        let Some(EntropyMessage::Reveal { entropy, .. }) = player.next() else { panic!("reveals") };
        let receipt = bend(player.fixture.reveal_receipt(entropy));
        player.chance.reveal_accepted(HAND, receipt.as_ref())
    };
    let check = |bend, what| check_violation(reveal(bend), (PartyAtFault::Table, what), true);
    reveal(Some).unwrap();
    let other = ViolationKind::ReceiptContent;
    check(|it| Some(pb::RevealReceipt { seat: 9, ..it }), other("another seat"));
    check(|it| Some(pb::RevealReceipt { entropy: vec![], ..it }), other("other entropy"));
    check(|it| Some(pb::RevealReceipt { position: 1, ..it }), ViolationKind::ReceiptSignature);
}

/// Only an opening of a burnt number gets no receipt, and the burn may be announced after the answer.
#[test]
fn what_counts_as_revealed_has_a_receipt() {
    let unreceipted = || {
        let mut player = player();
        let own = player.commit_with_receipt();
        player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
        let Some(EntropyMessage::Reveal { entropy, .. }) = player.next() else { panic!("reveals") };
        player.chance.reveal_accepted(HAND, None).unwrap();
        (player, entropy)
    };
    let missing = ViolationKind::Missing("a receipt for revealed entropy");
    let missing = (PartyAtFault::Table, missing);
    let (mut player, entropy) = unreceipted();
    let rows = player.fixture.rows(Some(entropy));
    let started = What::HandStarted(player.fixture.started(&rows));
    check_violation(player.apply(started), missing.clone(), true);
    // The answer comes after the hand.
    let mut player = self::player();
    let own = player.commit_with_receipt();
    player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
    player.next().unwrap();
    player.apply(What::HandStarted(player.fixture.started(&rows))).unwrap();
    check_violation(player.chance.reveal_accepted(HAND, None), missing.clone(), true);
    let (mut player, _) = unreceipted();
    check_violation(player.apply(burnt(vec![OTHER.into()])), missing, true);
    let (mut player, _) = unreceipted();
    player.apply(burnt(vec![SEAT.into(), OTHER.into()])).unwrap();
    assert_eq!(player.next(), None, "it is opened already");
}

/// A burn hides nothing for good: what its hand would have been can be computed once the entropy is
/// open too.
#[test]
fn entropy_that_came_too_late_is_opened_all_the_same() {
    // What is due was not sent, not answered, or refused because the number was burnt.
    for (sends, refuses) in [(false, false), (true, false), (true, true)] {
        let mut player = player();
        let own = player.commit_with_receipt();
        player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
        let sent = if sends { player.next() } else { None };
        if let Some(due) = sent.filter(|_| refuses) {
            let late = client::Refusal {
                reason: Some(common::ErrorReason::ChanceRefused),
                message: String::new(),
                field: None,
                trace_id: None,
                metadata: Default::default(),
                retry_after: None,
            };
            player.chance.refused(&due, &late);
        }
        player.apply(burnt(vec![SEAT.into()])).unwrap();
        if !sends || refuses {
            let opened = player.next();
            let Some(EntropyMessage::Reveal { hand_no: HAND, seat: SEAT, entropy }) = opened else {
                panic!("it opens {opened:?}")
            };
            assert_eq!(player.fixture.commitment_of(SEAT, PlayerId(ME), &entropy).0, own[..]);
        }
        assert_eq!(player.next(), None, "once");
        player.chance.reveal_accepted(HAND, None).unwrap();
    }
    // Others' burns, and a closing that was never shown, open nothing.
    let mut player = player();
    let own = player.commit_with_receipt();
    player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
    player.apply(burnt(vec![OTHER.into()])).unwrap();
    assert_eq!(player.next(), None);
}

/// The house's seats are the only ones whose numbers are in the hand.
#[test]
fn a_hand_without_the_own_number_is_given_up() {
    let mut player = player();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    player.next().unwrap();
    player.apply(What::Entropy(player.fixture.closed(None, Some(OTHERS)))).unwrap();
    assert_eq!(player.next(), None);
    assert_eq!(player.chance.take_notices(), [Notice::NotInClosing { hand_no: HAND }]);
    assert!(player.chance.must_fold(HAND));
    let rows = player.fixture.rows_of(None, Some(OTHERS));
    player.apply(What::HandStarted(player.fixture.started(&rows))).unwrap();
    assert!(player.chance.must_fold(HAND));
    assert_eq!(player.chance.due_fold(), None, "it is not its turn");
    let kinds = |kinds: &[common::MoveKind]| {
        kinds
            .iter()
            .map(|kind| common::LegalMove { kind: (*kind).into(), ..Default::default() })
            .collect::<Vec<_>>()
    };
    let asks = |legal| {
        let turn = pb::Turn { seat: SEAT.into(), turn: 3, legal, ..Default::default() };
        What::Action(pb::HandAction { hand_no: HAND, turn: Some(turn), ..Default::default() })
    };
    player.apply(asks(kinds(&[common::MoveKind::Match, common::MoveKind::Fold]))).unwrap();
    let (hand_no, turn, fold) = player.chance.due_fold().unwrap();
    assert_eq!((hand_no, turn, fold.kind()), (HAND, 3, common::MoveKind::Fold));
    assert_eq!(player.chance.sign_decision(HAND, &fold).unwrap(), [0; 0], "it has no key");
    // Its user may want it otherwise.
    let blind = player.chance.playing_blind();
    assert!(!blind.must_fold(HAND));
}

/// A client that the user does not look at takes part in nothing new, and stands by what it
/// committed to.
#[test]
fn in_the_background_nothing_new_is_committed_to() {
    let mut player = player();
    let own = player.commit_with_receipt();
    player.chance.set_in_front(false);
    player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
    assert!(matches!(player.next(), Some(EntropyMessage::Reveal { .. })));
    let mut player = self::player();
    player.chance.set_in_front(false);
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    assert_eq!(player.next(), None);
    player.chance.set_in_front(true);
    assert!(matches!(player.next(), Some(EntropyMessage::Commit { .. })));
}

/// Two closings arrive before this client has revealed: it reveals under neither.
#[test]
fn nothing_is_revealed_over_a_closing_that_another_contradicts() {
    let mut player = player();
    let own = player.commit_with_receipt();
    player.apply(What::Entropy(player.fixture.closed(Some(&own), Some(OTHERS)))).unwrap();
    let second = player.fixture.closed(Some(&own), Some(Entropy([0; 32])));
    let violation = player.apply(What::Entropy(second)).unwrap_err();
    assert_eq!(violation.kind, ViolationKind::SecondClosing);
    assert_eq!(player.next(), None);
}

/// The attack that closings exist for: a seat of the house waits for what the others reveal, then
/// chooses its own number until the hand suits it. The table sends whatever it likes.
#[test]
fn a_house_seat_cannot_choose_its_number_after_the_others() {
    let mut player = player();
    let own = player.commit_with_receipt();
    let fixture = HandFixture::new("dice");
    // With nothing closed, nothing is revealed, so there is nothing to fit a number to.
    let open = pb::Entropy { closing: None, ..fixture.entropy(true, &[SEAT]) };
    assert!(player.apply(What::Entropy(open)).is_err());
    assert_eq!(player.next(), None);
    // Once it is revealed, every other number of that seat is refused, however it is announced.
    let mut player = self::player();
    assert_eq!(player.commit_with_receipt(), own);
    player.apply(What::Entropy(fixture.closed(Some(&own), Some(OTHERS)))).unwrap();
    let Some(EntropyMessage::Reveal { entropy, .. }) = player.next() else { panic!("it reveals") };
    let mut outcomes = std::collections::BTreeSet::new();
    for tried in 0..64 {
        let fitted = Entropy([tried; 32]);
        let rows = fixture.rows_of(Some(entropy), Some(fitted));
        let result = player.apply(What::HandStarted(fixture.started(&rows)));
        assert_eq!(result.unwrap_err().kind, ViolationKind::NotAsClosed, "{tried}");
        let closing = fixture.closing_rows(Some(&own), Some(fitted));
        let violation = player.apply(closed(&player, &closing)).unwrap_err();
        assert_eq!(
            (violation.party, violation.kind),
            (PartyAtFault::Dealer, ViolationKind::SecondClosing)
        );
        outcomes.insert(fixture.transcript(&rows).0);
    }
    assert_eq!(outcomes.len(), 64, "each would have given another hand");
    let rows = fixture.rows_of(Some(entropy), Some(OTHERS));
    player.apply(What::HandStarted(fixture.started(&rows))).unwrap();
}

/// The table lies to one of two clients: each keeps the closing that it was sent, and both together
/// convict the dealer.
#[test]
fn two_clients_that_were_sent_two_closings_hold_the_proof() {
    let play_against = |other| {
        let mut player = player();
        let own = player.commit_with_receipt();
        player.apply(What::Entropy(player.fixture.closed(Some(&own), other))).unwrap();
        player.next().unwrap();
        let rows = player.fixture.rows_of(None, Some(Entropy([3; 32])));
        player.apply(What::HandStarted(player.fixture.started(&rows))).unwrap_err().evidence
    };
    let (one, two) = (play_against(Some(OTHERS)), play_against(None));
    assert_eq!(conflicts(&one), []);
    let found = conflicts(&[one, two].concat());
    assert!(matches!(found[..], [Conflict::TwoClosings { .. }]), "{found:?}");
}
