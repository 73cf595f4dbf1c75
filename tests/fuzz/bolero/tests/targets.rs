//! The fuzz targets. Each runs on the stored inputs first, then on random ones for a second, or for
//! `BOLERO_RANDOM_TEST_TIME_MS`.

/// Longest input; long enough that a hand depends on it.
const LONGEST: usize = 1024;

#[test]
fn moves() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::moves(bytes));
}

#[test]
fn lines() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::lines(bytes));
}

#[test]
fn edits() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::edits(bytes));
}

#[test]
fn files() {
    bolero::check!().with_max_len(4 * LONGEST).for_each(|bytes| _ = fuzz::files(bytes));
}

#[test]
fn bundles() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::bundles(bytes));
}

#[test]
fn checkpoints() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::checkpoints(bytes));
}

#[test]
fn keys() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::keys(bytes));
}

#[test]
fn tiles() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::tiles(bytes));
}

#[test]
fn evidence() {
    bolero::check!().with_max_len(LONGEST).for_each(|bytes| _ = fuzz::evidence(bytes));
}
