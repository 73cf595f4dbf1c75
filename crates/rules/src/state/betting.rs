//! One betting round, no-limit, with short bets, caps and the right to raise.
//!
//! A *full* bet or raise has at least the minimum size and gives everybody else the right to raise
//! again. A *short* one, the last of a stack, lifts what is to be matched and nothing else.
//!
//! Specification: rules/SPEC.md §4.

use primitives::Credits;

use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::{Move, MoveKind, actions};
use crate::player::{Player, PlayerSet};
use crate::state::Core;
use crate::state::pots::add;

actions! {
    /// A betting action.
    Action { Check, Bet(size: Credits), Match, Raise(total: Credits), Fold }
}

/// State of a betting round.
#[derive(Debug, Clone)]
pub(crate) struct Bets {
    paid: [Credits; 8],
    /// Total to be matched: the highest of the round.
    highest: Credits,
    /// The least size of a bet or raise.
    min_size: Credits,
    /// Players who may bet or raise: they have not acted, or somebody else made a full one since.
    may_raise: PlayerSet,
    /// Players who must still act.
    pending: PlayerSet,
    turn: Option<Player>,
    /// Player who last lifted the total to be matched, by short bets too.
    last_raiser: Option<Player>,
}

impl Bets {
    /// Whether a round can be held: two live players have credits to bet.
    pub(crate) fn can_start(core: &Core) -> bool {
        core.able_to_bet().len() >= 2
    }

    pub(crate) fn new(core: &Core) -> Bets {
        let able = core.able_to_bet();
        Bets {
            paid: [Credits::ZERO; 8],
            highest: Credits::ZERO,
            min_size: core.rules.least_bet(),
            may_raise: able,
            pending: able,
            turn: able.lowest(),
            last_raiser: None,
        }
    }

    /// Lets everybody who can bet act again, from `caller`, and raise as at the start of a round.
    /// Bets and the minimum size stand.
    pub(crate) fn reopen(&mut self, core: &Core, caller: Player) {
        self.may_raise = core.able_to_bet();
        self.pending = self.may_raise;
        self.turn = Some(caller);
    }

    /// Player to act; none if the round is over.
    pub(crate) const fn turn(&self) -> Option<Player> {
        self.turn
    }

    pub(crate) const fn highest(&self) -> Credits {
        self.highest
    }

    pub(crate) fn paid(&self, player: Player) -> Credits {
        self.paid[player.index()]
    }

    pub(crate) const fn last_raiser(&self) -> Option<Player> {
        self.last_raiser
    }

    /// Amount that `player` must add to match, whatever the stack.
    fn to_match(&self, player: Player) -> Credits {
        self.highest.saturating_minus(self.paid(player))
    }

    /// Adds the betting actions of a live player who is not all-in.
    pub(crate) fn push_legal(&self, core: &Core, player: Player, moves: &mut LegalMoves) {
        let to_match = self.to_match(player);
        let totals = self.raise_range(core, player);
        if to_match.is_zero() {
            moves.push(Legal::plain(MoveKind::Check));
            if let Some((min, max)) = totals {
                let paid = self.paid(player);
                let (min, max) = (min.saturating_minus(paid), max.saturating_minus(paid));
                moves.push(Legal::new(MoveKind::Bet, Choices::Amount { min, max }));
            }
        } else {
            let price = Choices::Price(to_match.min(core[player].stack));
            moves.push(Legal::new(MoveKind::Match, price));
            if let Some((min, max)) = totals {
                moves.push(Legal::new(MoveKind::Raise, Choices::Amount { min, max }));
            }
        }
        moves.push(Legal::plain(MoveKind::Fold));
    }

    /// The smallest and the largest total that the player may bet or raise to.
    fn raise_range(&self, core: &Core, player: Player) -> Option<(Credits, Credits)> {
        let others = core.able_to_bet().without(player);
        if !self.may_raise.contains(player) || others.is_empty() {
            return None;
        }
        let stack = add(self.paid(player), core[player].stack);
        if stack <= self.highest {
            return None;
        }
        let min = self.highest.plus(self.min_size).unwrap_or(Credits::MAX).min(stack);
        let max = stack.min(self.cap(core, player));
        (min <= max).then_some((min, max))
    }

    /// The largest total that the caps leave the player. A cap that is used up still binds.
    fn cap(&self, core: &Core, player: Player) -> Credits {
        let rules = &core.rules;
        let paid = self.paid(player);
        let bets = core[player].contribution.saturating_minus(rules.hand_ante);
        let before = bets.saturating_minus(paid);
        let pot = add(core.hand_pot, core.carried_pot).saturating_minus(paid);
        let set = |limit: Credits, left: Credits| {
            if limit.is_zero() { Credits::MAX } else { left }
        };
        let by_raise = self.highest.plus(rules.max_raise).unwrap_or(Credits::MAX);
        set(rules.max_raise, by_raise)
            .min(set(rules.max_round_total, rules.max_round_total))
            .min(set(rules.max_hand_total, rules.max_hand_total.saturating_minus(before)))
            .min(set(rules.max_pot, rules.max_pot.saturating_minus(pot)))
    }

    /// The clock's choice.
    pub(crate) fn default_move(&self, player: Player) -> Move {
        if self.to_match(player).is_zero() { Move::Check } else { Move::Fold }
    }

    /// Applies a legal betting action and moves the turn on.
    pub(crate) fn act(&mut self, core: &mut Core, player: Player, mv: &Move) {
        self.may_raise = self.may_raise.without(player);
        self.pending = self.pending.without(player);
        match Action::of(mv) {
            Action::Match => self.pay(core, player, self.to_match(player)),
            Action::Bet(size) => self.raise_to(core, player, add(self.paid(player), size)),
            Action::Raise(total) => self.raise_to(core, player, total),
            Action::Fold => core.fold(player),
            Action::Check => {}
        }
        self.turn = self.pending.next_clockwise(player);
    }

    fn pay(&mut self, core: &mut Core, player: Player, amount: Credits) {
        let amount = core.pay_pot(player, amount);
        self.paid[player.index()] = add(self.paid(player), amount);
    }

    /// Lifts the total to be matched to `total`.
    fn raise_to(&mut self, core: &mut Core, player: Player, total: Credits) {
        let size = total.saturating_minus(self.highest);
        self.pay(core, player, total.saturating_minus(self.paid(player)));
        self.highest = total;
        self.last_raiser = Some(player);
        let others = core.able_to_bet().without(player);
        self.pending = others;
        if size >= self.min_size {
            self.min_size = size;
            self.may_raise = others;
        }
    }
}
