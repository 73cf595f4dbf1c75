//! Kessel: chooses what loses the fewest chips on average. Shift tokens are never played.

use proto::common::v1::{LegalMove, Move, MoveKind};
use rand::RngExt;
use rand::rngs::StdRng;
use rules::{
    Card, Cards, DrawSource, Evaluator, FixTokens, GameState, KesselState, RuleSet, Strength,
};

use super::deal::{Packs, Rivals, deal_count};
use super::situation::Situation;
use super::{card_move, find_legal, plain_move};

/// Choice: the hand that it leaves, and the card that it may bring.
#[derive(Clone)]
struct Plan {
    hand: Cards,
    draw: Draw,
    /// Values of the cards after the choice.
    scale: Evaluator,
}

#[derive(Clone, Copy)]
enum Draw {
    Nothing,
    /// From the draw pile of this family.
    Unseen(usize),
    /// From a discard pile.
    Known(Card),
}

/// The two dice of an Impostor.
type Dice = [u8; 2];

pub(super) fn choose(
    situation: &Situation<'_>,
    state: &KesselState,
    generator: &mut StdRng,
) -> Option<Move> {
    let legal = situation.legal;
    let choices = if let Some(discard) = find_legal(legal, MoveKind::Discard) {
        discards(situation, discard)
    } else if let Some(impostor) = find_legal(legal, MoveKind::Impostor) {
        values(situation, impostor)?
    } else if let Some(prime) = find_legal(legal, MoveKind::Prime) {
        primes(situation, state, prime)
    } else {
        actions(situation, state)?
    };
    let plans: Vec<Plan> = choices.iter().map(|(plan, _)| plan.clone()).collect();
    let losses = average_losses(situation, &plans, chips_invested(situation, state), generator);
    let best = (0..choices.len()).min_by_key(|&at| losses[at])?;
    choices.into_iter().nth(best).map(|(_, decision)| decision)
}

type Choices = Vec<(Plan, Move)>;

fn discards(situation: &Situation<'_>, discard: &LegalMove) -> Choices {
    let choice = |code: &String| {
        let card = situation.held(code)?;
        let hand = situation.hand.iter().copied().filter(|&held| held != card).collect();
        Some((plan(situation, hand, Draw::Nothing), card_move(MoveKind::Discard, &[code])))
    };
    discard.cards.iter().filter_map(choice).collect()
}

fn values(situation: &Situation<'_>, impostor: &LegalMove) -> Option<Choices> {
    let code = impostor.cards.first()?;
    let card = situation.held(code)?;
    let choice = |&value: &u32| {
        let as_number = with_number(situation.rules, card, u8::try_from(value).ok()?)?;
        let swap = |held: &Card| if *held == card { as_number } else { *held };
        let hand = situation.hand.iter().map(swap).collect();
        let decision = Move { value, ..card_move(MoveKind::Impostor, &[code]) };
        Some((plan(situation, hand, Draw::Nothing), decision))
    };
    Some(impostor.values.iter().filter_map(choice).collect())
}

fn primes(situation: &Situation<'_>, state: &KesselState, prime: &LegalMove) -> Choices {
    let choice = |&value: &u32| {
        let prime_value = u8::try_from(value).ok();
        let fix_tokens = FixTokens { prime: prime_value, ..state.fix_tokens };
        let with_prime = GameState::Kessel(KesselState { fix_tokens, ..state.clone() });
        let scale = Evaluator::for_state(situation.rules, &with_prime)?;
        let plan = Plan { scale, ..plan(situation, situation.hand.clone(), Draw::Nothing) };
        Some((plan, Move { kind: prime.kind, value, ..Move::default() }))
    };
    prime.values.iter().filter_map(choice).collect()
}

/// Returns the choices between standing and drawing from one of the piles.
fn actions(situation: &Situation<'_>, state: &KesselState) -> Option<Choices> {
    let stand = plain_move(situation.legal, MoveKind::Stand)?;
    let mine = || situation.hand.clone();
    let mut choices = vec![(plan(situation, mine(), Draw::Nothing), stand)];
    let piles = situation.legal.iter().filter(|legal| legal.kind() == MoveKind::DrawFrom);
    for name in piles.flat_map(|legal| &legal.names) {
        let source = DrawSource::ALL.into_iter().find(|source| source.name() == name)?;
        let draw = match source {
            DrawSource::Sand => Draw::Unseen(0),
            DrawSource::Blood => Draw::Unseen(1),
            DrawSource::SandDiscard => Draw::Known(state.sand_discard?),
            DrawSource::BloodDiscard => Draw::Known(state.blood_discard?),
        };
        let kind = MoveKind::DrawFrom.into();
        let decision = Move { kind, names: vec![name.clone()], ..Move::default() };
        choices.push((plan(situation, mine(), draw), decision));
    }
    Some(choices)
}

fn plan(situation: &Situation<'_>, hand: Cards, draw: Draw) -> Plan {
    Plan { hand, draw, scale: situation.scale.clone() }
}

/// Returns the chips that the viewer has invested in this round.
fn chips_invested(situation: &Situation<'_>, state: &KesselState) -> i64 {
    state.players.get(situation.me).map_or(0, |place| i64::from(place.hand_pot))
}

/// Returns the average loss of each plan, in thousandths of a chip.
fn average_losses(
    situation: &Situation<'_>,
    plans: &[Plan],
    invested: i64,
    generator: &mut StdRng,
) -> Vec<i64> {
    let rules = situation.rules;
    let mut losses = vec![0; plans.len()];
    let mut packs = Packs::new(situation);
    // A hand with Impostors is evaluated several times.
    let deals = deal_count(3 * (plans.len() + situation.opponents.len()));
    for _ in 0..deals {
        packs.reset();
        let drawn = [packs.deal(0, generator), packs.deal(1, generator)];
        let others: Vec<(Cards, [Dice; 2])> = situation
            .opponents
            .iter()
            .map(|other| (packs.hand(other, generator), roll_dice(generator)))
            .collect();
        let dice = roll_dice(generator);
        for (plan, loss) in plans.iter().zip(&mut losses) {
            let scale = &plan.scale;
            let rivals = others.iter().map(|(hand, dice)| best_strength(rules, scale, hand, *dice));
            let rivals = Rivals::of(rivals.map(|best| best.map(|(strength, _)| strength)));
            let mine = outcome(rules, plan, drawn, dice);
            if rivals.share(mine.map(|(strength, _)| strength)) == 0 {
                let paid = i64::from(!matches!(plan.draw, Draw::Nothing));
                let due = mine.map_or(6, |(_, due)| i64::from(due));
                *loss += 1000 * (invested + paid + due);
            }
        }
    }
    let deals = i64::try_from(deals).unwrap_or(1);
    losses.iter().map(|loss| loss / deals).collect()
}

fn roll_dice(generator: &mut StdRng) -> [Dice; 2] {
    [(); 2].map(|()| [(); 2].map(|()| generator.random_range(1..=6)))
}

/// Returns the best outcome of a plan: the drawn card may be kept or not.
fn outcome(
    rules: &RuleSet,
    plan: &Plan,
    drawn: [Option<Card>; 2],
    dice: [Dice; 2],
) -> Option<(Strength, u8)> {
    let card = match plan.draw {
        Draw::Nothing => None,
        Draw::Unseen(family) => drawn.get(family).copied().flatten(),
        Draw::Known(card) => Some(card),
    };
    let as_it_is = best_strength(rules, &plan.scale, &plan.hand, dice);
    let Some(card) = card else { return as_it_is };
    let swap = |held: &Card| if family(rules, *held) == family(rules, card) { card } else { *held };
    let with: Cards = plan.hand.iter().map(swap).collect();
    as_it_is.max(best_strength(rules, &plan.scale, &with, dice))
}

/// Returns a hand's strength, and the chips that losing with it costs; its Impostors take the
/// better die.
fn best_strength(
    rules: &RuleSet,
    scale: &Evaluator,
    hand: &[Card],
    dice: [Dice; 2],
) -> Option<(Strength, u8)> {
    if let Some(strength) = scale.strength(hand) {
        return Some((strength, scale.chips_due(hand)?));
    }
    let values = |card: Card| -> Cards {
        if !is_impostor(rules, card) {
            return Cards::from_slice(&[card]);
        }
        let dice = dice[family(rules, card)];
        dice.into_iter().filter_map(|value| with_number(rules, card, value)).collect()
    };
    let &[first, second] = hand else { return None };
    let pairs =
        values(first).into_iter().flat_map(|a| values(second).into_iter().map(move |b| [a, b]));
    pairs.filter_map(|hand| Some((scale.strength(&hand)?, scale.chips_due(&hand)?))).max()
}

fn is_impostor(rules: &RuleSet, card: Card) -> bool {
    rules.variant().deck.code(card).ends_with('I')
}

/// Returns 0 for Sand, 1 for Blood.
fn family(rules: &RuleSet, card: Card) -> usize {
    let piles = rules.variant().piles;
    piles.iter().position(|pile| (pile.first..pile.end).contains(&card.id())).unwrap_or(0)
}

/// Returns a card of the same family with this number.
fn with_number(rules: &RuleSet, card: Card, value: u8) -> Option<Card> {
    let deck = rules.variant().deck;
    let family = deck.code(card).get(..1)?;
    deck.parse(&format!("{family}{value}")).nth(0)
}
