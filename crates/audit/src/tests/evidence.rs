//! A player's evidence against bundles: of honest hands, and of hands of which the room has sent the
//! player something else.

use ed25519_dalek::SigningKey;
use fairness::evidence::{Entry, Opening};
use fairness::{
    Chain, ClientCommitment, Closing, ClosingRow, ClosingStatement, CommitReceipt, Commitment,
    CommitmentStatement, Context, DecisionReceipt, Entropy, RevealReceipt, SignedText,
};
use primitives::PlayerId;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord};

use crate::bundle::Bundle;
use crate::hand::{self, EvidenceReport};
use crate::log_event::LogEvent;
use crate::tests::fixture::AnyRecord::{Dealer, Table};
use crate::tests::fixture::{
    EntropyBehaviour, Entry as Line, HandOptions, ORIGINS, SECRETS, Suspension, SuspensionEnd,
    TableFixture, trusted,
};

fn played(entropy: &[(u32, EntropyBehaviour)]) -> TableFixture {
    let entropy = entropy.iter().copied().collect();
    let options = HandOptions { entropy, ..HandOptions::default() };
    let mut room = TableFixture::seated(40, "dice", 3).with_options(options);
    assert!(room.play());
    room
}

fn examine(bundle: &Bundle, entries: &[Entry]) -> EvidenceReport {
    let records = bundle.records(&trusted());
    let report = hand::audit(&records);
    hand::examine(entries, &records, &report, &bundle.table_keys(&trusted()))
}

/// Position of the first decision of hand 1.
fn first_decision(room: &TableFixture) -> u64 {
    let records = room.records(1);
    let is_decision =
        |event: &&LogEvent| matches!(event.decode(), Some(TableRecord::MoveDecided(_)));
    records.hand.iter().find(is_decision).unwrap().position.0
}

fn signed(text: &impl SignedText, log: usize) -> Entry {
    let key = SigningKey::from_bytes(&SECRETS[log]);
    Entry::signed(text, &text.sign(&key), key.verifying_key().as_bytes())
}

/// What the player of a seat has of the first hand.
struct Kept {
    context: Context,
    promise: Commitment,
    seat: u8,
    player: PlayerId,
    entropy: Entropy,
    given: pb::EntropyCommitted,
    given_at: u64,
    revealed_at: u64,
    closing: dealer::Closing,
}

impl Kept {
    fn of(room: &TableFixture, seat: u8) -> Kept {
        let (context, promise) = room.promise(1);
        let records = room.records(1);
        let at = |events: &[LogEvent], fits: &dyn Fn(&TableRecord) -> bool| {
            let fits = |event: &&LogEvent| event.decode().is_some_and(|it| fits(&it));
            let found = events.iter().find(fits).unwrap();
            (found.position.0, found.decode::<TableRecord>().unwrap())
        };
        let own = u32::from(seat);
        let (given_at, given) = at(
            &records.table,
            &|it| matches!(it, TableRecord::EntropyCommitted(it) if it.seat == own),
        );
        let (revealed_at, revealed) = at(
            &records.hand,
            &|it| matches!(it, TableRecord::EntropyRevealed(it) if it.seat == own),
        );
        let (_, closed) = at(&records.hand, &|it| matches!(it, TableRecord::EntropyClosed(_)));
        let (
            TableRecord::EntropyCommitted(given),
            TableRecord::EntropyRevealed(revealed),
            TableRecord::EntropyClosed(closed),
        ) = (given, revealed, closed)
        else {
            unreachable!("they were found by their kinds")
        };
        Kept {
            context,
            promise,
            seat,
            player: PlayerId::try_from(&given.player_id[..]).unwrap(),
            entropy: Entropy(revealed.entropy[..].try_into().unwrap()),
            given,
            given_at,
            revealed_at,
            closing: closed.closing.unwrap(),
        }
    }

    fn commitment(&self) -> ClientCommitment {
        ClientCommitment(self.given.commitment[..].try_into().unwrap())
    }

    fn own_number(&self) -> Entry {
        let Kept { context, promise: dealer, seat, player, .. } = self;
        let (context, dealer, entropy) = (*context, *dealer, Entropy(self.entropy.0));
        Opening::ClientCommitment { context, dealer, seat: *seat, player: *player, entropy }.entry()
    }

    fn rows(&self) -> Vec<ClosingRow> {
        let rows = self.closing.rows.iter().map(|row| ClosingRow {
            seat: u8::try_from(row.seat).unwrap(),
            player: PlayerId::try_from(&row.player_id[..]).unwrap(),
            commitment: row.commitment[..].try_into().ok().map(ClientCommitment),
        });
        rows.collect()
    }

    /// A closing of rows, signed by the dealer, with its opening.
    fn closing(&self, rows: Vec<ClosingRow>) -> [Entry; 2] {
        let closing = Closing::try_new(&self.context, &self.promise, &rows).unwrap();
        let (context, dealer) = (self.context, self.promise);
        let text = ClosingStatement { context: &context, dealer: &dealer, closing: &closing };
        [signed(&text, 1), Opening::Closing { context, dealer, rows }.entry()]
    }

    fn commit_receipt(&self, position: u64) -> Entry {
        let commitment = self.commitment();
        let key = self.given.key[..].try_into().ok();
        let text = CommitReceipt {
            context: &self.context,
            dealer: &self.promise,
            seat: self.seat,
            player: self.player,
            commitment: &commitment,
            player_key: key,
            position,
        };
        signed(&text, 0)
    }

    fn reveal_receipt(&self, entropy: &Entropy, position: u64) -> Entry {
        let text = RevealReceipt {
            context: &self.context,
            dealer: &self.promise,
            seat: self.seat,
            player: self.player,
            entropy,
            position,
        };
        signed(&text, 0)
    }

    fn all(&self) -> Vec<Entry> {
        let mut all = vec![
            self.own_number(),
            self.commit_receipt(self.given_at),
            self.reveal_receipt(&self.entropy, self.revealed_at),
        ];
        all.extend(self.closing(self.rows()));
        all
    }
}

/// fairness/SPEC.md §16.1.
#[test]
fn an_honest_hand_has_the_players_number_everywhere_and_convicts_nobody() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let examined = examine(&room.bundle(1), &kept.all());
    assert_eq!(examined.convictions, Vec::<String>::new());
    let words = "is in the closing you were sent, the transcript, every card and die.";
    assert_eq!(examined.own_part, format!("Your own number, of seat 1, {words}"));
    let stranger = examine(&room.bundle(1), &[]);
    assert_eq!(stranger.own_part, "Your evidence has no number of yours for this hand.");
}

/// The table takes a commitment, signs for it, and the closing does not have it.
/// fairness/SPEC.md §16.1.
#[test]
fn a_commitment_that_is_left_out_convicts_by_its_receipt() {
    let honest = played(&[]);
    let kept = Kept::of(&honest, 1);
    let dropping = played(&[(1, EntropyBehaviour::Dropped)]);
    let examined = examine(&dropping.bundle(1), &kept.all());
    assert!(examined.is_missing, "{examined:?}");
    assert!(examined.own_part.contains("NOT shown to be in the transcript"), "{examined:?}");
    let found = |what: &str| examined.convictions.iter().any(|why| why.contains(what));
    assert!(found("the closing has another number or none"), "{examined:?}");
    assert!(found("the DEALER signed another closing"), "{examined:?}");
}

/// A number that came too late is kept as well: by itself it proves nothing.
#[test]
fn a_number_that_nothing_signed_speaks_of_fails_no_hand() {
    let honest = played(&[]);
    let kept = Kept::of(&honest, 1);
    let dropping = played(&[(1, EntropyBehaviour::Dropped)]);
    let examined = examine(&dropping.bundle(1), &[kept.own_number()]);
    assert!(!examined.is_missing && examined.convictions.is_empty(), "{examined:?}");
    assert!(examined.own_part.contains("is not in the transcript"), "{examined:?}");
    let receipted = [kept.own_number(), kept.commit_receipt(kept.given_at)];
    assert!(examine(&dropping.bundle(1), &receipted).is_missing);
}

/// A player who committed and left before the roster was fixed has no row. fairness/SPEC.md §16.1.
#[test]
fn a_receipted_number_of_somebody_who_is_not_in_the_roster_fails_no_hand() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let left = Kept { player: PlayerId([9; 16]), ..kept };
    let Entry::Open(opening) = left.own_number() else { unreachable!("it is an opening") };
    let commitment = Opening::parse(&opening).unwrap().hash().to_vec().into();
    let given = pb::EntropyCommitted { commitment, ..left.given.clone() };
    let left = Kept { given, ..left };
    let examined = examine(&room.bundle(1), &[left.own_number(), left.commit_receipt(1_000_000)]);
    assert!(examined.own_part.contains("NOT shown to be in"), "{examined:?}");
    assert!(!examined.is_missing && examined.convictions.is_empty(), "{examined:?}");
}

#[test]
fn a_receipt_whose_position_holds_something_else_convicts_the_table() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let bundle = room.bundle(1);
    let only = |entry: Entry| examine(&bundle, &[entry]).convictions;
    assert_eq!(only(kept.commit_receipt(kept.given_at)), Vec::<String>::new());
    assert!(only(kept.commit_receipt(kept.given_at - 1))[0].contains("a commitment of seat 1"));
    assert!(
        only(kept.reveal_receipt(&kept.entropy, kept.given_at))[0].contains("a reveal of seat 1")
    );
    let other = Entropy([9; 32]);
    assert!(only(kept.reveal_receipt(&other, kept.revealed_at))[0].contains("a reveal of seat 1"));
    // Where the records do not reach, nothing is shown.
    assert_eq!(only(kept.commit_receipt(1_000_000)), Vec::<String>::new());
}

/// Positions of a log are given once, whichever number they belong to. fairness/SPEC.md §16.1.
#[test]
fn a_receipt_for_another_number_convicts_where_the_file_shows_its_position() {
    let room = played(&[]);
    let mut kept = Kept::of(&room, 1);
    let decided = first_decision(&room);
    kept.context = Context([9; 32]);
    let bundle = room.bundle(1);
    let only = |entry: Entry| examine(&bundle, &[entry]).convictions;
    let decision =
        DecisionReceipt { context: &kept.context, chain: &Chain([5; 32]), position: decided };
    for entry in [
        kept.commit_receipt(kept.revealed_at),
        kept.reveal_receipt(&kept.entropy, kept.revealed_at),
        signed(&decision, 0),
    ] {
        let convictions = only(entry);
        assert!(convictions[0].contains("a record of another number"), "{convictions:?}");
    }
    // The file has commitments to the number after it too.
    assert_eq!(only(kept.commit_receipt(kept.given_at)), Vec::<String>::new());
    assert_eq!(only(kept.reveal_receipt(&kept.entropy, 1_000_000)), Vec::<String>::new());
}

/// A table that signs for an impossible position takes nothing back by it. fairness/SPEC.md §16.1.
#[test]
fn a_position_that_no_record_has_is_no_excuse_in_a_hand_that_has_ended() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let bundle = room.bundle(1);
    let only = |entry: Entry| examine(&bundle, &[entry]).convictions.len();
    let decision = |chain: &Chain| {
        let context = &kept.context;
        signed(&DecisionReceipt { context, chain, position: 1 << 60 }, 0)
    };
    assert_eq!(only(kept.reveal_receipt(&kept.entropy, 1 << 60)), 1);
    assert_eq!(only(decision(&Chain([5; 32]))), 1);
    let chains = hand::chains(&room.records(1));
    assert_eq!(only(decision(&chains[&first_decision(&room)])), 0, "it stands in the hand");
}

/// fairness/SPEC.md §16.1.
#[test]
fn an_exclusion_against_a_reveal_that_was_receipted_convicts_the_table() {
    let kept = Kept::of(&played(&[]), 1);
    let mut room = played(&[(1, EntropyBehaviour::Withholds)]);
    room.options.entropy.clear();
    assert!(room.play());
    let only = |entry: Entry| examine(&room.bundle(2), &[entry]).convictions;
    let convictions = only(kept.reveal_receipt(&kept.entropy, 1_000_000));
    assert!(convictions[0].contains("had revealed in number 1"), "{convictions:?}");
    let other = Kept { player: PlayerId([9; 16]), ..kept };
    let receipt = other.reveal_receipt(&other.entropy, 1_000_000);
    assert_eq!(only(receipt), Vec::<String>::new());
}

/// A key that is listed with an end signs for positions below it alone. fairness/SPEC.md §17.
#[test]
fn a_receipt_under_a_key_that_had_ended_convicts_nobody() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let (bundle, entries) = (room.bundle(1), [kept.reveal_receipt(&kept.entropy, kept.given_at)]);
    let records = bundle.records(&trusted());
    let report = hand::audit(&records);
    let convictions = |until: u64| {
        let mut keys = bundle.table_keys(&trusted());
        keys.iter_mut().for_each(|listed| listed.until = Some(until));
        hand::examine(&entries, &records, &report, &keys).convictions
    };
    assert_eq!(convictions(kept.given_at), Vec::<String>::new());
    assert_eq!(convictions(kept.given_at + 1).len(), 1);
}

/// Which record stands at a position needs no replay. fairness/SPEC.md §16.1.
#[test]
fn a_receipt_for_a_decision_convicts_in_a_hand_that_is_suspended() {
    let suspension = Some(Suspension { after: Some(2), end: SuspensionEnd::Open });
    let options = HandOptions { suspension, ..HandOptions::default() };
    let mut room = TableFixture::seated(40, "dice", 3).with_options(options);
    room.play();
    let (context, _) = room.promise(1);
    let records = room.records(1);
    let only = |position: u64| {
        let text = DecisionReceipt { context: &context, chain: &Chain([5; 32]), position };
        examine(&room.bundle(1), &[signed(&text, 0)]).convictions
    };
    let opened = records.hand[0].position.0;
    assert!(only(opened)[0].contains("a decision stands at position"));
    let last = records.hand.last().unwrap().position.0;
    assert_eq!(only(last + 1), Vec::<String>::new());
}

#[test]
fn a_burn_against_a_reveal_that_was_receipted_convicts_the_table() {
    let honest = played(&[]);
    let kept = Kept::of(&honest, 1);
    let burnt = played(&[(1, EntropyBehaviour::Withholds)]);
    let examined = examine(&burnt.bundle(1), &kept.all());
    assert!(
        examined.convictions.iter().any(|why| why.contains("burnt the hand because it had not")),
        "{examined:?}"
    );
}

#[test]
fn another_closing_or_promise_than_on_record_convicts_the_dealer() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let bundle = room.bundle(1);
    let mut rows = kept.rows();
    rows[1].commitment = Some(ClientCommitment([7; 32]));
    let examined = examine(&bundle, &kept.closing(rows));
    assert_eq!(examined.convictions, ["the DEALER signed another closing than is on record"]);
    let commitment = Commitment([7; 32]);
    let promise = CommitmentStatement {
        origin: ORIGINS[1],
        table: room.table,
        hand_no: 1,
        rules_hash: &[3; 32],
        commitment: &commitment,
    };
    let examined = examine(&bundle, &[signed(&promise, 1)]);
    assert!(
        examined.convictions[0].starts_with("the DEALER promised another seed"),
        "{examined:?}"
    );
    // What somebody else has signed convicts nobody.
    assert_eq!(examine(&bundle, &[signed(&promise, 0)]).convictions, Vec::<String>::new());
}

#[test]
fn a_decision_that_was_receipted_stands_in_the_chain() {
    let room = played(&[]);
    let kept = Kept::of(&room, 1);
    let records = room.records(1);
    let position = first_decision(&room);
    let receipt = |chain: &Chain, position: u64| {
        signed(&DecisionReceipt { context: &kept.context, chain, position }, 0)
    };
    let other = Chain([5; 32]);
    let examined = examine(&room.bundle(1), &[receipt(&other, position)]);
    assert!(examined.convictions[0].contains("a decision stands at position"), "{examined:?}");
    let chains = hand::chains(&records);
    let examined = examine(&room.bundle(1), &[receipt(&chains[&position], position)]);
    assert_eq!(examined.convictions, Vec::<String>::new());
}

/// Records that are not proved convict nobody.
#[test]
fn without_proof_nobody_is_convicted() {
    let honest = played(&[]);
    let kept = Kept::of(&honest, 1);
    let mut forged = honest.clone();
    for Line { recorded, .. } in &mut forged.script.entries {
        if let Table(TableRecord::EntropyClosed(closed)) = recorded {
            closed.closing.as_mut().unwrap().closing[0] ^= 1;
        }
        if let Dealer(DealerRecord::CommitmentsClosed(closed)) = recorded {
            closed.closing.as_mut().unwrap().closing[0] ^= 1;
        }
    }
    let mut bundle = forged.bundle(1);
    bundle.dealer.checkpoint = honest.bundle(1).dealer.checkpoint;
    assert_eq!(examine(&bundle, &kept.all()).convictions, Vec::<String>::new());
}
