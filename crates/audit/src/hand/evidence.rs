//! A player's evidence, compared with the records of a hand: what of the hand is their own, and who
//! has signed something else than the records say.
//!
//! Only what the room has signed convicts it: texts under the keys of the logs that the bundle is
//! proved with. What the player has signed, or noted, is the player's word.
//!
//! Specification: fairness/SPEC.md §16.1.

mod other_numbers;
mod positions;
mod receipts;

use std::collections::BTreeMap;

use fairness::evidence::{Entry, Opening, Statement};
use fairness::{Chain, ClientCommitment, ClosingRow, Commitment, Context, Entropy};
use primitives::PlayerId;

use crate::hand::closing::dealer_closing;
use crate::hand::commitments::{ParsedCommitment, parse_commitment};
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::Replay;
use crate::hand::{Check, HandRecords, Report, TextKey, signatures};
use crate::report::Verdict;

/// Result of the comparison of evidence with a hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceReport {
    /// A sentence on the player's own number: where it is, or is not.
    pub own_part: String,
    /// Whether the player's number is nowhere where it should be.
    pub is_missing: bool,
    /// Contradictions between what the room has signed for the player and the records.
    pub convictions: Vec<String>,
}

/// Compares a player's evidence with the records of a hand. `report` is the result of
/// [`crate::hand::audit`] for these records, `table_keys` are those of the table's log. Records that
/// are not proved under trusted keys convict nobody.
#[must_use]
pub fn examine(
    entries: &[Entry],
    records: &HandRecords,
    report: &Report,
    table_keys: &[TextKey],
) -> EvidenceReport {
    let decoded = DecodedRecords::decode(records);
    let committed = decoded.committed().ok().and_then(|(_, it)| parse_commitment(it).ok());
    let Some(promise) = committed else {
        let own_part = "Nothing can be said of your number: the dealer's commitment is missing.";
        return EvidenceReport {
            own_part: own_part.to_owned(),
            is_missing: false,
            convictions: Vec::new(),
        };
    };
    let examination = Examination::new(&decoded, promise, entries, table_keys);
    let (own_part, is_missing) = examination.own_part(report);
    let passed = |check| report.checks.of(check) == Some(&Verdict::Passed);
    let proved = passed(Check::Keys) && passed(Check::Inclusion);
    let convictions = if proved { examination.convictions() } else { Vec::new() };
    EvidenceReport { own_part, is_missing, convictions }
}

/// A number of the player's for the hand.
struct OwnNumber {
    seat: u8,
    player: PlayerId,
    entropy: Entropy,
    commitment: ClientCommitment,
}

/// Returns the chain that each record of a decision or of a leave stands for, by position in the
/// table's log.
#[must_use]
pub fn chains(records: &HandRecords) -> BTreeMap<u64, Chain> {
    let decoded = DecodedRecords::decode(records);
    signatures::chains(&decoded, &Replay::run(&decoded))
}

struct Examination<'a> {
    decoded: &'a DecodedRecords<'a>,
    promise: ParsedCommitment,
    /// Texts that the room has signed.
    signed: Vec<Statement>,
    own: Option<OwnNumber>,
    /// Rows of the closings of this hand that the evidence opens, by their hash.
    closings: BTreeMap<[u8; 32], Vec<ClosingRow>>,
    /// The chain that each record of a decision or leave stands for, by position, as far as the hand
    /// could be replayed.
    chains: BTreeMap<u64, Chain>,
    is_replayed: bool,
}

impl<'a> Examination<'a> {
    fn new(
        decoded: &'a DecodedRecords<'_>,
        promise: ParsedCommitment,
        entries: &[Entry],
        table_keys: &[TextKey],
    ) -> Examination<'a> {
        let replay = Replay::run(decoded);
        let mut examination = Examination {
            decoded,
            promise,
            signed: Vec::new(),
            own: None,
            closings: BTreeMap::new(),
            chains: signatures::chains(decoded, &replay),
            is_replayed: !replay.is_stopped(),
        };
        for entry in entries {
            match entry {
                Entry::Signed(signed) => {
                    let Ok(statement) = signed.statement() else { continue };
                    let keys = match is_of_the_dealer(&statement) {
                        Some(true) => &decoded.records.dealer_keys[..],
                        Some(false) => table_keys,
                        None => &[],
                    };
                    let has_ended = |listed: &TextKey| {
                        let position = receipts::position(&statement);
                        listed.until.zip(position).is_some_and(|(until, at)| at >= until)
                    };
                    let mut own = keys.iter().filter(|listed| listed.key == signed.key).peekable();
                    let is_the_rooms = own.peek().is_some() && !own.any(has_ended);
                    if is_the_rooms {
                        examination.signed.push(statement);
                    }
                }
                Entry::Open(bytes) => examination.open(bytes),
                Entry::Note { .. } => {}
            }
        }
        examination
    }

    fn is_of_the_hand(&self, context: &Context, dealer: &Commitment) -> bool {
        *context == self.promise.context && *dealer == self.promise.commitment
    }

    fn open(&mut self, bytes: &[u8]) {
        let Ok(opening) = Opening::parse(bytes) else { return };
        let hash = opening.hash();
        match opening {
            Opening::ClientCommitment { context, dealer, seat, player, entropy }
                if self.is_of_the_hand(&context, &dealer) =>
            {
                let commitment = ClientCommitment(hash);
                self.own = Some(OwnNumber { seat, player, entropy, commitment });
            }
            Opening::Closing { context, dealer, rows }
                if self.is_of_the_hand(&context, &dealer) =>
            {
                self.closings.insert(hash, rows);
            }
            Opening::ClientCommitment { .. }
            | Opening::Closing { .. }
            | Opening::Context { .. }
            | Opening::Transcript { .. }
            | Opening::Decision { .. } => {}
        }
    }

    /// Returns the sentence on the player's own number, and whether it is missing somewhere.
    fn own_part(&self, report: &Report) -> (String, bool) {
        let Some(own) = &self.own else {
            return ("Your evidence has no number of yours for this hand.".to_owned(), false);
        };
        let seat = own.seat;
        let sent = self.is_in_sent_closing(own);
        if self.decoded.sealed().is_err() {
            let closing = if sent { "is" } else { "is NOT shown to be" };
            let part = format!(
                "Your own number, of seat {seat}, {closing} in the closing you were sent; nothing \
                 was dealt from it."
            );
            return (part, false);
        }
        let bound = self.is_bound(own);
        if !bound && !sent && !self.was_taken(own) {
            let part = format!(
                "Your own number, of seat {seat}, is not in the transcript, and nothing that the \
                 room has signed says that it was taken."
            );
            return (part, false);
        }
        let passed = |check| report.checks.of(check) == Some(&Verdict::Passed);
        let dealt = [Check::Transcript, Check::Seed, Check::Operations, Check::Cards];
        let dealt = bound && dealt.into_iter().all(passed);
        let places = [
            (sent, "the closing you were sent"),
            (bound, "the transcript"),
            (dealt, "every card and die"),
        ];
        let list = |there: bool| {
            let places = places.iter().filter(|(is, _)| *is == there).map(|(_, place)| *place);
            places.collect::<Vec<&str>>().join(", ")
        };
        if places.iter().all(|(is, _)| *is) {
            return (format!("Your own number, of seat {seat}, is in {}.", list(true)), false);
        }
        let part =
            format!("Your own number, of seat {seat}, is NOT shown to be in {}.", list(false));
        (part, !bound && self.is_dealt_in(own))
    }

    /// Whether the player was in the roster: whoever has left before it was fixed has no row.
    fn is_dealt_in(&self, own: &OwnNumber) -> bool {
        let Ok((_, opened)) = self.decoded.opened() else { return false };
        let same = |place: &proto::event::v1::RosterSeat| {
            place.seat == u32::from(own.seat) && place.player_id == own.player.bytes()[..]
        };
        opened.roster.iter().any(same)
    }

    /// Whether a closing that the dealer has signed for the player has their number in it.
    fn is_in_sent_closing(&self, own: &OwnNumber) -> bool {
        self.signed.iter().any(|statement| {
            let Statement::Closing { context, dealer, closing } = statement else { return false };
            let rows = self.closings.get(&closing.0);
            self.is_of_the_hand(context, dealer)
                && rows.is_some_and(|rows| rows.iter().any(|row| is_own_row(row, own)))
        })
    }

    /// Whether the table has signed that it took the player's number.
    fn was_taken(&self, own: &OwnNumber) -> bool {
        self.signed.iter().any(|statement| match statement {
            Statement::CommitReceipt { context, dealer, seat, player, commitment, .. } => {
                self.is_of_the_hand(context, dealer)
                    && (*seat, *player, commitment) == (own.seat, own.player, &own.commitment)
            }
            Statement::Commitment { .. }
            | Statement::Closing { .. }
            | Statement::RevealReceipt { .. }
            | Statement::Decision { .. }
            | Statement::DecisionReceipt { .. } => false,
        })
    }

    /// Whether the hand was sealed with the player's number.
    fn is_bound(&self, own: &OwnNumber) -> bool {
        let Ok((_, sealed)) = self.decoded.sealed() else { return false };
        sealed.rows.iter().any(|row| {
            row.seat == u32::from(own.seat)
                && row.player_id == own.player.bytes()
                && row.commitment == own.commitment.0
                && row.entropy == own.entropy.0
        })
    }

    fn convictions(&self) -> Vec<String> {
        let mut found: Vec<String> =
            self.signed.iter().filter_map(|it| self.convicts(it)).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Contradiction between a text that the room has signed and the records.
    fn convicts(&self, statement: &Statement) -> Option<String> {
        match statement {
            Statement::Commitment { origin, table, hand_no, rules_hash, commitment } => {
                let promise = &self.promise;
                let same_number = *table == promise.table && *hand_no == promise.hand_no;
                let same = *commitment == promise.commitment && *rules_hash == promise.rules_hash;
                (same_number && self.origin() == Some(origin) && !same).then(|| {
                    format!("the DEALER promised another seed for hand {hand_no} than is on record")
                })
            }
            Statement::Closing { context, dealer, closing } => {
                let recorded = dealer_closing(self.decoded).ok();
                let recorded = recorded.filter(|_| self.is_of_the_hand(context, dealer));
                let differs = recorded.is_some_and(|(_, it)| it.closing[..] != closing.0);
                differs.then(|| "the DEALER signed another closing than is on record".to_owned())
            }
            Statement::CommitReceipt { .. }
            | Statement::RevealReceipt { .. }
            | Statement::DecisionReceipt { .. } => self.receipt(statement),
            Statement::Decision { .. } => None,
        }
    }

    fn origin(&self) -> Option<&String> {
        let (_, committed) = self.decoded.committed().ok()?;
        committed.commitment.as_ref().map(|commitment| &commitment.origin)
    }
}

fn is_own_row(row: &ClosingRow, own: &OwnNumber) -> bool {
    row.seat == own.seat && row.player == own.player && row.commitment == Some(own.commitment)
}

/// Whether a text is the dealer's to sign, or the table's; `None` for a player's own.
fn is_of_the_dealer(statement: &Statement) -> Option<bool> {
    match statement {
        Statement::Commitment { .. } | Statement::Closing { .. } => Some(true),
        Statement::CommitReceipt { .. }
        | Statement::RevealReceipt { .. }
        | Statement::DecisionReceipt { .. } => Some(false),
        Statement::Decision { .. } => None,
    }
}
