//! Kessel sabacc: two families with a discard pile each, chips that buy draws, shift tokens,
//! Impostors and their dice.

use proto::table::v1 as pb;

use super::{Badge, Thing, badge, card_or_place, dice_text, pile};
use crate::cards::Deck;
use crate::colour::Tone;
use crate::tokens::{title, word};

pub(super) fn centre(state: &pb::KesselState) -> Vec<Thing> {
    let mut things = vec![
        card_or_place("Sand discard", &state.sand_discard),
        pile("Sand"),
        pile("Blood"),
        card_or_place("Blood discard", &state.blood_discard),
    ];
    if !state.prime_dice.is_empty() {
        things.push(Thing::Dice {
            label: "One becomes the Prime".to_owned(),
            values: state.prime_dice.clone(),
            is_hot: true,
        });
    }
    let mut marks = Vec::new();
    if state.prime != 0 {
        marks.push(format!("Prime {0}/{0}", state.prime));
    }
    let effects = [
        (state.markdown, "Markdown"),
        (state.cook_the_books, "Cook the books"),
        (state.major_fraud, "Major fraud"),
    ];
    marks.extend(effects.iter().filter(|it| it.0).map(|it| it.1.to_owned()));
    if state.lap != 0 || !marks.is_empty() {
        let lap = state.lap.max(1);
        let (label, text) = if marks.is_empty() {
            ("Lap".to_owned(), format!("{lap} of 3"))
        } else {
            (format!("Lap {lap} of 3"), marks.join(", "))
        };
        things.push(Thing::Words { label, text, tone: Tone::Warn });
    }
    things
}

pub(super) fn badges(state: &pb::KesselState, seat: u32) -> Vec<Badge> {
    let Some(found) = state.seats.iter().find(|it| it.seat == seat) else { return Vec::new() };
    let invested = match found.hand_pot_chips {
        0 => String::new(),
        chips => format!("+{chips}"),
    };
    let mut all = vec![badge(format!("{}{invested} chips", found.stock_chips), Tone::Money)];
    if found.tokens_left != 0 {
        all.push(badge(format!("◈{}", found.tokens_left), Tone::Soft));
    }
    if let Some(token) = found.played_tokens().next_back() {
        let word = word(token.as_str_name());
        all.push(badge(title(&word).unwrap_or(&word), Tone::Accent));
    }
    let marks = [
        (found.standing, "stands", Tone::Good),
        (found.immune, "immune", Tone::Warn),
        (found.embargoed, "must stand", Tone::Bad),
    ];
    all.extend(marks.iter().filter(|it| it.0).map(|it| badge(it.1, it.2)));
    let rolls = found.impostors.iter();
    all.extend(rolls.map(|it| badge(format!("Impostor {}", dice_text(&it.dice)), Tone::Warn)));
    all
}

pub(super) fn hint(state: &pb::KesselState, codes: &[&str]) -> String {
    let text = match codes {
        [_, _, _] => "Three cards: one of the drawn family is laid down",
        [one, other] => return pair_hint(state, one, other),
        _ => "",
    };
    text.to_owned()
}

fn pair_hint(state: &pb::KesselState, one: &str, other: &str) -> String {
    let sylops = [one, other].iter().filter(|code| code.ends_with('Y')).count();
    let text = if sylops == 2 {
        "Two Sylops: Pure Sabacc"
    } else if one.ends_with('I') || other.ends_with('I') {
        "An Impostor: its value is rolled at the reveal"
    } else if sylops == 1 && state.markdown {
        "A Sylop, worth 0 now"
    } else if sylops == 1 {
        "A Sylop copies the other card: a pair"
    } else {
        let value = |code| Deck::K44.read(code).and_then(|face| face.number).unwrap_or(0);
        let (first, second) = (value(one), value(other));
        return if first == second {
            format!("A pair of {first}s; lower pairs are better")
        } else {
            format!("A difference of {}; pairs and small ones win", (first - second).abs())
        };
    };
    text.to_owned()
}

pub(super) fn tokens(state: &pb::KesselState, seat: u32) -> Vec<String> {
    let found = state.seats.iter().find(|it| it.seat == seat);
    let tokens = found.into_iter().flat_map(pb::KesselSeat::tokens);
    tokens
        .map(|token| {
            let word = word(token.as_str_name());
            title(&word).unwrap_or(&word).to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_distinguished_from_a_difference() {
        let check = |codes: &[&str], expected: &str| {
            assert_eq!(hint(&pb::KesselState::default(), codes), expected, "{codes:?}");
        };
        check(&["s3", "b3"], "A pair of 3s; lower pairs are better");
        check(&["s1", "b6"], "A difference of 5; pairs and small ones win");
        check(&["sY", "bY"], "Two Sylops: Pure Sabacc");
        check(&["sY", "b4"], "A Sylop copies the other card: a pair");
        check(&["sI", "b4"], "An Impostor: its value is rolled at the reveal");
        check(&["sI", "b4", "b5"], "Three cards: one of the drawn family is laid down");
        let marked = pb::KesselState { markdown: true, ..pb::KesselState::default() };
        assert_eq!(hint(&marked, &["sY", "b4"]), "A Sylop, worth 0 now");
    }

    #[test]
    fn a_seat_shows_its_chips_and_tokens() {
        let seat = pb::KesselSeat {
            seat: 2,
            stock_chips: 5,
            hand_pot_chips: 1,
            tokens_left: 3,
            standing: true,
            ..pb::KesselSeat::default()
        };
        let state = pb::KesselState { seats: vec![seat], ..pb::KesselState::default() };
        let texts: Vec<String> = badges(&state, 2).into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["5+1 chips", "◈3", "stands"]);
        assert_eq!(badges(&state, 1), []);
    }
}
