//! A player's part in the chance of hands, and the checks of what the table and the dealer say.
//!
//! Taking part is optional: a seat whose client does nothing is dealt in too. A seat that takes
//! part knows that neither the dealer nor anybody else chose the outcome. Every message is in
//! `table/v1/table.proto`. LP(x) is x behind its length as a big-endian u32, and H(tag, f ...) is
//! SHA-256 over LP("sabacc/fair/v1/" + tag), LP(f), and so on. A hand takes these steps:
//!
//! 1. The dealer commits: `NextHand`, or `TableView.next_hand`, normally during the hand before.
//!    The hand's context is H("ctx", `Commitment.origin`, table id, u64 hand number, SHA-256 of
//!    `TableView.rule_set`). The signature is Ed25519 by the key of the dealer's log, strictly
//!    checked, over LP("dealer-commit-sig") LP(table id) LP(u64 hand number) LP(SHA-256 of the rule
//!    set) LP(commitment) LP(key id).
//! 2. The client takes 32 unpredictable bytes e and sends `CommitEntropy` with H("client-commit",
//!    context, dealer's commitment, u8 seat, player id, e). The answer is a receipt, signed over
//!    LP("receipt-sig") and LP of each of its fields, as `EntropyReceipt` says. The receipt is
//!    evidence against a table whose log holds something else.
//! 3. `Entropy.closed`: the client sends e in `RevealEntropy` before the deadline. A seat that has
//!    committed and does not reveal burns the hand and sits out.
//! 4. `HandStarted.rows` has a row for every seat, and the transcript that binds them:
//!    H("transcript", context, dealer's commitment, "", u8 number of rows, rows ...). A row is u8
//!    seat, player id, u8 status (1 revealed, 3 absent), commitment and e (zeros where absent).
//! 5. Each shuffle is committed to (`HandAction.root`). Every card that the client may see comes
//!    with a `CardProof` that leads to that root.
//! 6. `SeedPublished`: the seed opens the dealer's commitment (H("dealer-commit", context, seed)).
//!    With the transcript it reproduces every salt, order and root.
//!
//! [`Chance`] does this for one table: it applies what the stream shows, returns the messages that
//! are due, and reports a broken rule as a [`FairnessViolation`]. [`Play`](crate::Play) holds one.
//! A caller that uses single calls keeps one beside the stream and calls
//! [`Client::contribute_entropy`](crate::Client::contribute_entropy).
//!
//! The entropy is derived from a [`Secret`] and the hand, and is not stored: a client that restarts
//! between steps 2 and 3 with the same secret reveals what it had committed to.

mod contribution;
mod dealer_commitment;
mod hand;
mod trust;
mod violation;

use std::collections::BTreeMap;

use primitives::{PlayerId, TableId};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::{RuleSet, Variant};
use sha2::{Digest as _, Sha256};

pub use contribution::EntropyMessage;
use contribution::{Contribution, EntropyRound};
use dealer_commitment::DealerCommitment;
use hand::Hand;
pub use trust::{Secret, TrustedKeys};
pub use violation::{FairnessViolation, PartyAtFault, ViolationKind};
use violation::{Fault, ViolationKind as V};

/// Maximum number of hands kept until their seeds are published. A long reveal delay needs many.
const MAX_HANDS: usize = 512;

/// One table's chance, as one client takes part in it and checks it. See the module.
pub struct Chance {
    table: TableId,
    /// None for a viewer who only checks.
    player: Option<PlayerId>,
    secret: Secret,
    trust: TrustedKeys,
    /// Takes part without checking anything.
    unchecked: bool,
    rules: [u8; 32],
    variant: Option<&'static Variant>,
    /// The player's seat; 0: none.
    seat: u8,
    playing: bool,
    /// The next hand, before its roster is fixed.
    next_round: Option<EntropyRound>,
    /// The hand that collects entropy and has not started.
    open_round: Option<EntropyRound>,
    commitments: BTreeMap<u64, DealerCommitment>,
    contributions: BTreeMap<u64, Contribution>,
    hands: BTreeMap<u64, Hand>,
}

impl Chance {
    /// Creates the chance of a table for a player; without a player it only checks.
    #[must_use]
    pub fn new(table: TableId, me: Option<PlayerId>, secret: Secret, trust: TrustedKeys) -> Chance {
        Chance {
            table,
            player: me,
            secret,
            trust,
            unchecked: false,
            rules: [0; 32],
            variant: None,
            seat: 0,
            playing: false,
            next_round: None,
            open_round: None,
            commitments: BTreeMap::new(),
            contributions: BTreeMap::new(),
            hands: BTreeMap::new(),
        }
    }

    /// Takes part without checking anything, for load generators.
    #[must_use]
    pub fn without_checks(self) -> Chance {
        Chance { unchecked: true, ..self }
    }

    /// Applies what the stream showed.
    ///
    /// # Errors
    /// Returns the violation if a rule of chance is broken.
    pub fn apply(&mut self, seen: &crate::WatchMessage) -> Result<(), Box<FairnessViolation>> {
        match seen {
            crate::WatchMessage::Snapshot(view) => self.apply_snapshot(view),
            crate::WatchMessage::Update(update) => match &update.what {
                Some(What::Seat(changed)) => {
                    self.seat_changed(changed);
                    Ok(())
                }
                Some(What::NextHand(next)) => self.next_hand(next),
                Some(What::Entropy(entropy)) => self.entropy(entropy),
                Some(What::HandStarted(started)) => self.hand_started(started),
                Some(What::Action(action)) => self.check_hand(action.hand_no, |hand| {
                    action.root.as_ref().map_or(Ok(()), |root| hand.add_root(root))?;
                    hand.check_cards(&action.cards, &action.proofs)?;
                    hand.check_hands(&action.hands)
                }),
                Some(What::HandEnded(ended)) => {
                    self.check_hand(ended.hand_no, |hand| hand.check_hands(&ended.hands))
                }
                Some(What::Voided(voided)) => {
                    self.close_entropy(voided.hand_no);
                    Ok(())
                }
                Some(What::Seed(seed)) => self.seed_published(seed),
                Some(What::Closed(_) | What::Paused(_) | What::Stopped(_)) | None => Ok(()),
            },
            crate::WatchMessage::CaughtUp => Ok(()),
        }
    }

    fn apply_snapshot(&mut self, view: &pb::TableView) -> Result<(), Box<FairnessViolation>> {
        self.rules = Sha256::digest(&view.rule_set).into();
        self.variant = RuleSet::from_canonical(&view.rule_set).ok().map(|rules| rules.variant());
        (self.seat, self.playing) = (0, false);
        for seat in &view.seats {
            self.update_own_seat(seat);
        }
        (self.next_round, self.open_round) = (None, None);
        if let Some(next) = &view.next_hand {
            self.next_hand(next)?;
        }
        if let Some(entropy) = &view.entropy {
            self.entropy(entropy)?;
        }
        view.hand.as_ref().map_or(Ok(()), |hand| self.apply_hand_view(hand))
    }

    fn seat_changed(&mut self, changed: &pb::SeatChanged) {
        let Some(seat) = &changed.seat else { return };
        if !changed.vacated {
            self.update_own_seat(seat);
        } else if u32::from(self.seat) == seat.seat {
            (self.seat, self.playing) = (0, false);
        }
    }

    fn update_own_seat(&mut self, seat: &pb::SeatView) {
        if self.player.is_some_and(|me| seat.player_id == me.bytes()) {
            self.seat = u8::try_from(seat.seat).unwrap_or(0);
            self.playing = seat.state() == pb::SeatState::Playing;
        }
    }

    fn next_hand(&mut self, next: &pb::NextHand) -> Result<(), Box<FairnessViolation>> {
        self.next_round = Some(EntropyRound::next_hand(next));
        next.commitment.as_ref().map_or(Ok(()), |told| self.record_commitment(next.hand_no, told))
    }

    fn entropy(&mut self, entropy: &pb::Entropy) -> Result<(), Box<FairnessViolation>> {
        self.next_round.take_if(|next| next.hand_no <= entropy.hand_no);
        self.open_round = Some(EntropyRound::current_hand(entropy));
        entropy
            .commitment
            .as_ref()
            .map_or(Ok(()), |told| self.record_commitment(entropy.hand_no, told))
    }

    fn hand_started(&mut self, started: &pb::HandStarted) -> Result<(), Box<FairnessViolation>> {
        let hand_no = started.hand_no;
        self.check_repeated(hand_no, &started.commitment)?;
        self.check_rows(hand_no, &started.rows, &started.transcript, &started.seats)?;
        self.close_entropy(hand_no);
        Ok(())
    }

    /// Applies a hand in play that a snapshot shows.
    fn apply_hand_view(&mut self, view: &pb::HandView) -> Result<(), Box<FairnessViolation>> {
        if let Some(told) = &view.dealer {
            self.record_commitment(view.hand_no, told)?;
        }
        self.check_rows(view.hand_no, &view.rows, &view.transcript, &view.seats)?;
        self.check_hand(view.hand_no, |hand| {
            view.roots.iter().try_for_each(|root| hand.add_root(root))?;
            hand.check_hands(&view.seats)
        })
    }

    /// Checks the entropy rows of a started hand. A client with a receipt must find its
    /// contribution.
    fn check_rows(
        &mut self,
        hand_no: u64,
        rows: &[proto::dealer::v1::EntropyRow],
        transcript: &[u8],
        seats: &[pb::HandSeat],
    ) -> Result<(), Box<FairnessViolation>> {
        let told_before = self.hands.get(&hand_no);
        if self.unchecked || told_before.is_some_and(|hand| hand.has_transcript(transcript)) {
            return Ok(());
        }
        let part = self.contributions.get(&hand_no);
        let receipt = part.and_then(Contribution::receipt).cloned();
        // A player who changed seats left the contribution with the first seat.
        let here = |seat: &pb::HandSeat| part.is_none_or(|part| part.is_for_seat(seat.seat));
        let mine = |me: PlayerId, seat: &pb::HandSeat| seat.player_id == me.bytes() && here(seat);
        let me = self.player.filter(|me| seats.iter().any(|seat| mine(*me, seat)));
        let judged = match (told_before, self.commitments.get(&hand_no)) {
            (Some(_), _) => Err(V::WrongTranscript.into()),
            _ if rows.is_empty() && transcript.is_empty() => match (&receipt, me) {
                (Some(_), Some(_)) => Err(V::CommitmentDropped.into()),
                _ => return Ok(()),
            },
            (None, None) => return Ok(()),
            (None, Some(promise)) => {
                let (context, commitment) = promise.binding();
                let hand = Hand::try_new(context, commitment, rows, transcript, self.variant);
                hand.and_then(|mut hand| {
                    if let (Some(part), Some(_), Some(me)) = (part, &receipt, me) {
                        part.check(&hand, me)?;
                    }
                    (hand.receipt, hand.is_dealt_in) = (receipt, me.is_some());
                    Ok(hand)
                })
            }
        };
        let hand = judged.map_err(|fault| self.violation(hand_no, fault))?;
        self.hands.insert(hand_no, hand);
        if self.hands.len() > MAX_HANDS {
            self.hands.pop_first();
        }
        Ok(())
    }

    /// Ends the collection of entropy for this hand and all before it.
    fn close_entropy(&mut self, hand_no: u64) {
        self.open_round.take_if(|open| open.hand_no <= hand_no);
        self.next_round.take_if(|next| next.hand_no <= hand_no);
        self.contributions = self.contributions.split_off(&hand_no);
        while self.commitments.len() > MAX_HANDS {
            self.commitments.pop_first();
        }
    }

    fn check_hand(
        &mut self,
        hand_no: u64,
        check: impl FnOnce(&mut Hand) -> Result<(), Fault>,
    ) -> Result<(), Box<FairnessViolation>> {
        let checked = self.hands.get_mut(&hand_no).map_or(Ok(()), check);
        checked.map_err(|fault| self.violation(hand_no, fault))
    }

    fn seed_published(&mut self, told: &pb::SeedPublished) -> Result<(), Box<FairnessViolation>> {
        let hand_no = told.hand_no;
        if self.unchecked {
            return Ok(());
        }
        let judged = self.check_seed(told);
        let judged = judged.map_err(|fault| self.violation(hand_no, fault));
        self.hands.remove(&hand_no);
        self.commitments.remove(&hand_no);
        judged
    }

    fn check_seed(&self, told: &pb::SeedPublished) -> Result<(), Fault> {
        let Some(promise) = self.commitments.get(&told.hand_no) else { return Ok(()) };
        let seed = hand::to_array("a seed", &told.seed)?;
        let seed = fairness::Seed::new(zeroize::Zeroizing::new(seed));
        match (promise.opened_by(&seed), told.refused) {
            (true, true) => Err(V::WronglyRefused.into()),
            (false, true) => Err(V::WrongSeed.attributed_to(PartyAtFault::Dealer)),
            (false, false) => Err(V::WrongSeed.into()),
            (true, false) => {
                self.hands.get(&told.hand_no).map_or(Ok(()), |hand| hand.check_seed(&seed))
            }
        }
    }

    /// Adds the evidence of the hand to a fault.
    fn violation(&self, hand_no: u64, fault: Fault) -> Box<FairnessViolation> {
        let Fault { party: culprit, kind: what } = fault;
        let promise = self.commitments.get(&hand_no).map(|promise| promise.message.clone());
        let part = self.contributions.get(&hand_no).and_then(Contribution::receipt);
        let kept = self.hands.get(&hand_no).and_then(|hand| hand.receipt.as_ref());
        let receipt = part.or(kept).cloned();
        Box::new(FairnessViolation {
            party: culprit,
            hand_no,
            kind: what,
            commitment: promise,
            receipt,
        })
    }
}
