//! A player's part in the chance of hands, and the checks of what the table and the dealer say.
//!
//! A seat that takes part knows that neither the dealer nor anybody else chose the outcome; a client
//! whose number is not in a hand does not play it ([`Chance::must_fold`]). Every message is in
//! `table/v1/table.proto`. LP(x) is x behind its length as a big-endian u32, and H(tag, f ...) is
//! SHA-256 over LP("sabacc/fair/v1/" + tag), LP(f), and so on. Signatures are Ed25519, strictly
//! checked, over LP(tag), LP of each field, and LP of the key's id. A hand takes these steps:
//!
//! 1. The dealer commits: `NextHand`, or `TableView.next_hand`, normally during the hand before.
//!    The hand's context is H("ctx", `Commitment.origin`, table id, u64 hand number, rules hash),
//!    the rules hash SHA-256 over LP(rule set) LP(settings), both as the player sat down to them.
//!    The key is one of the dealer's log, and has no end.
//! 2. The client takes 32 unpredictable bytes e and sends `CommitEntropy` with H("client-commit",
//!    context, dealer's commitment, u8 seat, player id, e) and a fresh key. The answer is a receipt,
//!    evidence against a table whose log holds something else. A client commits only while it is in
//!    front.
//! 3. `Entropy.closing`: the dealer signs which commitments the hand is made of. The client reveals
//!    e only if the rows are the seats dealt in, its own row has its own commitment, the hand before
//!    has ended, and it has revealed for this number under no other closing, ever. Then nobody can
//!    fit a number to what the others reveal. The answer is a receipt again.
//! 4. `HandStarted.rows` are the rows of the closing with what was revealed, and the transcript
//!    binds them: H("transcript", context, dealer's commitment, "", u8 number of rows, rows ...). A
//!    row is u8 seat, player id, u8 status (1 revealed, 3 absent), commitment and e (zeros where
//!    absent).
//! 5. Each shuffle is committed to (`HandAction.root`). Every card that the client may see comes
//!    with a `CardProof` that leads to that root.
//! 6. Each decision goes on from the decisions before (`HandAction.chain`). The client signs its own
//!    with its key, and gets a receipt for each.
//! 7. `SeedPublished`: the seed opens the dealer's commitment (H("dealer-commit", context, seed)).
//!    With the transcript it reproduces every salt, order and root.
//!
//! Every step is demanded: what is missing where it is due is a [`FairnessViolation`], as is a hand
//! number that is skipped, a blame that a receipt refutes, a hand that is thrown away for a reason
//! that was not announced, and a seed that stays shut or is opened too early.
//!
//! [`Chance`] does this for one table: it applies what the stream shows, returns the messages that
//! are due, and signs decisions. [`Play`](crate::Play) holds one. A caller that uses single calls
//! keeps one beside the stream and calls
//! [`Client::contribute_entropy`](crate::Client::contribute_entropy) and
//! [`Client::decide`](crate::Client::decide). All that proves something is kept in an
//! [`EvidenceStore`], before the client sends what it speaks of.
//!
//! Entropy and keys are derived from a [`Secret`] and the hand: a client that restarts with the same
//! secret reveals what it had committed to.

mod aborts;
mod closing;
mod contribution;
mod course;
mod dealer_commitment;
mod decisions;
mod exclusion;
mod hand;
mod notice;
mod proofs;
mod receipts;
mod record;
mod sequence;
mod signing;
mod trust;
mod violation;

use proto::common::v1::AbortCause;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fairness::Chain;
use fairness::evidence::ended_note;

use primitives::{PlayerId, TableId, UnixMicros};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::{RuleSet, TableSettings, Variant};
use system::clock::{Clock, SystemClock};

use aborts::Suspended;
use closing::HandClosing;
pub use contribution::EntropyMessage;
use contribution::{Contribution, EntropyRound, Place};
use dealer_commitment::DealerCommitment;
use decisions::{Decisions, OwnSeat};
use hand::Hand;
pub use hand::SeedChecks;
pub use notice::Notice;
pub use proofs::{ClosingCheck, CommitmentCheck, HandProofs};
use receipts::KeptReceipts;
use record::Record;
use sequence::{Sequence, Times};
pub use trust::{Secret, TrustedKeys};
pub use violation::{FairnessViolation, PartyAtFault, ViolationKind};
use violation::{Fault, ViolationKind as V};

use crate::evidence::{EvidenceStore, MemoryEvidence};

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
    /// Plays hands that the own number is not in.
    plays_blind: bool,
    in_front: bool,
    agreed: Option<Agreement>,
    /// Players by their seats.
    seats: BTreeMap<u32, PlayerId>,
    /// The player's seat; 0: none.
    seat: u8,
    playing: bool,
    /// The next hand, before its roster is fixed.
    next_round: Option<EntropyRound>,
    /// The hand that collects entropy and has not started.
    open_round: Option<EntropyRound>,
    commitments: BTreeMap<u64, DealerCommitment>,
    /// By hand number and seat.
    contributions: BTreeMap<(u64, u8), Contribution>,
    /// Closings that have passed every check.
    closings: BTreeMap<u64, HandClosing>,
    hands: BTreeMap<u64, Hand>,
    /// Summaries of hands whose seeds were opened.
    opened: BTreeMap<u64, HandProofs>,
    /// Hands in which something was wrong.
    faulty: BTreeSet<u64>,
    sequence: Sequence,
    suspended: Option<Suspended>,
    /// Until when players who withheld are dealt into no number, at the least.
    excluded: BTreeMap<PlayerId, UnixMicros>,
    /// Hand of which the last snapshot showed nothing: the table has lost its cards.
    bare_hand: Option<u64>,
    record: Record,
    /// The latest time that the table has reported.
    now: UnixMicros,
    clock: Arc<dyn Clock>,
    notices: Vec<Notice>,
    noticed: BTreeSet<Notice>,
}

/// Rule set and settings that the player sat down to.
struct Agreement {
    rule_set: String,
    settings: String,
    hash: [u8; 32],
    variant: &'static Variant,
    /// Longest time that a seed may stay shut after a settlement.
    seed_delay: Duration,
    /// Time that a hand is suspended for before it ends without an agreement.
    suspend_time: Duration,
}

impl Agreement {
    /// # Errors
    /// One of them cannot be read or lies outside its bounds: nothing could be demanded of the table then.
    fn try_new(rule_set: &str, settings: &str) -> Result<Agreement, ViolationKind> {
        let rules = RuleSet::from_canonical(rule_set);
        let rules = rules.map_err(|_| ViolationKind::UnreadableRules("the rule set"))?;
        let parsed = TableSettings::from_canonical(settings);
        let parsed = parsed.map_err(|_| ViolationKind::UnreadableRules("the table's settings"))?;
        Ok(Agreement {
            rule_set: rule_set.to_owned(),
            settings: settings.to_owned(),
            hash: fairness::rules_hash(rule_set, settings),
            variant: rules.variant(),
            seed_delay: parsed.seed_delay(),
            suspend_time: parsed.suspension_limit(),
        })
    }

    fn is_of(&self, rule_set: &str, settings: &str) -> bool {
        self.rule_set == rule_set && self.settings == settings
    }
}

/// Lowest number that a snapshot shows as open, in play or the last one.
fn first_current(view: &pb::TableView) -> u64 {
    let open = view.entropy.as_ref().map_or(u64::MAX, |entropy| entropy.hand_no);
    let shown = view.hand.as_ref().map_or(u64::MAX, |hand| hand.hand_no);
    view.hand_no.min(open).min(shown)
}

/// Time that a table has reported; none for one before 1970.
fn table_time(at: prost_types::Timestamp) -> Option<UnixMicros> {
    wire::time::instant(at)
}

impl Chance {
    /// Creates the chance of a table for a player; without a player it only checks. Evidence is kept
    /// in memory.
    #[must_use]
    pub fn new(table: TableId, me: Option<PlayerId>, secret: Secret, trust: TrustedKeys) -> Chance {
        Chance {
            table,
            player: me,
            secret,
            trust,
            unchecked: false,
            plays_blind: false,
            in_front: true,
            agreed: None,
            seats: BTreeMap::new(),
            seat: 0,
            playing: false,
            next_round: None,
            open_round: None,
            commitments: BTreeMap::new(),
            contributions: BTreeMap::new(),
            closings: BTreeMap::new(),
            hands: BTreeMap::new(),
            opened: BTreeMap::new(),
            faulty: BTreeSet::new(),
            sequence: Sequence::default(),
            suspended: None,
            excluded: BTreeMap::new(),
            bare_hand: None,
            record: Record::new(Arc::new(MemoryEvidence::default()), me, table),
            now: UnixMicros(0),
            clock: Arc::new(SystemClock::new()),
            notices: Vec::new(),
            noticed: BTreeSet::new(),
        }
    }

    /// Keeps evidence in `store`.
    #[must_use]
    pub fn with_evidence(self, store: Arc<dyn EvidenceStore>) -> Chance {
        Chance { record: Record::new(store, self.player, self.table), ..self }
    }

    /// Holds the table to the time of this clock, beside what it reports itself.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Chance {
        Chance { clock, ..self }
    }

    /// Takes part without checking anything, for load generators.
    #[must_use]
    pub fn without_checks(self) -> Chance {
        Chance { unchecked: true, trust: TrustedKeys::default(), ..self }
    }

    /// Plays hands that the player's own number is not in, as their user wants it.
    #[must_use]
    pub fn playing_blind(self) -> Chance {
        Chance { plays_blind: true, ..self }
    }

    /// Says whether the user follows the table. While they do not, the client commits to no hand,
    /// and is to sit out.
    pub fn set_in_front(&mut self, in_front: bool) {
        self.in_front = in_front;
    }

    /// Takes the notices for the player since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn notify_once(&mut self, notice: Notice) {
        if self.noticed.insert(notice) {
            self.notices.push(notice);
        }
    }

    /// Whether the player's number is not in this hand, and the user does not want to play such
    /// hands: then the client folds and sits out.
    #[must_use]
    pub fn must_fold(&self, hand_no: u64) -> bool {
        let Some(player) = self.player.filter(|_| !self.plays_blind && !self.unchecked) else {
            return false;
        };
        let closed = self
            .closings
            .get(&hand_no)
            .and_then(|closing| closing.row(self.seat, player).map(|row| row.commitment.is_none()));
        let dealt = self.hands.get(&hand_no).and_then(|hand| {
            let row = hand.row(self.seat, player)?;
            Some(row.status == fairness::RowStatus::Absent)
        });
        closed.or(dealt).unwrap_or(false)
    }

    /// Applies what the stream showed.
    ///
    /// # Errors
    /// Returns the violation if a rule of chance is broken. Its evidence is stored.
    pub fn apply(&mut self, seen: &crate::WatchMessage) -> Result<(), Box<FairnessViolation>> {
        let judged = match seen {
            crate::WatchMessage::Snapshot(view) => self.apply_snapshot(view),
            crate::WatchMessage::Update(update) => {
                let overdue = self.advance_time(update.record_time);
                update.what.as_ref().map_or(Ok(()), |what| self.apply_update(what)).and(overdue)
            }
            crate::WatchMessage::CaughtUp => Ok(()),
        };
        if self.unchecked { Ok(()) } else { judged }
    }

    fn apply_update(&mut self, what: &What) -> Result<(), Box<FairnessViolation>> {
        match what {
            What::Seat(changed) => {
                self.seat_changed(changed);
                Ok(())
            }
            What::NextHand(next) => self.next_hand(next),
            What::Entropy(entropy) => self.entropy(entropy),
            What::HandStarted(started) => self.hand_started(started),
            What::Action(action) => self.action(action),
            What::HandEnded(ended) => self.hand_ended(ended),
            What::Voided(voided) => self.voided(voided),
            What::Seed(seed) => self.seed_published(seed),
            What::Suspension(changed) => self.suspension_changed(changed),
            What::Closed(_) | What::Stopped(_) | What::Disabled(_) => Ok(()),
        }
    }

    /// Notes the time of an update.
    fn advance_time(
        &mut self,
        at: Option<prost_types::Timestamp>,
    ) -> Result<(), Box<FairnessViolation>> {
        self.now = at.and_then(table_time).unwrap_or(self.now);
        self.check_time()
    }

    /// Checks that no seed is still shut an hour after it was due, by what the table has reported or by the
    /// own clock. For times at which the table sends nothing; [`Chance::apply`] does it too.
    ///
    /// # Errors
    /// Returns the violation. Its evidence is stored.
    pub fn check_time(&mut self) -> Result<(), Box<FairnessViolation>> {
        // The own clock without its steps: setting it makes no seed late.
        let stepped = self.clock.total_step_micros();
        let own = self.clock.now().0.saturating_add_signed(stepped.saturating_neg());
        let times = Times { reported: self.now, own: UnixMicros(own) };
        match self.sequence.advance_time(times).filter(|_| !self.unchecked) {
            Some(hand_no) => {
                Err(self.violation(hand_no, V::SeedOverdue.attributed_to(PartyAtFault::Dealer)))
            }
            None => Ok(()),
        }
    }

    fn apply_snapshot(&mut self, view: &pb::TableView) -> Result<(), Box<FairnessViolation>> {
        if self.agreed.is_none() {
            match Agreement::try_new(&view.rule_set, &view.settings) {
                Ok(agreed) => self.agreed = Some(agreed),
                Err(unreadable) => self.judge(view.hand_no, Err(unreadable.into()))?,
            }
        }
        self.check_rules(view.hand_no, &view.rule_set, &view.settings)?;
        // It has no time of the table's to hold anybody to.
        self.excluded.clear();
        (self.seat, self.playing) = (0, false);
        self.seats.clear();
        view.seats.iter().for_each(|seat| self.update_seat(seat));
        (self.next_round, self.open_round, self.bare_hand) = (None, None, None);
        let in_order = self.snapshot_numbers(view);
        self.judge(view.hand_no, in_order)?;
        self.snapshot_suspension(view)?;
        self.close_entropy(first_current(view));
        if let Some(entropy) = &view.entropy {
            self.entropy(entropy)?;
        }
        if let Some(next) = &view.next_hand {
            self.next_hand(next)?;
        }
        let Some(hand) = &view.hand else { return Ok(()) };
        self.apply_hand_view(hand)?;
        if let Some(followed) = self.hands.get_mut(&hand.hand_no) {
            let leaving = |seat: &&pb::SeatView| seat.state() == pb::SeatState::Leaving;
            let leaving = view.seats.iter().filter(leaving);
            leaving.for_each(|seat| followed.decisions.leave_shown(seat.seat));
        }
        Ok(())
    }

    fn snapshot_numbers(&mut self, view: &pb::TableView) -> Result<(), Fault> {
        let open = view.entropy.as_ref().map(|entropy| entropy.hand_no);
        // A hand without a phase has lost its cards: it may be over all the same.
        let is_over = |hand: &pb::HandView| {
            let has_ended = || self.sequence.has_ended(hand.hand_no);
            match hand.phase() {
                pb::HandPhase::Over => true,
                pb::HandPhase::Unspecified => has_ended(),
                pb::HandPhase::Deal
                | pb::HandPhase::Draft
                | pb::HandPhase::Alignment
                | pb::HandPhase::Play
                | pb::HandPhase::Action
                | pb::HandPhase::Draw
                | pb::HandPhase::Turns
                | pb::HandPhase::Select
                | pb::HandPhase::Dice
                | pb::HandPhase::Betting
                | pb::HandPhase::Redraw
                | pb::HandPhase::Add
                | pb::HandPhase::Showdown
                | pb::HandPhase::Scoring
                | pb::HandPhase::Reveal => false,
            }
        };
        let in_play = view.hand.as_ref().filter(|hand| !is_over(hand)).map(|hand| hand.hand_no);
        let last = [Some(view.hand_no), open, in_play].into_iter().flatten().max();
        Ok(self.sequence.snapshot(last.unwrap_or(0), open, in_play)?)
    }

    /// Checks that rule set and settings are those that the player sat down to.
    fn check_rules(
        &mut self,
        hand_no: u64,
        rule_set: &str,
        settings: &str,
    ) -> Result<(), Box<FairnessViolation>> {
        if self.agreed.as_ref().is_none_or(|agreed| agreed.is_of(rule_set, settings)) {
            return Ok(());
        }
        Err(self.violation(hand_no, V::OtherRules.into()))
    }

    fn seat_changed(&mut self, changed: &pb::SeatChanged) {
        let Some(seat) = &changed.seat else { return };
        if !changed.vacated {
            self.update_seat(seat);
            if seat.state() == pb::SeatState::Leaving
                && let Some(mut hand) = self.hands.last_entry()
            {
                hand.get_mut().decisions.leave_asked(seat.seat);
            }
            return;
        }
        self.seats.remove(&seat.seat);
        if u32::from(self.seat) == seat.seat {
            (self.seat, self.playing) = (0, false);
        }
    }

    fn update_seat(&mut self, seat: &pb::SeatView) {
        let Ok(player) = wire::field::player_id(&seat.player_id) else { return };
        self.seats.insert(seat.seat, player);
        if self.player == Some(player) {
            self.seat = u8::try_from(seat.seat).unwrap_or(0);
            self.playing = seat.state() == pb::SeatState::Playing;
        }
    }

    /// Adds the evidence of the hand to a fault, and stores it.
    fn violation(&mut self, hand_no: u64, fault: Fault) -> Box<FairnessViolation> {
        let Fault { party, kind } = fault;
        self.note_fault(hand_no);
        if let Err(error) = self.record.store_hand(hand_no) {
            tracing::error!(table = %self.table, hand_no, %error, "evidence cannot be stored");
        }
        Box::new(FairnessViolation {
            party,
            hand_no,
            kind,
            commitment: self.commitments.get(&hand_no).map(|promise| promise.message.clone()),
            receipt: self.receipt_of(hand_no).cloned(),
            evidence: self.record.entries(hand_no),
        })
    }

    /// Turns a fault into a violation, unless nothing is checked.
    fn judge(
        &mut self,
        hand_no: u64,
        judged: Result<(), Fault>,
    ) -> Result<(), Box<FairnessViolation>> {
        match judged {
            Err(fault) if !self.unchecked => Err(self.violation(hand_no, fault)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
