//! Examination of the evidence of a dispute: whether it is what was recorded, who has signed what,
//! and whether what the room has signed contradicts itself. Pure.
//!
//! Only texts under keys of the room's logs convict it: the dealer's promises and closings, the
//! table's receipts. What anybody else has signed, and notes, are their writer's word.

use audit::bundle::{Bundle, TrustedKeys};
use audit::evidence::{self, Entry, MAX_COPY_BYTES, SignedEntry};
use audit::hand::{self, EvidenceReport};
use proto::audit::v1::Dispute;
use sha2::{Digest as _, Sha256};

use crate::evidence::signers::{FIRST_ENTRY, Signer, Signers, conflict_line, log_of};

/// Verdict on the evidence of a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvidenceVerdict {
    /// The dispute came without evidence.
    Absent,
    /// The player was erased, and the evidence with them.
    Erased,
    /// It is not what was recorded when the dispute was opened, or no evidence at all.
    Swapped,
    /// The room has signed texts that contradict each other, or the records of the hand.
    ConvictsRoom,
    /// The signed texts contradict neither each other nor the records of the hand.
    Consistent,
}

/// Result of the examination.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Examined {
    pub verdict: EvidenceVerdict,
    /// Findings, each with its lines.
    pub findings: Vec<String>,
}

impl EvidenceVerdict {
    /// Whether somebody in the room is at fault.
    #[must_use]
    pub(super) const fn is_against_room(self) -> bool {
        matches!(self, EvidenceVerdict::Swapped | EvidenceVerdict::ConvictsRoom)
    }

    #[must_use]
    pub(super) const fn name(self) -> &'static str {
        match self {
            EvidenceVerdict::Absent => "absent",
            EvidenceVerdict::Erased => "erased",
            EvidenceVerdict::Swapped => "swapped",
            EvidenceVerdict::ConvictsRoom => "convicts_room",
            EvidenceVerdict::Consistent => "consistent",
        }
    }

    #[must_use]
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            EvidenceVerdict::Absent => "no evidence was handed in",
            EvidenceVerdict::Erased => "the evidence was erased with its player",
            EvidenceVerdict::Swapped => {
                "FAILED: this is not the evidence that was recorded when the dispute was opened"
            }
            EvidenceVerdict::ConvictsRoom => {
                "FAILED: the room has signed what contradicts itself or the records of the hand"
            }
            EvidenceVerdict::Consistent => {
                "nothing that the room has signed in it contradicts itself or the records"
            }
        }
    }
}

/// Examines the evidence of a dispute, and compares it with a bundle of the hand, for a reader who
/// trusts these keys.
#[must_use]
pub(super) fn examine(
    dispute: &Dispute,
    trusted: &TrustedKeys,
    bundle: Option<&Bundle>,
) -> Examined {
    let plain = |verdict| Examined { verdict, findings: Vec::new() };
    if dispute.erased {
        return plain(EvidenceVerdict::Erased);
    }
    if dispute.evidence.is_empty() && dispute.evidence_sha256.is_empty() {
        return plain(EvidenceVerdict::Absent);
    }
    if Sha256::digest(&dispute.evidence)[..] != dispute.evidence_sha256 {
        return plain(EvidenceVerdict::Swapped);
    }
    match evidence::parse(&dispute.evidence, MAX_COPY_BYTES) {
        Ok(entries) => {
            let mut found = examine_entries(&entries, trusted);
            if let Some(bundle) =
                bundle.filter(|it| wire::field::is_id(&dispute.hand_id, it.hand_id))
            {
                found.compare(&entries, bundle, trusted);
            }
            found
        }
        Err(error) => {
            Examined { verdict: EvidenceVerdict::Swapped, findings: vec![error.to_string()] }
        }
    }
}

impl Examined {
    /// Adds what the room has signed otherwise than the records of the hand say.
    fn compare(&mut self, entries: &[Entry], bundle: &Bundle, trusted: &TrustedKeys) {
        let records = bundle.records(trusted);
        let report = hand::audit(&records);
        let compared = hand::examine(entries, &records, &report, &bundle.table_keys(trusted));
        let EvidenceReport { own_part, is_missing: _, convictions } = compared;
        self.findings.push(own_part);
        if !convictions.is_empty() {
            self.verdict = EvidenceVerdict::ConvictsRoom;
        }
        self.findings.extend(convictions);
    }
}

fn examine_entries(entries: &[Entry], trusted: &TrustedKeys) -> Examined {
    let signers = Signers::new(trusted);
    let untrusted = (FIRST_ENTRY..).zip(entries).filter_map(|(line, entry)| match entry {
        Entry::Signed(signed) => Some(format!("line {line}: {}", why_untrusted(signed, &signers)?)),
        Entry::Open(_) | Entry::Note { .. } => None,
    });
    let mut findings: Vec<String> = untrusted.collect();
    let of_the_room = entries.iter().filter(|entry| signers.is_of_the_room(entry)).count();
    let conflicts = signers.conflicts(entries);
    findings.push(format!("{of_the_room} texts are signed by the room's logs"));
    findings.extend(conflicts.iter().map(conflict_line));
    let convicts = !conflicts.is_empty();
    let verdict =
        if convicts { EvidenceVerdict::ConvictsRoom } else { EvidenceVerdict::Consistent };
    Examined { verdict, findings }
}

/// Reason why a text proves nothing; none for a text of the room's or of a player's.
fn why_untrusted(signed: &SignedEntry, signers: &Signers) -> Option<String> {
    let statement = match signed.statement() {
        Ok(statement) => statement,
        Err(error) => return Some(error.to_string()),
    };
    match signers.of(signed, &statement) {
        Signer::Log(_) | Signer::Player => None,
        Signer::OtherLog(_) | Signer::Unknown => {
            let log = log_of(&statement)?;
            Some(format!("its key is no trusted key of a {log}'s log"))
        }
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use fairness::{Closing, ClosingStatement, Commitment, Context, SignedText as _};
    use merkle::note::{KeyName, VerifierKey};

    use super::*;

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[7; 32])
    }

    fn trusted(log: &str) -> TrustedKeys {
        let name = KeyName::try_new(format!("room.example/{log}")).unwrap();
        let key = VerifierKey::log(name, key().verifying_key().as_bytes()).unwrap();
        TrustedKeys::new(vec![key])
    }

    fn closing(byte: u8) -> Entry {
        let statement = ClosingStatement {
            context: &Context([3; 32]),
            dealer: &Commitment([4; 32]),
            closing: &Closing([byte; 32]),
        };
        Entry::signed(&statement, &statement.sign(&key()), key().verifying_key().as_bytes())
    }

    fn dispute(entries: &[Entry]) -> Dispute {
        let evidence = evidence::write(entries).into_bytes();
        let evidence_sha256 = Sha256::digest(&evidence).to_vec();
        Dispute { evidence, evidence_sha256, ..Dispute::default() }
    }

    #[test]
    fn two_closings_convict_the_dealer_under_its_own_key_alone() {
        let two = dispute(&[closing(1), closing(2)]);
        let found = examine(&two, &trusted("dealer"), None);
        assert_eq!(found.verdict, EvidenceVerdict::ConvictsRoom);
        let line = found.findings.last().unwrap();
        assert!(line.starts_with("lines 2 and 3: the dealer signed two closings"), "{line}");
        for others in [trusted("table"), TrustedKeys::none()] {
            let found = examine(&two, &others, None);
            assert_eq!(found.verdict, EvidenceVerdict::Consistent, "a forger's own key");
            assert!(found.findings[0].starts_with("line 2: its key is no"), "{found:?}");
        }
        let one = examine(&dispute(&[closing(1)]), &trusted("dealer"), None);
        assert_eq!(one.verdict, EvidenceVerdict::Consistent);
    }

    #[test]
    fn evidence_that_was_swapped_taken_away_or_damaged_is_reported() {
        let honest = dispute(&[closing(1)]);
        let swapped = Dispute { evidence: dispute(&[closing(2)]).evidence, ..honest.clone() };
        let gone = Dispute { evidence: Vec::new(), ..honest.clone() };
        let added = Dispute { evidence_sha256: Vec::new(), ..honest.clone() };
        for it in [swapped, gone, added] {
            let found = examine(&it, &trusted("dealer"), None);
            assert_eq!(found.verdict, EvidenceVerdict::Swapped);
            assert!(found.verdict.is_against_room());
        }
        let none = examine(&Dispute::default(), &trusted("dealer"), None);
        assert_eq!(none.verdict, EvidenceVerdict::Absent);
        let erased = Dispute { erased: true, evidence: Vec::new(), ..honest };
        assert_eq!(examine(&erased, &trusted("dealer"), None).verdict, EvidenceVerdict::Erased);
    }

    #[test]
    fn a_text_with_a_false_signature_convicts_nobody() {
        let Entry::Signed(signed) = closing(2) else { panic!("a signed text") };
        let forged = Entry::Signed(SignedEntry { signature: [1; 64], ..signed });
        let found = examine(&dispute(&[closing(1), forged]), &trusted("dealer"), None);
        assert_eq!(found.verdict, EvidenceVerdict::Consistent);
        assert!(found.findings[0].starts_with("line 3: the signature"), "{found:?}");
    }
}
