//! Betting by the average share of the pot that a hand wins.

use proto::common::v1::{LegalMove, Move, MoveKind};

use super::deal::WHOLE_POT;
use super::situation::Money;
use super::{find_legal, plain_move};

/// Average share of the pot, in thousandths, from which on a bet is as large as the pot: it wins more
/// often than all others together.
const SURE_EQUITY: i64 = 650;

/// Estimates about the viewer's hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    /// Average share of the pot that it wins, in thousandths.
    pub(super) equity: i64,
    /// Average win from the Sabacc Pot, in thousandths of the pot.
    pub(super) prize: i64,
    /// Average further cost of the reveal, in thousandths of the pot.
    pub(super) penalty: i64,
    /// Cost of folding, in credits.
    pub(super) fold_cost: u64,
    /// Number of opponents who can win.
    pub(super) opponents: usize,
}

/// Chooses the move of a betting round; none outside of one.
pub(super) fn bet(legal: &[LegalMove], money: Money, chances: Estimate) -> Option<Move> {
    let Estimate { equity, prize, penalty, fold_cost: fold, opponents: others } = chances;
    let fair = WHOLE_POT / i64::try_from(others + 1).unwrap_or(WHOLE_POT);
    let good = equity > (fair * 13 / 10).min(WHOLE_POT * 3 / 4);
    if let Some(call) = plain_move(legal, MoveKind::CallHand).filter(|_| good && equity > 450) {
        return Some(call);
    }
    // In thousandths of a credit, so that nothing is rounded away.
    let (pot, folding) = (i128::from(money.pot), -1000 * i128::from(fold));
    if let Some(check) = plain_move(legal, MoveKind::Check) {
        if let Some(bet) = find_legal(legal, MoveKind::Bet).filter(|_| good) {
            let sure = equity > SURE_EQUITY;
            let wanted = if sure { money.pot } else { money.pot / 3 };
            return Some(sized_bet(bet, wanted, money.stack / 4));
        }
        let staying = i128::from(equity + prize - penalty) * pot;
        return if staying < folding { plain_move(legal, MoveKind::Fold) } else { Some(check) };
    }
    let price = find_legal(legal, MoveKind::Match)?.min_credits;
    let raises = equity > (fair * 17 / 10).max(600) && money.in_round == 0;
    if let Some(raise) = find_legal(legal, MoveKind::Raise).filter(|_| raises)
        && raise.min_credits <= money.stack / 2
    {
        return Some(sized_bet(raise, raise.min_credits, money.stack / 2));
    }
    let price = i128::from(price);
    // An opponent who bets holds more than a random hand.
    let staying =
        i128::from(equity - penalty) * (pot + price) + i128::from(prize) * pot - 1100 * price;
    plain_move(legal, if staying >= folding { MoveKind::Match } else { MoveKind::Fold })
}

/// Returns a bet of about `wanted`, at most `most` unless the legal minimum is higher.
fn sized_bet(legal: &LegalMove, wanted: u64, most: u64) -> Move {
    let amount =
        wanted.min(most).clamp(legal.min_credits, legal.max_credits.max(legal.min_credits));
    Move { kind: legal.kind, amount_credits: amount, ..Move::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranged(kind: MoveKind, min: u64, max: u64) -> LegalMove {
        LegalMove { kind: kind.into(), min_credits: min, max_credits: max, ..LegalMove::default() }
    }

    fn decide(equity: i64, penalty: i64, legal: &[LegalMove]) -> Move {
        let money = Money { pot: 100, sabacc_pot: 0, stack: 400, in_round: 0 };
        bet(legal, money, Estimate { equity, prize: 0, penalty, fold_cost: 0, opponents: 2 })
            .unwrap()
    }

    #[test]
    fn a_match_is_worth_its_price_or_not() {
        let raise = ranged(MoveKind::Raise, 160, 400);
        let legal = [ranged(MoveKind::Match, 80, 80), raise, ranged(MoveKind::Fold, 0, 0)];
        assert_eq!(decide(300, 0, &legal).kind(), MoveKind::Fold);
        assert_eq!(decide(550, 0, &legal).kind(), MoveKind::Match);
        assert_eq!(decide(550, 300, &legal).kind(), MoveKind::Fold);
        let raise = decide(800, 0, &legal);
        assert_eq!((raise.kind(), raise.amount_credits), (MoveKind::Raise, 160));
    }

    #[test]
    fn good_hands_bet_and_call_and_a_certain_penalty_folds() {
        let bet = ranged(MoveKind::Bet, 5, 400);
        let legal = [ranged(MoveKind::Check, 0, 0), bet, ranged(MoveKind::Fold, 0, 0)];
        assert_eq!(
            (decide(500, 0, &legal).kind(), decide(500, 0, &legal).amount_credits),
            (MoveKind::Bet, 33)
        );
        assert_eq!(decide(200, 0, &legal).kind(), MoveKind::Check);
        assert_eq!(decide(0, 1000, &legal).kind(), MoveKind::Fold);
        let call = [ranged(MoveKind::Check, 0, 0), ranged(MoveKind::CallHand, 0, 0)];
        assert_eq!(decide(600, 0, &call).kind(), MoveKind::CallHand);
    }
}
