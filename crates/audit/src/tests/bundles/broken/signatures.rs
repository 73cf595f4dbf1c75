//! Decisions of players with a key that are not signed as they should be.

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{
    AnyRecord, EntropyBehaviour, Entry, HandOptions, SuspensionEnd, TableFixture,
};
use proto::event::v1 as pb;
use wire::TableRecord;

use super::{Golden, agreed, broken_hand, index_of, played, rich, the};
use crate::tests::bundles::honest::{everybody, silent};

pub(super) fn all() -> Vec<Golden> {
    let honest = rich();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        broken_hand(name, honest.clone(), Check::Signatures, edit)
    };
    let signed = |it: &pb::MoveDecided| !it.signature.is_empty();
    vec![
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
        broken_hand("signatures-leave-not-signed", left(), Check::Signatures, |entries| {
            the!(entries, Table(TableRecord::LeaveAsked)).signature.clear();
        }),
        broken_hand("signatures-leave-never-asked", taken(), Check::Signatures, |entries| {
            let asked = index_of(entries, |it| matches!(it, Table(TableRecord::LeaveAsked(_))));
            entries.remove(asked);
        }),
        broken_hand("decisions-house-takes-a-vote-away", left(), Check::Decisions, |entries| {
            let asked = the!(entries, Table(TableRecord::LeaveAsked));
            asked.why = "standing".to_owned();
            asked.signature.clear();
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

/// A suspended hand that all agreed to end but one, who has asked to leave.
fn left() -> TableFixture {
    let silent = silent(Some(6), SuspensionEnd::LeftAndAgreed);
    played(HandOptions { entropy: everybody(EntropyBehaviour::Reveals), ..silent })
}

/// A hand that a player leaves while it is suspended.
fn taken() -> TableFixture {
    played(silent(Some(3), SuspensionEnd::LeftAndContinued))
}

fn is_signed(recorded: &AnyRecord) -> bool {
    matches!(recorded, Table(TableRecord::MoveDecided(it)) if !it.signature.is_empty())
}
