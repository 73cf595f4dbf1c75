//! Check of the opened seed. A seed that is refused undoes nothing: the hand stays settled, and its
//! check fails by whoever is wrong about the seed.
//!
//! Specification: fairness/SPEC.md §10.4.

use fairness::Seed;
use primitives::UnixMicros;

use crate::hand::CLOCK_SKEW;
use crate::hand::commitments::{ParsedCommitment, array, parse_commitment};
use crate::hand::decoded_records::DecodedRecords;
use crate::report::{CheckError, ensure, failed};

/// Checks the seed: both logs have the same, it opens the commitment, and it was opened neither
/// before the end of the hand nor before the delay of the settings.
pub(super) fn check(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, committed) = decoded.committed()?;
    let commitment = parse_commitment(committed)?;
    check_refusal(decoded, &commitment)?;
    let (opened_at, opened) = decoded.seed()?;
    ensure(opens(&commitment, &opened.seed)?, || {
        "the opened seed is not the one that the dealer committed to".to_owned()
    })?;
    ensure(opened.discarded == decoded.is_aborted(), || {
        if opened.discarded {
            "the dealer opened the seed of a hand to be discarded, and it was not".to_owned()
        } else {
            "the hand came to nothing, and the dealer opened its seed as if it had been played"
                .to_owned()
        }
    })?;
    check_time(decoded, opened_at.recorded_at)?;
    let (_, revealed) = decoded.revealed()?;
    ensure(revealed.seed == opened.seed, || {
        "the table recorded another seed than the dealer opened".to_owned()
    })
}

fn opens(commitment: &ParsedCommitment, seed: &[u8]) -> Result<bool, CheckError> {
    let seed = Seed::new(array("the seed", seed)?.into());
    Ok(commitment.commitment.opens(&commitment.context, &seed))
}

/// Fails a hand whose seed was refused: by the table if it is the right one, by the dealer if not.
fn check_refusal(
    decoded: &DecodedRecords<'_>,
    commitment: &ParsedCommitment,
) -> Result<(), CheckError> {
    let Ok((_, refused)) = decoded.refused() else { return Ok(()) };
    Err(failed(if opens(commitment, &refused.seed).unwrap_or(false) {
        "the table refused the seed that the dealer had committed to"
    } else {
        "the dealer opened another seed than it had committed to, and the table refused it"
    }))
}

/// Returns the time at which the seed of the hand is due, if the hand has ended: at once for a
/// number that was burnt before its antes, else as the settings say.
pub(super) fn due_at(decoded: &DecodedRecords<'_>) -> Result<UnixMicros, CheckError> {
    let ended = match decoded.settled() {
        Ok((at, _)) => at,
        Err(_) => decoded.aborted()?.0,
    };
    let burnt = decoded.is_aborted() && decoded.sealed().is_err();
    if burnt {
        return Ok(ended.recorded_at);
    }
    Ok(ended.recorded_at.plus(decoded.settings()?.seed_delay()))
}

fn check_time(decoded: &DecodedRecords<'_>, seen: UnixMicros) -> Result<(), CheckError> {
    if !decoded.is_aborted() && decoded.settled().is_err() {
        return Err(failed("the seed was opened, and no end of the hand is on record before it"));
    }
    let due = due_at(decoded)?;
    ensure(due <= seen.plus(CLOCK_SKEW), || {
        format!("the dealer opened the seed at {seen}, and it was to stay shut until {due}")
    })
}
