//! Setup of a hand: seats, stacks, pots and rules.
//!
//! Specification: rules/SPEC.md §3.2, §6.1.

use primitives::{Credits, SeatNo};

use crate::player::Player;
use crate::ruleset::RuleSet;

/// Everything that is fixed before the first event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    pub rules: RuleSet,
    /// p1 first, ascending but for one wrap. The last player has the button.
    pub seats: Vec<SeatNo>,
    /// Before the antes, p1 first.
    pub stacks: Vec<Credits>,
    pub sabacc_pot: Credits,
    pub carried_pot: Credits,
}

/// Reason why a hand cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("{variant} is for {min} to {max} players, not {got}")]
    Players { variant: &'static str, min: u8, max: u8, got: usize },
    #[error("tokens are assigned to {want} players, and there are {got}")]
    Assigned { want: u8, got: usize },
    #[error("there are {seats} seats and {stacks} stacks")]
    Lengths { seats: usize, stacks: usize },
    #[error("seats must be different and ascend from the dealer's left, wrapping once at most")]
    SeatOrder,
    #[error("{player} has {stack} and needs {due} to be dealt in")]
    Stack { player: Player, stack: Credits, due: Credits },
    #[error("{variant} has no {pot}")]
    NoSuchPot { variant: &'static str, pot: &'static str },
    #[error("stacks and pots together exceed {}", Credits::MAX)]
    TooManyCredits,
}

/// Checks that the rules take this number of players, and returns it.
///
/// # Errors
/// If the rules are for more or fewer players.
pub fn check_player_count(rules: &RuleSet, got: usize) -> Result<u8, SetupError> {
    let (seats, variant) = (rules.player_counts(), rules.variant());
    let (min, max) = (*seats.start(), *seats.end());
    let count = u8::try_from(got).ok().filter(|count| seats.contains(count));
    count.ok_or(if min == max {
        SetupError::Assigned { want: max, got }
    } else {
        SetupError::Players { variant: variant.id, min, max, got }
    })
}

impl Setup {
    /// Checks the setup and returns the number of players.
    pub(crate) fn check(&self) -> Result<u8, SetupError> {
        let variant = self.rules.variant();
        let got = self.seats.len();
        let count = check_player_count(&self.rules, got)?;
        if self.stacks.len() != got {
            return Err(SetupError::Lengths { seats: got, stacks: self.stacks.len() });
        }
        let next = self.seats.iter().cycle().skip(1);
        if self.seats.iter().zip(next).filter(|(seat, next)| seat >= next).count() != 1 {
            return Err(SetupError::SeatOrder);
        }
        for (pot, name, has) in [
            (self.sabacc_pot, "sabacc pot", variant.has_sabacc_pot),
            (self.carried_pot, "carried pot", variant.has_carried_pot),
        ] {
            if !has && !pot.is_zero() {
                return Err(SetupError::NoSuchPot { variant: variant.id, pot: name });
            }
        }
        let due = self.rules.min_stack(self.sabacc_pot);
        for (player, &stack) in (0..count).map(Player::of).zip(&self.stacks) {
            if stack < due {
                return Err(SetupError::Stack { player, stack, due });
            }
        }
        let pots = [self.sabacc_pot, self.carried_pot];
        Credits::sum(self.stacks.iter().copied().chain(pots))
            .map_err(|_| SetupError::TooManyCredits)?;
        Ok(count)
    }
}
