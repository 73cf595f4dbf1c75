//! Commitments that precede chance: the dealer's to its seed, the seats' to their entropy, and the
//! seed that opens the dealer's.

use std::time::Duration;

use fairness::{
    ClientCommitment, Commitment, Context, Entropy, Keys, Row, Seed, SeedCommitted, Status,
    Transcript,
};
use primitives::{PlayerId, TableId, UnixMicros};
use proto::dealer::v1::{self as dealer, EntropyStatus};
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};
use wire::Recorded;

use crate::hand::case::Case;
use crate::hand::{CLOCK_SKEW, entropy, words};
use crate::report::{Trouble, failed, hold, missing};

/// The dealer's commitment, parsed, with its context.
struct Promise {
    table: TableId,
    hand_no: u64,
    rule_set_hash: [u8; 32],
    commitment: Commitment,
    context: Context,
}

pub(super) fn array<const N: usize>(what: &str, bytes: &[u8]) -> Result<[u8; N], Trouble> {
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

/// Checks the commitment: in both logs before the hand was opened, for this hand and these rules,
/// and signed.
pub(super) fn commitment(case: &Case<'_>) -> Result<(), Trouble> {
    let (opened_at, opened) = case.opened()?;
    let (noted_at, noted) = case.noted()?;
    let (committed_at, committed) = case.committed()?;
    once(case)?;
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
    let early = case.table.iter().find(|read| {
        matches!(read.recorded, Recorded::EntropyCommitted(_))
            && read.event.position < noted_at.position
    });
    hold(early.is_none(), || {
        "a seat committed to entropy before the dealer's commitment was on the table's record"
            .to_owned()
    })?;
    let signed = there("the commitment", committed.commitment.as_ref())?;
    let dealer::Commitment { commitment: _, key_id, signature, origin } = signed;
    if let Some(proofs) = &case.records.proofs {
        hold(proofs.dealer_origin.as_ref().is_none_or(|name| name == origin), || {
            format!("the commitment is bound to {origin}, which is not the dealer's log")
        })?;
    }
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

/// Checks that each log has one commitment for the hand number: two would let the dealer choose its
/// seed.
fn once(case: &Case<'_>) -> Result<(), Trouble> {
    let promises =
        case.dealer.iter().filter(|read| matches!(read.recorded, Recorded::SeedCommitted(_)));
    hold(promises.count() == 1, || {
        "the dealer committed to a second seed for this hand number".to_owned()
    })?;
    let notes =
        case.table.iter().filter(|read| matches!(read.recorded, Recorded::HandCommitted(_)));
    hold(notes.count() == 1, || "the table noted a second commitment of the dealer".to_owned())
}

/// Checks the contributions of the seats, in order and in time. A sealed hand has one row for each
/// player dealt in, equal in both logs, none withheld, and bound as recorded.
pub(super) fn transcript(case: &Case<'_>) -> Result<(), Trouble> {
    let (_, opened) = case.opened()?;
    let (_, committed) = case.committed()?;
    let Promise { commitment, context, .. } = promise(committed)?;
    let brought = entropy::brought(case, (&context, &commitment))?;
    brought.grounds(case)?;
    let (sealed, bound) = (case.sealed(), case.bound());
    if case.came_to_nothing() && sealed.is_err() {
        // The dealer is asked first: it may have bound contributions that the table no longer
        // wanted.
        let Ok((_, bound)) = bound else { return Ok(()) };
        return bound_as_brought(opened, bound, &brought, (&context, &commitment));
    }
    let ((_, sealed), (_, bound)) = (sealed?, bound?);
    hold(sealed.rows == bound.rows, || {
        "the table and the dealer recorded different contributions of the seats".to_owned()
    })?;
    bound_as_brought(opened, bound, &brought, (&context, &commitment))?;
    hold(sealed.transcript == bound.transcript, || {
        "the table recorded another transcript than the contributions give".to_owned()
    })
}

fn bound_as_brought(
    opened: &pb::HandOpened,
    bound: &pb::SeedSealed,
    brought: &entropy::Brought<'_>,
    (context, commitment): (&Context, &Commitment),
) -> Result<(), Trouble> {
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
    bound.rows.iter().try_for_each(|row| brought.is(row))?;
    let computed = bind(context, commitment, &bound.rows)?;
    hold(computed.0[..] == bound.transcript[..], || {
        "the dealer recorded another transcript than the contributions give".to_owned()
    })
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

/// Checks the seed: both logs have the same, it opens the commitment, and it was opened neither
/// before the end of the hand nor before the delay that the table was made with. Without a delay it
/// was opened before the settlement was posted.
pub(super) fn seed(case: &Case<'_>) -> Result<(), Trouble> {
    let (opened_at, opened) = case.seed()?;
    let (_, committed) = case.committed()?;
    let Promise { commitment, context, .. } = promise(committed)?;
    let seed = Seed::new(array("the seed", &opened.seed)?.into());
    hold(commitment.opens(&context, &seed), || {
        "the opened seed is not the one that the dealer committed to".to_owned()
    })?;
    // A settled hand may be aborted after the dealer was asked for its seed.
    hold(opened.discarded == (case.came_to_nothing() && case.settled().is_err()), || {
        if opened.discarded {
            "the dealer opened the seed of a hand to be discarded, and it was not".to_owned()
        } else {
            "the hand came to nothing, and the dealer opened its seed as if it had been played"
                .to_owned()
        }
    })?;
    in_time(case, opened_at.recorded_at)?;
    let (_, revealed) = case.revealed()?;
    hold(revealed.seed == opened.seed, || {
        "the table recorded another seed than the dealer opened".to_owned()
    })
}

fn in_time(case: &Case<'_>, seen: UnixMicros) -> Result<(), Trouble> {
    let known = seen.plus(CLOCK_SKEW);
    if let (Ok((aborted, _)), Err(_)) = (case.aborted(), case.settled()) {
        return hold(aborted.recorded_at <= known, || {
            let over = aborted.recorded_at;
            format!("the dealer opened the seed at {seen}, the hand was aborted at {over}")
        });
    }
    let (settled_at, _) = case.settled().map_err(|_| {
        failed("the seed was opened, and no end of the hand is on record before it")
    })?;
    let (_, opened) = case.opened()?;
    let settled = settled_at.recorded_at;
    let delay = Duration::from_secs(opened.reveal_delay_seconds.into());
    hold(settled.plus(delay) <= known, || {
        let after = if delay.is_zero() {
            String::new()
        } else {
            format!(" and its seed was to stay hidden for {} seconds more", delay.as_secs())
        };
        format!("the dealer opened the seed at {seen}, the hand was settled at {settled}{after}")
    })?;
    // Hands without time for entropy are posted before their seed is opened.
    if !delay.is_zero() || !case.has_entropy() {
        return Ok(());
    }
    let Ok((posted, _)) = case.posted() else { return Ok(()) };
    hold(seen <= posted.recorded_at.plus(CLOCK_SKEW), || {
        let posted = posted.recorded_at;
        format!("the settlement was posted at {posted}, the dealer opened the seed at {seen} only")
    })
}

/// Derives the keys of all chance of the hand from a seed that opens the commitment and
/// contributions that give a recorded transcript, whichever log has them.
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

/// Derives the keys of a hand that was never sealed, from the transcript that its recorded
/// contributions give, with the seats that withheld.
pub(super) fn unsealed_keys(case: &Case<'_>) -> Result<Keys, Trouble> {
    let (_, opened) = case.opened()?;
    let (_, committed) = case.committed()?;
    let Promise { commitment, context, .. } = promise(committed)?;
    let (_, seed) = case.seed()?;
    let seed = Seed::new(array("the seed", &seed.seed)?.into());
    hold(commitment.opens(&context, &seed), || "another seed was opened".to_owned())?;
    let brought = entropy::brought(case, (&context, &commitment))?;
    let mut rows: Vec<dealer::EntropyRow> =
        opened.roster.iter().map(|place| brought.row(place)).collect();
    rows.sort_by_key(|row| row.seat);
    Ok(Keys::derive(&bind(&context, &commitment, &rows)?, &seed))
}

/// Returns notes on the seats that took part in chance, for players who want to know how much their
/// entropy counted, and on why a hand came to nothing.
pub(super) fn notes(case: &Case<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok((_, aborted)) = case.aborted() {
        notes.push(words::abort(aborted));
    }
    let Ok((_, bound)) = case.bound() else { return notes };
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
