//! Scenes: hands written as history lines, and their state or settlement after them.

use primitives::{Credits, SeatNo};
use rules::{
    DecisionAuthor, Event, FieldValue, Hand, Legal, Next, RuleSet, Setup, SetupError, decide,
    evolve, next, notation, play,
};

/// Start of a scene.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) variant: &'static str,
    /// `name=value`, separated by commas; items of a list by `+`.
    pub(crate) fields: &'static str,
    pub(crate) stacks: Vec<u64>,
    pub(crate) sabacc: u64,
    pub(crate) carried: u64,
}

impl Scene {
    pub(crate) fn new(variant: &'static str, fields: &'static str, stacks: &[u64]) -> Scene {
        Scene { variant, fields, stacks: stacks.to_vec(), sabacc: 0, carried: 0 }
    }

    pub(crate) fn sabacc(self, sabacc: u64) -> Scene {
        Scene { sabacc, ..self }
    }

    pub(crate) fn carried(self, carried: u64) -> Scene {
        Scene { carried, ..self }
    }

    pub(crate) fn rules(&self) -> RuleSet {
        let fields: Vec<(String, FieldValue)> = self
            .fields
            .split(',')
            .filter(|field| !field.is_empty())
            .map(|field| {
                let (name, value) = field.split_once('=').expect("name=value");
                (name.to_owned(), value_of(name, value))
            })
            .collect();
        RuleSet::parse(self.variant, &fields).unwrap()
    }

    pub(crate) fn setup(&self) -> Setup {
        let seats = 1..=u8::try_from(self.stacks.len()).unwrap();
        Setup {
            rules: self.rules(),
            seats: seats.map(|seat| SeatNo::try_new(seat).unwrap()).collect(),
            stacks: self.stacks.iter().map(|&stack| Credits::try_new(stack).unwrap()).collect(),
            sabacc_pot: Credits::try_new(self.sabacc).unwrap(),
            carried_pot: Credits::try_new(self.carried).unwrap(),
        }
    }

    pub(crate) fn start(&self) -> Result<Hand, SetupError> {
        Hand::try_new(self.setup())
    }
}

fn value_of(name: &str, value: &str) -> FieldValue {
    match value {
        "true" => FieldValue::Flag(true),
        "false" => FieldValue::Flag(false),
        _ if name == "assigned_tokens" => {
            FieldValue::List(value.split('+').map(str::to_owned).collect())
        }
        _ => match value.parse() {
            Ok(number) => FieldValue::Number(number),
            Err(_) => FieldValue::Text(value.to_owned()),
        },
    }
}

/// Plays lines, separated by line ends or semicolons. `p1 p3 stand` is a line for each player.
/// Returns the hand and, if a line was refused, that line with the reason.
pub(crate) fn played(mut hand: Hand, lines: &str) -> (Hand, Option<String>) {
    for line in lines.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty()) {
        for line in spread(line) {
            play::apply_due_shuffles(&mut hand);
            match notation::read(&hand, &line) {
                Ok(event) => evolve(&mut hand, &event),
                Err(error) => return (hand, Some(format!("{line}: {error}"))),
            }
        }
    }
    play::apply_due_shuffles(&mut hand);
    (hand, None)
}

fn spread(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let is_player = |word: &&&str| rules::Player::parse(word).is_some();
    let actors: Vec<&str> = words.iter().take_while(is_player).copied().collect();
    if actors.len() < 2 {
        return vec![line.to_owned()];
    }
    let rest = words[actors.len()..].join(" ");
    actors.iter().map(|actor| format!("{actor} {rest}")).collect()
}

/// The state or the end of a hand, in words.
pub(crate) fn report(hand: &Hand) -> String {
    let deck = hand.rules().variant().deck;
    match next(hand) {
        Next::Chance(due) => {
            let due: Vec<String> = due.iter().map(|chance| chance.line_prefix(deck)).collect();
            format!("d: {}", due.join(", "))
        }
        Next::Decision(decision) => {
            let legal: Vec<String> = decision.legal.iter().map(|legal| legal.text(deck)).collect();
            format!("{}: {}", decision.player, legal.join(", "))
        }
        Next::Done(end) => {
            let lines: Vec<String> = end.lines.iter().map(ToString::to_string).collect();
            let stacks: Vec<String> =
                end.finishing_stacks.iter().map(ToString::to_string).collect();
            let mut report = lines;
            report.push(format!("stacks {}", stacks.join(" ")));
            if !end.finishing_sabacc_pot.is_zero() {
                report.push(format!("sabacc {}", end.finishing_sabacc_pot));
            }
            if !end.finishing_carried_pot.is_zero() {
                report.push(format!("carried {}", end.finishing_carried_pot));
            }
            report.join("; ")
        }
    }
}

/// Plays the lines of a scene. Checks that then this is due or settled, or that the last line is
/// refused with a reason that contains this.
pub(crate) fn check(given: &Scene, when: &str, then: &str) -> Hand {
    let total = given.setup().stacks.iter().map(|stack| stack.get()).sum::<u64>();
    let (hand, refused) = played(given.start().unwrap(), when);
    match (refused, then.strip_prefix("refused: ")) {
        (Some(why), Some(then)) => assert!(why.contains(then), "{why}"),
        (Some(why), None) => panic!("refused: {why}"),
        (None, _) => assert_eq!(report(&hand), then, "after {when}"),
    }
    assert_eq!(hand.total().get(), total + given.sabacc + given.carried, "credits are conserved");
    hand
}

/// The ranks of all hands of a hand that is over.
pub(crate) fn ranks(hand: &Hand) -> String {
    let end = hand.settlement().expect("the hand is over");
    let rank = |rank: &Option<rules::Rank>| rank.map_or("-".to_owned(), |rank| rank.to_string());
    end.hands.iter().map(|hand| rank(&hand.rank)).collect::<Vec<_>>().join(", ")
}

/// Plays the first legal move with this verb.
pub(crate) fn take(hand: &mut Hand, verb: &str) {
    let Next::Decision(decision) = next(hand) else { panic!("a decision is due") };
    let legal = decision.legal.iter().find(|legal| legal.verb() == verb).expect("legal");
    let mv = Legal::random_move(legal, &mut |_| 0);
    let event: Event = decide(hand, decision.player, mv, DecisionAuthor::Player).unwrap();
    evolve(hand, &event);
}

/// Applies the lowest possible outcome: the lowest cards, ones on the dice.
pub(crate) fn chance_comes(hand: &mut Hand) {
    let outcome = play::random_outcome(hand, &mut |_| 0).expect("chance is due");
    let event = rules::resolve_chance(hand, outcome).unwrap();
    evolve(hand, &event);
}
