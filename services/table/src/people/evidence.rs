//! Checks of evidence files that players hand in with a dispute. Pure.
//!
//! The file is parsed, so that what is sealed is an evidence file and no store for anything else.
//! Signatures are left to whoever looks into the dispute: they cost a reader, not the table.

use fairness::evidence::{self, Entry, MAX_COPY_BYTES, Opening, Statement};
use primitives::PlayerId;
use wire::BadField;

use super::text_checks;

/// First line with an entry.
const FIRST_ENTRY: usize = 2;

/// Checks that bytes are an evidence file of a player, or nothing at all.
pub(super) fn check(player: PlayerId, given: &[u8]) -> Result<(), BadField> {
    if given.is_empty() {
        return Ok(());
    }
    let bad = |problem: String| BadField::new("evidence", problem);
    let entries = evidence::parse(given, MAX_COPY_BYTES).map_err(|error| bad(error.to_string()))?;
    for (line, entry) in (FIRST_ENTRY..).zip(&entries) {
        check_entry(player, entry)
            .map_err(|problem| bad(format!("line {line} of the evidence: {problem}")))?;
    }
    Ok(())
}

fn check_entry(player: PlayerId, entry: &Entry) -> Result<(), String> {
    let owner = match entry {
        Entry::Signed(signed) => {
            let parsed = Statement::parse(&signed.message);
            let (statement, _) = parsed.map_err(|error| error.to_string())?;
            owner_of_statement(&statement)
        }
        Entry::Open(bytes) => {
            let opening = Opening::parse(bytes).map_err(|error| error.to_string())?;
            owner_of_opening(&opening)
        }
        Entry::Note { at: _, words } => {
            text_checks::no_direction_controls(words)?;
            None
        }
    };
    match owner {
        Some(other) if other != player => {
            Err("it is another player's: they hand it in themselves".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}

/// Player to whom alone a signed text was given.
const fn owner_of_statement(statement: &Statement) -> Option<PlayerId> {
    match statement {
        Statement::CommitReceipt { player, .. } | Statement::RevealReceipt { player, .. } => {
            Some(*player)
        }
        Statement::Commitment { .. }
        | Statement::Closing { .. }
        | Statement::Decision { .. }
        | Statement::DecisionReceipt { .. } => None,
    }
}

/// Player who alone knew what was hashed.
const fn owner_of_opening(opening: &Opening) -> Option<PlayerId> {
    match opening {
        Opening::ClientCommitment { player, .. } => Some(*player),
        Opening::Context { .. }
        | Opening::Closing { .. }
        | Opening::Transcript { .. }
        | Opening::Decision { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use fairness::{
        ClientCommitment, CommitReceipt, Commitment, Context, Entropy, SignedText as _,
    };
    use primitives::UnixMicros;

    use super::*;

    const ANN: PlayerId = PlayerId([1; 16]);
    const BOB: PlayerId = PlayerId([2; 16]);

    fn receipt(player: PlayerId) -> Entry {
        let receipt = CommitReceipt {
            context: &Context([3; 32]),
            dealer: &Commitment([4; 32]),
            seat: 1,
            player,
            commitment: &ClientCommitment([5; 32]),
            player_key: None,
            position: 7,
        };
        let key = SigningKey::from_bytes(&[7; 32]);
        Entry::signed(&receipt, &receipt.sign(&key), key.verifying_key().as_bytes())
    }

    fn opening(player: PlayerId) -> Entry {
        let (context, dealer) = (Context([3; 32]), Commitment([4; 32]));
        let entropy = Entropy([9; 32]);
        Opening::ClientCommitment { context, dealer, seat: 1, player, entropy }.entry()
    }

    fn refused(given: &[u8]) -> String {
        check(ANN, given).unwrap_err().problem
    }

    #[test]
    fn own_evidence_is_taken_and_another_players_is_refused_by_its_line() {
        let note = Entry::note(UnixMicros(1), "the seed stays shut");
        let own = evidence::write(&[note.clone(), receipt(ANN), opening(ANN)]);
        assert_eq!(check(ANN, own.as_bytes()), Ok(()));
        assert_eq!(check(ANN, b""), Ok(()));
        for others in [receipt(BOB), opening(BOB)] {
            let file = evidence::write(&[note.clone(), receipt(ANN), others]);
            let problem = refused(file.as_bytes());
            assert!(problem.starts_with("line 4 of the evidence: it is another"), "{problem}");
        }
    }

    #[test]
    fn what_is_no_evidence_is_refused_with_its_line() {
        let header = evidence::HEADER;
        let turned = format!("{header}\nnote 1 \u{202e}fdp.exe\n");
        let unsigned = format!("{header}\nopen AAAA\n");
        for (given, line) in [
            ("hello\n", 1),
            (&*format!("{header}\nnote 1 a\x1b[2Jb\n"), 2),
            (&turned, 2),
            (&unsigned, 2),
            (&format!("{header}\nnote 1 a\nhello\n"), 3),
            (&format!("{header}\nsigned AAAA AAAA AAAA\n"), 2),
        ] {
            let problem = refused(given.as_bytes());
            assert!(problem.starts_with(&format!("line {line} of the evidence: ")), "{problem}");
        }
        let huge = vec![b'n'; MAX_COPY_BYTES + 1];
        assert!(refused(&huge).contains("262145 bytes"), "{}", refused(&huge));
    }
}
