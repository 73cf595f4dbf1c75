//! Moves in words: label, hint and key of each that is legal.

use proto::common::v1::{LegalMove, MoveArgument, MoveKind};

use crate::text::{capital, credits};
use crate::tokens;

/// Words of a kind of move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verb {
    pub label: &'static str,
    /// Key that is tried first.
    pub key: char,
    pub hint: &'static str,
}

const fn verb(label: &'static str, key: char, hint: &'static str) -> Verb {
    Verb { label, key, hint }
}

/// Words of a kind; none for one of a later version, whose text is all that is known.
#[must_use]
pub const fn of(kind: MoveKind) -> Option<Verb> {
    Some(match kind {
        MoveKind::Unspecified => return None,
        MoveKind::Draw => verb("Draw", 'd', "a card from the draw pile"),
        MoveKind::Trade => verb("Trade", 't', "a card for a new one"),
        MoveKind::Stand => verb("Stand", 's', "take no card"),
        MoveKind::Lock => verb("Lock", 'l', "a card into the field, safe from a shift"),
        MoveKind::Unlock => verb("Unlock", 'u', "a card back from the field"),
        MoveKind::Check => verb("Check", 'c', "bet nothing"),
        MoveKind::Bet => verb("Bet", 'b', "others have to match it"),
        MoveKind::Match => verb("Match", 'm', "pay what is to be matched"),
        MoveKind::Raise => verb("Raise", 'r', "to a total in this round"),
        MoveKind::Fold => verb("Fold", 'f', "give the hand up"),
        MoveKind::CallHand => verb("Call the hand", 'h', "it ends, and all is shown"),
        MoveKind::Leave => verb("Leave", 'x', "the table"),
        MoveKind::Align => verb("Align", 'a', "choose your side"),
        MoveKind::Keep => verb("Keep", 'k', "the extra card"),
        MoveKind::Drop => verb("Drop", 'd', "a card"),
        MoveKind::Choose => verb("Choose tokens", 'c', "for this game"),
        MoveKind::Token => verb("Token", 't', "play one before your action"),
        MoveKind::Prime => verb("Prime", 'p', "the pair that becomes the Prime"),
        MoveKind::DrawFrom => verb("Draw", 'd', "from a pile; it costs a chip"),
        MoveKind::Discard => verb("Discard", 'c', "a card on its family's discards"),
        MoveKind::Impostor => verb("Impostor", 'i', "takes the value of a die"),
        MoveKind::Gain => verb("Gain", 'g', "the top of the draw pile"),
        MoveKind::Swap => verb("Swap", 'w', "a card of yours for the top discard"),
        MoveKind::Junk => verb("Junk", 'j', "give the hand up"),
        MoveKind::Select => verb("Select", 'e', "one to five cards, face down"),
        MoveKind::Add => verb("Add", 'a', "new cards to your selection, or none"),
        MoveKind::Void => verb("Agree to end the hand", 'v', "all get back what they put in"),
    })
}

/// Words of a legal move, also of one that is not known.
fn words(legal: &LegalMove) -> (String, char, &'static str) {
    let known = of(legal.kind());
    known.map_or_else(
        || {
            let word = legal.text.split(' ').next().unwrap_or_default();
            (capital(word), word.chars().next().unwrap_or('m'), "")
        },
        |verb| (verb.label.to_owned(), verb.key, verb.hint),
    )
}

/// Whether a move names this.
#[must_use]
pub fn takes(legal: &LegalMove, argument: MoveArgument) -> bool {
    legal.move_arguments.contains(&argument.into())
}

/// Name of a choice of a move: a side, a pile or a token.
#[must_use]
pub fn choice(name: &str) -> String {
    tokens::title(name).map_or_else(|| capital(&name.replace('-', " ")), str::to_owned)
}

/// Label of a legal move: its verb, with what is already decided about it.
#[must_use]
pub fn label(legal: &LegalMove) -> String {
    let (label, _, _) = words(legal);
    let (least, most) = (legal.min_credits, legal.max_credits);
    let is_fixed = takes(legal, MoveArgument::Amount) && least == most;
    if is_fixed || legal.kind() == MoveKind::Match && most > 0 {
        return format!("{label} {}", credits(most));
    }
    match &legal.names[..] {
        [token] if takes(legal, MoveArgument::Tokens) => choice(token),
        [name] => format!("{label}: {}", choice(name).to_lowercase()),
        _ if legal.kind() == MoveKind::Gain && takes(legal, MoveArgument::Cards) => {
            "Discard and gain".to_owned()
        }
        _ => label,
    }
}

/// Hint of a legal move.
#[must_use]
pub fn hint(legal: &LegalMove) -> String {
    let (least, most) = (legal.min_credits, legal.max_credits);
    if takes(legal, MoveArgument::Amount) && least != most {
        return format!("{} to {}", credits(least), credits(most));
    }
    match &legal.names[..] {
        [token] if takes(legal, MoveArgument::Tokens) => {
            tokens::effect(token).unwrap_or_default().to_owned()
        }
        _ => words(legal).2.to_owned(),
    }
}

/// Keys that the screen has for itself.
const RESERVED: [char; 1] = ['q'];

/// Keys for moves, a lower-case letter each: the one that is tried first, otherwise another of the
/// label, otherwise a free one.
#[must_use]
pub fn keys(moves: &[&LegalMove]) -> Vec<char> {
    let mut taken: Vec<char> = RESERVED.to_vec();
    let mut keys = Vec::with_capacity(moves.len());
    for legal in moves {
        let label = label(legal).to_lowercase();
        let first = std::iter::once(words(legal).1);
        let wanted = first.chain(label.chars()).chain('a'..='z');
        let mut free = wanted.filter(|key| key.is_ascii_lowercase() && !taken.contains(key));
        let key = free.next().unwrap_or(' ');
        taken.push(key);
        keys.push(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal(kind: MoveKind, arguments: &[MoveArgument]) -> LegalMove {
        let move_arguments = arguments.iter().map(|&argument| argument.into()).collect();
        LegalMove { kind: kind.into(), move_arguments, ..LegalMove::default() }
    }

    #[test]
    fn labels_say_what_is_decided() {
        let paid = LegalMove { max_credits: 1200, ..legal(MoveKind::Match, &[]) };
        assert_eq!(label(&paid), "Match 1,200");
        let bet = legal(MoveKind::Bet, &[MoveArgument::Amount]);
        let bet = LegalMove { min_credits: 10, max_credits: 490, ..bet };
        assert_eq!((label(&bet), hint(&bet)), ("Bet".to_owned(), "10 to 490".to_owned()));
        let token = legal(MoveKind::Token, &[MoveArgument::Tokens]);
        let token = LegalMove { names: vec!["free-draw".to_owned()], ..token };
        assert_eq!(label(&token), "Free draw");
        let pile = legal(MoveKind::DrawFrom, &[MoveArgument::Pile]);
        let pile = LegalMove { names: vec!["sand-discard".to_owned()], ..pile };
        assert_eq!(label(&pile), "Draw: sand discard");
    }

    #[test]
    fn every_move_has_a_key_of_its_own() {
        let draws: Vec<LegalMove> = ["sand", "blood", "sand-discard", "blood-discard"]
            .map(|name| LegalMove {
                names: vec![name.to_owned()],
                ..legal(MoveKind::DrawFrom, &[MoveArgument::Pile])
            })
            .into();
        let stand = legal(MoveKind::Stand, &[]);
        let moves: Vec<&LegalMove> = draws.iter().chain([&stand]).collect();
        let keys = keys(&moves);
        let mut different = keys.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!((keys[0], different.len()), ('d', 5), "{keys:?}");
        assert!(!keys.contains(&'q'), "q leaves the program");
    }

    #[test]
    fn a_move_of_a_later_version_is_named_by_its_text() {
        let later = LegalMove { text: "wager 3".to_owned(), ..legal(MoveKind::Unspecified, &[]) };
        assert_eq!((label(&later), keys(&[&later])), ("Wager".to_owned(), vec!['w']));
    }
}
