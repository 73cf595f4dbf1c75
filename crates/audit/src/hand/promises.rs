//! What was promised before chance could be known: the dealer's commitment, the seats' entropy, and
//! the seed that keeps the promise.

use fairness::{
    ClientCommitment, Commitment, Context, Entropy, Keys, Row, Seed, SeedCommitted, Status,
    Transcript,
};
use primitives::{PlayerId, TableId};
use proto::dealer::v1::{self as dealer, EntropyStatus};
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};

use crate::hand::CLOCK_SKEW;
use crate::hand::case::Case;
use crate::report::{Trouble, failed, hold, missing};

/// The dealer's commitment, parsed, and the context it is made in.
struct Promise {
    table: TableId,
    hand_no: u64,
    rule_set_hash: [u8; 32],
    commitment: Commitment,
    context: Context,
}

fn array<const N: usize>(what: &str, bytes: &[u8]) -> Result<[u8; N], Trouble> {
    let length = bytes.len();
    bytes.try_into().map_err(|_| failed(format!("{what} has {length} bytes, not {N}")))
}

fn there<T>(what: &str, value: Option<T>) -> Result<T, Trouble> {
    value.ok_or_else(|| failed(format!("{what} is missing")))
}

fn promise(committed: &pb::SeedCommitted) -> Result<Promise, Trouble> {
    let pb::SeedCommitted { table_id, hand_no, rule_set_hash, commitment } = committed;
    let commitment = there("the commitment", commitment.as_ref())?;
    let table = TableId(array("the commitment's table", table_id)?);
    let rule_set_hash = array("the rule set's hash", rule_set_hash)?;
    Ok(Promise {
        table,
        hand_no: *hand_no,
        rule_set_hash,
        commitment: Commitment(array("the commitment", &commitment.commitment)?),
        context: Context::new(&commitment.origin, table, *hand_no, &rule_set_hash),
    })
}

/// Before the hand was opened, in both logs, for this hand and these rules, and signed.
pub(super) fn commitment(case: &Case<'_>) -> Result<(), Trouble> {
    let (opened_at, opened) = case.opened()?;
    let (noted_at, noted) = case.noted()?;
    let (committed_at, committed) = case.committed()?;
    let Promise { table, hand_no, rule_set_hash, commitment, context: _ } = promise(committed)?;
    hold(table.0[..] == opened.table_id[..] && hand_no == opened.hand_no, || {
        format!("the dealer committed to hand {hand_no} of table {table}, which is another")
    })?;
    hold(fairness::hand_id(table, hand_no) == case.records.hand_id, || {
        format!("hand {hand_no} of table {table} has another id than was asked for")
    })?;
    hold(opened.commitment == committed.commitment, || {
        "the hand was opened with another commitment than the dealer's".to_owned()
    })?;
    hold(noted.commitment == committed.commitment, || {
        "the table noted another commitment than the dealer's".to_owned()
    })?;
    hold(Sha256::digest(&opened.rule_set)[..] == rule_set_hash, || {
        "the dealer committed under another rule set than the hand was opened with".to_owned()
    })?;
    hold(noted_at.position < opened_at.position, || {
        "the table noted the commitment after it had opened the hand".to_owned()
    })?;
    let opened_by = opened_at.recorded_at.plus(CLOCK_SKEW);
    hold(committed_at.recorded_at <= opened_by, || {
        let (committed, opened) = (committed_at.recorded_at, opened_at.recorded_at);
        format!("the dealer committed at {committed}, the hand was opened at {opened}")
    })?;
    let signed = there("the commitment", committed.commitment.as_ref())?;
    let dealer::Commitment { commitment: _, key_id, signature, origin: _ } = signed;
    let message = SeedCommitted {
        table,
        hand_no,
        ruleset_hash: &rule_set_hash,
        commitment: &commitment,
        key_id,
    };
    let signature = array("the signature", signature)?;
    if case.records.dealer_keys.is_empty() {
        return Err(missing("no key of the dealer was given to check its signature with"));
    }
    let named = |key: &&[u8; 32]| Sha256::digest(key)[..8] == key_id[..];
    let key = case.records.dealer_keys.iter().find(named).ok_or_else(|| {
        failed("the commitment is signed with a key that is not among the dealer's")
    })?;
    message.verify(key, &signature).map_err(|error| failed(error.to_string()))
}

/// One row for each player dealt in, the same in both logs, none withheld, and bound as recorded.
pub(super) fn transcript(case: &Case<'_>) -> Result<(), Trouble> {
    let (_, opened) = case.opened()?;
    let (_, sealed) = case.sealed()?;
    let (_, bound) = case.bound()?;
    let (_, committed) = case.committed()?;
    let Promise { commitment, context, .. } = promise(committed)?;
    hold(sealed.rows == bound.rows, || {
        "the table and the dealer recorded different contributions of the seats".to_owned()
    })?;
    let mut roster: Vec<(u32, &[u8])> =
        opened.roster.iter().map(|seat| (seat.seat, &seat.player_id[..])).collect();
    roster.sort_unstable();
    let rows = bound.rows.iter().map(|row| (row.seat, &row.player_id[..]));
    hold(rows.eq(roster), || {
        "the contributions are not one of each player dealt in, by seat".to_owned()
    })?;
    hold(bound.rows.iter().all(|row| row.status() != EntropyStatus::Withheld), || {
        "a player withheld what he had committed to: this hand must not be played".to_owned()
    })?;
    hold(bound.beacon.is_empty(), || {
        "the transcript holds a beacon: none is defined, so nobody can check that it was not chosen"
            .to_owned()
    })?;
    let computed = bind(&context, &commitment, &bound.rows)?;
    for (who, recorded) in [("the table", &sealed.transcript), ("the dealer", &bound.transcript)] {
        hold(computed.0[..] == recorded[..], || {
            format!("{who} recorded another transcript than the contributions give")
        })?;
    }
    Ok(())
}

fn bind(
    context: &Context,
    commitment: &Commitment,
    rows: &[dealer::EntropyRow],
) -> Result<Transcript, Trouble> {
    let rows = rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Transcript::try_new(context, commitment, None, &rows).map_err(|error| failed(error.to_string()))
}

fn row(row: &dealer::EntropyRow) -> Result<Row, Trouble> {
    let dealer::EntropyRow { seat, player_id, status: _, commitment, entropy } = row;
    let seat_no = u8::try_from(*seat).map_err(|_| failed(format!("there is no seat {seat}")))?;
    let given = |what: &str, bytes: &[u8]| array::<32>(&format!("seat {seat}'s {what}"), bytes);
    let none = |what: &str, bytes: &[u8]| {
        let surplus = || format!("seat {seat} has a {what} that its status does not have");
        hold(bytes.is_empty(), surplus).map(|()| [0; 32])
    };
    let (status, commitment, entropy) = match row.status() {
        EntropyStatus::Revealed => {
            (Status::Revealed, given("commitment", commitment)?, given("entropy", entropy)?)
        }
        EntropyStatus::Withheld => {
            (Status::Withheld, given("commitment", commitment)?, none("entropy", entropy)?)
        }
        EntropyStatus::Absent => {
            (Status::Absent, none("commitment", commitment)?, none("entropy", entropy)?)
        }
        EntropyStatus::Unspecified => {
            return Err(failed(format!("it is not said what became of seat {seat}'s entropy")));
        }
    };
    Ok(Row {
        seat: seat_no,
        player: PlayerId(array("a player's id", player_id)?),
        status,
        commitment: ClientCommitment(commitment),
        entropy: Entropy(entropy),
    })
}

/// The same in both logs, opening the commitment, and not before the settlement was on record.
pub(super) fn seed(case: &Case<'_>) -> Result<(), Trouble> {
    let (opened_at, opened) = case.seed()?;
    let (_, committed) = case.committed()?;
    let Promise { commitment, context, .. } = promise(committed)?;
    let seed = Seed::new(array("the seed", &opened.seed)?.into());
    hold(commitment.opens(&context, &seed), || {
        "the opened seed is not the one that the dealer committed to".to_owned()
    })?;
    let (settled_at, _) = case.settled().map_err(|_| {
        failed("the seed was opened, and no settlement of the hand is on record before it")
    })?;
    hold(settled_at.recorded_at <= opened_at.recorded_at.plus(CLOCK_SKEW), || {
        let (settled, opened) = (settled_at.recorded_at, opened_at.recorded_at);
        format!("the dealer opened the seed at {opened}, the hand was settled at {settled}")
    })?;
    let (_, revealed) = case.revealed()?;
    hold(revealed.seed == opened.seed, || {
        "the table recorded another seed than the dealer opened".to_owned()
    })
}

/// The keys of all chance of the hand: of whichever opened seed keeps the promise, and of whichever
/// recorded contributions give a recorded transcript.
pub(super) fn keys(case: &Case<'_>) -> Result<Keys, Trouble> {
    let (_, committed) = case.committed()?;
    let Promise { commitment, context, .. } = promise(committed)?;
    let at_dealer = case.seed().map(|(_, opened)| &opened.seed);
    let at_table = case.revealed().map(|(_, revealed)| &revealed.seed);
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
    if let Ok((_, bound)) = case.bound() {
        candidates.push((&bound.transcript, &bound.rows));
    }
    if let Ok((_, sealed)) = case.sealed() {
        candidates.push((&sealed.transcript, &sealed.rows));
    }
    let recorded: Vec<_> = candidates.iter().map(|(transcript, _)| *transcript).collect();
    candidates
        .iter()
        .filter_map(|(_, rows)| bind(&context, &commitment, rows).ok())
        .find(|computed| recorded.iter().any(|recorded| recorded[..] == computed.0[..]))
        .map(|transcript| Keys::derive(&transcript, &seed))
        .ok_or_else(|| missing("no recorded contributions of the seats give a recorded transcript"))
}

/// Who took part in chance, for whoever wonders how much his own part counted.
pub(super) fn notes(case: &Case<'_>) -> Vec<String> {
    let Ok((_, bound)) = case.bound() else { return Vec::new() };
    let brought = |row: &&dealer::EntropyRow| row.status() == EntropyStatus::Revealed;
    let seats: Vec<String> =
        bound.rows.iter().filter(brought).map(|row| row.seat.to_string()).collect();
    let note = if seats.is_empty() {
        "No seat brought entropy of its own: chance came from the dealer's committed seed alone."
            .to_owned()
    } else {
        format!(
            "Entropy of their own brought the seats {}; when they had committed to it, no record of \
             these says.",
            seats.join(", ")
        )
    };
    vec![note]
}
