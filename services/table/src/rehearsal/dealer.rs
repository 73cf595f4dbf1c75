//! A dealer in memory that follows the scheme, unless it is told to misbehave.

use std::collections::BTreeMap;

use fairness::{
    Answer, Ask, ClientCommitment, Commitment, Context, Entropy, Handle, Keys, Row, Seed, Shoe,
    ShuffleInput, Status, Transcript,
};
use primitives::TableId;
use proto::common::v1::ErrorReason;
use proto::dealer::v1 as pb;
use wire::places::handle_from_pb;
use wire::refused;
use zeroize::Zeroizing;

use crate::peers::{Failure, Job, Reply};

const ORIGIN: &str = "test/dealer";

/// Misbehaviour of a dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ill {
    #[default]
    Well,
    /// Answers nothing.
    Silent,
    /// Opens another seed than it has committed to.
    OtherSeed,
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
    pub(crate) ill: Ill,
    contexts: BTreeMap<u64, Context>,
    shoes: BTreeMap<u64, Shoe>,
    /// Hands whose seeds were opened, and whether as discarded.
    pub(crate) opened: BTreeMap<u64, bool>,
    pub(crate) rows: BTreeMap<u64, Vec<pb::EntropyRow>>,
}

fn seed(hand_no: u64) -> Seed {
    Seed::new(Zeroizing::new([u8::try_from(hand_no).unwrap(); 64]))
}

fn id(bytes: &[u8]) -> TableId {
    TableId::try_from(bytes).unwrap()
}

impl Dealer {
    pub(crate) fn answer(&mut self, job: &Job) -> Result<Reply, Failure> {
        if self.ill == Ill::Silent {
            return Err(Failure::Again("silent".to_owned()));
        }
        Ok(match job {
            Job::Commit(request) => Reply::Committed(self.commit(request)),
            Job::Seal(request) => Reply::Sealed(self.seal(request)),
            Job::Perform(request) if self.ill == Ill::Refuses && !request.operations.is_empty() => {
                let status = refused(ErrorReason::ChanceRefused, "no").into();
                return Err(Failure::Refused(Box::new(status)));
            }
            Job::Perform(request) if self.ill == Ill::Denies && !request.operations.is_empty() => {
                let status = refused(ErrorReason::RoleNotAllowed, "no").into();
                return Err(Failure::Refused(Box::new(status)));
            }
            Job::Perform(request) => Reply::Performed(self.perform(request)),
            Job::Until { request, pile, count, deck } => {
                let mut cards = Vec::new();
                let mut opened = pb::OpenedCards::default();
                for place in pile {
                    if !count.more(&cards) {
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
            Job::Reveal(_) if self.ill == Ill::NoSeed => {
                let status = refused(ErrorReason::Corrupt, "a kept seed is missing").into();
                return Err(Failure::Refused(Box::new(status)));
            }
            Job::Reveal(request) => {
                let before = self.opened.insert(request.hand_no, request.discarded);
                assert!(before.is_none_or(|before| before == request.discarded));
                let number = request.hand_no + u64::from(self.ill == Ill::OtherSeed);
                Reply::Revealed(pb::RevealResponse { seed: seed(number).expose().to_vec() })
            }
            Job::BuyIn(_)
            | Job::CashOut(_)
            | Job::Settle(_)
            | Job::CheckStanding(_)
            | Job::Nothing => {
                panic!("that is nothing to ask of a dealer")
            }
        })
    }

    fn commit(&mut self, request: &pb::CommitRequest) -> pb::CommitResponse {
        let hash: [u8; 32] = request.rule_set_hash.as_slice().try_into().unwrap();
        let context = Context::new(ORIGIN, id(&request.table_id), request.hand_no, &hash);
        self.contexts.insert(request.hand_no, context);
        let commitment = Commitment::new(&context, &seed(request.hand_no)).0.to_vec();
        let origin = ORIGIN.to_owned();
        let commitment = pb::Commitment { commitment, origin, ..pb::Commitment::default() };
        pb::CommitResponse { commitment: Some(commitment) }
    }

    fn seal(&mut self, request: &pb::SealRequest) -> pb::SealResponse {
        self.rows.insert(request.hand_no, request.rows.clone());
        let rows: Vec<Row> = request.rows.iter().map(row).collect();
        let context = &self.contexts[&request.hand_no];
        let seed = seed(request.hand_no);
        let commitment = Commitment::new(context, &seed);
        let transcript = Transcript::try_new(context, &commitment, None, &rows).unwrap();
        self.shoes.insert(request.hand_no, Shoe::new(Keys::derive(&transcript, &seed)));
        let mut transcript = transcript.0.to_vec();
        transcript[0] ^= u8::from(self.ill == Ill::OtherTranscript);
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
            if shows && self.ill == Ill::ShowsAnother {
                opened.card_ids.swap(0, 1);
                opened.proofs.swap(0, 1);
            }
            opened
        });
        let opened = opened.collect();
        pb::PerformResponse { results, opened }
    }

    fn result(&self, index: u32, answer: Answer) -> pb::OperationResult {
        let (mut values, mut root) = match answer {
            Answer::Shuffled { root, count } => (vec![u32::from(count)], root.to_vec()),
            Answer::Rolled(faces) => (faces.into_iter().map(u32::from).collect(), Vec::new()),
            Answer::Pulsed(pulse) => (vec![u32::from(pulse)], Vec::new()),
            Answer::Picked(picked) => (vec![picked], Vec::new()),
            Answer::Sampled(sample) => (sample, Vec::new()),
        };
        match (self.ill, root.first_mut()) {
            (Ill::OtherRoot, Some(first)) => *first ^= 1,
            (Ill::NoRoot, Some(_)) => root.clear(),
            (Ill::NoSuchNumber, None) => values[0] = 99,
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
        match self.ill {
            Ill::OtherCard => opened.card_ids[0] ^= 1,
            Ill::NoProof => opened.proofs.clear(),
            _ => {}
        }
        opened
    }
}

fn row(row: &pb::EntropyRow) -> Row {
    let bytes = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).unwrap_or_default();
    Row {
        seat: u8::try_from(row.seat).unwrap(),
        player: primitives::PlayerId::try_from(row.player_id.as_slice()).unwrap(),
        status: match row.status() {
            pb::EntropyStatus::Revealed => Status::Revealed,
            pb::EntropyStatus::Absent => Status::Absent,
            pb::EntropyStatus::Withheld | pb::EntropyStatus::Unspecified => Status::Withheld,
        },
        commitment: ClientCommitment(bytes(&row.commitment)),
        entropy: Entropy(bytes(&row.entropy)),
    }
}

fn ask(operation: &pb::Operation) -> Ask {
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
            Ask::Shuffle { pile: u8::try_from(shuffle.pile).unwrap(), input }
        }
        Kind::Roll(roll) => {
            let sides = roll.sides.iter().map(|sides| u8::try_from(*sides).unwrap());
            Ask::Roll { sides: sides.collect() }
        }
        Kind::Pulse(pulse) => Ask::Pulse { ppm: pulse.ppm },
        Kind::Pick(pick) => Ask::Pick { n: pick.n },
        Kind::Sample(sample) => Ask::Sample { n: sample.n, k: sample.k },
    }
}
