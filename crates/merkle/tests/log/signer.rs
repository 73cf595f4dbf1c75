//! Trees that a log signs or refuses after others.

use merkle::note::{KeyName, LogKey, Note};
use merkle::{
    Checkpoint, Hash, ProofError, Refusal, Signer, TreeHead, empty_root, may_follow,
    prove_consistency,
};

use crate::sample::{LOG, head, log_key};

fn checkpoint(head: TreeHead) -> Checkpoint {
    Checkpoint::try_new("sabacc.example/table/0", head, vec![]).unwrap()
}

fn check(previous: Option<TreeHead>, next: TreeHead, proof: &[Hash], expected: Option<Refusal>) {
    let expected = expected.map_or(Ok(()), Err);
    let signer = Signer::new(log_key());
    let signed = signer.sign(previous.map(checkpoint).as_ref(), next, proof);
    let opened = signed.clone().map(|note: Note| {
        Checkpoint::open(note.to_string().as_bytes(), signer.public(), &[]).unwrap()
    });
    assert_eq!(opened.clone().map(|_| ()), expected);
    if let Ok(opened) = opened {
        assert_eq!(opened.checkpoint, checkpoint(next));
    }
    assert_eq!(may_follow(previous, next, proof), expected);
}

#[test]
fn a_log_that_grows_is_signed() {
    check(None, head(0), &[], None);
    check(None, head(300), &[], None);
    for old in [0, 1, 2, 128, 255, 256, 299, 300] {
        let proof = prove_consistency(&LOG.leaves, old, 300).unwrap();
        check(Some(head(old)), head(300), &proof, None);
    }
}

#[test]
fn what_contradicts_an_earlier_signature_is_refused() {
    let proof = prove_consistency(&LOG.leaves, 299, 300).unwrap();
    let shrunk = Refusal::Shrunk { previous: 300, next: 299 };
    check(Some(head(300)), head(299), &proof, Some(shrunk.clone()));
    check(Some(head(300)), head(299), &[], Some(shrunk));
    let other = TreeHead { root: [7; 32], ..head(300) };
    check(Some(head(300)), other, &[], Some(Refusal::Forked { size: 300 }));
    let root = Refusal::Inconsistent(ProofError::Root);
    check(Some(head(299)), other, &proof, Some(root));
    let rewritten = TreeHead { root: [7; 32], ..head(299) };
    let old_root = Refusal::Inconsistent(ProofError::OldRoot);
    check(Some(rewritten), head(300), &proof, Some(old_root));
}

#[test]
fn without_a_proof_nothing_is_signed() {
    let length = |got| Some(Refusal::Inconsistent(ProofError::Length { got }));
    check(Some(head(299)), head(300), &[], length(0));
    check(Some(head(300)), head(300), &[[7; 32]], length(1));
    check(None, head(300), &[[7; 32]], length(1));
    let proof = prove_consistency(&LOG.leaves, 299, 300).unwrap();
    check(Some(head(299)), head(300), &proof[1..], length(proof.len() - 1));
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let signer = Signer::new(log_key());
    let huge = TreeHead { size: 1 << 63, root: [7; 32] };
    assert!(matches!(signer.sign(None, huge, &[]), Err(Refusal::Head(_))));
    let empty = TreeHead { size: 0, root: [7; 32] };
    assert!(matches!(signer.sign(None, empty, &[]), Err(Refusal::Head(_))));
    assert_eq!(head(0).root, empty_root());
    let name = KeyName::try_new("sabacc.example/table/1").unwrap();
    let other = Signer::new(LogKey::new(name, &[1; 32]));
    let refused = other.sign(Some(&checkpoint(head(5))), head(5), &[]);
    assert!(matches!(refused, Err(Refusal::Origin { .. })), "another log of the same key");
}

#[test]
fn the_same_tree_is_signed_in_the_same_bytes_and_secrets_are_not_shown() {
    let signer = Signer::new(log_key());
    let first = signer.sign(None, head(5), &[]).unwrap();
    let again = signer.sign(Some(&checkpoint(head(5))), head(5), &[]).unwrap();
    assert_eq!(first.to_string(), again.to_string());
    let shown = format!("{signer:?}");
    assert!(shown.contains("sabacc.example/table/0+") && !shown.contains("1, 1"), "{shown}");
}
