//! Commitments that precede chance: the dealer's to its seed, the seats' to their entropy, and the
//! transcript that binds them.
//!
//! Specification: fairness/SPEC.md §10.2 to §10.4.

use fairness::{
    ClientCommitment, Commitment, CommitmentStatement, Context, Entropy, Keys, RowStatus, Seed,
    SignedText as _, Transcript, TranscriptRow,
};
use primitives::{PlayerId, TableId};
use proto::common::v1::{self as common, EntropyStatus};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};
use wire::{DealerRecord, TableRecord};

use crate::hand::decoded_records::DecodedRecords;
use crate::hand::{CLOCK_SKEW, TextKey, aborts, entropy, sentences};
use crate::report::{CheckError, ensure, failed, missing};

/// The dealer's commitment, parsed, with its context.
pub(super) struct ParsedCommitment {
    pub(super) table: TableId,
    pub(super) hand_no: u64,
    pub(super) rules_hash: [u8; 32],
    pub(super) commitment: Commitment,
    pub(super) context: Context,
}

pub(super) fn array<const N: usize>(what: &str, bytes: &[u8]) -> Result<[u8; N], CheckError> {
    let length = bytes.len();
    bytes.try_into().map_err(|_| failed(format!("{what} has {length} bytes, not {N}")))
}

/// Bytes that a row of closing or transcript adds to a hash, and more than the fields of a signed text
/// but for names.
pub(super) const BYTES_OF_A_ROW: usize = 160;

fn required<T>(what: &str, value: Option<T>) -> Result<T, CheckError> {
    value.ok_or_else(|| failed(format!("{what} is missing")))
}

pub(super) fn parse_commitment(
    committed: &pb::SeedCommitted,
) -> Result<ParsedCommitment, CheckError> {
    let pb::SeedCommitted { table_id, hand_no, rules_hash, commitment, build: _ } = committed;
    let commitment = required("the commitment", commitment.as_ref())?;
    let table = TableId(array("the commitment's table", table_id)?);
    let rules_hash = array("the hash of the rules", rules_hash)?;
    Ok(ParsedCommitment {
        table,
        hand_no: *hand_no,
        rules_hash,
        commitment: Commitment(array("the commitment", &commitment.commitment)?),
        context: Context::new(&commitment.origin, table, *hand_no, &rules_hash),
    })
}

/// Returns the dealer's key of this id for a text whose record stands at `position` of its log.
pub(super) fn dealer_key(
    decoded: &DecodedRecords<'_>,
    key_id: &[u8],
    position: u64,
) -> Result<[u8; 32], CheckError> {
    let keys = &decoded.records.dealer_keys;
    if keys.is_empty() {
        return Err(missing("no key of the dealer was given to check its signature with"));
    }
    let named = |listed: &&TextKey| Sha256::digest(listed.key)[..8] == *key_id;
    let listed = keys.iter().find(named).ok_or_else(|| {
        failed("a text of the dealer is signed with a key that is not among the dealer's")
    })?;
    // A key that is listed twice has the earlier end.
    let has_ended = |listed: &TextKey| listed.until.is_some_and(|until| position >= until);
    ensure(!keys.iter().filter(named).any(has_ended), || {
        format!("position {position} of the dealer's log is signed with a key that had ended")
    })?;
    Ok(listed.key)
}

/// Checks the commitment: in both logs before the hand was opened, for this hand, these rules and
/// settings, and signed.
pub(super) fn check_commitment(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    let (_, noted) = decoded.noted()?;
    let (_, committed) = decoded.committed()?;
    check_single_commitment(decoded)?;
    let parsed = parse_commitment(committed)?;
    let ParsedCommitment { table, hand_no, rules_hash, .. } = parsed;
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
    ensure(fairness::rules_hash(&opened.rule_set, &opened.settings) == rules_hash, || {
        "the dealer committed under other rules or settings than the hand was opened with"
            .to_owned()
    })?;
    check_commitment_order(decoded)?;
    check_commitment_signature(decoded, &parsed)
}

/// Checks that the dealer's commitment stands before the opening, and before any seat's.
fn check_commitment_order(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (opened_at, opened) = decoded.opened()?;
    let (noted_at, _) = decoded.noted()?;
    let (committed_at, _) = decoded.committed()?;
    ensure(noted_at.position < opened_at.position, || {
        "the table noted the commitment after it had opened the hand".to_owned()
    })?;
    let opened_by = opened_at.recorded_at.plus(CLOCK_SKEW);
    ensure(committed_at.recorded_at <= opened_by, || {
        let (committed, opened) = (committed_at.recorded_at, opened_at.recorded_at);
        format!("the dealer committed at {committed}, the hand was opened at {opened}")
    })?;
    let early = decoded.table.iter().find(|read| {
        matches!(&read.recorded, TableRecord::EntropyCommitted(given) if given.hand_no == opened.hand_no)
            && read.event.position < noted_at.position
    });
    ensure(early.is_none(), || {
        "a seat committed to entropy before the dealer's commitment was on the table's record"
            .to_owned()
    })
}

fn check_commitment_signature(
    decoded: &DecodedRecords<'_>,
    parsed: &ParsedCommitment,
) -> Result<(), CheckError> {
    let (committed_at, committed) = decoded.committed()?;
    let signed = required("the commitment", committed.commitment.as_ref())?;
    let common::Commitment { commitment: _, key_id, signature, origin } = signed;
    if let Some(proofs) = &decoded.records.proofs {
        ensure(proofs.dealer_origin.as_ref().is_none_or(|name| name == origin), || {
            format!("the commitment is bound to {origin}, which is not the dealer's log")
        })?;
    }
    let message = CommitmentStatement {
        origin,
        table: parsed.table,
        hand_no: parsed.hand_no,
        rules_hash: &parsed.rules_hash,
        commitment: &parsed.commitment,
    };
    let signature = array("the signature", signature)?;
    let key = dealer_key(decoded, key_id, committed_at.position.0)?;
    decoded.work.signed(origin.len() + BYTES_OF_A_ROW);
    message.verify(&key, &signature).map_err(|error| failed(error.to_string()))
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
    let hand_no = decoded.hand_no()?;
    let notes = decoded.table.iter().filter(|read| {
        matches!(&read.recorded, TableRecord::HandCommitted(noted) if noted.hand_no == hand_no)
    });
    ensure(notes.count() == 1, || "the table noted a second commitment of the dealer".to_owned())
}

/// Checks what the seats revealed, and the reason of an abort. A sealed hand has one row for each
/// seat of the closing, equal in both logs, none withheld, and bound as recorded.
pub(super) fn check_transcript(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    let brought = entropy::contributions(decoded, &context, &commitment)?;
    let rows = decoded.bound().map_or(0, |(_, bound)| bound.rows.len());
    decoded.work.hashed(BYTES_OF_A_ROW * (1 + rows));
    aborts::check(decoded, &brought)?;
    let (sealed, bound) = (decoded.sealed(), decoded.bound());
    if decoded.is_aborted() && sealed.is_err() {
        // The dealer is asked first: it may have bound contributions that the table no longer
        // wanted.
        let Ok((_, bound)) = bound else { return Ok(()) };
        return check_bound_rows(bound, &brought, &context, &commitment);
    }
    let ((_, sealed), (_, bound)) = (sealed?, bound?);
    ensure(sealed.rows == bound.rows, || {
        "the table and the dealer recorded different contributions of the seats".to_owned()
    })?;
    check_bound_rows(bound, &brought, &context, &commitment)?;
    ensure(sealed.transcript == bound.transcript, || {
        "the table recorded another transcript than the contributions give".to_owned()
    })
}

fn check_bound_rows(
    bound: &pb::SeedSealed,
    brought: &entropy::Contributions<'_>,
    context: &Context,
    commitment: &Commitment,
) -> Result<(), CheckError> {
    ensure(bound.beacon.is_empty(), || {
        "the transcript holds a beacon: none is defined, so nobody can check that it was not chosen"
            .to_owned()
    })?;
    brought.check_rows(&bound.rows)?;
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

/// Derives the keys of all chance of the hand from a seed that opens the commitment and
/// contributions that give a recorded transcript, whichever log has them.
pub(super) fn derive_keys(decoded: &DecodedRecords<'_>) -> Result<Keys, CheckError> {
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    let at_dealer = decoded.seed().map(|(_, opened)| &opened.seed);
    let at_table = decoded.revealed().map(|(_, revealed)| &revealed.seed);
    let refused = decoded.refused().map(|(_, refused)| &refused.seed);
    let opened: Vec<_> = [at_dealer, at_table, refused].into_iter().flatten().collect();
    if opened.is_empty() {
        return Err(missing("the seed is not open yet"));
    }
    let seed = opened
        .into_iter()
        .filter_map(|seed| array("the seed", seed).ok())
        .map(|seed| Seed::new(seed.into()))
        .find(|seed| commitment.opens(&context, seed))
        .ok_or_else(|| missing("no seed was opened that the dealer had committed to"))?;
    Ok(Keys::derive(&recorded_transcript(decoded)?, &seed))
}

/// Returns the transcript of contributions that give a recorded one, whichever log has them.
pub(super) fn recorded_transcript(decoded: &DecodedRecords<'_>) -> Result<Transcript, CheckError> {
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
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
        .ok_or_else(|| missing("no recorded contributions of the seats give a recorded transcript"))
}

/// Returns the seats of a hand that was never sealed whose numbers nobody has opened.
pub(super) fn unopened_seats(decoded: &DecodedRecords<'_>) -> Result<Vec<u32>, CheckError> {
    let (_, committed) = decoded.committed()?;
    let ParsedCommitment { commitment, context, .. } = parse_commitment(committed)?;
    Ok(entropy::contributions(decoded, &context, &commitment)?.unopened_seats())
}

/// Derives the keys that a hand which was never sealed would have had, from the transcript that its
/// recorded contributions give, late ones included.
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
