//! A player who knows no game plays all of them, by what each legal move says alone.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;

use bots::strategy::pick;
use primitives::{Credits, SeatNo};
use proto::common::v1::{LegalMove, Move, MoveArgument, MoveKind};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rules::{DecisionAuthor, FieldValue, Hand, Next, RuleSet, Setup};
use wire::moves::{MoveReader, legal_leave, write_legal};

/// Hands of a rule set that are played at the least, and at the most until every choice is made.
const MIN_HANDS: usize = 20;
const MAX_HANDS: usize = 4_000;

fn seats() -> Vec<SeatNo> {
    [2, 5, 7].map(|seat| SeatNo::try_new(seat).unwrap()).to_vec()
}

/// A choice that a list of legal moves offers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Choice {
    Kind,
    CardCount(u32),
    /// The place of a card in the list.
    Card(usize),
    Least,
    Most,
    Name(String),
    Seat(u32),
    Value(u32),
}

/// All choices of a legal move.
fn choices(legal: &LegalMove) -> Vec<Choice> {
    let mut all = vec![Choice::Kind];
    for argument in &legal.move_arguments {
        match MoveArgument::try_from(*argument).unwrap() {
            MoveArgument::Unspecified => panic!("an argument without a kind"),
            MoveArgument::Cards => {
                all.extend((legal.min_cards..=legal.max_cards).map(Choice::CardCount));
                all.extend((0..legal.cards.len()).map(Choice::Card));
            }
            MoveArgument::Amount => all.extend([Choice::Least, Choice::Most]),
            MoveArgument::Side | MoveArgument::Pile | MoveArgument::Tokens => {
                all.extend(legal.names.iter().cloned().map(Choice::Name));
            }
            MoveArgument::Seat => {
                all.extend(legal.target_seats.iter().copied().map(Choice::Seat));
            }
            MoveArgument::Value => all.extend(legal.values.iter().copied().map(Choice::Value)),
        }
    }
    all
}

/// Whether a move makes a choice of a legal move.
fn makes(decision: &Move, legal: &LegalMove, choice: &Choice) -> bool {
    match choice {
        Choice::Kind => true,
        Choice::CardCount(count) => decision.cards.len() == usize::try_from(*count).unwrap(),
        Choice::Card(at) => decision.cards.contains(&legal.cards[*at]),
        Choice::Least => decision.amount_credits == legal.min_credits,
        Choice::Most => decision.amount_credits == legal.max_credits,
        Choice::Name(name) => decision.names.contains(name),
        Choice::Seat(seat) => decision.target_seat == *seat,
        Choice::Value(value) => decision.value == *value,
    }
}

/// Changes a move so that it makes this choice.
fn change(decision: &mut Move, legal: &LegalMove, choice: &Choice) {
    match choice {
        Choice::Kind => {}
        Choice::CardCount(count) => {
            decision.cards = legal.cards[..usize::try_from(*count).unwrap()].to_vec();
        }
        Choice::Card(at) => {
            let count = legal.min_cards.max(1).min(legal.max_cards);
            let others = (0..legal.cards.len()).filter(|other| other != at);
            let places = [*at].into_iter().chain(others).take(usize::try_from(count).unwrap());
            decision.cards = places.map(|place| legal.cards[place].clone()).collect();
        }
        Choice::Least => decision.amount_credits = legal.min_credits,
        Choice::Most => decision.amount_credits = legal.max_credits,
        Choice::Name(name) => {
            let others = legal.names.iter().filter(|other| *other != name);
            let count = usize::try_from(legal.names_count).unwrap();
            decision.names = [name].into_iter().chain(others).take(count).cloned().collect();
        }
        Choice::Seat(seat) => decision.target_seat = *seat,
        Choice::Value(value) => decision.value = *value,
    }
}

/// The player, with every choice that they were offered, and whether they made it.
struct Generic {
    generator: StdRng,
    offered: BTreeMap<(i32, Choice), bool>,
}

impl Generic {
    /// Decides; every third time something that was never chosen, if there is such a thing.
    fn choose(&mut self, legal: &[LegalMove]) -> Move {
        for one in legal {
            for choice in choices(one) {
                self.offered.entry((one.kind, choice)).or_insert(false);
            }
        }
        let mut below = |n: usize| self.generator.random_range(0..n);
        let offers = legal.iter().flat_map(|one| choices(one).into_iter().map(move |of| (one, of)));
        let fresh: Vec<_> =
            offers.filter(|(one, choice)| !self.offered[&(one.kind, choice.clone())]).collect();
        let (one, decision) = if fresh.is_empty() || below(3) > 0 {
            // Nobody who leaves or folds at every opportunity sees the rest of a hand.
            let ends = [MoveKind::Leave, MoveKind::Fold, MoveKind::Junk];
            let stays: Vec<_> = legal.iter().filter(|one| !ends.contains(&one.kind())).collect();
            let one = stays[below(stays.len())];
            (one, pick(one, &mut below).unwrap())
        } else {
            let (one, choice) = &fresh[below(fresh.len())];
            let mut decision = pick(one, &mut below).unwrap();
            change(&mut decision, one, choice);
            (*one, decision)
        };
        for choice in choices(one) {
            let is_made = makes(&decision, one, &choice);
            *self.offered.get_mut(&(one.kind, choice)).unwrap() |= is_made;
        }
        decision
    }

    fn has_made_all(&self) -> bool {
        self.offered.values().all(|made| *made)
    }
}

/// Plays a hand to its end; whatever the player decides is read and taken.
fn play(rules: &RuleSet, player: &mut Generic) {
    let stack = rules.min_stack(Credits::ZERO).times(30).unwrap();
    let setup = Setup {
        rules: *rules,
        seats: seats(),
        stacks: vec![stack; 3],
        sabacc_pot: Credits::ZERO,
        carried_pot: Credits::ZERO,
    };
    let (mut hand, seats, deck) = (Hand::try_new(setup).unwrap(), seats(), rules.variant().deck);
    loop {
        let mut choose = |n: u64| player.generator.random_range(0..n);
        let event = if let Some(outcome) = rules::play::random_outcome(&hand, &mut choose) {
            rules::resolve_chance(&hand, outcome).unwrap()
        } else {
            let Next::Decision(due) = rules::next(&hand) else { return };
            let legal = due.legal.iter().map(|legal| write_legal(legal, deck, &seats));
            let legal: Vec<LegalMove> = legal.chain([legal_leave()]).collect();
            let decision = player.choose(&legal);
            let cards = hand.cards_of(due.player);
            let read = MoveReader { deck, cards, seats: &seats }.read(&decision);
            let mv = read.unwrap_or_else(|bad| panic!("{bad}: {decision:?} of {legal:#?}"));
            rules::decide(&hand, due.player, mv, DecisionAuthor::Player)
                .unwrap_or_else(|refusal| panic!("{refusal}: {decision:?} of {legal:#?}"))
        };
        rules::evolve(&mut hand, &event);
    }
}

fn rule_set(variant: &str, fields: &[(&str, &str)]) -> RuleSet {
    let field =
        |(name, value): &(&str, &str)| ((*name).to_owned(), FieldValue::Text((*value).to_owned()));
    RuleSet::parse(variant, &fields.iter().map(field).collect::<Vec<_>>()).unwrap()
}

#[test]
fn whoever_knows_no_game_plays_them_all_without_a_refusal() {
    let others =
        [rule_set("kessel", &[("tokens", "chosen")]), rule_set("force", &[("alignment", "naboo")])];
    let all = rules::ALL.iter().map(|variant| RuleSet::defaults(variant)).chain(others);
    let mut kinds = std::collections::BTreeSet::new();
    for (seed, rules) in (1..).zip(all) {
        let generator = StdRng::seed_from_u64(seed);
        let mut player = Generic { generator, offered: BTreeMap::new() };
        let mut hands = 0;
        while hands < MIN_HANDS || !player.has_made_all() {
            play(&rules, &mut player);
            hands += 1;
            let missing = || player.offered.iter().filter(|(_, made)| !**made);
            assert!(
                hands < MAX_HANDS,
                "{}: never chosen: {:?}",
                rules.variant().id,
                missing().map(|(offer, _)| offer).collect::<Vec<_>>()
            );
        }
        kinds.extend(player.offered.into_keys().map(|(kind, _)| kind));
    }
    let every: Vec<i32> =
        rules::MoveKind::ALL.iter().map(|kind| wire::moves::number_of_kind(*kind)).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), every);
}
