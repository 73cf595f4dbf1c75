//! Replays a file and prints a line of JSON for each hand, for timing or profiling without the
//! program.
//!
//! ```sh
//! sabacc hand simulate --variant dice --players 4 --hands 10000 --seed 1 > hands.shh
//! time cargo run --release -p history --example replay_file hands.shh > /dev/null
//! ```

use std::io::Write as _;

type Failure = Box<dyn std::error::Error>;

#[expect(clippy::disallowed_methods, reason = "an example has arguments")]
fn main() -> Result<(), Failure> {
    let file = std::env::args().nth(1).ok_or("the name of a file")?;
    let mut text = String::new();
    for hand in history::read(&std::fs::read(file)?)? {
        text.push_str(&history::report(&history::replay(&hand?)?).to_json());
        text.push('\n');
    }
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
