//! Speed of playing, replaying and ranking hands: `cargo bench -p rules`.
//!
//! Each number is for one core. The peer ranks poker hands, in the same run, so that a ratio means
//! the same on any machine.

use std::fmt;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use primitives::{Credits, SeatNo};
use rules::{
    ALL, Cards, Evaluator, Event, GameState, Hand, RuleSet, Setup, Variant, Viewer, evolve,
    history_line, notation, play,
};

fn main() {
    divan::main();
}

/// A game with a number of players.
#[derive(Clone, Copy)]
struct Table {
    variant: &'static Variant,
    players: u8,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.variant.id, self.players)
    }
}

fn tables() -> Vec<Table> {
    let of = |variant: &&'static Variant| [2, 4].map(|players| Table { variant, players });
    ALL.iter().flat_map(of).collect()
}

/// Random choices that cost almost nothing: scaled instead of divided.
fn chooser(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u64::try_from((u128::from(word ^ (word >> 31)) * u128::from(below)) >> 64).unwrap_or(0)
    }
}

impl Table {
    fn setup(self) -> Setup {
        let rules = RuleSet::defaults(self.variant);
        let stack = rules.min_stack(Credits::ZERO).times(100).expect("antes are small");
        Setup {
            rules,
            seats: (1..=self.players).filter_map(|seat| SeatNo::try_new(seat).ok()).collect(),
            stacks: vec![stack; usize::from(self.players)],
            sabacc_pot: Credits::ZERO,
            carried_pot: Credits::ZERO,
        }
    }

    fn start(self) -> Hand {
        Hand::try_new(self.setup()).expect("the stacks cover the antes")
    }

    /// Random hands: their events, and their lines.
    fn recorded(self, hands: usize) -> Vec<(Vec<Event>, Vec<String>)> {
        let mut choose = chooser(7);
        let mut recorded = Vec::with_capacity(hands);
        for _ in 0..hands {
            let (mut events, mut lines) = (Vec::new(), Vec::new());
            play::to_the_end(&mut self.start(), &mut choose, &mut |hand, event| {
                events.push(event.clone());
                lines.push(history_line(hand, event));
            })
            .expect("random moves are legal");
            lines.retain(|line| !line.is_empty());
            recorded.push((events, lines));
        }
        recorded
    }
}

/// Number of hands in one sample. Hands differ in length, so a sample has enough of them that a
/// median is a mean.
const BATCH: usize = 64;

/// Plays whole hands by random legal moves, antes to settlement.
#[divan::bench(args = tables())]
fn play_random_hands(bencher: Bencher<'_, '_>, table: &Table) {
    let (setup, mut choose) = (table.setup(), chooser(1));
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            let mut hand = Hand::try_new(&setup).expect("the stacks cover the antes");
            play::to_the_end(&mut hand, &mut choose, &mut |_, _| {})
                .expect("random moves are legal");
            black_box(hand.settlement());
        }
    });
}

/// Replays whole hands from their recorded events.
#[divan::bench(args = tables())]
fn replay_events(bencher: Bencher<'_, '_>, table: &Table) {
    let (setup, recorded) = (table.setup(), table.recorded(256));
    let mut hands = recorded.iter().cycle();
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for (events, _) in hands.by_ref().take(BATCH) {
            let mut hand = Hand::try_new(&setup).expect("the stacks cover the antes");
            events.iter().for_each(|event| evolve(&mut hand, event));
            black_box(hand.settlement());
        }
    });
}

/// Replays whole hands from the lines of a hand history, each of them checked.
#[divan::bench(args = tables())]
fn replay_lines(bencher: Bencher<'_, '_>, table: &Table) {
    let (setup, recorded) = (table.setup(), table.recorded(256));
    let mut hands = recorded.iter().cycle();
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for (_, lines) in hands.by_ref().take(BATCH) {
            let mut hand = Hand::try_new(&setup).expect("the stacks cover the antes");
            for line in lines {
                play::apply_due_shuffles(&mut hand);
                let event = notation::read(&hand, line).expect("the line was written by a hand");
                evolve(&mut hand, &event);
            }
            black_box(hand.settlement());
        }
    });
}

/// Number of showdowns prepared beforehand, so that only the ranking is measured.
const SHOWDOWNS: usize = 512;
const HANDS: usize = 8;

#[derive(Clone, Copy)]
struct Game(&'static Variant);

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

fn games() -> Vec<Game> {
    ALL.iter().map(|variant| Game(variant)).collect()
}

/// Hands as they come to a reveal: three cards, in Kessel one of each family.
fn showdown(variant: &Variant, choose: &mut dyn FnMut(u64) -> u64) -> Vec<Cards> {
    let mut piles: Vec<Vec<_>> = variant.piles.iter().map(|pile| pile.cards().collect()).collect();
    let size = if piles.len() == 1 { 3 } else { 1 };
    let mut deal = || {
        let mut cards = Cards::new();
        for pile in &mut piles {
            for _ in 0..size {
                let left = u64::try_from(pile.len()).unwrap_or(0);
                cards.push(pile.swap_remove(usize::try_from(choose(left)).unwrap_or(0)));
            }
        }
        cards
    };
    (0..HANDS).map(|_| deal()).collect()
}

/// Evaluator as it is at the end of a random hand. In Kessel every Impostor counts, so that no hand
/// is left out.
fn scale(variant: &'static Variant, choose: &mut dyn FnMut(u64) -> u64) -> Evaluator {
    let mut hand = Table { variant, players: 2 }.start();
    play::to_the_end(&mut hand, choose, &mut |_, _| {}).expect("random moves are legal");
    let mut state = rules::game_state(&hand, Viewer::Public);
    if let GameState::Kessel(kessel) = &mut state {
        kessel.fix_tokens.major_fraud = true;
    }
    Evaluator::for_state(&RuleSet::defaults(variant), &state).expect("the hand is over")
}

/// Finds the best of eight hands.
#[divan::bench(args = games())]
fn rank_eight_hands(bencher: Bencher<'_, '_>, game: &Game) {
    let mut choose = chooser(3);
    let scale = scale(game.0, &mut choose);
    let showdowns: Vec<_> = (0..SHOWDOWNS).map(|_| showdown(game.0, &mut choose)).collect();
    let mut showdowns = showdowns.iter().cycle();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        let hands = showdowns.next()?;
        hands.iter().map(|hand| scale.strength(black_box(hand))).max()
    });
}

/// Finds the best of eight poker hands of seven cards, with the peer.
#[divan::bench]
fn rank_eight_poker_hands(bencher: Bencher<'_, '_>) {
    use aya_poker::base::{CARDS, Hand as PokerHand};
    let mut choose = chooser(3);
    let mut deal = || -> Vec<PokerHand> {
        let mut pack: Vec<_> = CARDS.to_vec();
        let mut next = || {
            let left = u64::try_from(pack.len()).unwrap_or(0);
            pack.swap_remove(usize::try_from(choose(left)).unwrap_or(0))
        };
        let board: Vec<_> = (0..5).map(|_| next()).collect();
        let mut hand = || board.iter().copied().chain([next(), next()]).collect::<Vec<_>>();
        (0..HANDS).map(|_| hand().iter().collect()).collect()
    };
    let showdowns: Vec<_> = (0..SHOWDOWNS).map(|_| deal()).collect();
    let mut showdowns = showdowns.iter().cycle();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        let hands = showdowns.next()?;
        hands.iter().map(|hand| aya_poker::poker_rank(black_box(hand))).max()
    });
}
