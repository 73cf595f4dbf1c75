//! Proofs of where cards lie: checked at once, kept for as long as the card's face is known here,
//! and sent to whoever may see the card.
//!
//! Specification: fairness/SPEC.md §3.8.

use std::collections::BTreeMap;
use std::sync::Arc;

use fairness::Handle;
use proto::common::v1::{CardProof, DeckRoot};
use proto::dealer::v1 as dealer;
use rules::{Card, Deck};
use wire::replay::ReplayError;

/// A card that the dealer revealed.
#[derive(Clone)]
pub(crate) struct Face {
    pub card: Card,
    /// `None` for shuffles without a recorded root, from before there were roots.
    pub proof: Option<Arc<CardProof>>,
}

/// Faces that card reveals gave, by handle.
pub(crate) type Faces = BTreeMap<Handle, Face>;

/// Proofs and roots that viewers may see along with a hand's cards.
#[derive(Clone, Default)]
pub(crate) struct CardProofs {
    /// Proof of each card whose face is known here, for its present position.
    pub by_card: BTreeMap<Card, Arc<CardProof>>,
    /// Roots of all shuffles, in order.
    pub roots: Vec<DeckRoot>,
}

impl CardProofs {
    #[must_use]
    pub(crate) fn root(&self, op: u32) -> Option<&DeckRoot> {
        self.roots.iter().find(|root| root.op == op)
    }
}

/// Reads the commitment to a pile from the result of its shuffle.
///
/// # Errors
/// A result without a commitment.
pub(crate) fn root_of(result: &dealer::OperationResult) -> Result<DeckRoot, ReplayError> {
    let dealer::OperationResult { index, values, root } = result;
    match (values.as_slice(), root.len()) {
        ([cards], 32) => Ok(DeckRoot { op: *index, cards: *cards, root: root.clone() }),
        _ => {
            let text = format!("shuffle {index} was answered without a commitment to its cards");
            Err(ReplayError::Corrupt(text))
        }
    }
}

/// Reads the faces of a card reveal and checks each against the root of its shuffle.
///
/// # Errors
/// Names the position that is contradicted, and never its card.
pub(crate) fn verified_faces(
    places: &[Handle],
    opened: &dealer::OpenedCards,
    deck: &Deck,
    root: &dyn Fn(u32) -> Option<DeckRoot>,
) -> Result<Faces, ReplayError> {
    let dealer::OpenedCards { card_ids, proofs } = opened;
    if card_ids.len() != places.len() {
        let (expected, got) = (places.len(), card_ids.len());
        let text = format!("{expected} cards were to be opened, {got} were");
        return Err(ReplayError::Corrupt(text));
    }
    let mut faces = Faces::new();
    for (at, (place, id)) in places.iter().zip(card_ids).enumerate() {
        let card = deck.card(*id).ok_or_else(|| contradiction(*place, "is none of this deck"))?;
        let proof = match root(place.op) {
            Some(root) => {
                let opened = proofs.get(at);
                let opened =
                    opened.ok_or_else(|| contradiction(*place, "comes without a proof"))?;
                let proved = verified_proof(*place, *id, opened, &root);
                let proved = proved
                    .ok_or_else(|| contradiction(*place, "is not the one that the root says"))?;
                Some(Arc::new(proved))
            }
            None => None,
        };
        faces.insert(*place, Face { card, proof });
    }
    Ok(faces)
}

fn contradiction(place: Handle, how: &str) -> ReplayError {
    let Handle { op, position } = place;
    ReplayError::Corrupt(format!(
        "the card that was opened at place {position} of shuffle {op} {how}"
    ))
}

/// Checks that a proof leads to the root, and converts it.
fn verified_proof(
    Handle { op, position }: Handle,
    card: u8,
    opened: &dealer::OpenedProof,
    root: &DeckRoot,
) -> Option<CardProof> {
    let dealer::OpenedProof { salt, path } = opened;
    let (hashes, rest) = path.as_chunks::<32>();
    if !rest.is_empty() {
        return None;
    }
    let record = fairness::deck::record(op, position, card, salt.as_slice().try_into().ok()?);
    let count = u16::try_from(root.cards).ok()?;
    let leads_to = fairness::deck::root_from_path(&record, position, count, hashes)?;
    (leads_to[..] == root.root[..]).then(|| CardProof {
        op,
        position: u32::from(position),
        card_id: u32::from(card),
        salt: salt.clone(),
        path: path.clone(),
    })
}
