//! Bytes as files: made up, or hand histories with changes.

use history::{HandHistory, read, replay, report, simulate::Plan, write};
use rules::ALL;

use crate::bytes::Bytes;

const PIECES: &[&str] = &[
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

/// Reads the bytes as a file.
///
/// # Panics
/// Where reading or replaying does, or where what was read is not written alike.
pub fn files(bytes: &[u8]) {
    let Ok(hands) = read(bytes) else { return };
    let mut whole: Vec<HandHistory> = Vec::new();
    for hand in hands {
        match hand {
            Ok(hand) => {
                match replay(&hand) {
                    Ok(replayed) => assert!(!report(&replayed).json().is_empty()),
                    Err(why) => assert!(!why.to_string().is_empty()),
                }
                whole.push(hand);
            }
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    if !whole.is_empty() {
        let again: Vec<_> = read(write(&whole).as_bytes()).expect("what is written can be read");
        assert_eq!(again, whole.into_iter().map(Ok).collect::<Vec<_>>(), "nothing is lost");
    }
}

/// Takes a hand history and changes it here and there.
///
/// # Panics
/// As [`files`] does, and where a hand that was played by the rules breaks one.
pub fn edits(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let variant = bytes.one_of(ALL);
    let plan = Plan::try_new(variant.id, "", 2 + u8::from(bytes.below(2) == 0), bytes.below(256));
    let hand = plan.expect("the defaults are a plan").hand(0).expect("random hands end");
    assert!(replay(&hand).is_ok_and(|replayed| replayed.complete), "what was played replays");
    let mut text = write(&[hand]).into_bytes();
    for _ in 0..bytes.below(6) {
        let at = bytes.index(text.len() + 1);
        let cut = if bytes.below(2) == 0 { 0 } else { bytes.index(24) };
        let end = (at + cut).min(text.len());
        match bytes.below(3) {
            // A line, a word or a key of the hand itself, somewhere else.
            0 => {
                let from = bytes.index(text.len() + 1);
                let to = (from + bytes.index(40)).min(text.len());
                let moved = text[from..to].to_vec();
                text.splice(at..end, moved);
            }
            1 => drop(text.splice(at..end, [bytes.byte()])),
            _ => drop(text.splice(at..end, bytes.one_of(PIECES).bytes())),
        }
    }
    files(&text);
}
