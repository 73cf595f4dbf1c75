//! Reading lines: valid lines, and texts that are none.

use rules::notation::{self, NotationError};
use rules::{DecisionAuthor, Event, Move};

use crate::scene::{Scene, played};

const DEAL: &str = "d deal p1 S10 F10; d deal p2 S9 C10;";

/// Checks that this line, read where p1 is to bet, is refused for this reason.
fn refused(line: &str, reason: &str) {
    let error = read(line).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains(reason), "{line}: {error}");
}

fn read(line: &str) -> Result<Event, NotationError> {
    let scene = Scene::new("dice", "shift=none", &[100, 100]);
    let (hand, refused) = played(scene.start().unwrap(), &format!("{DEAL} p1 p2 stand"));
    assert_eq!(refused, None);
    notation::read(&hand, line)
}

/// history/SPEC.md §4.1.
#[test]
fn lines_are_strict() {
    refused("", "single spaces");
    refused("p1  check", "single spaces");
    refused(" p1 check", "single spaces");
    refused("p1 check ", "single spaces");
    refused("p1", "no player does ``");
    refused("p1 dance", "no player does `dance`");
    refused("p1 CHECK", "no player does `CHECK`");
    refused("p9 check", "neither `d` nor a player");
    refused("x check", "neither `d` nor a player");
    refused("p1 check 5", "`check` takes nothing");
    refused("p1 bet", "`bet` takes one amount");
    refused("p1 bet 5 5", "`bet` takes one amount");
    for number in ["05", "+5", "-5", "5.0", "five", "9007199254740992"] {
        refused(&format!("p1 bet {number}"), "without leading zeros");
    }
    refused("p1 trade ??", "hides something");
    refused("p1 trade S99", "no card `S99`");
    refused("d deal p1 S1", "a player's decision is due (p1)");
}

/// history/SPEC.md §4.4.
#[test]
fn comments_are_not_part_of_a_line() {
    let check = |by| Event::Decided {
        player: rules::Player::parse("p1").unwrap(),
        mv: Move::Check,
        author: by,
    };
    assert_eq!(read("p1 check"), Ok(check(DecisionAuthor::Player)));
    assert_eq!(read("p1 check # thinks long"), Ok(check(DecisionAuthor::Player)));
    assert_eq!(read("p1 check # clock"), Ok(check(DecisionAuthor::Clock)));
    assert_eq!(read("p1 check #clock"), Ok(check(DecisionAuthor::Clock)));
}
