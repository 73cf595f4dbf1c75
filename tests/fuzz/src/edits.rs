//! Bytes as files: arbitrary ones, or changed hand histories.

use history::{HandHistory, read, replay, report, simulate::Plan, write};
use rules::ALL;

use crate::bytes::Bytes;
use crate::mutate::{Pieces, mutate};

const PIECES: Pieces = &[
    "",
    "\n",
    " ",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    "#",
    "??",
    "p1",
    "p9",
    "d",
    "0",
    "-1",
    "1.5",
    "9007199254740992",
    "99999999999999999999",
    "true",
    "shh = 1\n",
    "[[hand]]\n",
    "_note = 1\n",
    "variant = \"kessel\"\n",
    "seats = []\n",
    "actions = []\n",
    "settlement = []\n",
    "\u{0}",
    "é",
    "\\u0000",
    "'''",
    "\"\"\"",
    "1979-05-27",
    "inf",
    "fold",
    "leave",
    "deal p1",
    "S15",
    "StarA",
];

/// Reads the bytes as a file. Returns whether a hand of it is read.
///
/// # Panics
/// Reading or replaying panics, or a valid history is written differently from how it was read.
#[must_use]
pub fn files(bytes: &[u8]) -> bool {
    let Ok(hands) = read(bytes) else { return false };
    let mut whole: Vec<HandHistory> = Vec::new();
    for hand in hands {
        match hand {
            Ok(hand) => {
                match replay(&hand) {
                    Ok(replayed) => assert!(!report(&replayed).to_json().is_empty()),
                    Err(why) => assert!(!why.to_string().is_empty()),
                }
                whole.push(hand);
            }
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    let is_any_read = !whole.is_empty();
    if is_any_read {
        let again: Vec<_> = read(write(&whole).as_bytes()).expect("what is written can be read");
        assert_eq!(again, whole.into_iter().map(Ok).collect::<Vec<_>>(), "nothing is lost");
    }
    is_any_read
}

/// Makes a hand history and changes it in several places. Returns whether it is read.
///
/// # Panics
/// As [`files`], or if an unchanged hand breaks a rule.
#[must_use]
pub fn edits(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let variant = bytes.one_of(ALL);
    let plan = Plan::try_new(variant.id, "", 2 + u8::from(bytes.below(2) == 0), bytes.below(256));
    let hand = plan.expect("the defaults are a plan").hand(0).expect("random hands end");
    assert!(replay(&hand).is_ok_and(|replayed| replayed.complete), "what was played replays");
    let mut text = write(&[hand]).into_bytes();
    mutate(&mut bytes, &mut text, PIECES);
    files(&text)
}
