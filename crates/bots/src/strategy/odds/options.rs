//! Choices about the cards in the games to 23, eleven and Spike, and their average results.

use proto::common::v1::{Move, MoveKind};
use rand::rngs::StdRng;
use rules::{Card, Cards, GameState, SpikeState, Strength};

use super::bets::{Estimate, bet};
use super::deal::{Packs, Rivals, Tally, WHOLE_POT, deal_count};
use super::situation::{Money, Opponent, Situation};
use super::{card_move, find_legal, plain_move};

/// Effect of a choice on the hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    drop: Option<Card>,
    gain: Gain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gain {
    Nothing,
    /// A random unseen card.
    Unseen,
    This(Card),
}

const KEEP: Change = Change { drop: None, gain: Gain::Nothing };

/// Most that the Sabacc Pot counts, in pots.
const MAX_PRIZE: u64 = 50;
/// Share of the pot, in thousandths, from which on a hand is protected from shifts.
const MIN_SAFE: i64 = 550;
/// Share of the pot, in thousandths, up to which a locked hand is unlocked.
const MAX_HOPELESS: i64 = 150;

/// Chooses a move; none if odds do not apply.
pub(super) fn choose(situation: &Situation<'_>, generator: &mut StdRng) -> Option<Move> {
    let legal = situation.legal;
    if find_legal(legal, MoveKind::Align).is_some() {
        return None;
    }
    let choices = choices(situation);
    if choices.is_empty() {
        return betting(situation, generator);
    }
    let changes: Vec<Change> = choices.iter().map(|(change, _)| *change).collect();
    let tallies = evaluate(situation, &changes, generator);
    let penalty = penalty(situation);
    let value = |tally: &Tally| {
        let prize = sabacc_pot_share(situation, *tally);
        tally.equity() + prize - tally.bomb_rate() * penalty / WHOLE_POT
    };
    let best = (0..choices.len()).max_by_key(|&at| value(&tallies[at]))?;
    let (change, decision) = choices.get(best)?;
    let equity = tallies[best].equity();
    if *change == KEEP {
        let good = equity
            > (WHOLE_POT * 3 / 2 / i64::try_from(situation.opponents.len() + 1).ok()?).min(700);
        if let Some(call) = plain_move(legal, MoveKind::CallHand).filter(|_| good) {
            return Some(call);
        }
        let lock = find_legal(legal, MoveKind::Lock).filter(|_| equity >= MIN_SAFE);
        let card = lock.and_then(|lock| lock.cards.first());
        let lock = card.map(|card| card_move(MoveKind::Lock, &[card]));
        return Some(lock.unwrap_or_else(|| decision.clone()));
    }
    if equity <= MAX_HOPELESS
        && let Some(card) =
            find_legal(legal, MoveKind::Unlock).and_then(|unlock| unlock.cards.first())
    {
        return Some(card_move(MoveKind::Unlock, &[card]));
    }
    Some(decision.clone())
}

/// Returns the average win from the Sabacc Pot, in thousandths of the pot.
fn sabacc_pot_share(situation: &Situation<'_>, tally: Tally) -> i64 {
    let Money { pot, sabacc_pot, .. } = situation.money;
    let pots = sabacc_pot.min(pot.saturating_mul(MAX_PRIZE)) * 1000 / pot.max(1);
    tally.special_equity() * i64::try_from(pots).unwrap_or(0) / 1000
}

/// Returns the cost of a bombed-out hand, in thousandths of the pot: half while the hand is not
/// called and can still improve. In `swg` nobody calls, and a lap of draws is mostly the last.
fn penalty(situation: &Situation<'_>) -> i64 {
    if situation.rules.has_bomb_out_penalty() {
        let is_last = situation.is_called || matches!(situation.game, GameState::Swg(_));
        if is_last { WHOLE_POT } else { WHOLE_POT / 2 }
    } else {
        0
    }
}

/// Returns every choice about the cards, with the move that makes it.
fn choices(situation: &Situation<'_>) -> Vec<(Change, Move)> {
    let mut choices = Vec::new();
    for legal in situation.legal {
        let kind = legal.kind();
        let (gain, naming_one) = match kind {
            MoveKind::Stand | MoveKind::Keep => (Gain::Nothing, false),
            MoveKind::Draw => (Gain::Unseen, false),
            MoveKind::Trade => (Gain::Unseen, true),
            MoveKind::Gain => (Gain::Unseen, !legal.cards.is_empty()),
            MoveKind::Drop => (Gain::Nothing, true),
            MoveKind::Swap => match top_discard(situation) {
                Some(card) => (Gain::This(card), true),
                None => continue,
            },
            MoveKind::Unspecified
            | MoveKind::Lock
            | MoveKind::Unlock
            | MoveKind::Check
            | MoveKind::Bet
            | MoveKind::Match
            | MoveKind::Raise
            | MoveKind::Fold
            | MoveKind::CallHand
            | MoveKind::Leave
            | MoveKind::Align
            | MoveKind::Choose
            | MoveKind::Token
            | MoveKind::Prime
            | MoveKind::DrawFrom
            | MoveKind::Discard
            | MoveKind::Impostor
            | MoveKind::Junk
            | MoveKind::Select
            | MoveKind::Add
            | MoveKind::Void => continue,
        };
        if naming_one {
            choices.extend(legal.cards.iter().filter_map(|code| {
                let drop = Some(situation.held(code)?);
                Some((Change { drop, gain }, card_move(kind, &[code])))
            }));
        } else {
            choices.push((Change { drop: None, gain }, card_move(kind, &[])));
        }
    }
    choices
}

/// Returns the top discard: a copy that is neither held nor unseen.
fn top_discard(situation: &Situation<'_>) -> Option<Card> {
    let GameState::Spike(SpikeState { top_discard }) = situation.game else { return None };
    let deck = situation.rules.variant().deck;
    let meant = deck.parse(deck.code(top_discard?));
    let unseen = situation.unseen.iter().flatten();
    let elsewhere = unseen.chain(&situation.hand).copied().collect();
    meant.minus(elsewhere).nth(0)
}

fn betting(situation: &Situation<'_>, generator: &mut StdRng) -> Option<Move> {
    find_legal(situation.legal, MoveKind::Fold)?;
    let changes = changes_after_betting(situation);
    let tallies = evaluate(situation, &changes, generator);
    let costs = penalty(situation);
    let best = tallies.iter().max_by_key(|tally| {
        let prize = sabacc_pot_share(situation, **tally);
        tally.equity() + prize - tally.bomb_rate() * costs / WHOLE_POT
    })?;
    let chances = Estimate {
        equity: best.equity(),
        prize: sabacc_pot_share(situation, *best),
        penalty: best.bomb_rate() * costs / WHOLE_POT,
        fold_cost: situation.rules.fold_penalty().get(),
        opponents: situation.opponents.len(),
    };
    bet(situation.legal, situation.money, chances)
}

/// Returns the changes that are still possible after the betting.
fn changes_after_betting(situation: &Situation<'_>) -> Vec<Change> {
    let draws = match situation.game {
        GameState::Swg(_) => situation.rules.has_draw_phase(),
        GameState::Dice(_) | GameState::Electronic(_) | GameState::Force(_) => !situation.is_called,
        GameState::Spike(_) => situation.round < 3,
        GameState::Coruscant(_) | GameState::Eleven(_) | GameState::Kessel(_) => false,
    };
    let mut changes = vec![KEEP];
    if draws {
        changes.push(Change { drop: None, gain: Gain::Unseen });
        let free = situation.hand.iter().filter(|card| !situation.locked.contains(card));
        changes.extend(free.map(|&card| Change { drop: Some(card), gain: Gain::Unseen }));
    }
    changes
}

/// Evaluates every change in the same random deals.
fn evaluate(situation: &Situation<'_>, changes: &[Change], generator: &mut StdRng) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); changes.len()];
    let mut packs = Packs::new(situation);
    for _ in 0..deal_count(changes.len() + situation.opponents.len()) {
        packs.reset();
        let drawn = packs.deal(0, generator);
        let rivals = situation.opponents.iter();
        let rivals =
            Rivals::of(rivals.map(|other| rival_strength(situation, other, &mut packs, generator)));
        for (change, tally) in changes.iter().zip(&mut tallies) {
            let strength = situation.scale.strength(&apply_change(&situation.hand, *change, drawn));
            let share = rivals.share(strength);
            tally.record(share, strength.is_none());
            if situation.special.is_some_and(|least| strength >= Some(least)) {
                tally.record_special(share);
            }
        }
    }
    tallies
}

/// Returns the strength of an opponent's hand. In `swg` whoever holds the two cards that they were
/// dealt draws, unless they are good enough.
fn rival_strength(
    situation: &Situation<'_>,
    other: &Opponent,
    packs: &mut Packs,
    generator: &mut StdRng,
) -> Option<Strength> {
    let mut hand = packs.hand(other, generator);
    let strength = situation.scale.strength(&hand);
    let draws = matches!(situation.game, GameState::Swg(_)) && hand.len() == 2;
    if !draws || strength >= situation.good_enough {
        return strength;
    }
    hand.extend(packs.deal(0, generator));
    situation.scale.strength(&hand)
}

fn apply_change(mine: &[Card], change: Change, drawn: Option<Card>) -> Cards {
    let kept = mine.iter().copied().filter(|card| Some(*card) != change.drop);
    let gained = match change.gain {
        Gain::Nothing => None,
        Gain::Unseen => drawn,
        Gain::This(card) => Some(card),
    };
    kept.chain(gained).collect()
}
