//! In every game an expert wins from a regular, and a regular from a beginner.
//!
//! One of each sits at a table. Each deal is played six times, once for every order of the seats, so
//! nobody profits from the cards or from a place. A deal's result is the difference of two players'
//! gains, summed over the six. Chance follows from fixed seeds, so a run is the same each time.
//!
//! Bound: the mean difference is more than [`MIN_SIGMAS`] standard errors above zero. If two skills
//! were equal, a fresh choice of seeds would pass that in fewer than one of 700 cases. A game where
//! luck is large beside play, as with the Sabacc Pot of `swg`, needs more deals for it.

use bots::Skill;

use crate::table::{PlayerState, play};

/// Least mean difference, in standard errors.
const MIN_SIGMAS: f64 = 3.0;

/// Orders in which beginner, regular and expert sit.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Gains of each skill in one deal, summed over all orders.
fn gains(variant: &'static rules::Variant, deal: u64) -> [i64; 3] {
    let mut gains = [0; 3];
    for order in ORDERS {
        let seat = |skill: usize| PlayerState::of(Skill::ALL[skill].strategy(deal));
        let mut places = order.map(seat);
        for (skill, gain) in order.into_iter().zip(play(variant, deal, &mut places)) {
            gains[skill] += gain;
        }
    }
    gains
}

/// Mean of the differences in its standard errors.
fn sigmas(differences: &[i64]) -> f64 {
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<i64>() as f64 / count;
    let squares = differences.iter().map(|one| (*one as f64 - mean).powi(2)).sum::<f64>();
    mean / (squares / (count - 1.0) / count).sqrt()
}

/// Checks the order of the skills over this number of deals.
fn check(game: &str, deals: u64) {
    let variant = rules::variant(game).unwrap();
    let results: Vec<[i64; 3]> = (1..=deals).map(|deal| gains(variant, deal)).collect();
    for (weak, strong) in [(0, 1), (1, 2)] {
        let differences: Vec<i64> = results.iter().map(|of| of[strong] - of[weak]).collect();
        let sigmas = sigmas(&differences);
        let [weak, strong] = [weak, strong].map(|at: usize| Skill::ALL[at].name());
        assert!(sigmas > MIN_SIGMAS, "{game}: {strong} over {weak}: {sigmas:.1} standard errors");
    }
}

#[test]
fn coruscant() {
    check("coruscant", 60);
}

#[test]
fn dice() {
    check("dice", 40);
}

#[test]
fn electronic() {
    check("electronic", 80);
}

#[test]
fn eleven() {
    check("eleven", 30);
}

#[test]
fn force() {
    check("force", 100);
}

#[test]
fn kessel() {
    check("kessel", 120);
}

#[test]
fn spike() {
    check("spike", 60);
}

#[test]
fn swg() {
    check("swg", 640);
}
