//! The fuzz targets. Each runs on the stored inputs first, then on random ones for a second, or for
//! `BOLERO_RANDOM_TEST_TIME_MS`.

use sabacc_fuzz as fuzz;

/// Longest input; long enough that a hand depends on it.
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

#[test]
fn bundles() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::bundles);
}

#[test]
fn checkpoints() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::checkpoints);
}

#[test]
fn keys() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::keys);
}

#[test]
fn tiles() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::tiles);
}

#[test]
fn evidence() {
    bolero::check!().with_max_len(LONGEST).for_each(fuzz::evidence);
}
