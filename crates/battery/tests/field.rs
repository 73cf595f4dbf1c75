//! Tests of the tests in the field: a fair room is hardly ever accused, however long it plays, and
//! each planted defect is found.

use battery::field::{ERROR, FieldTests, Finding, Look, Subject};
use fairness::{Operation, Outcome};

const GAME: [u8; 32] = [7; 32];

/// SplitMix64.
struct Words(u64);

impl Words {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % n
    }

    fn narrow(&mut self, n: u64) -> u8 {
        u8::try_from(self.below(n)).expect("cards and sides are few")
    }

    fn place(&mut self, n: usize) -> usize {
        usize::try_from(self.below(n as u64)).expect("it is below a usize")
    }
}

fn roll(words: &mut Words, sides: u8, shown: u64) -> (Operation, Outcome) {
    let rolled = vec![1 + words.narrow(shown), 1 + words.narrow(shown)];
    (Operation::Roll { sides: vec![sides; 2] }, Outcome::Rolled(rolled))
}

fn pulse(words: &mut Words, ppm: u32, real: u64) -> (Operation, Outcome) {
    (Operation::Pulse { ppm }, Outcome::Pulsed(words.below(1_000_000) < real))
}

fn pick(words: &mut Words, n: u32, real: u64) -> (Operation, Outcome) {
    let picked = u32::try_from(words.below(real)).expect("it is below n");
    (Operation::Pick { n }, Outcome::Picked(picked))
}

/// Draws two of six; `first` numbers of them at the first draw.
fn sample(words: &mut Words, first: usize) -> (Operation, Outcome) {
    let mut all: Vec<u32> = (0..6).collect();
    let one = all.remove(words.place(first));
    let other = all.remove(words.place(5));
    (Operation::Sample { n: 6, k: 2 }, Outcome::Sampled(vec![one, other]))
}

/// Shuffles a pile; `place` draws each place.
fn shuffle(
    words: &mut Words,
    pile: std::ops::Range<u8>,
    place: impl Fn(&mut Words, usize) -> usize,
) -> (Operation, Outcome) {
    let cards: Vec<u8> = pile.collect();
    let mut shuffled = cards.clone();
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, place(words, at));
    }
    (Operation::Shuffle { pile: 0, cards }, Outcome::Shuffled(shuffled))
}

fn fair_place(words: &mut Words, at: usize) -> usize {
    words.place(at + 1)
}

fn fair_hand(words: &mut Words) -> Vec<(Operation, Outcome)> {
    vec![
        shuffle(words, 0..76, fair_place),
        roll(words, 6, 6),
        pulse(words, 25_000, 25_000),
        pick(words, 4, 4),
        sample(words, 6),
    ]
}

/// Plays hands until something is found; none after `hands` of them.
fn play(
    hands: u64,
    mut hand: impl FnMut(u64, &mut Words) -> Vec<(Operation, Outcome)>,
) -> Option<(Finding, Look, u64)> {
    let (mut field, mut words) = (FieldTests::default(), Words(1));
    for number in 0..hands {
        for look in field.count(GAME, &hand(number, &mut words)) {
            assert!(look.findings.iter().all(|finding| finding.adjusted_p < look.level));
            if let Some(finding) = look.findings.first() {
                return Some((*finding, look.look, field.hands));
            }
        }
    }
    None
}

/// fairness/SPEC.md §13.3.
#[test]
fn a_fair_room_is_accused_of_nothing() {
    assert_eq!(play(40_000, |_, words| fair_hand(words)), None);
}

/// fairness/SPEC.md §13.3.
#[test]
fn looking_again_and_again_accuses_no_more_fair_rooms() {
    let (mut accused, mut looks) = (0, 0);
    for room in 0..500 {
        let (mut field, mut words) = (FieldTests::default(), Words(room << 32));
        for _ in 0..32_000 {
            looks += field.count(GAME, &[roll(&mut words, 6, 6)]).len();
        }
        accused += usize::from(!field.found.is_empty());
    }
    assert_eq!(looks, 500 * (6 + 3));
    // 5 are allowed on average.
    assert!(accused <= 12, "{accused} of 500 at {ERROR}");
}

/// Checks that a defect is found within so many hands, in its subject, by a look of this kind.
#[track_caller]
fn found(
    within: u64,
    subject: Subject,
    look: Look,
    hand: impl FnMut(u64, &mut Words) -> Vec<(Operation, Outcome)>,
) {
    let (finding, at, hands) = play(within, hand).expect("the defect is found");
    assert_eq!((finding.group.subject, at), (subject, look), "after {hands} hands");
}

/// fairness/SPEC.md §13.3.
#[test]
fn planted_defects_are_found() {
    let deck = Subject::Deck { first: 0, count: 76 };
    let remainder = |words: &mut Words, at: usize| words.place(256) % (at + 1);
    found(4_000, deck, Look::All, |_, words| vec![shuffle(words, 0..76, remainder)]);
    let below = |words: &mut Words, at: usize| words.place(at);
    found(4_000, deck, Look::All, |_, words| vec![shuffle(words, 0..76, below)]);
    let half = Subject::Deck { first: 22, count: 22 };
    found(1_000, half, Look::All, |_, words| vec![shuffle(words, 22..44, below)]);
    let repeated = shuffle(&mut Words(9), 0..76, fair_place);
    let used_again = |number: u64, words: &mut Words| match number % 10 {
        0 => vec![repeated.clone()],
        _ => vec![shuffle(words, 0..76, fair_place)],
    };
    found(4_000, deck, Look::All, used_again);
    let die = Subject::Die { sides: 12 };
    found(1_000, die, Look::All, |_, words| vec![roll(words, 12, 11)]);
    let rate = Subject::Pulse { ppm: 25_000 };
    found(64_000, rate, Look::All, |_, words| vec![pulse(words, 25_000, 30_000)]);
    found(1_000, Subject::Pick { n: 4 }, Look::All, |_, words| vec![pick(words, 4, 3)]);
    let drawn = Subject::Sample { n: 6, k: 2 };
    found(1_000, drawn, Look::All, |_, words| vec![sample(words, 5)]);
}

/// Of 70,000 hands the last 10,000 are bad: the newest show it before all do.
///
/// fairness/SPEC.md §13.3.
#[test]
fn a_fault_that_comes_late_is_found_among_the_newest_hands() {
    let late = |number: u64, words: &mut Words| {
        let real = if number < 60_000 { 25_000 } else { 33_000 };
        vec![pulse(words, 25_000, real)]
    };
    found(70_000, Subject::Pulse { ppm: 25_000 }, Look::Newest, late);
}

#[test]
fn a_finding_is_found_once_and_for_its_game_too() {
    let (mut field, mut words) = (FieldTests::default(), Words(1));
    let mut findings = Vec::new();
    for number in 0_u64..20_000 {
        let game = if number % 2 == 0 { [1; 32] } else { [2; 32] };
        let shown = if number % 2 == 0 { 5 } else { 6 };
        let looks = field.count(game, &[roll(&mut words, 6, shown)]);
        findings.extend(looks.into_iter().flat_map(|look| look.findings));
    }
    let mut games: Vec<_> = findings.iter().map(|finding| finding.group.game).collect();
    games.sort_unstable();
    assert_eq!(games, [None, Some([1; 32])]);
}

/// Games that somebody makes up do not fill the memory.
#[test]
fn the_number_of_cells_is_bounded() {
    let (mut field, mut words) = (FieldTests::default(), Words(1));
    for number in 0_u32..200 {
        let mut game = [0; 32];
        game[..4].copy_from_slice(&number.to_be_bytes());
        field.count(game, &[shuffle(&mut words, 0..76, fair_place), roll(&mut words, 6, 6)]);
    }
    let cells: usize = field.all.values().map(|counts| counts.cells.len()).sum();
    assert!(cells <= battery::field::MAX_CELLS);
    let of_all = field.all.iter().filter(|(group, _)| group.game.is_none());
    assert_eq!(of_all.map(|(_, counts)| counts.trials).collect::<Vec<_>>(), [200, 400]);
}
