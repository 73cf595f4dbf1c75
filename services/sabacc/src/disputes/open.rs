//! `sabacc audit disputes open`: opens a player's dispute with a copy of their evidence.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use audit::evidence::{self, MAX_COPY_BYTES};
use clap::Args;
use client::Client;
use primitives::{DisputeId, TableId};
use serde_json::json;

use crate::output;

/// Bytes of the largest evidence file that is read: what is too large for a copy is cut there.
const MAX_FILE_BYTES: usize = 64 << 20;

#[derive(Args)]
pub(super) struct Opening {
    /// The table.
    #[arg(long)]
    table: TableId,
    /// The hand's number at the table.
    #[arg(long)]
    hand_no: u64,
    /// Complaint, in your own words.
    #[arg(long)]
    text: String,
    /// Your evidence file. A copy is sent, without your numbers for hands that have not ended.
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// Write the room's own bundle of the hand into a file: its hash is on record with the dispute.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// Runs the command. False if the room gave no bundle of the hand.
pub(super) async fn run(client: &Client, json: bool, opening: &Opening) -> anyhow::Result<bool> {
    let Opening { table, hand_no, text, evidence, save } = opening;
    let evidence = evidence.as_deref().map(copy).transpose()?.unwrap_or_default();
    let opened = client.open_dispute(*table, *hand_no, text, &evidence).await?;
    if let Some(path) = save.as_deref().filter(|_| !opened.bundle.is_empty()) {
        std::fs::write(path, &opened.bundle)
            .with_context(|| format!("{} is not written", path.display()))?;
    }
    let id = wire::field::id::<DisputeId>("dispute_id", &opened.dispute_id)
        .ok()
        .context("the room answers with an id that is none")?;
    let (number, bundle) = (opened.number, hex::encode(&opened.bundle_sha256));
    output::line(&if json {
        let evidence = hex::encode(&opened.evidence_sha256);
        json!({
            "dispute": id.to_string(),
            "number": number,
            "evidence_sha256": evidence,
            "bundle_sha256": bundle,
        })
        .to_string()
    } else if bundle.is_empty() {
        format!("dispute {number} is open: {id}\nthe room has given no bundle of this hand")
    } else {
        format!("dispute {number} is open: {id}\nthe room's own bundle on record: {bundle}")
    });
    Ok(!bundle.is_empty())
}

/// Copy of an evidence file for others.
fn copy(path: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes =
        std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let entries = evidence::parse(&bytes, MAX_FILE_BYTES)
        .with_context(|| format!("{} is no evidence file", path.display()))?;
    let copy = evidence::write(&evidence::copy_of_ended(&entries)).into_bytes();
    if copy.len() > MAX_COPY_BYTES {
        let bytes = copy.len();
        bail!(
            "the copy has {bytes} bytes, and {MAX_COPY_BYTES} are the most: leave lines out that are of other hands"
        );
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use fairness::evidence::{Entry, Opening as Opened};
    use fairness::{Commitment, Context, Entropy};
    use primitives::{PlayerId, UnixMicros};

    use super::*;

    #[test]
    fn what_is_sent_has_no_number_of_a_hand_that_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("evidence");
        let number = Opened::ClientCommitment {
            context: Context([3; 32]),
            dealer: Commitment([4; 32]),
            seat: 1,
            player: PlayerId([1; 16]),
            entropy: Entropy([9; 32]),
        };
        let note = Entry::note(UnixMicros(1), "no closing came");
        std::fs::write(&path, evidence::write(&[note.clone(), number.entry()])).unwrap();
        assert_eq!(copy(&path).unwrap(), evidence::write(&[note]).into_bytes());
        std::fs::write(&path, "hello\n").unwrap();
        let refused = format!("{:#}", copy(&path).unwrap_err());
        assert!(refused.contains("line 1 of the evidence"), "{refused}");
    }
}
