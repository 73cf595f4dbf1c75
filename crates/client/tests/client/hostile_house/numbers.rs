//! The house fits its own number to those of the others, or tries to.

use std::collections::BTreeSet;

use client::{PartyAtFault, ViolationKind};
use ed25519_dalek::SigningKey;
use fairness::evidence::{Conflict, conflicts};
use fairness::{Closing, Keys, Operation, Outcome};

use super::*;

/// Numbers of its own that the house tries.
const TRIES: u32 = 4_000;

/// Number that the house is bound to.
const FIXED: Entropy = Entropy([0x33; 32]);

fn number(tried: u32) -> Entropy {
    let mut bytes = [0x44; 32];
    bytes[..4].copy_from_slice(&tried.to_be_bytes());
    Entropy(bytes)
}

impl RoomFixture {
    /// Card on top of the first pile, which only the house can know before the hand: it has the seed,
    /// and what the guests have revealed.
    fn top_card(&self, own: &Entropy) -> u8 {
        let transcript = self.fixture.transcript(&self.transcript_rows(own));
        let keys = Keys::derive(&transcript, &self.fixture.seed());
        let pile = &self.fixture.variant().piles[0];
        let cards = pile.cards().map(rules::Card::id).collect();
        let shuffle = Operation::Shuffle { pile: 0, cards };
        let Outcome::Shuffled(order) = fairness::perform(&keys, 0, &shuffle).unwrap() else {
            panic!("a shuffle gives an order")
        };
        order[0]
    }

    /// Hash of the closing that a number of the house's own needs.
    fn closing_of(&self, own: &Entropy) -> [u8; 32] {
        let (context, dealer) = (self.fixture.context(), self.fixture.commitment());
        Closing::try_new(&context, &dealer, &self.closing_rows(own)).unwrap().0
    }

    /// Number of the house's own that deals another first card than the one it is bound to. Shows
    /// that each number which it could choose needs a closing of its own.
    fn fitted_number(&self) -> Entropy {
        let wanted = (self.top_card(&FIXED) + 1) % 76;
        let mut closings = BTreeSet::from([self.closing_of(&FIXED)]);
        let mut fitting = Vec::new();
        for own in (0..TRIES).map(number) {
            assert!(closings.insert(self.closing_of(&own)), "each needs another closing");
            if self.top_card(&own) == wanted {
                fitting.push(own);
            }
        }
        // About one in 76 would have done: whoever reveals on the table's bare word is lost.
        assert!(fitting.len() > 20, "{} of {TRIES}", fitting.len());
        fitting[0]
    }
}

/// The house says that everything is closed, and waits for the numbers of the others before it fixes
/// its own: without the dealer's signature under a closing it learns none of them.
#[tokio::test]
async fn the_house_learns_nothing_before_it_is_bound() {
    type Bend = fn(&mut pb::Entropy);
    let other_rows = "its hash is not that of its rows";
    let bare: [(Bend, ViolationKind); 3] = [
        (|entropy| entropy.closing = None, ViolationKind::Missing("the dealer's closing")),
        (
            |entropy| entropy.closing.as_mut().unwrap().signature = vec![0; 64],
            ViolationKind::ClosingSignature,
        ),
        (
            |entropy| entropy.closing.as_mut().unwrap().rows.truncate(2),
            ViolationKind::WrongClosing(other_rows),
        ),
    ];
    for (bend, kind) in bare {
        let room = RoomFixture::new();
        let guest = room.seat_one().await;
        guest.send(What::Entropy(room.open()));
        tokio::time::sleep(A_WHILE).await;
        assert!(room.received().reveals.is_empty(), "an open hand");
        let mut entropy = room.closed(&FIXED);
        bend(&mut entropy);
        guest.send(What::Entropy(entropy));
        let caught = guest.distrusts().await;
        assert_eq!(caught.found.kind, kind);
        assert!(room.received().reveals.is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_closing_that_some_other_key_signed_binds_nobody() {
    let stranger = SigningKey::from_bytes(&[9; 32]);
    let stranger = HandFixture { dealer: stranger, ..HandFixture::new("dice") };
    let room = RoomFixture::new();
    let guest = room.seat_one().await;
    let closing = Some(stranger.closing(&room.closing_rows(&FIXED)));
    guest.send(What::Entropy(pb::Entropy { closing, ..room.closed(&FIXED) }));
    assert_eq!(guest.distrusts().await.found.kind, ViolationKind::ClosingSignature);
    assert!(room.received().reveals.is_empty());
}

/// Once the others have revealed, the house tries numbers of its own until one suits it. It can neither
/// deal from it nor bind itself anew.
#[tokio::test]
async fn four_thousand_numbers_of_the_house_do_not_move_the_outcome() {
    let room = RoomFixture::new();
    let [one, two] = room.seat_both().await;
    for guest in [&one, &two] {
        guest.send(What::Entropy(room.closed(&FIXED)));
    }
    room.until(|received| received.reveals.len() == 2).await;
    let fitted = room.fitted_number();
    // It deals from the number that suits it.
    one.send(What::HandStarted(room.started(&fitted)));
    let caught = one.distrusts().await;
    assert_eq!(caught.found.kind, ViolationKind::NotAsClosed);
    assert_eq!(conflicts(&caught.evidence), [], "what was signed was not dealt from");
    // It has the closing signed anew.
    two.send(What::Entropy(room.closed(&fitted)));
    let Caught { found, evidence } = two.distrusts().await;
    assert_eq!((found.party, &found.kind), (PartyAtFault::Dealer, &ViolationKind::SecondClosing));
    let contradictions = conflicts(&evidence);
    let [Conflict::TwoClosings { first, second }] = contradictions[..] else {
        panic!("{contradictions:?}")
    };
    assert!(room.is_dealers(&evidence[first]) && room.is_dealers(&evidence[second]));
}

/// The hand goes on from the number that the house was bound to, and from no other.
#[tokio::test]
async fn the_number_that_was_closed_is_dealt() {
    let room = RoomFixture::new();
    let guests = room.seat_both().await;
    for guest in &guests {
        guest.send(What::Entropy(room.closed(&FIXED)));
    }
    room.until(|received| received.reveals.len() == 2).await;
    for guest in guests {
        guest.send(What::HandStarted(room.started(&FIXED)));
        assert_eq!(conflicts(&guest.leaves_content().await), []);
    }
}
