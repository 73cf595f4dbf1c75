//! Random hands by legal moves, for other programs to check their own results against.
//!
//! One plan always gives one sequence of hands: the generator is SplitMix64, written out here, and
//! every hand has a stream of its own, so that the tenth hand does not depend on how many follow. A
//! change to the order or number of draws changes every file that was ever made, so it needs a new
//! version of the command.
//!
//! Specification: history/SPEC.md §10.2.

use primitives::{Credits, CreditsOutOfRange, Quoted, SeatNo};
use rules::{
    Arguments, Choices, Decision, DecisionAuthor, Event, FieldValue, Hand, Legal, Move, MoveKind,
    Next, Player, Refusal, RuleSet, RuleSetError, Setup, SetupError, decide, evolve, history_line,
    next, play, resolve_chance,
};

use crate::model::HandHistory;

/// Checked options of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    rules: RuleSet,
    players: u8,
    seed: u64,
}

/// Reason why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    #[error("`{}` is not `key=value`", Quoted(item))]
    NoValue { item: String },
    #[error("the rule set field `{}` must be {want}, not `{}`", Quoted(field), Quoted(given))]
    Value { field: String, want: &'static str, given: String },
    #[error(transparent)]
    Players(#[from] SetupError),
    #[error("the antes are too large for so many players")]
    Antes,
}

impl From<CreditsOutOfRange> for PlanError {
    fn from(CreditsOutOfRange: CreditsOutOfRange) -> PlanError {
        PlanError::Antes
    }
}

/// A hand could not be played to its end, which is a fault in the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

const NAMES: [&str; 8] = ["lando", "han", "ada", "qira", "vuffi", "zuckuss", "therm", "lobot"];

impl Plan {
    /// Makes a plan. `ruleset` is `key=value,…`, with a list's items joined by `+`; empty for the
    /// defaults.
    ///
    /// # Errors
    /// If it is no rule set of the variant, or the variant does not take this number of players.
    pub fn try_new(
        variant: &str,
        ruleset: &str,
        players: u8,
        seed: u64,
    ) -> Result<Plan, PlanError> {
        let rules = RuleSet::parse(variant, &parse_fields(variant, ruleset)?)?;
        rules::check_player_count(&rules, usize::from(players))?;
        let plan = Plan { rules, players, seed };
        plan.max_stack()?;
        Ok(plan)
    }

    /// Plays the hand with this number, from 0, to its end.
    ///
    /// # Errors
    /// Only if the rules contradict themselves.
    pub fn hand(&self, number: u64) -> Result<HandHistory, SimulationError> {
        let mut rng = SplitMix64::new(self.seed, number);
        let mut choose = |n: u64| rng.below(n);
        let setup = self.setup(&mut choose);
        let names = NAMES.iter().take(setup.seats.len()).map(|name| (*name).to_owned());
        let mut history = HandHistory::for_setup(&setup, names.collect());
        let mut hand = Hand::try_new(&setup)?;
        while let Some(event) = random_event(&hand, &mut choose)? {
            let line = history_line(&hand, &event);
            if !line.is_empty() {
                history.actions.push(line);
            }
            evolve(&mut hand, &event);
        }
        if let Some(end) = hand.settlement() {
            history.settle(&self.rules, end);
        }
        Ok(history)
    }

    /// Unit of stacks and pots.
    fn unit(&self) -> u64 {
        self.rules.min_stack(Credits::ZERO).get().max(10)
    }

    /// Largest stack that is dealt: one for each player and the pots stay in range together.
    fn max_stack(&self) -> Result<u64, PlanError> {
        let share = Credits::MAX.get() / (u64::from(self.players) + 2);
        let deepest = self.unit().saturating_mul(200).min(share);
        if self.unit() > deepest { Err(PlanError::Antes) } else { Ok(deepest) }
    }

    /// Random seats, stacks and pots; some stacks only just cover the antes.
    fn setup(&self, choose: &mut dyn FnMut(u64) -> u64) -> Setup {
        let variant = self.rules.variant();
        let (unit, deepest) = (self.unit(), self.max_stack().unwrap_or(u64::MAX));
        let mut pot = |has: bool| {
            let full = choose(3) > 0;
            let amount = choose(unit.saturating_mul(10).min(deepest));
            let amount = if has && full { amount } else { 0 };
            Credits::try_new(amount).unwrap_or(Credits::ZERO)
        };
        let (sabacc_pot, carried_pot) = (pot(variant.has_sabacc_pot), pot(variant.has_carried_pot));
        let due = self.rules.min_stack(sabacc_pot).get();
        let stacks = (0..self.players).map(|_| {
            let depth = match choose(12) {
                0 => 1,
                1 | 2 => unit,
                3..=5 => unit.saturating_mul(10),
                _ => unit.saturating_mul(100),
            };
            let stack = due.saturating_add(choose(depth)).min(deepest.max(due));
            Credits::try_new(stack).unwrap_or(Credits::MAX)
        });
        let stacks = stacks.collect();
        Setup { rules: self.rules, seats: self.seats(choose), stacks, sabacc_pot, carried_pot }
    }

    /// Random seats of the eight, from a random one.
    fn seats(&self, choose: &mut dyn FnMut(u64) -> u64) -> Vec<SeatNo> {
        let mut free: Vec<SeatNo> =
            (1..=SeatNo::MAX).filter_map(|n| SeatNo::try_new(n).ok()).collect();
        while free.len() > usize::from(self.players) {
            free.remove(index(free.len(), choose));
        }
        let first = index(free.len(), choose);
        free.rotate_left(first);
        free
    }
}

/// Reads the fields that `key=value,…` names, each as the variant's type.
fn parse_fields(variant: &str, ruleset: &str) -> Result<Vec<(String, FieldValue)>, PlanError> {
    let known = rules::variant(variant).map_or(&[][..], |variant| variant.fields);
    let mut fields = Vec::new();
    for item in ruleset.split(',').filter(|item| !item.is_empty()) {
        let no_value = || PlanError::NoValue { item: item.to_owned() };
        let (name, value) = item.split_once('=').ok_or_else(no_value)?;
        let (name, value) = (name.trim(), value.trim());
        let wrong =
            |want| PlanError::Value { field: name.to_owned(), want, given: value.to_owned() };
        let default = known.iter().find(|field| field.name() == name);
        let value = match default.map(rules::Field::default_value) {
            Some(FieldValue::Number(_)) => {
                let number: Credits = value.parse().map_err(|_| wrong("a whole number"))?;
                FieldValue::Number(number.get())
            }
            Some(FieldValue::Flag(_)) => {
                FieldValue::Flag(value.parse().map_err(|_| wrong("true or false"))?)
            }
            Some(FieldValue::List(_)) => {
                let items = value.split('+').filter(|item| !item.is_empty());
                FieldValue::List(items.map(str::to_owned).collect())
            }
            // The rule set reports a field that it does not have.
            Some(FieldValue::Text(_)) | None => FieldValue::Text(value.to_owned()),
        };
        fields.push((name.to_owned(), value));
    }
    Ok(fields)
}

/// The next event at random; none if the hand is over.
fn random_event(hand: &Hand, choose: &mut dyn FnMut(u64) -> u64) -> Result<Option<Event>, Refusal> {
    if let Some(outcome) = play::random_outcome(hand, choose) {
        return resolve_chance(hand, outcome).map(Some);
    }
    let Next::Decision(decision) = next(hand) else { return Ok(None) };
    if choose(200) == 0 {
        let staying: Vec<Player> =
            hand.players().filter(|player| !hand.leavers().contains(*player)).collect();
        let leaver = staying.get(index(staying.len(), choose)).copied();
        return decide(
            hand,
            leaver.unwrap_or(decision.player),
            Move::Leave,
            DecisionAuthor::Player,
        )
        .map(Some);
    }
    let mv = random_move(&decision, choose);
    decide(hand, decision.player, mv, DecisionAuthor::Player).map(Some)
}

/// A random legal move: kinds by their weight, and one bet in twenty-five as large as it may be.
fn random_move(decision: &Decision, choose: &mut dyn FnMut(u64) -> u64) -> Move {
    let kinds = &decision.legal;
    let total = kinds.iter().map(weight).sum::<u64>();
    let mut at = choose(total.max(1));
    let mut picked = &kinds[0];
    for kind in kinds {
        picked = kind;
        match at.checked_sub(weight(kind)) {
            Some(rest) => at = rest,
            None => break,
        }
    }
    if let Choices::Amount { max, .. } = picked.choices
        && choose(25) == 0
        && let Some(most) = picked.kind.with(Arguments::Amount(max))
    {
        return most;
    }
    picked.random_move(choose)
}

/// Relative frequency of a kind of move, so that hands go on and every kind occurs.
const fn weight(legal: &Legal) -> u64 {
    match legal.kind {
        MoveKind::Fold | MoveKind::Junk => 2,
        MoveKind::Unlock | MoveKind::Raise | MoveKind::Token => 5,
        MoveKind::CallHand | MoveKind::Lock | MoveKind::DrawFrom => 6,
        MoveKind::Bet | MoveKind::Trade | MoveKind::Gain | MoveKind::Swap => 8,
        MoveKind::Draw
        | MoveKind::Keep
        | MoveKind::Drop
        | MoveKind::Align
        | MoveKind::Choose
        | MoveKind::Prime
        | MoveKind::Discard
        | MoveKind::Impostor
        | MoveKind::Select
        | MoveKind::Add => 10,
        MoveKind::Stand => 12,
        MoveKind::Check => 24,
        MoveKind::Match => 30,
        // Never listed.
        MoveKind::Leave => 0,
    }
}

fn index(below: usize, choose: &mut dyn FnMut(u64) -> u64) -> usize {
    let below = u64::try_from(below).unwrap_or(u64::MAX).max(1);
    usize::try_from(choose(below)).unwrap_or(0)
}

/// The generator of Steele, Lea and Flood.
struct SplitMix64(u64);

impl SplitMix64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Stream of one hand: it starts at a word that only this seed and number give.
    fn new(seed: u64, number: u64) -> SplitMix64 {
        let seed = SplitMix64(seed).word();
        SplitMix64(SplitMix64(seed ^ number).word())
    }

    const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(SplitMix64::STEP);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `n`; 0 if `n` is 0. It is the upper half of a product: as even as 64 bits
    /// allow.
    fn below(&mut self, n: u64) -> u64 {
        let product = u128::from(self.word()) * u128::from(n);
        u64::try_from(product >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The published first words for the seed 1234567.
        let mut words = SplitMix64(1_234_567);
        assert_eq!(words.word(), 6_457_827_717_110_365_317);
        assert_eq!(words.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn plans_that_cannot_be_played_are_refused_by_name() {
        let why = |variant, ruleset, players| {
            Plan::try_new(variant, ruleset, players, 1).unwrap_err().to_string()
        };
        assert_eq!(why("poker", "", 4), "there is no variant `poker`");
        assert_eq!(why("dice", "chips=4", 4), "the variant dice has no rule set field `chips`");
        assert_eq!(why("dice", "holdem", 4), "`holdem` is not `key=value`");
        let flag = "the rule set field `holdem` must be true or false, not `yes`";
        assert_eq!(why("dice", "holdem=yes", 4), flag);
        let number = "the rule set field `hand_ante` must be a whole number, not `05`";
        assert_eq!(why("dice", "hand_ante=05", 4), number);
        assert_eq!(why("kessel", "", 7), "kessel is for 2 to 6 players, not 7");
        let rich = "hand_ante=9007199254740991,sabacc_ante=0";
        assert_eq!(why("dice", rich, 4), "the antes are too large for so many players");
        let list = "tokens=assigned,assigned_tokens=refund+embargo+immunity";
        assert!(Plan::try_new("kessel", list, 4, 1).is_ok());
    }
}
