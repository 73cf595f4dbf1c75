//! Conversion of the tests' state to and from the event `OutcomesTested`.

use std::collections::BTreeSet;

use battery::field::{Counts, FieldTests, Group, Groups, Look, LookResult, MAX_CELLS, Subject};
use proto::event::v1 as pb;
use proto::event::v1::outcome_subject::Operation;
use wire::BadField;
use wire::field::exactly;

use super::fold::Fold;

pub(super) const fn look_to_pb(look: Look) -> pb::OutcomeLook {
    match look {
        Look::All => pb::OutcomeLook::All,
        Look::Newest => pb::OutcomeLook::Newest,
    }
}

/// A look with the state after it.
pub(super) fn tested_to_pb(fold: &Fold, look: &LookResult) -> pb::OutcomesTested {
    let FieldTests { hands, looks_at_all, looks_at_newest, all, newest, found } = &fold.tests;
    pb::OutcomesTested {
        hands: *hands,
        look: look_to_pb(look.look).into(),
        looks_at_all: *looks_at_all,
        looks_at_newest: *looks_at_newest,
        tests: u32::try_from(look.tests).unwrap_or(u32::MAX),
        counted_to: fold.counted_to,
        read_from: fold.read_from(),
        all: groups_to_pb(all),
        newest: groups_to_pb(newest),
        found: found.iter().map(group_to_pb).collect(),
    }
}

fn groups_to_pb(groups: &Groups) -> Vec<pb::OutcomeCounts> {
    let counts = groups.iter().map(|(group, Counts { trials, cells })| pb::OutcomeCounts {
        subject: Some(group_to_pb(group)),
        trials: *trials,
        cells: cells.clone(),
    });
    counts.collect()
}

pub(super) fn group_to_pb(group: &Group) -> pb::OutcomeSubject {
    let Group { game, subject } = group;
    let operation = match *subject {
        Subject::Deck { first, count } => {
            Operation::Deck(pb::DeckSubject { first: first.into(), count: count.into() })
        }
        Subject::Die { sides } => Operation::Die(sides.into()),
        Subject::Pulse { ppm } => Operation::Pulse(ppm),
        Subject::Pick { n } => Operation::Pick(n),
        Subject::Sample { n, k } => Operation::Sample(pb::SampleSubject { of: n, take: k }),
    };
    let rules_hash = game.map_or_else(Vec::new, |game| game.to_vec()).into();
    pb::OutcomeSubject { rules_hash, operation: Some(operation) }
}

/// The state that a recorded look goes on with, as it was recorded; what is still to be read begins
/// at `read_from` of the same event.
pub(super) fn parse(tested: &pb::OutcomesTested) -> Result<(Fold, u64), BadField> {
    let pb::OutcomesTested {
        hands,
        look: _,
        looks_at_all,
        looks_at_newest,
        tests: _,
        counted_to,
        read_from,
        all,
        newest,
        found,
    } = tested;
    let found: Result<BTreeSet<Group>, BadField> = found.iter().map(parse_group).collect();
    let tests = FieldTests {
        hands: *hands,
        looks_at_all: *looks_at_all,
        looks_at_newest: *looks_at_newest,
        all: parse_groups(all)?,
        newest: parse_groups(newest)?,
        found: found?,
    };
    Ok((Fold::new(tests, *counted_to), *read_from))
}

fn parse_groups(counts: &[pb::OutcomeCounts]) -> Result<Groups, BadField> {
    let mut groups = Groups::new();
    for pb::OutcomeCounts { subject, trials, cells } in counts {
        let subject = subject.as_ref().ok_or_else(|| BadField::new("subject", "it is missing"))?;
        let group = parse_group(subject)?;
        let wanted = cells_of(group.subject);
        if wanted.is_some_and(|wanted| wanted != cells.len()) || cells.len() > MAX_CELLS {
            return Err(BadField::new("cells", "another number than the subject has"));
        }
        groups.insert(group, Counts { trials: *trials, cells: cells.clone() });
    }
    Ok(groups)
}

/// Number of cells of a subject; none for a pick, whose range decides.
fn cells_of(subject: Subject) -> Option<usize> {
    match subject {
        Subject::Deck { first: _, count } => Some(usize::from(count).pow(2)),
        Subject::Die { sides } => Some(sides.into()),
        Subject::Pulse { .. } => Some(2),
        Subject::Pick { .. } => None,
        Subject::Sample { n, k: _ } => usize::try_from(n).ok(),
    }
}

fn parse_group(subject: &pb::OutcomeSubject) -> Result<Group, BadField> {
    let pb::OutcomeSubject { rules_hash, operation } = subject;
    let game = match rules_hash.is_empty() {
        true => None,
        false => Some(exactly("rules_hash", rules_hash)?),
    };
    let small = |field: &str, number: u32| {
        u8::try_from(number).map_err(|_| BadField::new(field, "at most 255"))
    };
    let operation =
        operation.as_ref().ok_or_else(|| BadField::new("operation", "none is given"))?;
    let subject = match operation {
        Operation::Deck(pb::DeckSubject { first, count }) => {
            Subject::Deck { first: small("first", *first)?, count: small("count", *count)? }
        }
        Operation::Die(sides) => Subject::Die { sides: small("die", *sides)? },
        Operation::Pulse(ppm) => Subject::Pulse { ppm: *ppm },
        Operation::Pick(n) => Subject::Pick { n: *n },
        Operation::Sample(pb::SampleSubject { of, take }) => Subject::Sample { n: *of, k: *take },
    };
    Ok(Group { game, subject })
}
