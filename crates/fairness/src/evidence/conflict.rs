//! Signed texts that contradict each other: each pair is proof against whoever signed both.

use std::collections::BTreeMap;
use std::fmt;

use primitives::TableId;

use super::{Entry, Opening, Statement};
use crate::closing::{Closing, ClosingRow};
use crate::commit::{ClientCommitment, Commitment};
use crate::context::Context;

/// Contradiction between two signed texts, by the indices of their entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// The dealer promised two seeds for one number, or one under two rules.
    TwoPromises { first: usize, second: usize },
    /// The dealer signed two closings for one context and commitment.
    TwoClosings { first: usize, second: usize },
    /// The dealer's closing has seat and player of a receipt with another commitment, or with none.
    ReceiptNotInClosing { receipt: usize, closing: usize },
    /// The table gave receipts for two commitments of one player in one seat.
    TwoCommitReceipts { first: usize, second: usize },
    /// The table gave receipts for two different records at one position of its log.
    OnePosition { first: usize, second: usize },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conflict::TwoPromises { .. } => "the dealer promised one number twice",
            Conflict::TwoClosings { .. } => "the dealer signed two closings for one number",
            Conflict::ReceiptNotInClosing { .. } => {
                "a receipt was given for a commitment that the closing has not"
            }
            Conflict::TwoCommitReceipts { .. } => "the table took two commitments of one seat",
            Conflict::OnePosition { .. } => {
                "the table gave receipts for two records at one position of its log"
            }
        })
    }
}

/// Values that must be the same wherever they are signed with one key.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Promise { origin: String, table: TableId, hand_no: u64 },
    Closing { context: [u8; 32], dealer: [u8; 32] },
    Commitment { context: [u8; 32], dealer: [u8; 32], seat: u8, player: [u8; 16] },
    Position(u64),
}

/// A signed text whose signature verifies.
struct Verified {
    index: usize,
    key: [u8; 32],
    statement: Statement,
}

/// Finds all contradictions among entries whose signatures verify. Two texts contradict each other
/// only if one key has signed both, except a receipt and a closing, which table and dealer sign.
#[must_use]
pub fn conflicts(entries: &[Entry]) -> Vec<Conflict> {
    let verified: Vec<Verified> =
        entries.iter().enumerate().filter_map(|(index, entry)| verify(index, entry)).collect();
    let mut found = pairs(&verified);
    found.extend(receipts_against_closings(entries, &verified));
    found.sort_unstable();
    found.dedup();
    found
}

fn verify(index: usize, entry: &Entry) -> Option<Verified> {
    match entry {
        Entry::Signed(signed) => {
            let statement = signed.statement().ok()?;
            Some(Verified { index, key: signed.key, statement })
        }
        Entry::Open(_) | Entry::Note { .. } => None,
    }
}

/// Compares each text with the first of its key on the same subject.
fn pairs(verified: &[Verified]) -> Vec<Conflict> {
    let mut firsts: BTreeMap<([u8; 32], Subject), &Verified> = BTreeMap::new();
    let mut found = Vec::new();
    for one in verified {
        for subject in subjects(&one.statement) {
            let conflict = conflict_of(&subject);
            let first = *firsts.entry((one.key, subject)).or_insert(one);
            if first.statement != one.statement {
                found.push(conflict(first.index, one.index));
            }
        }
    }
    found
}

fn conflict_of(subject: &Subject) -> fn(usize, usize) -> Conflict {
    match subject {
        Subject::Promise { .. } => |first, second| Conflict::TwoPromises { first, second },
        Subject::Closing { .. } => |first, second| Conflict::TwoClosings { first, second },
        Subject::Commitment { .. } => |first, second| Conflict::TwoCommitReceipts { first, second },
        Subject::Position(_) => |first, second| Conflict::OnePosition { first, second },
    }
}

fn subjects(statement: &Statement) -> Vec<Subject> {
    match statement {
        Statement::Commitment { origin, table, hand_no, .. } => {
            vec![Subject::Promise { origin: origin.clone(), table: *table, hand_no: *hand_no }]
        }
        Statement::Closing { context, dealer, closing: _ } => {
            vec![Subject::Closing { context: context.0, dealer: dealer.0 }]
        }
        Statement::CommitReceipt { context, dealer, seat, player, position, .. } => {
            let (context, dealer, player) = (context.0, dealer.0, *player.bytes());
            let commitment = Subject::Commitment { context, dealer, seat: *seat, player };
            vec![commitment, Subject::Position(*position)]
        }
        Statement::RevealReceipt { position, .. } | Statement::DecisionReceipt { position, .. } => {
            vec![Subject::Position(*position)]
        }
        // A player may sign anew, when another's leave came between.
        Statement::Decision { .. } => Vec::new(),
    }
}

/// Compares each receipt with the rows of each signed closing of its hand, where the file has them.
fn receipts_against_closings(entries: &[Entry], verified: &[Verified]) -> Vec<Conflict> {
    let rows = closing_rows(entries);
    let mut found = Vec::new();
    for receipt in verified {
        let Statement::CommitReceipt { context, dealer, seat, player, commitment, .. } =
            &receipt.statement
        else {
            continue;
        };
        for closing in verified {
            let Some(rows) = rows_of(&closing.statement, context, dealer, &rows) else { continue };
            let mine = |row: &&ClosingRow| row.seat == *seat && row.player == *player;
            if rows.iter().filter(mine).any(|row| differs(row, commitment)) {
                let (receipt, closing) = (receipt.index, closing.index);
                found.push(Conflict::ReceiptNotInClosing { receipt, closing });
            }
        }
    }
    found
}

/// Rows of each closing that the file opens.
fn closing_rows(entries: &[Entry]) -> BTreeMap<[u8; 32], Vec<ClosingRow>> {
    let opened = entries.iter().filter_map(|entry| match entry {
        Entry::Open(bytes) => Opening::parse(bytes).ok(),
        Entry::Signed(_) | Entry::Note { .. } => None,
    });
    opened
        .filter_map(|opening| {
            let hash = opening.hash();
            match opening {
                Opening::Closing { rows, .. } => Some((hash, rows)),
                Opening::Context { .. }
                | Opening::ClientCommitment { .. }
                | Opening::Transcript { .. }
                | Opening::Decision { .. } => None,
            }
        })
        .collect()
}

fn rows_of<'a>(
    statement: &Statement,
    hand: &Context,
    promise: &Commitment,
    rows: &'a BTreeMap<[u8; 32], Vec<ClosingRow>>,
) -> Option<&'a Vec<ClosingRow>> {
    match statement {
        Statement::Closing { context, dealer, closing: Closing(closing) }
            if (context, dealer) == (hand, promise) =>
        {
            rows.get(closing)
        }
        Statement::Closing { .. }
        | Statement::Commitment { .. }
        | Statement::CommitReceipt { .. }
        | Statement::RevealReceipt { .. }
        | Statement::Decision { .. }
        | Statement::DecisionReceipt { .. } => None,
    }
}

fn differs(row: &ClosingRow, commitment: &ClientCommitment) -> bool {
    row.commitment.is_none_or(|listed| !listed.matches(commitment))
}
