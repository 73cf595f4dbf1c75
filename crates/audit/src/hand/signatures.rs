//! Check of the signatures of decisions, over the chain that begins at the transcript.
//!
//! A player whose commitment named a key signs each decision, leaves and agreements to end a
//! suspended hand included, unless the clock decides. Who has named none signs nothing, and the
//! decision is the table's word.
//!
//! Specification: fairness/SPEC.md §10.8.

use fairness::{Chain, Context, DecisionStatement, SignedText as _};

use crate::hand::Check;
use crate::hand::closing::counted_commitments;
use crate::hand::commitments::{array, parse_commitment, recorded_transcript};
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::{RecordedDecision, Replay};
use crate::report::{CheckError, ensure, failed};

pub(super) fn check(decoded: &DecodedRecords<'_>, replay: &Replay) -> Result<(), CheckError> {
    if !replay.decisions.is_empty() {
        let (_, committed) = decoded.committed()?;
        let context = parse_commitment(committed)?.context;
        let mut chain = Chain::new(&recorded_transcript(decoded)?);
        let keys = counted_commitments(decoded);
        for decision in &replay.decisions {
            chain = chain.with(decision.by_clock, &decision.line);
            let key = keys.get(&decision.seat).map(|(_, given)| &given.key[..]);
            check_decision(decision, key.unwrap_or_default(), &context, &chain)?;
        }
    }
    replay.verdict(Check::Signatures)
}

fn check_decision(
    decision: &RecordedDecision,
    key: &[u8],
    context: &Context,
    chain: &Chain,
) -> Result<(), CheckError> {
    let RecordedDecision { position, seat, by_clock, line, said, signature } = decision;
    let at = || format!("position {position} of the table's log, `{line}` of seat {seat}");
    if *by_clock {
        return ensure(signature.is_empty(), || {
            format!("{}: the clock decided, and it is signed", at())
        });
    }
    if key.is_empty() {
        return ensure(signature.is_empty(), || {
            format!("{}: it is signed, and its player has named no key", at())
        });
    }
    ensure(!signature.is_empty(), || {
        format!("{}: its player has a key, and it is neither signed nor the clock's", at())
    })?;
    let key = array("a player's key", key)?;
    let signature = array("the signature of a decision", signature)?;
    let statement = DecisionStatement { context, chain, said };
    statement.verify(&key, &signature).map_err(|error| failed(format!("{}: {error}", at())))
}

/// Returns the seats of the hand whose players have a key, ascending.
pub(super) fn signing_seats(decoded: &DecodedRecords<'_>) -> Vec<u32> {
    let keys = counted_commitments(decoded).into_iter();
    keys.filter(|(_, (_, given))| !given.key.is_empty()).map(|(seat, _)| seat).collect()
}
