//! The size of a message does not depend on the cards that it shows.

#![expect(clippy::wildcard_enum_match_arm, reason = "of all moves only calm ones are made")]

use std::sync::Arc;
use std::time::Duration;

use fairness::Chain;
use primitives::{Credits, SeatNo, UnixMicros};
use rules::{
    Card, CardCount, Chance, DecisionAuthor, Event, Hand, Move, MoveKind, Next, Outcome, Player,
    RuleSet, Setup, Variant, Viewer,
};

use super::*;
use crate::decisions::ChainStep;
use crate::proof::CardProofs;
use crate::updates::{DecisionClock, HandStep};

/// Other cards that are tried for each deal.
const TRIES: usize = 15;

/// Pseudo-random numbers to choose cards by.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

struct Game {
    hand: Hand,
    seats: Vec<SeatNo>,
    unused: Vec<Card>,
    shown: CardProofs,
    dealt: u32,
}

impl Game {
    fn new(variant: &'static Variant) -> Game {
        let rules = RuleSet::defaults(variant);
        let due = rules.min_stack(Credits::ZERO);
        let seats: Vec<SeatNo> = (1..=3).map(|seat| SeatNo::try_new(seat).unwrap()).collect();
        let setup = Setup {
            rules,
            seats: seats.clone(),
            stacks: vec![due.times(1000).unwrap(); 3],
            sabacc_pot: Credits::ZERO,
            carried_pot: Credits::ZERO,
        };
        let unused = variant.deck.cards().collect();
        let hand = Hand::try_new(&setup).unwrap();
        Game { hand, seats, unused, shown: CardProofs::default(), dealt: 0 }
    }

    /// The hand and its proofs after an event.
    fn after(&self, event: &Event) -> (Hand, CardProofs) {
        let (mut hand, mut shown) = (self.hand.clone(), self.shown.clone());
        if let Event::Chance(Outcome::Cards(cards)) = event {
            for (card, position) in cards.iter().zip(self.dealt..) {
                let card_id = u32::from(card.id());
                let (salt, path) = (vec![9; 32], vec![9; 7 * 32]);
                let proof = CardProof { op: 1, position, card_id, salt, path };
                shown.by_card.insert(*card, Arc::new(proof));
            }
        }
        rules::evolve(&mut hand, event);
        (hand, shown)
    }

    /// Size of a viewer's message about an event.
    fn size(&self, event: &Event, viewer: Viewer) -> usize {
        let (after, shown) = self.after(event);
        let decides = matches!(rules::next(&after), Next::Decision(_));
        let clock =
            DecisionClock { turn: 3, deadline: UnixMicros(1), bank: Duration::from_secs(30) };
        let decision = rules::chain_line(&self.hand, event, false, |_| "0.44".to_owned());
        let decision = decision.map(|line| ChainStep { line, chain: Chain([9; 32]) });
        let step = HandStep {
            hand_no: 5,
            seats: &self.seats,
            before: &self.hand,
            event,
            decision: decision.as_ref(),
            after: &after,
            clock: decides.then_some(clock),
            card_proofs: &shown,
        };
        let action = step.action(viewer);
        let deck = self.hand.rules().variant().deck;
        let size = CodeLengths::of(deck).action(&action);
        let with =
            |length, id, once| with_codes(&action, Same { deck, length, id, once }).encoded_len();
        let lengths: Vec<usize> = deck.faces().map(str::len).collect();
        let (short, long) = (*lengths.iter().min().unwrap(), *lengths.iter().max().unwrap());
        assert_eq!(
            size,
            SizeRange {
                now: action.encoded_len(),
                min: with(short, 0, true),
                max: with(long, 127, false)
            },
            "{action:?}"
        );
        action.encoded_len()
    }

    fn take(&mut self, event: &Event) {
        if let Event::Chance(Outcome::Cards(cards)) = event {
            self.unused.retain(|card| !cards.contains(card));
            self.dealt += u32::try_from(cards.len()).unwrap();
        }
        (self.hand, self.shown) = self.after(event);
    }

    /// Deal with cards that the pending deal could give.
    fn deal(&self, count: usize, numbers: &mut Numbers) -> Event {
        loop {
            let mut unused = self.unused.clone();
            let cards: Vec<Card> =
                (0..count).map(|_| unused.swap_remove(numbers.below(unused.len()))).collect();
            if let Ok(event) = rules::resolve_chance(&self.hand, Outcome::cards(&cards)) {
                return event;
            }
        }
    }

    fn chance(&self, due: &Chance, numbers: &mut Numbers) -> Event {
        let outcome = match due {
            Chance::Shuffle { .. } => Outcome::Shuffled,
            Chance::Roll { sides, .. } => {
                let faces = sides.iter().map(|sides| 1 + numbers.below(usize::from(*sides)));
                let faces: Vec<u8> = faces.map(|face| u8::try_from(face).unwrap()).collect();
                Outcome::rolled(&faces)
            }
            Chance::Pulse { .. } => Outcome::Pulsed(false),
            Chance::Pick { .. } => Outcome::Picked(0),
            Chance::Sample { k, .. } => Outcome::Sampled((0..*k).collect()),
            Chance::Deal(deal) => {
                let count = deal.parts.iter().map(|part| match part.count {
                    CardCount::Exactly(count) => usize::from(count),
                    CardCount::UntilOneOf(_) => 1,
                });
                return self.deal(count.sum(), numbers);
            }
        };
        rules::resolve_chance(&self.hand, outcome).unwrap()
    }

    fn decide(&self, numbers: &mut Numbers) -> Event {
        let Next::Decision(decision) = rules::next(&self.hand) else { panic!("a decision is due") };
        let calm = decision.legal.iter().find_map(|legal| match legal.kind {
            MoveKind::Check => Some(Move::Check),
            MoveKind::Match => Some(Move::Match),
            MoveKind::Draw if numbers.below(2) == 0 => Some(Move::Draw),
            MoveKind::Stand => Some(Move::Stand),
            _ => None,
        });
        let mv = calm.unwrap_or_else(|| decision.default.clone());
        rules::decide(&self.hand, decision.player, mv, DecisionAuthor::Player).unwrap()
    }
}

/// Common form of every card, to get the same sizes by building the messages.
#[derive(Clone, Copy)]
struct Same<'a> {
    deck: &'a Deck,
    /// Length of the code.
    length: usize,
    /// Card id.
    id: u32,
    /// Whether all cards count as copies of one, where copies are named once.
    once: bool,
}

/// The message with every card in the common form.
fn with_codes(action: &pb::HandAction, same: Same<'_>) -> pb::HandAction {
    let mut like = action.clone();
    like.line = same.line(&action.line);
    same.codes(&mut like.cards);
    if let Some(decided) = &mut like.decision {
        same.codes(&mut decided.cards);
    }
    for held in like.hands.iter_mut().flat_map(|hand| &mut hand.cards) {
        same.codes(std::slice::from_mut(&mut held.code));
        held.proof.iter_mut().for_each(|proof| proof.card_id = same.id);
    }
    like.proofs.iter_mut().for_each(|proof| proof.card_id = same.id);
    like.game_state.iter_mut().for_each(|state| same.game_state(state));
    if let Some(turn) = &mut like.turn {
        turn.legal.iter_mut().for_each(|legal| same.choices(legal));
        if let Some(default) = &mut turn.default_move {
            same.codes(&mut default.cards);
        }
    }
    like
}

impl Same<'_> {
    fn code(&self) -> String {
        "x".repeat(self.length)
    }

    fn is_code(&self, word: &str) -> bool {
        !self.deck.parse(word).is_empty()
    }

    fn codes(&self, codes: &mut [String]) {
        for code in codes.iter_mut().filter(|code| self.is_code(code)) {
            *code = self.code();
        }
    }

    /// A line with every card's code replaced.
    fn line(&self, line: &str) -> String {
        let word = |word: &str| if self.is_code(word) { self.code() } else { word.to_owned() };
        line.split(' ').map(word).collect::<Vec<String>>().join(" ")
    }

    /// Replaces what a state tells of cards. A total is left out or as long as it can be.
    fn game_state(&self, state: &mut pb::GameState) {
        let total = |declared: &mut pb::DeclaredTotal| declared.total = -i32::from(!self.once);
        match state.state.as_mut().unwrap() {
            State::Coruscant(state) => {
                state.selections.iter_mut().for_each(|one| self.codes(&mut one.cards));
            }
            State::Dice(state) => state.declared_totals.iter_mut().for_each(total),
            State::Electronic(state) => state.declared_totals.iter_mut().for_each(total),
            State::Kessel(state) => {
                self.codes(std::slice::from_mut(&mut state.sand_discard));
                self.codes(std::slice::from_mut(&mut state.blood_discard));
            }
            State::Spike(state) => self.codes(std::slice::from_mut(&mut state.top_discard)),
            State::Eleven(_) | State::Force(_) | State::Swg(_) => {}
        }
    }

    /// Replaces a legal move's cards. Its text names copies of a card once, which tells about cards
    /// too.
    fn choices(&self, legal: &mut LegalMove) {
        let count = if self.once { legal.cards.len().min(1) } else { legal.cards.len() };
        let named = legal.text.split([' ', '|']).any(|word| self.is_code(word));
        self.codes(&mut legal.cards);
        if named {
            let others = legal.text.split([' ', '|']).filter(|word| !self.is_code(word));
            let mut words: Vec<String> = others.map(str::to_owned).collect();
            words.extend((0..count).map(|_| self.code()));
            legal.text = words.join(" ");
        }
    }
}

fn viewers() -> impl Iterator<Item = Viewer> {
    let players = (0..3).map(|number| Viewer::Player(Player::try_new(number).unwrap()));
    players.chain([Viewer::Public])
}

/// Compares messages over other cards at every deal of some hands. Returns the number of sizes
/// compared.
fn compare(variant: &'static Variant) -> usize {
    let mut compared = 0;
    for hand in 0..4 {
        let mut numbers = Numbers(hand);
        let mut game = Game::new(variant);
        for _ in 0..60 {
            let event = match rules::next(&game.hand) {
                Next::Done(_) => break,
                Next::Decision(_) => game.decide(&mut numbers),
                Next::Chance([]) => panic!("some chance is due"),
                Next::Chance([due, ..]) => {
                    if matches!(due, Chance::Shuffle { .. }) && game.dealt > 0 {
                        // From here on more is needed to know where cards lie.
                        break;
                    }
                    game.chance(&due.clone(), &mut numbers)
                }
            };
            // After the hand everybody sees its result.
            let over = matches!(rules::next(&game.after(&event).0), Next::Done(_));
            if let Event::Chance(Outcome::Cards(cards)) = &event
                && !over
            {
                for viewer in viewers() {
                    let size = game.size(&event, viewer);
                    for _ in 0..TRIES {
                        let other = game.deal(cards.len(), &mut numbers);
                        let line = rules::history_line(&game.hand, &other);
                        let other = game.size(&other, viewer);
                        assert_eq!(other, size, "{}, {viewer:?}: {line}", variant.id);
                        compared += 1;
                    }
                }
            }
            viewers().for_each(|viewer| {
                game.size(&event, viewer);
            });
            game.take(&event);
        }
    }
    compared
}

#[test]
fn size_of_a_deal_reveals_nothing_of_its_cards() {
    for variant in rules::ALL {
        assert!(compare(variant) > 300, "{}", variant.id);
    }
}
