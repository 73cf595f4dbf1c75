//! Tests of the public interface of histories.

#[cfg(test)]
mod forms;
#[cfg(test)]
mod mutants;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod replaying;
#[cfg(test)]
mod simulated;

use history::{FormatError, HandHistory};

/// The one hand of a file, which must be readable and have valid numbers.
fn only(text: &str) -> HandHistory {
    let mut hands =
        history::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(hands.len(), 1, "{text}");
    hands.remove(0).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The error of a file that is no history; its message must be one line.
fn not_shh(text: impl AsRef<[u8]>) -> FormatError {
    let text = text.as_ref();
    let error = history::read(text).expect_err(&String::from_utf8_lossy(text));
    assert!(!error.to_string().contains('\n'), "{error}");
    error
}

/// The number of the wrong action and the reason, which must be one line.
fn broken(text: &str) -> (usize, String) {
    let hand = history::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let first = hand.into_iter().map(|hand| hand.and_then(|hand| history::replay(&hand)));
    let broken = first.filter_map(Result::err).next().unwrap_or_else(|| panic!("fine:\n{text}"));
    assert!(!broken.why.contains('\n'), "{}", broken.why);
    (broken.action, broken.why)
}

/// A whole hand of two players that lasts one cycle.
const HAND: &str = r#"shh = 1
variant = "dice"
ruleset = { max_rounds = 1 }
seats = [1, 2]
players = ["lando", "han"]
starting_stacks = [100, 100]
sabacc_pot = 40
actions = [
  "d deal p1 S10 T9",
  "d deal p2 C12 F5",
  "p1 stand", "d roll 1 2",
  "p2 trade F5", "d deal p2 F6", "d roll 3 1",
  "p1 bet 10", "p2 match", "d roll 3 4",
]
settlement = ["p1 wins main 30"]
finishing_stacks = [110, 80]
finishing_sabacc_pot = 50
"#;

/// [`HAND`] with one change, which must change something.
fn with(from: &str, to: &str) -> String {
    let changed = HAND.replacen(from, to, 1);
    assert_ne!(changed, HAND, "there is no `{from}`");
    changed
}
