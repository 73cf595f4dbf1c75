use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::*;
use crate::commit::Seed;
use crate::transcript::Transcript;

fn shoe() -> Shoe {
    let seed = Seed::new(Zeroizing::new([7; 64]));
    Shoe::new(Keys::derive(&Transcript([1; 32]), &seed))
}

fn fresh(pile: u8, first: u8, count: u16) -> OperationRequest {
    OperationRequest::Shuffle { pile, input: ShuffleInput::Fresh { first, count } }
}

fn cards(pile: u8, handles: &[(u32, u16)]) -> OperationRequest {
    let handles = handles.iter().map(|(op, position)| at(*op, *position)).collect();
    OperationRequest::Shuffle { pile, input: ShuffleInput::Cards(handles) }
}

fn at(op: u32, position: u16) -> Handle {
    Handle { op, position }
}

/// Performs `asks` as operations 0, 1, 2 …; the last must be refused as `error`, all others done.
#[track_caller]
fn check(asks: &[OperationRequest], error: ShoeError) {
    let mut shoe = shoe();
    let (last, before) = asks.split_last().unwrap();
    for ask in before {
        shoe.perform(shoe.next_index(), ask).unwrap();
    }
    let index = shoe.next_index();
    assert_eq!(shoe.perform(index, last), Err(error));
    assert_eq!(shoe.next_index(), index, "a refused ask uses no index");
    assert!(shoe.perform(index, &OperationRequest::Pulse { ppm: 1 }).is_ok());
}

/// fairness/SPEC.md §6.7.
#[test]
fn a_repeat_gets_the_same_answer_and_another_ask_none() {
    let mut shoe = shoe();
    let shuffle = shoe.perform(0, &fresh(0, 0, 76)).unwrap();
    let roll = OperationRequest::Roll { sides: vec![6, 6] };
    let rolled = shoe.perform(1, &roll).unwrap();
    assert_eq!(shoe.perform(0, &fresh(0, 0, 76)), Ok(shuffle));
    assert_eq!(shoe.perform(1, &roll), Ok(rolled));
    let other = OperationRequest::Roll { sides: vec![6] };
    assert_eq!(shoe.perform(1, &other), Err(ShoeError::IndexUsed { index: 1 }));
    assert_eq!(shoe.perform(3, &roll), Err(ShoeError::IndexGap { index: 3, next: 2 }));
    assert_eq!(shoe.next_index(), 2);
}

/// fairness/SPEC.md §6.7.
#[test]
fn a_piles_first_shuffle_makes_its_cards_and_no_card_is_made_twice() {
    check(&[cards(0, &[(0, 0)])], ShoeError::PileEmpty { pile: 0 });
    check(&[fresh(0, 0, 22), fresh(0, 22, 22)], ShoeError::PileNotFresh { pile: 0 });
    let overlap = ShoeError::CardsNotNew { first: 21, count: 22 };
    check(&[fresh(0, 0, 22), fresh(1, 21, 22)], overlap);
    check(&[fresh(0, 200, 57)], ShoeError::CardsNotNew { first: 200, count: 57 });
    check(&[fresh(0, 0, 256)], ShoeError::Operation(OperationError::Cards(256)));
    check(&[fresh(0, 0, 0)], ShoeError::Operation(OperationError::Cards(0)));
    let mut shoe = shoe();
    assert!(shoe.perform(0, &fresh(0, 0, 22)).is_ok());
    assert!(shoe.perform(1, &fresh(1, 22, 22)).is_ok());
    assert!(shoe.perform(2, &fresh(2, 200, 56)).is_ok(), "up to card 255");
}

/// fairness/SPEC.md §6.7.
#[test]
fn a_shuffle_takes_current_cards_once() {
    let deck = fresh(0, 0, 10);
    check(&[deck.clone(), cards(0, &[(0, 10)])], ShoeError::CardUnknown(at(0, 10)));
    check(&[deck.clone(), cards(0, &[(7, 0)])], ShoeError::CardUnknown(at(7, 0)));
    check(&[deck.clone(), cards(0, &[(0, 3), (0, 3)])], ShoeError::CardTwice(at(0, 3)));
    check(&[deck.clone(), cards(0, &[])], ShoeError::Operation(OperationError::Cards(0)));
    let restock = cards(0, &[(0, 3), (0, 4)]);
    check(&[deck.clone(), restock.clone(), restock], ShoeError::CardStale(at(0, 3)));
    // A roll is no shuffle: nothing lies at its index.
    let roll = OperationRequest::Roll { sides: vec![6] };
    check(&[deck, roll, cards(0, &[(1, 0)])], ShoeError::CardUnknown(at(1, 0)));
}

#[test]
fn bad_parameters_are_refused() {
    let none = ShoeError::Operation(OperationError::PickOfNone);
    check(&[OperationRequest::Pick { n: 0 }], none);
    let sample = ShoeError::Operation(OperationError::Sample { n: 2, k: 3 });
    check(&[OperationRequest::Sample { n: 2, k: 3 }], sample);
}

/// fairness/SPEC.md §6.7.
#[test]
fn a_stale_handle_opens_nothing_but_an_old_answer_can_be_given_again() {
    let mut shoe = shoe();
    shoe.perform(0, &fresh(0, 0, 10)).unwrap();
    let first = shoe.card_at(at(0, 3)).unwrap();
    shoe.perform(1, &cards(0, &[(0, 3), (0, 4)])).unwrap();
    assert_eq!(shoe.card_at(at(0, 3)), Err(ShoeError::CardStale(at(0, 3))));
    assert_eq!(shoe.card_at_any(at(0, 3)), Ok(first));
    assert!(shoe.card_at(at(0, 5)).is_ok(), "cards that stayed out keep their handle");
    let new = [shoe.card_at(at(1, 0)).unwrap(), shoe.card_at(at(1, 1)).unwrap()];
    assert!(new.contains(&first));
    assert_eq!(shoe.card_at(at(0, 10)), Err(ShoeError::CardUnknown(at(0, 10))));
    assert_eq!(shoe.card_at_any(at(9, 0)), Err(ShoeError::CardUnknown(at(9, 0))));
}

#[test]
fn cards_do_not_print() {
    let mut shoe = shoe();
    shoe.perform(0, &fresh(0, 0, 10)).unwrap();
    assert_eq!(format!("{shoe:?}"), "Shoe { done: 1 operations }");
    let opening = format!("{:?}", shoe.prove(at(0, 3)).unwrap());
    assert_eq!(opening, "Opening { handle: Handle { op: 0, position: 3 }, .. }");
}

proptest! {
    /// After any shuffles the shoe's cards are the scheme's, every card has one current handle, and
    /// each card is proved against the root of its shuffle.
    #[test]
    fn cards_are_never_made_or_lost(
        count in 1_u16..=76,
        takes in vec(vec(any::<Index>(), 1..20), 0..6),
    ) {
        let mut shoe = shoe();
        let mut roots = vec![root(&shoe.perform(0, &fresh(0, 0, count)).unwrap())];
        let mut current: Vec<Handle> = (0..count).map(|position| at(0, position)).collect();
        for (op, take) in (1_u32..).zip(takes) {
            let place = |index: &Index| index.index(current.len());
            let mut taken: Vec<usize> = take.iter().map(place).collect();
            taken.sort_unstable();
            taken.dedup();
            let handles: Vec<Handle> = taken.iter().map(|place| current[*place]).collect();
            let ids = handles.iter().map(|handle| shoe.card_at(*handle).unwrap()).collect();
            let input = ShuffleInput::Cards(handles);
            roots.push(root(&shoe.perform(op, &OperationRequest::Shuffle { pile: 0, input }).unwrap()));
            for (position, place) in (0_u16..).zip(&taken) {
                current[*place] = at(op, position);
            }
            let operation = Operation::Shuffle { pile: 0, cards: ids };
            let Outcome::Shuffled(expected) = perform(&shoe.keys, op, &operation).unwrap() else {
                panic!("a shuffle shuffles")
            };
            let found = (0_u16..).take(expected.len()).map(|p| shoe.card_at(at(op, p)).unwrap());
            let found: Vec<u8> = found.collect();
            prop_assert_eq!(found, expected);
        }
        let mut seen = Vec::new();
        for handle in &current {
            let opening = shoe.prove(*handle).unwrap();
            prop_assert_eq!(proved(&opening), roots[usize::try_from(handle.op).unwrap()]);
            seen.push(u16::from(opening.card));
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..count).collect::<Vec<_>>());
    }
}

fn root(answer: &PublicOutcome) -> [u8; 32] {
    let PublicOutcome::Shuffled { root, count: _ } = answer else { panic!("a shuffle shuffles") };
    *root
}

/// Root that an opening leads to, by RFC 9162's check of an inclusion proof, written here without
/// the crate that makes the proofs.
fn proved(opening: &ProvedCard) -> [u8; 32] {
    let ProvedCard { handle, card, salt, path, count } = opening;
    let record = deck::record(handle.op, handle.position, *card, salt);
    let mut hash: [u8; 32] = Sha256::digest([&[0], &record[..]].concat()).into();
    let (mut node, mut last) = (handle.position, count - 1);
    for sibling in path {
        let pair = if node & 1 == 1 || node == last {
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
            [&[1], &sibling[..], &hash[..]].concat()
        } else {
            [&[1], &hash[..], &sibling[..]].concat()
        };
        hash = Sha256::digest(pair).into();
        node >>= 1;
        last >>= 1;
    }
    assert_eq!(last, 0, "the path has the length its tree calls for");
    hash
}
