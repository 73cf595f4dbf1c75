//! Facts from the lines of a hand that are not in its cards: changes of what cards count, and the
//! tops of open discard piles. A snapshot's facts stand in for lines before the viewer joined.

use rules::Deck;

/// Events of a hand, read from its lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LineFacts {
    /// Facts under the names that a view's facts have.
    pub(super) facts: Vec<(String, String)>,
    /// Codes of the open discards, top last; none for an unknown card.
    pub(super) discards: Vec<Option<String>>,
    /// Numbers of the players who folded, junked or left.
    pub(super) out: Vec<usize>,
    /// Codes of the cards that the viewer selected.
    pub(super) selected: Vec<String>,
    /// Chips that the viewer has paid for draws in this round.
    pub(super) chips_paid: u32,
}

/// Facts that end with a round of Kessel.
const ROUND_FACTS: [&str; 4] = ["prime", "markdown", "cook-the-books", "major-fraud"];

impl LineFacts {
    /// Reads the lines. `me` is the viewer's number.
    pub(super) fn of(lines: &[String], me: usize, deck: &Deck) -> LineFacts {
        let mut told = LineFacts::default();
        for line in lines {
            let line = line.split(" #").next().unwrap_or(line);
            let words: Vec<&str> = line.split(' ').collect();
            match words.split_first() {
                Some((&"d", words)) => told.read_dealer_line(words),
                Some((actor, words)) => {
                    let number = actor.strip_prefix('p').and_then(|number| number.parse().ok());
                    told.read_player_line(number.unwrap_or(0), words, me, deck);
                }
                None => {}
            }
        }
        told
    }

    fn set(&mut self, name: &str, value: &str) {
        self.facts.retain(|(other, _)| other != name);
        self.facts.push((name.to_owned(), value.to_owned()));
    }

    fn read_dealer_line(&mut self, words: &[&str]) {
        match words {
            ["flip", cards @ ..] => {
                // A round of Kessel begins, or the one of Spike.
                self.facts.retain(|(name, _)| !ROUND_FACTS.contains(&name.as_str()));
                self.discards = cards.iter().map(|card| Some((*card).to_owned())).collect();
                self.chips_paid = 0;
            }
            ["announce", "wild", wild, "clone", clone] => {
                self.set("wild", wild);
                self.set("clone", clone);
            }
            ["roll", gold, silver] if silver.parse::<u8>().is_err() => {
                self.set("target", gold);
                self.set("suit", silver);
            }
            _ => {}
        }
    }

    fn read_player_line(&mut self, number: usize, words: &[&str], me: usize, deck: &Deck) {
        match words {
            ["fold" | "junk"] => self.out.push(number),
            ["leave"] if deck.name == rules::K44.name => self.out.push(number),
            ["gain" | "discard", card] => self.discards.push(Some((*card).to_owned())),
            ["swap", card] => {
                self.discards.pop();
                self.discards.push(Some((*card).to_owned()));
            }
            ["draw", pile] => {
                self.chips_paid += u32::from(number == me);
                if let Some(family) = pile.strip_suffix("-discard") {
                    self.remove_top(&family[..1]);
                }
            }
            ["token", "exhaustion", ..] => self.discards.extend([None, None]),
            ["token", token, ..] if ROUND_FACTS.contains(token) => self.set(token, "on"),
            ["prime", value] => self.set("prime", value),
            ["select", cards @ ..] if number == me => {
                self.selected = cards.iter().map(|card| (*card).to_owned()).collect();
            }
            _ => {}
        }
    }

    /// Removes the top card of a family's discards.
    fn remove_top(&mut self, family: &str) {
        let of = |card: &Option<String>| card.as_ref().is_none_or(|code| code.starts_with(family));
        if let Some(at) = self.discards.iter().rposition(of) {
            self.discards.remove(at);
        }
    }

    /// Returns the top discard among the cards whose code begins with `family`.
    pub(super) fn top_discard(&self, family: &str) -> Option<&str> {
        let of = |card: &&Option<String>| card.as_ref().is_none_or(|code| code.starts_with(family));
        self.discards.iter().rev().find(of)?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str], deck: &Deck) -> LineFacts {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        LineFacts::of(&lines, 2, deck)
    }

    #[test]
    fn discards_come_and_go() {
        let spike = ["d flip c+3", "p1 gain t-4", "d deal p1 ??", "p2 swap Y", "p3 junk"];
        let spike = told(&spike, &rules::C62);
        assert_eq!((spike.top_discard(""), &spike.out[..]), (Some("Y"), &[3][..]));
        let kessel = [
            "d flip s1 b2",
            "p1 draw sand",
            "d deal p1 ??",
            "p1 discard s4",
            "p2 draw sand-discard",
            "p2 discard s6",
            "p3 token markdown",
        ];
        let kessel = told(&kessel, &rules::K44);
        assert_eq!(
            (kessel.top_discard("s"), kessel.top_discard("b"), kessel.chips_paid),
            (Some("s6"), Some("b2"), 1)
        );
        assert_eq!(kessel.facts, [("markdown".to_owned(), "on".to_owned())]);
    }

    #[test]
    fn what_a_round_changes_ends_with_it() {
        let lines =
            ["d flip s1 b2", "p1 token prime-sabacc", "d roll 3 4", "p1 prime 3", "d flip s2 b2"];
        let before = told(&lines[..4], &rules::K44);
        assert_eq!(before.facts, [("prime".to_owned(), "3".to_owned())]);
        assert_eq!(told(&lines, &rules::K44).facts, []);
    }

    #[test]
    fn dice_and_announcements_are_facts() {
        let facts = told(&["d roll +5 circle", "d announce wild 5S clone 1H"], &rules::C62).facts;
        let names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["target", "suit", "wild", "clone"]);
        assert_eq!(told(&["d roll 3 3"], &rules::S76).facts, []);
    }
}
