//! A dealer in memory that follows the scheme, unless it is set to misbehave.

use std::collections::BTreeMap;

use fairness::{
    ClientCommitment, Closing, ClosingRow, Commitment, Context, Entropy, Handle, Keys,
    OperationRequest, PublicOutcome, RowStatus, Seed, Shoe, ShuffleInput, Transcript,
    TranscriptRow,
};
use primitives::TableId;
use proto::common::v1::{self as common, EntropyStatus, ErrorReason};
use proto::dealer::v1 as pb;
use wire::api_refusal;
use wire::card_positions::handle_from_pb;
use zeroize::Zeroizing;

use crate::peers::{CallFailure, PeerCall, Reply};

const ORIGIN: &str = "test/dealer";

/// Misbehaviour of a dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Misbehaviour {
    #[default]
    None,
    /// Answers nothing.
    Silent,
    /// Opens another seed than it has committed to.
    OtherSeed,
    /// Closes with a hash that is not that of the rows.
    OtherClosing,
    /// Closes with other rows than were sent.
    OtherRows,
    /// Binds other entropy than the seats have revealed.
    OtherTranscript,
    /// Commits to another order of the pile than it deals.
    OtherRoot,
    /// Gives no root of a shuffle.
    NoRoot,
    /// Reveals another card than the one at the position.
    OtherCard,
    /// Reveals cards without proofs.
    NoProof,
    /// Shows another card at the end than it has dealt.
    ShowsAnother,
    /// Answers with numbers that are impossible.
    NoSuchNumber,
    /// Refuses operations.
    Refuses,
    /// Refuses because of the table's role, which says nothing about the hand.
    Denies,
    /// Has lost the seeds and opens none.
    NoSeed,
}

#[derive(Default)]
pub(crate) struct Dealer {
    pub(crate) misbehaviour: Misbehaviour,
    contexts: BTreeMap<u64, Context>,
    shoes: BTreeMap<u64, Shoe>,
    /// Hands whose seeds were opened, and whether as discarded.
    pub(crate) opened: BTreeMap<u64, bool>,
    pub(crate) rows: BTreeMap<u64, Vec<pb::EntropyRow>>,
    /// Every promise that was ever made.
    pub(crate) promised: BTreeMap<u64, common::Commitment>,
    closings: BTreeMap<u64, Vec<pb::ClosingRow>>,
}

fn seed(hand_no: u64) -> Seed {
    Seed::new(Zeroizing::new([u8::try_from(hand_no).unwrap(); 64]))
}

fn id(bytes: &[u8]) -> TableId {
    TableId::try_from(bytes).unwrap()
}

impl Dealer {
    pub(crate) fn answer(&mut self, job: &PeerCall) -> Result<Reply, CallFailure> {
        if self.misbehaviour == Misbehaviour::Silent {
            return Err(CallFailure::Retry("silent".to_owned()));
        }
        if let Some(lost) = hand_of(job).filter(|hand_no| !self.contexts.contains_key(hand_no)) {
            let words = format!("there is no commitment for hand {lost}");
            let status = api_refusal(ErrorReason::HandUnknown, words).into();
            return Err(CallFailure::Refused(Box::new(status)));
        }
        Ok(match job {
            PeerCall::Commit(request) => Reply::Committed(self.commit(request)),
            PeerCall::Close(request) => Reply::Closed(self.close(request)),
            PeerCall::Seal(request) => Reply::Sealed(self.seal(request)),
            PeerCall::Perform(request)
                if self.misbehaviour == Misbehaviour::Refuses && !request.operations.is_empty() =>
            {
                let status = api_refusal(ErrorReason::ChanceRefused, "no").into();
                return Err(CallFailure::Refused(Box::new(status)));
            }
            PeerCall::Perform(request)
                if self.misbehaviour == Misbehaviour::Denies && !request.operations.is_empty() =>
            {
                let status = api_refusal(ErrorReason::RoleNotAllowed, "no").into();
                return Err(CallFailure::Refused(Box::new(status)));
            }
            PeerCall::Perform(request) => Reply::Performed(self.perform(request)),
            PeerCall::DealUntil { request, pile, count, deck } => {
                let mut cards = Vec::new();
                let mut opened = pb::OpenedCards::default();
                for place in pile {
                    if !count.needs_more(&cards) {
                        break;
                    }
                    let one = self.open(request.hand_no, &[*place]);
                    cards.push(deck.card(one.card_ids[0]).unwrap());
                    opened.card_ids.extend(one.card_ids);
                    opened.proofs.extend(one.proofs);
                }
                let opened = vec![opened];
                Reply::Performed(pb::PerformResponse { results: Vec::new(), opened })
            }
            PeerCall::Reveal(_) if self.misbehaviour == Misbehaviour::NoSeed => {
                let status = api_refusal(ErrorReason::Corrupt, "a kept seed is missing").into();
                return Err(CallFailure::Refused(Box::new(status)));
            }
            PeerCall::Reveal(request) => {
                let before = self.opened.insert(request.hand_no, request.discarded);
                assert!(before.is_none_or(|before| before == request.discarded));
                let number =
                    request.hand_no + u64::from(self.misbehaviour == Misbehaviour::OtherSeed);
                Reply::Revealed(pb::RevealResponse { seed: seed(number).expose().to_vec() })
            }
            PeerCall::BuyIn(_)
            | PeerCall::CashOut(_)
            | PeerCall::Settle(_)
            | PeerCall::CheckStanding(_)
            | PeerCall::Nothing => {
                panic!("that is nothing to ask of a dealer")
            }
        })
    }

    /// Puts the dealer's store back to a time at which it had promised the numbers up to `last`.
    pub(crate) fn put_back(&mut self, last: u64) {
        self.contexts.retain(|hand_no, _| *hand_no <= last);
        self.shoes.retain(|hand_no, _| *hand_no <= last);
        self.opened.retain(|hand_no, _| *hand_no <= last);
        self.closings.retain(|hand_no, _| *hand_no <= last);
    }

    /// Checks that a new promise is asked for as the scheme says.
    fn check_asked(&self, request: &pb::CommitRequest) {
        let before = request.before.clone().and_then(|before| before.commitment);
        assert_eq!(before.as_ref(), self.promised.get(&(request.hand_no - 1)));
        let again = self.promised.contains_key(&request.hand_no);
        let known = self.contexts.contains_key(&request.hand_no);
        assert!(known || !again, "a lost number is promised again");
    }

    fn commit(&mut self, request: &pb::CommitRequest) -> pb::CommitResponse {
        self.check_asked(request);
        let hash: [u8; 32] = request.rules_hash.as_slice().try_into().unwrap();
        let context = Context::new(ORIGIN, id(&request.table_id), request.hand_no, &hash);
        self.contexts.insert(request.hand_no, context);
        let commitment = Commitment::new(&context, &seed(request.hand_no)).0.to_vec();
        let origin = ORIGIN.to_owned();
        let commitment = common::Commitment { commitment, origin, ..common::Commitment::default() };
        self.promised.insert(request.hand_no, commitment.clone());
        pb::CommitResponse { commitment: Some(commitment) }
    }

    fn close(&mut self, request: &pb::CloseRequest) -> pb::CloseResponse {
        let rows = self.closings.entry(request.hand_no).or_insert_with(|| request.rows.clone());
        assert_eq!(*rows, request.rows, "a closing is asked for with other rows");
        let context = &self.contexts[&request.hand_no];
        let commitment = Commitment::new(context, &seed(request.hand_no));
        let parsed: Vec<ClosingRow> = rows.iter().map(closing_row).collect();
        let mut closing = Closing::try_new(context, &commitment, &parsed).unwrap().0.to_vec();
        let mut rows = rows.clone();
        match self.misbehaviour {
            Misbehaviour::OtherClosing => closing[0] ^= 1,
            Misbehaviour::OtherRows => drop(rows.pop()),
            _ => {}
        }
        let closing = pb::Closing { closing, rows, key_id: vec![1; 8], signature: vec![2; 64] };
        pb::CloseResponse { closing: Some(closing) }
    }

    fn seal(&mut self, request: &pb::SealRequest) -> pb::SealResponse {
        self.rows.insert(request.hand_no, request.rows.clone());
        let rows: Vec<TranscriptRow> = request.rows.iter().map(row).collect();
        let context = &self.contexts[&request.hand_no];
        let seed = seed(request.hand_no);
        let commitment = Commitment::new(context, &seed);
        let transcript = Transcript::try_new(context, &commitment, None, &rows).unwrap();
        self.shoes.insert(request.hand_no, Shoe::new(Keys::derive(&transcript, &seed)));
        let mut transcript = transcript.0.to_vec();
        transcript[0] ^= u8::from(self.misbehaviour == Misbehaviour::OtherTranscript);
        pb::SealResponse { transcript }
    }

    fn perform(&mut self, request: &pb::PerformRequest) -> pb::PerformResponse {
        let mut results = Vec::new();
        for operation in &request.operations {
            let shoe = self.shoes.get_mut(&request.hand_no).unwrap();
            let answer = shoe.perform(operation.index, &ask(operation)).unwrap();
            results.push(self.result(operation.index, answer));
        }
        let opened = request.openings.iter().map(|opening| {
            let places = opening.cards.iter().map(|place| handle_from_pb(place).unwrap());
            let mut opened = self.open(request.hand_no, &places.collect::<Vec<_>>());
            let shows = opening.reason() == pb::OpeningReason::Show;
            if shows && self.misbehaviour == Misbehaviour::ShowsAnother {
                opened.card_ids.swap(0, 1);
                opened.proofs.swap(0, 1);
            }
            opened
        });
        let opened = opened.collect();
        pb::PerformResponse { results, opened }
    }

    fn result(&self, index: u32, answer: PublicOutcome) -> pb::OperationResult {
        let (mut values, mut root) = match answer {
            PublicOutcome::Shuffled { root, count } => (vec![u32::from(count)], root.to_vec()),
            PublicOutcome::Rolled(faces) => {
                (faces.into_iter().map(u32::from).collect(), Vec::new())
            }
            PublicOutcome::Pulsed(pulse) => (vec![u32::from(pulse)], Vec::new()),
            PublicOutcome::Picked(picked) => (vec![picked], Vec::new()),
            PublicOutcome::Sampled(sample) => (sample, Vec::new()),
        };
        match (self.misbehaviour, root.first_mut()) {
            (Misbehaviour::OtherRoot, Some(first)) => *first ^= 1,
            (Misbehaviour::NoRoot, Some(_)) => root.clear(),
            (Misbehaviour::NoSuchNumber, None) => values[0] = 99,
            _ => {}
        }
        pb::OperationResult { index, values, root }
    }

    fn open(&self, hand_no: u64, places: &[Handle]) -> pb::OpenedCards {
        let shoe = &self.shoes[&hand_no];
        let mut opened = pb::OpenedCards::default();
        for place in places {
            let proof = shoe.prove(*place).unwrap();
            opened.card_ids.push(proof.card);
            let (salt, path) = (proof.salt.to_vec(), proof.path.concat());
            opened.proofs.push(pb::OpenedProof { salt, path });
        }
        match self.misbehaviour {
            Misbehaviour::OtherCard => opened.card_ids[0] ^= 1,
            Misbehaviour::NoProof => opened.proofs.clear(),
            _ => {}
        }
        opened
    }
}

/// Hand of a call, which must be promised before.
fn hand_of(job: &PeerCall) -> Option<u64> {
    match job {
        PeerCall::Close(request) => Some(request.hand_no),
        PeerCall::Seal(request) => Some(request.hand_no),
        PeerCall::Perform(request) | PeerCall::DealUntil { request, .. } => Some(request.hand_no),
        PeerCall::Reveal(request) => Some(request.hand_no),
        PeerCall::Commit(_)
        | PeerCall::BuyIn(_)
        | PeerCall::CashOut(_)
        | PeerCall::Settle(_)
        | PeerCall::CheckStanding(_)
        | PeerCall::Nothing => None,
    }
}

fn row(row: &pb::EntropyRow) -> TranscriptRow {
    let bytes = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).unwrap_or_default();
    TranscriptRow {
        seat: u8::try_from(row.seat).unwrap(),
        player: primitives::PlayerId::try_from(row.player_id.as_slice()).unwrap(),
        status: match row.status() {
            EntropyStatus::Revealed => RowStatus::Revealed,
            EntropyStatus::Absent => RowStatus::Absent,
            EntropyStatus::Withheld | EntropyStatus::Unspecified => RowStatus::Withheld,
        },
        commitment: ClientCommitment(bytes(&row.commitment)),
        entropy: Entropy(bytes(&row.entropy)),
    }
}

fn closing_row(row: &pb::ClosingRow) -> ClosingRow {
    let committed = <[u8; 32]>::try_from(row.commitment.as_slice()).ok();
    ClosingRow {
        seat: u8::try_from(row.seat).unwrap(),
        player: primitives::PlayerId::try_from(row.player_id.as_slice()).unwrap(),
        commitment: committed.map(ClientCommitment),
    }
}

fn ask(operation: &pb::Operation) -> OperationRequest {
    use pb::operation::Kind;
    match operation.kind.as_ref().unwrap() {
        Kind::Shuffle(shuffle) => {
            let input = if shuffle.cards.is_empty() {
                ShuffleInput::Fresh {
                    first: u8::try_from(shuffle.first_fresh).unwrap(),
                    count: u16::try_from(shuffle.fresh).unwrap(),
                }
            } else {
                let cards = shuffle.cards.iter().map(|place| handle_from_pb(place).unwrap());
                ShuffleInput::Cards(cards.collect())
            };
            OperationRequest::Shuffle { pile: u8::try_from(shuffle.pile).unwrap(), input }
        }
        Kind::Roll(roll) => {
            let sides = roll.sides.iter().map(|sides| u8::try_from(*sides).unwrap());
            OperationRequest::Roll { sides: sides.collect() }
        }
        Kind::Pulse(pulse) => OperationRequest::Pulse { ppm: pulse.ppm },
        Kind::Pick(pick) => OperationRequest::Pick { n: pick.n },
        Kind::Sample(sample) => OperationRequest::Sample { n: sample.n, k: sample.k },
    }
}
