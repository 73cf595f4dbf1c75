//! Text about credits: antes, bets, layers, odd credits and rake. The variant's own paragraphs come
//! in between.

use crate::explain::section::Section;
use crate::explain::text::{credits, percent};
use crate::ruleset::{Key, Preset, RuleSet, SabaccAnte};
use crate::variant::RakeBase;

pub(super) fn section(rules: &RuleSet, of_the_game: Vec<String>) -> Section {
    let mut section = Section::new("Money");
    let bets = rules.variant().fields.iter().any(|field| field.key == Key::MinBet);
    if bets {
        section = section.paragraph(antes(rules));
    }
    if bets && rules.preset == Preset::BlackSpire {
        section = section.paragraph("There is no betting.");
    } else if bets {
        section = betting(section, rules);
    }
    section.paragraphs.extend(of_the_game);
    section
        .paragraph(
            "What cannot be shared evenly goes out in single credits, one each, beginning at the \
             dealer's left.",
        )
        .paragraph(rake(rules))
        .paragraph(
            "Nobody can lose more than their stack: whatever a rule asks beyond it is written down as \
             short and never owed.",
        )
}

fn antes(rules: &RuleSet) -> String {
    let mut text = if rules.hand_ante.is_zero() {
        "There is no ante for the Hand Pot.".to_owned()
    } else {
        let ante = credits(rules.hand_ante);
        format!("Everybody dealt in pays {ante} into the Hand Pot at the start of a hand.")
    };
    if rules.variant().has_sabacc_pot {
        let ante = credits(rules.sabacc_ante);
        text.push_str(&match (rules.sabacc_ante.is_zero(), rules.sabacc_ante_when) {
            (true, _) => " There is none for the Sabacc Pot.".to_owned(),
            (false, SabaccAnte::EveryHand) => {
                format!(" Every hand {ante} more go into the Sabacc Pot.")
            }
            (false, SabaccAnte::WhenEmpty) => {
                format!(" If the Sabacc Pot is empty, {ante} more go there.")
            }
        });
        text.push_str(
            " The Sabacc Pot stays on the table from hand to hand; when the table closes, it is paid \
             back in proportion to what each player put in since it was last won.",
        );
    }
    text.push_str(" Whoever cannot pay the antes, or has nothing at all, is not dealt in.");
    text
}

fn betting(section: Section, rules: &RuleSet) -> Section {
    let least = credits(rules.least_bet());
    let mut limits = format!(
        "Bets are no-limit. A bet, or what a raise adds to the highest bet, is at least {least} and at \
         least as much as the last full bet or raise of the round."
    );
    if !rules.max_raise.is_zero() {
        limits.push_str(&format!(" It is at most {}.", credits(rules.max_raise)));
    }
    if !rules.max_round_total.is_zero() {
        let most = credits(rules.max_round_total);
        limits
            .push_str(&format!(" Nobody bets or raises to more than {most} in one betting round."));
    }
    if !rules.max_hand_total.is_zero() {
        let most = credits(rules.max_hand_total);
        limits.push_str(&format!(
            " Nobody bets or raises beyond {most} in the whole hand, antes and penalties aside."
        ));
    }
    if !rules.max_pot.is_zero() {
        let most = credits(rules.max_pot);
        limits.push_str(&format!(
            " No bet or raise may bring the Hand Pot, antes and a carried pot included, above {most}."
        ));
    }
    let caps = [rules.max_raise, rules.max_round_total, rules.max_hand_total, rules.max_pot];
    if caps.iter().any(|cap| !cap.is_zero()) {
        limits.push_str(" That holds for all-ins too, but matching has no limit.");
    }
    limits.push_str(
        " All of your stack may always be bet, raised with or matched with, also where it is less than \
         that: such a short bet must be matched, but gives nobody the right to raise again.",
    );
    section
        .paragraph(limits)
        .paragraph(
            "A betting round is held while two players have credits to bet with. What nobody else could \
             match goes back to whoever bet it.",
        )
        .paragraph(
            "Whoever is all-in plays for what they could match: the Hand Pot is cut into layers, the main \
             one and side pots, and each goes to the best hand among those who paid into it. If \
             everybody else folds, the last one takes the whole Hand Pot without showing their cards.",
        )
}

fn rake(rules: &RuleSet) -> String {
    if rules.rake_bps == 0 {
        return "The house takes nothing.".to_owned();
    }
    let share = percent(rules.rake_bps);
    let most = if rules.rake_cap.is_zero() {
        String::new()
    } else {
        format!(", at most {} a hand", credits(rules.rake_cap))
    };
    match rules.variant().rake_base {
        RakeBase::CreditsPot => format!(
            "The house takes {share} of the credits pot, rounded down{most}, unless the game ended \
             because everybody else left."
        ),
        RakeBase::ContestedLayers => format!(
            "The house takes {share}, rounded down{most}, of each layer that two players or more \
             showed their hands for and somebody won; from the Sabacc Pot it takes nothing."
        ),
    }
}
