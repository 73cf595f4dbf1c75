//! Tests of the outcomes of a room in play, again and again while it plays.
//!
//! Every finished hand adds to the counts of its operations: positions × cards of each pile as it is
//! first shuffled, sides of each die, pulses, picks and samples, each over all hands and for each
//! game (a rule set) of its own.
//!
//! Looking often enough finds something in any dealer. So the looks are at fixed numbers of hands, and
//! the probability [`ERROR`] that a fair dealer is ever accused is spent over them, in the manner of
//! Lan and DeMets (Discrete sequential boundaries for clinical trials, Biometrika 70, 1983), with
//! nothing assumed about how looks depend on each other:
//!
//! - at all hands whenever their number has doubled, from [`FIRST_LOOK`] on: look k may spend 2^-k of
//!   one half;
//! - at the newest [`NEWEST`] hands, each once, so that a fault that comes late is not drowned in what
//!   was before: look j may spend 1 / (j (j + 1)) of the other half.
//!
//! The parts sum to the whole. Within a look Holm's rule holds over all tests that can be made. What
//! was found once is not found again.
//!
//! Specification: fairness/SPEC.md §13.3.

use std::collections::{BTreeMap, BTreeSet};

use fairness::{Operation, Outcome};

use crate::holm;
use crate::laws::{Law, Measure, members, orders, pulses, uniform};

/// Probability that a fair dealer is ever accused, over all looks and tests.
pub const ERROR: f64 = 0.01;
/// Number of hands at the first look at all hands.
pub const FIRST_LOOK: u64 = 1000;
/// Number of hands of a look at the newest ones.
pub const NEWEST: u64 = 10_000;
/// Largest number of cells in memory. Games whose counts would be more are counted among all only.
pub const MAX_CELLS: usize = 100_000;
/// Largest number of cells of a pick, and of a sample that is tested.
const MAX_NUMBERS: u32 = 64;
/// Least expected count of each cell: more than the battery's, since a field's level is far smaller
/// and the tails of a law are its limit's later than its middle.
const MIN_EXPECTED: u64 = 20;

/// Operations whose outcomes have one law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// First shuffle of the cards `first` to `first + count - 1`.
    Deck {
        first: u8,
        count: u8,
    },
    /// One die.
    Die {
        sides: u8,
    },
    Pulse {
        ppm: u32,
    },
    Pick {
        n: u32,
    },
    Sample {
        n: u32,
        k: u32,
    },
}

/// Outcomes that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// Hash of the rule set; none for hands of all rule sets.
    pub game: Option<[u8; 32]>,
    pub subject: Subject,
}

/// Counts of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    pub trials: u64,
    /// A deck's by position and then by card; a pulse's by no and yes.
    pub cells: Vec<u64>,
}

/// Counts of all groups.
pub type Groups = BTreeMap<Group, Counts>;

/// Which hands a look is taken at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    All,
    Newest,
}

/// Outcomes that are not what a fair dealer's would be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    pub group: Group,
    pub trials: u64,
    pub measure: Measure,
    /// The p-value, corrected for all tests of the look.
    pub adjusted_p: f64,
}

/// Result of one look.
#[derive(Debug, Clone, PartialEq)]
pub struct LookResult {
    pub look: Look,
    /// Counts from 1.
    pub number: u64,
    /// Part of [`ERROR`] that it may spend.
    pub level: f64,
    /// Number of tests that could be made.
    pub tests: usize,
    /// Findings that are new with this look.
    pub findings: Vec<Finding>,
}

/// Counts of a room's finished hands, and the looks that were taken at them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FieldTests {
    pub hands: u64,
    pub looks_at_all: u64,
    pub looks_at_newest: u64,
    pub all: Groups,
    pub newest: Groups,
    pub found: BTreeSet<Group>,
}

impl FieldTests {
    /// Counts a finished hand with its operations. Returns the looks that are due with it.
    pub fn count(&mut self, game: [u8; 32], hand: &[(Operation, Outcome)]) -> Vec<LookResult> {
        self.hands += 1;
        for (operation, outcome) in hand {
            count(&mut self.all, game, operation, outcome);
            count(&mut self.newest, game, operation, outcome);
        }
        let mut looks = Vec::new();
        if self.hands == FIRST_LOOK << self.looks_at_all.min(53) {
            self.looks_at_all += 1;
            looks.push(self.look(Look::All, self.looks_at_all));
        }
        if self.hands.is_multiple_of(NEWEST) {
            self.looks_at_newest += 1;
            looks.push(self.look(Look::Newest, self.looks_at_newest));
            self.newest.clear();
        }
        looks
    }

    fn look(&mut self, look: Look, number: u64) -> LookResult {
        let (groups, level) = match look {
            Look::All => (&self.all, ERROR / 2.0 * (-(number as f64)).exp2()),
            Look::Newest => {
                let number = number as f64;
                (&self.newest, ERROR / 2.0 / (number * (number + 1.0)))
            }
        };
        let mut tested = test(groups);
        let p_values = tested.iter_mut().map(|it| (it.measure.p_value, &mut it.adjusted_p));
        holm(p_values.collect());
        let tests = tested.len();
        tested.retain(|it| it.adjusted_p < level && !self.found.contains(&it.group));
        self.found.extend(tested.iter().map(|it| it.group));
        LookResult { look, number, level, tests, findings: tested }
    }
}

/// Every test that can be made, uncorrected.
fn test(groups: &Groups) -> Vec<Finding> {
    let measured = groups.iter().filter_map(|(group, Counts { trials, cells })| {
        let measure = measure(group.subject, *trials, cells)?;
        Some(Finding { group: *group, trials: *trials, measure, adjusted_p: 1.0 })
    });
    measured.collect()
}

fn measure(subject: Subject, trials: u64, cells: &[u64]) -> Option<Measure> {
    let enough = |cells: usize| trials >= MIN_EXPECTED * cells as u64;
    match subject {
        Subject::Deck { first: _, count } if enough(count.into()) => {
            orders(cells, usize::from(count), trials)
        }
        Subject::Die { .. } | Subject::Pick { .. } if enough(cells.len()) => uniform(cells),
        Subject::Sample { n: _, k } if enough(cells.len()) => members(cells, trials, k),
        Subject::Pulse { ppm } => pulses([cells[0], cells[1]], ppm),
        Subject::Deck { .. }
        | Subject::Die { .. }
        | Subject::Pick { .. }
        | Subject::Sample { .. } => None,
    }
}

/// Counts one operation, over all hands and for its game.
fn count(groups: &mut Groups, game: [u8; 32], operation: &Operation, outcome: &Outcome) {
    match (operation, outcome) {
        (Operation::Shuffle { pile: _, cards }, Outcome::Shuffled(shuffled)) => {
            if let Some((first, count)) = fresh(cards) {
                let n = usize::from(count);
                let subject = Subject::Deck { first, count };
                let cell = |at: usize, card: u8| at * n + usize::from(card - first);
                let seen: Vec<usize> =
                    shuffled.iter().enumerate().map(|(at, card)| cell(at, *card)).collect();
                add(groups, game, subject, n * n, &seen);
            }
        }
        (Operation::Roll { sides }, Outcome::Rolled(rolled)) => {
            for (sides, side) in sides.iter().zip(rolled) {
                let (cells, cell) = (usize::from(*sides), usize::from(*side - 1));
                add(groups, game, Subject::Die { sides: *sides }, cells, &[cell]);
            }
        }
        (Operation::Pulse { ppm }, Outcome::Pulsed(yes)) => {
            let subject = Subject::Pulse { ppm: *ppm };
            add(groups, game, subject, 2, &[usize::from(*yes)]);
        }
        (Operation::Pick { n }, Outcome::Picked(number)) => {
            if let Some((cells, cell)) = part(*n, *number) {
                add(groups, game, Subject::Pick { n: *n }, cells, &[cell]);
            }
        }
        (Operation::Sample { n: n @ 2..=MAX_NUMBERS, k }, Outcome::Sampled(numbers)) => {
            let subject = Subject::Sample { n: *n, k: *k };
            let seen: Vec<usize> = numbers.iter().map(|number| to_usize(*number)).collect();
            add(groups, game, subject, to_usize(*n), &seen);
        }
        // A sample of too many numbers to be counted one by one.
        (Operation::Sample { .. }, Outcome::Sampled(_)) => {}
        (
            Operation::Shuffle { .. }
            | Operation::Roll { .. }
            | Operation::Pulse { .. }
            | Operation::Pick { .. }
            | Operation::Sample { .. },
            _,
        ) => unreachable!("an operation has an outcome of its kind"),
    }
}

/// The first card and the number of cards, if these are a pile that was never shuffled.
fn fresh(cards: &[u8]) -> Option<(u8, u8)> {
    let (first, count) = (*cards.first()?, u8::try_from(cards.len()).ok()?);
    let in_order = (first..=u8::MAX).zip(cards).all(|(wanted, card)| wanted == *card);
    (in_order && count > 1).then_some((first, count))
}

/// Number of equal parts of a pick's range, and the part of `number`. None for a range that has no
/// equal parts, or one number only.
fn part(n: u32, number: u32) -> Option<(usize, usize)> {
    let parts = if n <= MAX_NUMBERS {
        n
    } else {
        (2..=MAX_NUMBERS).rev().find(|it| n.is_multiple_of(*it))?
    };
    (parts > 1).then(|| (to_usize(parts), to_usize(number / (n / parts))))
}

fn add(groups: &mut Groups, game: [u8; 32], subject: Subject, cells: usize, seen: &[usize]) {
    for game in [None, Some(game)] {
        let group = Group { game, subject };
        if !groups.contains_key(&group) {
            let used: usize = groups.values().map(|counts| counts.cells.len()).sum();
            if used + cells > MAX_CELLS {
                continue;
            }
            groups.insert(group, Counts { trials: 0, cells: vec![0; cells] });
        }
        let counts = groups.get_mut(&group).expect("it was just put there");
        counts.trials += 1;
        seen.iter().for_each(|cell| counts.cells[*cell] += 1);
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).expect("machines of 32 bits and more")
}

/// Degrees of freedom of a chi-squared law; 0 of another.
#[must_use]
pub fn degrees(law: Law) -> u32 {
    match law {
        Law::ChiSquared { degrees } => degrees,
        Law::Normal | Law::Poisson { .. } => 0,
    }
}
