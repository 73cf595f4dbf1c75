//! Commitments that precede chance: the dealer's to its seed, the seats' to their entropy, and the
//! seed that opens the dealer's.
//!
//! Specification: fairness/SPEC.md §10.2 to §10.4.

use std::time::Duration;

use fairness::{
    ClientCommitment, Commitment, CommitmentStatement, Context, Entropy, Keys, RowStatus, Seed,
    Transcript, TranscriptRow,
};
use primitives::{PlayerId, TableId, UnixMicros};
use proto::dealer::v1::{self as dealer, EntropyStatus};
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};
use wire::{DealerRecord, TableRecord};

use crate::hand::decoded_records::DecodedRecords;
use crate::hand::{CLOCK_SKEW, entropy, sentences};
use crate::report::{CheckError, ensure, failed, missing};

/// The dealer's commitment, parsed, with its context.
struct ParsedCommitment {
    table: TableId,
    hand_no: u64,
    rule_set_hash: [u8; 32],
    commitment: Commitment,
    context: Context,
}

pub(super) fn array<const N: usize>(what: &str, bytes: &[u8]) -> Result<[u8; N], CheckError> {
    let length = bytes.len();
    bytes.try_into().map_err(|_| failed(format!("{what} has {length} bytes, not {N}")))
}

fn required<T>(what: &str, value: Option<T>) -> Result<T, CheckError> {
    value.ok_or_else(|| failed(format!("{what} is missing")))
}

fn parse_commitment(committed: &pb::SeedCommitted) -> Result<ParsedCommitment, CheckError> {
    let pb::SeedCommitted { table_id, hand_no, rule_set_hash, commitment } = committed;
    let commitment = required("the commitment", commitment.as_ref())?;
    let table = TableId(array("the commitment's table", table_id)?);
    let rule_set_hash = array("the rule set's hash", rule_set_hash)?;
    Ok(ParsedCommitment {
        table,
        hand_no: *hand_no,
        rule_set_hash,
        commitment: Commitment(array("the commitment", &commitment.commitment)?),
        context: Context::new(&commitment.origin, table, *hand_no, &rule_set_hash),
    })
}

/// Checks the commitment: in both logs before the hand was opened, for this hand and these rules,
/// and signed.
pub(super) fn check_commitment(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (opened_at, opened) = decoded.opened()?;
    let (noted_at, noted) = decoded.noted()?;
    let (committed_at, committed) = decoded.committed()?;
    check_single_commitment(decoded)?;
    let ParsedCommitment { table, hand_no, rule_set_hash, commitment, context: _ } =
        parse_commitment(committed)?;
    ensure(table.0[..] == opened.table_id[..] && hand_no == opened.hand_no, || {
        format!("the dealer committed to hand {hand_no} of table {table}, which is another")
    })?;
    ensure(fairness::hand_id(table, hand_no) == decoded.records.hand_id, || {
        format!("hand {hand_no} of table {table} has another id than was asked for")
    })?;
    ensure(opened.commitment == committed.commitment, || {
        "the hand was opened with another commitment than the dealer's".to_owned()
    })?;
    ensure(noted.commitment == committed.commitment, || {
        "the table noted another commitment than the dealer's".to_owned()
    })?;
    ensure(Sha256::digest(&opened.rule_set)[..] == rule_set_hash, || {
        "the dealer committed under another rule set than the hand was opened with".to_owned()
    })?;
    ensure(noted_at.position < opened_at.position, || {
        "the table noted the commitment after it had opened the hand".to_owned()
    })?;
    let opened_by = opened_at.recorded_at.plus(CLOCK_SKEW);
    ensure(committed_at.recorded_at <= opened_by, || {
        let (committed, opened) = (committed_at.recorded_at, opened_at.recorded_at);
        format!("the dealer committed at {committed}, the hand was opened at {opened}")
    })?;
    let early = decoded.table.iter().find(|read| {
        matches!(read.recorded, TableRecord::EntropyCommitted(_))
            && read.event.position < noted_at.position
    });
    ensure(early.is_none(), || {
        "a seat committed to entropy before the dealer's commitment was on the table's record"
            .to_owned()
    })?;
    let signed = required("the commitment", committed.commitment.as_ref())?;
    let dealer::Commitment { commitment: _, key_id, signature, origin } = signed;
    if let Some(proofs) = &decoded.records.proofs {
        ensure(proofs.dealer_origin.as_ref().is_none_or(|name| name == origin), || {
            format!("the commitment is bound to {origin}, which is not the dealer's log")
        })?;
    }
    let message = CommitmentStatement {
        table,
        hand_no,
        ruleset_hash: &rule_set_hash,
        commitment: &commitment,
        key_id,
    };
    let signature = array("the signature", signature)?;
    if decoded.records.dealer_keys.is_empty() {
        return Err(missing("no key of the dealer was given to check its signature with"));
    }
    let named = |key: &&[u8; 32]| Sha256::digest(key)[..8] == key_id[..];
    let key = decoded.records.dealer_keys.iter().find(named).ok_or_else(|| {
        failed("the commitment is signed with a key that is not among the dealer's")
    })?;
    message.verify(key, &signature).map_err(|error| failed(error.to_string()))
}

/// Checks that each log has one commitment for the hand number: two would let the dealer choose its
/// seed.
fn check_single_commitment(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let promises = decoded
        .dealer
        .iter()
        .filter(|read| matches!(read.recorded, DealerRecord::SeedCommitted(_)));
    ensure(promises.count() == 1, || {
        "the dealer committed to a second seed for this hand number".to_owned()
    })?;
    let notes =
        decoded.table.iter().filter(|read| matches!(read.recorded, TableRecord::HandCommitted(_)));
    ensure(notes.count() == 1, || "the table noted a second commitment of the dealer".to_owned())
}

/// Checks the contributions of the seats, in order and in time. A sealed hand has one row for each
/// player dealt in, equal in both logs, none withheld, and bound as recorded.
pub(super) fn check_transcript(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    let brought = entropy::contributions(decoded, &context, &commitment)?;
    brought.check_abort_reason(decoded)?;
    let (sealed, bound) = (decoded.sealed(), decoded.bound());
    if decoded.is_aborted() && sealed.is_err() {
        // The dealer is asked first: it may have bound contributions that the table no longer
        // wanted.
        let Ok((_, bound)) = bound else { return Ok(()) };
        return check_bound_rows(opened, bound, &brought, &context, &commitment);
    }
    let ((_, sealed), (_, bound)) = (sealed?, bound?);
    ensure(sealed.rows == bound.rows, || {
        "the table and the dealer recorded different contributions of the seats".to_owned()
    })?;
    check_bound_rows(opened, bound, &brought, &context, &commitment)?;
    ensure(sealed.transcript == bound.transcript, || {
        "the table recorded another transcript than the contributions give".to_owned()
    })
}

fn check_bound_rows(
    opened: &pb::HandOpened,
    bound: &pb::SeedSealed,
    brought: &entropy::Contributions<'_>,
    context: &Context,
    commitment: &Commitment,
) -> Result<(), CheckError> {
    let mut roster: Vec<(u32, &[u8])> =
        opened.roster.iter().map(|seat| (seat.seat, &seat.player_id[..])).collect();
    roster.sort_unstable();
    let rows = bound.rows.iter().map(|row| (row.seat, &row.player_id[..]));
    ensure(rows.eq(roster), || {
        "the contributions are not one of each player dealt in, by seat".to_owned()
    })?;
    ensure(bound.rows.iter().all(|row| row.status() != EntropyStatus::Withheld), || {
        "a player withheld what he had committed to: this hand must not be played".to_owned()
    })?;
    ensure(bound.beacon.is_empty(), || {
        "the transcript holds a beacon: none is defined, so nobody can check that it was not chosen"
            .to_owned()
    })?;
    bound.rows.iter().try_for_each(|row| brought.check_row(row))?;
    let computed = compute_transcript(context, commitment, &bound.rows)?;
    ensure(computed.0[..] == bound.transcript[..], || {
        "the dealer recorded another transcript than the contributions give".to_owned()
    })
}

fn compute_transcript(
    context: &Context,
    commitment: &Commitment,
    rows: &[dealer::EntropyRow],
) -> Result<Transcript, CheckError> {
    let rows = rows.iter().map(parse_row).collect::<Result<Vec<_>, _>>()?;
    Transcript::try_new(context, commitment, None, &rows).map_err(|error| failed(error.to_string()))
}

fn parse_row(row: &dealer::EntropyRow) -> Result<TranscriptRow, CheckError> {
    let dealer::EntropyRow { seat, player_id, status: _, commitment, entropy } = row;
    let seat_no = u8::try_from(*seat).map_err(|_| failed(format!("there is no seat {seat}")))?;
    let given = |what: &str, bytes: &[u8]| array::<32>(&format!("seat {seat}'s {what}"), bytes);
    let none = |what: &str, bytes: &[u8]| {
        let surplus = || format!("seat {seat} has a {what} that its status does not have");
        ensure(bytes.is_empty(), surplus).map(|()| [0; 32])
    };
    let (status, commitment, entropy) = match row.status() {
        EntropyStatus::Revealed => {
            (RowStatus::Revealed, given("commitment", commitment)?, given("entropy", entropy)?)
        }
        EntropyStatus::Withheld => {
            (RowStatus::Withheld, given("commitment", commitment)?, none("entropy", entropy)?)
        }
        EntropyStatus::Absent => {
            (RowStatus::Absent, none("commitment", commitment)?, none("entropy", entropy)?)
        }
        EntropyStatus::Unspecified => {
            return Err(failed(format!("it is not said what became of seat {seat}'s entropy")));
        }
    };
    Ok(TranscriptRow {
        seat: seat_no,
        player: PlayerId(array("a player's id", player_id)?),
        status,
        commitment: ClientCommitment(commitment),
        entropy: Entropy(entropy),
    })
}

/// Checks the seed: both logs have the same, it opens the commitment, and it was opened neither
/// before the end of the hand nor before the delay that the table was made with. Without a delay it
/// was opened before the settlement was posted.
pub(super) fn check_seed(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (opened_at, opened) = decoded.seed()?;
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    let seed = Seed::new(array("the seed", &opened.seed)?.into());
    ensure(commitment.opens(&context, &seed), || {
        "the opened seed is not the one that the dealer committed to".to_owned()
    })?;
    // A settled hand may be aborted after the dealer was asked for its seed.
    ensure(opened.discarded == (decoded.is_aborted() && decoded.settled().is_err()), || {
        if opened.discarded {
            "the dealer opened the seed of a hand to be discarded, and it was not".to_owned()
        } else {
            "the hand came to nothing, and the dealer opened its seed as if it had been played"
                .to_owned()
        }
    })?;
    check_seed_time(decoded, opened_at.recorded_at)?;
    let (_, revealed) = decoded.revealed()?;
    ensure(revealed.seed == opened.seed, || {
        "the table recorded another seed than the dealer opened".to_owned()
    })
}

fn check_seed_time(decoded: &DecodedRecords<'_>, seen: UnixMicros) -> Result<(), CheckError> {
    let known = seen.plus(CLOCK_SKEW);
    if let (Ok((aborted, _)), Err(_)) = (decoded.aborted(), decoded.settled()) {
        return ensure(aborted.recorded_at <= known, || {
            let over = aborted.recorded_at;
            format!("the dealer opened the seed at {seen}, the hand was aborted at {over}")
        });
    }
    let (settled_at, _) = decoded.settled().map_err(|_| {
        failed("the seed was opened, and no end of the hand is on record before it")
    })?;
    let (_, opened) = decoded.opened()?;
    let settled = settled_at.recorded_at;
    let delay = Duration::from_secs(opened.reveal_delay_seconds.into());
    ensure(settled.plus(delay) <= known, || {
        let after = if delay.is_zero() {
            String::new()
        } else {
            format!(" and its seed was to stay hidden for {} seconds more", delay.as_secs())
        };
        format!("the dealer opened the seed at {seen}, the hand was settled at {settled}{after}")
    })?;
    // Hands without time for entropy are posted before their seed is opened.
    if !delay.is_zero() || !decoded.has_entropy() {
        return Ok(());
    }
    let Ok((posted, _)) = decoded.posted() else { return Ok(()) };
    ensure(seen <= posted.recorded_at.plus(CLOCK_SKEW), || {
        let posted = posted.recorded_at;
        format!("the settlement was posted at {posted}, the dealer opened the seed at {seen} only")
    })
}

/// Derives the keys of all chance of the hand from a seed that opens the commitment and
/// contributions that give a recorded transcript, whichever log has them.
pub(super) fn derive_keys(decoded: &DecodedRecords<'_>) -> Result<Keys, CheckError> {
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    let at_dealer = decoded.seed().map(|(_, opened)| &opened.seed);
    let at_table = decoded.revealed().map(|(_, revealed)| &revealed.seed);
    let opened: Vec<_> = [at_dealer, at_table].into_iter().flatten().collect();
    if opened.is_empty() {
        return Err(missing("the seed is not open yet"));
    }
    let seed = opened
        .into_iter()
        .filter_map(|seed| array("the seed", seed).ok())
        .map(|seed| Seed::new(seed.into()))
        .find(|seed| commitment.opens(&context, seed))
        .ok_or_else(|| missing("no seed was opened that the dealer had committed to"))?;
    let mut candidates = Vec::new();
    if let Ok((_, bound)) = decoded.bound() {
        candidates.push((&bound.transcript, &bound.rows));
    }
    if let Ok((_, sealed)) = decoded.sealed() {
        candidates.push((&sealed.transcript, &sealed.rows));
    }
    let recorded: Vec<_> = candidates.iter().map(|(transcript, _)| *transcript).collect();
    candidates
        .iter()
        .filter_map(|(_, rows)| compute_transcript(&context, &commitment, rows).ok())
        .find(|computed| recorded.iter().any(|recorded| recorded[..] == computed.0[..]))
        .map(|transcript| Keys::derive(&transcript, &seed))
        .ok_or_else(|| missing("no recorded contributions of the seats give a recorded transcript"))
}

/// Derives the keys of a hand that was never sealed, from the transcript that its recorded
/// contributions give, with the seats that withheld.
pub(super) fn derive_unsealed_keys(decoded: &DecodedRecords<'_>) -> Result<Keys, CheckError> {
    let (_, opened) = decoded.opened()?;
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    let (_, seed) = decoded.seed()?;
    let seed = Seed::new(array("the seed", &seed.seed)?.into());
    ensure(commitment.opens(&context, &seed), || "another seed was opened".to_owned())?;
    let brought = entropy::contributions(decoded, &context, &commitment)?;
    let mut rows: Vec<dealer::EntropyRow> =
        opened.roster.iter().map(|place| brought.row(place)).collect();
    rows.sort_by_key(|row| row.seat);
    Ok(Keys::derive(&compute_transcript(&context, &commitment, &rows)?, &seed))
}

/// Returns notes on the seats that took part in chance, for players who want to know how much their
/// entropy counted, and on why a hand came to nothing.
pub(super) fn notes(decoded: &DecodedRecords<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok((_, aborted)) = decoded.aborted() {
        notes.push(sentences::describe_abort(aborted));
    }
    let Ok((_, bound)) = decoded.bound() else { return notes };
    let brought = |row: &&dealer::EntropyRow| row.status() == EntropyStatus::Revealed;
    let seats: Vec<String> =
        bound.rows.iter().filter(brought).map(|row| row.seat.to_string()).collect();
    notes.push(if seats.is_empty() {
        "No seat brought entropy of its own: chance came from the dealer's committed seed alone."
            .to_owned()
    } else {
        format!("Seats that brought entropy of their own to chance: {}.", seats.join(", "))
    });
    notes
}
