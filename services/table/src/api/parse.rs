//! Parsing of requests into commands.

use fairness::{ClientCommitment, Entropy};
use primitives::TableId;
use proto::table::v1 as pb;
use wire::field;

use super::people;
use crate::commands::{Command, DecisionRequest, OfferedCommitment};
use crate::decisions;

/// Table after which a page begins, and the size of the page.
pub(super) fn page_after(
    size: i32,
    token: &str,
) -> Result<(Option<TableId>, usize), wire::BadField> {
    let (_, size) = people::page(size, "")?;
    let parsed = if token.is_empty() { Ok(None) } else { token.parse().map(Some) };
    let problem = "not one of ours: send what the page before gave";
    Ok((parsed.map_err(|_| wire::BadField::new("page_token", problem))?, size))
}

/// Command of a decision.
pub(super) fn decision_command(message: &pb::ActRequest) -> Result<Command, wire::BadField> {
    let pb::ActRequest { request_id: _, table_id: _, hand_no, turn, decision, signature } = message;
    let missing = || wire::BadField::new("decision", "missing: what do you decide?");
    let mv = decision.clone().ok_or_else(missing)?;
    let signature = signature.clone();
    Ok(Command::Act(DecisionRequest { hand_no: *hand_no, turn: *turn, mv, signature }))
}

/// Command of a commitment to entropy.
pub(super) fn commitment_command(
    message: &pb::CommitEntropyRequest,
) -> Result<Command, wire::BadField> {
    let pb::CommitEntropyRequest { request_id: _, table_id: _, hand_no, commitment, key } = message;
    let commitment = ClientCommitment(field::exactly("commitment", commitment)?);
    let offered = OfferedCommitment { commitment, key: decisions::parse_key(key)? };
    Ok(Command::CommitEntropy { hand_no: *hand_no, offered })
}

/// Command of a reveal of entropy.
pub(super) fn reveal_command(
    message: &pb::RevealEntropyRequest,
) -> Result<Command, wire::BadField> {
    let pb::RevealEntropyRequest { request_id: _, table_id: _, hand_no, entropy } = message;
    let entropy = Entropy(field::exactly("entropy", entropy)?);
    Ok(Command::RevealEntropy { hand_no: *hand_no, entropy })
}
