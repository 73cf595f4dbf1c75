//! Decisions of players with a key that are not signed as they should be.

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{
    AnyRecord, EntropyBehaviour, Entry, HandOptions, SuspensionEnd, TableFixture,
};
use proto::common::v1::MoveKind;
use proto::event::v1 as pb;
use wire::TableRecord;

use super::{Golden, agreed, broken_hand, burnt, index_of, played, rich, the};
use crate::tests::bundles::honest::{everybody, silent};

pub(super) fn all() -> Vec<Golden> {
    let mut all = decisions();
    all.extend(leaves());
    all.extend(votes());
    all
}

fn decisions() -> Vec<Golden> {
    let honest = rich();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        broken_hand(name, honest.clone(), Check::Signatures, edit)
    };
    let signed = |it: &pb::MoveDecided| !it.signature.is_empty();
    let unused = |name, key: &'static [u8]| {
        broken_hand(name, burnt(), Check::Signatures, |entries| {
            the!(entries, Table(TableRecord::EntropyCommitted)).key = key.into();
        })
    };
    vec![
        unused("signatures-unused-key-too-short", &[9; 31]),
        unused("signatures-unused-key-of-small-order", &[0; 32]),
        unused("signatures-unused-key-that-is-no-point", &[2; 32]),
        breaks("signatures-left-out", &|entries| {
            the!(entries, Table(TableRecord::MoveDecided), signed).signature.clear();
        }),
        breaks("signatures-forged", &|entries| {
            let signature = &mut the!(entries, Table(TableRecord::MoveDecided), signed).signature;
            let mut forged = signature.to_vec();
            forged[0] ^= 1;
            *signature = forged.into();
        }),
        breaks("signatures-of-another-decision", &|entries| {
            let first = the!(entries, Table(TableRecord::MoveDecided), signed).signature.clone();
            let last = entries.iter().rposition(|entry| is_signed(&entry.recorded)).unwrap();
            if let Table(TableRecord::MoveDecided(it)) = &mut entries[last].recorded {
                it.signature = first;
            }
        }),
        breaks("signatures-of-the-clock", &|entries| {
            let first = the!(entries, Table(TableRecord::MoveDecided), signed).signature.clone();
            let by_clock = |it: &pb::MoveDecided| it.by_clock;
            the!(entries, Table(TableRecord::MoveDecided), by_clock).signature = first;
        }),
        breaks("signatures-without-a-key", &|entries| {
            let first = the!(entries, Table(TableRecord::MoveDecided), signed).signature.clone();
            let unsigned = |it: &pb::MoveDecided| !it.by_clock && it.signature.is_empty();
            the!(entries, Table(TableRecord::MoveDecided), unsigned).signature = first;
        }),
        breaks("signatures-key-exchanged", &|entries| {
            the!(entries, Table(TableRecord::EntropyCommitted)).key = vec![7; 32].into();
        }),
        broken_hand("signatures-agreement-not-signed", agreed(), Check::Signatures, |entries| {
            let voids = |it: &AnyRecord| {
                is_signed(it)
                    && matches!(it, Table(TableRecord::MoveDecided(it)) if wire::replay::is_void(it))
            };
            let first = index_of(entries, voids);
            if let Table(TableRecord::MoveDecided(it)) = &mut entries[first].recorded {
                it.signature.clear();
            }
        }),
    ]
}

/// Leaves that are not signed as they should be, or not asked for when they should be.
fn leaves() -> Vec<Golden> {
    vec![
        broken_hand("signatures-leave-not-signed", left(), Check::Signatures, |entries| {
            the!(entries, Table(TableRecord::LeaveAsked)).signature.clear();
        }),
        broken_hand("signatures-leave-asked-twice", left(), Check::Signatures, |entries| {
            let asked = index_of(entries, |it| matches!(it, Table(TableRecord::LeaveAsked(_))));
            entries.insert(asked, entries[asked].clone());
        }),
        broken_hand("signatures-leave-asked-again-by-who-left", taken(), Check::Signatures, |it| {
            let asked = index_of(it, |it| matches!(it, Table(TableRecord::LeaveAsked(_))));
            let leaves =
                |it: &AnyRecord| matches!(it, Table(TableRecord::MoveDecided(it)) if is_leave(it));
            let left = index_of(it, leaves);
            let again = Entry { at: it[left].at, ..it[asked].clone() };
            it.insert(left + 1, again);
        }),
        broken_hand("signatures-leave-never-asked", taken(), Check::Signatures, |entries| {
            let asked = index_of(entries, |it| matches!(it, Table(TableRecord::LeaveAsked(_))));
            entries.remove(asked);
        }),
    ]
}

/// Hands that were ended without the agreement of those who are left.
fn votes() -> Vec<Golden> {
    vec![
        broken_hand("decisions-agreed-by-nobody", left_by_all(), Check::Decisions, |_| ()),
        broken_hand("decisions-agreed-by-who-leaves", agreed(), Check::Decisions, |entries| {
            let unsigned = |it: &AnyRecord| {
                matches!(it, Table(TableRecord::MoveDecided(it))
                    if wire::replay::is_void(it) && it.signature.is_empty())
            };
            let void = index_of(entries, unsigned);
            let Table(TableRecord::MoveDecided(decided)) = &entries[void].recorded else {
                unreachable!("it is a decision");
            };
            let seat = decided.seat;
            let asked =
                pb::LeaveAsked { seat, why: "asked".to_owned(), ..pb::LeaveAsked::default() };
            let created = index_of(entries, |it| matches!(it, Table(TableRecord::TableCreated(_))));
            let stream = entries[created].stream;
            let recorded = Table(asked.into());
            entries.insert(void, Entry { stream, recorded, ..entries[void].clone() });
        }),
        broken_hand("decisions-house-takes-a-vote-away", left(), Check::Decisions, |entries| {
            let asked = the!(entries, Table(TableRecord::LeaveAsked));
            asked.why = "standing".to_owned();
            asked.signature.clear();
        }),
    ]
}

/// A suspended hand that all agreed to end but one, who has asked to leave.
fn left() -> TableFixture {
    let silent = silent(Some(6), SuspensionEnd::LeftAndAgreed);
    played(HandOptions { entropy: everybody(EntropyBehaviour::Reveals), ..silent })
}

/// A hand that a player leaves while it is suspended.
fn taken() -> TableFixture {
    played(silent(Some(3), SuspensionEnd::LeftAndContinued))
}

/// A suspended hand that everybody asked to leave, ended as if somebody had agreed to it.
fn left_by_all() -> TableFixture {
    let silent = silent(Some(6), SuspensionEnd::LeftByAll);
    played(HandOptions { entropy: everybody(EntropyBehaviour::Reveals), ..silent })
}

fn is_leave(decided: &pb::MoveDecided) -> bool {
    decided.r#move.as_ref().is_some_and(|mv| mv.kind() == MoveKind::Leave)
}

fn is_signed(recorded: &AnyRecord) -> bool {
    matches!(recorded, Table(TableRecord::MoveDecided(it)) if !it.signature.is_empty())
}
