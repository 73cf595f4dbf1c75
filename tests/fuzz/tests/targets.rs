//! The targets. Each looks at the inputs that are kept first, then at random ones for as long as it is
//! given: a second, or `BOLERO_RANDOM_TEST_TIME_MS`.

use sabacc_fuzz as fuzz;

/// Long enough for a hand to depend on it.
const LONGEST: usize = 1024;

#[test]
fn moves() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::moves);
}

#[test]
fn lines() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::lines);
}

#[test]
fn edits() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::edits);
}

#[test]
fn files() {
    bolero::check!().with_max_len(4 * LONGEST).for_each(fuzz::files);
}
