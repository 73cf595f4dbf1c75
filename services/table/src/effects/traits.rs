//! Traits of the effects: one row for each, from which all questions about an effect are answered.

use primitives::SeatNo;

use super::Effect;

/// Traits of an effect.
struct Traits {
    hand: HandScope,
    /// Seat that the effect belongs to.
    seat: Option<SeatNo>,
    /// Effect by which somebody's time runs out.
    is_deadline: bool,
    /// Transfer that gets another id once its id was refused as used.
    is_payment: bool,
    /// Payment to a player that may go to `house/suspense` instead.
    is_payable_to_suspense: bool,
    /// Use of a commitment of the dealer, which is at fault where it refuses.
    is_bound_by_dealer: bool,
    /// Question about who may be dealt in.
    asks_standing: bool,
    /// Not needed at a table that closes.
    ends_with_close: bool,
    /// Subject of the text that is recorded of a refusal.
    refused_subject: &'static str,
    /// Section of the runbook for an effect without an answer.
    runbook: &'static str,
}

/// Hand that an effect belongs to.
enum HandScope {
    None,
    Number(u64),
    /// The hand in play, whatever its number.
    InPlay,
}

const PLAIN: Traits = Traits {
    hand: HandScope::None,
    seat: None,
    is_deadline: false,
    is_payment: false,
    is_payable_to_suspense: false,
    is_bound_by_dealer: false,
    asks_standing: false,
    ends_with_close: false,
    refused_subject: "an effect",
    runbook: "deploy/README.md, A service does not answer",
};

const fn of_hand(hand_no: u64) -> Traits {
    Traits { hand: HandScope::Number(hand_no), ..PLAIN }
}

const fn of_seat(seat: SeatNo) -> Traits {
    Traits { seat: Some(seat), ..PLAIN }
}

const fn bound_by_dealer(hand_no: u64, refused_subject: &'static str) -> Traits {
    Traits { is_bound_by_dealer: true, refused_subject, ..of_hand(hand_no) }
}

impl Effect {
    const fn traits(self) -> Traits {
        match self {
            Effect::Commit { hand_no: _ } | Effect::CloseSpent | Effect::FollowGame => {
                Traits { ends_with_close: true, ..PLAIN }
            }
            Effect::Fund { seat } | Effect::PayOut { seat } => of_seat(seat),
            Effect::CashOut { seat } => {
                Traits { is_payment: true, is_payable_to_suspense: true, ..of_seat(seat) }
            }
            Effect::Start => Traits { asks_standing: true, ends_with_close: true, ..PLAIN },
            Effect::CheckStanding => Traits { asks_standing: true, ..PLAIN },
            Effect::CloseEntropy { hand_no } => Traits {
                is_deadline: true,
                ..bound_by_dealer(hand_no, "the closing of the commitments")
            },
            Effect::Burn { hand_no } => Traits { is_deadline: true, ..of_hand(hand_no) },
            Effect::Seal { hand_no } => bound_by_dealer(hand_no, "the seal of the hand"),
            Effect::Chance { hand_no, version: _ } => {
                bound_by_dealer(hand_no, "the use of chance that was due")
            }
            Effect::Leave { seat } => Traits { hand: HandScope::InPlay, ..of_seat(seat) },
            Effect::Settle { hand_no } => {
                bound_by_dealer(hand_no, "the opening of the hands shown at the end")
            }
            Effect::RecoverCards { hand_no } => Traits {
                refused_subject: "the opening of the cards that the table has lost",
                ..of_hand(hand_no)
            },
            Effect::Suspend { hand_no }
            | Effect::EndSuspended { hand_no }
            | Effect::Post { hand_no } => of_hand(hand_no),
            Effect::Return { seat } => Traits { ends_with_close: true, ..of_seat(seat) },
            Effect::Reveal { hand_no } => Traits {
                refused_subject: "the opening of the seed",
                runbook: "deploy/README.md, A seed is not opened",
                ..of_hand(hand_no)
            },
            Effect::Refund => Traits { is_payment: true, ..PLAIN },
            Effect::PayAbsent { player: _ } => {
                Traits { is_payment: true, is_payable_to_suspense: true, ..PLAIN }
            }
            Effect::RemoveIdle { seat } => {
                Traits { is_deadline: true, ends_with_close: true, ..of_seat(seat) }
            }
            Effect::Share | Effect::Close => PLAIN,
        }
    }

    /// Whether the effect belongs to the hand of this number.
    pub(crate) const fn is_of_hand(self, number: u64) -> bool {
        match self.traits().hand {
            HandScope::None => false,
            HandScope::Number(hand_no) => hand_no == number,
            HandScope::InPlay => true,
        }
    }

    /// Whether the effect belongs to this seat.
    pub(crate) fn is_of_seat(self, number: SeatNo) -> bool {
        self.traits().seat == Some(number)
    }

    /// Whether somebody's time runs out by this effect.
    pub(crate) const fn is_deadline(self) -> bool {
        self.traits().is_deadline
    }

    /// Whether the effect is a transfer that gets another id once its id was refused as used.
    pub(crate) const fn is_payment(self) -> bool {
        self.traits().is_payment
    }

    /// Whether the effect pays a player and may be paid to `house/suspense` instead.
    pub(crate) const fn is_payable_to_suspense(self) -> bool {
        self.traits().is_payable_to_suspense
    }

    /// Whether the dealer is at fault where it refuses the effect for good.
    pub(crate) const fn is_bound_by_dealer(self) -> bool {
        self.traits().is_bound_by_dealer
    }

    /// Whether the wallet is asked who may be dealt in. Such a question is asked again until it is
    /// answered.
    pub(crate) const fn asks_standing(self) -> bool {
        self.traits().asks_standing
    }

    /// Whether a table that closes does not need the effect.
    pub(crate) const fn ends_with_close(self) -> bool {
        self.traits().ends_with_close
    }

    /// Subject of the text that is recorded of a refusal.
    pub(crate) const fn refused_subject(self) -> &'static str {
        self.traits().refused_subject
    }

    /// Section of the runbook for an effect without an answer.
    pub(crate) const fn runbook(self) -> &'static str {
        self.traits().runbook
    }

    /// Describes the effect to everybody, without its reason and amount.
    pub(crate) fn describe(self) -> String {
        match self {
            Effect::Commit { hand_no } => format!("the dealer's commitment to hand {hand_no}"),
            Effect::Fund { seat } => format!("the buy-in of seat {seat}"),
            Effect::CashOut { seat } => format!("the cash-out of seat {seat}"),
            Effect::Start => "the start of the next hand".to_owned(),
            Effect::CloseEntropy { hand_no } => format!("the closing of entropy of hand {hand_no}"),
            Effect::Burn { hand_no } => format!("the burning of hand {hand_no}"),
            Effect::Seal { hand_no } => format!("the seal of hand {hand_no}"),
            Effect::Chance { hand_no, .. } => format!("chance in hand {hand_no}"),
            Effect::Leave { seat } => format!("the leaving of seat {seat}"),
            Effect::Settle { hand_no } => format!("the settlement of hand {hand_no}"),
            Effect::RecoverCards { hand_no } => format!("the lost cards of hand {hand_no}"),
            Effect::Suspend { hand_no } => format!("the suspension of hand {hand_no}"),
            Effect::EndSuspended { hand_no } => format!("the end of the suspended hand {hand_no}"),
            Effect::Return { seat } => format!("the return of seat {seat}"),
            Effect::Post { hand_no } => format!("the posting of hand {hand_no}"),
            Effect::Reveal { hand_no } => format!("the seed of hand {hand_no}"),
            Effect::PayOut { seat } => format!("the paying out of seat {seat}"),
            Effect::Share => "the sharing of the pots".to_owned(),
            Effect::Refund => "the refund of the pots".to_owned(),
            Effect::PayAbsent { .. } => "a share of the pots of a player who had left".to_owned(),
            Effect::Close => "the closing of the table".to_owned(),
            Effect::CloseSpent => "the closing of a table whose records are spent".to_owned(),
            Effect::FollowGame => "the record that the game was disabled or enabled".to_owned(),
            Effect::RemoveIdle { seat } => format!("the leaving of seat {seat}, which is idle"),
            Effect::CheckStanding => "the question how idle players stand".to_owned(),
        }
    }
}
