//! Sentences, without their subject, for the inputs of the rules.

use proto::common::v1::AbortCause;
use proto::event::v1 as pb;
use rules::{
    Card, Chance, DecisionAuthor, Deck, Destination, Move, Outcome, Player, Pot, SettlementItem,
};

/// Describes why a hand came to nothing.
pub(super) fn describe_abort(aborted: &pb::HandAborted) -> String {
    let pb::HandAborted { at_fault: _, seats, evidence, cause: _ } = aborted;
    let seats: Vec<String> = seats.iter().map(u32::to_string).collect();
    let fault = match aborted.cause() {
        AbortCause::Unspecified => "nobody, for no cause".to_owned(),
        AbortCause::Withheld => format!("seat {}, who withheld entropy", seats.join(" and seat ")),
        AbortCause::Agreed => "the dealer, who was silent until all players agreed".to_owned(),
        AbortCause::Suspended => "the dealer, who was silent".to_owned(),
    };
    let evidence = if evidence.is_empty() { "nothing is said of it" } else { evidence };
    format!("The hand came to nothing; at fault: {fault} ({evidence}).")
}

/// Describes a movement of credits: the subject, and the rest of the sentence.
pub(super) fn describe_settlement_line(
    line: &SettlementItem,
    name: &dyn Fn(Player) -> String,
) -> (String, String) {
    let table = || "the table".to_owned();
    match line {
        SettlementItem::Returned { player, amount } => {
            (name(*player), format!("gets back {amount} that nobody matched"))
        }
        SettlementItem::PaysSabacc { player, amount, short } if short.is_zero() => {
            (name(*player), format!("pays {amount} into the Sabacc Pot"))
        }
        SettlementItem::PaysSabacc { player, amount, short } => (
            name(*player),
            format!(
                "pays {amount} into the Sabacc Pot, {short} less than is due: that is all there is"
            ),
        ),
        SettlementItem::Eliminated { player } => (name(*player), "is eliminated".to_owned()),
        SettlementItem::Wins { player, pot, amount } => {
            (name(*player), format!("wins {amount} from {}", pot_name(*pot)))
        }
        SettlementItem::MovesToSabacc { pot, amount } => (
            table(),
            format!("moves {amount} from {}, which nobody won, to the Sabacc Pot", pot_name(*pot)),
        ),
        SettlementItem::Carries { amount } => {
            (table(), format!("carries {amount} over to the next hand"))
        }
        SettlementItem::Rake { amount } => (table(), format!("takes {amount} for the house")),
    }
}

fn pot_name(pot: Pot) -> String {
    match pot {
        Pot::Main => "the hand pot".to_owned(),
        Pot::Side(number) => format!("side pot {number}"),
        Pot::Credits => "the credits pot".to_owned(),
        Pot::Sabacc => "the Sabacc Pot".to_owned(),
    }
}

/// Writer of sentences, with the deck and the players' names.
pub(super) struct Sentences<'a> {
    pub(super) deck: &'static Deck,
    pub(super) name: &'a dyn Fn(Player) -> String,
}

impl Sentences<'_> {
    fn cards(&self, cards: &[Card]) -> String {
        let codes: Vec<&str> = cards.iter().map(|card| self.deck.code(*card)).collect();
        if codes.is_empty() { "no card".to_owned() } else { codes.join(" ") }
    }

    pub(super) fn decision(&self, mv: &Move, by: DecisionAuthor) -> String {
        let card = |card: &Card| self.deck.code(*card);
        let text = match mv {
            Move::Draw => "draws a card".to_owned(),
            Move::Trade(given) => format!("trades {} for the top card", card(given)),
            Move::Stand => "stands".to_owned(),
            Move::Lock(locked) => format!("locks {} in the field", card(locked)),
            Move::Unlock(taken) => format!("takes {} back from the field", card(taken)),
            Move::Check => "checks".to_owned(),
            Move::Bet(amount) => format!("bets {amount}"),
            Move::Match => "matches the bet".to_owned(),
            Move::Raise(amount) => format!("raises to {amount}"),
            Move::Fold => "folds".to_owned(),
            Move::CallHand => "calls the hand".to_owned(),
            Move::Leave => "leaves the table".to_owned(),
            Move::Align(side) => format!("declares the {} side", side.name()),
            Move::Keep => "keeps the card".to_owned(),
            Move::Drop(dropped) => format!("drops {}", card(dropped)),
            Move::Choose(tokens) => {
                let [first, second, third] = tokens.map(|token| token.name());
                format!("chooses the tokens {first}, {second} and {third}")
            }
            Move::Token(token, None) => format!("plays {token}"),
            Move::Token(token, Some(target)) => {
                format!("plays {token} on {}", (self.name)(*target))
            }
            Move::Prime(value) => format!("makes the {value} the Prime Sabacc"),
            Move::DrawFrom(source) => format!("draws from {}", source.name()),
            Move::Discard(discarded) => format!("discards {}", card(discarded)),
            Move::Impostor(impostor, value) => {
                format!("gives {} the value {value}", card(impostor))
            }
            Move::Gain(None) => "gains a card".to_owned(),
            Move::Gain(Some(discarded)) => format!("discards {} and gains a card", card(discarded)),
            Move::Swap(given) => format!("swaps {} for the top discard", card(given)),
            Move::Junk => "junks the hand".to_owned(),
            Move::Select(cards) => format!("selects {}", self.cards(cards)),
            Move::Add(cards) => format!("adds {}", self.cards(cards)),
        };
        match by {
            DecisionAuthor::Player => text,
            DecisionAuthor::Clock => format!("{text} (the clock ran out)"),
        }
    }

    pub(super) fn chance(&self, due: &Chance, outcome: &Outcome) -> String {
        let numbers = |numbers: &[u32]| {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            numbers.join(" ")
        };
        match outcome {
            Outcome::Shuffled => match due {
                Chance::Shuffle { pile, add } => {
                    format!("shuffles {} cards into pile {pile}", add.len())
                }
                Chance::Deal(_)
                | Chance::Roll { .. }
                | Chance::Pulse { .. }
                | Chance::Pick { .. }
                | Chance::Sample { .. } => "shuffles".to_owned(),
            },
            Outcome::Cards(cards) => match due {
                Chance::Deal(deal) => match deal.to {
                    Destination::Player(player) => {
                        format!("deals {} to {}", self.cards(cards), (self.name)(player))
                    }
                    Destination::Table => format!("turns up {}", self.cards(cards)),
                },
                Chance::Shuffle { .. }
                | Chance::Roll { .. }
                | Chance::Pulse { .. }
                | Chance::Pick { .. }
                | Chance::Sample { .. } => format!("deals {}", self.cards(cards)),
            },
            Outcome::Rolled(faces) => {
                let faces: Vec<u32> = faces.iter().copied().map(u32::from).collect();
                format!("rolls {}", numbers(&faces))
            }
            Outcome::Pulsed(true) => "lets the pulse pass: the cards shift".to_owned(),
            Outcome::Pulsed(false) => "lets the pulse pass: nothing shifts".to_owned(),
            Outcome::Picked(one) => format!("picks number {one}"),
            Outcome::Sampled(some) => format!("draws the numbers {}", numbers(some)),
        }
    }
}
