//! Conversion of the dealer's messages to and from its own types. Every field is destructured, so
//! that a new one is a compile error here.

use fairness::{
    ClientCommitment, Closing, ClosingRow, Commitment, Entropy, Handle, OperationRequest,
    RowStatus, ShuffleInput, TranscriptRow,
};
use proto::common::v1::{self as common, EntropyStatus};
use proto::dealer::v1 as pb;
use wire::BadField;
use wire::field::{exactly, player_id, seat, table_id};

use crate::hand::{
    CardReveal, Closed, Committed, HandName, IndexedOperation, OperationResult, PerformCommand,
    PerformOutcome, Reason, SealInput,
};

/// Most operations in one call.
const MAX_OPERATIONS: usize = 64;
/// Most card reveals in one call.
const MAX_CARD_REVEALS: usize = 64;
/// Most dice in one roll.
const MAX_DICE: usize = 16;
/// Most cards in one card reveal, or in one shuffle by handles.
const MAX_CARDS: usize = 255;

pub(crate) fn parse_hand_name(table: &[u8], number: u64) -> Result<HandName, BadField> {
    let table = table_id(table)?;
    if number == 0 {
        return Err(BadField::new("hand_no", "hands count from 1"));
    }
    Ok(HandName { table, number })
}

/// Parses the promise for the number before `hand`, as it must be for this table and number.
pub(crate) fn parse_promise_before(
    hand: HandName,
    promise: Option<pb::Promise>,
) -> Result<Option<Committed>, BadField> {
    let Some(pb::Promise { rules_hash, commitment }) = promise else { return Ok(None) };
    let before = hand.before();
    let hand = before.ok_or_else(|| BadField::new("before", "nothing is before hand 1"))?;
    let missing = || BadField::new("before.commitment", "missing");
    let common::Commitment { commitment, key_id, signature, origin } =
        commitment.ok_or_else(missing)?;
    Ok(Some(Committed {
        hand,
        rules_hash: exactly("before.rules_hash", &rules_hash)?,
        commitment: Commitment(exactly("before.commitment.commitment", &commitment)?),
        key_id: exactly("before.commitment.key_id", &key_id)?,
        signature: exactly("before.commitment.signature", &signature)?,
        origin: origin.into(),
    }))
}

pub(crate) fn parse_closing_rows(rows: Vec<pb::ClosingRow>) -> Result<Vec<ClosingRow>, BadField> {
    if rows.is_empty() {
        return Err(BadField::new("rows", "at least one: a hand has players"));
    }
    parse_each("rows", rows, parse_closing_row)
}

fn parse_closing_row(row: pb::ClosingRow) -> Result<ClosingRow, BadField> {
    let pb::ClosingRow { seat: number, player_id: player, commitment } = row;
    let made = (!commitment.is_empty()).then(|| exactly("commitment", &commitment)).transpose()?;
    Ok(ClosingRow {
        seat: seat("seat", number)?.get(),
        player: player_id(&player)?,
        commitment: made.map(ClientCommitment),
    })
}

fn closing_row_to_pb(row: &ClosingRow) -> pb::ClosingRow {
    let ClosingRow { seat, player, commitment } = row;
    pb::ClosingRow {
        seat: u32::from(*seat),
        player_id: player.0.to_vec(),
        commitment: commitment.map_or_else(Vec::new, |made| made.0.to_vec()),
    }
}

pub(crate) fn closing_to_pb(closed: &Closed) -> pb::Closing {
    let Closed { closing, rows, key_id, signature } = closed;
    pb::Closing {
        closing: closing.0.to_vec(),
        rows: rows.iter().map(closing_row_to_pb).collect(),
        key_id: key_id.to_vec(),
        signature: signature.to_vec(),
    }
}

pub(crate) fn parse_closing(closing: pb::Closing) -> Result<Closed, BadField> {
    let pb::Closing { closing, rows, key_id, signature } = closing;
    Ok(Closed {
        closing: Closing(exactly("closing", &closing)?),
        rows: parse_closing_rows(rows)?,
        key_id: exactly("key_id", &key_id)?,
        signature: exactly("signature", &signature)?,
    })
}

pub(crate) fn parse_seal_input(
    beacon: &[u8],
    rows: Vec<pb::EntropyRow>,
) -> Result<SealInput, BadField> {
    if rows.is_empty() {
        return Err(BadField::new("rows", "at least one: a hand has players"));
    }
    check_beacon(beacon)?;
    Ok(SealInput { rows: parse_each("rows", rows, parse_row)? })
}

/// Checks that no beacon is sent. Verifiers fail a hand that has one, so none is ever bound.
fn check_beacon(beacon: &[u8]) -> Result<(), BadField> {
    if beacon.is_empty() {
        return Ok(());
    }
    let problem = format!(
        "must be empty: sabacc/fair/v1 defines no beacon, and nobody could check it; this has {} bytes",
        beacon.len()
    );
    Err(BadField::new("beacon", problem))
}

fn parse_row(row: pb::EntropyRow) -> Result<TranscriptRow, BadField> {
    let state = row.status();
    let pb::EntropyRow { seat: number, player_id: player, status: _, commitment, entropy } = row;
    let (seat, player) = (seat("seat", number)?.get(), player_id(&player)?);
    let none = |field: &str, bytes: &[u8]| {
        let bad = || BadField::new(field, "must be empty at this status");
        if bytes.is_empty() { Ok([0; 32]) } else { Err(bad()) }
    };
    let (status, commitment, entropy) = match state {
        EntropyStatus::Revealed => {
            let entropy = exactly("entropy", &entropy)?;
            (RowStatus::Revealed, exactly("commitment", &commitment)?, entropy)
        }
        EntropyStatus::Withheld => {
            let entropy = none("entropy", &entropy)?;
            (RowStatus::Withheld, exactly("commitment", &commitment)?, entropy)
        }
        EntropyStatus::Absent => {
            let commitment = none("commitment", &commitment)?;
            (RowStatus::Absent, commitment, none("entropy", &entropy)?)
        }
        EntropyStatus::Unspecified => {
            return Err(BadField::new("status", "say what came of the seat's entropy"));
        }
    };
    let (commitment, entropy) = (ClientCommitment(commitment), Entropy(entropy));
    Ok(TranscriptRow { seat, player, status, commitment, entropy })
}

pub(crate) fn row_to_pb(row: &TranscriptRow) -> pb::EntropyRow {
    let TranscriptRow { seat, player, status, commitment, entropy } = row;
    let (commitment, entropy) = (commitment.0.to_vec(), entropy.0.to_vec());
    let (status, commitment, entropy) = match status {
        RowStatus::Revealed => (EntropyStatus::Revealed, commitment, entropy),
        RowStatus::Withheld => (EntropyStatus::Withheld, commitment, Vec::new()),
        RowStatus::Absent => (EntropyStatus::Absent, Vec::new(), Vec::new()),
    };
    let player_id = player.0.to_vec();
    pb::EntropyRow { seat: u32::from(*seat), player_id, status: status.into(), commitment, entropy }
}

pub(crate) fn parse_perform(
    operations: Vec<pb::Operation>,
    openings: Vec<pb::Opening>,
) -> Result<PerformCommand, BadField> {
    if operations.is_empty() && openings.is_empty() {
        return Err(BadField::new(
            "operations",
            "nothing is asked for: name operations or openings",
        ));
    }
    at_most("operations", operations.len(), MAX_OPERATIONS)?;
    at_most("openings", openings.len(), MAX_CARD_REVEALS)?;
    let operations = parse_each("operations", operations, parse_operation)?;
    Ok(PerformCommand {
        operations,
        card_reveals: parse_each("openings", openings, parse_card_reveal)?,
    })
}

pub(crate) fn parse_operation(operation: pb::Operation) -> Result<IndexedOperation, BadField> {
    use pb::operation::Kind;
    let pb::Operation { index, kind } = operation;
    let ask = match kind {
        None => return Err(BadField::new("kind", "say what is asked for: shuffle, roll, ...")),
        Some(Kind::Shuffle(shuffle)) => {
            parse_shuffle(shuffle).map_err(with_path_prefix("shuffle."))?
        }
        Some(Kind::Roll(pb::Roll { sides })) => {
            at_most("roll.sides", sides.len(), MAX_DICE)?;
            OperationRequest::Roll {
                sides: parse_each("roll.sides", sides, |sides| narrow("", sides))?,
            }
        }
        Some(Kind::Pulse(pb::Pulse { ppm })) => OperationRequest::Pulse { ppm },
        Some(Kind::Pick(pb::Pick { n })) => OperationRequest::Pick { n },
        Some(Kind::Sample(pb::Sample { n, k })) => {
            OperationRequest::Sample { n: narrow::<u8>("sample.n", n)?.into(), k }
        }
    };
    Ok(IndexedOperation { index, request: ask })
}

fn parse_shuffle(shuffle: pb::Shuffle) -> Result<OperationRequest, BadField> {
    let pb::Shuffle { pile, fresh, first_fresh, cards } = shuffle;
    let pile = narrow("pile", pile)?;
    let input = if cards.is_empty() {
        ShuffleInput::Fresh {
            first: narrow("first_fresh", first_fresh)?,
            count: narrow("fresh", fresh)?,
        }
    } else if fresh == 0 && first_fresh == 0 {
        at_most("cards", cards.len(), MAX_CARDS)?;
        ShuffleInput::Cards(parse_each("cards", cards, parse_handle)?)
    } else {
        return Err(BadField::new("fresh", "either fresh cards or cards of this hand, not both"));
    };
    Ok(OperationRequest::Shuffle { pile, input })
}

pub(crate) fn operation_to_pb(operation: &IndexedOperation) -> pb::Operation {
    use pb::operation::Kind;
    let IndexedOperation { index, request: ask } = operation;
    let kind = match ask {
        OperationRequest::Shuffle { pile, input } => {
            let (fresh, first_fresh, cards) = match input {
                ShuffleInput::Fresh { first, count } => {
                    (u32::from(*count), u32::from(*first), Vec::new())
                }
                ShuffleInput::Cards(cards) => (0, 0, cards.iter().map(handle_to_pb).collect()),
            };
            Kind::Shuffle(pb::Shuffle { pile: u32::from(*pile), fresh, first_fresh, cards })
        }
        OperationRequest::Roll { sides } => {
            Kind::Roll(pb::Roll { sides: sides.iter().copied().map(u32::from).collect() })
        }
        OperationRequest::Pulse { ppm } => Kind::Pulse(pb::Pulse { ppm: *ppm }),
        OperationRequest::Pick { n } => Kind::Pick(pb::Pick { n: *n }),
        OperationRequest::Sample { n, k } => Kind::Sample(pb::Sample { n: *n, k: *k }),
    };
    pb::Operation { index: *index, kind: Some(kind) }
}

pub(crate) fn parse_card_reveal(opening: pb::Opening) -> Result<CardReveal, BadField> {
    let reason = match opening.reason() {
        pb::OpeningReason::Deal => Reason::Deal,
        pb::OpeningReason::Rule => Reason::Rule,
        pb::OpeningReason::Show => Reason::Show,
        pb::OpeningReason::Recovery => Reason::Recovery,
        pb::OpeningReason::Unspecified => {
            return Err(BadField::new("reason", "say why the rules open these cards"));
        }
    };
    let pb::Opening { cards, audience_seat, reason: _ } = opening;
    if cards.is_empty() {
        return Err(BadField::new("cards", "name at least one card"));
    }
    at_most("cards", cards.len(), MAX_CARDS)?;
    let audience = match audience_seat {
        0 => 0,
        number => seat("audience_seat", number)?.get(),
    };
    Ok(CardReveal { cards: parse_each("cards", cards, parse_handle)?, audience, reason })
}

pub(crate) fn card_reveal_to_pb(opening: &CardReveal) -> pb::Opening {
    let CardReveal { cards, audience, reason } = opening;
    let reason = match reason {
        Reason::Deal => pb::OpeningReason::Deal,
        Reason::Rule => pb::OpeningReason::Rule,
        Reason::Show => pb::OpeningReason::Show,
        Reason::Recovery => pb::OpeningReason::Recovery,
    };
    let cards = cards.iter().map(handle_to_pb).collect();
    pb::Opening { cards, audience_seat: u32::from(*audience), reason: reason.into() }
}

fn parse_handle(handle: pb::Handle) -> Result<Handle, BadField> {
    let pb::Handle { op, position } = handle;
    Ok(Handle { op, position: narrow("position", position)? })
}

fn handle_to_pb(handle: &Handle) -> pb::Handle {
    let Handle { op, position } = handle;
    pb::Handle { op: *op, position: u32::from(*position) }
}

pub(crate) fn result_to_pb(done: &OperationResult) -> pb::OperationResult {
    let OperationResult { index, values, root } = done;
    let root = root.map_or_else(Vec::new, |root| root.to_vec());
    pb::OperationResult { index: *index, values: values.clone(), root }
}

pub(crate) fn parse_result(result: pb::OperationResult) -> Result<OperationResult, BadField> {
    let pb::OperationResult { index, values, root } = result;
    let root = if root.is_empty() { None } else { Some(exactly("root", &root)?) };
    Ok(OperationResult { index, values, root })
}

pub(crate) fn performed_to_pb(performed: PerformOutcome) -> pb::PerformResponse {
    let PerformOutcome { results, revealed_cards: opened } = performed;
    let opened = opened.iter().map(|cards| pb::OpenedCards {
        card_ids: cards.iter().map(|opened| opened.card).collect(),
        proofs: cards.iter().map(proof_to_pb).collect(),
    });
    let opened = opened.collect();
    pb::PerformResponse { results: results.iter().map(result_to_pb).collect(), opened }
}

fn proof_to_pb(opened: &fairness::ProvedCard) -> pb::OpenedProof {
    // The request names the other fields.
    let fairness::ProvedCard { handle: _, card: _, salt, path, count: _ } = opened;
    pb::OpenedProof { salt: salt.to_vec(), path: path.concat() }
}

pub(crate) fn commitment_to_pb(committed: &Committed) -> common::Commitment {
    let Committed { hand: _, rules_hash: _, commitment, key_id, signature, origin } = committed;
    common::Commitment {
        commitment: commitment.0.to_vec(),
        key_id: key_id.to_vec(),
        signature: signature.to_vec(),
        origin: origin.to_string(),
    }
}

pub(crate) fn promise_to_pb(committed: &Committed) -> pb::Promise {
    pb::Promise {
        rules_hash: committed.rules_hash.to_vec(),
        commitment: Some(commitment_to_pb(committed)),
    }
}

/// Parses each item of a list. The field of an error begins with the list's name and the index.
fn parse_each<T, U>(
    list: &str,
    all: Vec<T>,
    parse: impl Fn(T) -> Result<U, BadField>,
) -> Result<Vec<U>, BadField> {
    let parse = |(at, one)| {
        parse(one).map_err(|bad| {
            let dot = if bad.field.is_empty() { "" } else { "." };
            with_path_prefix(&format!("{list}[{at}]{dot}"))(bad)
        })
    };
    all.into_iter().enumerate().map(parse).collect()
}

fn with_path_prefix(path: &str) -> impl Fn(BadField) -> BadField {
    move |bad| BadField { field: format!("{path}{}", bad.field), problem: bad.problem }
}

fn narrow<T: TryFrom<u32> + Bounded>(field: &str, number: u32) -> Result<T, BadField> {
    T::try_from(number)
        .map_err(|_| BadField::new(field, format!("at most {}; this is {number}", T::MOST)))
}

trait Bounded {
    const MOST: u32;
}

impl Bounded for u8 {
    const MOST: u32 = u8::MAX as u32;
}

impl Bounded for u16 {
    const MOST: u32 = u16::MAX as u32;
}

fn at_most(field: &str, count: usize, limit: usize) -> Result<(), BadField> {
    if count <= limit {
        Ok(())
    } else {
        Err(BadField::new(field, format!("at most {limit}; these are {count}")))
    }
}

#[cfg(test)]
mod tests;
