//! Explanation of `kessel`.

use primitives::Credits;

use crate::explain::text::{chips, credits, number};
use crate::explain::{Section, VariantText};
use crate::games::kessel::ranking::FixTokens;
use crate::games::kessel::round::MAX_LAPS;
use crate::ruleset::{AssignedTokens, RuleSet, TokenDeal};
use crate::token::ShiftToken;

pub(super) fn explain(rules: &RuleSet) -> VariantText {
    VariantText {
        course: course(rules),
        moves: moves(),
        ranking: ranking(rules),
        money: money(rules),
        defaults: "`stand`; an Impostor takes the die that serves the hand best; of a draw the drawn \
                   card is discarded; a Prime is the first die; a draft takes the first three kinds \
                   of the list.",
        leaving: "Whoever leaves forfeits: they are out at once, with their chips and cards. If only one \
                  player is left, they win the credits pot at once.",
    }
}

fn course(rules: &RuleSet) -> Section {
    let laps = number(u64::from(MAX_LAPS));
    Section::new("A hand")
        .paragraph(format!(
            "A hand is a whole game of many rounds. Everybody begins with {}; who has none left after a \
             reveal is out, and the last one in wins, even if they lost that round. After {} it ends by \
             itself, and those with most chips win.",
            chips(rules.chips),
            if rules.max_rounds == 1 { "one round".to_owned() } else { format!("{} rounds", number(rules.max_rounds)) },
        ))
        .paragraph(tokens(rules))
        .paragraph(format!(
            "In every round both families are shuffled, a card of each is turned up to start its discard \
             pile, and everybody gets one card of each. The shoe draws who starts the first round; then \
             it is the next player still in. There are {laps} laps of one turn each; if everybody stands \
             in the same lap, hands are shown at once."
        ))
        .paragraph(
            "A turn is, if you like, a shift token, and then a stand or a draw. A draw from any of the \
             four piles costs a chip, which lies in your hand pot from then on, and is followed by the \
             discard of a card of the same family. Without a chip in stock you cannot pay, but stay in \
             until the reveal.",
        )
        .paragraph(
            "At the reveal each Impostor rolls two dice of its own. When all have rolled, each player \
             gives their Impostors one of the two values rolled, in secret, and all are shown together.",
        )
        .paragraph(
            "Then the winners take their hand pots back; equal best hands all win. The others lose \
             theirs, and pay from their stock, as far as it goes: one chip with a pair, else the \
             difference of the two cards.",
        )
}

fn tokens(rules: &RuleSet) -> String {
    let how = match (rules.tokens, &rules.assigned_tokens) {
        (TokenDeal::Random, _) => "The shoe deals everybody three kinds of shift token".to_owned(),
        (TokenDeal::Chosen, _) => {
            "Everybody chooses three kinds of shift token in secret".to_owned()
        }
        (TokenDeal::Assigned, kinds) => assigned(kinds.as_ref().map_or(&[], AssignedTokens::sets)),
    };
    format!(
        "{how}; each is good once a game, at most one a turn. Which ones a player has left nobody else \
         sees, how many everybody. A token needs a target it can touch, or it is refused; one that then \
         finds nothing to take is spent. What changes how hands rank ends with the round."
    )
}

/// Names each player's tokens if there are several sets, and everybody's if there is one.
fn assigned(sets: &[[ShiftToken; 3]]) -> String {
    let list = |kinds: &[ShiftToken; 3]| kinds.map(ShiftToken::name).join(", ");
    if let [kinds] = sets {
        return format!("Everybody has the same shift tokens: {}", list(kinds));
    }
    let each: Vec<String> =
        sets.iter().zip(1..).map(|(kinds, player)| format!("p{player} {}", list(kinds))).collect();
    format!("Each player has shift tokens of their own: {}", each.join("; "))
}

fn moves() -> Section {
    let section = Section::new("Moves")
        .item("stand", "leaves the hand as it is")
        .item("draw sand, draw blood", "takes the top card of a draw pile")
        .item("draw sand-discard, draw blood-discard", "takes the top card of a discard pile")
        .item("discard CARD", "after a draw; the drawn card is allowed")
        .item("impostor CARD K", "gives an Impostor the value of one of its dice")
        .item("prime K", "names the Prime after its token's dice")
        .item("choose NAME NAME NAME", "in a draft")
        .item("token NAME, token NAME pN", "plays a shift token, perhaps at a player:");
    ShiftToken::ALL
        .into_iter()
        .fold(section, |section, token| section.item(token.name(), effect_text(token)))
}

const fn effect_text(token: ShiftToken) -> &'static str {
    match token {
        ShiftToken::FreeDraw => "your draw of this turn costs nothing",
        ShiftToken::Refund => {
            "up to two chips of your hand pot go back to your stock; not without any there"
        }
        ShiftToken::ExtraRefund => "the same with up to three chips",
        ShiftToken::Embezzlement => "one chip of every other hand pot goes into yours",
        ShiftToken::GeneralTariff => "every other player loses a chip of their stock",
        ShiftToken::TargetTariff => "one player loses two chips of their stock",
        ShiftToken::GeneralAudit => {
            "every other player whose latest action of the round is a stand loses two chips"
        }
        ShiftToken::TargetAudit => "one such player loses three chips",
        ShiftToken::PrimeSabacc => {
            "two dice are rolled; the pair of the one you name ranks right below Pure Sabacc for everybody until the reveal, in place of an earlier Prime"
        }
        ShiftToken::Markdown => {
            "until the reveal a Sylop counts 0 and copies nothing; two of them are the lowest pair"
        }
        ShiftToken::CookTheBooks => {
            "until the reveal pairs rank the other way round, Pure Sabacc last of them; not twice in a round"
        }
        ShiftToken::MajorFraud => "until the reveal Impostors are sixes and roll no dice",
        ShiftToken::Embargo => {
            "the next player in turn must stand; not by the last one of the last lap"
        }
        ShiftToken::Immunity => {
            "until the reveal tokens that take chips, tax or disrupt do not touch you"
        }
        ShiftToken::Exhaustion => "one player's cards are discarded and they are dealt new ones",
        ShiftToken::DirectTransaction => "you and one player swap hands",
    }
}

fn ranking(rules: &RuleSet) -> Section {
    Section::new("What beats what")
        .paragraph(
            "A Sylop copies the other card. Pairs beat all other hands, and lower pairs beat higher \
             ones. Other hands compare by the difference of their cards, smaller wins, then by their \
             sum, lower wins. It does not matter whether a pair is made with a Sylop or an Impostor.",
        )
        .ladder(
            rules.variant().deck,
            &FixTokens { prime: Some(3), ..FixTokens::default() },
            &[
                ("Pure Sabacc", "two Sylops", "sY bY"),
                ("the Prime", "while a token has named it; here threes", "s3 b3"),
                ("pair", "the lowest one", "s1 b1"),
                ("pair", "with a Sylop", "sY b6"),
                ("no pair", "a small difference and a low sum", "s1 b2"),
                ("no pair", "the same difference and a higher sum", "s4 b5"),
                ("no pair", "a large difference", "s6 b1"),
            ],
        )
}

fn money(rules: &RuleSet) -> Vec<String> {
    let rate = credits(Credits::try_new(rules.stakes.rate()).unwrap_or(Credits::MAX));
    vec![
        format!(
            "The stakes are `{}`: everybody dealt in pays {} into the credits pot at the start, {rate} \
             for each chip. There are no other bets, and chips are never paid out: the credits pot goes \
             to the winner.",
            rules.stakes.name(),
            credits(rules.stake()),
        ),
        "If nobody has a chip left, the winners of that round share the pot. If several have most chips \
         at the end, they share it."
            .to_owned(),
    ]
}
