//! Shift tokens of Kessel sabacc: their words in moves, their titles, and what they do.

/// Word in moves, title, effect.
const TOKENS: [(&str, &str, &str); 16] = [
    ("cook-the-books", "Cook the books", "Higher pairs are better."),
    ("direct-transaction", "Direct transaction", "You exchange hands with another."),
    ("embargo", "Embargo", "The next player in turn must stand."),
    ("embezzlement", "Embezzlement", "A chip of every other hand pot goes into yours."),
    ("exhaustion", "Exhaustion", "One other discards their hand and is dealt another."),
    ("extra-refund", "Extra refund", "Three chips come back from your hand pot."),
    ("free-draw", "Free draw", "The draw of this turn costs nothing."),
    ("general-audit", "General audit", "All others who stand lose two chips of their stock."),
    ("general-tariff", "General tariff", "All others lose a chip of their stock."),
    ("immunity", "Immunity", "Tokens of others do not touch you."),
    ("major-fraud", "Major fraud", "An Impostor is a 6 without a roll."),
    ("markdown", "Markdown", "A Sylop is a 0 that copies nothing."),
    ("prime-sabacc", "Prime Sabacc", "Two dice are rolled; the one you pick is the Prime."),
    ("refund", "Refund", "Two chips come back from your hand pot."),
    ("target-audit", "Target audit", "One other who stands loses three chips."),
    ("target-tariff", "Target tariff", "One other loses two chips of their stock."),
];

/// Returns the title of a token, if the word is one.
#[must_use]
pub fn title(word: &str) -> Option<&'static str> {
    TOKENS.iter().find(|token| token.0 == word).map(|token| token.1)
}

/// Returns what a token does, if the word is one.
#[must_use]
pub fn effect(word: &str) -> Option<&'static str> {
    TOKENS.iter().find(|token| token.0 == word).map(|token| token.2)
}

/// Returns the word of a token in moves, from its name in the protocol, such as
/// `SHIFT_TOKEN_FREE_DRAW`.
#[must_use]
pub fn word(name: &str) -> String {
    name.trim_start_matches("SHIFT_TOKEN_").to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use proto::table::v1::ShiftToken;

    use super::*;

    #[test]
    fn every_token_has_a_title_and_an_effect() {
        for number in 1..=16 {
            let word = word(ShiftToken::try_from(number).unwrap().as_str_name());
            assert!(title(&word).is_some() && effect(&word).is_some(), "{word}");
        }
        assert_eq!(title("light"), None);
    }
}
